"""One named entry in a table of a JSON or TOML file: read, put in, replaced, taken out, and nothing else of the text
changed: line ends, order, numbers as they are written, what is said twice.

What was written is read again and compared with what was meant; where they differ the text is unfit, and left alone.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Entry = dict[str, Any]


class Unfit(ValueError):
    """The text cannot be changed without harm; the message says why, for behind the file's name."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of a JSON object: its key, where that begins, and where its value begins and ends."""

    key: str
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Hand:
    """How a text is written: what it indents by, how its lines end, and how deep one is."""

    unit: str
    line: str
    depth: int = 1

    @property
    def begun(self) -> str:
        """A new line at this depth."""
        return self.line + self.unit * self.depth

    def deeper(self) -> _Hand:
        return _Hand(self.unit, self.line, self.depth + 1)


class _Json:
    """JSON, edited where it stands."""

    def entry(self, text: str, table: str, name: str) -> Entry | None:
        """The entry there is.

        Raises:
            Unfit: The text is no plain JSON, or of another shape.
        """
        found = self._one(text, self._table(text, table), name)
        if found is None:
            return None
        value = _read(text)[table][name]
        if not isinstance(value, dict):
            raise Unfit("has another shape than documented")
        return value

    def changed(self, text: str, table: str, name: str, entry: Entry | None) -> str:
        """The text with this entry, or without where it is None.

        Raises:
            Unfit: It cannot be changed without harm.
        """
        at = self._table(text, table)
        now = self._one(text, at, name)
        if entry == (None if now is None else _read(text)[table][name]):
            return text
        hand = _Hand(_unit(text), _line_end(text))
        if entry is None:
            after = self._without(text, at, name)
        elif at is None:
            root = _start(text)
            after = self._with(text or "{}" + hand.line, root, table, {name: entry}, hand)
        else:
            after = self._with(text, at, name, entry, hand.deeper())
        meant = _pairs(text) if text.strip() else []
        if _strip(_pairs(after), table, name) != _strip(meant, table, name):
            raise Unfit("is written in a way that cannot be changed safely")
        return after

    def _table(self, text: str, table: str) -> int | None:
        """Where the object `table` begins; None = there is none."""
        if not text.strip("\ufeff \t\r\n"):
            return None
        value = _read(text)
        if not isinstance(value, dict) or not isinstance(value.get(table, {}), dict):
            raise Unfit("has another shape than documented")
        found = self._one(text, _start(text), table)
        return None if found is None else found.value

    def _one(self, text: str, at: int | None, name: str) -> _Member | None:
        if at is None:
            return None
        found = [member for member in _members(text, at) if member.key == name]
        if len(found) > 1:
            raise Unfit(f"says {name} twice")
        return found[0] if found else None

    def _with(self, text: str, at: int, name: str, value: Any, hand: _Hand) -> str:
        written = json.dumps(value, indent=hand.unit, ensure_ascii=False).replace("\n", hand.begun)
        members = list(_members(text, at))
        for member in members:
            if member.key == name:
                return text[: member.value] + written + text[member.end :]
        new = f"{hand.begun}{json.dumps(name)}: {written}"
        if members:
            return text[: members[-1].end] + "," + new + text[members[-1].end :]
        end = text.index("}", at)
        return text[: at + 1] + new + hand.line + hand.unit * (hand.depth - 1) + text[end:]

    def _without(self, text: str, at: int | None, name: str) -> str:
        assert at is not None
        members = list(_members(text, at))
        (index,) = [index for index, member in enumerate(members) if member.key == name]
        if index:
            return text[: members[index - 1].end] + text[members[index].end :]
        if len(members) > 1:
            return text[: members[0].start] + text[members[1].start :]
        return text[: at + 1] + text[text.index("}", members[0].end) :]


def _start(text: str) -> int:
    return re.match(r"[\ufeff \t\r\n]*", text).end()  # type: ignore[union-attr]


def _read(text: str) -> Any:
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise Unfit("is no plain JSON (comments would be lost)") from None


def _pairs(text: str) -> Any:
    """The value with objects as lists of pairs and numbers as they are written."""
    try:
        return json.loads(
            text.removeprefix("\ufeff"), object_pairs_hook=lambda pairs: ("{}", pairs), parse_float=_written,
            parse_int=_written, parse_constant=_written,
        )  # fmt: skip
    except (ValueError, RecursionError):
        raise Unfit("is written in a way that cannot be changed safely") from None


def _written(number: str) -> tuple[str, str]:
    return "number", number


def _strip(value: Any, table: str, name: str) -> Any:
    """Everything but the entry; a table that holds nothing else counts as none."""
    if not value:
        return []
    out = []
    for key, each in value[1]:
        if key == table:
            rest = [pair for pair in each[1] if pair[0] != name]
            if rest:
                out.append((key, rest))
        else:
            out.append((key, each))
    return out


def _members(text: str, at: int) -> Iterator[_Member]:
    """The members of the object that begins at `at`, of a text that is JSON."""
    decoder = json.JSONDecoder()
    blank = re.compile(r"[ \t\r\n]*")

    def past(index: int) -> int:
        return blank.match(text, index).end()  # type: ignore[union-attr]

    index = past(at + 1)
    while text[index] != "}":
        key, end = decoder.raw_decode(text, index)
        value = past(past(end) + 1)
        _, stop = decoder.raw_decode(text, value)
        yield _Member(key, index, value, stop)
        index = past(stop)
        if text[index] == ",":
            index = past(index + 1)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found.group(1) if found else "  "


class _Toml:
    """TOML: the entry is a table of its own."""

    def entry(self, text: str, table: str, name: str) -> Entry | None:
        """As of `_Json`."""
        servers = _loaded(text, "is no TOML").get(table, {})
        found = servers.get(name) if isinstance(servers, dict) else servers
        if not isinstance(servers, dict) or not isinstance(found, dict | None):
            raise Unfit("has another shape than documented")
        return found

    def changed(self, text: str, table: str, name: str, entry: Entry | None) -> str:
        """As of `_Json`."""
        if entry == self.entry(text, table, name):
            return text
        line = _line_end(text)
        written = "" if entry is None else _block(table, name, entry).replace("\n", line)
        before, after = _around(text, [table, name])
        out = before + written + after
        if not after.strip():  # at the end, a line apart from what is before it
            head = before.rstrip("\r\n")
            out = (head + line + (line if written else "") if head else "") + written + after
        meant = _loaded(text, "is no TOML")
        servers = {key: value for key, value in meant.get(table, {}).items() if key != name}
        meant[table] = servers | ({name: entry} if entry is not None else {})
        got = {table: {}} | _loaded(out, "is written in a way that cannot be changed safely")
        if got != meant:
            raise Unfit("is written in a way that cannot be changed safely")
        return out


def _loaded(text: str, trouble: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        raise Unfit(trouble) from None


def _around(text: str, path: list[str]) -> tuple[str, str]:
    """The text before and after a table and those inside it; all of it and nothing where there is none. Comments right
    above the next table are of that one."""
    before, held, after = "", "", ""
    where = "before"
    for line in text.splitlines(keepends=True):
        header = _header(line)
        if header is not None:
            inside = header[: len(path)] == path
            if where == "inside" and not inside:
                where, after = "after", after + held
            elif inside and where == "after":
                where = "inside"  # a part of it that stands apart
            elif inside:
                where = "inside"
            held = ""
        if where == "before":
            before += line
        elif where == "after":
            after += line
        elif header is None and line.strip(" \t\r\n") and not line.lstrip().startswith("#"):
            held = ""
        elif header is None:
            held += line
    return (before, after + held) if where == "inside" else (before, after)


def _header(line: str) -> list[str] | None:
    """The path a line opens a table by."""
    if not line.lstrip().startswith("["):
        return None
    try:
        value: Any = tomllib.loads(line)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None  # inside a value
    path = []
    while isinstance(value, Mapping | list) and value:
        if isinstance(value, list):
            value = value[0]
            continue
        (key,) = value
        path.append(key)
        value = value[key]
    return path


def _block(table: str, name: str, entry: Entry) -> str:
    lines = [f"[{table}.{name}]", *(f"{_key(key)} = {_value(value)}" for key, value in entry.items())]
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if not isinstance(value, str | bool | int | float):
        raise Unfit("is written in a way that cannot be changed safely")
    return json.dumps(value, ensure_ascii=False)  # TOML's basic strings and booleans are written as JSON's are


json_, toml = _Json(), _Toml()
