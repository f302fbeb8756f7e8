"""Cursors of a log whose lines have nothing but a time: a moment, and how many lines of that very moment were seen.

A cursor is `SECONDS+NUMBER`: everything up to the NUMBERth line of that moment is over.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol, TypeVar

from anydevice_schemas.errors import InvalidArgument


class Timed(Protocol):
    """A line of a log; its time is in UTC seconds, or None where it has none."""

    @property
    def time(self) -> float | None:
        """When it was written."""
        ...


T = TypeVar("T", bound=Timed)


def cursor(moment: float, number: int = 0, *, digits: int = 3) -> str:
    """The cursor behind the `number`th line of a moment; 0 = before all of them.

    Args:
        digits: Digits of a second that the log tells apart.
    """
    return f"{moment:.{digits}f}+{number}"


def numbered(lines: Iterable[T], *, since: float | None = None, digits: int = 3) -> list[tuple[T, str]]:
    """Lines that have a time, in their order, with the cursor behind each.

    Args:
        lines: Oldest first.
        since: Lines before it (seconds) are left out.
        digits: As of `cursor`.
    """
    found: list[tuple[T, str]] = []
    moment, number = math.nan, 0
    for line in lines:
        if line.time is None or (since is not None and line.time < since):
            continue
        if line.time != moment:
            moment, number = line.time, 0
        number += 1
        found.append((line, cursor(moment, number, digits=digits)))
    return found


def parts(text: str) -> tuple[float, int]:
    """A cursor as what compares: the moment (seconds) and the number.

    Raises:
        InvalidArgument: It is none of ours.
    """
    moment, _, seen = text.partition("+")
    try:
        found = float(moment), int(seen)
    except ValueError:
        found = math.nan, 0
    if not math.isfinite(found[0]):
        raise InvalidArgument("This is no cursor of the log.", param="cursor", expected="one that was answered")
    return found
