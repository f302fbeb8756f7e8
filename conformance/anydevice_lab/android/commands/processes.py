"""ps, pidof, kill, pkill and app_process: processes of the device."""

from __future__ import annotations

from ...guest import processes
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
    **processes.programs(_rows), "ps": ps, "app_process": app_process, "app_process64": app_process,
}  # fmt: skip
