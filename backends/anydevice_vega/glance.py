"""What a key did, told from two looks at the screen: whether the focus went on, whether the screen became another.

A screen that moves by itself differs between any two looks. A text alone that differs counts only once it has come to
rest; the place of the focus, another app, and other elements count at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .reading.page import Element, Page
from .tree import cursor_of, ordered

CHANGING: Final = ("x", "y", "width", "height")
"""What is no evidence while it goes on changing: an element that slides by itself."""
Mark = tuple[str, str]
"""Id and test id of an element."""


@dataclass(slots=True, frozen=True)
class Change:
    """What differs.

    Attributes:
        focus: The focus is elsewhere, or another app is in front.
        other: Other elements are there, or an element is in another state.
        texts: Elements that only say something else, or stand elsewhere.
    """

    focus: bool
    other: bool
    texts: frozenset[Mark]

    @property
    def any(self) -> bool:
        """Whether anything does."""
        return self.focus or self.other or bool(self.texts)


def compare(before: Page, after: Page) -> Change:
    """What differs between two looks."""
    one, two = before.front(), after.front()
    if one is None or two is None or (one.name, one.id) != (two.name, two.id):
        return Change(focus=one is not two, other=one is not two, texts=frozenset())
    was, now = _marked(before), _marked(after)
    texts: set[Mark] = set()
    other = len(was) != len(now)
    for old, new in zip(was, now, strict=False):
        if _mark(old) != _mark(new):
            other = True
        elif old.text != new.text or _differ(old, new, CHANGING, within=True):
            texts.add(_mark(new))
        if _differ(old, new, CHANGING, within=False):
            other = True
    return Change(_cursor(before) != _cursor(after), other, frozenset(texts))


def _marked(page: Page) -> list[Element]:
    app = page.front()
    return [element for window in ordered(app) for element in window.elements] if app is not None else []


def _differ(old: Element, new: Element, names: tuple[str, ...], *, within: bool) -> bool:
    """Whether attributes differ: those of these names, or all others."""
    if old.attributes == new.attributes:
        return False
    every = {*old.attributes, *new.attributes}
    return any(old.attributes.get(name) != new.attributes.get(name) for name in every if (name in names) == within)


def _cursor(page: Page) -> Mark | None:
    app = page.front()
    found = cursor_of(app) if app is not None else None
    return _mark(found) if found is not None else None


def _mark(element: Element) -> Mark:
    return element.attributes.get("id", ""), element.attributes.get("test_id", "")
