"""Keys and text: a field is given its whole new text by the toolkit, anything else is typed by `inputd-cli`."""

from __future__ import annotations

import unicodedata
from typing import Final

import anyio

from anydevice.driver import Acted, Keys
from anydevice_schemas import Node
from anydevice_schemas.errors import DeviceNotReady, InvalidArgument

from .codes import SELECT, chord
from .elements import VegaElements, holder
from .guarding import refuse
from .reach import Reach
from .routes import Routes

TYPING: Final = 20.0
"""Seconds `inputd-cli` may take for a text."""


class VegaKeys(Keys):
    """See `Keys`."""

    def __init__(self, reach: Reach, routes: Routes, elements: VegaElements) -> None:
        self._reach, self._routes, self._elements = reach, routes, elements

    async def press(self, chord_text: str) -> Acted:
        """See `Keys.press`.

        Enter is the key that selects as well: on a field it would only bring up the keyboard. So where a field has the
        focus the keyboard is brought up first, and Enter is then its own.

        Raises:
            InvalidArgument: There is no such key.
            Unsupported: It is a chord.
            PermissionMissing: Developer mode is off, and there is no other road.
        """
        key = chord(chord_text)
        if key == SELECT and await self._field() is not None:
            await self._reach.ask("showKeyboard")
        road, seen = await self._routes.press(key)
        return Acted(road, verified=seen)

    async def type_text(self, text: str, *, delay: float = 0.0) -> Acted:
        """See `Keys.type_text`: added to what the field with the focus holds. Only what is no field gets keys.

        Raises:
            InvalidArgument: It holds characters no field takes, or lines where nothing but keys is possible.
        """
        if any(unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\r\t" for char in text):
            raise InvalidArgument(
                "No key types a control character; nothing was typed.", param="text", expected="text, lines and tabs"
            )
        field = await self._field()
        if field is None or field.key is None or field.secure:
            return await self._by_keys(text, delay)
        pieces = [text] if not delay else list(text)
        acted = Acted("set-text")
        holds = field.value or ""
        for piece in pieces:
            holds += piece
            acted = await self._elements.write(field, holds)
            if delay:
                await anyio.sleep(delay)
        # A field that drops a character says so by what it holds; core reads it.
        return Acted("set-text", verified=acted.verified or None)

    async def focused(self) -> Node | None:
        """See `Keys.focused`.

        Raises:
            DialogOpen: A dialog has to be answered first.
        """
        tree = await self._reach.tree()
        refuse(tree)
        return holder(tree)

    async def _field(self) -> Node | None:
        try:
            node = await self.focused()
        except DeviceNotReady:
            return None
        return node if node is not None and "editable" in node.states else None

    async def _by_keys(self, text: str, delay: float) -> Acted:
        """What no field takes as a whole goes by keys; lines by enter."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for number, line in enumerate(lines):
            if number:
                await self._routes.send("inputd", SELECT)
            for piece in list(line) if delay else [line] if line else []:
                await self._routes.inputd("inputd-cli", "send_text", piece, deadline=TYPING)
                if delay:
                    await anyio.sleep(delay)
        return Acted("keys")
