"""`dumpsys window`: dialogs that wait in apps which are not in front."""

from __future__ import annotations

import re

_BEGIN = re.compile(r"^\s*Window #\d+ Window\{", re.M)
_PACKAGE = re.compile(r"\bpackage=(?P<package>[\w.]+)")
_TYPE = re.compile(r"\bty=(?P<type>\w+)")
_SHOWN = re.compile(r"\bisVisible=(?P<shown>true|false)")
_GONE = re.compile(r"\bmViewVisibility=0x8\b")
DIALOG = frozenset({"APPLICATION", "2"})
"""The type of a dialog's window; an activity's own is `BASE_APPLICATION`."""


def waiting(text: str, front: str) -> list[str]:
    """Packages of apps other than `front` with a dialog that is not shown now; each once."""
    found: list[str] = []
    begins = [*_BEGIN.finditer(text)]
    for number, begin in enumerate(begins):
        block = text[begin.end() : begins[number + 1].start() if number + 1 < len(begins) else len(text)]
        kind, owner, shown = _TYPE.search(block), _PACKAGE.search(block), _SHOWN.search(block)
        if kind is None or kind["type"] not in DIALOG or owner is None or owner["package"] in (front, *found):
            continue
        # Older ones do not say whether a window is seen; one whose app is not in front is then put away.
        if shown["shown"] == "false" if shown is not None else _GONE.search(block) is not None:
            found.append(owner["package"])
    return found
