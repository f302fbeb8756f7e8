"""pidof, kill, pkill: processes of a device, whatever its platform."""

from __future__ import annotations

import re
import signal
from collections.abc import Awaitable, Callable
from typing import Any

from .programs import Invocation

Rows = Callable[[Invocation[Any]], list[tuple[int, str]]]
"""The processes of the device of a call: id and name of each."""


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


def programs(rows: Rows) -> dict[str, Callable[[Invocation[Any]], Awaitable[int]]]:
    """The programs, for a platform that says what its processes are."""

    async def pidof(call: Invocation[Any]) -> int:
        """Process ids of a program or app; status 1 where there is none."""
        names = [word for word in call.args if not word.startswith("-")]
        found = [str(pid) for pid, name in rows(call) if name in names and pid != call.pid]
        if not found:
            return 1
        await call.out(" ".join(found) + "\n")
        return 0

    async def kill(call: Invocation[Any]) -> int:
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

    async def pkill(call: Invocation[Any]) -> int:
        """Signals processes by name (`pkill` a pattern, `killall` the whole name)."""
        number, rest = _signal(call.args)
        words = [word for word in rest if not word.startswith("-")]
        found = 0
        for pid, name in rows(call):
            hits = (name in words) if call.name == "killall" else any(re.search(word, name) for word in words)
            if hits and pid != call.pid and not call.device.signal(pid, number):
                found += 1
        return 0 if found else 1

    return {"pidof": pidof, "lab-kill": kill, "pkill": pkill, "killall": pkill}
