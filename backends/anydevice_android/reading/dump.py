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

from . import layout
from .elements import Box, Element, box, element

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
        parents, elements: Its elements in document order: index of the parent in this very list (-1 for a root), and
            what they are.
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
    elements: list[Element] = field(default_factory=list)


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
        return {one.package for window in self.windows for one in window.elements} - {""}


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
    document = found[0]
    windows = Windows()
    if layout.read(document, windows):
        return windows.dump()
    try:
        return parsed(document)
    except expat.ExpatError:
        pass
    try:
        return parsed(_mended(document))
    except expat.ExpatError:
        raise NoDump("garbage", document) from None


def parsed(document: str) -> Dump:
    """Reads a document with an XML parser.

    Raises:
        expat.ExpatError: It is none.
    """
    windows = Windows()
    parser = expat.ParserCreate()
    parser.StartElementHandler = windows.start
    parser.EndElementHandler = windows.end
    parser.Parse(document, True)
    return windows.dump()


class Windows:
    """Puts the tags of a document into windows; see `layout.Target`."""

    def __init__(self) -> None:
        self._windows: list[DumpWindow] = []
        self._window: DumpWindow | None = None
        self.parents: list[int] = []
        self.elements: list[Element] = []
        self.path = [-1]
        self._around: list[str] = []
        self._display = ""
        self._whole = False

    @property
    def outside(self) -> bool:
        """See `layout.Target`."""
        return self._window is None

    @property
    def closed(self) -> bool:
        """See `layout.Target`."""
        return len(self.path) == 1 and not self._around

    def dump(self) -> Dump:
        """What came out."""
        return Dump(self._windows, self._whole)

    def start(self, name: str, attributes: dict[str, Any]) -> None:
        """See `layout.Target`."""
        if name == "node":
            if self._window is None:
                self._enter(DumpWindow())
            self.parents.append(self.path[-1])
            self.path.append(len(self.elements))
            self.elements.append(element(attributes))
            return
        self._around.append(name)
        if name == "hierarchy":
            if self._window is None or not self._whole:
                self._enter(DumpWindow())
            assert self._window is not None
            turned = attributes.get("rotation", "0")
            self._window.rotation = int(turned) if turned.isdigit() else 0
        elif name == "window":
            self._whole = True
            self._enter(_window(attributes, self._display))
        elif name == "display":
            self._whole = True
            self._display = attributes.get("id", "")
        elif name == "displays":
            self._whole = True

    def end(self, name: str) -> None:
        """See `layout.Target`."""
        if name == "node":
            self.path.pop()
        elif len(self.path) > 1 or not self._around or self._around.pop() != name:
            raise ValueError(name)
        elif name == "window":
            self._window = None

    def _enter(self, now: DumpWindow) -> None:
        self._window, self.parents, self.elements = now, now.parents, now.elements
        self._windows.append(now)


def _window(attributes: dict[str, str], display: str) -> DumpWindow:
    layer = attributes.get("layer", "0")
    return DumpWindow(
        title=attributes.get("title", ""),
        kind=attributes.get("type", ""),
        layer=int(layer) if layer.lstrip("-").isdigit() else 0,
        active=attributes.get("active") == "true",
        focused=attributes.get("focused") == "true",
        bounds=box(attributes.get("bounds", "")),
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
        package = window.elements[0].package
        window.bounds = window.elements[0].box
        window.kind = "TYPE_APPLICATION"
        if package == "com.android.systemui":
            window.kind = "TYPE_SYSTEM"
        elif package == input_method:
            window.kind = "TYPE_INPUT_METHOD"
    rank = {"TYPE_SYSTEM": 0, "TYPE_INPUT_METHOD": 1, "TYPE_APPLICATION": 2}

    def key(window: DumpWindow) -> tuple[int, bool, int]:
        left, top, right, bottom = window.bounds or (0, 0, 0, 0)
        return rank[window.kind], window.elements[0].package != front, (right - left) * (bottom - top)

    windows.sort(key=key)
    apps = [window for window in windows if window.kind == "TYPE_APPLICATION"]
    count: dict[str, int] = {}
    for window in reversed(windows):
        window.focused = window.active = bool(apps) and window is apps[0]
        package = window.elements[0].package
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
        found[-1].elements.append(window.elements[at])
    return found
