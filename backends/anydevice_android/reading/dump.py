"""`uiautomator dump`: windows and elements of the screen, or the reason why there is no dump.

Three forms are told apart: `<hierarchy>` (the active window alone), `<displays>` of `dump --windows` (every window of
every display, the topmost first), and everything that is printed in place of a dump, with status 0 as a rule. What is
around the document (the trailer `UI hierchary dumped to: …`, glued to it) is cut off.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal
from xml.parsers import expat

Why = Literal["busy", "null_root", "slot_taken", "killed", "missing", "unreadable", "garbage"]
_DOCUMENT = re.compile(r"<(?P<root>displays|hierarchy)\b.*</(?P=root)\s*>|<hierarchy\b[^>]*/>", re.S)
_NUMBERED = re.compile(r"&#(x[0-9A-Fa-f]+|\d+);")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_REASONS: tuple[tuple[str, Why], ...] = (
    ("could not get idle state", "busy"), ("null root node", "null_root"), ("already registered", "slot_taken"),
    ("Illegal character", "unreadable"), ("inaccessible or not found", "missing"), ("not found", "missing"),
)  # fmt: skip
KILLED = 137
"""Status of a dump that the system ended: another client holds the one automation slot."""
Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels."""


class NoDump(Exception):
    """There is no dump; `why` says why, `said` is what was printed instead (untrusted)."""

    def __init__(self, why: Why, said: str = "") -> None:
        super().__init__(why)
        self.why: Why = why
        self.said = said[-2000:]


@dataclass(slots=True)
class DumpWindow:
    """One window of a dump.

    Attributes:
        parents, attributes: Its elements in document order: index of the parent in this very list (-1 for a root), and
            the attributes as they were printed; what is absent is absent.
        kind: `TYPE_APPLICATION`, `TYPE_SYSTEM`, `TYPE_INPUT_METHOD`, …; empty where only the active window was dumped.
        display, id: Id of its display, and its own; empty where they are not told.
    """

    title: str = ""
    kind: str = ""
    layer: int = 0
    active: bool = True
    focused: bool = True
    bounds: Box | None = None
    display: str = ""
    rotation: int = 0
    id: str = ""
    parents: list[int] = field(default_factory=list)
    attributes: list[dict[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Dump:
    """A dump: its windows, the topmost first, and whether it has every window (`dump --windows`) or the active one."""

    windows: list[DumpWindow]
    whole: bool

    @property
    def count(self) -> int:
        """Elements in it."""
        return sum(len(window.parents) for window in self.windows)

    def packages(self) -> set[str]:
        """Packages whose elements are in it."""
        return {node.get("package", "") for window in self.windows for node in window.attributes} - {""}


def bounds(text: str) -> Box | None:
    """Bounds as they are printed: `[left,top][right,bottom]`."""
    try:
        left, top, right, bottom = map(int, text[1:-1].replace("][", ",").split(","))
    except ValueError:
        return None
    return left, top, right, bottom


def parse_dump(text: str, status: int = 0) -> Dump:
    """Reads what `uiautomator dump /dev/tty` printed on both outputs.

    Raises:
        NoDump: It holds no dump; `why` is the reason as far as it is told.
    """
    found = _DOCUMENT.search(text)
    if found is None:
        for words, why in _REASONS:
            if words in text:
                raise NoDump(why, text)
        if status == KILLED:
            raise NoDump("killed", text)
        raise NoDump("garbage", text)
    try:
        return _read(found[0])
    except expat.ExpatError:
        pass
    try:
        return _read(_mended(found[0]))
    except expat.ExpatError:
        raise NoDump("garbage", found[0]) from None


def _read(document: str) -> Dump:
    windows: list[DumpWindow] = []
    path = [-1]
    parents: list[int] = []
    elements: list[dict[str, str]] = []
    display = ""
    whole = False
    window: DumpWindow | None = None

    def enter(now: DumpWindow) -> None:
        nonlocal window, parents, elements
        window, parents, elements = now, now.parents, now.attributes
        windows.append(now)

    def start(name: str, attributes: dict[str, Any]) -> None:
        nonlocal display, whole
        if name == "node":
            if window is None:
                enter(DumpWindow())
            parents.append(path[-1])
            path.append(len(elements))
            elements.append(attributes)
        elif name == "hierarchy":
            if window is None or not whole:
                enter(DumpWindow())
            assert window is not None
            turned = attributes.get("rotation", "0")
            window.rotation = int(turned) if turned.isdigit() else 0
        elif name == "window":
            whole = True
            enter(_window(attributes, display))
        elif name == "display":
            whole = True
            display = attributes.get("id", "")
        elif name == "displays":
            whole = True

    def end(name: str) -> None:
        nonlocal window
        if name == "node":
            path.pop()
        elif name == "window":
            window = None

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.Parse(document, True)
    return Dump(windows, whole)


def _window(attributes: dict[str, str], display: str) -> DumpWindow:
    layer = attributes.get("layer", "0")
    return DumpWindow(
        title=attributes.get("title", ""),
        kind=attributes.get("type", ""),
        layer=int(layer) if layer.lstrip("-").isdigit() else 0,
        active=attributes.get("active") == "true",
        focused=attributes.get("focused") == "true",
        bounds=bounds(attributes.get("bounds", "")),
        display=display,
        id=attributes.get("id", ""),
    )


def _mended(document: str) -> str:
    """The document without characters that XML does not know, which apps put into texts all the same."""

    def known(match: re.Match[str]) -> str:
        word = match[1]
        code = int(word[1:], 16) if word[0] == "x" else int(word)
        return match[0] if code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0x10FFFF else "\ufffd"

    return _CONTROL.sub("\ufffd", _NUMBERED.sub(known, document))


def in_order(dump: Dump, front: str, input_method: str) -> Dump:
    """A dump whose windows lie side by side in one document, in no order, as windows with the topmost first.

    Which is which is told by whose elements they hold: the system's bars and the keyboard lie over the app in front
    (`front`), and of an app's own windows the smaller over the larger.
    """
    windows: list[DumpWindow] = []
    for window in dump.windows:
        windows += _roots(window)
    for window in windows:
        package = window.attributes[0].get("package", "")
        window.bounds = bounds(window.attributes[0].get("bounds", ""))
        window.kind = "TYPE_APPLICATION"
        if package == "com.android.systemui":
            window.kind = "TYPE_SYSTEM"
        elif package == input_method:
            window.kind = "TYPE_INPUT_METHOD"
    rank = {"TYPE_SYSTEM": 0, "TYPE_INPUT_METHOD": 1, "TYPE_APPLICATION": 2}

    def key(window: DumpWindow) -> tuple[int, bool, int]:
        box = window.bounds or (0, 0, 0, 0)
        return rank[window.kind], window.attributes[0].get("package") != front, (box[2] - box[0]) * (box[3] - box[1])

    windows.sort(key=key)
    apps = [window for window in windows if window.kind == "TYPE_APPLICATION"]
    count: dict[str, int] = {}
    for window in reversed(windows):
        window.focused = window.active = bool(apps) and window is apps[0]
        package = window.attributes[0].get("package", "")
        count[package] = place = count.get(package, 0) + 1
        window.id = f"{package}:{place}"
    return Dump(windows, whole=True)


def _roots(window: DumpWindow) -> list[DumpWindow]:
    """A window for each element of a document that is in no other."""
    found: list[DumpWindow] = []
    start = 0
    for at, parent in enumerate(window.parents):
        if parent < 0:
            start = at
            found.append(DumpWindow(rotation=window.rotation))
        found[-1].parents.append(parent - start if parent >= 0 else -1)
        found[-1].attributes.append(window.attributes[at])
    return found
