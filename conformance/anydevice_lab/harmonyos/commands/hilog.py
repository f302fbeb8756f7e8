"""hilog: the device's log, endless unless told otherwise."""

from __future__ import annotations

import re

import anyio

from ..framework.logs import Line
from ..programs import Invocation, Program

HELP = "Usage:\nhilog [options]\n  -h   show help\n  -x   exit after the lines there are\n"
SHORT = ("-P", "-t", "-T", "-L", "-e", "-a", "-z", "-v", "-G", "-Q", "-D", "-g", "-p", "-b")
LONG = ("--pid", "--type", "--tag", "--level", "--regex", "--head", "--tail", "--format")
"""Options with a value."""
LEVELS = {"D": 0, "I": 1, "W": 2, "E": 3, "F": 4, "DEBUG": 0, "INFO": 1, "WARN": 2, "ERROR": 3, "FATAL": 4}


class _Filter:
    """Which lines are wanted, and how they are printed."""

    def __init__(self, words: list[str]) -> None:
        self.pids: set[int] = set()
        self.types: set[str] = set()
        self.tags: set[str] = set()
        self.pattern = ""
        self.lowest = 0
        self.head = self.tail = 0
        self.epoch = self.ends = self.clears = self.quiet = False
        words = list(words)
        while words:
            word = words.pop(0)
            name, _, value = word.partition("=")
            if word in ("-x", "--exit"):
                self.ends = True
            elif word == "-r":
                self.clears = True
            elif word in SHORT or name in LONG:
                self._take(name, value or (words.pop(0) if words else ""))
            elif word.startswith(("-P", "-t", "-T", "-L", "-v", "-z", "-a", "-Q", "-G")):
                self._take(word[:2], word[2:])

    def _take(self, name: str, value: str) -> None:
        if name in ("-P", "--pid"):
            self.pids |= {int(word) for word in value.split(",") if word.isdigit()}
        elif name in ("-t", "--type"):
            self.types |= {
                {"app": "A", "core": "C", "init": "I", "kmsg": "K"}.get(word, "") for word in value.split(",")
            }
        elif name in ("-T", "--tag"):
            self.tags |= set(value.split(","))
        elif name in ("-L", "--level"):
            self.lowest = min((LEVELS.get(word, 0) for word in value.split(",")), default=0)
        elif name in ("-e", "--regex"):
            self.pattern = value
        elif name in ("-a", "--head"):
            self.head = int(value) if value.isdigit() else 0
        elif name in ("-z", "--tail"):
            self.tail = int(value) if value.isdigit() else 0
        elif name in ("-v", "--format"):
            self.epoch = self.epoch or value == "epoch"
        elif name in ("-G", "-Q", "-b", "-p", "-g"):
            self.quiet = True

    def wants(self, line: Line) -> bool:
        """Whether a line is wanted."""
        return (
            (not self.pids or line.pid in self.pids)
            and (not self.types or line.domain[:1] in self.types)
            and (not self.tags or line.tag in self.tags or line.tag.rpartition("/")[2] in self.tags)
            and LEVELS.get(line.level, 1) >= self.lowest
            and (not self.pattern or re.search(self.pattern, line.text) is not None)
        )


async def hilog(call: Invocation) -> int:
    """`hilog [-x] [-r] [-P PIDS] [-t TYPES] [-T TAGS] [-L LEVELS] [-e PATTERN] [-v epoch] [-z N] [-a N]`."""
    log = call.device.machine.log
    if "-h" in call.args or "help" in call.args:
        await call.out(HELP)
        return 0
    wanted = _Filter(call.args)
    if wanted.clears:
        log.clear()
        await call.out("Log type core,app,only_prerelease buffer clear successfully\n")
        return 0
    if wanted.quiet and not wanted.ends:
        await call.out("Set flow control by process to disabled successfully\n" if "-Q" in call.args else "success\n")
        return 0
    count = log.count
    lines = [line for line in log.since(0) if wanted.wants(line)]
    lines = lines[-wanted.tail :] if wanted.tail else lines[: wanted.head] if wanted.head else lines
    if lines:
        await call.out("".join(line.shown(epoch=wanted.epoch) + "\n" for line in lines))
    if wanted.ends or wanted.tail or wanted.head:
        return 0
    while not call.interrupted.is_set():
        new = [line for line in log.since(count) if wanted.wants(line)]
        count = log.count
        if new:
            await call.out("".join(line.shown(epoch=wanted.epoch) + "\n" for line in new))
        async with anyio.create_task_group() as group:

            async def interrupted(group: anyio.abc.TaskGroup) -> None:
                await call.interrupted.wait()
                group.cancel_scope.cancel()

            group.start_soon(interrupted, group)
            if log.count == count:
                await log.more()
            group.cancel_scope.cancel()
    return 130


PROGRAMS: dict[str, Program] = {"hilog": hilog}
