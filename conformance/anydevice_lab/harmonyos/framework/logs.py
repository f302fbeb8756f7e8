"""The device's log: lines, in the forms `hilog` prints."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

import anyio

KEPT = 5000


@dataclass(frozen=True, slots=True)
class Line:
    """One line: time (seconds since the epoch), process, thread, level, domain (letter and five digits), tag, text."""

    at: float
    pid: int
    tid: int
    level: str
    domain: str
    tag: str
    text: str

    def shown(self, *, epoch: bool = False) -> str:
        """It as it is printed."""
        ms = int(self.at * 1000) % 1000
        if epoch:
            moment = f"{int(self.at)}.{ms:03d}"
        else:
            moment = time.strftime("%m-%d %H:%M:%S", time.localtime(self.at)) + f".{ms:03d}"
        return f"{moment} {self.pid:5d} {self.tid:5d} {self.level} {self.domain}/{self.tag}: {self.text}"


class Log:
    """All lines of a device."""

    def __init__(self) -> None:
        self._lines: deque[tuple[int, Line]] = deque(maxlen=KEPT)
        self._count = 0
        self._more = anyio.Event()

    def add(self, level: str, tag: str, text: str, *, pid: int = 0, domain: str = "A00000") -> None:
        """Something is logged; every line of the text becomes one."""
        for part in text.split("\n"):
            self._count += 1
            self._lines.append((self._count, Line(time.time(), pid, pid, level, domain, tag, part)))
        self._more.set()
        self._more = anyio.Event()

    def since(self, count: int) -> list[Line]:
        """The lines after so many."""
        return [line for number, line in self._lines if number > count]

    @property
    def count(self) -> int:
        """How many there have been."""
        return self._count

    async def more(self) -> None:
        """Waits for the next line."""
        await self._more.wait()

    def clear(self) -> None:
        """Forgets all lines."""
        self._lines.clear()
