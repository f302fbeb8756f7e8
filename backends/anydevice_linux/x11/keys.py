"""The keyboard, by XTEST: chords on the active layout, text of any characters."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import anyio
from Xlib import X
from Xlib.protocol import event

from anydevice.driver import Acted, Keys
from anydevice_schemas import Node
from anydevice_schemas.errors import CallTimeout, FocusUnavailable, InvalidArgument, OutcomeUnknown

from . import spare, xkb
from .connection import Connection, readable
from .display import XDisplay
from .keymap import CAPS_LOCK, MODIFIERS, Layout, Stroke, keysym_of, parse_chord, typable
from .properties import Ask

BATCH = 100
"""Characters sent together; a cancelled call sends at most these."""
SETTLE = 0.05
"""Seconds programs are left after the keyboard mapping has changed."""
UNPINGED = 0.4
"""Seconds a program that cannot be asked gets to read the keys it was sent."""
READING = 5.0
"""Seconds a program that can be asked gets for that."""
FOCUSING = 0.3
"""Seconds a window manager may take to say who has the keyboard."""
LEFT_BEHIND = 1.0
"""Seconds a program gets for that which no longer has the keyboard."""
GLANCE = 0.1
"""Seconds the display's thread waits for the answer at a time."""
GROUP_SHIFT = 13
"""Where the state of the pointer has the number of the active layout (XKB protocol, core state)."""
HELD = X.ShiftMask | X.ControlMask | X.Mod1Mask | X.Mod4Mask


async def _nobody() -> Node | None:
    return None


class XKeys(Keys):
    """The keyboard of an X display.

    Args:
        display: The display.
        focused: Says which element has the keyboard; X itself does not know.
    """

    def __init__(self, display: XDisplay, focused: Callable[[], Awaitable[Node | None]] = _nobody) -> None:
        self._display = display
        self._focused = focused
        self._unread: set[int] = set()
        """Windows that got lent keys and may not have looked them up in the keyboard mapping yet."""
        display.farewells.append(self._farewell)

    def told_by(self, focused: Callable[[], Awaitable[Node | None]]) -> None:
        """From now on somebody says which element has the keyboard."""
        self._focused = focused

    async def focused(self) -> Node | None:
        """See `Keys.focused`."""
        return await self._focused()

    async def keyboard_state(self) -> Mapping[str, Any]:
        """See `Keys.keyboard_state`: there is no on-screen keyboard; `layout` is the number of the active layout."""
        layout = await self._display.do(_layout)
        return {"shown": False, "layout": layout.group}

    async def press(self, chord: str) -> Acted:
        """See `Keys.press`. A key that the active layout lacks is taken from another, or lent a spare keycode."""
        modifiers, keysym = parse_chord(chord)

        def known(connection: Connection) -> bool:
            layout = _layout(connection)
            stroke = layout.anywhere(keysym) or self._plain(layout, keysym)
            if stroke is None:
                return False
            _free_hands(connection, layout)
            held = [code for name in modifiers if (code := layout.key(MODIFIERS[name], modifier=True)) is not None]
            if len(held) < len(modifiers):
                raise InvalidArgument(
                    "This keyboard has no such modifier.", param="chord", expected="modifiers of the keyboard"
                )
            extra = [code for code in layout.modifier_keys(stroke.level) if code not in held]
            _strike(connection, [*held, *extra], stroke.keycode)
            connection.settle()
            if keysym in layout.lent():
                self._unread |= _active(connection)
            return True

        if not await self._display.do(known, sent="key"):
            await self._lend([keysym], begun=False)
            await self._display.do(known, sent="key")
        return Acted("keys")

    async def type_text(self, text: str, *, delay: float = 0.0) -> Acted:
        """See `Keys.type_text`. Characters without a key are lent spare keycodes, as many at a time as there are."""
        characters = typable(text)
        room = await self._listener()
        total = len(characters)
        done = 0
        while done < total:
            count, missing = await self._display.do(
                lambda connection, at=done: self._reach(connection, characters, at, room)  # type: ignore[misc]
            )
            if missing:
                await self._lend(missing, begun=done > 0)
            end = done + count
            while done < end:
                batch = characters[done : done + 1] if delay > 0 else characters[done : min(done + BATCH, end)]
                await self._display.do(lambda connection, part=batch: self._type(connection, part), sent="text")  # type: ignore[misc]
                done += len(batch)
                if delay > 0 and done < total:
                    await anyio.sleep(delay)
        return Acted("keys", data={"characters": len(characters)})

    async def restore(self) -> None:
        """Gives lent keycodes back, once programs have read what was typed with them. Closing the display does, too.

        Raises:
            AnydeviceError: As `XDisplay.do`.
        """
        if await self._display.do(lambda connection: bool(_layout(connection).lent())):
            for window in self._unread:
                await self._has_read(window, LEFT_BEHIND)
            self._unread = set()
            await self._display.do(lambda connection: spare.give_back(connection, _layout(connection)))

    async def _listener(self) -> int:
        """Waits a moment until there is somebody to type to; how many spare keycodes there are.

        Raises:
            FocusUnavailable: There is nobody.
        """
        end = anyio.current_time() + FOCUSING
        while (room := await self._display.do(_begin)) is None:
            if anyio.current_time() > end:
                raise FocusUnavailable(
                    "No window has the keyboard.",
                    holder="no window",
                    fix="Press the field first, or raise its window.",
                )
            await anyio.sleep(GLANCE / 5)
        return room

    async def _lend(self, keysyms: Sequence[int], *, begun: bool) -> None:
        await self._read_by_now(begun=begun)
        await self._display.do(
            lambda connection: spare.lend(connection, _layout(connection), keysyms), sent="keyboard mapping"
        )
        await anyio.sleep(SETTLE)

    async def _read_by_now(self, *, begun: bool) -> None:
        """Waits until windows that were typed into have read their keys.

        Programs look keys up in the mapping as it is when they come to them, so it must not change before. They answer
        pings in the same order, which tells. The window that has the keyboard has to answer; another that hangs is not
        waited for as long, since whatever is typed now is not for it.

        Raises:
            CallTimeout: It does not answer.
            OutcomeUnknown: Nor did it when a part of the text (`begun`) was sent.
        """
        unread, self._unread = self._unread, set()
        active = await self._display.do(_active) if unread else set()
        for window in sorted(unread, key=active.__contains__):
            patience = READING if window in active else LEFT_BEHIND
            if await self._has_read(window, patience) or window not in active:
                continue
            self._unread.add(window)
            if begun:
                raise OutcomeUnknown(
                    "The program does not read what was typed; the rest was not sent.",
                    sent="text",
                    reason=f"the window did not answer in {READING:g} s",
                )
            raise CallTimeout(
                "The program does not read what was typed before; nothing was typed now.",
                after=READING,
                waiting_for="the window that has the keyboard",
            )

    async def _has_read(self, window: int, patience: float) -> bool:
        if not await self._display.do(lambda connection: _ping(connection, window)):
            await anyio.sleep(UNPINGED)
            return True
        end = anyio.current_time() + patience
        try:
            while not await self._display.do(lambda connection: _answered(connection, window)):
                if anyio.current_time() > end:
                    return False
            return True
        finally:
            if not self._display.lost:
                with anyio.CancelScope(shield=True):
                    await self._display.do(_stop_listening)

    # --- in the display's thread -------------------------------------------------------------------------

    def _farewell(self, connection: Connection) -> None:
        """Gives lent keycodes back when the connection is closed."""
        if not _layout(connection).lent():
            return
        end = time.monotonic() + UNPINGED
        for window in self._unread:
            if _ping(connection, window):
                while not _answered(connection, window) and time.monotonic() < end:
                    pass  # it waits in there
        spare.give_back(connection, _layout(connection))

    def _reach(self, connection: Connection, text: str, start: int, room: int) -> tuple[int, list[int]]:
        """How many characters from `start` on can be typed with one change of the mapping, and what it has to add."""
        layout = _layout(connection)
        known = layout.lent()
        need: dict[int, None] = {}
        missing: dict[int, None] = {}
        count = 0
        for character in text[start:]:
            keysym = keysym_of(character)
            if layout.stroke(keysym) is not None and keysym not in known:
                count += 1
                continue
            if keysym not in need and len(need) >= room:
                if not need:
                    raise InvalidArgument(
                        "The keyboard has no key left for a character.", param="text", expected="text of its layout"
                    )
                break
            need[keysym] = None
            if keysym not in known:
                missing[keysym] = None
            count += 1
        # What is written may take the place of other loans, so those still needed are written again.
        return count, list(need) if missing else []

    def _plain(self, layout: Layout, keysym: int) -> Stroke | None:
        """A key by its first keysym only: modifiers themselves."""
        code = layout.key(keysym)
        return Stroke(code) if code is not None else None

    def _type(self, connection: Connection, text: str) -> None:
        layout = _layout(connection)
        lent = layout.lent()
        strokes = []
        for character in text:
            keysym = keysym_of(character)
            stroke = lent.get(keysym) or layout.stroke(keysym)
            if stroke is None:  # somebody changed the layout under us
                raise OutcomeUnknown(
                    "The keyboard layout changed while text was typed; the rest was not sent.",
                    sent="text",
                    reason="the layout is not the one the text was prepared for",
                )
            strokes.append((stroke, layout.modifier_keys(stroke.level)))
        _free_hands(connection, layout)
        caps = layout.key(CAPS_LOCK) if connection.screen().root.query_pointer().mask & X.LockMask else None
        if caps is not None:
            _strike(connection, [], caps)
        for stroke, held in strokes:
            _strike(connection, held, stroke.keycode)
        if caps is not None:
            _strike(connection, [], caps)
        connection.settle()
        if lent:
            self._unread |= _active(connection)


def _begin(connection: Connection) -> int | None:
    """How many spare keycodes there are; None when no window has the keyboard."""
    ask = Ask(connection)
    root = connection.screen().root.id
    manager, active = ask.property(root, "_NET_SUPPORTING_WM_CHECK"), ask.property(root, "_NET_ACTIVE_WINDOW")
    window = active.number()
    # A manager may still name a window that has just gone.
    if manager.number() and (not window or ask.attributes(window).get() is None):
        return None
    return len(_layout(connection).spare())


def _active(connection: Connection) -> set[int]:
    """Id of the window that has the keyboard, if one has."""
    return {
        id for id in Ask(connection).property(connection.screen().root.id, "_NET_ACTIVE_WINDOW").numbers()[:1] if id
    }


def _layout(connection: Connection) -> Layout:
    first, rows = xkb.read(connection)
    group = (connection.screen().root.query_pointer().mask >> GROUP_SHIFT) & 3
    return Layout(first, rows, group, connection.get_modifier_mapping())


def _strike(connection: Connection, held: Sequence[int], keycode: int) -> None:
    for code in [*held, keycode]:
        connection.give(X.KeyPress, code)
    for code in [keycode, *reversed(held)]:
        connection.give(X.KeyRelease, code)


def _free_hands(connection: Connection, layout: Layout) -> None:
    """Lets go of modifiers that an input cut short left down.

    Raises:
        FocusUnavailable: One is down all the same: a person holds it, and would turn text into shortcuts.
    """
    root = connection.screen().root
    if not root.query_pointer().mask & HELD:
        return
    down = connection.query_keymap()
    for code in layout.held:
        if down[code // 8] >> (code % 8) & 1:
            connection.give(X.KeyRelease, code)
    if root.query_pointer().mask & HELD:
        raise FocusUnavailable(
            "A modifier key is held down.",
            holder="a person at the keyboard",
            fix="Let go of Shift, Ctrl, Alt and Super.",
        )


def _ping(connection: Connection, id: int) -> bool:
    """Asks a window for a sign of life, which it gives after reading all that came before; False if it never does."""
    protocols = Ask(connection).property(id, "WM_PROTOCOLS").numbers()
    ping = connection.display.get_atom("_NET_WM_PING")
    if ping not in protocols:
        return False
    connection.keeps_events = True
    # Toolkits disagree on whom they answer: those who listen for changes of the root, or of its children.
    connection.screen().root.change_attributes(event_mask=X.SubstructureNotifyMask | X.StructureNotifyMask)
    window = connection.create_resource_object("window", id)
    message = event.ClientMessage(
        window=window,
        client_type=connection.display.get_atom("WM_PROTOCOLS"),
        data=(32, [ping, X.CurrentTime, id, 0, 0]),
    )
    window.send_event(message, event_mask=X.NoEventMask)
    connection.settle()
    return True


def _answered(connection: Connection, id: int) -> bool:
    """Whether the sign of life has come, waiting a moment for it; or the window has gone."""
    ping = connection.display.get_atom("_NET_WM_PING")
    end = time.monotonic() + GLANCE
    while True:
        while connection.pending_events():
            got = connection.next_event()
            if got.type == X.ClientMessage and got.data[0] == 32 and [got.data[1][0], got.data[1][2]] == [ping, id]:
                return True
        left = end - time.monotonic()
        if left <= 0:
            return Ask(connection).attributes(id).get() is None  # nobody is left to read anything
        readable([connection.fileno()], left)


def _stop_listening(connection: Connection) -> None:
    connection.screen().root.change_attributes(event_mask=X.NoEventMask)
    connection.settle()
    connection.keeps_events = False
