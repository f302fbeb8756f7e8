"""One device as its driver reaches it: commands, the screen's measures, the app in front, the one automation slot."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import anyio

from anydevice_adb import AdbDevice, ShellDone, line
from anydevice_schemas import Point
from anydevice_schemas.errors import CallTimeout, ConnectionLost, DeviceOffline, OutcomeUnknown, UpstreamUnavailable

from .reading import focus as focusing
from .reading import screens
from .reading.focus import Focus
from .tree import View

SYSTEM_UI = "com.android.systemui"
FOCUS_WAIT = 3.0
"""Seconds the focus may be nowhere: so it is while an app starts."""
STEP = 0.1
_PARTED = "\x1eanydevice\x1e"


class Reach:
    """What the capabilities of one device share."""

    def __init__(self, adb: AdbDevice, sdk: int) -> None:
        self.adb = adb
        self.sdk = sdk
        self.slot = anyio.Lock()
        """Whoever dumps, injects or holds an automation server has this: a device has one slot for all of them."""
        self.acted: Callable[[], None] = lambda: None
        """Told of everything that may change the screen."""
        self.turned = 0
        """Quarter turns from the natural orientation, as the last dump or dumpsys said."""
        self._screen: screens.ScreenSize | None = None

    async def run(self, *words: str | int, deadline: float = 10.0) -> ShellDone:
        """Runs a program on the device; each word reaches it as it is.

        Raises:
            AnydeviceError: As `AdbDevice.shell`.
        """
        return await self.adb.shell(line(*words), deadline=deadline)

    async def act(self, command: str, *, deadline: float = 10.0) -> ShellDone:
        """Runs a command line that must not be repeated where it is not known whether it was carried out.

        Raises:
            OutcomeUnknown: It was sent, and no answer came.
            AnydeviceError: As `AdbDevice.shell`, of what was not sent.
        """
        try:
            return await self.adb.shell(command, deadline=deadline)
        except (CallTimeout, ConnectionLost) as error:
            raise OutcomeUnknown(
                "The device did not answer: it may or may not have done that.",
                hint="Look before doing it again (snapshot, or screenshot).",
                sent=command.partition(" ")[0],
                reason=error.code,
            ) from error

    async def several(self, *commands: Sequence[str | int], deadline: float = 10.0) -> list[str]:
        """Runs programs one after the other in one round trip; returns what each printed, on both outputs.

        Raises:
            AnydeviceError: As `AdbDevice.shell`.
        """
        mark = f"; echo {_quoted(_PARTED)}; "
        done = await self.adb.shell(mark.join(f"{line(*words)} 2>&1" for words in commands), deadline=deadline)
        parts = done.text.split(_PARTED + "\n")
        return [*parts, *([""] * (len(commands) - len(parts)))]

    async def screen(self, *, fresh: bool = False) -> screens.ScreenSize:
        """The screen in its natural orientation; read once, and again when asked to.

        Raises:
            UpstreamUnavailable: The device does not say how large it is.
            AnydeviceError: As `AdbDevice.shell`.
        """
        if self._screen is None or fresh:
            size, density = await self.several(["wm", "size"], ["wm", "density"])
            found = screens.size(size)
            if found is None:
                raise UpstreamUnavailable(
                    "The device does not say how large its screen is.",
                    upstream="wm",
                    enable_hint="See details; a device that answers nothing needs a restart.",
                    said=size[:500],
                )
            self._screen = screens.ScreenSize(*found, screens.density(density) or screens.BASE)
        return self._screen

    async def view(self, focus: Focus | None = None) -> View:
        """The screen as it is turned now."""
        screen = await self.screen()
        sides = (screen.width, screen.height) if self.turned % 2 == 0 else (screen.height, screen.width)
        return View(*sides, screen.scale, focus.app if focus else "", focus.activity if focus else "")

    async def pixels(self, *points: Point) -> list[int]:
        """Points as pixels, x and y in turn, as `input` takes them.

        Raises:
            AnydeviceError: As `screen`.
        """
        scale = (await self.screen()).scale
        return [value for point in points for value in (round(point.x * scale), round(point.y * scale))]

    async def focus(self, *, wait: float = 0.0) -> Focus | None:
        """Which app is in front; waits up to `wait` seconds where none is.

        Raises:
            AnydeviceError: As `AdbDevice.shell`.
        """
        end = anyio.current_time() + wait
        while True:
            done = await self.adb.shell("dumpsys window displays", deadline=5.0)
            text = done.text
            if focusing.focus(text) is None:
                # Some builds print the focus only there, and some only in the whole of it.
                text += (await self.adb.shell("dumpsys activity activities", deadline=5.0)).text
            turned = screens.rotation(text)
            if turned is not None:
                self.turned = turned
            if self._screen is not None:
                # Folded, or given another size or density meanwhile: points and what is off screen go by it.
                self._screen = screens.current(text) or self._screen
            found = focusing.focus(text)
            if found is not None or anyio.current_time() >= end:
                return found
            await anyio.sleep(STEP)

    async def pids(self, app: str) -> list[int]:
        """Processes of an app."""
        done = await self.run("pidof", app, deadline=5.0)
        return [int(word) for word in done.text.split() if word.isdigit()]

    def offline(self) -> DeviceOffline:
        """The error of a device that went away."""
        return DeviceOffline("The device is gone.", state="offline", fix="Reconnect the device.")


def _quoted(text: str) -> str:
    return "'" + text + "'"
