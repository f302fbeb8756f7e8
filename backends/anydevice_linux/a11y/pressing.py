"""What came of a press: waited for as long as the toolkit takes, and seen where the element itself shows it."""

from __future__ import annotations

from typing import Final

import anyio

from anydevice.driver import Acted, Happening

from .apps import ACCESSIBLE, App, process_name
from .bus import Call, Died, Link, Refusal, Silence, Trouble
from .doing import DEADLINE, SETTLE, TOGGLE_PATIENCE, mask_of, until
from .near import Near
from .roles import COMBO_BOX, LIST_ITEM, TOGGLE_BUTTON, role_of
from .shape import SELECTION
from .states import CHECKED, EXPANDED, INDETERMINATE, PRESSED, SELECTED, TOGGLES
from .view import SELECTION_FACE

CHOSEN: Final = frozenset({"option", "tab", "listitem", "row", "treeitem", "cell", "gridcell"})
"""Roles that are pressed by being selected, where they offer no action."""


def is_opened_option(near: Near) -> bool:
    """Whether an element is an option in an open list: its own action, or being selected, only marks it there."""
    inside = near.item.role == LIST_ITEM and near.visible is not None
    return inside and (near.popup is not None or any(item.role == COMBO_BOX for item in near.line))


async def select(link: Link, app: App, near: Near) -> bool:
    """Selects an element in what holds it; whether that accepted."""
    for inner, outer in zip(near.line, near.line[1:], strict=False):
        if outer.faces & SELECTION and inner.path == near.item.path:
            index = int(await link.value(Call(app.bus_name, inner.path, ACCESSIBLE, "GetIndexInParent"), DEADLINE))
            call = Call(app.bus_name, outer.path, SELECTION_FACE, "SelectChild", "i", (index,))
            try:
                return bool(await link.value(call, DEADLINE))
            except Refusal:
                return False
    return False


async def seen_after(link: Link, app: App, near: Near, method: str) -> Acted:
    """What came of a press that was accepted."""
    try:
        verified = await _settled(link, app, near, role_of(near.item.role))
    except (Died, Silence) as error:
        return cut_off(error, method=method)
    return Acted(method, () if process_name(app.pid) else (Happening("closed"),), verified)


def cut_off(error: Trouble, *, method: str) -> Acted:
    """An application that went while it acted: it closed itself, or is busy with what it was asked for."""
    if isinstance(error, Died):
        return Acted(method, (Happening("closed"),))
    return Acted(method, data={"answered": False})


async def _settled(link: Link, app: App, near: Near, role: str) -> bool | None:
    """Waits for the effect of a press as long as the toolkit takes; False where a toggle was not seen to change."""
    watched = CHECKED | INDETERMINATE | SELECTED | EXPANDED
    if near.item.role == TOGGLE_BUTTON:
        watched |= PRESSED  # of a box it says only that the pointer, or what stands for it, is down
    path, before = near.item.path, near.item.mask & watched
    toggles = role in TOGGLES or near.item.role == TOGGLE_BUTTON
    if toggles or role in CHOSEN:
        if before & (CHECKED | SELECTED) and role not in ("checkbox", "switch", "menuitemcheckbox") and not toggles:
            return None  # it was chosen already

        async def read() -> int | None:
            return await mask_of(link, app, path)

        found, changed = await until(read, lambda mask: mask is None or mask & watched != before, TOGGLE_PATIENCE)
        if found is None or changed or role in ("radio", "menuitemradio"):
            return None
        return False
    await anyio.sleep(SETTLE.get(app.toolkit, 0.0))
    return None
