"""Apps: listing, opening, closing, which one is in front; installing is in `packages.py`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio

from anydevice.driver import Acted, App, Apps, OpenRequest
from anydevice_schemas.errors import (
    ActionUnverified,
    AnydeviceError,
    AppCrashed,
    AppNotFound,
    InvalidArgument,
    PermissionMissing,
    Unsupported,
    UpstreamUnavailable,
)

from .bundles import Bundle
from .engine import Front, named, refuse
from .packages import Packages
from .reach import Reach
from .simctl import SimctlFailed, typed

CLOSING: Final = 5.0
"""Seconds an app may take to be gone once it was ended."""
STEP: Final = 0.1
CONTAINERS: Final = ("app", "data", "groups")
_PID: Final = re.compile(r":\s*(\d+)\s*$", re.M)
_NOBODY: Final = ("-10814", "LSApplicationWorkspaceErrorDomain, code=115", "kLSApplicationNotFoundErr")
"""What the system says of an address that no app takes."""


class AppleApps(Apps):
    """See `Apps`. An app is named by its bundle id, or by its name where only one has it."""

    def __init__(self, reach: Reach, packages: Packages) -> None:
        self._reach, self._packages = reach, packages

    async def list(self) -> Sequence[App]:
        """See `Apps.list`. What is in front is told where an agent runs; none is started for it."""
        bundles = await self._reach.bundles.all()
        running = await self._reach.bundles.running(bundles)
        front: Front | None = None
        if self._reach.agent.running is not None:
            try:
                front = await self._reach.front()
            except AnydeviceError:
                front = None  # the list is good without it
        return [
            App(
                id=bundle.id,
                name=bundle.name,
                running=bundle.id in running,
                foreground=front.app == bundle.id if front is not None else None,
                data={"system": bundle.system},
            )
            for bundle in sorted(bundles.values(), key=lambda one: one.id)
        ]

    async def open(self, request: OpenRequest) -> Acted:
        """See `Apps.open`. Arguments reach an app only as it starts: one that runs is ended and started anew for them.

        Raises:
            AppNotFound: No such app, or none takes the URL.
            AppCrashed: It ended while it started.
            ActionUnverified: Something else is in front.
            DialogOpen: The system asks something first.
            PermissionMissing: The system does not let it be started.
        """
        bundle = await self._reach.bundles.meant(request.app) if request.app is not None else None
        # Before anything is opened: an agent that is started comes up in front itself, and is sent away by home.
        engine = await self._reach.ready()
        self._reach.acted += 1
        end = anyio.current_time() + request.deadline
        data: dict[str, Any] = {}
        pid: int | None = None
        if request.url is not None:
            if request.arguments:
                raise InvalidArgument(
                    "A URL is opened without launch arguments.", param="arguments", expected="a URL, or arguments"
                )
            await self._url(request.url, request.deadline)
        else:
            assert bundle is not None
            before = await self._reach.bundles.running()
            pid = await self._launch(bundle, request)
            data["alreadyRunning"] = before.get(bundle.id) == pid if pid is not None else bundle.id in before
            if bundle.id in before and _anew(request):
                data["restarted"] = True
        front = await self._in_front(bundle, end)
        if pid is None and front is not None:
            pid = front.pid
        app = front.app if front is not None else bundle.id if bundle is not None else ""
        self._reach.opened, self._reach.pid, self._reach.left = app or None, pid, False
        data |= {"app": app, "location": request.url or app, "pid": pid}
        return Acted("launch", verified=True if front is not None else None, data=named(engine, data))

    async def close(self, app: str | None, *, force: bool = False) -> Acted:
        """See `Apps.close`: an app is ended at once, and asks nothing.

        Raises:
            InvalidArgument: No app is named.
            AppNotFound: It is not installed.
            ActionUnverified: It is still there.
        """
        name = app or self._reach.opened
        if name is None:
            raise InvalidArgument(
                "No app is named, and none was opened.", param="app", expected="an id such as com.example.app"
            )
        bundle = await self._reach.bundles.meant(name)
        was = bundle.id in await self._reach.bundles.running()
        if bundle.id == self._reach.opened:
            self._reach.pid = None  # what is ended on purpose has not crashed
        self._reach.acted += 1
        if self._reach.simctl is not None:
            try:
                await self._reach.simctl.run("terminate", bundle.id)
            except SimctlFailed as error:
                if error.failure.kind != "not_running":
                    raise typed(error) from None
        else:
            await self._reach.tell("apps.close", "/wda/apps/terminate", {"bundleId": bundle.id}, session=True)
        with anyio.move_on_after(CLOSING):
            while bundle.id in await self._reach.bundles.running():  # noqa: ASYNC110 - nothing tells when it is gone
                await anyio.sleep(STEP)
            return Acted("terminate", verified=True, data={"wasRunning": was})
        raise ActionUnverified("The app is still there.", expected="gone", actual="running", app=bundle.id)

    async def state(self) -> Mapping[str, Any]:
        """See `Apps.state`."""
        engine = await self._reach.engine()
        dialog = await engine.dialog()
        front = await engine.front()
        found: dict[str, Any] = {"engine": engine.name, "app": front.app if front is not None else None}
        if front is not None:
            found |= {"location": front.app, "pid": front.pid}
        if dialog is not None:
            found["dialog"] = {"kind": dialog.kind, "text": dialog.text, "buttons": list(dialog.buttons)}
            found["title"] = front.name if front is not None else ""
        else:
            found["title"] = (await self._reach.tree()).title
        return found

    async def install(self, path: str, *, deadline: float) -> Acted:
        """See `Apps.install`; see `Packages.install`."""
        return await self._packages.install(path, deadline=deadline)

    async def uninstall(self, app: str) -> Acted:
        """See `Apps.uninstall`; see `Packages.uninstall`."""
        return await self._packages.uninstall(app)

    async def container(self, app: str, kind: str) -> str:
        """The folder of an app of a simulator on this host: `app`, `data`, or an app group.

        Raises:
            AppNotFound: It is not installed.
            Unsupported: It is a physical device, or the app has no such folder.
        """
        bundle = await self._reach.bundles.meant(app)
        try:
            done = await self._reach.sim.run("get_app_container", bundle.id, kind)
        except SimctlFailed as error:
            if error.failure.kind == "absent":
                raise Unsupported(
                    "The app has no such folder.",
                    hint="Ask for kind data, or app.",
                    operation="apps.container",
                    alternatives=[],
                    kind=kind,
                ) from None
            raise typed(error) from None
        return done.text.strip()

    # --- inside ---

    async def _launch(self, bundle: Bundle, request: OpenRequest) -> int | None:
        """Launches an app; returns its process, where that is told."""
        simctl = self._reach.simctl
        if simctl is None:
            assert self._reach.devicectl is not None
            flags = ("--terminate-existing",) if _anew(request) else ()
            result = await self._reach.devicectl.do(
                "process", "launch", deadline=request.deadline, after=(*flags, bundle.id, *request.arguments)
            )
            process = result.get("process")
            found = process.get("processIdentifier") if isinstance(process, Mapping) else None
            return found if isinstance(found, int) else None
        flags = ("--terminate-running-process",) if _anew(request) else ()
        words = ("launch", *flags, simctl.udid, bundle.id, *request.arguments)
        try:
            done = await simctl.words(*words, deadline=request.deadline)
        except SimctlFailed as error:
            match error.failure.kind:
                case "no_handle":
                    return None  # it may run all the same; what is in front tells
                case "launch_failed":
                    raise await self._not_launched(bundle, error) from None
                case "denied":
                    raise PermissionMissing(
                        "The system does not let this app be started.",
                        permission="launch",
                        fix="Unlock the device; see whether the app is for this system.",
                        said=error.said[:1000],
                    ) from None
                case _:
                    raise typed(error) from None
        pid = _PID.search(done.text)
        return int(pid[1]) if pid else None

    async def _not_launched(self, bundle: Bundle, error: SimctlFailed) -> AnydeviceError:
        """The system does not say why: most often the app is not there."""
        if not await self._reach.bundles.installed(bundle.id):
            return AppNotFound(
                "No such app is installed.", hint="Call apps to see what is installed.", nearest_matches=[]
            )
        return UpstreamUnavailable(
            "The system did not start the app.",
            upstream="simctl launch",
            enable_hint="Install it anew: it may be built for another system.",
            said=error.said[:1000],
        )

    async def _url(self, url: str, deadline: float) -> None:
        simctl = self._reach.simctl
        if simctl is None:
            await self._reach.tell("links.open_url", "/url", {"url": url}, session=True)
            return
        try:
            await simctl.run("openurl", url, deadline=deadline)
        except SimctlFailed as error:
            if any(word in error.said for word in _NOBODY):
                raise AppNotFound(
                    "No app on the device takes this address.",
                    hint="Call apps to see what is installed.",
                    nearest_matches=[],
                    said=error.said.replace(url, "…")[:1000],
                ) from None
            raise typed(error, secret=url) from None

    async def _in_front(self, bundle: Bundle | None, end: float) -> Front | None:
        """Waits until an app is in front: this one, or any that is not the home screen. None where nobody says.

        Raises:
            DialogOpen, AppCrashed, ActionUnverified: As `open`.
        """
        engine = await self._reach.engine()
        gone = 0
        looks = 0
        while True:
            front = await engine.front()
            if front is None and engine.name != "wda":
                return None
            looks += 1
            home = front is None or front.app in HOMES
            if front is not None and (front.app == bundle.id if bundle is not None else not home):
                return front
            if looks % 5 == 0 or home:
                dialog = await engine.dialog()
                if dialog is not None:
                    raise refuse(dialog)
            if bundle is not None and looks > 2:
                gone = 0 if bundle.id in await self._reach.bundles.running() else gone + 1
                if gone > 2:
                    raise AppCrashed("The app ended while it started.", app=bundle.id, reason="its process is gone")
            if anyio.current_time() >= end:
                raise ActionUnverified(
                    "It was opened, and is not in front.",
                    expected=bundle.id if bundle is not None else "an app",
                    actual=front.app if front is not None else "nothing",
                )
            await anyio.sleep(STEP)


def _anew(request: OpenRequest) -> bool:
    """Whether an app that runs is started anew."""
    return request.new or bool(request.arguments)


HOMES: Final = frozenset({"com.apple.springboard", "com.apple.HeadBoard", "com.apple.PineBoard"})
"""The home screens: of phones and tablets, and of televisions."""
