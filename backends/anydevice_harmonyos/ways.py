"""Links into apps, the ways back and home, the recent apps, and a TV's remote control."""

from __future__ import annotations

from typing import Final

import anyio

from anydevice.driver import Acted, AppEvent, Links, Navigation, OpenRequest, Remote
from anydevice_schemas import Tree
from anydevice_schemas.errors import DeviceNotReady, UpstreamUnavailable

from . import codes
from .apps import HarmonyosApps
from .guarding import Guard, refuse
from .reach import Reach
from .reading import windows
from .touch import LONGEST

ARRIVAL: Final = 4.0
"""Seconds a screen may take to come up."""
STEP: Final = 0.1
RESTING: Final = 1000
"""Milliseconds a finger rests at the end of the gesture that shows the recent apps; without them it leads home."""
MOVING: Final = 300
HALF: Final = 0.02
"""Seconds the input program rests after a key went down, and after it came up."""


class HarmonyosLinks(Links):
    """See `Links`."""

    def __init__(self, apps: HarmonyosApps) -> None:
        self._apps = apps

    async def open_url(self, url: str, *, app: str | None = None) -> Acted:
        """See `Links.open_url`; errors as `HarmonyosApps.open`."""
        return await self._apps.open(OpenRequest(app=app, url=url))

    async def deliver_event(self, event: AppEvent) -> Acted:
        """See `Links.deliver_event`: an event is a link; no app can acknowledge it."""
        return await self.open_url(event.url, app=event.app)


class HarmonyosNavigation(Navigation):
    """See `Navigation`."""

    def __init__(self, reach: Reach, guard: Guard) -> None:
        self._reach, self._guard = reach, guard

    async def back(self) -> Acted:
        """See `Navigation.back`: seen by the screen before and after.

        Raises:
            DialogOpen: A dialog has to be answered first.
            AnydeviceError: As `Reach.input`.
        """
        before = await self._look()
        if before is not None:
            refuse(before)
        await self._reach.input("uitest uiInput keyEvent Back")
        if before is None:
            return Acted("back")
        with anyio.move_on_after(ARRIVAL):
            while True:
                after = await self._look()
                if after is not None and (after.location != before.location or diff(before, after)):
                    return Acted("back", verified=True, data={"location": after.location})
                await anyio.sleep(STEP)
        return Acted("back", verified=False)

    async def home(self) -> Acted:
        """See `Navigation.home`: the home screen is where no app's mission is in front.

        Raises:
            AnydeviceError: As `Reach.input`.
        """
        await self._reach.input("uitest uiInput keyEvent Home")
        with anyio.move_on_after(ARRIVAL):
            while await self._reach.front() is not None:  # noqa: ASYNC110 - the device tells nobody
                await anyio.sleep(STEP)
            return Acted("home", verified=True)
        return Acted("home", verified=False)

    async def _look(self) -> Tree | None:
        """The screen; None where it cannot be read, which must not keep anybody from leaving it."""
        try:
            return await self._guard.tree()
        except (DeviceNotReady, UpstreamUnavailable):
            return None


class HandheldNavigation(HarmonyosNavigation):
    """See `Navigation`: of what is held in a hand, whose edge a finger can go up from."""

    async def app_switcher(self) -> Acted:
        """See `Navigation.app_switcher`: no key leads there, a finger does that goes up from the edge, and rests.

        Raises:
            AnydeviceError: As `Reach.input`.
        """
        view = await self._reach.view(fresh=True)
        start = (view.width // 2, view.height - 10)
        end = (round(view.width * 0.6), round(view.height * 0.75))
        # `-m` makes its own down and up and takes the line to its end: the rest belongs to it (`-k`), not behind it.
        line = f"uinput -T -m {start[0]} {start[1]} {end[0]} {end[1]} -k {RESTING} {MOVING}"
        await self._reach.input(line, seconds=(MOVING + RESTING) / 1000)
        with anyio.move_on_after(ARRIVAL):
            while (await self._reach.windows()).shows(windows.RECENTS) is None:  # noqa: ASYNC110 - as home
                await anyio.sleep(STEP)
            return Acted("app-switcher", verified=True)
        return Acted("app-switcher", verified=False)


class HarmonyosRemote(Remote):
    """See `Remote`."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach

    async def press(self, button: str, *, seconds: float = 0.0) -> Acted:
        """See `Remote.press`.

        Raises:
            InvalidArgument: There is no such button.
            AnydeviceError: As `Reach.input`.
        """
        if seconds > 0:
            return await self.hold(button, seconds=seconds)
        code = codes.button(button)
        if button == "power":
            await self._reach.uitest(codes.line(code))  # the one key a dark screen takes
        else:
            await self._reach.input(codes.line(code))
        return Acted("remote")

    async def repeat(self, button: str, *, count: int) -> Acted:
        """See `Remote.repeat`: all of them by one program of the device, which rests for 20 ms behind each half of one.

        Raises:
            InvalidArgument: There is no such button.
            AnydeviceError: As `Reach.input`.
        """
        code = codes.button(button)
        once = f" -d {code} -u {code}"
        await self._reach.input("uinput -K" + once * count, seconds=count * 2 * HALF)
        return Acted("remote")

    async def hold(self, button: str, *, seconds: float) -> Acted:
        """See `Remote.hold`.

        Raises:
            InvalidArgument: There is no such button.
            AnydeviceError: As `Reach.input`.
        """
        code = codes.button(button)
        rest = min(max(1, round(seconds * 1000)), LONGEST)
        await self._reach.input(f"uinput -K -d {code} -i {rest} -u {code}", seconds=seconds)
        return Acted("remote", data={"heldSeconds": rest / 1000})


def diff(before: Tree, after: Tree) -> bool:
    """Whether two looks at the screen show different things."""
    looks = [[(node.role, node.identifier, node.name, node.rect) for node in tree.nodes] for tree in (before, after)]
    return looks[0] != looks[1]
