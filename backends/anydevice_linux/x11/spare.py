"""Spare keycodes: lending them to characters that no key of the layout types, and giving them back.

A loan stays until it is needed otherwise or given back: every change of the keyboard mapping costs each program some
80 ms, and one that comes before a program has looked at the keys already typed makes it read them wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import xkb
from .connection import Connection
from .keymap import Layout


def lend(connection: Connection, layout: Layout, keysyms: Sequence[int]) -> None:
    """Makes spare keys stand for keysyms, in one change of the keyboard mapping.

    Args:
        connection: To the server.
        layout: The mapping as it is now; changed along.
        keysyms: At most as many as `Layout.spare` has.
    """
    codes = _closest(layout.spare(), len(keysyms))
    for code, keysym in zip(codes, keysyms, strict=True):
        layout.rows[code - layout.first] = xkb.lent_row(keysym)
    _write(connection, layout, codes)


def give_back(connection: Connection, layout: Layout) -> bool:
    """Makes all lent keys spare again; False where there was none."""
    codes = [code for code in layout.spare() if layout.rows[code - layout.first].lent is not None]
    for code in codes:
        layout.rows[code - layout.first] = xkb.Row()
    if codes:
        _write(connection, layout, codes)
    return bool(codes)


def _closest(codes: list[int], count: int) -> list[int]:
    """`count` keycodes that lie closest together, the higher of several: what lies between is written along."""
    runs = [codes[start : start + count] for start in range(len(codes) - count + 1)]
    return min((run[-1] - run[0], -run[0], run) for run in runs)[2]


def _write(connection: Connection, layout: Layout, codes: Sequence[int]) -> None:
    low, high = min(codes), max(codes)
    xkb.write(connection, low, layout.rows[low - layout.first : high - layout.first + 1])
