"""One vocabulary of roles for all platforms: ARIA role names, and a few words for what ARIA does not name.

The platform's own word is kept beside it in `nativeRole`.
"""

from __future__ import annotations

from typing import Final

Role = str
"""A member of `ROLES` (a plain string for speed; `tree_faults` checks membership)."""

INTERACTIVE: Final[frozenset[str]] = frozenset(
    {
        "button", "checkbox", "combobox", "gridcell", "link", "listbox", "menuitem", "menuitemcheckbox",
        "menuitemradio", "option", "radio", "scrollbar", "searchbox", "slider", "spinbutton", "switch", "tab",
        "textbox", "treeitem", "colorwell", "date", "filechooser", "key", "clickable",
    }
)  # fmt: skip
"""Roles a person can act on."""

EDITABLE: Final[frozenset[str]] = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "date"})
"""Roles that may take text."""

STRUCTURE: Final[frozenset[str]] = frozenset(
    {
        "alert", "alertdialog", "application", "article", "banner", "blockquote", "canvas", "caption", "cell",
        "code", "columnheader", "complementary", "contentinfo", "definition", "dialog", "document", "feed",
        "figure", "form", "frame", "generic", "grid", "group", "heading", "image", "keyboard", "list", "listitem",
        "log", "main", "marquee", "math", "menu", "menubar", "meter", "navigation", "note", "paragraph",
        "progressbar", "radiogroup", "region", "row", "rowgroup", "rowheader", "search", "separator",
        "splitter", "status", "statusbar", "table", "tablist", "tabpanel", "term", "text", "timer", "titlebar",
        "toolbar", "tooltip", "tree", "treegrid", "video", "webview", "window",
    }
)  # fmt: skip

ROLES: Final[frozenset[str]] = INTERACTIVE | STRUCTURE
