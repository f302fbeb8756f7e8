"""The practice app in memory: a screen model that shows, does and reports what the specification says.

Simulated devices and the reference backend render this model; the witness hears of every input over HTTP, or by a
function in tests.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio

from anydevice_schemas import Point, Rect
from anydevice_schemas.errors import AppCrashed, AppNotFound, InvalidArgument
from anydevice_schemas.practice import APP_ID, SCREENS, Action, PracticeElement

from ..driver import AppEvent, OpenRequest
from .gestures import pinch_of, way_of
from .keyboard import Typing, chord_of
from .launching import NAMES, options_of, parameters
from .reporter import HttpReporter, Reporter
from .screen import FakeElement, FakeScreen

GAP = 8.0
ROW = 44.0
HELD = 0.4
"""Seconds from which a press is a hold, for an element that listens to that."""
NEAR_ROWS = 40
"""How many rows of the lazy list exist at a time."""


class PracticeApp(FakeScreen):
    """One run after another of the practice app on one device.

    Args:
        width, height: Of the screen, in points.
        report: Where reports go until the app is opened with a witness of its own.
    """

    def __init__(self, *, width: float = 390, height: float = 844, report: Reporter | None = None) -> None:
        super().__init__(width=width, height=height)
        self.report_to = report
        self.reporter: Callable[[str], HttpReporter] = HttpReporter
        self.screen_id = ""
        self.arguments: tuple[str, ...] = ()
        self.crashed = self.running = False
        self.values: dict[str, str] = {}
        self._seq = 0
        self._frozen_until = 0.0
        self._timers: list[tuple[float, Callable[[], None]]] = []
        self._by_id: dict[str, FakeElement] = {}
        self._spec: dict[FakeElement, PracticeElement] = {}
        self._ticks_from = 0.0
        self._list_top = 0.0
        self._screens: list[str] = []
        self._typing = Typing()
        self.title, self.location = "Home screen", "home:"

    # --- running ---

    def open(self, request: OpenRequest) -> None:
        """Starts the app anew on the screen that is asked for.

        Raises:
            AppNotFound: Another app or a page that is not the practice app.
        """
        options = options_of(request)
        self.running, self.crashed, self.dialog = True, False, None
        self._seq, self._frozen_until, self._timers = 0, 0.0, []
        self.arguments = tuple(request.arguments)
        self.values, self._screens = {}, []
        witness = options.get("witness")
        if witness:
            if isinstance(self.report_to, HttpReporter):
                self.report_to.close()
            self.report_to = self.reporter(witness)
        self.show(options.get("screen", "home"))
        if request.arguments:
            self.set_value("echo.arguments", " ".join(request.arguments))

    def close(self, app: str | None, force: bool) -> None:
        """Ends the app."""
        if app is not None and app.casefold() not in NAMES:
            raise AppNotFound("There is no such app.", nearest_matches=[APP_ID])
        self.power_off()

    def power_off(self) -> None:
        """The app ends with its device."""
        self.running = False
        self.elements, self.focus, self.dialog = [], None, None
        self._by_id, self._spec = {}, {}
        self.screen_id, self.title, self.location = "", "Home screen", "home:"

    def report(self, what: str, element: str = "", value: Any = None) -> None:
        """Tells the witness."""
        self._seq += 1
        self.diary.reported(what, element, getattr(self.report_to, "url", None))
        if self.report_to is not None:
            self.report_to({"seq": self._seq, "screen": self.screen_id, "what": what, "id": element, "value": value})

    async def ready(self) -> None:
        """Timers run out, a frozen app hangs, a crashed one is told."""
        now = time.monotonic()
        if self._frozen_until > now:
            await anyio.sleep(self._frozen_until - now)
        if self.crashed:
            raise AppCrashed("The app has crashed.", app=APP_ID, reason="it crashed when asked to")
        now = time.monotonic()
        due = [timer for timer in self._timers if timer[0] <= now]
        self._timers = [timer for timer in self._timers if timer[0] > now]
        for _, action in due:
            action()
        if self.screen_id and SCREENS[self.screen_id].animated:
            self._by_id["busy.clock"].value = str(int((now - self._ticks_from) * 20))

    # --- showing ---

    def show(self, screen_id: str) -> None:
        """Goes to a screen."""
        screen = SCREENS.get(screen_id)
        if screen is None:
            raise InvalidArgument("There is no such screen.", param="screen", expected=", ".join(SCREENS))
        if self.screen_id:
            self._screens.append(self.screen_id)
        self.screen_id, self.title = screen_id, screen.title
        self.location = f"practice://{screen_id}"
        self.offset, self.focus = 0.0, None
        self._ticks_from = time.monotonic()
        self._build()
        self.report("ready", value=screen_id)

    def _build(self) -> None:
        self.elements, self._by_id, self._spec = [], {}, {}
        y = GAP
        for spec in SCREENS[self.screen_id].elements:
            rect = Rect(GAP, y, self.width - 2 * GAP, spec.size)
            if spec.over:
                rect = self._by_id[spec.over].rect
            elif spec.inside:
                outer = self._by_id[spec.inside].rect
                rect = Rect(outer.x + 8, outer.y + 8, outer.width / 2, outer.height - 16)
            else:
                y += spec.size + GAP
            element = self._element(spec, rect)
            if spec.shown:
                self.elements.append(element)
        self._list_top = y
        self._fill_rows()

    def _element(self, spec: PracticeElement, rect: Rect) -> FakeElement:
        value = self.values.get(spec.id, spec.value)
        element = FakeElement(
            spec.role,
            spec.name,
            rect,
            value=value,
            identifier="" if spec.anonymous else spec.id,
            states=set(spec.states),
            secure=spec.secure,
            parent=self._by_id.get(spec.inside),
        )
        if spec.role == "button" or spec.press:
            element.on_press = lambda: self._pressed(spec)
        element.on_toggle = lambda on: self.report("toggle", spec.id, on)
        element.rewrites = lambda text: self._accepted(spec, element, text)
        element.on_write = lambda text: self._written(spec, text)
        self._by_id[spec.id] = element
        self._spec[element] = spec
        return element

    def _fill_rows(self) -> None:
        rows = SCREENS[self.screen_id].rows
        if not rows:
            return
        first = max(0, min(rows - NEAR_ROWS, int((self.offset - self._list_top) / ROW) - 8))
        wanted = range(first, min(rows, first + NEAR_ROWS))
        have = {e.identifier: e for e in self.elements if e.identifier.startswith("row.")}
        self.elements = [e for e in self.elements if not e.identifier.startswith("row.")]
        for number in wanted:
            place = Rect(GAP, self._list_top + ROW * number, self.width - 2 * GAP, ROW)
            old = have.get(f"row.{number}")
            self.elements.append(old or FakeElement("listitem", f"Row {number}", place, identifier=f"row.{number}"))

    @property
    def content_height(self) -> float:
        """Height of everything, lazy rows included."""
        rows = SCREENS[self.screen_id].rows if self.screen_id else 0
        return max(super().content_height, self._list_top + ROW * rows) if rows else super().content_height

    def scroll(self, dy: float) -> None:
        """The content moves, and the rows near the new place come into being."""
        super().scroll(dy)
        if self.screen_id:
            self._fill_rows()

    # --- doing ---

    def _pressed(self, spec: PracticeElement) -> None:
        self.report("press", spec.id)
        for action in spec.press:
            self._do(action)

    def _do(self, action: Action) -> None:
        if action.do in ("show", "hide") and action.seconds:
            due = time.monotonic() + action.seconds
            now = Action(action.do, action.to)
            self._timers.append((due, lambda: self._do(now)))
            return
        steps: dict[str, Callable[[], None]] = {
            "go": lambda: self.show(action.to),
            "add": lambda: self._add(action),
            "set": lambda: self.set_value(action.to, action.text),
            "state": lambda: self._state(action),
            "dialog": lambda: self._open_dialog(action),
            "show": lambda: self._show_element(action.to),
            "hide": lambda: self.remove(self._by_id[action.to]),
            "freeze": lambda: setattr(self, "_frozen_until", time.monotonic() + action.seconds),
            "crash": lambda: setattr(self, "crashed", True),
            "renew": self._renew,
            "submit": lambda: self.report("submit", value=self.values.get("form.name", "")),
        }
        steps[action.do]()

    def _add(self, action: Action) -> None:
        count = int(self._by_id[action.to].value or "0") + action.by
        self.set_value(action.to, str(count))
        self.report("count", action.to, count)

    def set_value(self, element_id: str, text: str) -> None:
        """Shows a value; kept for when its screen is shown."""
        self.values[element_id] = text
        if element_id in self._by_id:
            self._by_id[element_id].value = text

    def _state(self, action: Action) -> None:
        states = self._by_id[action.to].states
        (states.add if action.text[0] == "+" else states.discard)(action.text[1:])

    def _open_dialog(self, action: Action) -> None:
        buttons = ("OK",) if action.text == "alert" else ("OK", "Cancel")
        self.dialog = (action.text, action.to, buttons)

    def _show_element(self, element_id: str) -> None:
        element = self._by_id[element_id]
        if element not in self.elements:
            self.elements.append(element)

    def _renew(self) -> None:
        for element in self.elements:
            element.renew()

    # --- input ---

    def activate(self, element: FakeElement) -> None:
        """A press, as the specification has it."""
        spec = self._spec.get(element)
        if spec is None or spec.over:
            self.report("press", element.identifier)
            return
        if spec.role in ("text", "status", "region", "image", "heading", "slider", "combobox"):
            self.report("press", spec.id)
        super().activate(element)

    def hold_at(self, point: Point, seconds: float, what: str = "hold") -> None:
        """Something is held down."""
        element = self.hit(point)
        self.log(what, element, point=point, seconds=seconds)
        spec = self._spec.get(element) if element is not None else None
        if spec is not None and spec.gesture == "hold" and seconds >= HELD:
            self.report("hold", spec.id, round(seconds, 2))
        elif element is not None and "disabled" not in element.states:
            self.activate(element)

    def hover_at(self, point: Point) -> None:
        """The pointer comes to rest."""
        super().hover_at(point)
        element = self.hit(point)
        spec = self._spec.get(element) if element is not None else None
        if spec is not None and spec.gesture == "hover":
            self.report("hover", spec.id)
            self._show_element("gestures.tip")

    def drag(self, start: Point, end: Point, seconds: float, hold: float = 0.0) -> None:
        """Something is dragged."""
        super().drag(start, end, seconds, hold)
        source, zone = self.hit(start), self.hit(end)
        one = self._spec.get(source) if source is not None else None
        two = self._spec.get(zone) if zone is not None else None
        if one is not None and two is not None and (one.gesture, two.gesture) == ("drag-source", "drop-zone"):
            self.report("drag", one.id, [one.id, two.id])
        self._swiped(one, start, end)

    def swipe(self, start: Point, end: Point, seconds: float) -> None:
        """A finger swipes: the pad tells its direction, elsewhere the content follows."""
        element = self.hit(start)
        self.log("swipe", element, start=start, end=end, seconds=seconds)
        if not self._swiped(self._spec.get(element) if element is not None else None, start, end):
            self.scroll(start.y - end.y)

    def _swiped(self, spec: PracticeElement | None, start: Point, end: Point) -> bool:
        """The pad tells which way something went over it; whether it was the pad."""
        if spec is None or spec.gesture != "swipe":
            return False
        self.report("swipe", spec.id, way_of(start, end))
        return True

    def fingers(self, paths: Sequence[Sequence[Point]], seconds: float) -> None:
        """Two fingers pinch or rotate."""
        super().fingers(paths, seconds)
        if len(paths) != 2:
            return
        element = self.hit(paths[0][0])
        spec = self._spec.get(element) if element is not None else None
        if spec is None or spec.gesture != "pinch":
            return
        scale, turned = pinch_of(*paths)
        if abs(scale - 1) > 0.05:
            self.report("pinch", spec.id, round(scale, 2))
        if abs(turned) > 5:
            self.report("rotate", spec.id, round(turned))

    def _accepted(self, spec: PracticeElement, element: FakeElement, text: str) -> str:
        if spec.options:
            return text if text in spec.options else (element.value or "")
        if spec.accepts == "letters":
            return "".join(ch for ch in text if not ch.isdigit())
        if spec.accepts == "digits":
            return "".join(ch for ch in text if ch.isdigit())
        return text

    def _written(self, spec: PracticeElement, text: str) -> None:
        self.values[spec.id] = text
        if spec.options:
            self.report("select", spec.id, text)
        else:
            self.report("fill", spec.id, len(text) if spec.secure else text)
        for element, other in self._spec.items():
            if other.enables == spec.id:
                element.states = set() if text else {"disabled"}

    def type(self, text: str) -> None:
        """Text arrives at the focused field, if it takes any."""
        self.log("type", self.focus, text="<secret>" if self.focus is not None and self.focus.secure else text)
        self._typing.text(self.focus, text)

    def key(self, chord: str) -> None:
        """A key or chord: the app hears of it, and the focused field does what fields do."""
        super().key(chord)
        chord = chord_of(chord)
        self.report("key", self._spec[self.focus].id if self.focus in self._spec else "", chord)
        self.set_value("echo.key", chord)
        self._typing.key(self.focus, chord)

    def answer(self, how: str, text: str | None) -> None:
        """A dialog is answered."""
        kind = self.dialog[0] if self.dialog is not None else ""
        super().answer(how, text)
        word = "accept" if kind == "alert" else how
        self.report("dialog", value=(text or "") if kind == "prompt" and word == "accept" else word)

    def back(self) -> bool:
        """To the screen before."""
        if not self._screens:
            return False
        before = self._screens.pop()
        self.screen_id = ""
        self.show(before)
        self.log("back")
        return True

    def event(self, event: AppEvent) -> bool | None:
        """An app event arrives; the practice app acknowledges those whose name starts with `ack.`."""
        super().event(event)
        self.report("event", value={"name": event.name, "payload": event.payload})
        self.set_value("echo.event", event.name)
        return event.name.startswith("ack.")

    def link(self, url: str) -> None:
        """A deep link arrives; one that names an event is that event as well."""
        super().link(url)
        self.report("link", value=url)
        self.set_value("echo.link", url)
        asked = parameters(url)
        if "event" in asked:
            self.event(AppEvent(asked["event"], json.loads(asked.get("payload", "null")), url))

    def state(self) -> Mapping[str, Any]:
        """What is in the foreground."""
        app = APP_ID if self.running else "home"
        state: dict[str, Any] = {"app": app, "title": self.title, "location": self.location}
        if self.crashed:
            state["crashed"] = True
        if self.dialog is not None:
            kind, text, buttons = self.dialog
            state["dialog"] = {"kind": kind, "text": text, "buttons": list(buttons)}
        return state
