"""Property lists: the old text form that `simctl listapps` prints, besides XML, binary and JSON."""

from __future__ import annotations

import json
import plistlib
import re
from typing import Any, Final

_BARE: Final = re.compile(r"[A-Za-z0-9_$:./+-]+")
_BLANK: Final = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.S)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
DEEPEST: Final = 64


class NoPropertyList(ValueError):
    """The text is no property list."""


def parse(data: bytes) -> Any:
    """What a property list of any form holds.

    Raises:
        NoPropertyList: It is none.
    """
    start = data.lstrip()[:8]
    try:
        if start.startswith((b"<?xml", b"<!DOC", b"<plist", b"bplist")):
            return plistlib.loads(data)
        text = data.decode("utf-8", "replace")
        if start.startswith(b"{") and b"=" not in data:
            return json.loads(text)
        return _Reader(text).whole()
    except NoPropertyList:
        raise
    except (ValueError, plistlib.InvalidFileException, RecursionError, IndexError) as error:
        raise NoPropertyList(type(error).__name__) from None


class _Reader:
    """Reads the old text form: `{ key = value; }`, `( one, two )`, `"text"`, `<hex>`, bare words."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def whole(self) -> Any:
        value = self._value(0)
        self._blank()
        if self._at != len(self._text):
            raise NoPropertyList(f"something follows at {self._at}")
        return value

    def _blank(self) -> None:
        found = _BLANK.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _next(self) -> str:
        self._blank()
        if self._at >= len(self._text):
            raise NoPropertyList("it ends too soon")
        return self._text[self._at]

    def _take(self, sign: str) -> None:
        if self._next() != sign:
            raise NoPropertyList(f"no {sign} at {self._at}")
        self._at += 1

    def _value(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise NoPropertyList("too deep")
        sign = self._next()
        if sign == "{":
            return self._mapping(depth)
        if sign == "(":
            return self._list(depth)
        if sign == "<":
            end = self._text.index(">", self._at)
            found = bytes.fromhex(re.sub(r"\s", "", self._text[self._at + 1 : end]))
            self._at = end + 1
            return found
        return self._string()

    def _mapping(self, depth: int) -> dict[str, Any]:
        self._take("{")
        found: dict[str, Any] = {}
        while self._next() != "}":
            key = self._string()
            self._take("=")
            found[key] = self._value(depth + 1)
            self._take(";")
        self._at += 1
        return found

    def _list(self, depth: int) -> list[Any]:
        self._take("(")
        found: list[Any] = []
        while self._next() != ")":
            found.append(self._value(depth + 1))
            if self._next() == ",":
                self._at += 1
        self._at += 1
        return found

    def _string(self) -> str:
        if self._next() in "\"'":
            return self._quoted(self._text[self._at])
        found = _BARE.match(self._text, self._at)
        if found is None:
            raise NoPropertyList(f"neither word nor text at {self._at}")
        self._at = found.end()
        return found[0]

    def _quoted(self, quote: str) -> str:
        self._at += 1
        units: list[str] = []
        while True:
            sign = self._text[self._at]
            self._at += 1
            if sign == quote:
                break
            if sign != "\\":
                units.append(sign)
                continue
            sign = self._text[self._at]
            self._at += 1
            if sign in "Uu":
                units.append(chr(int(self._text[self._at : self._at + 4], 16)))
                self._at += 4
            elif sign in "01234567":
                units.append(chr(int(self._text[self._at - 1 : self._at + 2], 8)))
                self._at += 2
            else:
                units.append(_ESCAPES.get(sign, sign))
        # Characters outside of the basic plane are written as two halves.
        return "".join(units).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
