"""The page source of the automation toolkit: apps, their windows, and elements with what is told of them.

`<traits>` repeat what the attributes say, in elements of the same names, and are passed over but for one thing: what
is drawn with an alpha of nothing is not seen. A text stands in a child `<text>`; a web page is an `<app>` in an app.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

LAUNCHER = "com.amazon.keplerlauncherapp"
"""The home screen: it is in every page source, behind whatever is in front."""
NOWHERE = -2
_ROOT = re.compile(r"<root\b.*</root\s*>|<root\b[^>]*/>", re.S)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_NUMBERED = re.compile(r"&#(x[0-9A-Fa-f]+|\d+);")


class NoPage(ValueError):
    """What came is no page source; `said` is the end of it (untrusted)."""

    def __init__(self, said: str) -> None:
        super().__init__("no page source")
        self.said = said[-2000:]


@dataclass(slots=True)
class Element:
    """One element.

    Attributes:
        parent: Index of its parent in the window's list; -1 = the window itself.
        attributes: As they were printed; what is absent is absent.
        text: Of its own `<text>`; None where it has none.
        web: It is the root of a web page.
    """

    parent: int
    attributes: Mapping[str, str]
    text: str | None = None
    web: bool = False


@dataclass(slots=True)
class PageWindow:
    """A window and its elements in document order. What nobody can see is left out."""

    attributes: Mapping[str, str]
    elements: list[Element] = field(default_factory=list)


@dataclass(slots=True)
class PageApp:
    """An app that shows something."""

    name: str
    id: str
    windows: list[PageWindow] = field(default_factory=list)


@dataclass(slots=True)
class Page:
    """A page source: apps in the order they are told in."""

    apps: list[PageApp]

    def front(self) -> PageApp | None:
        """The app in front: the first that is not the home screen, else that; None where nothing is shown."""
        shown = [app for app in self.apps if app.windows]
        return next((app for app in shown if app.name != LAUNCHER), shown[0] if shown else None)

    def app(self, name: str) -> PageApp | None:
        """The app of this name, where it shows something."""
        return next((app for app in self.apps if app.name == name and app.windows), None)


def parse_page(text: str) -> Page:
    """Reads a page source; the XML declaration may be missing, and there may be noise around the document.

    Raises:
        NoPage: It is none.
    """
    found = _ROOT.search(text)
    if found is None:
        raise NoPage(text)
    for document in (found[0], _mended(found[0])):
        try:
            return _Reader().read(document)
        except expat.ExpatError:
            continue
    raise NoPage(text)


def _mended(document: str) -> str:
    """A document without the characters that XML does not know."""

    def known(reference: re.Match[str]) -> str:
        digits = reference[1]
        number = int(digits[1:], 16) if digits.startswith("x") else int(digits)
        surrogate = 0xD800 <= number <= 0xDFFF
        valid = number <= 0x10FFFF and not surrogate and not _CONTROL.match(chr(number))
        return reference[0] if valid else "\ufffd"

    return _NUMBERED.sub(known, _CONTROL.sub("\ufffd", document))


class _Reader:
    """Goes through a document once."""

    def __init__(self) -> None:
        self._apps: list[PageApp] = []
        self._window: PageWindow | None = None
        self._path: list[int] = []  # index of each open element; -1 = an app or a window
        self._skipped = 0  # open elements inside of traits
        self._text: list[str] | None = None

    def read(self, document: str) -> Page:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.Parse(document, True)
        for app in self._apps:
            for window in app.windows:
                _drop_unseen(window)
        return Page(self._apps)

    def _start(self, name: str, attributes: dict[str, Any]) -> None:
        if self._skipped:
            self._skipped += 1
            if name == "visibility" and attributes.get("alpha") in ("0", "0.0") and self._window is not None:
                _mark_unseen(self._window, self._path)
            return
        if name == "traits":
            self._skipped = 1
        elif name == "text":
            self._text = []
        elif name == "app" and not self._path:
            self._apps.append(PageApp(attributes.get("appName", ""), attributes.get("id", "")))
            self._window = None
            self._path.append(-1)
        elif name == "window" and len(self._path) == 1 and self._apps:
            self._window = PageWindow(attributes)
            self._apps[-1].windows.append(self._window)
            self._path.append(-1)
        elif name != "root" and self._window is not None and self._path[-1] != NOWHERE:
            self._window.elements.append(Element(self._path[-1], attributes, web=name == "app"))
            self._path.append(len(self._window.elements) - 1)
        elif name != "root":
            self._path.append(NOWHERE)

    def _end(self, name: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif name == "text":
            at = self._path[-1] if self._path else -1
            if self._window is not None and at >= 0 and self._text is not None:
                element = self._window.elements[at]
                if element.text is None:
                    element.text = "".join(self._text)
            self._text = None
        elif name != "root" and self._path:
            self._path.pop()
            if len(self._path) == 1:
                self._window = None

    def _characters(self, data: str) -> None:
        if self._text is not None and not self._skipped:
            self._text.append(data)


_UNSEEN = {"alpha": "0"}


def _mark_unseen(window: PageWindow, path: list[int]) -> None:
    if path and path[-1] >= 0:
        element = window.elements[path[-1]]
        element.attributes = {**element.attributes, **_UNSEEN}


def _drop_unseen(window: PageWindow) -> None:
    """Takes out what is drawn with no alpha, and all that is inside of it."""
    if not any(element.attributes.get("alpha") == "0" for element in window.elements):
        return
    kept: list[Element] = []
    places: list[int] = []
    for element in window.elements:
        gone = element.attributes.get("alpha") == "0" or (element.parent >= 0 and places[element.parent] == NOWHERE)
        places.append(NOWHERE if gone else len(kept))
        if not gone:
            parent = places[element.parent] if element.parent >= 0 else -1
            kept.append(Element(parent, element.attributes, element.text, element.web))
    window.elements = kept
