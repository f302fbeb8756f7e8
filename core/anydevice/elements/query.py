"""How an element is named: a ref (`@e12`), its label, or a query (`label="Sign in" role=button`).

    query        alternative ("||" alternative)*    tried in this order; the first that matches anything counts
    alternative  term (white space term)*            all terms must hold
    term         key=value                           id role text label value appname windowtitle
               | flag | flag=true | flag=false       visible hidden editable selected focused enabled checked hittable
               | index=N                             which of several, counted from 0
    value        bare, or quoted with ' or " and JSON escapes

A text without any `key=` is a label as a whole: `Sign in`, `Don't save`, `visible`. Quotes around the whole of it are
taken off, so a label that looks like a query or a ref is written `"a=b"` or `"@e12"`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

from anydevice_schemas import ROLES
from anydevice_schemas.errors import InvalidArgument

from ..text import fold_text, nearest, quoted

TEXT_KEYS: tuple[str, ...] = ("id", "role", "text", "label", "value", "appname", "windowtitle")
FLAGS: tuple[str, ...] = ("visible", "hidden", "editable", "selected", "focused", "enabled", "checked", "hittable")
KEYS: tuple[str, ...] = (*TEXT_KEYS, *FLAGS, "index")

LONGEST = 4000
"""Characters a query may have."""

_MEANT = {
    "type": "role", "kind": "role", "class": "role", "name": "label", "title": "label", "contains": "text",
    "content": "text", "description": "text", "identifier": "id", "testid": "id", "resource-id": "id",
    "app": "appname", "package": "appname", "window": "windowtitle", "nth": "index", "idx": "index",
    "disabled": "enabled",
}  # fmt: skip
"""What people write, and what it is called here."""

_ROLES_MEANT = {
    "textfield": "textbox", "input": "textbox", "edittext": "textbox", "textarea": "textbox", "entry": "textbox",
    "securetextfield": "textbox", "dropdown": "combobox", "select": "combobox", "toggle": "switch", "img": "image",
    "icon": "image", "label": "text", "statictext": "text", "modal": "dialog", "sheet": "dialog", "popup": "dialog",
    "tabitem": "tab", "header": "heading", "anchor": "link", "scrollview": "region", "progress": "progressbar",
}  # fmt: skip

_REF = re.compile(r"@e\d{1,9}", re.IGNORECASE | re.ASCII)
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*)=")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class RefQuery:
    """A ref, standing alone.

    Attributes:
        ref: The ref with its `@`, e.g. `@e12`.
    """

    ref: str

    def __str__(self) -> str:
        return self.ref


@dataclass(frozen=True, slots=True)
class Term:
    """One term: a text key with its text, or a flag with whether it must be set."""

    key: str
    value: str | bool

    def __str__(self) -> str:
        if isinstance(self.value, bool):
            return f"{self.key}={'true' if self.value else 'false'}"
        return f"{self.key}={self.value if self.key == 'role' else json.dumps(self.value, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class Alternative:
    """Terms that must all hold, and which of several matches to take (None = there must be only one)."""

    terms: tuple[Term, ...]
    index: int | None = None

    def __str__(self) -> str:
        words = [str(term) for term in self.terms]
        return " ".join(words if self.index is None else [*words, f"index={self.index}"])

    def texts(self) -> list[str]:
        """The texts it looks for on the screen."""
        return [str(term.value) for term in self.terms if term.key in ("id", "text", "label", "value")]


@dataclass(frozen=True, slots=True)
class Query:
    """A query. Its text form parses back to the same query."""

    alternatives: tuple[Alternative, ...]

    def __str__(self) -> str:
        return " || ".join(map(str, self.alternatives))


def labelled(text: str) -> Query:
    """The query that asks for a label as it stands, whatever is in it."""
    return Query((Alternative((Term("label", text),)),))


def parse(text: str, *, param: str = "target") -> Query | RefQuery:
    """Reads a query.

    Args:
        text: As the caller wrote it.
        param: Name of the argument it came in, for the error.

    Raises:
        InvalidArgument: It cannot be read; says where, the nearest valid words, and how it may be meant.
    """
    stripped = text.strip()
    if _REF.fullmatch(stripped):
        return RefQuery(stripped.lower())
    if not stripped:
        _refuse(param, "The query is empty.", "a ref, a label or a query")
    if len(stripped) > LONGEST:
        _refuse(param, f"The query is longer than {LONGEST} characters.", f"at most {LONGEST} characters")
    parts = _alternatives(stripped)
    return Query(tuple(_alternative(part.strip(), param, len(parts) > 1) for part in parts))


# --- cutting up -----------------------------------------------------------------------------------


def _quote_end(text: str, at: int) -> int | None:
    """Where the quote that opens at `at` ends (just behind it); None when it is no quote.

    A quote counts as one only when its end is followed by white space, by `||` or by nothing, so that the marks in
    `'tis the season` or `5" disk` are part of the text.
    """
    mark = text[at]
    end = at + 1
    while end < len(text):
        if text[end] == "\\":
            end += 2
            continue
        if text[end] == mark:
            end += 1
            if end == len(text) or text[end].isspace() or text.startswith("||", end):
                return end
            continue
        end += 1
    return None


def _alternatives(text: str) -> list[str]:
    """The parts between `||`, leaving alone those inside quotes."""
    parts: list[str] = []
    start = at = 0
    begins = True  # a quote may open here: at the start of a word, or behind the `=` of a key
    while at < len(text):
        if text.startswith("||", at):
            parts.append(text[start:at])
            at = start = at + 2
            begins = True
            continue
        if begins and text[at] in "'\"":
            end = _quote_end(text, at)
            if end is not None:
                at, begins = end, False
                continue
        if begins and (key := _KEY.match(text, at)):
            at = key.end()
            continue
        begins = text[at].isspace()
        at += 1
    parts.append(text[start:])
    return parts


def _words(text: str) -> list[tuple[str, str]]:
    """The words of an alternative as (key, value as written); key is empty for a word without one."""
    words: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = _KEY.match(text, at)
        key, begin = (found[1], found.end()) if found else ("", at)
        end = _quote_end(text, begin) if begin < len(text) and text[begin] in "'\"" else None
        if end is None:
            end = begin
            while end < len(text) and not text[end].isspace():
                end += 1
        words.append((key, text[begin:end]))
        at = end
    return words


# --- reading --------------------------------------------------------------------------------------


def _alternative(part: str, param: str, several: bool) -> Alternative:
    if not part:
        _refuse(param, "There is nothing on one side of ||.", "a label or terms on both sides of ||")
    if several and _REF.fullmatch(part):
        _refuse(param, "A ref stands alone.", "one ref, or a query without refs", hint=f"Give {part} alone.")
    words = _words(part)
    if not any(key for key, _ in words):
        _refuse_spaced_key(words, param)
        return Alternative((Term("label", _label(part, param)),))
    terms: list[Term] = []
    index: int | None = None
    for key, value in words:
        name = key.lower() if key else value.lower()
        if name == "index" and key:
            if index is not None:
                _refuse(param, "index is given twice.", "index=N once")
            index = _index(value, param)
        elif name in FLAGS:
            terms.append(Term(name, _flag(name, value, param) if key else True))
        elif key:
            terms.append(_text_term(name, key, value, param))
        else:
            _refuse_stray(value, words, param)
    if not terms:
        _refuse(param, "index alone names nothing.", "index=N beside another term")
    return Alternative(tuple(terms), index)


def _label(part: str, param: str) -> str:
    whole = part[0] in "'\"" and _quote_end(part, 0) == len(part)
    text = _unquoted(part, param) if whole else part
    if not fold_text(text):
        _refuse(param, "The label is blank.", "some text")
    return text


def _text_term(name: str, key: str, value: str, param: str) -> Term:
    if name not in TEXT_KEYS:
        _refuse_key(key, value, param)
    if not value:
        hint = "Write the value right behind =, without a space."
        _refuse(param, f"{name}= has no value.", f'{name}="…"', hint=hint)
    text = _value(value, param)
    if name == "role":
        return Term("role", _role(text, param))
    # only a value can be asked to be empty
    if name != "value" and not (text if name == "id" else fold_text(text)):
        _refuse(param, f"{name}= is blank.", "some text")
    return Term(name, text)


def _value(value: str, param: str) -> str:
    return _unquoted(value, param) if value[:1] in ("'", '"') else value


def _unquoted(value: str, param: str) -> str:
    mark = value[0]
    if len(value) < 2 or _quote_end(value, 0) != len(value):
        _refuse(
            param,
            f"The quote in {quoted(value, 60)} does not end.",
            f"a closing {mark} followed by white space or nothing",
            hint=f"Write {mark} inside the value as \\{mark}.",
        )

    def plain(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        if code not in _PLAIN:
            shown = quoted(match[0])
            _refuse(param, f"{shown} is no escape.", 'a JSON escape such as \\n, \\" or \\u00e9')
        return _PLAIN[code]

    text = _ESCAPE.sub(plain, value[1:-1])
    if any("\ud800" <= char <= "\udfff" for char in text):  # the halves of one character, written as two escapes
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _role(text: str, param: str) -> str:
    role = text.strip().lower()
    if role not in ROLES:
        near = [*filter(None, [_ROLES_MEANT.get(role)]), *nearest(role, ROLES, 3)][:3]
        expected = f"a role such as {', '.join(near or ['button', 'link', 'textbox'])}"
        _refuse(param, f"role={quoted(text, 40)} is no role.", expected, nearest=near)
    return role


def _flag(name: str, value: str, param: str) -> bool:
    word = _value(value, param).lower()
    if word not in ("true", "false"):
        _refuse(param, f"{name}={quoted(value, 40)} is neither true nor false.", "true or false")
    return word == "true"


def _index(value: str, param: str) -> int:
    word = _value(value, param)
    if not re.fullmatch(r"[0-9]{1,6}", word):
        _refuse(param, f"index={quoted(value, 40)} is no count from 0.", "a whole number, counted from 0")
    return int(word)


# --- refusing -------------------------------------------------------------------------------------


def _refuse(param: str, problem: str, expected: str, *, hint: str | None = None, **details: Any) -> NoReturn:
    raise InvalidArgument(
        problem,
        hint=hint,
        param=param,
        expected=expected,
        errors=[{"param": param, "problem": problem, "expected": expected}],
        keys=list(KEYS),
        **details,
    )


def _refuse_key(key: str, value: str, param: str) -> NoReturn:
    folded = key.lower()
    close = [_MEANT[folded]] if folded in _MEANT else nearest(folded, KEYS, 3, 0.5)
    instead = f"Use {close[0]}=; to" if close else "To"
    if folded == "ref":
        close, instead = [], "Give a ref alone, as @e12; to"
    whole = quoted(f"{key}={value}", 120)
    _refuse(
        param,
        f"{quoted(key + '=', 40)} is no key of a query.",
        "one of " + ", ".join(KEYS),
        hint=f"{instead} look for text that contains =, put the text in quotes, for instance {whole}.",
        nearest=close,
    )


def _refuse_stray(word: str, words: list[tuple[str, str]], param: str) -> NoReturn:
    loose = " ".join(value for key, value in words if not key and value.lower() not in FLAGS)
    if loose[:1] in ("'", '"') and _quote_end(loose, 0) == len(loose):
        loose = loose[1:-1]
    terms = [f"{key}={value}" if key else value for key, value in words if key or value.lower() in FLAGS]
    better = " ".join([f"label={quoted(loose, 120)}", *terms])
    _refuse(
        param,
        f"{quoted(word, 40)} belongs to no key.",
        "key=value terms only, or a label without any key=",
        hint=f"Put a value with spaces in quotes, for instance: {better[:200]}",
        nearest=nearest(word.lower(), KEYS, 3, 0.6),
    )


def _refuse_spaced_key(words: list[tuple[str, str]], param: str) -> None:
    for (_, word), (_, following) in pairwise(words):
        if word.lower() in KEYS and following.startswith("="):
            _refuse(
                param,
                f"There is a space between {word.lower()} and =.",
                f'{word.lower()}="…"',
                hint="Write key=value without spaces around =, or put a label that contains = in quotes.",
            )
