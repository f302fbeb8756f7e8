"""A backend without devices: any number of fake ones, with faults on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from anydevice_schemas import Device, DeviceRef, Manifest, Node, Point, Rect, Tree
from anydevice_schemas.errors import ConnectionLost, DialogOpen, InvalidArgument

from .. import driver as d
from .screen import FakeElement, FakeScreen, practice_screen

PNG_1X1 = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000000000500010d0a2db40000000049454e44ae426082"
)

OPERATIONS = [
    "screen.tree", "screen.image", "screen.geometry", "elements.set_text", "elements.focus", "elements.reveal",
    "elements.probe", "elements.at", "touch.tap", "touch.hold", "touch.swipe", "touch.drag", "pointer.move",
    "pointer.click", "pointer.drag", "pointer.wheel", "keys.press", "keys.type_text", "keys.focused", "apps.list",
    "apps.open", "apps.close", "apps.state", "links.open_url", "links.deliver_event", "navigation.back",
    "power.boot", "power.shutdown", "alerts.get", "alerts.accept", "alerts.dismiss",
]  # fmt: skip


def fake_manifest(name: str = "fake", **changes: Any) -> Manifest:
    """A manifest that declares everything the fake driver can do; `changes` replace fields."""
    fields: dict[str, Any] = {
        "name": name,
        "summary": "Devices that do not exist, for tests.",
        "contract": ">=1.0,<2",
        "platforms": [{"name": name}],
        "device_classes": ["phone", "tablet", "tv", "desktop"],
        "operations": {op: {} for op in OPERATIONS},
        "list_ttl": 1.0,
    }
    return Manifest.model_validate(fields | changes)


@dataclass
class Fault:
    """What goes wrong on request.

    Attributes:
        hang_listing: Seconds a listing takes.
        fail_listing: Raised by a listing.
        operations: For an operation: an exception to raise, or seconds to hang before doing it.
        swallow: Operations that say they were done and are not.
        wrong_identity: What `identify()` answers instead of the truth.
        redirect: Another device's id that receives this one's touches.
    """

    hang_listing: float = 0.0
    fail_listing: BaseException | None = None
    operations: dict[str, Exception | float] = field(default_factory=dict)
    swallow: set[str] = field(default_factory=set)
    wrong_identity: DeviceRef | None = None
    redirect: str | None = None


class FakeBackend(d.Backend):
    """Fake devices by id.

    Args:
        ids: Ids of the devices; each is a ready phone with a practice screen.
        name: Name of backend and platform.
        **fields: Replace fields of every device row.
    """

    def __init__(self, ids: Sequence[str] = ("fake-1", "fake-2"), *, name: str = "fake", **fields: Any) -> None:
        super().__init__(d.HostServices("", ""))
        self.manifest = fake_manifest(name)
        self.rows: dict[str, Device] = {}
        self.screens: dict[str, FakeScreen] = {}
        self.fault = Fault()
        self.down: dict[str, str] = {}
        self.pending_losses: list[dict[str, Any]] = []
        self.drivers: list[FakeDriver] = []
        for number, device_id in enumerate(ids, 1):
            self.add(device_id, name=f"Fake phone {number}", **fields)

    def add(self, device_id: str, **fields: Any) -> Device:
        """Adds a device; `fields` replace those of a ready phone."""
        row: dict[str, Any] = {
            "id": device_id,
            "name": device_id,
            "platform": self.manifest.platforms[0].name,
            "backend": self.manifest.name,
            "device_target": "mobile",
            "device_class": "phone",
            "kind": "virtual",
            "state": "ready",
            "id_kind": "serial",
        }
        device = Device.model_validate(row | fields)
        self.rows[device_id] = device
        self.screens[device_id] = practice_screen()
        return device

    def screen(self, device_id: str) -> FakeScreen:
        """The screen of a device: the witness."""
        return self.screens[device_id]

    def set_state(self, device_id: str, state: str) -> None:
        """Changes a row's state."""
        self.rows[device_id] = self.rows[device_id].model_copy(update={"state": state})

    async def devices(self, env: d.Environment) -> Sequence[Device]:
        """See `Backend`."""
        if self.fault.hang_listing:
            await anyio.sleep(self.fault.hang_listing)
        if self.fault.fail_listing is not None:
            raise self.fault.fail_listing
        return list(self.rows.values())

    async def connect(self, device: Device, env: d.Environment) -> FakeDriver:
        """See `Backend`."""
        driver = FakeDriver(self, device)
        self.drivers.append(driver)
        return driver


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

    @property
    def model(self) -> FakeScreen:
        """The screen this driver acts on."""
        return self.backend.screens[self.backend.fault.redirect or self.device.id]

    async def identify(self) -> DeviceRef:
        """See `Driver`."""
        return self.backend.fault.wrong_identity or self.backend.rows[self.device.id].ref()

    def unavailable(self) -> Mapping[str, str]:
        """See `Driver`."""
        return self.backend.down

    def losses(self) -> Sequence[Mapping[str, Any]]:
        """See `Driver`."""
        told, self.backend.pending_losses = self.backend.pending_losses, []
        return told

    async def aclose(self) -> None:
        """See `Driver`."""
        self.closed = True

    async def enter(self, operation: str, *, page: bool = True) -> bool:
        """Every operation starts here: faults happen, dialogs block. False = pretend to have done it."""
        fault = self.backend.fault.operations.get(operation)
        if isinstance(fault, Exception):
            raise fault
        if fault is not None:
            await anyio.sleep(fault)
        if page and self.backend.rows[self.device.id].state != "ready":
            raise ConnectionLost("The device is gone.", restarted=False)
        if page and self.model.dialog is not None:
            kind, text, buttons = self.model.dialog
            raise DialogOpen("A dialog is open.", kind=kind, text=text, buttons=list(buttons))
        return operation not in self.backend.fault.swallow

    def after(self, method: str, **data: Any) -> d.Acted:
        """What an action reports."""
        happenings = [d.Happening("dialog", {"text": self.model.dialog[1]})] if self.model.dialog else []
        return d.Acted(method, happenings, data=data)


class _Part:
    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    @property
    def model(self) -> FakeScreen:
        return self.driver.model


class _Screen(_Part, d.Screen):
    async def tree(self, scope: d.TreeScope) -> Tree:
        await self.driver.enter("screen.tree")
        return self.model.tree(full=scope.mode != "viewport", root=scope.root, max_nodes=scope.max_nodes)

    async def image(self, area: Rect | None = None, *, full: bool = False) -> d.Image:
        await self.driver.enter("screen.image")
        return d.Image(PNG_1X1, "image/png", 1, 1, 1.0, area or self.model.viewport)

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

    async def set_text(self, key: str, text: str) -> d.Acted:
        done = await self.driver.enter("elements.set_text")
        element = self.model.by_key(key)
        shown = "<secret>" if element.secure else text
        self.model.journal.append(("set_text", key, {"text": shown}))
        if done:
            element.write(text)
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
            self.model.press_at(point, "hold", seconds=seconds)
        return self.driver.after("touch")

    async def swipe(self, start: Point, end: Point, *, seconds: float) -> d.Acted:
        if await self.driver.enter("touch.swipe"):
            self.model.journal.append(("swipe", None, {"start": start, "end": end, "seconds": seconds}))
            self.model.scroll(start.y - end.y)
        return self.driver.after("touch")

    async def drag(self, start: Point, end: Point, *, hold: float, seconds: float) -> d.Acted:
        if await self.driver.enter("touch.drag"):
            self.model.journal.append(("drag", None, {"start": start, "end": end, "hold": hold}))
        return self.driver.after("touch")


class _Pointer(_Part, d.Pointer):
    async def move(self, point: Point) -> d.Acted:
        if await self.driver.enter("pointer.move"):
            hit = self.model.hit(point)
            self.model.journal.append(("hover", hit.key if hit is not None else None, {"point": point}))
        return self.driver.after("mouse")

    async def click(self, point: Point, *, button: d.Button = "primary", count: int = 1, hold: float = 0.0) -> d.Acted:
        if await self.driver.enter("pointer.click"):
            for _ in range(count):
                self.model.press_at(point, "press", button=button, hold=hold)
        return self.driver.after("mouse")

    async def drag(self, start: Point, end: Point, *, seconds: float, button: d.Button = "primary") -> d.Acted:
        if await self.driver.enter("pointer.drag"):
            self.model.journal.append(("drag", None, {"start": start, "end": end, "seconds": seconds}))
        return self.driver.after("mouse")

    async def wheel(self, point: Point, *, dx: float = 0.0, dy: float = 0.0) -> d.Acted:
        if await self.driver.enter("pointer.wheel"):
            self.model.scroll(dy)
        return self.driver.after("wheel")


class _Keys(_Part, d.Keys):
    async def press(self, chord: str) -> d.Acted:
        if await self.driver.enter("keys.press"):
            self.model.journal.append(("key", None, {"chord": chord}))
        return self.driver.after("keys")

    async def type_text(self, text: str, *, delay: float = 0.0) -> d.Acted:
        if "\0" in text:
            raise InvalidArgument("text: NUL cannot be typed.", param="text", expected="printable text")
        if await self.driver.enter("keys.type_text"):
            self.model.type(text)
        return self.driver.after("keys")

    async def focused(self) -> Node | None:
        await self.driver.enter("keys.focused")
        return self.model.node(self.model.focus) if self.model.focus is not None else None


class _Apps(_Part, d.Apps):
    async def list(self) -> Sequence[d.App]:
        await self.driver.enter("apps.list")
        return [d.App("practice", "Practice", True, True)]

    async def open(self, request: d.OpenRequest) -> d.Acted:
        if await self.driver.enter("apps.open"):
            self.model.history.append(self.model.location)
            self.model.location = request.url or f"fake://{request.app}"
            self.model.journal.append(("open", None, {"url": request.url, "app": request.app}))
        data = {"location": self.model.location, "title": self.model.title}
        return d.Acted("open", verified=True, data=data)

    async def close(self, app: str | None, *, force: bool = False) -> d.Acted:
        if await self.driver.enter("apps.close"):
            self.model.journal.append(("close", None, {"app": app, "force": force}))
        return d.Acted("close", verified=True)

    async def state(self) -> Mapping[str, Any]:
        await self.driver.enter("apps.state", page=False)
        return {"app": "practice", "title": self.model.title, "location": self.model.location}


class _Links(_Part, d.Links):
    async def open_url(self, url: str, *, app: str | None = None) -> d.Acted:
        if await self.driver.enter("links.open_url"):
            self.model.journal.append(("open_url", None, {"url": url}))
        return d.Acted("open-url")

    async def deliver_event(self, event: d.AppEvent) -> d.Acted:
        if await self.driver.enter("links.deliver_event"):
            self.model.journal.append(("event", None, {"name": event.name, "url": event.url}))
        return d.Acted("deep-link", data={"acknowledged": event.name.startswith("ack.")})


class _Navigation(_Part, d.Navigation):
    async def back(self) -> d.Acted:
        done = await self.driver.enter("navigation.back") and bool(self.model.history)
        if done:
            self.model.location = self.model.history.pop()
        return d.Acted("back", verified=done, data={"location": self.model.location})


class _Power(_Part, d.Power):
    async def boot(self, *, headless: bool | None, deadline: float) -> d.Acted:
        if await self.driver.enter("power.boot", page=False):
            self.driver.backend.set_state(self.driver.device.id, "ready")
        return d.Acted("boot")

    async def shutdown(self, *, deadline: float) -> d.Acted:
        if await self.driver.enter("power.shutdown", page=False):
            self.driver.backend.set_state(self.driver.device.id, "shutdown")
        return d.Acted("shutdown")


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
            self.model.journal.append((f"alert.{how}", None, {"text": text}))
            self.model.dialog = None
        return d.Acted("dialog")
