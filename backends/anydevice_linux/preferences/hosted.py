"""The preferences of a desktop that somebody else started: read from its settings portal, changed through gsettings."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from anydevice.kit import processes
from anydevice_schemas.errors import UpstreamUnavailable

from ..a11y.bus import Link, Trouble
from ..seats import Seat
from . import portal as portals
from .manager import GNOME
from .portal import APPEARANCE

DEADLINE: Final = 5.0
"""Seconds gsettings may take."""
LOOK: Final = 1.5
"""Seconds a session bus may take while it is found out what a desktop has."""
KEYS: Final[Mapping[str, str]] = {
    "appearance": "color-scheme", "animations": "enable-animations", "text_size": "text-scaling-factor",
}  # fmt: skip
"""The key of each area."""


@dataclass(slots=True)
class Hosted:
    """The preferences of one such desktop.

    Attributes:
        seat: How it is reached.
        missing: Why an area cannot be changed here, by area; found out by `look`.
        before: What was there before it was changed, as gsettings told it.
    """

    seat: Seat
    missing: dict[str, str] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)

    async def look(self) -> None:
        """Finds out which areas the desktop has. Never fails: what does not answer is not there."""
        reason = "gsettings is not installed: install libglib2.0-bin (Debian, Ubuntu) or glib2 (Fedora)"
        if shutil.which("gsettings") is None:
            self.missing = dict.fromkeys(KEYS, reason)
            return
        self.missing = dict.fromkeys(KEYS, "the session bus of this desktop does not answer")
        try:
            link = await Link.open(self.seat.bus, LOOK)
        except Trouble:
            return
        try:
            for area in KEYS:
                if await self._portal(link, area) is not None:
                    del self.missing[area]
                else:
                    self.missing[area] = (
                        "no settings portal of this desktop tells it to programs: start xdg-desktop-portal with the "
                        "portal of the desktop"
                    )
        except Trouble:
            return
        finally:
            await link.aclose()

    async def read(self, area: str) -> tuple[str | None, dict[str, Any]]:
        """What the portal tells programs now, in our words and in its own.

        Raises:
            UpstreamUnavailable: It does not answer.
        """
        try:
            link = await Link.open(self.seat.bus)
            try:
                found = await self._portal(link, area)
            finally:
                await link.aclose()
        except Trouble as error:
            raise UpstreamUnavailable(
                "The settings portal of the desktop does not answer.",
                upstream=portals.NAME,
                enable_hint="Start xdg-desktop-portal in that session.",
                reason=type(error).__name__,
            ) from error
        return _word(area, found), {"portal": found}

    async def set(self, area: str, value: str) -> None:
        """Changes one area.

        Raises:
            ToolMissing, CallTimeout: gsettings is gone, or does not end.
            UpstreamUnavailable: It refuses.
        """
        if area not in self.before:
            self.before[area] = await self._gsettings("get", KEYS[area])
        await self._gsettings("set", KEYS[area], _value(area, value))

    async def restore(self) -> None:
        """Puts back what was there before it was changed."""
        for area, value in list(self.before.items()):
            await self._gsettings("set", KEYS[area], value)
            del self.before[area]

    async def _portal(self, link: Link, area: str) -> Any:
        if area == "appearance":
            return await portals.read(link, *APPEARANCE)
        return await portals.read(link, GNOME, KEYS[area])

    async def _gsettings(self, *words: str) -> str:
        verb, key, *value = words
        done = await processes.run(
            ["gsettings", verb, GNOME, key, *value], deadline=DEADLINE, env=self.seat.env, cap=4096
        )
        if done.code != 0:
            raise UpstreamUnavailable(
                "The desktop does not take the setting.",
                upstream="gsettings",
                enable_hint="Install gsettings-desktop-schemas, and the settings service of the desktop (dconf).",
                stderr=done.complaint[-500:],
            )
        return done.text.strip()


def _value(area: str, value: str) -> str:
    """A value of ours as gsettings takes it."""
    if area == "appearance":
        return "prefer-dark" if value == "dark" else "prefer-light"
    return ("true" if value == "on" else "false") if area == "animations" else value


def _word(area: str, found: Any) -> str | None:
    """What the portal said, in our words; None for what is none."""
    if area == "appearance":
        return portals.scheme(found)
    if area == "animations":
        return ("on" if found else "off") if isinstance(found, bool) else None
    return f"{round(found, 3):g}" if isinstance(found, int | float) else None
