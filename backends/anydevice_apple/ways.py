"""Links into apps, the ways back and home, and a TV's remote control."""

from __future__ import annotations

from typing import Final

import anyio

from anydevice.driver import Acted, AppEvent, Links, Navigation, OpenRequest, Remote
from anydevice_schemas import Node, Point, Tree

from .apps import HOMES, AppleApps
from .engine import Front, Move, named
from .keymap import remote
from .reach import Reach

ARRIVAL: Final = 3.0
"""Seconds another screen may take to come up."""
STEP: Final = 0.1
LIFT: Final = 0.4
LIFT_REST: Final = 0.8
"""Seconds of the move that shows the apps in use, and of the rest at its end that tells it from going home."""
EDGE: Final = 1.0
"""Points from the left edge at which the move that leads back begins."""
LONG: Final = 1.0
"""Seconds of a button that is held, where none are said."""


class AppleLinks(Links):
    """See `Links`."""

    def __init__(self, apps: AppleApps) -> None:
        self._apps = apps

    async def open_url(self, url: str, *, app: str | None = None) -> Acted:
        """See `Links.open_url`; errors as `AppleApps.open`."""
        return await self._apps.open(OpenRequest(app=app, url=url))

    async def deliver_event(self, event: AppEvent) -> Acted:
        """See `Links.deliver_event`: an event is a link; no app can acknowledge it."""
        return await self.open_url(event.url, app=event.app)


class AppleNavigation(Navigation):
    """See `Navigation`."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def back(self) -> Acted:
        """See `Navigation.back`: by the first button of the bar on top, whatever it is called, or where there is none
        by the move from the left edge; on a TV by menu.

        Raises:
            DialogOpen: A dialog has to be answered first.
        """
        before = await self._reach.tree()
        engine = await self._reach.engine()
        self._reach.acted += 1
        if self._reach.tv:
            await engine.button("menu", 0.0)
        else:
            button = back_button(before)
            if button is not None and button.rect is not None:
                await engine.tap(button.rect.center, 1)
            else:
                width, height = await engine.size()
                path = [Point(EDGE, height / 2), Point(width * 0.8, height / 2)]
                await engine.touch([Move(path, seconds=LIFT)])
        with anyio.move_on_after(ARRIVAL):
            while True:
                front = await engine.front()
                if front is not None and front.app in HOMES:
                    return Acted("back", verified=True, data=named(engine, {"location": front.app}))
                after = await self._reach.tree()
                if differ(before, after):
                    return Acted("back", verified=True, data=named(engine, {"location": after.location}))
                await anyio.sleep(STEP)
        return Acted("back", verified=False, data=named(engine))

    async def home(self) -> Acted:
        """See `Navigation.home`."""
        engine = await self._reach.engine()
        self._reach.acted += 1
        self._reach.left = True
        await engine.home()
        front = await self._reach.came(_at_home, within=ARRIVAL)
        verified = None if front is None else front.app in HOMES
        data = {"app": front.app} if front is not None else {}
        return Acted("home", verified=verified, data=named(engine, data))

    async def app_switcher(self) -> Acted:
        """See `Navigation.app_switcher`: by the move from the lower edge; on a TV by home, twice."""
        engine = await self._reach.engine()
        before = await self._reach.tree()
        self._reach.acted += 1
        if self._reach.tv:
            await engine.button("home", 0.0)
            await engine.button("home", 0.0)
        else:
            width, height = await engine.size()
            path = [Point(width / 2, height - 1), Point(width / 2, height / 2)]
            await engine.touch([Move(path, seconds=LIFT, end_rest=LIFT_REST)])
        with anyio.move_on_after(ARRIVAL):
            while True:
                front = await engine.front()
                if front is None:
                    break
                if front.app in HOMES and differ(before, await self._reach.tree()):
                    return Acted("app-switcher", verified=True, data=named(engine, {"app": front.app}))
                await anyio.sleep(STEP)
            return Acted("app-switcher", verified=None, data=named(engine))
        return Acted("app-switcher", verified=False, data=named(engine))


class AppleRemote(Remote):
    """See `Remote`."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def press(self, button: str, *, seconds: float = 0.0) -> Acted:
        """See `Remote.press`.

        Raises:
            Unsupported: There is no such button.
        """
        name = remote(button)
        engine = await self._reach.engine()
        self._reach.acted += 1
        await engine.button(name, seconds)
        return Acted("remote", data=named(engine))

    async def hold(self, button: str, *, seconds: float) -> Acted:
        """See `Remote.hold`; errors as `press`."""
        return await self.press(button, seconds=seconds or LONG)


def back_button(tree: Tree) -> Node | None:
    """The button that leads back: the leftmost of the bar on top, in its first third. Names are of any language."""
    bar = next((at for at, node in enumerate(tree.nodes) if node.native_role == "NavigationBar"), None)
    if bar is None:
        return None
    place = tree.nodes[bar].rect
    inside = [
        node for at, node in enumerate(tree.nodes) if node.role == "button" and bar in tree.ancestors(at) and node.rect
    ]
    inside = [node for node in inside if "disabled" not in node.states]
    if not inside or place is None:
        return None
    first = min(inside, key=lambda node: node.rect.x if node.rect is not None else 0.0)
    assert first.rect is not None
    return first if first.rect.center.x < place.x + place.width / 3 else None


def differ(before: Tree, after: Tree) -> bool:
    """Whether two looks at the screen show different things."""
    looks = [
        [(node.role, node.identifier, node.name, node.rect, node.app) for node in tree.nodes]
        for tree in (before, after)
    ]
    return looks[0] != looks[1]


def _at_home(front: Front | None) -> bool:
    return front is None or front.app in HOMES
