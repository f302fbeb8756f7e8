"""Opening applications: which one is meant, starting it, and waiting until it is really up."""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from anydevice.driver import Acted
from anydevice.kit import processes
from anydevice_schemas.errors import (
    AmbiguousElement,
    AnydeviceError,
    AppCrashed,
    AppNotFound,
    CallTimeout,
    Refused,
    Unsupported,
)

from .entries import Entry
from .live import Live
from .naming import told_id
from .running import Running, group_of, shows
from .x11 import Window

STEP: Final = 0.03
REST: Final = 0.06
"""Seconds an application's windows must stay the same to be up."""
REGISTERED: Final = 3.0
"""Seconds a window may be there before the application has told accessibility of itself; some never do."""
HANDED: Final = 5.0
"""Seconds a second start may take to bring up a window of the instance it handed over to."""
CANDIDATES: Final = 20
"""Apps of one name that an error lists."""

Launch = Callable[[Sequence[str], str | None], Awaitable[processes.Child]]
"""Starts a program on the desktop: command line and working directory."""


def find(word: str, entries: Mapping[str, Entry]) -> Entry:
    """The application somebody means: by id, by path, or by its name.

    Raises:
        AppNotFound: There is none.
        AmbiguousElement: Several have this name.
        Refused: It is a program that nobody installed as an app.
    """
    if word.startswith("/"):
        path = Path(word)
        known = next((entry for entry in entries.values() if entry.path == word), None)
        if known is not None:
            return known
        found = [entry for entry in entries.values() if entry.program and word == shutil.which(entry.program)]
        # Of several with one program, the one that adds no words of its own (such as --preferences) is the program.
        plainly = [entry for entry in found if all(part.startswith("%") for part in entry.words[1:])]
        if found:
            return _only(plainly if len(plainly) == 1 else found)
        if path.is_file() and os.access(path, os.X_OK):
            raise Refused(
                "This program is not an installed app.",
                reason="starting any program at all is as good as a shell",
                alternative="Install a .desktop file for it, or open one that apps lists.",
            )
        raise AppNotFound(
            "There is no program at this path.", hint="Call apps for what is installed.", nearest_matches=[]
        )
    plain = word.removesuffix(".desktop")
    if plain in entries:
        return entries[plain]
    folded = plain.casefold().strip()
    ways: tuple[Callable[[Entry], bool], ...] = (
        lambda entry: entry.id.casefold() == folded,
        lambda entry: entry.name.casefold() == folded and entry.shown,
        lambda entry: entry.name.casefold() == folded,
        lambda entry: entry.id.casefold().rpartition(".")[2] == folded,
        lambda entry: entry.program.casefold() == folded and entry.shown,
    )
    several: list[Entry] = []
    for way in ways:
        found = [entry for entry in entries.values() if way(entry)]
        if len(found) == 1:
            return found[0]
        several = several or found
    if several:
        return _only(several)
    raise AppNotFound(
        "No installed app has this name.",
        hint="Call apps for what is installed.",
        nearest_matches=near(plain, entries),
        looked_for=word[:256],
    )


def _only(found: Sequence[Entry]) -> Entry:
    """The one application that was found, at least one."""
    if len(found) > 1:
        raise AmbiguousElement(
            "Several apps have this name.",
            hint="Repeat the call with the id of one of details.candidates as app.",
            candidates=[{"app": entry.id, "name": entry.name} for entry in found[:CANDIDATES]],
            matches=len(found),
        )
    return found[0]


def near(word: str, entries: Mapping[str, Entry], most: int = 5) -> list[dict[str, str]]:
    """Installed applications whose name or id is like a word."""
    shown = [entry for entry in entries.values() if entry.shown]

    def likeness(entry: Entry) -> float:
        return max(
            difflib.SequenceMatcher(None, word.casefold(), text.casefold()).ratio() for text in (entry.name, entry.id)
        )

    best = sorted(shown, key=likeness, reverse=True)[:most]
    return [{"app": entry.id, "name": entry.name} for entry in best if likeness(entry) > 0.4]


@dataclass(slots=True)
class Opening:
    """One application on its way up."""

    live: Live
    running: Running
    entries: Mapping[str, Entry]
    entry: Entry
    launch: Launch

    async def go(self, uris: Sequence[str], arguments: Sequence[str], deadline: float) -> Acted:
        """Starts it and returns once a window of it shows and accessibility knows it.

        Raises:
            Unsupported: It runs in a terminal.
            AppCrashed: It ended while starting.
            CallTimeout: It showed no window in time.
            ToolMissing: Its program is not there.
        """
        entry = self.entry
        if entry.terminal:
            raise Unsupported(
                "This app runs in a terminal.",
                hint="Open a terminal app, then type its name.",
                operation="apps.open",
                alternatives=["keys.type_text"],
            )
        end = anyio.current_time() + deadline
        before = {(window.id, window.pid) for window in await self.live.windows.list()}
        child = await self.launch(entry.command(uris, arguments), entry.folder or None)
        self.running.note(entry.id, child)
        window, handed = await self._up(child, before, end)
        known = await self._registered(window, min(end, anyio.current_time() + REGISTERED))
        self.running.open(entry.id, window.pid)
        data = {
            "app": entry.id,
            "location": entry.id,
            "title": window.title,
            "pid": window.pid,
            "window": told_id(window),
            "accessible": known,
        }
        if handed:
            data["already_running"] = True
        return Acted("launch", (), True, data)

    async def _up(self, child: processes.Child, before: set[tuple[int, int | None]], end: float) -> tuple[Window, bool]:
        """The window that came up for it, and whether a running instance was handed the start."""
        handed_at: float | None = None
        last: tuple[int, ...] = ()
        same_since = anyio.current_time()
        while True:
            now = anyio.current_time()
            windows = await self.live.windows.list()
            own = [w for w in windows if shows(w) and self.running.app_of(w, self.entries) == self.entry.id]
            if child.code is not None and handed_at is None:
                if child.code != 0:
                    raise self._ended(child)
                handed_at = now
            ids = tuple(window.id for window in own)
            if ids != last:
                last, same_since = ids, now
            new = [window for window in own if (window.id, window.pid) not in before]
            rested = now - same_since >= REST
            if new and rested:
                shown = await self._in_front(_main(new))
                return shown, group_of(shown.pid) != child.pid
            if handed_at is not None and rested and own and now - handed_at >= REST:
                return await self._in_front(_main(own)), True
            if handed_at is not None and now - handed_at > HANDED and not own:
                raise AppCrashed(
                    "The app ended without showing a window.",
                    hint="Start it by hand once to see what is wrong.",
                    app=self.entry.id,
                    reason="ended with status 0",
                )
            if now > end:
                raise CallTimeout(
                    "The app showed no window in time.",
                    hint="Call appstate to see what is in front, or repeat with a longer timeoutMs.",
                    after=round(end - now, 1),
                    waiting_for="window",
                )
            await anyio.sleep(STEP)

    def _ended(self, child: processes.Child) -> AppCrashed:
        code = child.code or 0
        return AppCrashed(
            "The app ended while starting.",
            hint="See stderr in details; start it by hand once to see what is wrong.",
            app=self.entry.id,
            reason=f"ended by signal {-code}" if code < 0 else f"ended with status {code}",
            stderr=child.tail[-2000:],
        )

    async def _in_front(self, window: Window) -> Window:
        active = await self.live.windows.active()
        if active is None or active.id != window.id:
            try:
                return await self.live.arranging.bring_up(window.id)
            except AnydeviceError:
                pass  # a dialog of its own may lie over it; what it is, the caller sees
        return window

    async def _registered(self, window: Window, end: float) -> bool:
        if window.pid is None or self.live.access is None:
            return False
        while await self.live.access.app_of(window.pid) is None:
            if anyio.current_time() > end:
                return False
            await anyio.sleep(STEP)
        return True


def _main(windows: Sequence[Window]) -> Window:
    """The one of several windows that is no dialog of another."""
    return next((window for window in windows if window.leader is None), windows[0])
