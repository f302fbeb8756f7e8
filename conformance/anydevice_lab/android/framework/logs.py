"""The device's log: lines by buffer, in the forms `logcat` prints."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

import anyio

LEVELS = "VDIWEF"
KEPT = 5000


@dataclass(frozen=True, slots=True)
class Line:
    """One line: time (seconds since the epoch), process, thread, level, tag, text, buffer."""

    at: float
    pid: int
    tid: int
    level: str
    tag: str
    text: str
    buffer: str = "main"

    def shown(self, form: str, year: bool = False) -> str:
        """It in one of logcat's forms: threadtime, time, brief, tag, process, raw, epoch, long."""
        moment = time.strftime("%m-%d %H:%M:%S", time.localtime(self.at)) + f".{int(self.at * 1000) % 1000:03d}"
        if year:
            moment = time.strftime("%Y-", time.localtime(self.at)) + moment
        if form == "epoch":
            moment = f"{int(self.at)}.{int(self.at * 1000) % 1000:03d}"  # cut, not rounded
        if form in ("threadtime", "epoch"):
            return f"{moment} {self.pid:5d} {self.tid:5d} {self.level} {self.tag:<8}: {self.text}"
        if form == "time":
            return f"{moment} {self.level}/{self.tag:<8}({self.pid:5d}): {self.text}"
        if form == "raw":
            return self.text
        if form == "tag":
            return f"{self.level}/{self.tag:<8}: {self.text}"
        if form == "process":
            return f"{self.level}({self.pid:5d}) {self.text}  ({self.tag})"
        if form == "long":
            return f"[ {moment} {self.pid:5d}:{self.tid:5d} {self.level}/{self.tag} ]\n{self.text}\n"
        return f"{self.level}/{self.tag:<8}({self.pid:5d}): {self.text}"


class Log:
    """All lines of a device."""

    def __init__(self) -> None:
        self._lines: deque[tuple[int, Line]] = deque(maxlen=KEPT)
        self._count = 0
        self._more = anyio.Event()
        self.add("I", "SystemServer", "Boot completed", pid=1)

    def add(self, level: str, tag: str, text: str, *, pid: int = 0, tid: int = 0, buffer: str = "main") -> None:
        """Something is logged, by the first thread of a process or another; every line of the text becomes one."""
        for part in text.split("\n"):
            self._count += 1
            self._lines.append((self._count, Line(time.time(), pid, tid or pid, level, tag, part, buffer)))
        self._more.set()
        self._more = anyio.Event()

    def crash(self, package: str, pid: int) -> None:
        """An app died of an exception nobody caught."""
        text = (
            f"FATAL EXCEPTION: main\nProcess: {package}, PID: {pid}\n"
            "java.lang.RuntimeException: it crashed when asked to\n"
            f"\tat {package}.MainActivity.crash(MainActivity.kt:42)"
        )
        self.add("E", "AndroidRuntime", text, pid=pid, buffer="crash")
        self.add("I", "Process", f"Sending signal. PID: {pid} SIG: 9", pid=pid)

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
