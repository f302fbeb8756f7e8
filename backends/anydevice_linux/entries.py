"""Installed applications: `.desktop` files, as the Desktop Entry Specification has them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from xdg.DesktopEntry import DesktopEntry
from xdg.Exceptions import Error as XdgError

DATA_FOLDERS: Final = "/usr/local/share:/usr/share"
MOST: Final = 2000
_ESCAPES: Final = {"s": " ", "n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
_LISTS: Final = "fFuU"


@dataclass(slots=True, frozen=True)
class Entry:
    """One installed application.

    Attributes:
        id: Name of its file below `applications`, without the suffix.
        name: What people call it.
        path: Of the file.
        words: Its command line, with field codes.
        wm_class: Class of its windows, if the file says it.
        mime: Kinds of files and addresses it opens.
        terminal: It needs a terminal.
        shown: It is meant for menus.
        folder: Working directory; empty for any.
    """

    id: str
    name: str
    path: str
    words: tuple[str, ...]
    wm_class: str = ""
    mime: frozenset[str] = frozenset()
    terminal: bool = False
    shown: bool = True
    folder: str = ""

    @property
    def program(self) -> str:
        """Name of the program it starts."""
        return Path(self.words[0]).name if self.words else ""

    def command(self, uris: Sequence[str] = (), arguments: Sequence[str] = ()) -> list[str]:
        """The command line for some addresses, with more arguments at its end.

        Args:
            uris: Addresses to open. What takes one only is given the first.
            arguments: Further arguments, as they are.
        """
        out: list[str] = []
        given = not uris
        for word in self.words:
            if len(word) == 2 and word[0] == "%" and word[1] in _LISTS:
                out += uris if word[1].isupper() else uris[:1]
                given = True
            elif word == "%i":
                continue
            else:
                out.append(_filled(word, self))
        return [*out, *(() if given else uris), *arguments]


def _filled(word: str, entry: Entry) -> str:
    out, at = "", 0
    while at < len(word):
        if word[at] == "%" and at + 1 < len(word):
            out += {"%": "%", "c": entry.name, "k": entry.path}.get(word[at + 1], "")
            at += 2
        else:
            out += word[at]
            at += 1
    return out


class Entries:
    """The applications installed for one desktop. A file is read again only when it changed."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """`env`: environment of programs on the desktop."""
        home = env.get("XDG_DATA_HOME") or f"{env.get('HOME', '')}/.local/share"
        self._folders = [Path(home), *map(Path, (env.get("XDG_DATA_DIRS") or DATA_FOLDERS).split(":"))]
        config = env.get("XDG_CONFIG_HOME") or f"{env.get('HOME', '')}/.config"
        self._defaults = [Path(config) / "mimeapps.list"]
        self._defaults += [folder / "applications" / "mimeapps.list" for folder in self._folders]
        self._known: dict[Path, tuple[float, Entry | None]] = {}

    def read(self) -> dict[str, Entry]:
        """Every application by its id; the user's own before the system's. Blocks for some milliseconds."""
        found: dict[str, Entry | None] = {}
        for folder in self._folders:
            top = folder / "applications"
            for path in sorted(top.rglob("*.desktop"))[:MOST] if top.is_dir() else ():
                id = str(path.relative_to(top).with_suffix("")).replace("/", "-")
                if id not in found:
                    found[id] = self._entry(id, path)
        return {id: entry for id, entry in found.items() if entry is not None}

    def handler(self, scheme: str, entries: Mapping[str, Entry]) -> Entry | None:
        """The application that opens addresses of a scheme: the one a person chose, else any. Blocks."""
        kind = f"x-scheme-handler/{scheme.lower()}"
        for path in self._defaults:
            for id in _chosen(path, kind):
                if id in entries:
                    return entries[id]
        able = [entry for entry in entries.values() if kind in entry.mime]
        return min(able, key=lambda entry: (not entry.shown, entry.id), default=None)

    def _entry(self, id: str, path: Path) -> Entry | None:
        try:
            changed = path.stat().st_mtime
        except OSError:
            return None
        known = self._known.get(path)
        if known is None or known[0] != changed:
            known = self._known[path] = (changed, parse(id, path))
        return known[1]


def parse(id: str, path: Path) -> Entry | None:
    """Reads one file; None for what is no application that can be started here. Blocks for a moment."""
    try:
        file = DesktopEntry(str(path))
        if file.getType() != "Application" or file.getHidden():
            return None
        words = tuple(split(file.getExec()))
        tried = file.getTryExec()
        if not words or (tried and shutil.which(tried) is None):
            return None
        return Entry(
            id=id,
            name=str(file.getName()) or id,
            path=str(path),
            words=words,
            wm_class=str(file.getStartupWMClass()),
            mime=frozenset(map(str, file.getMimeTypes())),
            terminal=bool(file.getTerminal()),
            shown=not file.getNoDisplay(),
            folder=str(file.getPath()),
        )
    except (XdgError, OSError, ValueError, UnicodeError):
        return None  # a file somebody else wrote badly is no reason to fail


def split(line: str) -> list[str]:
    """The words of an Exec line.

    Raises:
        ValueError: A quote is not closed.
    """
    text, at = "", 0
    while at < len(line):  # escapes of a string, beneath those of quoting
        if line[at] == "\\" and at + 1 < len(line):
            text += _ESCAPES.get(line[at + 1], line[at : at + 2])
            at += 2
        else:
            text += line[at]
            at += 1
    words: list[str] = []
    word: str | None = None
    quoted = False
    at = 0
    while at < len(text):
        character = text[at]
        if quoted and character == "\\" and at + 1 < len(text):
            at += 1
            word = (word or "") + text[at]
        elif character == '"':
            quoted = not quoted
            word = word or ""
        elif character in " \t\n" and not quoted:
            if word is not None:
                words.append(word)
            word = None
        else:
            word = (word or "") + character
        at += 1
    if quoted:
        raise ValueError("a quote is not closed")
    return words if word is None else [*words, word]


def _chosen(path: Path, kind: str) -> Iterable[str]:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    section = ""
    for line in lines:
        if line.startswith("["):
            section = line.strip()
        elif section == "[Default Applications]" and line.partition("=")[0].strip() == kind:
            return [id.strip().removesuffix(".desktop") for id in line.partition("=")[2].split(";") if id.strip()]
    return []
