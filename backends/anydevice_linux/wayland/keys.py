"""The keyboard, by a virtual keyboard of our own (virtual-keyboard-unstable-v1) with a keymap of our own.

The compositor tells programs the keymap on the same wire as the keys, in their order: unlike on X11, nothing that was
typed before a change is read with the keymap that came after it.

A compositor ends a program that does not read what it is told for too long. So what is typed goes in pieces, and the
next piece waits until the programs have read most of the one before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import anyio

from anydevice.driver import Acted, Keys
from anydevice_schemas import Node
from anydevice_schemas.errors import FocusUnavailable, OutcomeUnknown

from ..x11.keymap import keysym_of, parse_chord, typable
from .compositor import Compositor
from .connection import Thing
from .keymap import ALTGR, BITS, MODIFIER_KEYS, THIRD, Keymap, Stroke
from .protocol import VIRTUAL_KEYBOARD, VIRTUAL_KEYBOARD_MANAGER
from .session import KEYBOARD, Session
from .unread import unread

XKB_TEXT: Final = 1
UP, DOWN = 0, 1
BATCH: Final = 100
"""Characters sent together; a cancelled call sends at most these."""
BEHIND: Final = 65_536
"""Bytes of memory that a program may be behind before it is waited for; compositors end it at about 200,000."""
CATCHING_UP: Final = 15.0
"""Seconds a program that is behind may read nothing."""
PACE: Final = 500
"""Characters a second where nobody tells how far programs are behind."""
FOCUSING: Final = 0.3
"""Seconds a compositor may take to say who has the keyboard."""

Focused = Callable[[], Awaitable[Node | None]]
Typing = Callable[[], Awaitable[bool | None]]
"""Whether a window has the keyboard; None where nobody can tell."""


async def _nobody() -> Node | None:
    return None


class WKeys(Keys):
    """The keyboard of a Wayland session.

    Args:
        compositor: The compositor.
        typing: Says whether there is a window to type into.
        focused: Says which element has the keyboard.
    """

    def __init__(self, compositor: Compositor, typing: Typing, focused: Focused = _nobody) -> None:
        self._compositor, self._typing, self._focused = compositor, typing, focused
        self._keymap = Keymap()
        self._thing: Thing | None = None

    async def prepare(self) -> bool:
        """Makes the keyboard, where the compositor lets programs; True if the session had none before."""

        def prepare(session: Session) -> bool:
            if not session.offers(VIRTUAL_KEYBOARD_MANAGER) or session.can(KEYBOARD):
                return False
            self._ready(session)
            session.connection.settle()
            return True

        return await self._compositor.do(prepare)

    def told_by(self, focused: Focused) -> None:
        """From now on somebody says which element has the keyboard."""
        self._focused = focused

    async def focused(self) -> Node | None:
        """See `Keys.focused`."""
        return await self._focused()

    async def keyboard_state(self) -> Mapping[str, Any]:
        """See `Keys.keyboard_state`: there is no on-screen keyboard; the layout is the one of our own keyboard."""
        return {"shown": False, "layout": 0}

    async def press(self, chord: str) -> Acted:
        """See `Keys.press`. A key that no keyboard has is put on ours."""
        modifiers, keysym = parse_chord(chord)

        def press(session: Session) -> None:
            changed = self._keymap.lend(keysym)
            self._ready(session, changed=changed)
            stroke = self._keymap.key(keysym)
            assert stroke is not None, "it was given a key"
            self._strike(session, modifiers, stroke)
            session.connection.settle()

        await self._compositor.noticed()
        await self._compositor.do(press, sent="key")
        return Acted("virtual-keyboard")

    async def type_text(self, text: str, *, delay: float = 0.0) -> Acted:
        """See `Keys.type_text`. Characters without a key are put on spare ones, as many at a time as there are.

        Raises:
            FocusUnavailable: There is nobody to type to.
            OutcomeUnknown: The program stopped reading; the rest was not typed.
        """
        characters = typable(text)
        await self._compositor.noticed()
        await self._listener()
        done, total = 0, len(characters)
        before = await self._unread()
        while done < total:
            count = 1 if delay > 0 else BATCH
            part = characters[done : done + min(count, self._keymap.room)]
            await self._compositor.do(lambda session, part=part: self._type(session, part), sent="text")  # type: ignore[misc]
            done += len(part)
            if done < total:
                await anyio.sleep(delay)
                await self._caught_up(before, len(part), done)
        return Acted("virtual-keyboard", data={"characters": total})

    async def _caught_up(self, before: Mapping[int, int] | None, count: int, done: int) -> None:
        """Waits until no program is far behind because of what was typed.

        Args:
            before: How far each was behind before.
            count: Characters of the last piece.
            done: Characters typed so far.

        Raises:
            OutcomeUnknown: One stays behind.
        """
        if before is None:
            await anyio.sleep(count / PACE)
            return
        last, since = dict[int, int](), anyio.current_time()
        while True:
            now = await self._unread() or {}
            behind = {who: size for who, size in now.items() if size > max(BEHIND, before.get(who, 0))}
            if not behind:
                return
            if behind != last:
                last, since = behind, anyio.current_time()
            elif anyio.current_time() - since > CATCHING_UP:
                raise OutcomeUnknown(
                    "The program stopped reading what is typed; the rest was not typed.",
                    hint="Read the field to see how far it got, then type the rest.",
                    sent="text",
                    reason=f"it read nothing for {CATCHING_UP:g} s",
                    characters=done,
                )
            await anyio.sleep(0.02)

    async def _unread(self) -> Mapping[int, int] | None:
        """How far each program is behind; None where nobody tells."""
        try:
            return await self._compositor.do(lambda _: unread(self._compositor.path))
        except OSError:
            return None

    async def _listener(self) -> None:
        """Waits a moment until there is somebody to type to.

        Raises:
            FocusUnavailable: There is nobody.
        """
        end = anyio.current_time() + FOCUSING
        while await self._typing() is False:
            if anyio.current_time() > end:
                raise FocusUnavailable(
                    "No window has the keyboard.",
                    holder="no window",
                    fix="Press the field first, or raise its window.",
                )
            await anyio.sleep(0.02)

    # --- in the compositor's thread ----------------------------------------------------------------------

    def _ready(self, session: Session, *, changed: bool = False) -> None:
        """Makes the keyboard; tells its keymap where that has `changed`."""
        if self._thing is None:
            manager = session.take(VIRTUAL_KEYBOARD_MANAGER, "keys")
            seat = session.seat("keys")
            self._thing = session.connection.ask(manager, "create_virtual_keyboard", VIRTUAL_KEYBOARD, seat)
        elif not changed:
            return
        data = self._keymap.text().encode() + b"\0"
        fd = os.memfd_create("keymap", os.MFD_CLOEXEC)
        try:
            with open(fd, "wb", closefd=False) as file:
                file.write(data)
            session.connection.ask(self._thing, "keymap", None, XKB_TEXT, len(data), fds=[fd])
        finally:
            os.close(fd)

    def _type(self, session: Session, text: str) -> None:
        keysyms = [keysym_of(character) for character in text]
        self._ready(session, changed=self._keymap.write(keysyms))
        with session.connection.together():
            for keysym in keysyms:
                stroke = self._keymap.stroke(keysym)
                assert stroke is not None, "room was made for it"
                self._strike(session, (), stroke)
        session.connection.settle()

    def _strike(self, session: Session, modifiers: Sequence[str], stroke: Stroke) -> None:
        held = [(MODIFIER_KEYS[name], BITS[name]) for name in modifiers]
        if stroke.shift and "shift" not in modifiers:
            held.append((MODIFIER_KEYS["shift"], BITS["shift"]))
        if stroke.third:
            held.append((ALTGR, THIRD))
        bits = 0
        for key, bit in held:
            self._key(session, key, DOWN)
            bits |= bit
            self._modifiers(session, bits)
        self._key(session, stroke.key, DOWN)
        self._key(session, stroke.key, UP)
        for key, bit in reversed(held):
            self._key(session, key, UP)
            bits &= ~bit
            self._modifiers(session, bits)

    def _key(self, session: Session, key: int, state: int) -> None:
        session.connection.ask(self._thing_, "key", None, int(time.monotonic() * 1000) & 0xFFFFFFFF, key, state)

    def _modifiers(self, session: Session, bits: int) -> None:
        session.connection.ask(self._thing_, "modifiers", None, bits, 0, 0, 0)

    @property
    def _thing_(self) -> Thing:
        assert self._thing is not None, "it was made ready"
        return self._thing
