"""Settings: of simulators by simctl, of any device by the agent what only that can. What was changed is put back."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from anydevice.driver import Acted, Setting, Settings
from anydevice_schemas.errors import AnydeviceError, InvalidArgument, Unsupported

from .bundles import ID, unknown
from .reach import Reach
from .simctl import SimctlFailed, typed

Undo = Callable[[], Awaitable[object]]
ORIENTATIONS: Final[Mapping[str, str]] = {
    "portrait": "PORTRAIT", "landscape-left": "LANDSCAPE",
    "landscape-right": "UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT",
    "portrait-upside-down": "UIA_DEVICE_ORIENTATION_PORTRAIT_UPSIDEDOWN",
}  # fmt: skip
NO_TV: Final = ("orientation", "status_bar", "location")
"""Settings that an Apple TV does not have, or nobody needs there."""
LEFT: Final = "UIA_DEVICE_ORIENTATION_LANDSCAPELEFT"
SIZES: Final[Mapping[str, str]] = {
    "0.8": "extra-small", "0.9": "small", "0.95": "medium", "1": "large", "1.1": "extra-large",
    "1.25": "extra-extra-large", "1.35": "extra-extra-extra-large", "1.65": "accessibility-medium",
    "1.95": "accessibility-large", "2.35": "accessibility-extra-large", "2.75": "accessibility-extra-extra-large",
    "3": "accessibility-extra-extra-extra-large",
}  # fmt: skip
"""Sizes of text: about how large the body is beside the ordinary one, and Apple's word for it. There are no others."""
SERVICES: Final = frozenset(
    {
        "all", "calendar", "contacts-limited", "contacts", "location", "location-always", "photos-add", "photos",
        "media-library", "microphone", "motion", "reminders", "siri",
    }
)  # fmt: skip
"""Permissions simctl knows. It knows neither the camera nor notifications."""
VERBS: Final = {"grant": "grant", "deny": "revoke", "ask": "reset"}
DEMO: Final = (
    "--time", "9:41", "--dataNetwork", "wifi", "--wifiMode", "active", "--wifiBars", "3", "--cellularMode", "active",
    "--cellularBars", "4", "--batteryState", "charged", "--batteryLevel", "100",
)  # fmt: skip
_OVERRIDE: Final = re.compile(
    r"^\s*(Time|DataNetworkType|Data Network|WiFi|Wi-Fi|Cell|Battery|Operator)\b.*:", re.M | re.I
)


class AppleSettings(Settings):
    """See `Settings`. What it changed it puts back in `clean`, in reverse order."""

    def __init__(self, reach: Reach, undo: dict[str, Undo] | None = None) -> None:
        """`undo` holds what is to be put back; it outlives a driver whose connection was lost."""
        self._reach = reach
        self._undo: dict[str, Undo] = {} if undo is None else undo

    async def read(self, area: str, *, app: str | None = None, name: str | None = None) -> Setting:
        """See `Settings.read`.

        Raises:
            Unsupported: There is no such area here.
        """
        readers: dict[str, Callable[[], Awaitable[Setting]]] = {
            "appearance": self._appearance, "location": self._location, "text_size": self._text_size,
            "status_bar": self._status_bar, "orientation": self._orientation,
        }  # fmt: skip
        if area == "permission":
            _service(name or "")
            return Setting(None, tuple(VERBS))  # it is set, and there is nothing that reads it
        if area not in readers or (self._reach.tv and area in NO_TV):
            raise Unsupported(
                "There is no such setting here that tools can read.", operation=f"settings.{area}", alternatives=[]
            )
        return await readers[area]()

    async def appearance(self, value: str) -> Acted:
        """See `Settings.appearance`."""
        self._later("appearance", (await self._appearance()).value, self.appearance)
        if self._reach.simctl is not None:
            await self._reach.simctl.do("ui", "appearance", value)
            return Acted("simctl")
        await self._reach.tell("settings.appearance", "/wda/device/appearance", {"name": value})
        return Acted("wda")

    async def text_size(self, value: str) -> Acted:
        """See `Settings.text_size`."""
        self._later("text_size", (await self._text_size()).value, self.text_size)
        await self._reach.sim.do("ui", "content_size", SIZES[_size(value)])
        return Acted("simctl")

    async def orientation(self, value: str) -> Acted:
        """See `Settings.orientation`: an app that insists on its own is not turned.

        Raises:
            Unsupported: `auto`: a device that is driven lies as it is told to; or it is an Apple TV.
        """
        self._no_tv("orientation")
        if value not in ORIENTATIONS:
            raise Unsupported(
                "The screen cannot be left to turn by itself here.",
                hint="Name a direction such as portrait.",
                operation="settings.orientation",
                alternatives=[],
            )
        self._later("orientation", (await self._orientation()).value, self.orientation)
        self._reach.acted += 1
        await self._reach.tell(
            "settings.orientation", "/orientation", {"orientation": ORIENTATIONS[value]}, session=True
        )
        return Acted("wda")

    async def location(self, value: str) -> Acted:
        """See `Settings.location`.

        Raises:
            Unsupported: It is an Apple TV.
        """
        self._no_tv("location")
        self._undo.setdefault("location", lambda: self._locate("off"))
        return await self._locate(value)

    async def _locate(self, value: str) -> Acted:
        if self._reach.simctl is not None:
            await self._reach.simctl.do("location", *(("clear",) if value == "off" else ("set", value)))
            return Acted("simctl")
        if value == "off":
            await self._reach.drop("settings.location", "/wda/simulatedLocation")
            return Acted("wda")
        latitude, longitude = value.split(",")
        body = {"latitude": float(latitude), "longitude": float(longitude)}
        await self._reach.tell("settings.location", "/wda/simulatedLocation", body)
        return Acted("wda")

    async def permission(self, value: str, *, app: str, name: str) -> Acted:
        """See `Settings.permission`. The system ends an app whose permission is changed while it runs.

        Raises:
            AppNotFound: The app is not installed.
            InvalidArgument: There is no such permission.
            Unsupported: The system of this simulator lacks it.
        """
        service = _service(name)
        bundles = await self._reach.bundles.all()
        if not ID.fullmatch(app) or app not in bundles:
            raise unknown(app, bundles)
        self._undo.setdefault(f"permission {app} {service}", lambda: self._forget(app, service))
        was = app in await self._reach.bundles.running()
        await self._permit(VERBS[value], service, app)
        ended = was and app not in await self._reach.bundles.running()
        if ended and self._reach.opened == app:
            self._reach.pid = None
        return Acted("simctl", data={"ended": app} if ended else {})

    async def _forget(self, app: str, service: str) -> None:
        if await self._reach.bundles.installed(app):
            await self._permit("reset", service, app)

    async def _permit(self, verb: str, service: str, app: str) -> None:
        try:
            await self._reach.sim.run("privacy", verb, service, app)
        except SimctlFailed as error:
            if error.failure.kind == "no_service":
                raise Unsupported(
                    "The system of this simulator does not let tools set this permission.",
                    hint="Answer the system's own question with alert instead.",
                    operation="settings.permission",
                    alternatives=["alerts.accept", "alerts.dismiss"],
                    said=error.said[:500],
                ) from None
            raise typed(error) from None

    async def status_bar(self, value: str) -> Acted:
        """See `Settings.status_bar`.

        Raises:
            Unsupported: It is an Apple TV.
        """
        self._no_tv("status_bar")
        self._later("status_bar", (await self._status_bar()).value, self.status_bar)
        if value == "demo":
            await self._reach.sim.do("status_bar", "override", *DEMO)
        else:
            await self._reach.sim.do("status_bar", "clear")
        return Acted("simctl")

    async def clean(self) -> None:
        """Puts back everything that was changed here; what cannot be is kept for the next time.

        Raises:
            AnydeviceError: The first that could not be put back; the others were.
        """
        wrong: AnydeviceError | None = None
        for area, undo in reversed([*self._undo.items()]):
            try:
                await undo()
            except AnydeviceError as error:
                wrong = wrong or error
            else:
                del self._undo[area]
        if wrong is not None:
            raise wrong

    # --- reading ---

    async def _appearance(self) -> Setting:
        if self._reach.simctl is not None:
            said = (await self._reach.simctl.do("ui", "appearance")).text.strip().casefold()
        else:
            told = await self._reach.ask("settings.read", "/wda/device/info")
            said = str(told.get("userInterfaceStyle", "")) if isinstance(told, Mapping) else ""
            said = {"1": "light", "2": "dark"}.get(said, said.casefold())
        return Setting(said if said in ("light", "dark") else None, ("light", "dark"))

    async def _text_size(self) -> Setting:
        said = (await self._reach.sim.do("ui", "content_size")).text.strip().casefold()
        value = next((factor for factor, word in SIZES.items() if word == said), None)
        return Setting(value, tuple(SIZES), {"size": said[:60]})

    async def _status_bar(self) -> Setting:
        said = (await self._reach.sim.do("status_bar", "list")).text
        return Setting("demo" if _OVERRIDE.search(said) else "live", ("demo", "live"))

    async def _orientation(self) -> Setting:
        said = str(await self._reach.ask("settings.read", "/orientation"))
        word = "LANDSCAPE" if said == LEFT else said
        value = next((ours for ours, theirs in ORIENTATIONS.items() if theirs == word), None)
        return Setting(value, tuple(ORIENTATIONS))

    async def _location(self) -> Setting:
        try:
            told = await self._reach.ask("settings.read", "/wda/simulatedLocation")
        except AnydeviceError:
            return Setting(None)
        if not isinstance(told, Mapping) or told.get("latitude") is None or told.get("longitude") is None:
            return Setting("off" if self._reach.simctl is None else None)
        return Setting(f"{float(told['latitude']):.6f},{float(told['longitude']):.6f}")

    def _no_tv(self, area: str) -> None:
        if self._reach.tv:
            raise Unsupported("An Apple TV has no such setting.", operation=f"settings.{area}", alternatives=[])

    def _later(self, area: str, before: str | None, put: Callable[[str], Awaitable[Acted]]) -> None:
        if before is not None:
            self._undo.setdefault(area, lambda: put(before))


def _service(name: str) -> str:
    """simctl's word for a permission.

    Raises:
        InvalidArgument: It knows none of this name.
    """
    word = name.strip().casefold().replace("_", "-")
    if word not in SERVICES:
        raise InvalidArgument(
            "This is no permission that tools can set on a simulator.",
            param="name",
            expected=", ".join(sorted(SERVICES)),
        )
    return word


def _size(value: str) -> str:
    """The size of a factor.

    Raises:
        InvalidArgument: There is none of it.
    """
    found = next((factor for factor in SIZES if abs(float(factor) - float(value)) < 0.001), None)
    if found is None:
        raise InvalidArgument("There is no such size.", param="value", expected=", ".join(SIZES))
    return found
