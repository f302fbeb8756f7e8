"""Apps: listing, opening, closing, which one is in front; installing is in `packages.py`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio

from anydevice.driver import Acted, App, Apps, OpenRequest
from anydevice.kit import written
from anydevice_schemas.errors import (
    ActionUnverified,
    AppCrashed,
    AppNotFound,
    CallTimeout,
    DeviceNotReady,
    InvalidArgument,
    UpstreamUnavailable,
)

from .choosers import Choosers
from .guarding import Guard
from .hdc import line
from .packages import Packages
from .reach import MISSIONS, SCREEN, WINDOWS, Reach
from .reading import display, missions, windows
from .reading.bundles import Bundle
from .reading.layout import LAUNCHER

VIEW: Final = ("-A", "ohos.want.action.viewData", "-e", "entity.system.browsable")
"""What a browser listens to."""
CLOSING: Final = 5.0
"""Seconds an app may take to be gone once it was stopped."""
SAME: Final = 1.5
"""Seconds after which an app that was in front before counts as the one that took a link."""
STEP: Final = 0.1
FAULTS: Final = "/data/log/faultlog/faultlogger"
"""Folder in which the device keeps a file of each crash."""
_ABILITY = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)


class HarmonyosApps(Apps):
    """See `Apps`. An app is named by its bundle, or by its bundle and ability (`bundle/Ability`)."""

    def __init__(self, reach: Reach, packages: Packages, guard: Guard, choosers: Choosers) -> None:
        self._reach, self._packages, self._guard, self._choosers = reach, packages, guard, choosers
        self._opened: str | None = None
        self._pids: list[int] = []
        self._crashes = 0

    async def list(self) -> Sequence[App]:
        """See `Apps.list`."""
        names = await self._packages.names()
        system = await self._packages.systems(names)
        running, told = await self._reach.several("ps -ef", MISSIONS)
        alive = {row.split()[-1].partition(":")[0] for row in running.splitlines() if row.split()}
        front = missions.front(told)
        return [
            App(
                id=name,
                running=name in alive,
                foreground=front is not None and front.app == name,
                data={"system": system[name]},
            )
            for name in names
        ]

    async def open(self, request: OpenRequest) -> Acted:
        """See `Apps.open`. Launch arguments are parameters: `--KEY VALUE` a text, `--KEY` alone true.

        Raises:
            AppNotFound: No such app or ability, or none takes the URL.
            AppCrashed: It ended while it started.
            ActionUnverified: Something else is in front, or several apps would take the URL.
            CallTimeout: It did not come up in time.
            OutcomeUnknown: The device did not say whether it started it.
            DeviceNotReady: The device is locked, or its screen is off.
        """
        app, ability, module = await self._meant(request.app)
        before, was = None, False
        if app:
            was = bool(await self._reach.pids(app))
            if request.new and was:
                await self._reach.run("aa", "force-stop", app)
        else:
            before = await self._reach.front()
        words = ["aa", "start"]
        if app:
            words += ["-W", "-a", ability, "-b", app, *(["-m", module] if module else [])]
        elif request.url is not None and request.url.partition(":")[0].lower() in ("http", "https"):
            words += VIEW
        if request.url is not None:
            words += ["-U", request.url]
        words += _parameters(request.arguments)
        end = anyio.current_time() + request.deadline
        done = await self._reach.hdc.act(line(*words), deadline=request.deadline)
        verdict = missions.started(done.text)
        if not verdict.ok:
            raise await self._refused(verdict, request)
        self._crashes = await self._faults(app) if app else 0
        mission = await self._in_front(app, before, end)
        await self._shown(mission.app)
        self._opened, self._pids = mission.app, await self._reach.pids(mission.app)
        self._crashes = await self._faults(mission.app)
        return Acted(
            "ability-manager",
            verified=True if app or mission != before else None,
            data={
                "app": mission.app,
                "ability": mission.ability,
                "location": location(mission),
                "pid": self._pids[0] if self._pids else None,
                "alreadyRunning": was and not request.new,
                **({"launchMs": verdict.ms} if verdict.ms is not None else {}),
            },
        )

    async def close(self, app: str | None, *, force: bool = False) -> Acted:
        """See `Apps.close`: HarmonyOS stops an app at once, and asks nothing.

        Raises:
            InvalidArgument: No app is named.
            AppNotFound: It is not installed.
            ActionUnverified: It is still there.
        """
        app = app or self._opened
        if app is None:
            raise InvalidArgument(
                "No app is named, and none was opened.", param="app", expected="a bundle such as com.example.app"
            )
        app = app.partition("/")[0]
        if await self._packages.bundle(app) is None:
            raise await self._unknown(app)
        was = bool(await self._reach.pids(app))
        verdict = missions.stopped((await self._reach.hdc.act(line("aa", "force-stop", app))).text)
        if not verdict.ok and verdict.code == missions.NO_PACKAGE:
            raise await self._unknown(app)
        with anyio.move_on_after(CLOSING):
            while True:
                front = await self._reach.front()
                if not await self._reach.pids(app) and (front is None or front.app != app):
                    if app == self._opened:
                        self._pids = []  # what is stopped on purpose has not crashed
                    return Acted("force-stop", verified=True, data={"wasRunning": was})
                await anyio.sleep(STEP)
        raise ActionUnverified("The app is still there.", expected="gone", actual="running", app=app)

    async def troubled(self, front: str) -> None:
        """Refuses while the app that was opened last is gone by itself; asked when another app is in front.

        Raises:
            AppCrashed: It is gone, and the device has a new file of a crash of it.
        """
        app = self._opened
        if app is None or not self._pids or front == app:
            return
        if set(self._pids) & set(await self._reach.pids(app)):
            return
        if await self._faults(app) <= self._crashes:
            return
        raise AppCrashed(
            "The app has crashed.", app=app, reason="the device kept a report of it", hint=f"Call open app={app} again."
        )

    async def state(self) -> Mapping[str, Any]:
        """See `Apps.state`."""
        told, table = await self._reach.several(MISSIONS, WINDOWS)
        front, rows = missions.front(told), windows.parse_windows(table)
        found: dict[str, Any] = {"locked": rows.shows(windows.LOCK) is not None}
        if front is None:
            found |= {"app": LAUNCHER, "title": "", "location": LAUNCHER}
        else:
            title = front.ability.rpartition(".")[2]  # tools are told the ability's name, not what its page is headed
            found |= {"app": front.app, "ability": front.ability, "title": title, "location": location(front)}
        dialog = await self._guard.told()
        if dialog is not None:
            found["dialog"] = {"kind": dialog.kind, "text": dialog.text, "buttons": list(dialog.buttons)}
        return found

    async def install(self, path: str, *, deadline: float) -> Acted:
        """See `Apps.install`; see `Packages.install`."""
        return await self._packages.install(path, deadline=deadline)

    async def uninstall(self, app: str) -> Acted:
        """See `Apps.uninstall`; see `Packages.uninstall`.

        Raises:
            AppNotFound: It is not installed.
        """
        if await self._packages.bundle(app) is None:
            raise await self._unknown(app)
        return await self._packages.uninstall(app)

    # --- inside ---

    async def _meant(self, named: str | None) -> tuple[str, str, str]:
        """App, ability and module to start; empty where only a URL is given.

        Raises:
            AppNotFound: There is no such app, or it has nothing to start.
        """
        if named is None:
            return "", "", ""
        app, _, ability = named.partition("/")
        bundle: Bundle | None = await self._packages.bundle(app)
        if bundle is None:
            raise await self._unknown(app)
        if ability:
            if not _ABILITY.fullmatch(ability):
                raise AppNotFound("The app has no such ability.", nearest_matches=[], app=app)
            return app, ability.lstrip("."), bundle.module
        if not bundle.ability:
            # Started without one, the system would ask the person at the device which app is meant.
            raise AppNotFound(
                "The app has no ability that can be started.",
                hint=f"Name the ability: app={app}/EntryAbility, or whatever the app's is called.",
                nearest_matches=[],
                app=app,
            )
        return app, bundle.ability, bundle.module

    async def _unknown(self, app: str) -> AppNotFound:
        names = await self._packages.names()
        return AppNotFound(
            "No such app is installed.",
            hint="Call apps to see what is installed.",
            nearest_matches=difflib.get_close_matches(app, names, n=3, cutoff=0.5),
            app=app[:200],
        )

    async def _refused(self, verdict: missions.Started, request: OpenRequest) -> Exception:
        if verdict.code in (missions.NO_MATCH, missions.NO_ABILITY):
            await self._choosers.away()
            return AppNotFound(
                "The app has no such ability." if request.app else "Nothing on the device opens this.",
                hint="Call apps to see what is installed.",
                nearest_matches=[],
                said=verdict.said,
            )
        if verdict.code == missions.NO_PACKAGE:
            return await self._unknown(request.app or "")
        if verdict.code == missions.LOCKED:
            return locked(request.app or "")
        return UpstreamUnavailable(
            "HarmonyOS could not start it.", upstream="aa start", enable_hint="See details.", said=verdict.said
        )

    async def _shown(self, app: str) -> None:
        """Refuses an app that nobody can see though it is the one in front.

        Raises:
            DeviceNotReady: The device is locked, or its screen is off.
        """
        screen, table = await self._reach.several(SCREEN, WINDOWS)
        panel = display.panel(screen)
        if panel is not None and not panel.on:
            raise DeviceNotReady(
                "The app was started, and the screen is off.",
                hint="Call key chord=wakeup, then open again.",
                state="asleep",
                fix="Turn the screen on.",
                app=app,
            )
        if windows.parse_windows(table).shows(windows.LOCK) is not None:
            raise locked(app)

    async def _in_front(self, app: str, before: missions.Mission | None, end: float) -> missions.Mission:
        """Waits until an app is in front; where none is named, until another one is, or the same goes on being it.

        Raises:
            AppCrashed, ActionUnverified, CallTimeout: As `open`.
        """
        gone, began = 0, anyio.current_time()
        while True:
            front = await self._reach.front()
            waited = anyio.current_time() - began
            if front is not None and (front.app == app or (not app and (front != before or waited >= SAME))):
                return front
            if not app and waited >= SAME and await self._choosers.away():
                raise ActionUnverified(
                    "Several apps would open this, and the device asked which; the question was taken away.",
                    hint="Repeat the call with app.",
                    expected="an app",
                    actual="a question",
                    chooser=True,
                )
            if app:
                gone = 0 if await self._reach.pids(app) else gone + 1
                if gone > 2:
                    raise AppCrashed("The app ended while it started.", app=app, reason="its process is gone")
            if anyio.current_time() >= end:
                if not app:
                    raise CallTimeout("No app came up in time.", after=waited, waiting_for="app")
                raise ActionUnverified(
                    "The app was started and is not in front.", expected=app, actual=front.app if front else "nothing"
                )
            await anyio.sleep(STEP)

    async def _faults(self, app: str) -> int:
        """How many reports of crashes of an app the device keeps; 0 where it does not let one see them."""
        done = await self._reach.hdc.shell(f"ls {FAULTS}")
        return sum(f"-{app}-" in name for name in done.text.split()) if done.status == 0 else 0


def location(mission: missions.Mission) -> str:
    """Where one is: `bundle/Ability`."""
    return f"{mission.app}/{mission.ability}"


def locked(app: str) -> DeviceNotReady:
    """The error of what cannot be seen behind the lock screen."""
    return DeviceNotReady(
        "The device is locked.",
        hint="Unlock the device, then call open again.",
        state="locked",
        fix="Unlock the device.",
        app=app,
    )


def _parameters(arguments: Sequence[str]) -> list[str]:
    """Launch arguments as parameters of a want.

    Raises:
        InvalidArgument: One is neither `--KEY` nor the value of one.
    """
    found: list[str] = []
    for name, value in written.named(arguments, "HarmonyOS"):
        found += ["--pb", name, "true"] if value is None else ["--ps", name, value]
    return found
