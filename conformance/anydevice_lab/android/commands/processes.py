"""ps, pidof, kill, pkill and app_process: processes of the device."""

from __future__ import annotations

import re
import signal

from ..programs import Invocation, Program


def _rows(call: Invocation) -> list[tuple[int, str]]:
    machine = call.device.machine
    apps = [(app.pid, app.package) for app in machine.apps.values() if app.running]
    return [(1, "init"), *apps, *((pid, other.name) for pid, other in call.device.running.items())]


async def ps(call: Invocation) -> int:
    """All processes, in the columns `-A` and `-o` have."""
    head = "USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME\n"
    rows = "".join(
        f"shell       {pid:6d}     1 1234567 123456 0                   0 S {name}\n" for pid, name in _rows(call)
    )
    if "-o" in call.args:
        wanted = call.args[call.args.index("-o") + 1].replace("=", "").split(",")
        columns = [
            {"PID": "PID", "NAME": "NAME", "ARGS": "ARGS", "CMD": "CMD"}.get(word.upper(), "") for word in wanted
        ]
        head = " ".join(columns) + "\n"
        rows = "".join(" ".join(str(pid) if c == "PID" else name for c in columns) + "\n" for pid, name in _rows(call))
    await call.out(head + rows)
    return 0


async def pidof(call: Invocation) -> int:
    """Process ids of a program or package; status 1 where there is none."""
    names = [word for word in call.args if not word.startswith("-")]
    found = [str(pid) for pid, name in _rows(call) if name in names and pid != call.pid]
    if not found:
        return 1
    await call.out(" ".join(found) + "\n")
    return 0


def _number(word: str) -> int | None:
    name = word.lstrip("-").upper()
    if name.isdigit():
        return int(name)
    found = getattr(signal, name if name.startswith("SIG") else f"SIG{name}", None)
    return int(found) if found is not None else None


def _signal(words: list[str]) -> tuple[int, list[str]]:
    """The signal that is asked for, and the other words."""
    number, rest = int(signal.SIGTERM), list[str]()
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("-s", "-l", "--signal") and words:
            number = _number(words.pop(0)) or number
        elif word.startswith("-") and len(word) > 1 and (found := _number(word)) is not None:
            number = found
        else:
            rest.append(word)
    return number, rest


async def kill(call: Invocation) -> int:
    """Signals processes of this device, and no others of this host."""
    number, rest = _signal(call.args)
    code = 0
    for word in rest:
        if not re.fullmatch(r"\d+", word):
            await call.err(f"kill: {word}: arguments must be jobs or process IDs\n")
            code = 1
        elif problem := call.device.signal(int(word), number):
            await call.err(f"kill: {word}: {problem}\n")
            code = 1
    return code


async def pkill(call: Invocation) -> int:
    """Signals processes by name (`pkill` a pattern, `killall` the whole name)."""
    number, rest = _signal(call.args)
    words = [word for word in rest if not word.startswith("-")]
    found = 0
    for pid, name in _rows(call):
        hits = (name in words) if call.name == "killall" else any(re.search(word, name) for word in words)
        if hits and pid != call.pid and not call.device.signal(pid, number):
            found += 1
    return 0 if found else 1


async def app_process(call: Invocation) -> int:
    """Runs a class of a jar: the accessibility server's (`com.wetest.uia2.Main`), and no other."""
    words = [word for word in call.args if not word.startswith("-X")]
    name = next((word for word in words if "." in word), "")
    jar = call.path(call.classpath) if call.classpath else None
    if name != "com.wetest.uia2.Main" or jar is None or not jar.is_file():
        await call.err(f"Error: Could not find or load main class {name}\nAborted\n")
        return 134
    from .. import u2

    return await u2.run(call)


PROGRAMS: dict[str, Program] = {
    "ps": ps, "pidof": pidof, "lab-kill": kill, "pkill": pkill, "killall": pkill, "app_process": app_process,
    "app_process64": app_process,
}  # fmt: skip
