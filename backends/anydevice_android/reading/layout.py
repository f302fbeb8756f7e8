"""Dumps whose elements all carry the same attributes in the same order, as one build of Android writes them.

Such a document is read by one pattern, in a third of the time an XML parser takes. Whatever does not fit it to the last
tag is left to the parser: nothing is guessed here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Protocol
from xml.sax.saxutils import unescape

NAF = "NAF"
"""The one attribute that some elements of a dump have and others have not; it comes first, and is passed over."""
_FIRST = re.compile(r"<node ([^<>]*?) ?/?>")
_NAME = re.compile(r'([A-Za-z][\w-]*)="')
_PAIR = re.compile(r'([A-Za-z][\w-]*)="([^"]*)"')
_OTHER = re.compile(r'([a-z]+)((?: [A-Za-z][\w-]*="[^"]*")*) ?(/?)')
_NUMBERED = re.compile(r"&#(x[0-9A-Fa-f]{1,6}|\d{1,7});")
_NAMED = {"&quot;": '"', "&apos;": "'"}
_REFERENCE = re.compile(r"&(?!#x?[0-9A-Fa-f]+;|amp;|lt;|gt;|quot;|apos;)")
_CONTROL = bytes(range(32))


class Target(Protocol):
    """What takes the tags of a document.

    Attributes:
        parents, elements, path: Of the window that is open: parents of its elements, their attributes, and the open
            ones (below all of them -1). Another window may have others.
    """

    parents: list[int]
    elements: list[dict[str, str]]
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
    first = _FIRST.search(document)
    names = tuple(_NAME.findall(first[1])) if first is not None else ()
    names = names[1:] if names[:1] == (NAF,) else names
    if not names or len({*names, NAF}) <= len(names):
        return False
    coded = "&" in document
    parents, elements, path, outside = target.parents, target.elements, target.path, True
    count = 0
    try:
        for found in _layout(names, f' {NAF}="' in document).finditer(document):
            count += 1
            values = found.groups("")
            other = values[-1]
            if not other:
                if outside:
                    return False
                parents.append(path[-1])
                if not values[-2]:
                    path.append(len(elements))
                told = [plain(value) if "&" in value else value for value in values] if coded else values
                elements.append(dict(zip(names, told, strict=False)))
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
    return count == document.count("<") and target.closed


@lru_cache(maxsize=16)
def _layout(names: tuple[str, ...], mixed: bool) -> re.Pattern[str]:
    """Matches an element, with its values, or another tag; `mixed`: some elements have the attribute `NAF`."""
    naf = f'(?:{NAF}="[^"]*" )?' if mixed else ""
    values = " ".join(f'{re.escape(name)}="([^"]*)"' for name in names)
    return re.compile(rf"<(?:node {naf}{values}(/| /|)|(/node|[^n][^<>]*))>")


def plain(value: str) -> str:
    """A value without its references; what is no character of XML becomes U+FFFD."""
    return unescape(_NUMBERED.sub(_character, value), _NAMED)


def _character(match: re.Match[str]) -> str:
    word = match[1]
    code = int(word[1:], 16) if word[0] == "x" else int(word)
    known = code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
    return "&amp;" if code == ord("&") else chr(code) if known else "\ufffd"
