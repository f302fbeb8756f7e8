"""Running applications: whose window is whose, which app was opened last, and whether it still lives."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anydevice.kit import pids, processes
from anydevice_schemas.errors import AnydeviceError, AppCrashed, AppNotRunning

from .entries import Entry
from .output import Output
from .x11 import Window

INTERPRETERS = ("python", "perl", "ruby", "node", "bash", "sh", "gjs", "java")
"""Programs whose first argument says what really runs."""
NO_APPS = frozenset({"desktop", "dock", "tooltip", "notification", "popup_menu", "dropdown_menu", "combo", "dnd"})
"""Kinds of windows that are no application's own."""


@dataclass(slots=True)
class Started:
    """A program that was started here.

    Attributes:
        app: Id of its application.
        child: The process.
    """

    app: str
    child: processes.Child


@dataclass(slots=True)
class Opened:
    """The application that was opened last: its id, and the process that shows its window."""

    app: str
    pid: int | None = None
    at: str | None = None


class Running:
    """What runs on one desktop. Outlives connections, ends with the desktop."""

    def __init__(self) -> None:
        self.started: list[Started] = []
        self.opened: Opened | None = None
        self.output = Output()

    def ended(self) -> None:
        """The desktop ended, and everything on it."""
        self.opened = None
        self.started.clear()
        self.output.clear()

    def note(self, app: str, child: processes.Child) -> None:
        """A program was started."""
        ended = [one for one in self.started if one.child.code is not None and not pids.group_alive(one.child.pid)]
        keep = self.opened.pid if self.opened is not None else None
        self.started = [one for one in self.started if one not in ended or one.child.pid == keep]
        self.started.append(Started(app, child))
        ring = self.output.of(child.pid)
        if ring is not None:
            ring.app = app

    def open(self, app: str, pid: int | None) -> None:
        """An application is up, and the one that is meant from now on."""
        self.opened = Opened(app, pid, pids.started(pid) if pid is not None else None)

    def closed(self, app: str) -> None:
        """An application was closed on purpose."""
        if self.opened is not None and self.opened.app == app:
            self.opened = None

    def trouble(self, windows: Sequence[Window], entries: Mapping[str, Entry]) -> AnydeviceError | None:
        """What is wrong with the application that was opened last: it ended, and no window of it is left."""
        opened = self.opened
        if opened is None or opened.pid is None or pids.started(opened.pid) == opened.at:
            return None
        if any(self.app_of(window, entries) == opened.app for window in windows):
            return None
        code = next((one.child.code for one in self.started if one.child.pid == opened.pid), None)
        if code:
            reason = f"ended by signal {-code}" if code < 0 else f"ended with status {code}"
            return AppCrashed(
                "The app has crashed.", hint="Call open to start it again.", app=opened.app, reason=reason
            )
        return AppNotRunning("The app has ended.", hint="Call open to start it again.", app=opened.app)

    def app_of(self, window: Window, entries: Mapping[str, Entry]) -> str:
        """Id of the application a window belongs to: of the installed one, else the name of its class or program."""
        if window.pid is not None:
            group = group_of(window.pid)
            for one in reversed(self.started):
                if one.child.pid == group and pids.started(window.pid) is not None:
                    return one.app
        known = by_class(window.app, entries.values())
        if known is None and window.pid is not None:
            known = by_program(program_of(window.pid), entries.values())
        if known is not None:
            return known.id
        return window.app or (program_of(window.pid) if window.pid is not None else "") or f"window-{window.id}"


def by_class(word: str, entries: Iterable[Entry]) -> Entry | None:
    """The application whose windows have a class."""
    if not word:
        return None
    wanted = word.casefold()
    found: Entry | None = None
    for entry in entries:
        own = {entry.wm_class.casefold(), entry.id.casefold()}
        if wanted in own or wanted == entry.id.rpartition(".")[2].casefold():
            if entry.shown:
                return entry
            found = found or entry
    return found


def by_program(program: str, entries: Iterable[Entry]) -> Entry | None:
    """The application that starts a program, where it is plain which."""
    found = [entry for entry in entries if program and _runs(entry) == program]
    shown = [entry for entry in found if entry.shown]
    return shown[0] if shown else found[0] if found else None


def program_of(pid: int) -> str:
    """Name of what runs in a process; of an interpreter, the name of the script."""
    try:
        words = [word.decode("utf-8", "replace") for word in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]
    except OSError:
        return ""
    return _named(words)


def shows(window: Window) -> bool:
    """Whether a window is an application's own."""
    return window.kind not in NO_APPS


def _runs(entry: Entry) -> str:
    return _named(entry.words)


def _named(words: Sequence[str]) -> str:
    first = Path(words[0]).name if words else ""
    if first.rstrip("0123456789.") in INTERPRETERS:
        script = next((word for word in words[1:] if word and not word.startswith(("-", "%"))), "")
        return Path(script).name or first
    return first


def group_of(pid: int | None) -> int:
    """Group of a process; -1 where there is none."""
    if pid is None:
        return -1
    try:
        return os.getpgid(pid)
    except (ProcessLookupError, PermissionError):
        return -1
