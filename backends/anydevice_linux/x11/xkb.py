"""The keyboard mapping as the server has it (XKB protocol): reading it, and writing a part of it to the bit.

The core protocol's view of the mapping loses how many layouts a key has and what its levels mean; keys written back
through it are no longer the keys they were. This one gives back what it took.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from Xlib.protocol import rq

from anydevice_schemas.errors import Unsupported

from .connection import Connection

VOID = 0xFFFFFF
"""The keysym that means nothing; it marks spare keys that we have lent."""
_CORE_KEYBOARD = 0x100
_KEY_SYMS = 1 << 1
_TWO_LEVEL = 1
"""Number of a key type that every mapping has: plain, and with Shift."""
_RECOMPUTE = 2
"""Flag: keep what keys do in step with what they type."""
_HEAD = struct.Struct("=2xBBHBBBBHB")
"""Of a GetMap reply after its first 8 bytes: lowest and highest keycode, parts, types, first key, symbols, keys."""
_HEAD_LENGTH = 32
_ROW = struct.Struct("=4sBBH")


class _UseExtension(rq.ReplyRequest):  # type: ignore[misc]
    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(0), rq.RequestLength(), rq.Card16("major"), rq.Card16("minor"))
    _reply = rq.Struct(
        rq.ReplyCode(), rq.Card8("supported"), rq.Card16("sequence_number"), rq.ReplyLength(), rq.Binary("rest")
    )


class _GetMap(rq.ReplyRequest):  # type: ignore[misc]
    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(8),
        rq.RequestLength(),
        rq.Card16("device"),
        rq.Card16("full"),
        rq.Card16("partial"),
        rq.Pad(18),
    )
    _reply = rq.Struct(
        rq.ReplyCode(), rq.Card8("device"), rq.Card16("sequence_number"), rq.ReplyLength(), rq.Binary("rest")
    )


class _SetMap(rq.Request):  # type: ignore[misc]
    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(9), rq.RequestLength(), rq.Binary("rest"))


@dataclass(slots=True, frozen=True)
class Row:
    """What one key types.

    Attributes:
        types: Numbers of the key types of up to four layouts.
        info: How many layouts it has, and what becomes of those beyond.
        width: Levels of each layout.
        syms: Keysyms, layout by layout.
    """

    types: bytes = bytes(4)
    info: int = 0
    width: int = 0
    syms: tuple[int, ...] = ()

    @property
    def groups(self) -> int:
        """How many layouts the key has."""
        return self.info & 0x0F

    def sym(self, group: int, level: int) -> int:
        """The keysym of a level of a layout; 0 where there is none."""
        if not self.groups or level >= self.width:
            return 0
        if group >= self.groups:
            beyond = self.info & 0xC0
            if beyond == 0x40:
                group = self.groups - 1
            elif beyond == 0x80:
                group = (self.info >> 4 & 3) if (self.info >> 4 & 3) < self.groups else 0
            else:
                group %= self.groups
        return self.syms[group * self.width + level]

    @property
    def lent(self) -> int | None:
        """The keysym a spare key was lent to, also by an earlier process of ours; None for all other keys."""
        if self.groups == 1 and self.width == 2 and self.syms[1] == VOID and self.syms[0] not in (0, VOID):
            return self.syms[0]
        return None


def lent_row(keysym: int) -> Row:
    """What a spare key types while it is lent: one keysym on every layout, marked as ours."""
    return Row(bytes([_TWO_LEVEL, 0, 0, 0]), 1, 2, (keysym, VOID))


def read(connection: Connection) -> tuple[int, list[Row]]:
    """The lowest keycode, and what each key from there on types.

    Raises:
        Unsupported: The server does not speak of it.
    """
    answer = _GetMap(
        display=connection.display, opcode=_opcode(connection), device=_CORE_KEYBOARD, full=_KEY_SYMS, partial=0
    )
    data = bytes(answer.rest)
    _, _, _, _, _, _, first, _, count = _HEAD.unpack_from(data)
    at = _HEAD_LENGTH
    rows = []
    for _ in range(count):
        types, info, width, number = _ROW.unpack_from(data, at)
        at += _ROW.size
        rows.append(Row(types, info, width, struct.unpack_from(f"={number}I", data, at)))
        at += number * 4
    return first, rows


def write(connection: Connection, first: int, rows: Sequence[Row]) -> None:
    """Makes keys from keycode `first` on type something, in one change. Returns once the server has done it.

    Raises:
        Unsupported: The server does not speak of it.
        XError: It refused.
    """
    info = connection.display.info
    head = struct.pack(
        "=HHHBBBBBBH18x", _CORE_KEYBOARD, _KEY_SYMS, _RECOMPUTE, info.min_keycode, info.max_keycode, 0, 0, first,
        len(rows), sum(len(row.syms) for row in rows),
    )  # fmt: skip
    body = b"".join(
        _ROW.pack(row.types, row.info, row.width, len(row.syms)) + struct.pack(f"={len(row.syms)}I", *row.syms)
        for row in rows
    )
    opcode = _opcode(connection)
    connection.errors.clear()
    _SetMap(display=connection.display, opcode=opcode, rest=head + body)
    connection.settle()
    if connection.errors:
        raise connection.errors[-1]


def _opcode(connection: Connection) -> int:
    if connection.xkb is None:
        found = connection.query_extension("XKEYBOARD")
        if found is None:
            raise Unsupported(
                "The X server does not tell its keyboard mapping.", operation="keys.type_text", alternatives=[]
            )
        _UseExtension(display=connection.display, opcode=found.major_opcode, major=1, minor=0)
        connection.xkb = int(found.major_opcode)
    return connection.xkb
