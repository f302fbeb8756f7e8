"""The default engine: the screen of a device through its WebDriverAgent."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio
import structlog

from anydevice.driver import Dialog
from anydevice_schemas import Node, Point, Rect
from anydevice_schemas.errors import (
    AnydeviceError,
    CallTimeout,
    DeviceNotReady,
    FocusUnavailable,
    OutcomeUnknown,
    UpstreamUnavailable,
)

from .agents import Agent
from .answers import WdaError, element_id, typed
from .engine import Front, Look, Move, no_focus, refuse
from .fingers import actions, steps_of, taps
from .keymap import CODES, HID, MODIFIERS, PLAIN
from .reading.elements import Box, NoSource, Source, box_of
from .reading.source import flag, read_json, read_xml
from .reading.types import FIELDS
from .wda import Wda

log = structlog.get_logger("anydevice.apple")

LEFT_OUT: Final = "frame,nativeFrame,minValue,maxValue,accessible,nativeAccessibilityElement"
"""Attributes that cost time and say nothing we need."""
SLOW: Final = 1.5
"""Seconds of a source after which it is asked for without what is visible, which is the dearest part of it."""
SLOW_FOR: Final = 30.0
"""Seconds for which it is then left out."""
DEPTHS: Final = (60, 45, 35, 25, 15)
"""Levels to ask for, one after the other: beyond some depth the system gives nothing at all."""
ALERT: Final = 5.0
"""Seconds of the question whether a dialog is open; while one of the system's is, a source can take half a minute."""
SPRINGBOARD: Final = frozenset({"com.apple.springboard", "com.apple.HeadBoard", "com.apple.PineBoard"})
TYPING: Final = 20.0
"""Characters a second that are counted on."""
TWINS: Final = 3
"""Elements of one type and name that are looked at to find the one of a place."""
PRESSED: Final = 0.05
"""Seconds a key is held."""


class WdaEngine:
    """See `Engine`."""

    name = "wda"

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._plain_until = 0.0
        self._depth = 0
        self._depth_until = 0.0

    # --- reading ---

    async def look(self, *, deadline: float) -> Look:
        """See `Engine.look`: the question for a dialog comes first, inside of the same deadline.

        Raises:
            DialogOpen: One is open.
            DeviceNotReady: The app does not answer.
            UpstreamUnavailable: The source cannot be read.
        """
        end = anyio.current_time() + deadline
        dialog = await self.dialog()
        if dialog is not None:
            raise refuse(dialog)
        async with self._errors("screen.tree") as wda:
            if anyio.current_time() > self._depth_until:
                await self._deep(wda, 0)
            while True:
                try:
                    source = await self._source(wda, max(0.5, end - anyio.current_time()))
                    break
                except WdaError as error:
                    if error.error == "unexpected alert open":
                        dialog = await self.dialog()
                        if dialog is not None:
                            raise refuse(dialog) from None
                    if not _too_deep(error) or self._depth + 1 >= len(DEPTHS):
                        raise
                    await self._deep(wda, self._depth + 1)
        cut = source.depth >= DEPTHS[self._depth] or self._depth > 0
        visible = any(element.visible is not None for element in source.elements)
        return Look(source, "truncated" if cut else "complete", visible)

    async def _deep(self, wda: Wda, step: int) -> None:
        """Asks for so many levels from now on."""
        if step == self._depth:
            return
        self._depth = step
        if step:
            self._depth_until = anyio.current_time() + SLOW_FOR
        await wda.set(snapshotMaxDepth=DEPTHS[step])

    async def _source(self, wda: Wda, deadline: float) -> Source:
        began = anyio.current_time()
        plain = began < self._plain_until
        left_out = f"{LEFT_OUT},visible" if plain else LEFT_OUT
        try:
            value = await wda.get(
                "/source", deadline=deadline, params={"format": "json", "excluded_attributes": left_out}
            )
        except CallTimeout:
            self._plain_until = anyio.current_time() + SLOW_FOR
            raise DeviceNotReady(
                "The app does not answer, so the device gives no tree of its screen.",
                hint="Call screenshot to see the screen; close and open start the app anew.",
                state="busy",
                fix="Wait until the app answers again, or close it.",
                reason="snapshot_busy",
                after=round(deadline, 1),
            ) from None
        if not plain and anyio.current_time() - began > SLOW:
            self._plain_until = anyio.current_time() + SLOW_FOR
        try:
            return read_xml(value) if isinstance(value, str) else read_json(value)
        except NoSource as error:
            raise UpstreamUnavailable(
                "The source of the screen cannot be read.",
                upstream="WebDriverAgent",
                enable_hint="Call screenshot to see the screen.",
                reason=str(error),
            ) from None

    async def size(self) -> tuple[float, float]:
        """See `Engine.size`."""
        async with self._errors("screen.geometry") as wda:
            value = await wda.get("/window/size")
        if isinstance(value, Mapping):
            width, height = value.get("width"), value.get("height")
            if isinstance(width, int | float) and isinstance(height, int | float) and width > 0 and height > 0:
                return float(width), float(height)
        raise _unsaid("how large its screen is")

    async def scale(self) -> float:
        """See `Engine.scale`."""
        async with self._errors("screen.geometry") as wda:
            value = await wda.get("/wda/screen")
        scale = value.get("scale") if isinstance(value, Mapping) else None
        if isinstance(scale, int | float) and scale > 0:
            return float(scale)
        raise _unsaid("how many pixels a point has")

    async def front(self) -> Front | None:
        """See `Engine.front`."""
        async with self._errors("apps.state") as wda:
            value = await wda.get("/wda/activeAppInfo")
        if not isinstance(value, Mapping) or not value.get("bundleId"):
            return None
        pid = value.get("pid")
        return Front(str(value["bundleId"]), pid if isinstance(pid, int) else None, str(value.get("name") or ""))

    async def hittable(self, node: Node) -> bool | None:
        """See `Engine.hittable`: the element is found anew, by what the source said of it and by its place."""
        name = node.identifier or node.name
        if not name or not node.native_role or node.rect is None or any(sign in name for sign in "'\"\\"):
            return None
        looked = {
            "using": "predicate string",
            "value": f"type == 'XCUIElementType{node.native_role}' AND name == '{name}'",
        }
        async with self._errors("screen.tree") as wda:
            try:
                found = await wda.act("/elements", looked, reads=True)
                for one in found[:TWINS] if isinstance(found, list) else ():
                    element = element_id(one)
                    box = box_of(await wda.look(f"/element/{element}/rect"))
                    if box is None or any(abs(a - b) > 1.0 for a, b in zip(box, _sides(node.rect), strict=True)):
                        continue
                    return flag(await wda.look(f"/element/{element}/attribute/hittable"), True)
            except WdaError as error:
                log.info("hittable_not_told", error=error.error)
        return None

    async def picture(self) -> bytes:
        """See `Engine.picture`."""
        async with self._errors("screen.image") as wda:
            value = await wda.get("/screenshot", deadline=20.0)
        try:
            return base64.b64decode(value, validate=False)
        except (binascii.Error, TypeError, ValueError):
            raise _unsaid("what is on its screen") from None

    # --- acting ---

    async def tap(self, point: Point, count: int) -> None:
        """See `Engine.tap`."""
        async with self._errors("touch.tap") as wda:
            place = {"x": point.x, "y": point.y}
            if count == 1:
                await wda.act("/wda/tap", place)
            elif count == 2:
                await wda.act("/wda/doubleTap", place)
            else:
                await wda.act("/actions", actions([taps(point, count)]), deadline=10.0 + count * 0.4)

    async def touch(self, fingers: Sequence[Move]) -> None:
        """See `Engine.touch`."""
        async with self._errors("touch.swipe") as wda:
            whole = max(move.rest + move.seconds + move.end_rest for move in fingers)
            await wda.act("/actions", actions([steps_of(move) for move in fingers]), deadline=10.0 + 2 * whole)

    async def write(self, text: str) -> None:
        """See `Engine.write`.

        Raises:
            FocusUnavailable: Nothing has the focus; nothing was typed.
        """
        async with self._errors("keys.type_text") as wda:
            try:
                await wda.act("/wda/keys", {"value": list(text)}, deadline=10.0 + len(text) / TYPING)
            except WdaError as error:
                if "focus" in error.said.lower() or error.error == "invalid element state":
                    raise no_focus() from None
                raise

    async def clear(self) -> None:
        """See `Engine.clear`.

        Raises:
            FocusUnavailable: No field has the focus.
        """
        async with self._errors("keys.press") as wda:
            element = await self._active(wda)
            await wda.act(f"/element/{element}/clear", deadline=20.0)

    async def _active(self, wda: Wda) -> str:
        try:
            found = element_id(await wda.look("/element/active"))
        except WdaError as error:
            if error.error not in ("no such element", "stale element reference"):
                raise
            found = None
        if found is None:
            raise no_focus()
        return found

    async def keys(self, held: Sequence[str], key: str) -> None:
        """See `Engine.keys`."""
        if not held and key in PLAIN:
            try:
                await self.write(PLAIN[key])
                return
            except FocusUnavailable:
                pass  # no field takes it; the app itself may
        if not held and key in HID:
            async with self._errors("keys.press") as wda:
                await wda.act("/wda/performIoHidEvent", {"page": 7, "usage": HID[key], "duration": PRESSED})
            return
        codes = [MODIFIERS[word] for word in held]
        code = CODES.get(key, key)
        down = [{"type": "keyDown", "value": one} for one in (*codes, code)]
        up = [{"type": "keyUp", "value": one} for one in (code, *reversed(codes))]
        async with self._errors("keys.press") as wda:
            await wda.act("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": [*down, *up]}]})

    async def button(self, name: str, seconds: float) -> None:
        """See `Engine.button`."""
        async with self._errors("keys.press") as wda:
            if name in ("lock", "unlock"):
                await wda.post(f"/wda/{name}")
                return
            body: dict[str, Any] = {"name": name, **({"duration": seconds} if seconds > 0 else {})}
            await wda.act("/wda/pressButton", body, deadline=10.0 + seconds)

    async def home(self) -> None:
        """See `Engine.home`."""
        async with self._errors("navigation.home") as wda:
            await wda.post("/wda/homescreen")

    # --- dialogs ---

    async def dialog(self) -> Dialog | None:
        """See `Engine.dialog`. Whether it takes text is seen in the source, where that comes quickly."""
        async with self._errors("alerts.get") as wda:
            try:
                text = await wda.get("/alert/text", deadline=ALERT)
            except WdaError as error:
                if error.error == "no such alert":
                    return None
                raise
            try:
                buttons = await wda.look("/wda/alert/buttons", deadline=ALERT)
            except WdaError as error:
                if error.error == "no such alert":
                    return None
                buttons = []
            names = [str(name) for name in buttons] if isinstance(buttons, list) else []
            takes, system = await self._about(wda)
        kind = "prompt" if takes else "permission" if system else "confirm" if len(names) > 1 else "alert"
        return Dialog(kind, str(text or ""), names, takes)

    async def _about(self, wda: Wda) -> tuple[bool, bool]:
        """Whether the dialog takes text, and whether it is the system's. While one of the system's is up, a source can
        take half a minute, and everything else waits behind it: then none is asked for.
        """
        try:
            front = await wda.get("/wda/activeAppInfo", deadline=ALERT)
            if isinstance(front, Mapping) and front.get("bundleId") in SPRINGBOARD:
                return False, True
            source = await self._source(wda, ALERT)
        except (WdaError, AnydeviceError):
            return False, False
        inside: set[int] = set()
        takes = False
        for at, element in enumerate(source.elements):
            if element.type == "Alert" or element.parent in inside:
                inside.add(at)
                takes = takes or element.type in FIELDS
        return takes, False

    async def answer(self, *, yes: bool, text: str | None = None) -> None:
        """See `Engine.answer`.

        Raises:
            AppNotRunning: No dialog is open.
        """
        async with self._errors("alerts.accept" if yes else "alerts.dismiss") as wda:
            if text is not None:
                await wda.act("/alert/text", {"value": list(text)})
            await wda.act("/alert/accept" if yes else "/alert/dismiss")

    # --- inside ---

    def _errors(self, operation: str) -> _Errors:
        return _Errors(self._agent, operation)


class _Errors:
    """The agent for one piece of work, with its errors as ours; one that is gone is looked for the next time."""

    def __init__(self, agent: Agent, operation: str) -> None:
        self._agent, self._operation = agent, operation

    async def __aenter__(self) -> Wda:
        return await self._agent.wda()

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, WdaError):
            raise typed(error, self._operation) from None
        if isinstance(error, UpstreamUnavailable | OutcomeUnknown):
            self._agent.lost()


def _sides(rect: Rect) -> Box:
    return rect.x, rect.y, rect.width, rect.height


def _too_deep(error: WdaError) -> bool:
    """Whether the system gave nothing because there is too much: it is told as a stale application."""
    stale = error.error == "stale element reference" and "pplication" in error.said
    return stale or "kAXErrorIllegalArgument" in error.said or "kAXErrorInvalidArgument" in error.said


def _unsaid(what: str) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        f"The device does not say {what}.",
        upstream="WebDriverAgent",
        enable_hint="Call doctor; restart WebDriverAgent on the device.",
    )
