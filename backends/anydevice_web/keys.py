"""The keyboard."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator
from typing import Any

from anydevice.driver import Acted, Keys
from anydevice_schemas import Node
from anydevice_schemas.errors import InvalidArgument

from .acting import INPUT_DEADLINE, act
from .frames import WorldLost
from .instance import Instance
from .keymap import MODIFIERS, Key, key_of, parse_chord
from .pointer import pause
from .snapshot import Placement, single
from .walker import ask_main, place

BATCH = 64
"""Pieces of text that travel together; a dialog in between loses at most these."""
TYPE_DEADLINE = 10.0
"""Seconds a page may take to take one batch."""
_MAC_COMMANDS = {"a": "selectAll", "c": "copy", "x": "cut", "v": "paste", "z": "undo"}
"""On macOS these shortcuts belong to the window's menu, so the page has to be told what they mean."""

Call = tuple[str, dict[str, Any]]


class WebKeys(Keys):
    """A keyboard on the current page."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    async def press(self, chord: str) -> Acted:
        """See `Keys.press`. `primary` is the host's modifier for shortcuts (ctrl, cmd on macOS)."""
        modifiers, key = parse_chord(chord)
        page = await self._instance.page()
        calls = list(_chord(modifiers, key))
        return await act(page, "keys", lambda: page.send(calls, deadline=INPUT_DEADLINE), given=True)

    async def type_text(self, text: str, *, delay: float = 0.0) -> Acted:
        """See `Keys.type_text`. Characters without a key of their own go in as an input method would put them."""
        pieces = list(_pieces(text))
        page = await self._instance.page()

        async def work() -> None:
            if delay > 0:
                for piece in pieces:
                    await page.send(piece, deadline=TYPE_DEADLINE)
                    await pause(page, delay)
                return
            for start in range(0, len(pieces), BATCH):
                calls = [call for piece in pieces[start : start + BATCH] for call in piece]
                await page.send(calls, deadline=TYPE_DEADLINE)

        return await act(page, "keys", work, given=True)

    async def focused(self) -> Node | None:
        """See `Keys.focused`. Looks into frames, also those of other processes."""
        page = await self._instance.page()
        frame, placement = page.main, Placement()
        found = await ask_main(page, "focused")
        while found is not None and "frame" in found:
            inner = await frame.inner(found["frame"])
            if inner is None:
                break
            try:
                deeper = await inner.ask("focused")
                inner_placement = await place(inner)
            except WorldLost:
                break
            if deeper is None:
                break
            frame, placement, found = inner, inner_placement, deeper
        if found is None or frame.world is None:
            return None
        return single(found, frame.world.document, placement)


def _chord(modifiers: list[str], key: Key) -> Iterator[Call]:
    bits = 0
    for name in modifiers:
        bit, modifier = MODIFIERS[name]
        bits |= bit
        yield _key("rawKeyDown", modifier, bits)
    own = next((bit for bit, modifier in MODIFIERS.values() if modifier is key), 0)
    types = key.text is not None and not bits & ~MODIFIERS["shift"][0]
    down = _key("keyDown" if types else "rawKeyDown", key, bits | own, key.text if types else None)
    if sys.platform == "darwin" and modifiers == ["meta"] and key.key in _MAC_COMMANDS:
        down[1]["commands"] = [_MAC_COMMANDS[key.key]]
    yield down
    yield _key("keyUp", key, bits)
    for name in reversed(modifiers):
        bit, modifier = MODIFIERS[name]
        bits &= ~bit
        yield _key("keyUp", modifier, bits)


def _pieces(text: str) -> Iterator[list[Call]]:
    """What to send for a text, one piece for each key, and one for each run of characters that have none.

    Raises:
        InvalidArgument: It holds control characters nobody can type.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    bad = sorted({f"U+{ord(c):04X}" for c in text if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"})
    if bad:
        raise InvalidArgument(
            "The text holds characters no keyboard types.",
            param="text",
            expected="text without control characters",
            characters=bad[:10],
        )
    run = ""
    for character in text:
        key = key_of(character)
        # What follows a character without a key may belong to it (an accent, a joiner, a skin tone).
        if key is None:
            run += character
            continue
        if run:
            yield [("Input.insertText", {"text": run})]
            run = ""
        bits = MODIFIERS["shift"][0] if key.shift else 0
        kind = "keyDown" if key.text is not None else "rawKeyDown"
        yield [_key(kind, key, bits, key.text), _key("keyUp", key, bits)]
    if run:
        yield [("Input.insertText", {"text": run})]


def _key(kind: str, key: Key, modifiers: int, text: str | None = None) -> Call:
    params: dict[str, Any] = {
        "type": kind,
        "key": key.key,
        "code": key.code,
        "windowsVirtualKeyCode": key.number,
        "modifiers": modifiers,
    }
    if key.location:
        params["location"] = key.location
    if text is not None:
        params |= {"text": text, "unmodifiedText": text.lower() if len(text) == 1 else text}
    return "Input.dispatchKeyEvent", params
