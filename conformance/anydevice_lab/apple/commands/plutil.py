"""Property lists in the old style, as `simctl listapps` prints them, and `plutil`, which makes JSON of any."""

from __future__ import annotations

import json
import plistlib
import re
from typing import Any

from ..programs import Invocation, Program

_PLAIN = re.compile(r"[A-Za-z0-9_.$/]+")
_TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|<([0-9a-fA-F ]*)>|([A-Za-z0-9_.$/:-]+)|([{}()=;,]))')
Plain = Any
"""A dict, a list or a text."""


def old_style(value: Plain, indent: int = 0) -> str:
    """A value as the old style writes it: texts without quotes where they can be, numbers as texts."""
    pad, inner = " " * indent, " " * (indent + 4)
    if isinstance(value, dict):
        rows = (f"{inner}{_word(key)} = {_after(item, indent + 4)};\n" for key, item in sorted(value.items()))
        return "{\n" + "".join(rows) + pad + "}"
    if isinstance(value, list | tuple):
        return "(\n" + ",\n".join(inner + old_style(item, indent + 4) for item in value) + "\n" + pad + ")"
    return _word(str(int(value) if isinstance(value, bool) else value))


def _after(value: Plain, indent: int) -> str:
    """Collections are set off by as many spaces as they are indented."""
    text = old_style(value, indent)
    return " " * indent + text if isinstance(value, dict | list | tuple) else text


def _word(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + "".join(ch if ord(ch) < 128 else f"\\U{ord(ch):04x}" for ch in escaped) + '"'


def read_old(text: str) -> Plain:
    """Reads the old style.

    Raises:
        ValueError: It is none.
    """
    tokens: list[tuple[str, bool]] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"unexpected character at {at}")
        at = match.end()
        quoted, data, word, mark = match.groups()
        if quoted is not None:
            tokens.append((_unescaped(quoted), False))
        elif mark is not None:
            tokens.append((mark, True))
        else:
            tokens.append((word if word is not None else data or "", False))
    value, left = _value(tokens, 0)
    if left != len(tokens):
        raise ValueError("junk after the value")
    return value


def _unescaped(text: str) -> str:
    text = re.sub(r"\\U([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)


def _value(tokens: list[tuple[str, bool]], at: int) -> tuple[Plain, int]:
    try:
        word, mark = tokens[at]
        if not mark:
            return word, at + 1
        if word == "{":
            table: dict[str, Plain] = {}
            at += 1
            while tokens[at] != ("}", True):
                key = tokens[at][0]
                if tokens[at + 1] != ("=", True):
                    raise ValueError("= is missing")
                table[key], at = _value(tokens, at + 2)
                if tokens[at] == (";", True):
                    at += 1
            return table, at + 1
        if word == "(":
            items: list[Plain] = []
            at += 1
            while tokens[at] != (")", True):
                item, at = _value(tokens, at)
                items.append(item)
                if tokens[at] == (",", True):
                    at += 1
            return items, at + 1
    except IndexError:
        raise ValueError("it ends too early") from None
    raise ValueError(f"unexpected {word}")


async def plutil(call: Invocation) -> int:
    """`plutil -convert json|xml1 -o -|FILE [-r] [--] FILE|-`."""
    words, form, out, source = list(call.args), "", "-", ""
    while words:
        word = words.pop(0)
        if word == "-convert" and words:
            form = words.pop(0)
        elif word == "-o" and words:
            out = words.pop(0)
        elif word == "-" or not word.startswith("-"):
            source = word
    if form not in ("json", "xml1") or not source:
        return await call.fail(1, "plutil: [command_option] [other_options] file...\n")
    try:
        data = await call.read_all() if source == "-" else call.path(source).read_bytes()
    except OSError:
        return await call.fail(1, f"{source}: file does not exist or is not readable or is not a regular file\n")
    try:
        value = plistlib.loads(data)
    except Exception:
        try:
            value = read_old(data.decode())
        except (ValueError, UnicodeDecodeError):
            return await call.fail(1, f"{source}: Property List error: Unexpected character / JSON error\n")
    made = json.dumps(value, ensure_ascii=False).encode() if form == "json" else plistlib.dumps(value)
    if out == "-":
        await call.out(made)
    else:
        call.path(out).write_bytes(made)
    return 0


PROGRAMS: dict[str, Program] = {"plutil": plutil}
