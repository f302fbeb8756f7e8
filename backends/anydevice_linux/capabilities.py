"""The capabilities of a desktop, over connections that are opened on first use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from anydevice.driver import (
    Acted,
    Alerts,
    Button,
    Dialog,
    Elements,
    Geometry,
    Image,
    Keys,
    Pointer,
    Probe,
    Screen,
    TreeScope,
)
from anydevice_schemas import Node, Point, Rect, Tree
from anydevice_schemas.errors import InvalidArgument, Unsupported

from . import watching
from .a11y.keys import parse
from .apps import LinuxApps
from .live import Live, Lives
from .naming import told_id
from .x11.windows import gone

GTK3: Final = "gtk"
"""What GTK 3 calls itself."""
OPENS: Final = frozenset({"button", "link", "menuitem"})
"""Roles of what may open a dialog."""


class LinuxScreen(Screen):
    """What the desktop shows. Points are pixels of the X screen."""

    def __init__(self, lives: Lives, apps: LinuxApps) -> None:
        self._lives, self._apps = lives, apps

    async def tree(self, scope: TreeScope) -> Tree:
        """See `Screen.tree`: the application in front, a window, or all of the desktop.

        Raises:
            AppNotFound: The window is gone.
            DialogOpen: A dialog blocks it.
            AppCrashed, AppNotRunning: The app that was opened last is gone.
        """
        if scope.root is not None or (scope.reach == "app" and scope.window is None):
            return await (await self._ready()).a11y.tree(scope)
        live = await self._lives.get()
        await watching.guard(live)
        window = None
        if scope.window is not None:
            found = [one for one in await live.windows.list() if told_id(one) == scope.window]
            if not found:
                raise gone()
            window = found[0]
        return await live.a11y.tree(scope, reach="all", window=window)

    async def image(self, area: Rect | None = None, *, full: bool = False) -> Image:
        """See `Screen.image`. There is no more of a desktop than is on screen.

        Raises:
            Unsupported: `full`.
        """
        live = await self._ready()
        if full:
            raise Unsupported(
                "A desktop has no content beyond its screen.",
                hint="Scroll, and take a picture of each part.",
                operation="screen.image",
                alternatives=["pointer.wheel"],
            )
        if area is not None and area.intersect(live.screen) is None:
            raise InvalidArgument("The area is not on the screen.", param="area", expected="a part of the screen")
        return await live.shots.image(area)

    async def geometry(self) -> Geometry:
        """See `Screen.geometry`."""
        return await (await self._lives.get()).shots.geometry()

    async def _ready(self) -> Live:
        live = await self._lives.get()
        await self._apps.troubled(live)
        await watching.guard(live)
        return live


class LinuxElements(Elements):
    """Elements through accessibility."""

    def __init__(self, lives: Lives) -> None:
        self._lives = lives

    async def probe(self, key: str, *, at: Point | None = None) -> Probe:
        """See `Elements.probe`."""
        live = await self._lives.get()
        await watching.guard(live)
        return await live.a11y.elements.probe(key, at=at)

    async def at(self, point: Point) -> Node | None:
        """See `Elements.at`."""
        live = await self._lives.get()
        await watching.guard(live)
        return await live.a11y.elements.at(point)

    async def activate(self, key: str) -> Acted:
        """See `Elements.activate`. What may open a dialog is pressed by the pointer in GTK 3, where it shows.

        GTK 3 carries an action out while it takes the question. A program that opens its dialog there and waits for it
        (most do) locks up for good at the first key that is pressed in that dialog.
        """
        live = await self._lives.get()

        async def press() -> Acted:
            point = await self._pressable(live, key)
            return await (live.pointer.click(point) if point is not None else live.a11y.elements.activate(key))

        return await watching.act(live, press)

    async def set_text(self, key: str, text: str) -> Acted:
        """See `Elements.set_text`."""
        live = await self._lives.get()
        return await watching.act(live, lambda: live.a11y.elements.set_text(key, text))

    async def focus(self, key: str) -> Acted:
        """See `Elements.focus`."""
        live = await self._lives.get()
        return await watching.act(live, lambda: live.a11y.elements.focus(key))

    async def reveal(self, key: str) -> Acted:
        """See `Elements.reveal`."""
        live = await self._lives.get()
        await watching.guard(live)
        return await live.a11y.elements.reveal(key)

    async def _pressable(self, live: Live, key: str) -> Point | None:
        """Where the pointer presses an element instead of its own action doing it; None where it does not."""
        name = parse(key).bus_name
        if not any(app.bus_name == name and app.toolkit == GTK3 for app in await live.a11y.apps()):
            return None
        probe = await live.a11y.elements.probe(key)
        if probe.node.role not in OPENS or probe.point is None or probe.cover is not None:
            return None
        if probe.node.states & {"disabled", "hidden", "offscreen"}:
            return None
        active, there = await live.windows.active(), await live.windows.at(probe.point)
        return probe.point if active is not None and there is not None and active.pid == there.pid else None


class LinuxPointer(Pointer):
    """The mouse."""

    def __init__(self, lives: Lives) -> None:
        self._lives = lives

    async def move(self, point: Point) -> Acted:
        """See `Pointer.move`."""
        live = await self._lives.get()
        return await watching.act(live, lambda: live.pointer.move(point))

    async def click(self, point: Point, *, button: Button = "primary", count: int = 1, hold: float = 0.0) -> Acted:
        """See `Pointer.click`."""
        live = await self._lives.get()
        return await watching.act(live, lambda: live.pointer.click(point, button=button, count=count, hold=hold))

    async def drag(self, start: Point, end: Point, *, seconds: float, button: Button = "primary") -> Acted:
        """See `Pointer.drag`."""
        live = await self._lives.get()
        return await watching.act(live, lambda: live.pointer.drag(start, end, seconds=seconds, button=button))

    async def wheel(self, point: Point, *, dx: float = 0.0, dy: float = 0.0) -> Acted:
        """See `Pointer.wheel`."""
        live = await self._lives.get()
        return await watching.act(live, lambda: live.pointer.wheel(point, dx=dx, dy=dy))


class LinuxKeys(Keys):
    """The keyboard."""

    def __init__(self, lives: Lives) -> None:
        self._lives = lives

    async def press(self, chord: str) -> Acted:
        """See `Keys.press`."""
        live = await self._lives.get()
        return await watching.act(live, lambda: live.keys.press(chord))

    async def type_text(self, text: str, *, delay: float = 0.0) -> Acted:
        """See `Keys.type_text`."""
        live = await self._lives.get()
        return await watching.act(live, lambda: live.keys.type_text(text, delay=delay))

    async def keyboard_state(self) -> Mapping[str, Any]:
        """See `Keys.keyboard_state`."""
        return await (await self._lives.get()).keys.keyboard_state()

    async def focused(self) -> Node | None:
        """See `Keys.focused`."""
        return await (await self._lives.get()).a11y.focused()


class LinuxAlerts(Alerts):
    """Dialogs of the application in front."""

    def __init__(self, lives: Lives) -> None:
        self._lives = lives

    async def get(self) -> Dialog | None:
        """See `Alerts.get`. Costs nothing where no window is a dialog."""
        live = await self._lives.get()
        windows = await live.windows.list()
        return await live.a11y.alerts.get() if any(map(watching.is_dialog, windows)) else None

    async def accept(self, text: str | None = None) -> Acted:
        """See `Alerts.accept`."""
        return await (await self._lives.get()).a11y.alerts.accept(text)

    async def dismiss(self) -> Acted:
        """See `Alerts.dismiss`."""
        return await (await self._lives.get()).a11y.alerts.dismiss()
