"""Settings of a desktop: appearance, animations, size of text."""

from __future__ import annotations

from collections.abc import Callable

from anydevice.driver import Acted, Setting, Settings
from anydevice_schemas.errors import Unsupported

from .preferences import Hosted, Manager
from .preferences.manager import CHOICES

AREAS = ("appearance", "animations", "text_size")
REACHES = "GTK programs that run change at once; others may look only when they start"


class LinuxSettings(Settings):
    """What programs are told: by a manager of ours on a virtual desktop, by the desktop's own elsewhere."""

    def __init__(self, preferences: Callable[[], Manager | Hosted]) -> None:
        """`preferences` are those of the desktop as it runs now, or raise why it does not."""
        self._preferences = preferences

    async def read(self, area: str, *, app: str | None = None, name: str | None = None) -> Setting:
        """See `Settings.read`.

        Raises:
            Unsupported: A desktop has no such setting.
        """
        if area not in AREAS:
            raise Unsupported(
                "A desktop has no such setting.",
                operation=f"settings.{area}",
                alternatives=[f"settings.{one}" for one in AREAS],
            )
        value, told = await self._preferences().read(area)
        return Setting(value, CHOICES.get(area, ()), told)

    async def appearance(self, value: str) -> Acted:
        """See `Settings.appearance`."""
        return await self._set("appearance", value)

    async def animations(self, value: str) -> Acted:
        """See `Settings.animations`."""
        return await self._set("animations", value)

    async def text_size(self, value: str) -> Acted:
        """See `Settings.text_size`."""
        return await self._set("text_size", value)

    async def _set(self, area: str, value: str) -> Acted:
        preferences = self._preferences()
        await preferences.set(area, value)
        method = "xsettings" if isinstance(preferences, Manager) else "gsettings"
        return Acted(method, data={"reaches": REACHES})


def unavailable(preferences: Manager | Hosted | None) -> dict[str, str]:
    """Operations of settings that a desktop does not have, with the reason."""
    if not isinstance(preferences, Hosted) or not preferences.missing:
        return {}
    out = {f"settings.{area}": reason for area, reason in preferences.missing.items()}
    return out if len(preferences.missing) < len(AREAS) else {"settings": next(iter(preferences.missing.values()))}
