"""Settings of the device: what HarmonyOS lets tools change, which is how it is turned and what apps have stored."""

from __future__ import annotations

import difflib
from typing import Final

import anyio

from anydevice.driver import Acted, Setting, Settings
from anydevice_schemas.errors import AppNotFound, InvalidArgument, Refused, Unsupported

from .emulating import Emulators
from .hdc import line
from .packages import Packages
from .reach import DISPLAY, Reach
from .reading import display
from .reading.bundles import cleaned

TURNS: Final = ("portrait", "landscape-left", "portrait-upside-down", "landscape-right")
"""Orientations in the order of the device's own numbers."""
TURNING: Final = 4.0
"""Seconds a screen may take to turn."""
STEP: Final = 0.1


class HarmonyosSettings(Settings):
    """See `Settings`, of every device."""

    def __init__(self, reach: Reach, packages: Packages) -> None:
        self._reach, self._packages = reach, packages

    async def read(self, area: str, *, app: str | None = None, name: str | None = None) -> Setting:
        """See `Settings.read`.

        Raises:
            Unsupported: There is no such area here.
            AppNotFound: Of app_data: there is no such app.
        """
        if area == "app_data":
            await self._installed(app or "")
            return Setting(None, ("clear",))
        raise Unsupported(
            "HarmonyOS has no such setting for tools.", operation=f"settings.{area}", alternatives=["app_data"]
        )

    async def app_data(self, value: str, *, app: str) -> Acted:
        """See `Settings.app_data`: by the bundle manager, after the app was stopped. The device's shell is kept from
        what apps have stored, so that there is nothing to read back but the manager's word.

        Raises:
            AppNotFound: It is not installed.
            Refused: The manager did not say that it did it, as for apps of the system.
        """
        app = app.partition("/")[0]
        await self._installed(app)
        await self._reach.hdc.act(line("aa", "force-stop", app))
        said = (await self._reach.hdc.act(line("bm", "clean", "-n", app, "-d"), deadline=20.0)).text
        if not cleaned(said):
            raise Refused(
                "The device did not clear what the app has stored.",
                hint="Apps of the system keep their data; of others reinstall deletes them too.",
                reason="the bundle manager said no",
                alternative="reinstall",
                app=app,
                said=said.strip()[:1000],
            )
        return Acted("bundle-manager")

    async def _installed(self, app: str) -> None:
        if await self._packages.bundle(app.partition("/")[0]) is None:
            names = await self._packages.names()
            near = difflib.get_close_matches(app, names, n=5, cutoff=0.5)
            raise AppNotFound("No app of that name is installed.", app=app[:200], nearest_matches=near)

    async def clean(self) -> None:
        """Puts back what was changed; what was cleared is gone."""


class HandheldSettings(HarmonyosSettings):
    """See `Settings`, of devices that can be turned. What it turned it turns back in `clean`."""

    def __init__(
        self, reach: Reach, packages: Packages, emulators: Emulators | None = None, instance: str = ""
    ) -> None:
        """`emulators` and `instance` are the program and the name by which an emulator of this host is turned."""
        super().__init__(reach, packages)
        self._emulators, self._instance = emulators, instance
        self._before: str | None = None

    async def read(self, area: str, *, app: str | None = None, name: str | None = None) -> Setting:
        """As `HarmonyosSettings.read`, and how the screen is turned."""
        if area == "orientation":
            return Setting(await self._turned(), TURNS)
        return await super().read(area, app=app, name=name)

    async def orientation(self, value: str) -> Acted:
        """See `Settings.orientation`: by the posture its sensor tells, or by the emulator's own program.

        Raises:
            InvalidArgument: `auto`: a posture is one of four.
            Unsupported: It is an emulator that this host does not know by name.
        """
        if value not in TURNS:
            raise InvalidArgument(
                "HarmonyOS is turned one way or another, and has no word for auto here.",
                param="value",
                expected=", ".join(TURNS),
            )
        before = await self._turned()
        await self._turn(value)
        self._before = self._before or before
        return Acted("posture")

    async def clean(self) -> None:
        """Turns it back, where it was turned.

        Raises:
            AnydeviceError: As `orientation`.
        """
        if self._before is not None:
            await self._turn(self._before)
            self._before = None

    async def _turn(self, value: str) -> None:
        if self._emulators is None:
            # The sensor's postures count from the way the device is made to be held, which of tablets is lying.
            posture = TURNS.index(value) ^ int((await self._display()).made_lying)
            await self._reach.hdc.act(f"hidumper -s 4607 -a '-motion,{posture}'")
            await self._until(value)
            return
        if not self._instance:
            raise Unsupported(
                "An emulator is turned by its own program, which does not tell which of its devices this is.",
                operation="settings.orientation",
                alternatives=[],
                hint="Boot the emulator with boot, then repeat the call.",
            )
        left: int | None = None  # which way `left` turns is seen: builds count quarters either way round
        for _ in range(len(TURNS) + 1):
            now = await self._turned()
            if now == value or now is None:
                return
            steps = (TURNS.index(value) - TURNS.index(now)) % len(TURNS)
            way = "left" if left is None or steps in (left, 2) else "right"
            await self._emulators.turn(self._instance, way)
            await self._unlike(now)
            after = await self._turned()
            if left is None and after is not None and after != now:
                left = (TURNS.index(after) - TURNS.index(now)) % len(TURNS)

    async def _until(self, value: str) -> None:
        with anyio.move_on_after(TURNING):
            while await self._turned() != value:  # noqa: ASYNC110 - the device tells nobody
                await anyio.sleep(STEP)

    async def _unlike(self, value: str) -> None:
        with anyio.move_on_after(TURNING):
            while await self._turned() == value:  # noqa: ASYNC110 - the device tells nobody
                await anyio.sleep(STEP)

    async def _turned(self) -> str | None:
        turned = (await self._display()).turned
        return TURNS[turned] if turned is not None else None

    async def _display(self) -> display.Display:
        return display.display((await self._reach.hdc.shell(DISPLAY)).text)
