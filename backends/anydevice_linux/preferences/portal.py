"""The settings portal of a desktop: the D-Bus service by which programs learn whether it is light or dark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

import anyio
from dbus_fast import Message, MessageType, RequestNameReply, Variant
from dbus_fast.aio import MessageBus

from anydevice_schemas.errors import UpstreamUnavailable

from ..a11y.bus import PROPERTIES, Call, Died, Link, Refusal

NAME: Final = "org.freedesktop.portal.Desktop"
PATH: Final = "/org/freedesktop/portal/desktop"
SETTINGS: Final = "org.freedesktop.portal.Settings"
NOT_FOUND: Final = "org.freedesktop.portal.Error.NotFound"
APPEARANCE: Final = ("org.freedesktop.appearance", "color-scheme")
"""0: no wish, 1: dark, 2: light."""
VERSION: Final = 2
DEADLINE: Final = 2.0
"""Seconds a bus may take for one answer."""

Told = dict[str, dict[str, Variant]]
"""Settings by namespace and key."""


class Portal:
    """A settings portal of ours on one session bus, and nothing else of a portal."""

    def __init__(self, bus: MessageBus) -> None:
        """Use `open`."""
        self._bus = bus
        self._told: Told = {}
        self._answers: dict[tuple[str | None, str | None], Callable[[Message], Message]] = {
            (SETTINGS, "Read"): lambda call: self._value(call, wrapped=True),
            (SETTINGS, "ReadOne"): lambda call: self._value(call, wrapped=False),
            (SETTINGS, "ReadAll"): self._all,
            (PROPERTIES, "Get"): self._property,
            (PROPERTIES, "GetAll"): self._properties,
        }

    @classmethod
    async def open(cls, address: str, told: Told) -> Portal:
        """Becomes the portal of a session bus.

        Raises:
            UpstreamUnavailable: The bus does not answer, or has a portal already.
        """
        try:
            with anyio.fail_after(DEADLINE):
                bus = await MessageBus(bus_address=address).connect()
                portal = cls(bus)
                portal._told = told
                bus.add_message_handler(portal._handle)
                reply = await bus.request_name(NAME)
        except Exception as error:  # addresses that cannot be read, sockets that are gone, handshakes that fail
            raise _unavailable(type(error).__name__) from error
        if reply is not RequestNameReply.PRIMARY_OWNER:
            bus.disconnect()
            raise _unavailable("another portal is there")
        return portal

    @property
    def lost(self) -> bool:
        """Whether the connection to the bus is gone."""
        return not self._bus.connected

    async def tell(self, told: Told) -> None:
        """Answers with these settings from now on, and tells programs what changed."""
        changed = [
            (space, key, value)
            for space, values in told.items()
            for key, value in values.items()
            if self._told.get(space, {}).get(key) != value
        ]
        self._told = told
        for space, key, value in changed:
            signal = Message(
                message_type=MessageType.SIGNAL,
                path=PATH,
                interface=SETTINGS,
                member="SettingChanged",
                signature="ssv",
                body=[space, key, value],
            )
            with anyio.move_on_after(DEADLINE):
                await self._bus.send(signal)

    async def aclose(self) -> None:
        """Leaves the bus."""
        if self._bus.connected:
            self._bus.disconnect()
        with anyio.move_on_after(1.0, shield=True):
            try:
                await self._bus.wait_for_disconnect()  # type: ignore[no-untyped-call]
            except Exception:  # it ended by itself
                return

    # --- answering ---

    def _handle(self, message: Message) -> Message | None:
        if message.message_type is not MessageType.METHOD_CALL or message.path != PATH:
            return None
        answer = self._answers.get((message.interface, message.member))
        return answer(message) if answer is not None else None

    def _value(self, call: Message, *, wrapped: bool) -> Message:
        value = None
        if call.signature == "ss":
            space, key = call.body
            value = self._told.get(space, {}).get(key)
        if value is None:
            return Message.new_error(call, NOT_FOUND, "There is no such setting.")
        return Message.new_method_return(call, "v", [Variant("v", value) if wrapped else value])

    def _all(self, call: Message) -> Message:
        wanted = call.body[0] if call.signature == "as" else []
        out = {space: values for space, values in self._told.items() if _meant(space, wanted)}
        return Message.new_method_return(call, "a{sa{sv}}", [out])

    def _property(self, call: Message) -> Message:
        if call.body != [SETTINGS, "version"]:
            return Message.new_error(call, "org.freedesktop.DBus.Error.InvalidArgs", "There is no such property.")
        return Message.new_method_return(call, "v", [Variant("u", VERSION)])

    def _properties(self, call: Message) -> Message:
        if call.body != [SETTINGS]:
            return Message.new_error(call, "org.freedesktop.DBus.Error.InvalidArgs", "There is no such interface.")
        return Message.new_method_return(call, "a{sv}", [{"version": Variant("u", VERSION)}])


def _meant(space: str, wanted: list[str]) -> bool:
    """Whether a namespace is one of those asked for; a name may end in `*`, an empty one means all."""
    return not wanted or any(not one or fnmatchcase(space, one) for one in wanted)


def _unavailable(reason: str) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "The settings portal of the desktop did not start.",
        upstream=NAME,
        enable_hint="Call shutdown, then boot with this device.",
        reason=reason,
    )


async def read(link: Link, space: str, key: str) -> Any:
    """What the settings portal of a session answers; None where there is none, or it has no such setting.

    Raises:
        Silence, Lost: It does not answer.
    """
    try:
        found = await link.value(Call(NAME, PATH, SETTINGS, "Read", "ss", (space, key)), DEADLINE)
    except (Refusal, Died):
        return None
    while isinstance(found, Variant):
        found = found.value
    return found


def scheme(value: Any) -> str | None:
    """Our word for a colour scheme; None for what is none."""
    words: Mapping[Any, str] = {0: "light", 1: "dark", 2: "light"}
    return words.get(value) if isinstance(value, int) else None
