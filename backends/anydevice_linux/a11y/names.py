"""Names of accessible objects as a person would say them: toolkits repeat them, pad them, or give a class instead."""

from __future__ import annotations

import re
from typing import Final

_CLASSES: Final = re.compile(r"[A-Z][a-z]+(?:[A-Z][a-z0-9]+)+")
_PREFIX: Final = re.compile(r"(?:Gtk|Gdk|Adw|Hdy|Gio)[A-Z]\w*")
_SUFFIX: Final = re.compile(r"[A-Z]\w+(?:View|Gizmo|Widget|Button|Box|Entry|Display|Row|Icon|Label|Window|Area|Bar)")


def name_of(text: str, toolkit: str) -> str:
    """The name without padding; empty where it is only the name of a class.

    Args:
        text: What the program says.
        toolkit: `ToolkitName` of its application.
    """
    text = text.strip()
    if not text or toolkit != "GTK":
        return text
    return "" if classlike(text) else undoubled(text)


def classlike(text: str) -> bool:
    """Whether a name is that of a widget class (`GtkMenuButton`, `HistoryView`), as GTK 4 gives when it knows none."""
    if _PREFIX.fullmatch(text):
        return True
    return bool(_CLASSES.fullmatch(text) and _SUFFIX.fullmatch(text))


def undoubled(text: str) -> str:
    """`7 7` is `7`: GTK 4 says a button's label and then the label inside it."""
    middle, odd = divmod(len(text), 2)
    if odd and text[middle] == " " and text[:middle] == text[middle + 1 :]:
        return text[:middle]
    return text
