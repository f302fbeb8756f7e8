"""Roles of accessible objects: AT-SPI's numbers, its names for them, and ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .shape import ACTION, IMAGE, Item

ALERT: Final = 2
COLOR_CHOOSER: Final = 9
COMBO_BOX: Final = 11
DIALOG: Final = 16
FILE_CHOOSER: Final = 19
FONT_CHOOSER: Final = 22
FRAME: Final = 23
LABEL: Final = 29
MENU: Final = 33
OPTION_PANE: Final = 36
PAGE_TAB: Final = 37
PANEL: Final = 39
PASSWORD: Final = 40
POPUP_MENU: Final = 41
PUSH_BUTTON: Final = 43
SCROLL_BAR: Final = 48
STATUS_BAR: Final = 54
SCROLL_PANE: Final = 49
TEXT: Final = 61
TOGGLE_BUTTON: Final = 62
VIEWPORT: Final = 68
WINDOW: Final = 69
APPLICATION: Final = 75
ENTRY: Final = 79
INFO_BAR: Final = 102

_TABLE: Final[tuple[tuple[int, str, str], ...]] = (
    (0, "invalid", "generic"), (1, "accelerator label", "text"), (2, "alert", "alert"), (3, "animation", "image"),
    (4, "arrow", "image"), (5, "calendar", "grid"), (6, "canvas", "canvas"), (7, "check box", "checkbox"),
    (8, "check menu item", "menuitemcheckbox"), (9, "color chooser", "group"), (10, "column header", "columnheader"),
    (11, "combo box", "combobox"), (12, "date editor", "date"), (13, "desktop icon", "image"),
    (14, "desktop frame", "generic"), (15, "dial", "slider"), (16, "dialog", "dialog"), (17, "directory pane", "group"),
    (18, "drawing area", "canvas"), (19, "file chooser", "group"), (20, "filler", "generic"),
    (21, "focus traversable", "generic"), (22, "font chooser", "group"), (23, "frame", "window"),
    (24, "glass pane", "generic"), (25, "html container", "document"), (26, "icon", "image"), (27, "image", "image"),
    (28, "internal frame", "group"), (29, "label", "text"), (30, "layered pane", "group"), (31, "list", "list"),
    (32, "list item", "listitem"), (33, "menu", "menuitem"), (34, "menu bar", "menubar"),
    (35, "menu item", "menuitem"), (36, "option pane", "group"), (37, "page tab", "tab"),
    (38, "page tab list", "tablist"), (39, "panel", "group"), (40, "password text", "textbox"),
    (41, "popup menu", "menu"), (42, "progress bar", "progressbar"), (43, "push button", "button"),
    (44, "radio button", "radio"), (45, "radio menu item", "menuitemradio"), (46, "root pane", "group"),
    (47, "row header", "rowheader"), (48, "scroll bar", "scrollbar"), (49, "scroll pane", "group"),
    (50, "separator", "separator"), (51, "slider", "slider"), (52, "spin button", "spinbutton"),
    (53, "split pane", "splitter"), (54, "status bar", "statusbar"), (55, "table", "table"),
    (56, "table cell", "cell"), (57, "table column header", "columnheader"), (58, "table row header", "rowheader"),
    (59, "tearoff menu item", "menuitem"), (60, "terminal", "textbox"), (61, "text", "textbox"),
    (62, "toggle button", "button"), (63, "tool bar", "toolbar"), (64, "tool tip", "tooltip"), (65, "tree", "tree"),
    (66, "tree table", "treegrid"), (67, "unknown", "generic"), (68, "viewport", "group"), (69, "window", "window"),
    (70, "extended", "generic"), (71, "header", "banner"), (72, "footer", "contentinfo"),
    (73, "paragraph", "paragraph"), (74, "ruler", "generic"), (75, "application", "application"),
    (76, "autocomplete", "combobox"), (77, "editbar", "textbox"), (78, "embedded", "generic"), (79, "entry", "textbox"),
    (80, "chart", "figure"), (81, "caption", "caption"), (82, "document frame", "document"),
    (83, "heading", "heading"), (84, "page", "group"), (85, "section", "generic"), (86, "redundant object", "generic"),
    (87, "form", "form"), (88, "link", "link"), (89, "input method window", "window"), (90, "table row", "row"),
    (91, "tree item", "treeitem"), (92, "document spreadsheet", "document"), (93, "document presentation", "document"),
    (94, "document text", "document"), (95, "document web", "document"), (96, "document email", "document"),
    (97, "comment", "note"), (98, "list box", "listbox"), (99, "grouping", "group"), (100, "image map", "image"),
    (101, "notification", "alert"), (102, "info bar", "status"), (103, "level bar", "meter"),
    (104, "title bar", "titlebar"), (105, "block quote", "blockquote"), (106, "audio", "generic"),
    (107, "video", "video"), (108, "definition", "definition"), (109, "article", "article"),
    (110, "landmark", "region"),
    (111, "log", "log"), (112, "marquee", "marquee"), (113, "math", "math"), (114, "rating", "slider"),
    (115, "timer", "timer"), (116, "static", "text"), (117, "math fraction", "math"), (118, "math root", "math"),
    (119, "subscript", "text"), (120, "superscript", "text"), (121, "description list", "list"),
    (122, "description term", "term"), (123, "description value", "definition"), (124, "footnote", "note"),
    (125, "content deletion", "text"), (126, "content insertion", "text"), (127, "mark", "text"),
    (128, "suggestion", "text"), (129, "push button menu", "button"), (130, "switch", "switch"),
)  # fmt: skip
OURS: Final[dict[int, str]] = {number: ours for number, _, ours in _TABLE}
NATIVE: Final[dict[int, str]] = {number: native for number, native, _ in _TABLE}

DIALOGS: Final = frozenset({ALERT, DIALOG, FILE_CHOOSER, COLOR_CHOOSER, FONT_CHOOSER, OPTION_PANE})
"""Windows that ask something."""
TOPLEVEL: Final = DIALOGS | {FRAME, WINDOW, 89}
"""Windows, wherever they are."""
SCROLLERS: Final = frozenset({SCROLL_PANE, VIEWPORT, 31, 55, 65, 66, 82, 92, 93, 94, 95, 96, 98})
"""Roles that may hide what is in them by scrolling."""
DOCUMENTS: Final = frozenset({82, 92, 93, 94, 95, 96})
LIST: Final = 31
LIST_ITEM: Final = 32
_LISTS: Final = frozenset({LIST, LIST_ITEM})
LEVELS_MOST: Final = 8
"""Objects that toolkits put between a combo box and the options it opens."""
_CHOICES: Final = frozenset({MENU, 8, 35, 45})
MENUS: Final = frozenset({MENU, POPUP_MENU})
HOLDERS: Final = frozenset({0, 20, 30, PANEL, 46, SCROLL_PANE, VIEWPORT, 67, 70, 78, 85, 86})
"""Roles that only hold others; nothing of them is seen."""


def role_of(number: int, *, top: bool = False) -> str:
    """Our role for AT-SPI's, `generic` for those we do not know. `top`: it is a window of an application."""
    if top:
        return "alertdialog" if number == ALERT else "dialog" if number in DIALOGS else "window"
    return OURS.get(number, "generic")


def role_in(item: Item, items: Mapping[str, Item], *, top: bool = False, toolkit: str = "") -> str:
    """Our role of an object where it is: what a combo box opens is a list with options, whatever it is made of."""
    number = item.role
    # GTK 3 has one role for both; what toggles as a button can show an image, a switch cannot.
    if number == TOGGLE_BUTTON and toolkit == "gtk" and item.faces & ACTION and not item.faces & IMAGE:
        return "switch"
    if number == MENU and toolkit == "GTK":
        return "menu"  # GTK 3 and others have no role for an entry of a menu that opens another one but this
    if number in _LISTS and not top and _in_combo_box(item, items):
        return "listbox" if number == LIST else "option"
    if number in _CHOICES and not top:
        around = items.get(item.parent)
        if around is not None and number == MENU and around.role == COMBO_BOX:
            return "listbox"
        if around is not None and number != MENU and around.role in (MENU, POPUP_MENU):
            outer = items.get(around.parent)
            if outer is not None and outer.role == COMBO_BOX:
                return "option"
    return role_of(number, top=top)


def _in_combo_box(item: Item, items: Mapping[str, Item]) -> bool:
    """Whether a list, or what is in it, is what a combo box opens."""
    around = items.get(item.parent)
    for _ in range(LEVELS_MOST):
        if around is None or around.role == COMBO_BOX:
            break
        around = items.get(around.parent)
    return around is not None and around.role == COMBO_BOX


def native_of(number: int) -> str:
    """AT-SPI's own name of a role."""
    return NATIVE.get(number, f"role {number}")
