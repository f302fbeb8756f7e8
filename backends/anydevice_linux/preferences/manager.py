"""The preferences of a virtual desktop: what programs on it are told, by XSETTINGS and by the settings portal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import structlog
from dbus_fast import Variant

from anydevice_schemas.errors import AnydeviceError, UpstreamUnavailable

from ..a11y.bus import Link, Trouble
from ..seats import Seat
from . import portal as portals
from . import xsettings
from .portal import APPEARANCE, Portal, Told
from .xsettings import Teller

log = structlog.get_logger("anydevice.linux")

DEFAULTS: Final[Mapping[str, str]] = {"appearance": "light", "animations": "on", "text_size": "1"}
"""How programs look that were told nothing, by area."""
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {"appearance": ("light", "dark"), "animations": ("on", "off")}
NAMES: Final[Mapping[str, str]] = {
    "appearance": "Net/ThemeName", "animations": "Gtk/EnableAnimations", "text_size": "Xft/DPI",
}  # fmt: skip
"""What each area is called by XSETTINGS."""
GNOME: Final = "org.gnome.desktop.interface"
LIGHT, DARK = "Adwaita", "Adwaita-dark"
_DPI = 96 * 1024
_THEMES = {
    "gtk-3.0": '@import url("resource:///org/gtk/libgtk/theme/Adwaita/gtk-dark.css");\n',
    "gtk-4.0": '@import url("resource:///org/gtk/libgtk/theme/Default/Default-dark.css");\n',
}
"""The dark theme by the name desktops give it: GTK brings it along, under names that no setting reaches."""


class Manager:
    """What programs on one virtual desktop are told. Ends with the desktop."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat
        self._values: dict[str, str] = {}
        self._teller: Teller | None = None
        self._portal: Portal | None = None
        self._changing = anyio.Lock()

    @property
    def changed(self) -> Mapping[str, str]:
        """What was set, by area; empty while nothing was."""
        return dict(self._values)

    async def open(self, values: Mapping[str, str] | None = None) -> None:
        """Starts telling: before the first program starts, since many look for a portal only then.

        What cannot be reached now is tried again when something is set.

        Args:
            values: What was set before, after a hand-over.
        """
        async with self._changing:
            self._values = dict(values or {})
            try:
                await self._connect()
            except AnydeviceError as error:
                log.warning("no_settings_manager", device=self._seat.id, reason=error.message)

    async def set(self, area: str, value: str) -> None:
        """Sets one area to a value of ours.

        Raises:
            AnydeviceError: The display or the bus does not answer.
        """
        async with self._changing:
            self._values = {**self._values, area: value}
            await self._connect()
            await self._tell()

    async def restore(self) -> None:
        """Puts everything that was set back to how programs look untold."""
        async with self._changing:
            if not self._values:
                return
            # Told in so many words: a program that is told nothing any more goes on as it was told last.
            self._values = {area: DEFAULTS[area] for area in self._values}
            await self._connect()
            await self._tell()
            self._values = {}
            if self._portal is not None:
                await self._portal.tell(self._answers())

    async def read(self, area: str) -> tuple[str | None, dict[str, str | int]]:
        """What a program on the desktop would learn now, from display and bus; and what it was told word for word.

        Raises:
            AnydeviceError: The display does not answer.
        """
        every = await xsettings.told(self._seat.display, self._seat.xauthority) or {}
        said = {name: every[name] for name in (NAMES[area],) if name in every}
        if area == "animations":
            value = "off" if said.get("Gtk/EnableAnimations") == 0 else "on"
        elif area == "text_size":
            dpi = said.get("Xft/DPI", _DPI)
            value = f"{round(dpi / _DPI, 3):g}" if isinstance(dpi, int) else "1"
        else:
            heard = await self._heard()
            value = "dark" if said.get("Net/ThemeName") == DARK else "light"
            if heard is not None and heard != value:
                return None, {**said, "portal": heard}  # two halves that say two things
        return value, said

    async def _heard(self) -> str | None:
        """What the settings portal answers; None where there is none."""
        try:
            link = await Link.open(self._seat.bus)
            try:
                return portals.scheme(await portals.read(link, *APPEARANCE))
            finally:
                await link.aclose()
        except Trouble as error:
            raise UpstreamUnavailable(
                "The session bus of the desktop does not answer.",
                upstream="session bus",
                enable_hint=f"Call shutdown, then boot with device={self._seat.id}.",
                reason=type(error).__name__,
            ) from error

    async def aclose(self) -> None:
        """Stops telling."""
        for part in (self._teller, self._portal):
            if part is not None:
                await part.aclose()
        self._teller = self._portal = None

    # --- inside ---

    async def _connect(self) -> None:
        if self._teller is None or self._teller.lost:
            if self._teller is not None:
                await self._teller.aclose()
            self._teller = await Teller.open(self._seat.display, self._seat.xauthority)
            if self._values:
                await self._teller.tell(self._settings())
        if self._portal is None or self._portal.lost:
            try:
                self._portal = await Portal.open(self._seat.bus, self._answers())
            except AnydeviceError as error:  # XSETTINGS reaches most programs without it
                log.warning("no_settings_portal", device=self._seat.id, reason=str(error.details.get("reason")))

    async def _tell(self) -> None:
        assert self._teller is not None
        if self._values.get("appearance") == "dark":
            await anyio.to_thread.run_sync(self._furnish)
        await self._teller.tell(self._settings())
        if self._portal is not None:
            await self._portal.tell(self._answers())

    def _settings(self) -> dict[str, int | str]:
        out: dict[str, int | str] = {}
        if "appearance" in self._values:
            out["Net/ThemeName"] = DARK if self._values["appearance"] == "dark" else LIGHT
        if "animations" in self._values:
            out["Gtk/EnableAnimations"] = int(self._values["animations"] == "on")
        if "text_size" in self._values:
            out["Xft/DPI"] = round(_DPI * float(self._values["text_size"]))
        return out

    def _answers(self) -> Told:
        appearance = self._values.get("appearance")
        dark = appearance == "dark"
        return {
            APPEARANCE[0]: {APPEARANCE[1]: Variant("u", 1 if dark else 0 if appearance is None else 2)},
            GNOME: {
                "color-scheme": Variant("s", "prefer-dark" if dark else "default"),
                "gtk-theme": Variant("s", DARK if dark else LIGHT),
                "enable-animations": Variant("b", self._values.get("animations", "on") == "on"),
                "text-scaling-factor": Variant("d", float(self._values.get("text_size", "1"))),
            },
        }

    def _furnish(self) -> None:
        """Writes the dark theme into the desktop's home. Blocks for a moment."""
        themes = Path(self._seat.env["XDG_DATA_HOME"]) / "themes" / DARK
        for folder, text in _THEMES.items():
            (themes / folder).mkdir(parents=True, exist_ok=True)
            (themes / folder / "gtk.css").write_text(text)
