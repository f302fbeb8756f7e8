"""What witnesses write: one JSON object a line, appended whole, read back as plain data."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class Journal:
    """A file one process appends to; a kill can cost it its last line at most."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, what: str, **more: Any) -> int:
        """One line, with CLOCK_MONOTONIC; returns that time in ns."""
        now = time.monotonic_ns()
        os.write(self._handle, json.dumps({"t": now, "what": what, **more}).encode() + b"\n")
        return now


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Every whole line of a journal."""
    if not path.exists():
        return
    for line in path.read_bytes().split(b"\n"):
        if line:
            try:
                yield json.loads(line)
            except ValueError:
                continue  # cut by a kill


@dataclass(frozen=True)
class Command:
    """One command as the device saw it.

    Attributes:
        device: Its id.
        grant: The holder's name for the grant it acted under, new at every grant.
        fence: The fence of that grant when it was made; None where the holder did not know it.
        begin, end: CLOCK_MONOTONIC, ns; `end` is None for one that never ended.
    """

    device: str
    grant: str
    fence: tuple[int, int] | None
    begin: int
    end: int | None


def text_of(grant: str, fence: str) -> str:
    """What a holder types: who it is, and under which fence it believes to drive."""
    return f"{grant}|{fence}"


def commands(folder: Path) -> list[Command]:
    """Every command in the devices' journals, in the order they began."""
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        open_: dict[int, dict[str, Any]] = {}
        whole: list[tuple[dict[str, Any], int | None]] = []
        for line in lines(path):
            if line["what"] == "begin":
                open_[line["n"]] = line
            elif line["n"] in open_:
                whole.append((open_.pop(line["n"]), line["t"]))
        whole += [(line, None) for line in open_.values()]
        for begun, end in whole:
            grant, _, said = begun["text"].partition("|")
            found.append(Command(path.stem, grant, read_fence(said), begun["t"], end))
    return sorted(found, key=lambda command: command.begin)


def read_fence(said: str) -> tuple[int, int] | None:
    """A fence from its printed form; None when it is none."""
    epoch, _, counter = said.partition(".")
    return (int(epoch), int(counter)) if epoch.isdigit() and counter.isdigit() else None
