"""Settings, remote control and notifications of a fake device: what was really done, to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import anyio

from anydevice_schemas import INTERACTIVE
from anydevice_schemas.errors import AppNotFound, InvalidArgument, Unsupported

from .. import driver as d
from .launching import NAMES

if TYPE_CHECKING:
    from .driver import FakeDriver
    from .screen import FakeElement, FakeScreen

OPERATIONS = [
    "settings.read", "settings.appearance", "settings.animations", "settings.text_size", "settings.wifi",
    "settings.airplane", "settings.location", "settings.permission", "settings.status_bar", "settings.orientation",
    "settings.app_data",
    "remote.press", "remote.repeat", "remote.hold", "notifications.push", "keys.keyboard_state", "keys.dismiss",
    "keys.paste",
]  # fmt: skip
FIRST: Mapping[str, str] = {
    "appearance": "light", "animations": "on", "text_size": "1", "wifi": "on", "airplane": "off", "location": "off",
    "status_bar": "live", "orientation": "portrait",
}  # fmt: skip
"""How a device is set up that nobody has touched."""
CHOICES: Mapping[str, tuple[str, ...]] = {
    "appearance": ("light", "dark"), "animations": ("on", "off"), "wifi": ("on", "off"), "airplane": ("on", "off"),
    "status_bar": ("live", "demo"), "app_data": ("clear",), "permission": ("grant", "deny", "ask"),
    "orientation": ("portrait", "landscape-left", "landscape-right", "portrait-upside-down"),
}  # fmt: skip
BUTTONS = ("up", "down", "left", "right", "select", "back", "home", "menu", "play-pause", "volume-up", "volume-down")
STEPS = {"down": 1, "right": 1, "up": -1, "left": -1}
SLIDER = 5
"""How far left and right take a slider that has the focus."""


@dataclass
class Upkeep:
    """What a fake device was set up to, and what arrived at it besides input.

    Attributes:
        values: Settings that were changed, by area; a permission by `permission APP NAME`.
        pushed: Notifications that were delivered: app and payload.
        cleared: Apps whose data were deleted, in turn.
        buttons: Buttons of the remote control that were pressed, and for how many seconds.
    """

    values: dict[str, str] = field(default_factory=dict)
    pushed: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    cleared: list[str] = field(default_factory=list)
    buttons: list[tuple[str, float]] = field(default_factory=list)

    def read(self, key: str) -> str | None:
        """A setting as it is now."""
        return self.values.get(key, "ask" if key.startswith("permission ") else FIRST.get(key))

    def set(self, screen: FakeScreen, key: str, value: str) -> None:
        """Changes a setting; a screen that is turned swaps its sides."""
        self.values[key] = value
        if key == "orientation" and ("landscape" in value) != (screen.width > screen.height):
            screen.width, screen.height = screen.height, screen.width

    def clean(self, screen: FakeScreen) -> None:
        """Everything is as it was before anybody changed it."""
        if "orientation" in self.values:
            self.set(screen, "orientation", FIRST["orientation"])
        self.values.clear()


class FakeSettings(d.Settings):
    """Settings kept by the screen's `upkeep`."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    async def read(self, area: str, *, app: str | None = None, name: str | None = None) -> d.Setting:
        """See `Settings`."""
        await self.driver.enter("settings.read", page=False)
        if not self.driver.has(f"settings.{area}"):
            raise Unsupported("This device does not have it.", operation=f"settings.{area}", alternatives=[])
        if area == "app_data":
            _known(app or "")
        return d.Setting(self.driver.model.upkeep.read(_key(area, app, name)), CHOICES.get(area, ()))

    async def appearance(self, value: str) -> d.Acted:
        """See `Settings`."""
        return await self._set("appearance", value)

    async def orientation(self, value: str) -> d.Acted:
        """See `Settings`."""
        return await self._set("orientation", value)

    async def animations(self, value: str) -> d.Acted:
        """See `Settings`."""
        return await self._set("animations", value)

    async def wifi(self, value: str) -> d.Acted:
        """See `Settings`."""
        return await self._set("wifi", value)

    async def airplane(self, value: str) -> d.Acted:
        """See `Settings`."""
        return await self._set("airplane", value)

    async def location(self, value: str) -> d.Acted:
        """See `Settings`."""
        return await self._set("location", value)

    async def text_size(self, value: str) -> d.Acted:
        """See `Settings`."""
        return await self._set("text_size", value)

    async def permission(self, value: str, *, app: str, name: str) -> d.Acted:
        """See `Settings`."""
        done = await self.driver.enter("settings.permission", page=False)
        _known(app)
        if done:
            self.driver.model.upkeep.values[_key("permission", app, name)] = value
        return d.Acted("setting")

    async def app_data(self, value: str, *, app: str) -> d.Acted:
        """See `Settings`: the app ends, and nothing tells what it had stored."""
        done = await self.driver.enter("settings.app_data", page=False)
        _known(app)
        if done:
            self.driver.model.upkeep.cleared.append(app)
            self.driver.model.close(app, True)
        return d.Acted("setting")

    async def status_bar(self, value: str) -> d.Acted:
        """See `Settings`."""
        return await self._set("status_bar", value)

    async def _set(self, area: str, value: str) -> d.Acted:
        if await self.driver.enter(f"settings.{area}", page=False):
            self.driver.model.upkeep.set(self.driver.model, area, value)
        return d.Acted("setting")


def _known(app: str) -> None:
    if app.casefold() not in NAMES:
        raise AppNotFound("There is no such app.", nearest_matches=list(NAMES))


def _key(area: str, app: str | None, name: str | None) -> str:
    return f"permission {app} {name}" if area == "permission" else area


class FakeRemote(d.Remote):
    """A remote control: arrows move the focus along what can be acted on, select presses it."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    async def press(self, button: str, *, seconds: float = 0.0) -> d.Acted:
        """See `Remote`."""
        if button not in BUTTONS:
            raise InvalidArgument("There is no such button.", param="button", expected=", ".join(BUTTONS))
        if await self.driver.enter("remote.press"):
            model = self.driver.model
            model.upkeep.buttons.append((button, seconds))
            await anyio.sleep(min(seconds, 0.2))
            self._carry_out(model, button, seconds)
        return self.driver.after("remote")

    async def repeat(self, button: str, *, count: int) -> d.Acted:
        """See `Remote`."""
        if await self.driver.enter("remote.repeat"):
            for _ in range(count):
                await self.press(button)
        return self.driver.after("remote")

    async def hold(self, button: str, *, seconds: float) -> d.Acted:
        """See `Remote`."""
        if await self.driver.enter("remote.hold"):
            await self.press(button, seconds=seconds)
        return self.driver.after("remote")

    def _carry_out(self, model: FakeScreen, button: str, seconds: float = 0.0) -> None:
        if button in ("left", "right") and model.focus is not None and model.focus.role == "slider":
            model.focus.write(str(int(float(model.focus.value or 0)) + SLIDER * STEPS[button]))
        elif button in STEPS:
            self._move(model, STEPS[button])
        elif button == "select" and model.focus is not None and "disabled" not in model.focus.states:
            if seconds > 0:
                model.hold_at(model.place(model.focus).center, seconds)
            else:
                model.activate(model.focus)
        elif button == "back":
            model.back()
        elif button == "home":
            model.power_off()

    def _move(self, model: FakeScreen, step: int) -> None:
        """The focus goes one further and is shown; where nothing is further, the content moves by half a screen."""
        there = [e for e in model.elements if self._takes(e)]
        at = there.index(model.focus) + step if model.focus in there else 0
        if not 0 <= at < len(there):
            model.scroll(step * model.height / 2)
            return
        model.focus = there[at]
        place = model.place(model.focus)
        over = place.y if place.y < 0 else max(0.0, place.y + place.height - model.height)
        if over:
            model.scroll(over)

    def _takes(self, element: FakeElement) -> bool:
        """Whether the arrows stop at an element."""
        return (element.role in INTERACTIVE or element.role == "listitem") and not {
            "hidden",
            "disabled",
        } & element.states


@runtime_checkable
class Telling(Protocol):
    """A screen with a witness."""

    def report(self, what: str, element: str = "", value: Any = None) -> None:
        """Tells the witness."""


class FakeNotifications(d.Notifications):
    """Notifications to the one app there is."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    async def push(self, app: str, payload: Mapping[str, Any]) -> d.Acted:
        """See `Notifications`."""
        done = await self.driver.enter("notifications.push", page=False)
        if app.casefold() not in NAMES:
            raise AppNotFound("There is no such app.", nearest_matches=list(NAMES))
        if done:
            model = self.driver.model
            model.upkeep.pushed.append((app, payload))
            model.log("push", None, app=app)
            if isinstance(model, Telling):
                model.report("push", value=payload)
        return d.Acted("push")
