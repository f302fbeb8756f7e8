"""Putting text into a field by the clipboard, as a person does: a finger rests on the field, and a menu offers it.

The item is found by the word that the device's language has for it. The clipboard holds afterwards what it held before,
where that can be read.
"""

from __future__ import annotations

from typing import Final

import anyio
import structlog

from anydevice.driver import Acted
from anydevice_schemas import Node, Point, Tree
from anydevice_schemas.errors import AnydeviceError, Unsupported

from .clipboard import AppleClipboard
from .engine import Engine, Move, named
from .reach import Reach
from .reading.words import pastes

log = structlog.get_logger("anydevice.apple")

REST: Final = 0.9
"""Seconds a finger rests on a field for its menu."""
COMES: Final = 3.0
"""Seconds the menu may take to come, and the text to be there."""
STEP: Final = 0.1
ITEMS: Final = 10


async def paste(reach: Reach, engine: Engine, field: Node, text: str) -> Acted:
    """Pastes into a field that has the focus.

    Raises:
        Unsupported: No menu comes, or none of its items is known to paste; nothing was put into the field.
        AnydeviceError: As the engine and the clipboard.
    """
    clipboard = AppleClipboard(reach)
    before = await _held(clipboard)
    await clipboard.write_text(text)
    try:
        item = await _item(reach, engine, field)
        await engine.tap(item, 1)
        await _goes(reach)
    finally:
        if before is not None:
            with anyio.CancelScope(shield=True), anyio.move_on_after(COMES):
                await clipboard.write_text(before)
    return Acted("paste", data=named(engine, {"clipboard": "restored" if before is not None else "replaced"}))


async def _held(clipboard: AppleClipboard) -> str | None:
    """The text on the clipboard; None where a device does not let it be read."""
    try:
        return (await clipboard.read()).text or ""
    except AnydeviceError as error:
        log.info("clipboard_not_kept", reason=error.code)
        return None


async def _item(reach: Reach, engine: Engine, field: Node) -> Point:
    """The middle of the item that pastes."""
    rect = field.rect
    if rect is not None:
        await engine.touch([Move([Point(rect.x + rect.width / 2, rect.y + rect.height / 2)], rest=REST)])
    seen: list[str] = []
    end = anyio.current_time() + COMES
    while rect is not None and anyio.current_time() < end:
        items = _menu(await reach.tree())
        seen = [node.name for node in items] or seen
        for node in items:
            if pastes(node.name) and node.rect is not None:
                return Point(node.rect.x + node.rect.width / 2, node.rect.y + node.rect.height / 2)
        if items:
            break
        await anyio.sleep(STEP)
    raise Unsupported(
        "The field offers no item that is known to paste.",
        operation="keys.paste",
        alternatives=["keys.type_text"],
        menu=seen[:ITEMS],
        reason="no_paste_item" if seen else "no_menu",
    )


async def _goes(reach: Reach) -> None:
    """Waits until the menu is gone: the text is there then."""
    with anyio.move_on_after(COMES):
        while _menu(await reach.tree()):  # noqa: ASYNC110 - nobody tells
            await anyio.sleep(STEP)


def _menu(tree: Tree) -> list[Node]:
    return [node for node in tree.nodes if node.native_role == "MenuItem" and "offscreen" not in node.states]
