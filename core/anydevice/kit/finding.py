"""Files of this host by name: a walk that follows no link, ends in time, and keeps the newest.

    fits = matcher("*.png")
    found, cut = find("/srv/pictures", "holiday", most=50, seconds=5)

A backend whose device's files are files of this host searches them with it, in a worker thread.
"""

from __future__ import annotations

import fnmatch
import heapq
import os
import re
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

_LOOK = 256
"""Entries between two looks at the clock."""


@dataclass(slots=True, frozen=True, order=True)
class Found:
    """A file or folder: when it changed (seconds since the epoch), its path, its size in bytes."""

    changed: float
    path: str
    size: int
    folder: bool


def matcher(name: str) -> Callable[[str], bool]:
    """A function that says whether a file's name fits: part of it in any case, or a pattern with `*` and `?`."""
    wanted = _folded(name)
    if "*" not in wanted and "?" not in wanted:
        return lambda text: wanted in _folded(text)
    # Square brackets are taken as they are: they stand in many names, and few mean a set by them.
    fits = re.compile(fnmatch.translate(wanted.replace("[", "[[]"))).match
    return lambda text: fits(_folded(text)) is not None


def find(
    under: str, name: str, *, most: int = 100, hidden: bool = False, seconds: float = 10.0, stop: Event | None = None
) -> tuple[list[Found], str]:
    """Files and folders below a folder, newest first. Blocks; call it in a worker thread.

    Args:
        under: The folder, links resolved.
        name: As `matcher` takes it.
        most: How many are kept.
        hidden: Also what begins with a dot, and what is inside of it.
        seconds: When it ends with what it has found.
        stop: Ends it early when set.

    Returns:
        What was found, and why there may be more (empty when there is not).
    """
    fits = matcher(name)
    end = time.monotonic() + seconds
    best: list[Found] = []
    waiting = [under]
    seen = matches = closed = 0
    while waiting:
        folder = waiting.pop()
        try:
            entries = os.scandir(folder)
        except OSError:
            closed += 1
            continue
        with entries:
            for entry in entries:
                seen += 1
                if seen % _LOOK == 0 and (time.monotonic() > end or (stop is not None and stop.is_set())):
                    return _sorted(best), f"the time was up after {seen} files"
                if entry.name.startswith(".") and not hidden:
                    continue
                try:
                    inside = entry.is_dir(follow_symlinks=False)
                    if inside:
                        waiting.append(entry.path)
                    if not fits(entry.name):
                        continue
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue  # it went away meanwhile
                matches += 1
                new = Found(status.st_mtime, entry.path, status.st_size, inside)
                (heapq.heappush if len(best) < most else heapq.heappushpop)(best, new)
        if time.monotonic() > end:
            return _sorted(best), f"the time was up after {seen} files"
    reasons = [f"{matches} match, these are the newest"] if matches > len(best) else []
    reasons += [f"{closed} folders could not be read"] if closed else []
    return _sorted(best), "; ".join(reasons)


def _sorted(found: list[Found]) -> list[Found]:
    return sorted(found, key=lambda one: (-one.changed, one.path))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
