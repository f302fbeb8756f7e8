"""Dialogs of the application in front: what they ask, and answering them by their buttons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from anydevice.driver import Acted, Alerts, Dialog
from anydevice_schemas.errors import ActionUnverified, ElementNotFound

from .apps import App
from .bus import Link
from .doing import DEADLINE, do_action, mask_of, press_action, until
from .keys import Key
from .names import name_of
from .roles import ALERT, DIALOGS, LABEL, PUSH_BUTTON
from .shape import EDITABLE_TEXT, Item
from .states import EDITABLE, ENABLED, IS_DEFAULT, SENSITIVE, SHOWING
from .tree import is_modal
from .view import View, Wish, below

if TYPE_CHECKING:
    from .session import A11y

CLOSE_PATIENCE: Final = 2.0
"""Seconds a dialog may take to close once it was answered."""
YES: Final = (
    "ok", "yes", "accept", "allow", "continue", "confirm", "save", "open", "apply", "delete", "replace", "discard",
    "done", "close", "got it",
)  # fmt: skip
"""Buttons that mean yes, the plainest first; used where no button is the default."""
NO: Final = ("cancel", "no", "dismiss", "deny", "don't allow", "not now", "abort", "close", "ok")
"""Buttons that mean no."""
PLAIN_NO: Final = frozenset(NO) - {"close", "ok"}
"""Buttons that mean no and nothing else."""


@dataclass(slots=True)
class _Open:
    view: View
    top: str
    kind: str
    texts: list[str]
    buttons: list[Item]
    field: Item | None


class LinuxAlerts(Alerts):
    """The dialog of the application in front."""

    def __init__(self, a11y: A11y) -> None:
        self._a11y = a11y

    async def get(self) -> Dialog | None:
        """See `Alerts.get`."""
        found = await self._find()
        if found is None:
            return None
        toolkit = found.view.app.toolkit
        return Dialog(
            found.kind,
            "\n".join(found.texts),
            [name_of(button.name, toolkit) for button in found.buttons],
            found.field is not None,
        )

    async def accept(self, text: str | None = None) -> Acted:
        """See `Alerts.accept`: its default button, else the one that says yes; verified by the dialog closing."""
        found = await self._need()
        if text is not None:
            if found.field is None:
                raise ElementNotFound(
                    "The dialog takes no text.", hint="Answer it without text.", nearest_matches=[], on_screen=[]
                )
            item = found.field
            await self._a11y.elements.set_text(str(Key(found.view.app.bus_name, item.path, item.role)), text)
        return await self._answer(found, _affirmative(found))

    async def dismiss(self) -> Acted:
        """See `Alerts.dismiss`: the button that says no; verified by the dialog closing."""
        found = await self._need()
        return await self._answer(found, _worded(found, NO))

    async def _need(self) -> _Open:
        found = await self._find()
        if found is None:
            raise ElementNotFound(
                "No dialog is open.", hint="Call snapshot to see what is there.", nearest_matches=[], on_screen=[]
            )
        return found

    async def _answer(self, found: _Open, button: Item | None) -> Acted:
        if button is None:
            names = [name_of(item.name, found.view.app.toolkit) for item in found.buttons]
            raise ElementNotFound(
                "The dialog has no button that plainly means this.",
                hint="Press one of its buttons; details name them.",
                nearest_matches=names,
                on_screen=names,
            )
        key = str(Key(found.view.app.bus_name, button.path, button.role))
        async with self._a11y.asking(key, DEADLINE) as (app, link):
            number = await press_action(link, app, button.path)
            if number is None or not await do_action(link, app, button.path, number):
                await self._a11y.elements.activate(key)
            closed = await _closed(link, app, found.top)
        if not closed:
            raise ActionUnverified(
                "The dialog was answered and is still open.", expected="the dialog closed", actual="it is open"
            )
        return Acted("dialog", verified=True, data={"button": name_of(button.name, found.view.app.toolkit)})

    async def _find(self) -> _Open | None:
        """The dialog that is open in the application in front, or None."""
        apps = await self._a11y.apps()
        active = await self._a11y.windows.active()
        front = [app for app in apps if active is not None and app.pid == active.pid]
        views = await self._a11y.views(front or apps, Wish("viewport", "", 2000))
        for view in views.values():
            for top in view.tops:
                item = view.shape.items[top.path]
                asks = item.role in DIALOGS or is_modal(view.shape, top.path)
                if asks and item.mask & SHOWING and not top.hidden:
                    return _read(view, top.path)
        return None


def _read(view: View, top: str) -> _Open:
    items = view.shape.items
    shown = [items[path] for path in below(view.shape, top, "") if view.place.get(path, "") == ""]
    texts = [name_of(item.name, view.app.toolkit) for item in shown if item.role in (LABEL, 116)]
    in_buttons = {items[path].name for item in shown if item.role == PUSH_BUTTON for path in below_names(view, item)}
    buttons = [item for item in shown if item.role == PUSH_BUTTON and name_of(item.name, view.app.toolkit)]
    field = next((item for item in shown if item.faces & EDITABLE_TEXT and item.mask & EDITABLE), None)
    kind = "alert" if items[top].role == ALERT else "dialog"
    title = name_of(items[top].name, view.app.toolkit)
    # A title bar that the program draws itself says the title once more.
    said = [*dict.fromkeys(text for text in texts if text and text not in in_buttons)]
    return _Open(view, top, kind, said or ([title] if title else []), buttons, field)


def below_names(view: View, item: Item) -> Sequence[str]:
    """Paths of what is inside a button: its label says the same once more."""
    return [path for path in below(view.shape, item.path, "") if path != item.path]


def _affirmative(found: _Open) -> Item | None:
    """The button that means yes: the default one unless it says no, else the one that says yes, else the only other."""
    usable = [button for button in found.buttons if button.mask & (ENABLED | SENSITIVE)]
    others = [button for button in usable if said(found, button) not in PLAIN_NO]
    default = next((button for button in others if button.mask & IS_DEFAULT), None)
    return default or _worded(found, YES) or (others[0] if len(others) == 1 else None)


def said(found: _Open, button: Item) -> str:
    """What a button says, without its mnemonic."""
    return name_of(button.name, found.view.app.toolkit).replace("_", "").replace("&", "").strip().casefold()


def _worded(found: _Open, words: Sequence[str]) -> Item | None:
    """The button that can be pressed and says the first of these words."""
    for word in words:
        for button in found.buttons:
            if said(found, button) == word and button.mask & (ENABLED | SENSITIVE):
                return button
    return None


async def _closed(link: Link, app: App, top: str) -> bool:
    async def read() -> int | None:
        return await mask_of(link, app, top)

    _, gone = await until(read, lambda mask: mask is None or not mask & SHOWING, CLOSE_PATIENCE)
    return gone
