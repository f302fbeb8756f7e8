"""The driver of a fake device: every capability, acting on a screen model, with faults on request."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio

from anydevice_schemas import EDITABLE, Device, DeviceRef, Node, Point, Rect, Tree
from anydevice_schemas.errors import (
    ConnectionLost,
    DeviceNotReady,
    DialogOpen,
    ElementDisabled,
    InvalidArgument,
    Unsupported,
)

from .. import driver as d
from ..plans import declared
from .desk import FakeClipboard, FakeWindows
from .diagnosis import FakeLogs, FakeNetwork, FakePerf
from .disk import FakeDisk
from .film import plain_png
from .keyboard import chord_of
from .media import FakeAudio, FakeRecording
from .screen import FakeElement, FakeScreen
from .storing import FakeFiles, FakeForwards, FakeShell, Installing
from .upkeep import FakeNotifications, FakeRemote, FakeSettings

if TYPE_CHECKING:
    from .fake import FakeBackend


FIELDS = EDITABLE | {"slider", "colorwell", "listbox"}
"""Roles that text can be put into."""


class FakeDriver(d.Driver):
    """A driver on a fake screen."""

    def __init__(self, backend: FakeBackend, device: Device) -> None:
        self.backend = backend
        self.device = device
        self.closed = False
        self.screen = _Screen(self)
        self.elements = _Elements(self)
        self.touch = _Touch(self)
        self.pointer = _Pointer(self)
        self.keys = _Keys(self)
        self.apps = _Apps(self)
        self.links = _Links(self)
        self.navigation = _Navigation(self)
        self.power = _Power(self)
        self.alerts = _Alerts(self)
        self.files = FakeFiles(self)
        self.shell = FakeShell(self)
        self.forwards = FakeForwards(self)
        self.windows = FakeWindows(self)
        self.clipboard = FakeClipboard(self)
        self.recording = FakeRecording(self)
        self.audio = FakeAudio(self)
        self.settings = FakeSettings(self)
        self.remote = FakeRemote(self)
        self.notifications = FakeNotifications(self)
        self.logs = FakeLogs(self)
        self.perf = FakePerf(self)
        self.network = FakeNetwork(self)

    @property
    def model(self) -> FakeScreen:
        """The screen this driver acts on."""
        return self.backend.screens[self.backend.fault.redirect or self.device.id]

    @property
    def disk(self) -> FakeDisk:
        """What the device keeps."""
        return self.backend.disks[self.backend.fault.redirect or self.device.id]

    async def identify(self) -> DeviceRef:
        """See `Driver`."""
        return self.backend.fault.wrong_identity or self.backend.rows[self.device.id].ref()

    def unavailable(self) -> Mapping[str, str]:
        """See `Driver`."""
        return self.backend.down

    def has(self, operation: str) -> bool:
        """See `Driver`: this one is written for everything, and offers what its manifest declares."""
        return super().has(operation) and declared(self.backend.manifest, self.device, operation)

    def losses(self) -> Sequence[Mapping[str, Any]]:
        """See `Driver`."""
        told, self.backend.pending_losses = self.backend.pending_losses, []
        return told

    async def aclose(self) -> None:
        """See `Driver`."""
        self.recording.finish("device", forget=True)
        self.closed = True

    async def enter(self, operation: str, *, page: bool = True) -> bool:
        """Every operation starts here: faults happen, dialogs block. False = pretend to have done it."""
        if not declared(self.backend.manifest, self.device, operation):
            raise Unsupported("This device does not have it.", operation=operation, alternatives=[])
        fault = self.backend.fault.operations.get(operation)
        if isinstance(fault, Exception):
            raise fault
        if fault is not None:
            await anyio.sleep(fault)
        if page and self.backend.rows[self.device.id].state != "ready":
            raise ConnectionLost("The device is gone.", restarted=False)
        if page:
            await self.model.ready()
        if page and self.model.dialog is not None:
            kind, text, buttons = self.model.dialog
            raise DialogOpen("A dialog is open.", kind=kind, text=text, buttons=list(buttons))
        return operation not in self.backend.fault.swallow

    def after(self, method: str, **data: Any) -> d.Acted:
        """What an action reports."""
        happenings = []
        if self.model.dialog is not None:
            kind, text, buttons = self.model.dialog
            happenings.append(d.Happening("dialog", {"dialog": kind, "text": text, "buttons": list(buttons)}))
        return d.Acted(method, happenings, data=data)


class CleaningDriver(FakeDriver):
    """One that puts its device in order after a holder."""

    async def clean(self) -> None:
        """See `Driver`."""
        fault = self.backend.fault.operations.get("clean")
        if isinstance(fault, Exception):
            raise fault
        if fault is not None:
            await anyio.sleep(fault)
        self.recording.finish("stopped", forget=True)
        self.backend.listening.pop(self.device.id, None)
        self.disk.clean()
        self.model.upkeep.clean(self.model)
        self.backend.cleaned.append(self.device.id)


class _Part:
    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    @property
    def model(self) -> FakeScreen:
        return self.driver.model


class _Screen(_Part, d.Screen):
    async def tree(self, scope: d.TreeScope) -> Tree:
        await self.driver.enter("screen.tree")
        return self.model.tree(scope)

    async def image(self, area: Rect | None = None, *, full: bool = False) -> d.Image:
        await self.driver.enter("screen.image")
        shown = area or self.model.viewport
        if full and area is None:
            shown = Rect(0, 0, self.model.width, self.model.content_height)
        width, height = max(1, round(shown.width)), max(1, round(shown.height))
        return d.Image(blank_png(width, height), "image/png", width, height, 1.0, shown)

    async def geometry(self) -> d.Geometry:
        await self.driver.enter("screen.geometry")
        content = Rect(0, -self.model.offset, self.model.width, self.model.content_height)
        return d.Geometry(self.model.viewport, 1.0, content)


class _Elements(_Part, d.Elements):
    async def probe(self, key: str, *, at: Point | None = None) -> d.Probe:
        await self.driver.enter("elements.probe")
        element = self.model.by_key(key)
        node = self.model.node(element)
        visible = node.rect.intersect(self.model.viewport) if node.rect is not None else None
        if "hidden" in node.states:
            visible = None
        if visible is None:
            return d.Probe(node, None)
        point = at or visible.center
        hit = self.model.hit(point)
        if hit is element or hit is None or hit.parent is element or element.parent is hit:
            return d.Probe(node, point)
        return d.Probe(node, point, f"{hit.role} {hit.name}", hit.key)

    async def at(self, point: Point) -> Node | None:
        await self.driver.enter("elements.at")
        element = self.model.hit(point)
        return self.model.node(element) if element is not None else None

    async def activate(self, key: str) -> d.Acted:
        done = await self.driver.enter("elements.activate")
        element = self.model.by_key(key)
        if done and "disabled" not in element.states:
            self.model.log("activate", element)
            self.model.activate(element)
        return self.driver.after("accessibility")

    async def set_text(self, key: str, text: str) -> d.Acted:
        done = await self.driver.enter("elements.set_text")
        element = self.model.by_key(key)
        if element.role not in FIELDS:
            raise InvalidArgument("This element takes no text.", param="target", expected="a field", element=key)
        if not element.states.isdisjoint(("disabled", "readonly")):
            raise ElementDisabled("The field takes no text now.", element=key)
        self.model.log("set_text", element, text="<secret>" if element.secure else text)
        if done:
            self.model.write(element, text)
        verified = element.value == text if element.secure else None
        return d.Acted("set-text", verified=verified)

    async def focus(self, key: str) -> d.Acted:
        if await self.driver.enter("elements.focus"):
            self.model.focus = self.model.by_key(key)
        return d.Acted("focus", verified=self.model.focus is self.model.by_key(key))

    async def reveal(self, key: str) -> d.Acted:
        done = await self.driver.enter("elements.reveal")
        element: FakeElement = self.model.by_key(key)
        place = self.model.place(element)
        if done and place.intersect(self.model.viewport) is None:
            self.model.scroll(place.y - self.model.height / 2)
        return d.Acted("reveal")


class _Touch(_Part, d.Touch):
    async def tap(self, point: Point, *, count: int = 1) -> d.Acted:
        if await self.driver.enter("touch.tap"):
            for _ in range(count):
                self.model.press_at(point, "tap")
        return self.driver.after("touch")

    async def hold(self, point: Point, *, seconds: float) -> d.Acted:
        if await self.driver.enter("touch.hold"):
            self.model.hold_at(point, seconds)
        return self.driver.after("touch")

    async def swipe(self, start: Point, end: Point, *, seconds: float) -> d.Acted:
        if await self.driver.enter("touch.swipe"):
            self.model.swipe(start, end, seconds)
        return self.driver.after("touch")

    async def drag(self, start: Point, end: Point, *, hold: float, seconds: float) -> d.Acted:
        if await self.driver.enter("touch.drag"):
            self.model.drag(start, end, seconds, hold)
        return self.driver.after("touch")

    async def multi_touch(self, fingers: Sequence[Sequence[Point]], *, seconds: float) -> d.Acted:
        if await self.driver.enter("touch.multi_touch"):
            self.model.fingers(fingers, seconds)
        return self.driver.after("touch")


class _Pointer(_Part, d.Pointer):
    async def move(self, point: Point) -> d.Acted:
        if await self.driver.enter("pointer.move"):
            self.model.hover_at(point)
        return self.driver.after("mouse")

    async def click(self, point: Point, *, button: d.Button = "primary", count: int = 1, hold: float = 0.0) -> d.Acted:
        if await self.driver.enter("pointer.click"):
            for _ in range(count):
                if hold:
                    self.model.hold_at(point, hold, "press")
                else:
                    self.model.press_at(point, "press", button=button)
        return self.driver.after("mouse")

    async def drag(self, start: Point, end: Point, *, seconds: float, button: d.Button = "primary") -> d.Acted:
        if await self.driver.enter("pointer.drag"):
            self.model.drag(start, end, seconds)
        return self.driver.after("mouse")

    async def wheel(self, point: Point, *, dx: float = 0.0, dy: float = 0.0) -> d.Acted:
        if await self.driver.enter("pointer.wheel"):
            self.model.scroll(dy)
        return self.driver.after("wheel")


class _Keys(_Part, d.Keys):
    async def press(self, chord: str) -> d.Acted:
        chord_of(chord)
        if await self.driver.enter("keys.press"):
            self.model.key(chord)
            self.model.desk.pastes(chord_of(chord))
        return self.driver.after("keys")

    async def type_text(self, text: str, *, delay: float = 0.0) -> d.Acted:
        if any(unicodedata.category(ch) == "Cc" and ch not in "\n\t" for ch in text):
            raise InvalidArgument("text: control characters cannot be typed.", param="text", expected="printable text")
        if await self.driver.enter("keys.type_text"):
            for piece in text if delay else [text]:
                self.model.type(piece)
                await anyio.sleep(delay)
        return self.driver.after("keys")

    async def paste(self, text: str) -> d.Acted:
        if await self.driver.enter("keys.paste"):
            self.model.type(text)
        return replace(self.driver.after("paste"), data={"clipboard": "restored"})

    async def dismiss(self) -> d.Acted:
        if await self.driver.enter("keys.dismiss"):
            self.model.focus = None
        return self.driver.after("keyboard")

    async def keyboard_state(self) -> Mapping[str, Any]:
        await self.driver.enter("keys.keyboard_state")
        return {"shown": self.model.focus is not None and self.model.focus.role in EDITABLE}

    async def focused(self) -> Node | None:
        await self.driver.enter("keys.focused")
        return self.model.node(self.model.focus) if self.model.focus is not None else None


class _Apps(_Part, Installing):
    async def list(self) -> Sequence[d.App]:
        await self.driver.enter("apps.list")
        installed = [d.App(app, name, False, False) for app, name in self.driver.disk.packages.items()]
        return [d.App(str(self.model.state()["app"]), "Practice", True, True), *installed]

    async def open(self, request: d.OpenRequest) -> d.Acted:
        if await self.driver.enter("apps.open", page=False):
            self.model.open(request)
            self.model.desk.opened()
        data = {"location": self.model.location, "title": self.model.title}
        return d.Acted("open", verified=True, data=data)

    async def close(self, app: str | None, *, force: bool = False) -> d.Acted:
        if await self.driver.enter("apps.close", page=False):
            self.model.close(app, force)
        return d.Acted("close", verified=True)

    async def state(self) -> Mapping[str, Any]:
        await self.driver.enter("apps.state", page=False)
        return self.model.state()


class _Links(_Part, d.Links):
    async def open_url(self, url: str, *, app: str | None = None) -> d.Acted:
        if await self.driver.enter("links.open_url"):
            self.model.link(url)
        return d.Acted("open-url")

    async def deliver_event(self, event: d.AppEvent) -> d.Acted:
        acknowledged = None
        if await self.driver.enter("links.deliver_event"):
            acknowledged = self.model.event(event)
        return d.Acted("deep-link", data={} if acknowledged is None else {"acknowledged": acknowledged})


class _Navigation(_Part, d.Navigation):
    async def back(self) -> d.Acted:
        done = await self.driver.enter("navigation.back") and self.model.back()
        return d.Acted("back", verified=done, data={"location": self.model.location})


class _Power(_Part, d.Power):
    async def boot(self, *, headless: bool | None, deadline: float) -> d.Acted:
        if await self.driver.enter("power.boot", page=False):
            self.driver.backend.set_state(self.driver.device.id, "ready")
        return d.Acted("boot")

    async def shutdown(self, *, deadline: float) -> d.Acted:
        if await self.driver.enter("power.shutdown", page=False):
            self.driver.recording.finish("device")
            self.driver.backend.set_state(self.driver.device.id, "shutdown")
            self.model.power_off()
        return d.Acted("shutdown")

    async def erase(self, *, deadline: float) -> d.Acted:
        row = self.driver.backend.rows[self.driver.device.id]
        if row.state != "shutdown":
            raise DeviceNotReady("It is not shut down.", state=row.state, fix="shut it down first")
        if await self.driver.enter("power.erase", page=False):
            self.driver.disk.erase()
            self.model.power_off()
        return d.Acted("erase", verified=True)


class _Alerts(_Part, d.Alerts):
    async def get(self) -> d.Dialog | None:
        await self.driver.enter("alerts.get", page=False)
        dialog = self.model.dialog
        return d.Dialog(dialog[0], dialog[1], dialog[2], dialog[0] == "prompt") if dialog is not None else None

    async def accept(self, text: str | None = None) -> d.Acted:
        return await self._answer("accept", text)

    async def dismiss(self) -> d.Acted:
        return await self._answer("dismiss", None)

    async def _answer(self, how: str, text: str | None) -> d.Acted:
        if await self.driver.enter(f"alerts.{how}", page=False):
            self.model.answer(how, text)
        return d.Acted("dialog")


def blank_png(width: int, height: int) -> bytes:
    """A white picture of this size, as a real PNG file."""
    return plain_png(width, height)
