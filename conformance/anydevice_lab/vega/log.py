"""The log of a Vega device: the lines of its journal, in the forms `loggingctl` and `journalctl` print."""

from __future__ import annotations

import re
import time
from collections import deque
from dataclasses import dataclass

import anyio

PRIORITIES = ("emerg", "alert", "crit", "err", "warning", "notice", "info", "debug")
KEPT = 5000
_AGO = re.compile(r"-?(\d+(?:\.\d+)?)\s*(ms|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)(?:\s+ago)?")
_UNITS = {"m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Line:
    """One line: time (seconds since the epoch), host, who wrote it, process, priority, text, package it belongs to."""

    at: float
    host: str
    tag: str
    pid: int
    priority: int
    text: str
    package: str = ""

    def shown(self, form: str) -> str:
        """It in one of the forms `short`, `short_precise` and `cat`."""
        if form == "cat":
            return self.text
        moment = time.strftime("%b %d %H:%M:%S", time.localtime(self.at))
        if form == "short_precise":
            moment += f".{int(self.at * 1_000_000) % 1_000_000:06d}"
        return f"{moment} {self.host} {self.tag}[{self.pid}]: {self.text}"


class Log:
    """All lines of a device.

    Args:
        host: Name of the device.
    """

    def __init__(self, host: str) -> None:
        self.host = host
        self._lines: deque[tuple[int, Line]] = deque(maxlen=KEPT)
        self.count = 0
        self._more = anyio.Event()
        self.add("systemd", "Reached target Multi-User System.", pid=1)

    def add(self, tag: str, text: str, *, pid: int = 0, priority: str = "info", package: str = "") -> None:
        """Something is logged; every line of the text becomes one."""
        for part in text.split("\n"):
            self.count += 1
            number = PRIORITIES.index(priority)
            self._lines.append((self.count, Line(time.time(), self.host, tag, pid, number, part, package)))
        self._more.set()
        self._more = anyio.Event()

    def since(self, count: int) -> list[Line]:
        """The lines after so many."""
        return [line for number, line in self._lines if number > count]

    async def more(self) -> None:
        """Waits for the next line."""
        await self._more.wait()


def moment(text: str) -> float:
    """The time an option `--since` means, in seconds since the epoch.

    Raises:
        ValueError: It means none.
    """
    text = text.strip()
    if text == "now":
        return time.time()
    if text.startswith("@"):
        return float(text[1:])
    if (ago := _AGO.fullmatch(text)) is not None:
        unit = ago[2]
        return time.time() - float(ago[1]) * (0.001 if unit == "ms" else _UNITS.get(unit[0], 1.0))
    part = 0.0
    if "." in text:
        text, _, after = text.partition(".")
        part = float(f"0.{after}")
    for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S"):
        try:
            return time.mktime(time.strptime(text, form)) + part
        except ValueError:
            continue
    try:
        today = time.strftime("%Y-%m-%d ")
        return time.mktime(time.strptime(today + text, "%Y-%m-%d %H:%M:%S")) + part
    except ValueError:
        raise ValueError(f"Failed to parse timestamp: {text}") from None
