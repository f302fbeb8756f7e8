"""The keyboard: text as it is, keys and chords, buttons on the side, and the keyboard on the screen."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Final

import anyio

from anydevice.driver import Acted, Keys, TreeScope
from anydevice_schemas import Node, Point, Tree
from anydevice_schemas.errors import AnydeviceError, InvalidArgument, Unsupported

from . import writing
from .engine import Engine, Move, named, no_focus
from .keymap import BUTTONS, chord
from .pasting import paste
from .reach import SCREEN, Reach
from .reading.types import FIELDS, SCROLLED
from .tree import View, build, size_of

ALL: Final = frozenset({"primary", "meta", "cmd", "command", "super"})
CLEARING: Final = frozenset({"backspace", "delete", "del"})
GONE: Final = 3.0
"""Seconds a keyboard may take to go away."""
STEP: Final = 0.1
DRAG: Final = 0.4
"""Seconds of the move that drags a keyboard away."""
LEAST: Final = 48.0
"""Points above a keyboard that have to scroll, for a finger to begin there."""


class AppleKeys(Keys):
    """See `Keys`. Select all is remembered: what comes next replaces the field's content, by its own clearing."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._marked = False

    async def press(self, chord: str) -> Acted:
        """See `Keys.press`.

        Raises:
            InvalidArgument: There is no such key.
            FocusUnavailable: It goes into a field, and none has the focus.
        """
        engine = await self._reach.engine()
        held, key = _parts(chord)
        self._reach.acted += 1
        if key in BUTTONS and not held:
            await engine.button(BUTTONS[key], 0.0)
            return Acted("button", data=named(engine))
        if key == "a" and len(held) == 1 and held[0] in ALL:
            field = await self.focused()
            if field is not None and "editable" in field.states:
                self._marked = True
                return Acted("keys", data=named(engine, {"selected": "when text follows"}))
        if self._marked and key in CLEARING and not held:
            self._marked = False
            await engine.clear()
            return Acted("clear", data=named(engine))
        self._marked = False
        await engine.keys(held, key)
        return Acted("keys", data=named(engine))

    async def type_text(self, text: str, *, delay: float = 0.0) -> Acted:
        """See `Keys.type_text`. A field that is replaced by more than there is time to type is pasted into.

        Raises:
            InvalidArgument: It holds control characters.
            FocusUnavailable: Nothing has the focus.
            ActionUnverified: The time is up, and a part of it was typed: details tell how much.
        """
        if any(unicodedata.category(sign) in ("Cc", "Cs") and sign not in "\n\r\t" for sign in text):
            raise InvalidArgument(
                "No key types a control character; nothing was typed.", param="text", expected="text, lines and tabs"
            )
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        engine = await self._reach.engine()
        self._reach.acted += 1
        marked, self._marked = self._marked, False
        if marked:
            await engine.clear()
        if delay <= 0:
            if marked and writing.long(text) and (pasted := await self._pasted(engine, text)):
                return pasted
            await writing.write(engine, text)
            return Acted("keys", data=named(engine))
        for sign in text:
            await engine.write(sign)
            await anyio.sleep(delay)
        return Acted("keys", data=named(engine))

    async def _pasted(self, engine: Engine, text: str) -> Acted | None:
        """Pastes a text that there is no time to type; None where the field offers nothing to paste with."""
        field = await self.focused()
        if field is None or self._reach.tv:
            return None
        try:
            return await paste(self._reach, engine, field, text)
        except Unsupported:
            return None

    async def paste(self, text: str) -> Acted:
        """See `Keys.paste`: by the menu of the field.

        Raises:
            FocusUnavailable: No field has the focus.
            Unsupported: Its menu offers no such thing, or it is a TV; nothing was put into the field.
        """
        if self._reach.tv:
            raise Unsupported(
                "A TV has no finger that rests on a field, so it has no menu to paste by.",
                operation="keys.paste",
                alternatives=["keys.type_text"],
            )
        engine = await self._reach.engine()
        field = await self.focused()
        if field is None or "editable" not in field.states:
            raise no_focus()
        self._reach.acted += 1
        if self._marked:
            await engine.clear()
            self._marked = False
        return await paste(self._reach, engine, field, text)

    async def keyboard_state(self) -> Mapping[str, Any]:
        """See `Keys.keyboard_state`."""
        node = _keyboard(await self._look())
        if node is None:
            return {"shown": False}
        rect = node.rect
        place = [round(side, 1) for side in (rect.x, rect.y, rect.width, rect.height)] if rect is not None else []
        return {"shown": True, "rect": place}

    async def dismiss(self) -> Acted:
        """See `Keys.dismiss`: by the keyboard's own key, which tablets have; else by the move that drags it away with
        what is scrolled above it. Many apps leave no way to take it away: it is then said to be still there.
        """
        engine = await self._reach.engine()
        tree = await self._look()
        if _keyboard(tree) is None:
            return Acted("none", verified=True)
        self._reach.acted += 1
        data: dict[str, object] = {}
        try:
            await self._reach.hide_keyboard()
        except AnydeviceError as error:
            data["refused"] = error.details.get("reason", error.code)
            drag = None if self._reach.tv else _drag(tree)
            if drag is None:
                return Acted("keyboard", verified=False, data=named(engine, data))
            await engine.touch([drag])
        with anyio.move_on_after(GONE):
            while _keyboard(await self._look()) is not None:  # noqa: ASYNC110 - the device tells nobody when it goes
                await anyio.sleep(STEP)
            return Acted("keyboard", verified=True, data=named(engine))
        return Acted("keyboard", verified=False, data=named(engine, data))

    async def focused(self) -> Node | None:
        """See `Keys.focused`.

        Raises:
            DialogOpen: A dialog has to be answered first.
        """
        tree = await self._look()
        found = [node for node in tree.nodes if "focused" in node.states and not node.root]
        return next((node for node in found if "editable" in node.states), found[-1] if found else None)

    async def _look(self) -> Tree:
        engine = await self._reach.engine()
        look = await engine.look(deadline=SCREEN)
        size = size_of(look.source) or await engine.size()
        scope = TreeScope(mode="full", max_nodes=20_000, max_text=100_000)
        tree = build(look.source, View(*size), scope, look.quality)
        if not any("focused" in node.states for node in tree.nodes) and _keyboard(tree) is not None:
            await self._mark(tree)
        return tree

    async def _mark(self, tree: Tree) -> None:
        """Marks the field that has the keyboard, where the source does not tell it."""
        rect = await self._reach.active_rect()
        fields = [node for node in tree.nodes if node.native_role in FIELDS and node.rect is not None]
        for node in fields:
            own = node.rect
            assert own is not None
            if rect is not None and all(
                abs(one - other) < 1.0 for one, other in zip((own.x, own.y, own.width, own.height), rect, strict=True)
            ):
                node.states |= {"focused"}
                return


def _keyboard(tree: Tree) -> Node | None:
    return next((node for node in tree.nodes if node.role == "keyboard" and "offscreen" not in node.states), None)


def _drag(tree: Tree) -> Move | None:
    """The move from what is scrolled above a keyboard down into it; None where nothing there scrolls."""
    keyboard = _keyboard(tree)
    if keyboard is None or keyboard.rect is None:
        return None
    top = keyboard.rect.y
    lists = [node.rect for node in tree.nodes if node.native_role in SCROLLED and "offscreen" not in node.states]
    above = [rect for rect in lists if rect is not None and rect.y + LEAST <= top <= rect.y + rect.height + LEAST]
    if not above:
        return None
    rect = above[-1]
    x = rect.x + rect.width / 2
    start, end = max(rect.y + LEAST / 2, top - LEAST), top + keyboard.rect.height * 0.8
    return Move([Point(x, start), Point(x, end)], seconds=DRAG)


def _parts(text: str) -> tuple[list[str], str]:
    return chord(text)
