"""Applications of a desktop: installed and running, opened, closed, told."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import anyio
import anyio.to_thread

from anydevice.driver import Acted, App, Apps, OpenRequest
from anydevice.kit import pids
from anydevice_schemas.errors import (
    ActionUnverified,
    AppNotFound,
    AppNotRunning,
    CallTimeout,
    DialogOpen,
)

from . import watching
from .entries import Entries, Entry
from .live import Live, Lives
from .naming import told_id
from .opening import Launch, Opening, find, near
from .questions import question
from .running import Running, shows
from .x11 import Window

GONE: Final = 3.0
"""Seconds a program may take to end once its last window is closed, or once it was told to."""
STEP: Final = 0.02


class LinuxApps(Apps):
    """Applications by the names of their `.desktop` files; what has none, by the class of its windows."""

    def __init__(self, lives: Lives, running: Running, launch: Launch) -> None:
        self._lives, self._running, self._launch = lives, running, launch
        self._entries: tuple[str, Entries] | None = None

    async def entries(self) -> dict[str, Entry]:
        """Installed applications by id."""
        return await anyio.to_thread.run_sync(self._reader(await self._lives.get()).read)

    async def list(self) -> Sequence[App]:
        """See `Apps.list`."""
        live = await self._lives.get()
        entries = await self.entries()
        windows = await live.windows.list()
        front = await live.windows.active()
        running: dict[str, list[Window]] = {}
        for window in windows:
            if shows(window):
                running.setdefault(self._running.app_of(window, entries), []).append(window)
        foremost = self._running.app_of(front, entries) if front is not None else None
        rows = []
        installed = [id for id, entry in entries.items() if entry.shown and not entry.terminal and id not in running]
        for id in [*running, *installed]:
            entry, own = entries.get(id), running.get(id, [])
            name = entry.name if entry is not None else id
            data: dict[str, Any] = {"windows": [told_id(window) for window in own], "titles": [w.title for w in own]}
            pid = next((window.pid for window in own if window.pid is not None), None)
            if pid is not None:
                data["pid"] = pid
            rows.append(App(id, name, bool(own), id == foremost, data if own else {}))
        return rows

    async def open(self, request: OpenRequest) -> Acted:
        """See `Apps.open`. An app that runs already decides itself whether it opens another window.

        Raises:
            AppNotFound: No such app is installed, or none opens addresses of this kind.
            AnydeviceError: As `Opening.go`.
        """
        live = await self._lives.get()
        entries = await self.entries()
        if request.app is not None:
            entry = await anyio.to_thread.run_sync(find, request.app, entries)
        else:
            assert request.url is not None
            entry = await self.handler(request.url)
        uris = [request.url] if request.url is not None else []
        opening = Opening(live, self._running, {**entries, entry.id: entry}, entry, self._launch)
        return await opening.go(uris, request.arguments, request.deadline)

    async def handler(self, url: str) -> Entry:
        """The application that opens an address.

        Raises:
            AppNotFound: None is installed that does.
        """
        live = await self._lives.get()
        entries = await self.entries()
        scheme = url.partition(":")[0]
        entry = await anyio.to_thread.run_sync(self._reader(live).handler, scheme, entries)
        if entry is None:
            raise AppNotFound(
                "No installed app opens addresses of this kind.",
                hint="Name an app along with the url, or install one (apps lists what there is).",
                nearest_matches=near(scheme, entries),
                looked_for=scheme[:64],
            )
        return entry

    async def close(self, app: str | None, *, force: bool = False) -> Acted:
        """See `Apps.close`. Without `force` an app may ask whether to save: that is told and nothing is ended.

        Raises:
            AppNotFound: No such app is known.
            DialogOpen: It asks something before it closes.
            ActionUnverified: It does not close.
        """
        live = await self._lives.get()
        entries = await self.entries()
        id = await self._meant(live, entries, app)
        own = [w for w in await live.windows.list() if id is not None and self._running.app_of(w, entries) == id]
        if id is None or not own:
            if id is not None:
                self._running.closed(id)
            return Acted("close", (), True, {"already_closed": True})
        processes = {window.pid: pids.started(window.pid) for window in own if window.pid is not None}
        if force:
            await self._kill(processes)
        else:
            await self._ask(live, own)
        left = await self._gone(live, {window.id for window in own}, entries, id, processes)
        if left:
            raise ActionUnverified(
                "The app did not close.",
                hint="Call close with force to end it; unsaved work is lost then.",
                expected="no window of the app",
                actual=f"{left} left",
            )
        self._running.closed(id)
        return Acted("kill" if force else "close", (), True, {"app": id})

    async def meant(self, app: str | None) -> str | None:
        """Id of an app by id or name; of None, the one opened last or in front. None where nothing is open.

        Raises:
            AppNotFound: No such app is known.
        """
        return await self._meant(await self._lives.get(), await self.entries(), app)

    async def pids(self, app: str | None) -> set[int]:
        """Processes of an app (by its id; None = of all) that own windows or were started here; not their children."""
        live = await self._lives.get()
        entries = await self.entries()
        windows = [window for window in await live.windows.list() if window.pid is not None]
        found = {w.pid for w in windows if w.pid is not None and app in (None, self._running.app_of(w, entries))}
        started = {one.child.pid for one in self._running.started if one.child.code is None and app in (None, one.app)}
        return {*started, *found}

    async def state(self) -> Mapping[str, Any]:
        """See `Apps.state`.

        Raises:
            AppNotRunning: No window is open on the desktop.
            AppCrashed: The app that was opened last has crashed.
        """
        live = await self._lives.get()
        entries = await self.entries()
        windows = [window for window in await live.windows.list() if shows(window)]
        trouble = self._running.trouble(windows, entries)
        if trouble is not None:
            raise trouble
        front = await live.windows.active() or next((w for w in windows if "minimized" not in w.state), None)
        if front is None:
            raise AppNotRunning("No app is open on this desktop.", hint="Call open with an app.", app=None)
        id = self._running.app_of(front, entries)
        state: dict[str, Any] = {"app": id, "title": front.title, "location": id, "window": told_id(front)}
        if front.pid is not None:
            state["pid"] = front.pid
        try:
            dialog = await watching.asked(live, windows)
        except CallTimeout:
            state["answering"] = False
            return state
        if dialog is not None:
            state["dialog"] = {"kind": dialog.kind, "text": dialog.text, "buttons": list(dialog.buttons)}
        return state

    async def troubled(self, live: Live) -> None:
        """Says so when the app that was opened last has gone by itself. Costs nothing while it lives.

        Raises:
            AppCrashed, AppNotRunning: It has.
        """
        opened = self._running.opened
        if opened is None or opened.pid is None or pids.started(opened.pid) == opened.at:
            return
        trouble = self._running.trouble(await live.windows.list(), await self.entries())
        if trouble is not None:
            raise trouble

    # --- inside ------------------------------------------------------------------------------------------

    def _reader(self, live: Live) -> Entries:
        if self._entries is None or self._entries[0] != live.seat.mark:
            self._entries = (live.seat.mark, Entries(live.seat.env))
        return self._entries[1]

    async def _meant(self, live: Live, entries: Mapping[str, Entry], app: str | None) -> str | None:
        """Id of the app that is to be closed: the named one, the one opened last, the one in front."""
        if app is not None:
            for window in await live.windows.list():
                if self._running.app_of(window, entries).casefold() == app.casefold():
                    return self._running.app_of(window, entries)
            return find(app, entries).id
        if self._running.opened is not None:
            return self._running.opened.app
        front = await live.windows.active()
        return self._running.app_of(front, entries) if front is not None else None

    async def _ask(self, live: Live, own: Sequence[Window]) -> None:
        if live.access is not None and any(watching.is_dialog(window) and "modal" in window.state for window in own):
            dialog = await live.access.alerts.get()
            if dialog is not None:  # it keeps its window from being closed
                raise _asks(dialog.kind, dialog.text, dialog.buttons)
        for window in own:
            if window.leader is not None:
                continue  # it goes with the one it belongs to
            try:
                closing = await live.arranging.close(window.id)
            except AppNotFound:
                continue  # it went with another one
            if closing.asks is not None:
                asked = await question(live, closing.asks)
                raise _asks(asked["dialog"], asked["text"], asked["buttons"])

    async def _kill(self, processes: Mapping[int, str | None]) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid, at in processes.items():
                if at is not None and pids.started(pid) == at:
                    _signal(pid, signal.SIGCONT)
                    _signal(pid, number)
            with anyio.move_on_after(GONE):
                while any(at is not None and pids.started(pid) == at for pid, at in processes.items()):  # noqa: ASYNC110
                    await anyio.sleep(STEP)
                return

    async def _gone(
        self,
        live: Live,
        own: set[int],
        entries: Mapping[str, Entry],
        id: str,
        processes: Mapping[int, str | None],
    ) -> int:
        """How many windows of an app are left after its processes were given time to end."""
        left = 0
        with anyio.move_on_after(GONE):
            while True:
                windows = await live.windows.list()
                left = sum(window.id in own or self._running.app_of(window, entries) == id for window in windows)
                if not left and all(pids.started(pid) != at for pid, at in processes.items()):
                    return 0
                await anyio.sleep(STEP)
        return left


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it ended just now
        os.kill(pid, number)


def _asks(kind: str, text: str, buttons: Sequence[str]) -> DialogOpen:
    return DialogOpen(
        "The app asks something before it closes.",
        hint="Answer it with alert (accept or dismiss), after window with action raise where another app is in front; "
        "or call close with force: unsaved work is lost then.",
        kind=kind,
        text=text,
        buttons=list(buttons),
    )
