"""Apps: listing, opening, closing, which one is in front; installing is in `packages.py`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from anydevice.driver import Acted, App, Apps, OpenRequest
from anydevice.kit import written
from anydevice_adb import line
from anydevice_schemas.errors import (
    ActionUnverified,
    AppCrashed,
    AppNotFound,
    CallTimeout,
    DeviceNotReady,
    InvalidArgument,
    PermissionMissing,
    UpstreamUnavailable,
)

from .guarding import Guard
from .packages import Packages
from .reach import Reach
from .reading import focus as focusing
from .reading.verdicts import Started, resolved, started

LAUNCHER = ["-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER"]
LEANBACK = ["-a", "android.intent.action.MAIN", "-c", "android.intent.category.LEANBACK_LAUNCHER"]
VIEW = "android.intent.action.VIEW"
CLOSING = 5.0
"""Seconds an app may take to be gone once it was stopped."""
STEP = 0.1
_CHOOSER = re.compile(r"\.intentresolver/|(?:Resolver|Chooser)Activity$")
"""Windows that ask which app should take a link, whoever made the device."""
_COMPONENT = re.compile(r"[A-Za-z][\w.]*/[\w.$]+")
_NAME = re.compile(r"[A-Za-z]\w*(\.\w+)+")
_MOST = 5000
TELLS_SINCE = 24
"""API level from which an Android tells tools what its launcher shows."""


class AndroidApps(Apps):
    """See `Apps`. An app is named by its package, or by its package and activity (`package/.Activity`)."""

    def __init__(self, reach: Reach, packages: Packages, guard: Guard) -> None:
        self._reach, self._packages, self._guard = reach, packages, guard
        self._opened: str | None = None
        self._pid: int | None = None

    async def list(self) -> Sequence[App]:
        """See `Apps.list`: what the launcher shows, and what was installed besides.

        Raises:
            UpstreamUnavailable: The device lists none at all.
        """
        launch, tv, others, running, front = await self._reach.several(
            ["cmd", "package", "query-activities", "--brief", *LAUNCHER],
            ["cmd", "package", "query-activities", "--brief", *LEANBACK],
            ["pm", "list", "packages", "-3"],
            ["ps", "-A", "-o", "NAME"],
            ["dumpsys", "window", "displays"],
            deadline=20.0,
        )
        shown = {found.partition("/")[0] for found in _COMPONENT.findall(launch + "\n" + tv)}
        installed = {row.partition(":")[2].strip() for row in others.splitlines() if row.startswith("package:")}
        alive = {row.strip().partition(":")[0] for row in running.splitlines()}
        if not shown and not installed and not 0 < self._reach.sdk < TELLS_SINCE:
            raise UpstreamUnavailable(  # every Android has some
                "The device lists no app.",
                upstream="package",
                enable_hint="See details.",
                said=(launch + others)[:1000],
            )
        focus = focusing.focus(front)
        return [
            App(
                id=name,
                running=name in alive,
                foreground=focus is not None and focus.app == name,
                data={"launchable": name in shown, "system": name not in installed},
            )
            for name in sorted(shown | installed)[:_MOST]
        ]

    async def open(self, request: OpenRequest) -> Acted:
        """See `Apps.open`. Launch arguments are extras: `--KEY VALUE` a text, `--KEY` alone true.

        Raises:
            AppNotFound: No such app or activity, or none takes the URL.
            AppCrashed: It ended while it started.
            ActionUnverified: Something else is in front.
            PermissionMissing: The activity is not for others.
            CallTimeout: It did not come up in time.
            OutcomeUnknown: Nor is it known whether the URL was delivered.
            DeviceNotReady: It is behind the lock screen, or the screen is off.
        """
        component, app = "", request.app
        if app is not None and not _NAME.fullmatch(app.partition("/")[0]):
            raise await self._unknown(app)
        if app is not None and "/" in app:
            component, app = app, app.partition("/")[0]
        words = ["am", "start", "-W"]
        if request.new and app is not None:
            words.append("-S")
        if request.url is not None:
            words += ["-a", VIEW, "-d", request.url]
            words += ["-n", component] if component else ["-p", app] if app else []
        else:
            assert app is not None
            words += [*LAUNCHER, "-n", component or await self._component(app)]
        words += _extras(request.arguments)
        self._reach.acted()
        end = anyio.current_time() + request.deadline
        # An app that is opened twice is open; an address that is delivered twice may order twice.
        send = self._reach.adb.shell if request.url is None else self._reach.act
        done = await send(line(*words), deadline=request.deadline)
        verdict = started(done.both)
        if not verdict.ok:
            raise await self._refused(verdict, request)
        wanted = app or verdict.app
        focus = await self._in_front(wanted, end)
        await self._shown(focus.app)
        self._opened = focus.app
        pids = await self._reach.pids(focus.app)
        self._pid = pids[0] if pids else None
        return Acted(
            "activity-manager",
            verified=True,
            data={
                "app": focus.app,
                "activity": focus.activity,
                "location": location(focus),
                "pid": self._pid,
                "alreadyRunning": verdict.outcome == "front",
                **({"launchMs": verdict.ms} if verdict.ms is not None else {}),
            },
        )

    async def close(self, app: str | None, *, force: bool = False) -> Acted:
        """See `Apps.close`: Android stops an app at once, and asks nothing.

        Raises:
            InvalidArgument: No app is named.
            AppNotFound: It is not installed.
            ActionUnverified: It is still there.
        """
        app = app or self._opened
        if app is None:
            raise InvalidArgument(
                "No app is named, and none was opened.", param="app", expected="a package such as com.example.app"
            )
        app = app.partition("/")[0]
        if not _NAME.fullmatch(app) or not await self._packages.installed(app):
            raise await self._unknown(app)
        was = bool(await self._reach.pids(app))
        await self._reach.run("am", "force-stop", app)
        with anyio.move_on_after(CLOSING):
            while True:
                focus = await self._reach.focus()
                self._pid = None  # what is stopped on purpose has not crashed
                if not await self._reach.pids(app) and (focus is None or focus.app != app):
                    return Acted("force-stop", verified=True, data={"wasRunning": was})
                await anyio.sleep(STEP)
        raise ActionUnverified("The app is still there.", expected="gone", actual="running", app=app)

    async def troubled(self, focus: focusing.Focus | None) -> None:
        """Refuses while the app that was opened last is gone by itself; to be asked when another app is in front.

        Raises:
            AppCrashed: It is gone, and Android says that it crashed.
        """
        app, pid = self._opened, self._pid
        if app is None or pid is None or (focus is not None and focus.app == app):
            return
        if pid in await self._reach.pids(app):
            return
        said = (await self._reach.run("dumpsys", "activity", "exit-info", app)).text
        if not re.search(rf"pid={pid}\b(?s:.*?)reason=[456] ", said):
            return
        raise AppCrashed(
            "The app has crashed.",
            app=app,
            reason="Android ended it after an error",
            hint=f"Call open app={app} again.",
        )

    async def state(self) -> Mapping[str, Any]:
        """See `Apps.state`.

        Raises:
            UpstreamUnavailable: The device tells nothing of what it shows.
        """
        text, policy = await self._reach.several(["dumpsys", "window", "displays"], ["dumpsys", "window", "policy"])
        focus = focusing.focus(text) or await self._reach.focus(wait=1.0)
        if focus is None and not focusing.answered(text + policy):
            raise UpstreamUnavailable(
                "The device does not say what it shows.",
                upstream="window",
                enable_hint="Call screenshot to see.",
                said=text[:500],
            )
        found: dict[str, Any] = {"locked": focusing.locked(text + policy)}
        displays = focusing.displays(text)
        if len(displays) > 1:
            found["displays"] = [
                {"display": number, "app": one and one.app, "activity": one and one.activity}
                for number, one in displays.items()
            ]
        if focus is None:
            return found | {"app": None}
        title = focus.activity.rpartition(".")[2]  # Android tells tools the name of the activity, not what it is headed
        found |= {"app": focus.app, "activity": focus.activity, "title": title, "location": location(focus)}
        dialog, waiting = await self._guard.told(focus.app)
        if dialog is not None:
            found["dialog"] = {"kind": dialog.kind, "text": dialog.text, "buttons": list(dialog.buttons)}
        if waiting:
            found["dialogsBehind"] = waiting
        if focus.overlay:
            found["overlay"] = focus.overlay
        return found

    async def install(self, path: str, *, deadline: float) -> Acted:
        """See `Apps.install`; see `Packages.install`."""
        return await self._packages.install(path, deadline=deadline)

    async def uninstall(self, app: str) -> Acted:
        """See `Apps.uninstall`; see `Packages.uninstall`.

        Raises:
            AppNotFound: It is not installed.
        """
        if not _NAME.fullmatch(app) or not await self._packages.installed(app):
            raise await self._unknown(app)
        return await self._packages.uninstall(app)

    async def _component(self, app: str) -> str:
        for category in (LAUNCHER, LEANBACK):
            done = await self._reach.run("cmd", "package", "resolve-activity", "--brief", *category, app)
            found = resolved(done.text)
            if found:
                return found
            if "not found" in done.both and done.status != 0:
                raise AppNotFound(
                    "This Android does not tell which activity of the app is to be opened.",
                    hint=f"Name the activity: app={app}/.MainActivity, or whatever the app's is called.",
                    nearest_matches=[],
                    app=app,
                )
        if await self._packages.installed(app):
            raise AppNotFound(
                "The app has nothing that can be opened.",
                hint="Name an activity of it: app=package/.Activity",
                nearest_matches=[],
                app=app,
            )
        raise await self._unknown(app)

    async def _unknown(self, app: str) -> AppNotFound:
        names = await self._packages.names()
        near = [name for name in names if app.casefold() in name.casefold()]
        near += difflib.get_close_matches(app, names, n=5, cutoff=0.5)
        return AppNotFound(
            "No such app is installed.",
            hint="Call apps to see what is installed.",
            nearest_matches=list(dict.fromkeys(near))[:5],
            app=app,
        )

    async def _refused(self, verdict: Started, request: OpenRequest) -> Exception:
        if verdict.outcome in ("missing", "unresolved"):
            if request.app is not None and not await self._packages.installed(request.app.partition("/")[0]):
                return await self._unknown(request.app.partition("/")[0])
            return AppNotFound(
                "Nothing on the device opens this." if request.url else "The app has no such activity.",
                hint="Call apps to see what is installed.",
                nearest_matches=[],
                said=verdict.said,
            )
        if verdict.outcome == "denied":
            return PermissionMissing(
                "The activity is not open to others.", permission="exported", fix="Open another one.", said=verdict.said
            )
        if verdict.outcome == "timeout":
            return CallTimeout("The app did not come up in time.", after=request.deadline, said=verdict.said)
        return UpstreamUnavailable(
            "Android could not start it.", upstream="am start", enable_hint="See details.", said=verdict.said
        )

    async def _shown(self, app: str) -> None:
        """Refuses an app that nobody can see though it is the one in front.

        Raises:
            DeviceNotReady: The device is locked, or its screen is off.
        """
        displays, policy = await self._reach.several(["dumpsys", "window", "displays"], ["dumpsys", "window", "policy"])
        text = displays + policy
        if focusing.asleep(text):
            raise DeviceNotReady(
                "The app was started, and the screen is off.",
                hint="Call key chord=wakeup, then open again.",
                state="asleep",
                fix="Turn the screen on.",
                app=app,
            )
        if focusing.locked(text) and not focusing.in_input(displays, app):
            raise DeviceNotReady(
                "The app was started behind the lock screen.",
                hint="Unlock the device, then call open again.",
                state="locked",
                fix="Unlock the device.",
                app=app,
            )

    async def _in_front(self, app: str, end: float) -> focusing.Focus:
        """Waits until an app is in front.

        Raises:
            AppCrashed, ActionUnverified: As `open`.
        """
        focus: focusing.Focus | None = None
        gone = 0
        while True:
            focus = await self._reach.focus()
            if focus is not None and _CHOOSER.search(location(focus)):
                raise ActionUnverified(
                    "The device asks which app should open it.",
                    hint="Call snapshot, then press the app that is meant; or repeat the call with app.",
                    expected="an app",
                    actual="a question",
                    chooser=True,
                )
            if focus is not None and (focus.app == app or not app):
                return focus
            gone = 0 if await self._reach.pids(app) else gone + 1
            if gone > 2:
                raise AppCrashed("The app ended while it started.", app=app, reason="its process is gone")
            if anyio.current_time() >= end:
                raise ActionUnverified(
                    "The app was started and is not in front.", expected=app, actual=focus.app if focus else "nothing"
                )
            await anyio.sleep(STEP)


def location(focus: focusing.Focus) -> str:
    """Where one is, as Android names it: `package/activity`."""
    return f"{focus.app}/{focus.activity}"


def _extras(arguments: Sequence[str]) -> list[str]:
    """Launch arguments as extras of an intent.

    Raises:
        InvalidArgument: One is neither `--KEY` nor the value of one.
    """
    found: list[str] = []
    for name, value in written.named(arguments, "Android"):
        found += ["--ez", name, "true"] if value is None else ["--es", name, value]
    return found
