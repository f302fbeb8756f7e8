"""Which processes a daemon has, as the system tells it, so that what is left of them can be seen."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from anydevice.host import record

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


@dataclass(frozen=True)
class Process:
    """A process, told from a later one of the same id by its start."""

    pid: int
    started: str
    parent: int
    group: int
    line: str

    @property
    def lives(self) -> bool:
        """Whether it still runs (a zombie does not)."""
        return record.process_start(self.pid) == self.started


def everything() -> list[Process]:
    """Every process that runs."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if fields[0] not in "ZX":
            found.append(Process(int(entry.name), fields[19], int(fields[1]), int(fields[2]), line.strip()))
    return found


def below(pid: int) -> list[Process]:
    """Every process a process has started, directly or not, with all that share a process group with those."""
    running = everything()
    family, groups = {pid}, set()
    grown = True
    while grown:
        more = {p.pid for p in running if p.pid not in family and (p.parent in family or p.group in groups)}
        family |= more
        groups |= {p.group for p in running if p.pid in family and p.pid != pid} - {os.getpgid(0), _group(running, pid)}
        grown = bool(more)
    return [p for p in running if p.pid in family and p.pid != pid]


def of_home(home: Path) -> list[Process]:
    """Every process whose command line names the home folder (a browser's profile is in it)."""
    return [p for p in everything() if str(home) in p.line and p.pid != os.getpid()]


def renderers(pid: int) -> list[Process]:
    """The page processes of the browsers a daemon runs."""
    return [p for p in below(pid) if "--type=renderer" in p.line]


def browsers(pid: int) -> list[Process]:
    """The main processes of the browsers a daemon runs.

    A child that a main process has just forked has its command line, for a moment; it is not counted.
    """
    mains = [p for p in below(pid) if "--remote-debugging-pipe" in p.line and "--type=" not in p.line]
    return [p for p in mains if p.parent not in {main.pid for main in mains}]


def _group(running: list[Process], pid: int) -> int:
    return next((p.group for p in running if p.pid == pid), 0)
