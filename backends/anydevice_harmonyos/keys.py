"""The keyboard: chords, text that is typed whole, and the keyboard on the screen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

import anyio

from anydevice.driver import Acted, Keys
from anydevice_schemas import Node, Rect
from anydevice_schemas.errors import ActionUnverified, InvalidArgument, UpstreamUnavailable

from . import codes
from .guarding import Guard, refuse
from .hdc import quote
from .reach import Reach
from .reading import windows

PIECE: Final = 500
"""Characters of one call; each is a process on the device."""
AT_ONCE: Final = 64
"""Pieces that one round trip types."""
EACH: Final = 0.6
"""Seconds the device may take for a piece."""
ENDS: Final = {"\n": codes.ENTER, "\t": codes.KEYS["tab"]}
"""Characters that are keys of their own."""
GONE: Final = 3.0
"""Seconds a keyboard may take to go away."""
STEP: Final = 0.1
SELECT_ALL: Final = ([codes.MODIFIERS["ctrl"]], codes.KEYS["a"])


class HarmonyosKeys(Keys):
    """See `Keys`."""

    def __init__(self, reach: Reach, guard: Guard) -> None:
        self._reach, self._guard = reach, guard
        self._selected = False  # all of the focused field, by the last key
        self._by_focus: bool | None = None  # whether this build types into the focused field; None: not tried yet

    async def press(self, chord: str) -> Acted:
        """See `Keys.press`. `wakeup` and `sleep` turn the screen on and off, and are read back.

        Raises:
            InvalidArgument: There is no such key.
            ActionUnverified: The screen did not turn on.
            AnydeviceError: As `Reach.input`.
        """
        word = codes.POWER.get(chord.strip().lower())
        if word is not None:
            return await self._power(word)
        held, key = codes.chord(chord)
        if not held and key == codes.KEYS["power"]:
            await self._reach.uitest(codes.line(key), acts=True)  # it is the one key a dark screen takes
        else:
            await self._reach.input(codes.line(*held, key))
        self._selected = (held, key) == SELECT_ALL
        return Acted("keys")

    async def type_text(self, text: str, *, delay: float = 0.0) -> Acted:
        """See `Keys.type_text`.

        Raises:
            InvalidArgument: It has characters that no key types.
            ActionUnverified: No field has the focus, on builds that type only where they are told to.
            AnydeviceError: As `Reach.input`.
        """
        if any(unicodedata.category(ch) in ("Cc", "Cs") and ch not in "\n\r\t" for ch in text):
            raise InvalidArgument(
                "No key types a control character; nothing was typed.", param="text", expected="text, lines and tabs"
            )
        selected, self._selected = self._selected, False
        pieces = _pieces(text, 1 if delay else PIECE)
        lit = False
        while pieces:
            if self._by_focus and not delay and len(pieces) > 1:  # many at once: each is a program on the device anyway
                some, pieces = pieces[:AT_ONCE], pieces[AT_ONCE:]
                await self._reach.input(*map(_command, some), seconds=EACH * len(some), seen=lit)
                lit = True
                continue
            piece = pieces.pop(0)
            if piece in ENDS:
                await self._reach.input(_command(piece))
            else:
                await self._text(piece, selected)
            selected, lit = False, True
            if delay:
                await anyio.sleep(delay)
        return Acted("keys")

    async def keyboard_state(self) -> Mapping[str, Any]:
        """See `Keys.keyboard_state`: by the window manager's table."""
        row = (await self._reach.windows()).shows(windows.KEYBOARD)
        if row is None:
            return {"shown": False}
        scale = (await self._reach.view()).scale
        x, y, width, height = (side / scale for side in row.box)
        rect = Rect(x, y, width, height)
        return {"shown": True, "rect": [round(side, 1) for side in (rect.x, rect.y, rect.width, rect.height)]}

    async def dismiss(self) -> Acted:
        """See `Keys.dismiss`: Back, which goes to a keyboard first, and only while one is shown.

        Raises:
            AnydeviceError: As `Reach.input`.
        """
        if not (await self.keyboard_state())["shown"]:
            return Acted("none", verified=True)
        await self._reach.input("uitest uiInput keyEvent Back")
        with anyio.move_on_after(GONE):
            while (await self.keyboard_state())["shown"]:  # noqa: ASYNC110 - the device tells nobody when it goes
                await anyio.sleep(STEP)
            return Acted("keys", verified=True)
        return Acted("keys", verified=False)

    async def focused(self) -> Node | None:
        """See `Keys.focused`.

        Raises:
            DialogOpen: A dialog has to be answered first.
            AnydeviceError: As `Looking.take`.
        """
        tree = await self._guard.tree()
        refuse(tree)
        found = [node for node in tree.nodes if "focused" in node.states]
        return next((node for node in found if "editable" in node.states), found[-1] if found else None)

    async def _text(self, piece: str, selected: bool) -> None:
        if self._by_focus is not False:
            try:
                await self._reach.input(_command(piece))
                self._by_focus = True
                return
            except UpstreamUnavailable:
                if self._by_focus:
                    raise
                self._by_focus = False  # an older build has no such word
        tree = await self._guard.tree()
        field = next((node for node in tree.nodes if {"focused", "editable"} <= node.states), None)
        if field is None or field.rect is None:
            raise ActionUnverified(
                "No field has the focus; nothing was typed.",
                hint="Press the field first, or use fill.",
                expected="a field with the focus",
                actual="none",
            )
        if selected:  # typing there begins with a tap, which takes the selection away
            await self._reach.input(codes.line(codes.BACKSPACE))
        x, y = await self._reach.pixels(field.rect.center)
        await self._reach.input(f"uitest uiInput inputText {x} {y} {quote(piece)}")

    async def _power(self, word: str) -> Acted:
        await self._reach.run("power-shell", word)
        wanted = word == "wakeup"
        with anyio.move_on_after(GONE):
            while True:
                text = (await self._reach.hdc.shell("hidumper -s 3301 -a -a")).text
                found = re.search(r"Current State:\s*(\w+)", text)
                if found is None:
                    return Acted("power-shell")
                if (found[1] == "AWAKE") == wanted:
                    return Acted("power-shell", verified=True)
                await anyio.sleep(STEP)
        raise ActionUnverified(
            "The screen did not change.", expected="on" if wanted else "off", actual="off" if wanted else "on"
        )


def _command(piece: str) -> str:
    """The command line that types a piece where the focus is."""
    return codes.line(ENDS[piece]) if piece in ENDS else f"uitest uiInput text {quote(piece)}"


def _pieces(text: str, most: int) -> list[str]:
    """Text in pieces of at most `most` characters, each line end and tab by itself: a line end would cut a call off."""
    found = []
    for part in re.split(r"([\n\t])", text.replace("\r\n", "\n").replace("\r", "\n")):
        found += [part] if part in ("\n", "\t") else [part[at : at + most] for at in range(0, len(part), most)]
    return [part for part in found if part]
