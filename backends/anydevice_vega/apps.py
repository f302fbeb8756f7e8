"""Apps: listing, opening with the toolkit on, closing, what is in front. Installing is in `packages.py`.

An app is named by the id of its package; `vmsgr` takes the id of a component of it. That a launch was accepted says
nothing: the app is seen on the screen, and seen to be still running.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote as url_quote

import anyio

from anydevice.driver import Acted, App, Apps, OpenRequest
from anydevice.kit import written
from anydevice_adb import ShellDone, line
from anydevice_schemas.errors import (
    ActionUnverified,
    AppCrashed,
    AppNotFound,
    CallTimeout,
    DeviceNotReady,
    InvalidArgument,
    UpstreamUnavailable,
)

from .guarding import dialog_of
from .packages import Packages
from .reach import Reach
from .reading import guest
from .reading.page import Page
from .toolkit import FLAG
from .tree import build, is_home, says

STEADY: Final = 1.0
"""Seconds an app that was not running has to go on running, to count as open."""
BLANK: Final = 5.0
"""Seconds for the same of an app whose screen says nothing: such a one may be dying while it loads."""
UNSEEN: Final = 5.0
"""Seconds an app that runs may take to show something, before it is started again with the toolkit."""
ABSENT: Final = 5.0
"""Seconds an app may take to run at all."""
CLOSING: Final = 8.0
STEP: Final = 0.1


class VegaApps(Apps):
    """See `Apps`."""

    def __init__(self, reach: Reach, packages: Packages) -> None:
        self._reach, self._packages = reach, packages
        self._opened: str | None = None
        self._crashes = 0

    async def list(self) -> Sequence[App]:
        """See `Apps.list`."""
        known = await self._packages.look()
        front = await self._front(known.running)
        names = list(known.packages)
        names += [front] if front and front not in names else []
        return [
            App(
                id=name,
                running=bool(guest.of_app(name, known.running)) or name == front,
                foreground=name == front,
                data={"components": [one for one in known.components if guest.app_of(one, known.packages) == name]},
            )
            for name in sorted(names)
        ]

    async def open(self, request: OpenRequest) -> Acted:
        """See `Apps.open`. Launch arguments go with the address: `--KEY VALUE`.

        Raises:
            AppNotFound: No such app, or none takes the URL.
            AppCrashed: It ended while it started.
            ActionUnverified: It runs, and something else is in front.
            CallTimeout: It did not come up in time.
        """
        end = anyio.current_time() + request.deadline
        known = await self._packages.look()
        app: str | None = None
        address = request.url or ""
        if request.app is not None:
            component = known.component(request.app)
            if component is None:
                raise self._packages.unknown(request.app, known.packages)
            app = guest.app_of(component, known.packages)
            address = request.url or f"pkg://{component}{_query(request.arguments)}"
        cold = app is not None and not guest.of_app(app, known.running)
        if request.new and app is not None and not cold:
            await self._terminate(app)
            cold = True
        self._opened, self._crashes = app, known.crashes.get(app or "", 0)
        await self._send(address, request)
        return await self._came_up(request, app, address, end, cold=cold)

    async def close(self, app: str | None, *, force: bool = False) -> Acted:
        """See `Apps.close`: the device ends an app at once, and asks nothing.

        Raises:
            InvalidArgument: No app is named.
            AppNotFound: It is not installed.
            ActionUnverified: It is still there.
        """
        app = app or self._opened
        if app is None:
            raise InvalidArgument(
                "No app is named, and none was opened.", param="app", expected="an id such as com.example.app"
            )
        known = await self._packages.look()
        component = known.component(app)
        if component is None:
            raise self._packages.unknown(app, known.packages)
        app = guest.app_of(component, known.packages)
        was = bool(guest.of_app(app, known.running))
        if self._opened == app:
            self._opened = None  # what is ended on purpose has not crashed
        await self._terminate(app)
        return Acted("terminate", verified=True, data={"wasRunning": was})

    async def state(self) -> Mapping[str, Any]:
        """See `Apps.state`."""
        rows = await self._packages.running()
        try:
            page: Page | None = await self._reach.page()
        except (DeviceNotReady, UpstreamUnavailable):
            page = None
        front = self._in_front(page, rows)
        mine = guest.of_app(front, rows) if front else []
        found: dict[str, Any] = {"app": front or None, "location": mine[0].component if mine else front}
        found["title"] = await self._packages.title(front) if front else ""
        if mine and mine[0].pid is not None:
            found["pid"] = mine[0].pid
        if page is None:
            found["toolkit"] = "off"
            return found
        dialog = dialog_of(build(page))
        if dialog is not None:
            found["dialog"] = {"kind": dialog.kind, "text": dialog.text, "buttons": list(dialog.buttons)}
        return found

    async def install(self, path: str, *, deadline: float) -> Acted:
        """See `Apps.install`; see `Packages.install`."""
        return await self._packages.install(path, deadline=deadline)

    async def uninstall(self, app: str) -> Acted:
        """See `Apps.uninstall`; see `Packages.uninstall`."""
        if self._opened == app:
            self._opened = None
        return await self._packages.uninstall(app)

    async def troubled(self, front: str) -> None:
        """Refuses while the app that was opened last is gone by itself; to be asked with the app in front.

        Raises:
            AppCrashed: It is gone, and the device says that it crashed.
        """
        app = self._opened
        if app is None or front == app:
            return
        if guest.of_app(app, await self._packages.running()):
            return
        if await self._has_crashed(app):
            raise _crashed(app)

    # --- inside ---

    async def _has_crashed(self, app: str) -> bool:
        """Whether the device remembers a crash of an app since it was opened."""
        return await self._packages.crashed(app) > self._crashes

    async def _send(self, address: str, request: OpenRequest) -> None:
        launch = f"touch {FLAG}; {line('vmsgr', 'send', address)}"
        done = await self._reach.act_line(launch, "vmsgr", deadline=request.deadline)
        if done.status != 0 or guest.unreached(done.both):
            raise _nobody(done)

    async def _came_up(self, request: OpenRequest, app: str | None, address: str, end: float, *, cold: bool) -> Acted:
        """Waits until the app is seen, and seen to go on running."""
        began = anyio.current_time()
        again = False
        ran = False
        while True:
            page = await self._page()
            rows = await self._packages.running()
            front = self._in_front(page, rows)
            mine = guest.of_app(app, rows) if app is not None else []
            ran = ran or bool(mine)
            now = anyio.current_time()
            if page is not None and front and (front == app or (app is None and not is_home(front))):
                if cold and app is not None and not await self._steady(app, page, now, end):
                    raise _crashed(app)
                return self._up(app or front, rows, again=again, alreadyRunning=not cold and app is not None)
            if app is not None and not mine and (ran or now - began > ABSENT or await self._has_crashed(app)):
                raise _crashed(app)
            if mine and page is None and now - began > (UNSEEN if cold else STEADY):
                if again:  # it does not speak to the toolkit; that it runs in front is all that can be seen
                    return self._up(app or front, rows, toolkit="off")
                again = True
                assert app is not None
                await self._terminate(app)
                await self._send(address, request)
                began, cold, ran = anyio.current_time(), True, False
            if now >= end:
                if app is None or mine:
                    raise ActionUnverified(
                        "It was opened and is not in front.", expected=app or "an app", actual=front or "nothing"
                    )
                raise CallTimeout("The app did not come up in time.", after=request.deadline)
            await anyio.sleep(STEP)

    async def _steady(self, app: str, page: Page | None, since: float, end: float) -> bool:
        """Whether an app that has just come up goes on running: longer, as long as it shows nothing that is told."""
        while True:
            await anyio.sleep(STEP)
            if not guest.of_app(app, await self._packages.running()):
                return False
            past = anyio.current_time() - since
            if (
                past >= BLANK
                or anyio.current_time() >= end
                or (past >= STEADY and page is not None and says(page, app))
            ):
                return True
            page = await self._page()

    def _up(self, app: str, rows: Sequence[guest.Running], **more: Any) -> Acted:
        mine = guest.of_app(app, rows)
        self._opened = app
        data = {"app": app, "location": mine[0].component if mine else app, "pid": mine[0].pid if mine else None}
        return Acted("vmsgr", verified=True, data={**data, **{name: value for name, value in more.items() if value}})

    async def _terminate(self, app: str) -> None:
        await self._reach.act("vlcm", "terminate-app", "--pkg-id", app, "--force")
        with anyio.move_on_after(CLOSING):
            while guest.of_app(app, await self._packages.running()):  # noqa: ASYNC110 - nothing tells when it has gone
                await anyio.sleep(STEP)
            return
        raise ActionUnverified("The app is still there.", expected="gone", actual="running", app=app)

    async def _page(self) -> Page | None:
        """What is shown; None while the toolkit does not listen."""
        try:
            return await self._reach.page()
        except (DeviceNotReady, UpstreamUnavailable, CallTimeout):
            return None

    async def _front(self, rows: Sequence[guest.Running]) -> str:
        return self._in_front(await self._page(), rows)

    def _in_front(self, page: Page | None, rows: Sequence[guest.Running]) -> str:
        """The app in front, by what is shown, else by what the device says of what runs."""
        shown = page.front() if page is not None else None
        if shown is not None:
            return shown.name
        front = [row for row in rows if row.front]
        return front[0].component.rpartition(".")[0] if front else ""


def _query(arguments: Sequence[str]) -> str:
    """Launch arguments as the query of a component's address.

    Raises:
        InvalidArgument: One is neither `--KEY` nor the value of one.
    """
    given = [(name, "true" if value is None else value) for name, value in written.named(arguments, "Vega")]
    pairs = [f"{url_quote(name, safe='')}={url_quote(value, safe='')}" for name, value in given]
    return "?" + "&".join(pairs) if pairs else ""


def _crashed(app: str) -> AppCrashed:
    return AppCrashed(
        "The app has crashed.", app=app, reason="it does not run any more", hint=f"Call open app={app} again."
    )


def _nobody(done: ShellDone) -> AppNotFound:
    return AppNotFound(
        "Nothing on the device opens this.",
        hint="Call apps to see what is installed.",
        nearest_matches=[],
        said=done.both[-500:],
    )
