"""Dumps whose elements all carry the same attributes in the same order, as one build of Android writes them.

Such a document is read by one pattern, in half the time an XML parser takes (`make bench` has both). Those attributes
that are either true or false stand together; one such row of words is looked at once. Whatever does not fit to the
last tag is left to the parser: nothing is guessed here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import itemgetter
from typing import Protocol
from xml.sax.saxutils import unescape

from .elements import NAMES, Element, flags

NAF = "NAF"
"""The one attribute that some elements of a dump have and others have not; it comes first, and is passed over."""
_FIRST = re.compile(r"<node ([^<>]*?) ?/?>")
_NAME = re.compile(r'([A-Za-z][\w-]*)="')
_PAIR = re.compile(r'([A-Za-z][\w-]*)="([^"]*)"')
_BOOLEAN = frozenset({"true", "false"})
_OTHER = re.compile(r'([a-z]+)((?: [A-Za-z][\w-]*="[^"]*")*) ?(/?)')
_NUMBERED = re.compile(r"&#(x[0-9A-Fa-f]{1,6}|\d{1,7});")
_NAMED = {"&quot;": '"', "&apos;": "'"}
_REFERENCE = re.compile(r"&(?!#x?[0-9A-Fa-f]+;|amp;|lt;|gt;|quot;|apos;)")
_CONTROL = bytes(range(32))


class Target(Protocol):
    """What takes the tags of a document.

    Attributes:
        parents, elements, path: Of the window that is open: parents of its elements, these themselves, and the open
            ones (below all of them -1). Another window may have others.
    """

    parents: list[int]
    elements: list[Element]
    path: list[int]

    @property
    def outside(self) -> bool:
        """Whether no window is open that an element could be in."""

    @property
    def closed(self) -> bool:
        """Whether nothing is open."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An opening tag."""

    def end(self, name: str) -> None:
        """A closing tag; raises `ValueError` where another one was to come."""


def read(document: str, target: Target) -> bool:
    """Hands the tags of a document to `target`; False where it has to be read by a parser.

    `target` may have got some of them by then.
    """
    raw = document.encode("utf-8", "surrogatepass")
    if len(raw.translate(None, _CONTROL)) != len(raw) or _REFERENCE.search(document) is not None:
        return False  # lines and tabs inside a value would be spaces
    usual = _Usual.of(document)
    if usual is None:
        return False
    coded = "&" in document
    rows, pick, start, new = usual.rows, usual.pick, usual.start, tuple.__new__
    parents, elements, path, outside = target.parents, target.elements, target.path, True
    tags = usual.pattern(f' {NAF}="' in document).findall(document)
    try:
        for found in tags:
            other = found[-1]
            if not other:
                row = found[start]
                told = rows.get(row)
                if told is None:
                    told = rows[row] = usual.row(row)
                values = pick(found)
                if coded:
                    values = tuple(map(plain, values))
                if outside:
                    return False
                parents.append(path[-1])
                if not found[-3]:
                    path.append(len(elements))
                elements.append(new(Element, (*values, told)))
            elif other == "/node":
                if len(path) < 2:
                    return False
                path.pop()
            else:
                if other[0] == "/":
                    target.end(other[1:].rstrip())
                elif (tag := _OTHER.fullmatch(other)) is not None:
                    target.start(tag[1], {name: plain(value) for name, value in _PAIR.findall(tag[2])})
                    if tag[3]:
                        target.end(tag[1])
                else:
                    return False
                parents, elements, path, outside = target.parents, target.elements, target.path, target.outside
    except ValueError:
        return False
    # Each match holds one `<`, and no value may hold one: so many of both means that no tag was passed over.
    return len(tags) == document.count("<") and target.closed


class _Usual:
    """How the elements of a document are written: the names of their attributes in order.

    Those from `start` up to `stop` stand together and are true or false.

    Attributes:
        pick: Of what the pattern found, the texts of an element.
        rows: What rows of flags say.
    """

    def __init__(self, names: tuple[str, ...], start: int, stop: int) -> None:
        self._names, self.start, self._stop = names, start, stop
        groups = [*names[:start], "", *names[stop:]]
        self.pick = itemgetter(*(groups.index(name) if name in groups else -2 for name in NAMES))
        self.rows: dict[str, int] = {}

    @classmethod
    def of(cls, document: str) -> _Usual | None:
        """As the first element is; None where there is none that can be read here."""
        first = _FIRST.search(document)
        pairs = _PAIR.findall(first[1]) if first is not None else []
        pairs = pairs[1:] if pairs and pairs[0][0] == NAF else pairs
        names = tuple(name for name, _ in pairs)
        if not names or len({*names, NAF}) <= len(names):
            return None
        flags = [value in _BOOLEAN for _, value in pairs]
        start = flags.index(True) if True in flags else len(flags)
        stop = flags.index(False, start) if False in flags[start:] else len(flags)
        return cls(names, start, stop)

    def pattern(self, mixed: bool) -> re.Pattern[str]:
        """See `_pattern`."""
        return _pattern(self._names, self.start, self._stop, mixed)

    def row(self, row: str) -> int:
        """A row of flags read.

        Raises:
            ValueError: It has other attributes than that of the first element.
        """
        pairs = _PAIR.findall(row)
        told = " ".join(f'{name}="{value}"' for name, value in pairs)
        if told != row or tuple(name for name, _ in pairs) != self._names[self.start : self._stop]:
            raise ValueError(row)
        return flags(dict(pairs))


@lru_cache(maxsize=16)
def _pattern(names: tuple[str, ...], start: int, stop: int, mixed: bool) -> re.Pattern[str]:
    """Matches an element or another tag; `mixed`: some elements have the attribute `NAF`.

    Groups: values, the row of flags (number `start`) as one of them, how an element ends, nothing, another tag.
    """

    def values(some: tuple[str, ...]) -> list[str]:
        return [f'{re.escape(name)}="([^"]*)"' for name in some]

    naf = f'(?:{NAF}="[^"]*" )?' if mixed else ""
    row = [f'({re.escape(names[start])}="[a-z=" -]*")'] if start < stop else []
    inside = " ".join([*values(names[:start]), *row, *values(names[stop:])]) + ("" if row else "()")
    return re.compile(rf"<(?:node {naf}{inside}(/| /|)()|(/node|[^n][^<>]*))>")


def plain(value: str) -> str:
    """A value without its references; what is no character of XML becomes U+FFFD."""
    return unescape(_NUMBERED.sub(_character, value), _NAMED) if "&" in value else value


def _character(match: re.Match[str]) -> str:
    word = match[1]
    code = int(word[1:], 16) if word[0] == "x" else int(word)
    known = code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
    return "&amp;" if code == ord("&") else chr(code) if known else "\ufffd"
