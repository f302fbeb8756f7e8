"""States of accessible objects: AT-SPI's bits, and what they mean in our words for each toolkit."""

from __future__ import annotations

from typing import Final

ACTIVE: Final = 1 << 1
BUSY: Final = 1 << 3
CHECKED: Final = 1 << 4
COLLAPSED: Final = 1 << 5
DEFUNCT: Final = 1 << 6
EDITABLE: Final = 1 << 7
ENABLED: Final = 1 << 8
EXPANDABLE: Final = 1 << 9
EXPANDED: Final = 1 << 10
FOCUSABLE: Final = 1 << 11
FOCUSED: Final = 1 << 12
ICONIFIED: Final = 1 << 15
MODAL: Final = 1 << 16
MULTI_LINE: Final = 1 << 17
PRESSED: Final = 1 << 20
SELECTABLE: Final = 1 << 22
SELECTED: Final = 1 << 23
SENSITIVE: Final = 1 << 24
SHOWING: Final = 1 << 25
VERTICAL: Final = 1 << 29
VISIBLE: Final = 1 << 30
INDETERMINATE: Final = 1 << 32
REQUIRED: Final = 1 << 33
INVALID_ENTRY: Final = 1 << 36
IS_DEFAULT: Final = 1 << 39
CHECKABLE: Final = 1 << 41
READ_ONLY: Final = 1 << 43

_PLAIN: Final = (
    (EXPANDED, "expanded"), (SELECTED, "selected"), (FOCUSED, "focused"), (REQUIRED, "required"),
    (READ_ONLY, "readonly"), (EDITABLE, "editable"), (BUSY, "busy"),
    (INVALID_ENTRY, "invalid"), (MODAL, "modal"),
)  # fmt: skip
TOGGLES: Final = frozenset({"checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"})
"""Roles that are checked or unchecked."""
FIELDS: Final = frozenset({"textbox", "searchbox", "spinbutton"})
"""Roles whose lack of EDITABLE means read-only."""
_CHANGEABLE: Final = frozenset(
    {"combobox", "checkbox", "radio", "switch", "slider", "listbox", "document", "cell", "gridcell"}
)
_ABLE: Final = frozenset({"window", "application", "document", "dialog", "alert", "alertdialog"})
"""Roles some toolkits never call enabled."""

_known: dict[tuple[int, str, str], frozenset[str]] = {}


def bits(pair: list[int]) -> int:
    """The two words of `GetState` as one number."""
    if len(pair) != 2:
        return pair[0] if pair else 0
    return int(pair[0]) | int(pair[1]) << 32


def states_of(mask: int, role: str, place: str = "") -> frozenset[str]:
    """Our words for a mask.

    Args:
        mask: AT-SPI's bits.
        role: The element's role in our vocabulary.
        place: `offscreen` or `hidden` where it is so, else empty.
    """
    key = (mask, role, place)
    found = _known.get(key)
    if found is None:
        if len(_known) > 20_000:
            _known.clear()
        found = _known[key] = _words(mask, role, place)
    return found


def _words(mask: int, role: str, place: str) -> frozenset[str]:
    words = {word for bit, word in _PLAIN if mask & bit}
    # GTK 4 says SENSITIVE without ENABLED, others say both: only neither means disabled.
    if not mask & (ENABLED | SENSITIVE) and role not in _ABLE:
        words.add("disabled")
    if role in TOGGLES:
        words.add("mixed" if mask & INDETERMINATE else "checked" if mask & CHECKED else "unchecked")
    elif mask & (PRESSED | CHECKED) and role == "button":
        words.add("pressed")
    if not mask & EXPANDED and mask & (COLLAPSED | EXPANDABLE):
        words.add("collapsed")
    if role in FIELDS and mask & MULTI_LINE:
        words.add("multiline")
    if role in FIELDS and not mask & EDITABLE and "disabled" not in words:
        words.add("readonly")
    if role not in FIELDS and role not in _CHANGEABLE:
        words.discard("readonly")
    if place:
        words.add(place)
    return frozenset(words)
