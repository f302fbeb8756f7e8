"""Settings of the device: each is set by the program that really changes it, and read back by another look."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Final

from anydevice.driver import Acted, Setting, Settings
from anydevice_adb import line
from anydevice_schemas.errors import AnydeviceError, AppNotFound, InvalidArgument, Unsupported, UpstreamUnavailable

from .location import Location
from .packages import NAME, Packages
from .reach import Reach

ANIMATIONS: Final = ("window_animation_scale", "transition_animation_scale", "animator_duration_scale")
TURNS: Final = ("portrait", "landscape-left", "portrait-upside-down", "landscape-right")
"""Orientations by quarter turns from the natural one, for a device whose natural one is upright."""
LYING: Final = ("landscape-left", "portrait", "landscape-right", "portrait-upside-down")
"""The same for one whose natural one is lying, as with most tablets."""
DEMO: Final = "com.android.systemui.demo"
ON, OFF = "on", "off"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
AIRPLANE_SINCE = 30
"""API level that has `cmd connectivity airplane-mode`; before it the shell may not."""
Undo = Callable[[], Awaitable[object]]


class AndroidSettings(Settings):
    """See `Settings`. What it changed it puts back in `clean`, in reverse order.

    Attributes:
        lacking: Areas that this kind of device does not have.
        place: Where an emulator is.
    """

    lacking: frozenset[str] = frozenset()

    def __init__(self, reach: Reach, undo: dict[str, Undo] | None = None) -> None:
        """`undo` holds what is to be put back; it outlives a driver whose connection was lost."""
        self._reach = reach
        self._undo: dict[str, Undo] = {} if undo is None else undo
        self.place = Location(reach)

    async def read(self, area: str, *, app: str | None = None, name: str | None = None) -> Setting:
        """See `Settings.read`.

        Raises:
            Unsupported: There is no such area here.
        """
        readers: dict[str, Callable[[], Awaitable[Setting]]] = {
            "appearance": self._appearance, "orientation": self._orientation, "animations": self._animations,
            "wifi": self._wifi, "airplane": self._airplane, "location": self.place.read, "text_size": self._text_size,
            "status_bar": self._status_bar,
        }  # fmt: skip
        if area == "permission":
            return await self._permission(app or "", name or "")
        readers = {name: reader for name, reader in readers.items() if name not in self.lacking}
        if area not in readers:
            raise Unsupported(
                "Android has no such setting for tools.", operation=f"settings.{area}", alternatives=[*readers]
            )
        return await readers[area]()

    async def appearance(self, value: str) -> Acted:
        """See `Settings.appearance`."""
        before = (await self._appearance()).value
        self._later("appearance", before, self.appearance)
        await self._do("cmd", "uimode", "night", "yes" if value == "dark" else "no")
        return Acted("uimode")

    async def orientation(self, value: str) -> Acted:
        """See `Settings.orientation`: an app that insists on its own is not turned."""
        auto = await self._get("system", "accelerometer_rotation")
        turn = await self._get("system", "user_rotation")
        self._undo.setdefault("orientation", lambda: self._turn(auto, turn))
        if value == "auto":
            await self._put("system", "accelerometer_rotation", "1")
        else:
            await self._turn("0", str((await self._turns()).index(value)))
        return Acted("settings")

    async def animations(self, value: str) -> Acted:
        """See `Settings.animations`."""
        before = [(name, await self._get("global", name)) for name in ANIMATIONS]
        self._undo.setdefault("animations", lambda: self._put_all(before))
        await self._put_all([(name, "1" if value == ON else "0") for name in ANIMATIONS])
        return Acted("settings")

    async def wifi(self, value: str) -> Acted:
        """See `Settings.wifi`. A device that is attached over Wi-Fi would be lost by switching it off.

        Raises:
            InvalidArgument: It is attached over the network, and `value` is off.
        """
        if value == OFF and _by_network(self._reach.adb.serial):
            raise InvalidArgument(
                "The device is attached over the network; without Wi-Fi it would be lost.",
                param="value",
                expected="on, or the device attached by cable",
            )
        self._later("wifi", (await self._wifi()).value, self.wifi)
        await self._do("svc", "wifi", "enable" if value == ON else "disable")
        return Acted("svc")

    async def airplane(self, value: str) -> Acted:
        """See `Settings.airplane`; never by broadcast, which Android forbids, nor by the bare setting, which is inert.

        Raises:
            Unsupported: This Android lets no tool switch it.
        """
        if 0 < self._reach.sdk < AIRPLANE_SINCE:
            raise Unsupported(
                "This Android lets no tool switch airplane mode.",
                operation="settings.airplane",
                alternatives=["settings.wifi"],
                reason=f"cmd connectivity needs API level {AIRPLANE_SINCE}",
            )
        before = (await self._airplane()).value
        if before is None:
            raise Unsupported(
                "This device lets no tool switch airplane mode.",
                operation="settings.airplane",
                alternatives=["settings.wifi"],
                reason="it does not tell whether it is on",
            )
        self._later("airplane", before, self.airplane)
        await self._do("cmd", "connectivity", "airplane-mode", "enable" if value == ON else "disable")
        return Acted("connectivity")

    async def location(self, value: str) -> Acted:
        """See `Settings.location`; errors as `Location.put`."""
        self._later("location", (await self.place.read()).value, self.location)
        return await self.place.put(value)

    async def text_size(self, value: str) -> Acted:
        """See `Settings.text_size`."""
        before = await self._get("system", "font_scale")
        self._undo.setdefault("text_size", lambda: self._put("system", "font_scale", before))
        await self._put("system", "font_scale", value)
        return Acted("settings")

    async def permission(self, value: str, *, app: str, name: str) -> Acted:
        """See `Settings.permission`; `name` may leave out `android.permission.`.

        Raises:
            AppNotFound: The app can be none.
            InvalidArgument: The permission can be none.
        """
        full = _named(app, name)
        before = (await self._permission(app, full)).value or ("ask" if value == "grant" else None)
        self._later(f"permission {app} {full}", before, lambda was: self._permit_again(was, app, full))
        verb = "grant" if value == "grant" else "revoke"
        await self._do("pm", verb, app, full)
        if value == "ask":
            # Older ones have no such word; there it stays denied, which is what reading it back says.
            await self._reach.run("pm", "clear-permission-flags", app, full, "user-set", "user-fixed")
        return Acted("package-manager")

    async def _permit_again(self, value: str, app: str, name: str) -> Acted:
        """Puts a permission back, where its app is still there."""
        if not await Packages(self._reach).installed(app):
            return Acted("none")
        return await self.permission(value, app=app, name=name)

    async def status_bar(self, value: str) -> Acted:
        """See `Settings.status_bar`."""
        self._later("status_bar", (await self._status_bar()).value, self.status_bar)
        if value == "demo":
            await self._put("global", "sysui_demo_allowed", "1")
            for words in (
                ["enter"], ["clock", "-e", "hhmm", "1200"], ["battery", "-e", "level", "100", "-e", "plugged", "false"],
                ["network", "-e", "wifi", "show", "-e", "level", "4"], ["notifications", "-e", "visible", "false"],
            ):  # fmt: skip
                await self._do("am", "broadcast", "-a", DEMO, "-e", "command", *words)
        else:
            await self._do("am", "broadcast", "-a", DEMO, "-e", "command", "exit")
            await self._put("global", "sysui_demo_allowed", "0")
        return Acted("demo-mode")

    async def clean(self) -> None:
        """Puts back everything that was changed here; what cannot be is kept for the next time.

        Raises:
            AnydeviceError: The first that could not be put back; the others were.
        """
        wrong: AnydeviceError | None = None
        for area, undo in reversed([*self._undo.items()]):
            try:
                await undo()  # noted as a change itself, which changes nothing: the area has its entry already
            except AnydeviceError as error:
                wrong = wrong or error
            else:
                del self._undo[area]
        if wrong is not None:
            raise wrong

    # --- reading ---

    async def _appearance(self) -> Setting:
        said = (await self._reach.run("cmd", "uimode", "night")).both
        found = re.search(r"Night mode: (\w+)", said)
        words = {"yes": "dark", "no": "light"}
        return Setting(words.get(found[1]) if found else None, ("light", "dark"), {"mode": found[1] if found else ""})

    async def _orientation(self) -> Setting:
        if await self._get("system", "accelerometer_rotation") == "1":
            return Setting("auto", (*TURNS, "auto"))
        turn = await self._get("system", "user_rotation")
        value = (await self._turns())[int(turn)] if turn in ("0", "1", "2", "3") else None
        return Setting(value, (*TURNS, "auto"))

    async def _turns(self) -> tuple[str, ...]:
        screen = await self._reach.screen()
        return LYING if screen.width > screen.height else TURNS

    async def _animations(self) -> Setting:
        scales = [await self._get("global", name) for name in ANIMATIONS]
        still = [scale in ("0", "0.0") for scale in scales]
        return Setting(OFF if all(still) else ON, (ON, OFF), dict(zip(ANIMATIONS, scales, strict=True)))

    async def _wifi(self) -> Setting:
        text = (await self._reach.adb.shell("dumpsys wifi | head -n 5", deadline=15.0)).text
        found = re.search(r"Wi-Fi is (enabled|disabled)", text)
        return Setting({"enabled": ON, "disabled": OFF}[found[1]] if found else None, (ON, OFF))

    async def _airplane(self) -> Setting:
        said = (await self._reach.run("cmd", "connectivity", "airplane-mode")).both.strip()
        return Setting({"enabled": ON, "disabled": OFF}.get(said), (ON, OFF))

    async def _text_size(self) -> Setting:
        return Setting(await self._get("system", "font_scale") or "1.0")

    async def _status_bar(self) -> Setting:
        return Setting("demo" if await self._get("global", "sysui_demo_allowed") == "1" else "live", ("demo", "live"))

    async def _permission(self, app: str, name: str) -> Setting:
        full = _named(app, name)
        text = (await self._reach.run("dumpsys", "package", app, deadline=20.0)).text
        found = re.search(rf"^\s*{re.escape(full)}: granted=(true|false)(?P<flags>[^\n]*)", text, re.M)
        if found is None:
            return Setting(None, ("grant", "deny", "ask"))
        asked = found[1] == "false" and "USER_SET" not in found["flags"]
        return Setting("grant" if found[1] == "true" else "ask" if asked else "deny", ("grant", "deny", "ask"))

    # --- doing ---

    def _later(self, area: str, before: str | None, put: Callable[[str], Awaitable[Acted]]) -> None:
        if before is not None:
            self._undo.setdefault(area, lambda: put(before))

    async def _turn(self, auto: str | None, turn: str | None) -> None:
        await self._put("system", "accelerometer_rotation", auto)
        await self._put("system", "user_rotation", turn)

    async def _put_all(self, pairs: list[tuple[str, str | None]]) -> None:
        for name, value in pairs:
            await self._put("global", name, value)

    async def _get(self, space: str, key: str) -> str | None:
        """The number one is set to; None where it never was.

        Raises:
            UpstreamUnavailable: The device does not say: what is not known cannot be put back either.
        """
        done = await self._reach.run("settings", "get", space, key)
        said = done.text.strip()
        told = said in ("null", "") if done.stdout else False
        if done.status != 0 or not (told or _NUMBER.fullmatch(said)):
            raise UpstreamUnavailable(
                "The device does not say how it is set.",
                upstream="settings",
                enable_hint="See details.",
                said=done.both[-1000:],
            )
        return None if told else said

    async def _put(self, space: str, key: str, value: str | None) -> None:
        """Sets one; None: it was never set, and is so again."""
        if value is None:
            await self._do("settings", "delete", space, key)
        else:
            await self._do("settings", "put", space, key, value)

    async def _do(self, *words: str) -> None:
        done = await self._reach.adb.shell(line(*words), deadline=20.0)
        said = done.both
        if done.status != 0 or "Exception" in said or "Unknown command" in said or said.startswith("Error"):
            raise UpstreamUnavailable(
                "The device did not take the setting.", upstream=words[0], enable_hint="See details.", said=said[-1000:]
            )


class TvSettings(AndroidSettings):
    """A television's: it is not turned, flies nowhere, and has no status bar."""

    lacking = frozenset({"orientation", "airplane", "status_bar"})
    orientation = Settings.orientation
    airplane = Settings.airplane
    status_bar = Settings.status_bar


def _by_network(serial: str) -> bool:
    """Whether a device is reached over a network that leads through its own Wi-Fi."""
    host, colon, _ = serial.rpartition(":")
    return "._adb-tls-connect._tcp" in serial or (bool(colon) and host not in ("127.0.0.1", "localhost", "::1"))


def _named(app: str, name: str) -> str:
    """A permission's whole name; what could be an option of `pm` is no app and no permission.

    Raises:
        AppNotFound, InvalidArgument: So it is.
    """
    if not NAME.fullmatch(app):
        raise AppNotFound(
            "No such app is installed.", hint="Call apps to see what is installed.", nearest_matches=[], app=app
        )
    if not NAME.fullmatch(name):
        raise InvalidArgument(
            "This is no permission of Android.", param="name", expected="a name such as CAMERA or READ_CONTACTS"
        )
    return name if "." in name else f"android.permission.{name.upper()}"
