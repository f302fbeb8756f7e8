"""ps, pidof, kill: processes of the guest, which are none of this host."""

from __future__ import annotations

import re
import signal

from ..programs import Invocation, Program


async def ps(call: Invocation) -> int:
    """All processes."""
    rows = "".join(
        f"{pid:>8} {'root' if pid == 1 else 'app_user':<8} {name}\n" for pid, name in call.device.machine.processes()
    )
    await call.out(f"{'PID':>8} {'USER':<8} COMMAND\n{rows}")
    return 0


async def pidof(call: Invocation) -> int:
    """Process ids of a program or component; status 1 where there is none."""
    names = [word for word in call.args if not word.startswith("-")]
    found = [str(pid) for pid, name in call.device.machine.processes() if name.split()[0] in names and pid != call.pid]
    if not found:
        return 1
    await call.out(" ".join(found) + "\n")
    return 0


async def kill(call: Invocation) -> int:
    """Signals processes of this device, and no others of this host."""
    number, code = int(signal.SIGTERM), 0
    for word in call.args:
        if re.fullmatch(r"-\d+", word):
            number = int(word[1:])
        elif re.fullmatch(r"-(SIG)?[A-Z]+", word):
            name = word[1:] if word.startswith("-SIG") else f"SIG{word[1:]}"
            number = int(getattr(signal, name, number))
        elif not word.isdigit():
            await call.err(f"kill: {word}: arguments must be process or job IDs\n")
            code = 1
        elif problem := call.device.signal(int(word), number):
            await call.err(f"kill: ({word}) - {problem}\n")
            code = 1
    return code


PROGRAMS: dict[str, Program] = {"ps": ps, "pidof": pidof, "lab-kill": kill}
