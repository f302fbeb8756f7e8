"""Accessibility of one desktop: the door to the tree, to elements and to dialogs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Literal

import anyio

from anydevice.driver import TreeScope
from anydevice_schemas import Node, Rect, Tree
from anydevice_schemas.errors import AppCrashed, CallTimeout, ConnectionLost, OutcomeUnknown, UpstreamUnavailable

from .apps import ACCESSIBLE, App, Apps, introduce
from .bus import Buses, Call, Died, Link, Lost, Refusal, Silence, Trouble
from .coords import Popups, Window, Windows, away
from .hands import Hands
from .keys import APP_GONE, parse, stale
from .looking import look, speaks
from .shape import ROOT
from .tree import Builder
from .view import View, Wish

OPEN_DEADLINE: Final = 5.0
"""Seconds the accessibility bus may take to be found and connected."""
READ_DEADLINE: Final = 8.0
"""Seconds one application may take to be read whole, once it has begun to answer."""

Reach = Literal["active", "all"] | int
"""Which applications: the one whose window has the focus, all of them, or the one with this process id."""


class A11y:
    """The accessible objects of one desktop.

    Made by `open`. Every method raises `ConnectionLost` when the accessibility bus is gone and cannot be reached again;
    where it can, the connection is made anew, what was lost is told by `losses`, and keys from before are stale.

    Attributes:
        windows: The windows of the display.
        screen: The part of the coordinate space that is on screen, in points; None where nobody said it.
        hands: Pointer and keyboard, for elements that can be driven in no other way; None until somebody lends them.
    """

    def __init__(
        self, session_address: str, buses: Buses, windows: Windows, screen: Rect | None, wayland: bool = False
    ) -> None:
        self._session, self._buses, self._wayland = session_address, buses, wayland
        self.windows, self.screen, self._apps = windows, screen, Apps(wayland=wayland)
        self.hands: Hands | None = None
        self._losses: list[Mapping[str, Any]] = []
        self._renewing = anyio.Lock()
        self._closed = False

        from .alerts import LinuxAlerts
        from .elements import LinuxElements

        self.elements = LinuxElements(self)
        self.alerts = LinuxAlerts(self)

    @classmethod
    async def open(
        cls,
        session_bus_address: str,
        windows: Windows,
        *,
        screen: Rect | None = None,
        deadline: float = OPEN_DEADLINE,
        wayland: bool = False,
    ) -> A11y:
        """Connects to the accessibility bus of a session, which is started if need be.

        Args:
            session_bus_address: D-Bus address of the session bus.
            windows: The windows of the display.
            screen: The part of the coordinate space that is on screen, in points.
            deadline: Seconds it may take.
            wayland: The display is a Wayland compositor; programs do not know where their windows are.

        Raises:
            UpstreamUnavailable: The session has no bus, or no accessibility bus.
        """
        try:
            buses = await Buses.open(session_bus_address, deadline)
        except Trouble as error:
            raise UpstreamUnavailable(
                "The desktop has no accessibility bus.",
                upstream="accessibility bus",
                enable_hint="Install at-spi2-core and start the desktop's session bus (dbus-daemon); then call doctor.",
                reason=type(error).__name__,
            ) from error
        return cls(session_bus_address, buses, windows, screen, wayland)

    @property
    def generation(self) -> str:
        """Changes whenever the accessibility bus was replaced."""
        return self._buses.guid[:12]

    def losses(self) -> Sequence[Mapping[str, Any]]:
        """What was lost since the last call; handed out once."""
        out, self._losses = self._losses, []
        return out

    # --- applications ------------------------------------------------------------------------------------

    async def apps(self) -> list[App]:
        """The applications that are registered.

        Raises:
            ConnectionLost, CallTimeout: The bus is gone, or its registry does not answer.
        """
        for last in (False, True):
            buses = await self.buses()
            try:
                return await self._apps.list(buses)
            except Lost:
                if last:
                    raise self._lost() from None
            except Died:
                if last:
                    raise self._lost() from None
                await buses.aclose()
            except Silence as error:
                raise CallTimeout(
                    "The accessibility registry does not answer.", after=2.0, waiting_for="registry"
                ) from error
        raise AssertionError("the second try returns or raises")

    async def app_of(self, pid: int) -> App | None:
        """The application of a process, or None. Raises as `apps`."""
        return next((app for app in await self.apps() if app.pid == pid), None)

    async def buses(self) -> Buses:
        """The buses, connected.

        Raises:
            ConnectionLost: They are gone and could not be reached again.
        """
        if not self._buses.own.lost and not self._closed:
            return self._buses
        async with self._renewing:
            if self._closed:
                raise self._lost()
            if self._buses.own.lost:
                try:
                    new = await Buses.open(self._session, OPEN_DEADLINE)
                except Trouble as error:
                    raise self._lost() from error
                await self._buses.aclose()
                same = new.guid == self._buses.guid
                self._buses, self._apps = new, Apps(wayland=self._wayland)
                self._losses.append({"kind": "accessibility-bus", "restarted": True, "sameBus": same})
            return self._buses

    @asynccontextmanager
    async def asking(self, key: str, deadline: float, *, sent: str = "") -> AsyncIterator[tuple[App, Link]]:
        """The application and the connection of a key, for a few questions; what goes wrong in them is typed.

        Args:
            key: The element's.
            deadline: Seconds the questions are given, as the error tells.
            sent: The operation that may have taken effect by the time it goes wrong; empty for reads.

        Raises:
            StaleRef: The application is gone, or the element is.
            AppCrashed: The application died meanwhile.
            CallTimeout: It does not answer; OutcomeUnknown where something was sent.
            ConnectionLost: The bus is gone.
        """
        name = parse(key).bus_name
        buses = await self.buses()
        app = self._apps.named(name)
        if app is None:
            await self.apps()
            app = self._apps.named(name)
        if app is None:
            raise stale(key, APP_GONE)
        try:
            link = await buses.link(name)
            if app.silent:
                await knock(link, app)
            yield app, link
        except Refusal:
            raise stale(key, "gone") from None
        except Died as error:
            if error.meanwhile:
                raise AppCrashed(
                    "The app ended while it was asked.", app=app.title, reason="it left the accessibility bus"
                ) from None
            raise stale(key, APP_GONE) from None
        except Silence as error:
            app.silent = True
            if sent:
                raise OutcomeUnknown(
                    "The app stopped answering; whether it did it is not known.",
                    hint="Wait until the app is done (wait), then look (snapshot).",
                    sent=sent,
                    reason="no answer in time",
                ) from error
            raise CallTimeout(
                "The app does not answer.",
                hint="Wait until the app is done (wait), or close it (close with force).",
                after=deadline,
                app=app.title,
                waiting_for="app",
            ) from error
        except Lost as error:
            raise self._lost() from error

    # --- the tree ----------------------------------------------------------------------------------------

    async def tree(self, scope: TreeScope, *, reach: Reach = "active", window: Window | None = None) -> Tree:
        """All nodes within a scope.

        `Tree.omitted` may also hold `hidden`, `unread` (objects that could not be read in time) and
        `not answering: NAME` for each application that is left out because it does not answer.

        Args:
            scope: What to read.
            reach: Which applications, where the scope names no element.
            window: Only what is in this window, whatever the reach.

        Raises:
            StaleRef: `scope.root` is gone.
            ConnectionLost, CallTimeout: As `apps`, and for `scope.root` an application that does not answer.
        """
        builder = Builder(scope, self.screen)
        title = app_title = ""
        if scope.root is not None and parse(scope.root).path != ROOT:
            view = await self.view(scope.root, Wish(scope.mode, parse(scope.root).path, scope.max_text))
            builder.view(view, parse(scope.root).path)
            app_title = view.app.title
            title = builder.nodes[0].window if builder.nodes else ""
            if not builder.nodes:
                raise stale(scope.root, "no longer on screen")
        else:
            title, app_title = await self._read(builder, scope, reach, window)
        omitted = builder.omitted
        degraded = any(reason.startswith("not ") for reason in omitted)
        cut = omitted.keys() & {"nodes", "depth", "text", "unread"}
        return Tree(
            nodes=builder.nodes,
            generation=self.generation,
            quality="degraded" if degraded else "truncated" if cut else "complete",
            viewport=self.screen,
            title=title,
            app=app_title,
            omitted=omitted,
        )

    async def view(self, key: str, wish: Wish) -> View:
        """A look at the application of an element.

        Raises:
            StaleRef, AppCrashed, CallTimeout, ConnectionLost: As `asking`.
        """
        async with self.asking(key, READ_DEADLINE) as (app, link):
            await knock(link, app)
            if not app.toolkit:
                await introduce(self._buses, app)
            windows, active = await self.shown()
            view = await look(link, app, windows, active, wish=wish, deadline=READ_DEADLINE, popups=self.popups)
            if parse(key).path != ROOT and parse(key).path not in view.shape.items:
                raise stale(key, "gone")
            return view

    async def views(
        self, apps: Sequence[App], wish: Wish, *, shown: tuple[Sequence[Window], int | None] | None = None
    ) -> dict[str, View]:
        """Looks at several applications at once; those that do not answer are left out.

        Args:
            apps: The applications.
            wish: What is wanted.
            shown: As `shown` answers, where it was asked just now.

        Raises:
            ConnectionLost: The bus is gone.
        """
        buses = await self.buses()
        windows, active = shown or await self.shown()
        out: dict[str, View] = {}

        async def one(app: App) -> None:
            try:
                link = await buses.link(app.bus_name)
                await knock(link, app)
                if not app.toolkit:
                    await introduce(buses, app)
                out[app.bus_name] = await look(
                    link, app, windows, active, wish=wish, deadline=READ_DEADLINE, popups=self.popups
                )
                app.silent = False
            except Silence:
                app.silent = True
            except (Died, Refusal):
                return
            except Lost:
                lost.append(app)

        lost: list[App] = []
        if len(apps) == 1:
            await one(apps[0])
        else:
            async with anyio.create_task_group() as group:
                for app in apps:
                    group.start_soon(one, app)
        if lost and buses.own.lost:
            raise self._lost()
        return out

    async def shown(self) -> tuple[Sequence[Window], int | None]:
        """The windows of the display, the uppermost first, and the id of the one that has the focus."""
        windows = await self.windows.list()
        active = await self.windows.active()
        return windows, active.id if active is not None else None

    async def popups(self) -> Sequence[Window] | None:
        """The windows on screen that no manager manages: open menus and lists; None where nobody knows them."""
        return await self.windows.popups() if isinstance(self.windows, Popups) else None

    async def focused(self) -> Node | None:
        """The element that has the keyboard focus, or None. Raises as `apps`."""
        apps = await self.apps()
        active = await self.windows.active()
        if active is not None and active.pid is not None:
            apps = [app for app in apps if app.pid == active.pid] or apps
        return await self.elements.focused_in(apps)

    async def aclose(self) -> None:
        """Disconnects. Nothing was changed on the desktop."""
        self._closed = True
        await self._buses.aclose()

    # --- inside ------------------------------------------------------------------------------------------

    async def _read(
        self, builder: Builder, scope: TreeScope, reach: Reach, only: Window | None = None
    ) -> tuple[str, str]:
        """Reads the applications within reach; the titles of the foremost window and application."""
        apps = await self.apps()
        windows, active_id = await self.shown()
        front = next((w for w in windows if w.id == active_id), None)
        if front is None:
            front = next((w for w in windows if not away(w)), None)
        if only is not None:
            reach, front = "active", next((w for w in windows if w.id == only.id), only)
        chosen = apps
        pid = reach if isinstance(reach, int) else front.pid if front is not None and reach == "active" else None
        if scope.root is not None:
            chosen = [app for app in apps if app.bus_name == parse(scope.root).bus_name]
            if not chosen:
                raise stale(scope.root, APP_GONE)
        elif pid is not None or only is not None:
            chosen = [app for app in apps if app.pid is not None and app.pid == pid]
        views = await self.views(chosen, Wish(scope.mode, "", scope.max_text), shown=(windows, active_id))
        foremost = front.pid if front is not None else None
        for app in sorted(chosen, key=lambda app: app.pid != foremost):
            view = views.get(app.bus_name)
            own = [window for window in windows if app.pid is not None and window.pid == app.pid]
            if only is not None:
                own = [window for window in own if window.id == only.id]
            if view is not None:
                builder.view(view, only=only.id if only is not None else None)
                if app.toolkit == "Chromium" and not speaks(view):
                    builder.omit(f"not accessible: {app.title} (start it with --force-renderer-accessibility)")
            elif app.silent:
                builder.stand_in(app, own)
                builder.omit(f"not answering: {app.title}")
        known = {app.pid for app in apps}
        dumb = [w for w in windows if w.pid not in known and (pid is None or w.pid == pid)]
        if reach == "active":
            dumb = [window for window in dumb if window is front]
        for window in dumb:
            builder.foreign(window)
        if not builder.nodes:
            builder.empty()
        title = front.title if front is not None else ""
        return title, next((app.title for app in chosen if app.pid == foremost), "")

    def _lost(self) -> ConnectionLost:
        return ConnectionLost(
            "The accessibility bus of the desktop is gone.",
            hint="Check that the desktop still runs (devices), then open it again.",
            restarted=False,
            lost=["accessibility"],
        )


async def knock(link: Link, app: App) -> None:
    """Asks an application whether it answers at all, so that a frozen one costs no more than its patience.

    Raises:
        Silence, Died, Lost: It does not.
    """
    with suppress(Refusal):
        await link.ask(Call(app.bus_name, ROOT, ACCESSIBLE, "GetRole"), app.patience)
    app.silent = False
