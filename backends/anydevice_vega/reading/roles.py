"""Roles of Vega's accessibility as roles of the one vocabulary."""

from __future__ import annotations

from typing import Final

_ROLES: Final[dict[str, str]] = {
    "button": "button", "imagebutton": "button", "togglebutton": "button", "text": "text", "image": "image",
    "link": "link", "header": "heading", "heading": "heading", "search": "searchbox", "searchbox": "searchbox",
    "switch": "switch", "checkbox": "checkbox", "radio": "radio", "radiogroup": "radiogroup", "adjustable": "slider",
    "slider": "slider", "combobox": "combobox", "picker": "combobox", "menu": "menu", "menubar": "menubar",
    "menuitem": "menuitem", "option": "option", "progressbar": "progressbar", "scrollbar": "scrollbar",
    "spinbutton": "spinbutton", "tab": "tab", "tabbar": "tablist", "tablist": "tablist", "timer": "timer",
    "toolbar": "toolbar", "list": "list", "listitem": "listitem", "grid": "grid", "gridcell": "gridcell",
    "alert": "alertdialog", "dialog": "dialog", "edit": "textbox", "edittext": "textbox", "textbox": "textbox",
    "textfield": "textbox", "textinput": "textbox", "keyboard": "keyboard", "keyboardkey": "key", "status": "status",
    "video": "video", "webview": "webview", "article": "article", "group": "group", "summary": "text",
}  # fmt: skip
FIELDS: Final = frozenset({"textbox", "searchbox", "spinbutton"})
"""Roles whose text is what a person put in."""
VALUED: Final = frozenset({"combobox", "slider", "progressbar", "status", "timer"})
"""Roles whose text is a value where a description names them."""
TOGGLES: Final = frozenset({"switch", "checkbox", "radio"})


def role_of(word: str, *, text: bool, acts: bool, web: bool = False) -> str:
    """The role of an element.

    Args:
        word: Its own word for it; empty where it has none.
        text: It shows a text of its own.
        acts: It can be pressed or have the focus.
        web: It is the root of a web page.
    """
    if web:
        return "webview"
    found = _ROLES.get(word.casefold().replace("_", "").replace("-", ""))
    if found is not None:
        return found
    return "clickable" if acts else "text" if text else "generic"
