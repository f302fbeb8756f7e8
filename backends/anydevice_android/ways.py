"""Links into apps, the ways back and home, and a TV's remote control."""

from __future__ import annotations

import anyio
import structlog

from anydevice.driver import Acted, AppEvent, Links, Navigation, OpenRequest, Remote
from anydevice_adb import line
from anydevice_schemas import Tree
from anydevice_schemas.errors import DeviceNotReady, UpstreamUnavailable

from . import codes
from .apps import AndroidApps, location
from .guarding import Guard, refuse
from .reach import Reach
from .reading.verdicts import resolved
from .touch import refuse_denied

log = structlog.get_logger("anydevice.android")

ARRIVAL = 3.0
"""Seconds the home screen may take to come up."""
STEP = 0.1
KEY_DEADLINE, EACH = 10.0, 0.5
"""Seconds that pressing keys may take, and those that each adds."""


class AndroidLinks(Links):
    """See `Links`."""

    def __init__(self, apps: AndroidApps) -> None:
        self._apps = apps

    async def open_url(self, url: str, *, app: str | None = None) -> Acted:
        """See `Links.open_url`; errors as `AndroidApps.open`."""
        return await self._apps.open(OpenRequest(app=app, url=url))

    async def deliver_event(self, event: AppEvent) -> Acted:
        """See `Links.deliver_event`: an event is a link; no app can acknowledge it."""
        return await self.open_url(event.url, app=event.app)


class AndroidNavigation(Navigation):
    """See `Navigation`."""

    def __init__(self, reach: Reach, guard: Guard) -> None:
        self._reach, self._guard = reach, guard

    async def back(self) -> Acted:
        """See `Navigation.back`: seen by the screen before and after; where Android gives no tree, by the app in front.

        Raises:
            DialogOpen: A dialog has to be answered first.
        """
        before = await self._look()
        focus = await self._reach.focus()
        if before is not None:
            refuse(before)
        await press(self._reach, codes.BACK)
        with anyio.move_on_after(ARRIVAL):
            while True:
                after = await self._look() if before is not None else None
                if before is not None and after is not None:
                    if after.location != before.location or diff(before, after):
                        return Acted("back", verified=True, data={"location": after.location})
                else:
                    now = await self._reach.focus()
                    if now is not None and now != focus:
                        return Acted("back", verified=True, data={"location": location(now)})
                await anyio.sleep(STEP)
        return Acted("back", verified=False if before is not None else None)

    async def _look(self) -> Tree | None:
        """The screen; None where it cannot be read, which must not keep anybody from leaving it."""
        try:
            return await self._guard.tree()
        except (DeviceNotReady, UpstreamUnavailable) as error:
            log.info("back_without_a_tree", error=error.code)
            return None

    async def home(self) -> Acted:
        """See `Navigation.home`."""
        launcher = await self._launcher()
        before = await self._reach.focus()
        await press(self._reach, codes.HOME)
        with anyio.move_on_after(ARRIVAL):
            while True:
                focus = await self._reach.focus()
                # An old Android does not tell which one it is: it is then what came instead of what was there.
                came = focus is not None and (focus.app == launcher if launcher else focus != before)
                if focus is not None and came:
                    return Acted("home", verified=True, data={"app": focus.app})
                await anyio.sleep(STEP)
        return Acted("home", verified=False)

    async def _launcher(self) -> str:
        """Package of the home screen; empty where it is not told."""
        found = await self._reach.run(
            "cmd", "package", "resolve-activity", "--brief", "-a", "android.intent.action.MAIN", "-c",
            "android.intent.category.HOME",
        )  # fmt: skip
        return resolved(found.text).partition("/")[0]

    async def app_switcher(self) -> Acted:
        """See `Navigation.app_switcher`."""
        before = await self._reach.focus()
        # The list of recent apps is the launcher's: from the home screen only what is shown tells it.
        at_home = before is not None and before.app == await self._launcher()
        home = await self._look() if at_home else None
        await press(self._reach, codes.SWITCHER)
        with anyio.move_on_after(ARRIVAL):
            while True:
                focus = await self._reach.focus()
                if focus is not None and focus != before:
                    return Acted("app-switcher", verified=True, data={"app": focus.app})
                if focus is not None and home is not None:
                    now = await self._look()
                    if now is not None and diff(home, now):
                        return Acted("app-switcher", verified=True, data={"app": focus.app})
                await anyio.sleep(STEP)
        return Acted("app-switcher", verified=None if at_home and home is None else False)


class AndroidRemote(Remote):
    """See `Remote`."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def press(self, button: str, *, seconds: float = 0.0) -> Acted:
        """See `Remote.press`. Android knows one length of a long press; any `seconds` from 0.4 are one.

        Raises:
            InvalidArgument: There is no such button.
        """
        await press(self._reach, codes.button(button), longer=seconds >= 0.4)
        return Acted("remote")

    async def repeat(self, button: str, *, count: int) -> Acted:
        """See `Remote.repeat`: one program presses them all.

        Raises:
            InvalidArgument: There is no such button.
        """
        await press(self._reach, codes.button(button), count=count)
        return Acted("remote")


def diff(before: Tree, after: Tree) -> bool:
    """Whether two looks at the screen show different things."""
    looks = [[(node.role, node.identifier, node.name, node.rect) for node in tree.nodes] for tree in (before, after)]
    return looks[0] != looks[1]


async def press(reach: Reach, code: int, *, longer: bool = False, count: int = 1) -> None:
    """Presses one key by its code, once or several times.

    Raises:
        AnydeviceError: As `Reach.act` and `refuse_denied`.
    """
    reach.acted()
    words = ["--longpress"] if longer else []
    pressed = line("input", "keyevent", *words, *[code] * count)
    done = await reach.act(pressed, deadline=KEY_DEADLINE + EACH * count)
    refuse_denied(done.both, done.status)
