"""The keyboard: chords, text that is typed exactly or refused, and the keyboard on the screen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Protocol

import anyio

from anydevice.driver import Acted, Keys
from anydevice_adb import line, quote
from anydevice_schemas import Node
from anydevice_schemas.errors import InvalidArgument, Unsupported, UpstreamUnavailable

from . import codes
from .guarding import Guard, refuse
from .reach import Reach
from .reading import keyboard
from .touch import refuse_denied

COMBINATION_SINCE = 31
"""API level that has `input keycombination`."""
PIECE = 500
"""Characters of one `input text`; each is a process on the device."""
DEADLINE = 20.0
GONE = 3.0
"""Seconds a keyboard may take to go away."""
STEP = 0.1
SELECT_ALL = ([codes.MODIFIERS["ctrl"]], codes.KEYS["a"])
CLEARING = (codes.KEYS["backspace"], codes.KEYS["delete"])
AT_ONCE = 100
"""Keys of one `input keyevent`."""
MASKED = 128
"""Characters that are deleted of a field that does not tell what it holds."""
_TYPED = re.compile(r"[\x20-\x7e]")


class Writer(Protocol):
    """Another way of getting text into the focused field, for text that keys cannot type."""

    async def write(self, text: str, *, replace: bool) -> bool | None:
        """Adds text to the focused field, or replaces what it holds.

        Returns:
            Whether the field was seen to hold it; None where nothing could be written.
        """


class AndroidKeys(Keys):
    """See `Keys`."""

    def __init__(self, reach: Reach, guard: Guard, writer: Writer | None = None) -> None:
        self._reach, self._guard, self._writer = reach, guard, writer
        self._selected = False  # all of the focused field, by the last key
        self._marked = 0  # characters of it that the next text replaces, where Android cannot select them

    async def press(self, chord: str) -> Acted:
        """See `Keys.press`.

        Raises:
            InvalidArgument: There is no such key.
            Unsupported: The device is too old for chords.
        """
        held, key = codes.chord(chord)
        if (held, key) == SELECT_ALL and 0 < self._reach.sdk < COMBINATION_SINCE:
            return await self._mark_all()
        if self._marked and key in CLEARING:
            await self._clear()
            return Acted("keys")
        self._marked = 0
        if held and 0 < self._reach.sdk < COMBINATION_SINCE:
            raise Unsupported(
                "This Android cannot press several keys at once.",
                operation="keys.press",
                alternatives=["keys.type_text"],
                reason=f"input keycombination needs API level {COMBINATION_SINCE}",
            )
        await self._input("keycombination" if held else "keyevent", *held, key)
        self._selected = (held, key) == SELECT_ALL
        return Acted("keys")

    async def type_text(self, text: str, *, delay: float = 0.0) -> Acted:
        """See `Keys.type_text`. What Android's `input` cannot type is refused, or written by another road, whole.

        Raises:
            InvalidArgument: There is no road for this text now.
        """
        if any(unicodedata.category(ch) in ("Cc", "Cs") and ch not in "\n\r\t" for ch in text):
            raise InvalidArgument(
                "No key types a control character; nothing was typed.", param="text", expected="text, lines and tabs"
            )
        strange = [ch for ch in text if not _TYPED.match(ch) and ch not in "\r\n\t"]
        if strange:
            held = await self._writer.write(text, replace=self._selected) if self._writer is not None else None
            if held is not None:
                self._selected, self._marked = False, 0
                # A secure field gives dots back whatever it holds.
                return Acted("accessibility", verified=True if held else None)
            raise InvalidArgument(
                "Android's keys cannot type this text; nothing was typed.",
                param="text",
                expected="ASCII, or an automation server on the device (settings of the backend: automation = true)",
                characters=sorted({f"U+{ord(ch):04X}" for ch in strange})[:20],
            )
        self._selected = False
        await self._clear()
        for piece in _pieces(text, 1 if delay else PIECE):
            if piece in ("\n", "\t"):
                await self._input("keyevent", codes.ENTER if piece == "\n" else codes.KEYS["tab"])
            else:
                await self._text(piece)
            if delay:
                await anyio.sleep(delay)
        return Acted("keys")

    async def keyboard_state(self) -> Mapping[str, Any]:
        """See `Keys.keyboard_state`: `shown` and the input method's `method`; both as the device says.

        Raises:
            UpstreamUnavailable: It says nothing.
        """
        text = (await self._reach.adb.shell("dumpsys input_method")).text
        shown = keyboard.shown(text)
        if shown is None:
            raise UpstreamUnavailable(
                "The device does not say whether a keyboard is shown.",
                upstream="input_method",
                enable_hint="Call screenshot to see.",
                said=text[:500],
            )
        return {"shown": shown, "method": keyboard.method(text)}

    async def dismiss(self) -> Acted:
        """See `Keys.dismiss`: Escape first, which nothing but a keyboard takes; Back only while one is still shown."""
        if not (await self.keyboard_state())["shown"]:
            return Acted("none", verified=True)
        for code in (codes.ESCAPE, codes.BACK):
            await self._input("keyevent", code)
            with anyio.move_on_after(GONE):
                await self._gone()
                return Acted("keys", verified=True)
        return Acted("keys", verified=False)

    async def _gone(self) -> None:
        while (await self.keyboard_state())["shown"]:  # noqa: ASYNC110 - the device tells nobody when it goes
            await anyio.sleep(STEP)

    async def focused(self) -> Node | None:
        """See `Keys.focused`.

        Raises:
            DialogOpen: A dialog has to be answered first.
        """
        tree = await self._guard.tree()
        refuse(tree)
        found = [node for node in tree.nodes if "focused" in node.states]
        return next((node for node in found if "editable" in node.states), found[-1] if found else None)

    async def _mark_all(self) -> Acted:
        """Selecting all where no chord can be pressed: what comes next replaces it, as far as that is text.

        Raises:
            Unsupported: No field has the focus, so there is nothing that could be replaced.
        """
        field = await self.focused()
        if field is None or "editable" not in field.states:
            raise Unsupported(
                "This Android cannot press several keys at once, and no field has the focus.",
                operation="keys.press",
                alternatives=["keys.type_text"],
                reason=f"input keycombination needs API level {COMBINATION_SINCE}",
            )
        self._selected, self._marked = True, len(field.value) if field.value is not None else MASKED
        return Acted("keys", data={"selected": "when text follows"})

    async def _clear(self) -> None:
        """Deletes what was marked: both ways from where the caret is, which in a field of several lines is anywhere."""
        marked, self._marked, self._selected = self._marked, 0, False
        keys = [codes.KEYS["backspace"]] * marked + [codes.KEYS["delete"]] * marked
        for at in range(0, len(keys), AT_ONCE):
            await self._input("keyevent", *keys[at : at + AT_ONCE])

    async def _text(self, piece: str) -> None:
        # `input text` takes %s for a space, and has no way to say a percent sign and an s one after the other.
        parts = piece.split("%s")
        for place, part in enumerate(parts):
            if place:
                await self._input_text("%")
            if place or part:
                await self._input_text("s" + part if place else part)

    async def _input_text(self, text: str) -> None:
        word = text.replace(" ", "%s")
        done = await self._reach.act(f"input text {quote(word)}", deadline=DEADLINE)
        refuse_denied(done.both.replace(word, "…").replace(text, "…"), done.status)  # it may be a secret

    async def _input(self, *words: str | int) -> None:
        done = await self._reach.act(line("input", *words), deadline=DEADLINE)
        refuse_denied(done.both, done.status)


def _pieces(text: str, most: int) -> list[str]:
    """Text in pieces of at most `most` characters, each line end and tab by itself."""
    found = []
    for part in re.split(r"([\n\t])", text.replace("\r\n", "\n").replace("\r", "\n")):
        found += [part] if part in ("\n", "\t") else [part[at : at + most] for at in range(0, len(part), most)]
    return [part for part in found if part]
