"""Positional words of commands: the one or two inputs a person would not want to name.

anydevice press "Sign in"          anydevice fill @e3 "Ada"          anydevice get text @e3
anydevice open https://example.org anydevice wait text "Saved"       anydevice batch steps.json
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Arguments = dict[str, Any]
Reader = Callable[[list[str], Mapping[str, Any]], Arguments]


class WordsError(ValueError):
    """The words do not fit; the message says how."""


def read_json(text: str) -> Any:
    """A value given as JSON, as ``@FILE`` that holds it, or as ``-`` for standard input.

    Raises:
        WordsError: It cannot be read, or is not JSON.
    """
    try:
        if text == "-":
            text = sys.stdin.read()
        elif text.startswith("@"):
            with open(text[1:], encoding="utf-8") as file:
                text = file.read()
        return json.loads(text)
    except OSError as error:
        raise WordsError(f"{error.filename or text}: {error.strerror}") from error
    except ValueError as error:
        raise WordsError(f"not JSON: {error}") from error


def _url_or_app(words: list[str], properties: Mapping[str, Any]) -> Arguments:
    """`open https://…` is an address, `open com.example.app` is an app."""
    is_url = "app" not in properties or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", words[0])
    return {"url" if is_url else "app": words[0]}


def _wait(words: list[str], properties: Mapping[str, Any]) -> Arguments:
    """`wait 500`, `wait stable`, `wait text|target|absent WORDS`, `wait @e3`, `wait WORDS`."""
    first, *more = words
    if more:
        if first not in ("text", "target", "absent"):
            raise WordsError("the first of two words is one of text, target, absent")
        return {first: more[0]}
    if first.isdecimal():
        return {"durationMs": int(first)}
    if first == "stable":
        return {"stable": True}
    return {"target" if first.startswith("@") else "text": first}


def _get(words: list[str], properties: Mapping[str, Any]) -> Arguments:
    """`get text @e3`, or `get @e3` for its text."""
    if len(words) == 2:
        return {"what": words[0], "target": words[1]}
    return {"target": words[0]}


def _tags(words: list[str], properties: Mapping[str, Any]) -> Arguments:
    """`tags add report.pdf urgent`, `tags report.pdf add urgent`, or `tags report.pdf` for what it has."""
    first, *rest = words
    actions = properties.get("action", {}).get("enum", ())
    if not rest:
        return {"action" if first in actions else "path": first}
    if first not in actions and rest[0] not in actions:
        raise WordsError(f"one of the first two words is one of {', '.join(actions)}")
    action, path = (first, rest[0]) if first in actions else (rest[0], first)
    return {"action": action, "path": path, **({"tags": rest[1:]} if rest[1:] else {})}


def _files(words: list[str], properties: Mapping[str, Any]) -> Arguments:
    """`files push seed.db /sdcard/`, `files pull /sdcard/log.txt [log.txt]`: from where, then where to."""
    action, *paths = words
    order = ["devicePath", "hostPath"] if action == "pull" else ["hostPath", "devicePath"]
    return {"action": action, **dict(zip(order, paths, strict=False))}


def _clipboard(words: list[str], properties: Mapping[str, Any]) -> Arguments:
    """`clipboard`, `clipboard read [text|image|files]`, `clipboard write TEXT`."""
    action, *rest = words
    return {"action": action, **({"kind" if action == "read" else "text": rest[0]} if rest else {})}


def _scroll(words: list[str], properties: Mapping[str, Any]) -> Arguments:
    """`scroll down`, or `scroll bottom` for all the way."""
    directions = properties.get("direction", {}).get("enum", ())
    edges = properties.get("edge", {}).get("enum", ())
    return {"edge" if words[0] in edges and words[0] not in directions else "direction": words[0]}


def _batch(words: list[str], properties: Mapping[str, Any]) -> Arguments:
    """`batch steps.json` or `batch -`: a list of steps, or an object with `steps`."""
    word = words[0]
    value = read_json(word if word == "-" or word[:1] in "[{@" else "@" + word)
    return value if isinstance(value, dict) else {"steps": value}


def _joined(name: str) -> Reader:
    return lambda words, properties: {name: " ".join(words)}


_WORDS: dict[str, tuple[str, int, Reader | Sequence[str]]] = {
    "add-media": ("PATH", 1, ["path"]),
    "apps": ("[NAME]", 1, ["name"]),
    "batch": ("FILE|-", 1, _batch),
    "boot": ("DEVICE", 1, ["device"]),
    "clipboard": ("[read [KIND] | write TEXT]", 2, _clipboard),
    "close": ("[APP]", 1, ["app"]),
    "command-read": ("NAME", 1, ["name"]),
    "command-run": ("NAME", 1, ["name"]),
    "command-search": ("WORDS...", 99, _joined("words")),
    "diff": ("[SINCE]", 1, ["since"]),
    "erase": ("DEVICE", 1, ["device"]),
    "file-search": ("NAME", 1, ["name"]),
    "files": ("push FILE DEVICEPATH | pull DEVICEPATH [FILE]", 3, _files),
    "fill": ("TARGET TEXT", 2, ["target", "text"]),
    "find": ("QUERY", 1, ["query"]),
    "get": ("[WHAT] TARGET", 2, _get),
    "hover": ("TARGET", 1, ["target"]),
    "install": ("PATH", 1, ["path"]),
    "install-from-source": ("URL|PATH", 1, ["source"]),
    "is": ("PREDICATE TARGET [VALUE]", 3, ["predicate", "target", "value"]),
    "key": ("CHORD", 1, ["chord"]),
    "keyboard": ("[ACTION [KEY]]", 2, ["action", "key"]),
    "logs": ("[ACTION [TEXT]]", 2, ["action", "text"]),
    "longpress": ("TARGET", 1, ["target"]),
    "open": ("[URL|APP]", 1, _url_or_app),
    "orientation": ("[VALUE]", 1, ["value"]),
    "perf": ("[KIND]", 1, ["kind"]),
    "press": ("TARGET", 1, ["target"]),
    "record": ("[start | status | stop [PATH]]", 2, ["action", "path"]),
    "screenshot": ("[PATH]", 1, ["path"]),
    "scroll": ("[DIRECTION|EDGE]", 1, _scroll),
    "session": ("[ACTION [NAME]]", 2, ["action", "name"]),
    "settings": ("[AREA [VALUE]]", 2, ["area", "value"]),
    "shell": ("'COMMAND LINE'", 1, ["commandLine"]),
    "shutdown": ("DEVICE", 1, ["device"]),
    "tags": ("[ACTION] PATH [TAG...]", 99, _tags),
    "trash": ("PATH", 1, ["path"]),
    "trigger-app-event": ("EVENT", 1, ["event"]),
    "type": ("TEXT", 1, ["text"]),
    "uninstall": ("APP", 1, ["app"]),
    "wait": ("[MS | stable | [text|target|absent] WORDS]", 2, _wait),
}


class Words:
    """The positional words of one command.

    Attributes:
        metavar: How its help shows them; empty for none.
        first: What the first word may be, for completion.
        of_device: The first word says which device.
    """

    def __init__(self, descriptor: Mapping[str, Any]) -> None:
        self._properties: Mapping[str, Any] = descriptor["inputSchema"].get("properties", {})
        self.metavar, self._most, self._reader = _WORDS.get(descriptor["name"]) or self._obvious(descriptor)
        self.first: list[str] = []
        self.of_device = not callable(self._reader) and list(self._reader[:1]) == ["device"]
        if not callable(self._reader) and self._reader:
            self.first = list(self._properties.get(self._reader[0], {}).get("enum", ()))
        elif self._reader is _get:
            self.first = list(self._properties.get("what", {}).get("enum", ()))
        elif self._reader in (_tags, _files, _clipboard):
            self.first = list(self._properties.get("action", {}).get("enum", ()))
        elif self._reader is _scroll:
            self.first = [w for p in ("direction", "edge") for w in self._properties.get(p, {}).get("enum", ())]

    def _obvious(self, descriptor: Mapping[str, Any]) -> tuple[str, int, Sequence[str]]:
        """For commands without words of their own: their first one or two required plain inputs.

        Where none is required and the first input is an `action`, it is the word: `lease acquire`, `alert accept`.
        """
        plain = ("string", "integer", "number")
        names = [
            name
            for name in descriptor["inputSchema"].get("required", ())
            if self._properties.get(name, {}).get("type") in plain
        ][:2]
        if not names and next(iter(self._properties), "") == "action" and "enum" in self._properties["action"]:
            return "[ACTION]", 1, ["action"]
        return " ".join(name.upper() for name in names), len(names), names

    def read(self, words: Sequence[str]) -> Arguments:
        """The arguments in the words.

        Raises:
            WordsError: There are too many, or they make no sense.
        """
        if not words:
            return {}
        if len(words) > self._most:
            extra = " ".join(words[self._most :])
            expected = f"it takes {self.metavar}" if self.metavar else "it takes none"
            raise WordsError(f"too many words ({extra!r}); {expected}, and text with spaces needs quotes")
        if callable(self._reader):
            return self._reader(list(words), self._properties)
        return {
            name: _plain(word, self._properties.get(name, {})) for name, word in zip(self._reader, words, strict=False)
        }


def _plain(word: str, schema: Mapping[str, Any]) -> Any:
    """A word as the type its input has."""
    try:
        if schema.get("type") == "integer":
            return int(word)
        if schema.get("type") == "number":
            return float(word)
    except ValueError as error:
        raise WordsError(f"{word!r} is not a number") from error
    return word
