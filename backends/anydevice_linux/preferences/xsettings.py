"""XSETTINGS: the property by which a settings manager tells the programs of an X display how to look."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final

from Xlib import X
from Xlib import error as xerror
from Xlib.protocol import event

from anydevice_schemas.errors import ActionUnverified

from ..x11.connection import Connection
from ..x11.display import XDisplay

Values = Mapping[str, int | str]
"""Settings by their names, such as `Net/ThemeName`."""

SELECTION: Final = "_XSETTINGS_S0"
PROPERTY: Final = "_XSETTINGS_SETTINGS"
MOST: Final = 1 << 20
"""Bytes of the property that are read."""
_INTEGER, _STRING, _COLOUR = 0, 1, 2
_LITTLE = 0


class Teller:
    """A settings manager of ours on one display: what it tells, programs follow while they run."""

    def __init__(self, display: XDisplay) -> None:
        """Use `open`."""
        self._display = display
        self._window: Any = None
        self._serial = 0

    @classmethod
    async def open(cls, name: str, xauthority: str | None) -> Teller:
        """Becomes the settings manager of a display, with nothing to tell yet.

        Raises:
            DeviceOffline: The display cannot be reached.
            ActionUnverified: It has another one that does not give way.
        """
        teller = cls(await XDisplay.open(name, xauthority))
        try:
            await teller._display.do(teller._begin, sent="settings manager")
        except BaseException:
            await teller.aclose()
            raise
        return teller

    @property
    def lost(self) -> bool:
        """Whether the connection is gone, and with it what was told."""
        return self._display.lost

    async def tell(self, values: Values) -> None:
        """Tells exactly these settings from now on.

        Raises:
            DeviceOffline, ConnectionLost, CallTimeout, OutcomeUnknown: The display cannot be reached.
        """
        self._serial += 1
        data = encode(values, self._serial)

        def put(connection: Connection) -> None:
            if connection.get_selection_owner(connection.intern_atom(SELECTION)) == X.NONE:
                self._take(connection)  # another one had it, and ended
            self._window.change_property(connection.intern_atom(PROPERTY), connection.intern_atom(PROPERTY), 8, data)
            connection.sync()

        await self._display.do(put, sent="settings")

    async def aclose(self) -> None:
        """Gives it up; programs keep what they were told last."""
        await self._display.aclose()

    def _begin(self, connection: Connection) -> None:
        self._window = connection.screen().root.create_window(-10, -10, 1, 1, 0, X.CopyFromParent)
        self._window.change_property(
            connection.intern_atom(PROPERTY), connection.intern_atom(PROPERTY), 8, encode({}, self._serial)
        )
        self._take(connection)

    def _take(self, connection: Connection) -> None:
        root, selection = connection.screen().root, connection.intern_atom(SELECTION)
        self._window.set_selection_owner(selection, X.CurrentTime)
        owner = connection.get_selection_owner(selection)
        if owner == X.NONE or owner.id != self._window.id:
            raise ActionUnverified(
                "The display has another settings manager.", expected="ours", actual="another one", hint="End it."
            )
        told = event.ClientMessage(
            window=root,
            client_type=connection.intern_atom("MANAGER"),
            data=(32, [X.CurrentTime, selection, self._window.id, 0, 0]),
        )
        root.send_event(told, event_mask=X.StructureNotifyMask)
        connection.sync()


async def told(name: str, xauthority: str | None) -> dict[str, int | str] | None:
    """What the settings manager of a display tells, read from the display itself; None where it has none.

    Raises:
        DeviceOffline, ConnectionLost, CallTimeout: The display cannot be reached.
    """
    display = await XDisplay.open(name, xauthority)
    try:
        return await display.do(_read)
    finally:
        await display.aclose()


def _read(connection: Connection) -> dict[str, int | str] | None:
    owner = connection.get_selection_owner(connection.intern_atom(SELECTION))
    if owner == X.NONE:
        return None
    try:
        found = owner.get_full_property(connection.intern_atom(PROPERTY), X.AnyPropertyType, MOST // 4)
    except xerror.XError:
        return None  # it ended just now
    return decode(bytes(found.value)) if found is not None and found.format == 8 else {}


def encode(values: Values, serial: int) -> bytes:
    """Settings as the property holds them, in little-endian order."""
    out = struct.pack("<BxxxII", _LITTLE, serial, len(values))
    for name, value in values.items():
        kind = _INTEGER if isinstance(value, int) else _STRING
        out += struct.pack("<BxH", kind, len(name)) + _padded(name.encode("ascii")) + struct.pack("<I", serial)
        if isinstance(value, int):
            out += struct.pack("<i", value)
        else:
            text = value.encode()
            out += struct.pack("<I", len(text)) + _padded(text)
    return out


def decode(data: bytes) -> dict[str, int | str]:
    """The whole numbers and texts of a property; colours are left out, and so is what follows a fault."""
    out: dict[str, int | str] = {}
    order = "<" if data[:1] == b"\0" else ">"
    try:
        (count,) = struct.unpack_from(f"{order}I", data, 8)
        at = 12
        for _ in range(count):
            kind, length = struct.unpack_from(f"{order}BxH", data, at)
            name = data[at + 4 : at + 4 + length].decode("ascii")
            at += 4 + _whole(length) + 4
            if kind == _INTEGER:
                (out[name],) = struct.unpack_from(f"{order}i", data, at)
                at += 4
            elif kind == _STRING:
                (size,) = struct.unpack_from(f"{order}I", data, at)
                out[name] = data[at + 4 : at + 4 + size].decode("utf-8", "replace")
                at += 4 + _whole(size)
            elif kind == _COLOUR:
                at += 8
            else:
                break
    except (struct.error, UnicodeDecodeError):
        return out
    return out


def _whole(length: int) -> int:
    return length + -length % 4


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
