"""A small screen model: elements with places, states and behaviour, and a journal of what was done to them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anydevice_schemas import EDITABLE, INTERACTIVE, Node, Point, Rect, Tree
from anydevice_schemas.errors import AppNotFound, StaleRef

from ..driver import AppEvent, OpenRequest, TreeScope
from .desk import FakeDesk
from .diagnosis import Diary
from .upkeep import Upkeep

_keys = itertools.count(1)


@dataclass(eq=False)
class FakeElement:
    """One element of a fake screen.

    Attributes:
        role, name, value, identifier, states, secure: As `Node` has them.
        rect: Its place in the content (not in the viewport), in points.
        on_press: Called when it is pressed.
        parent: The element it is inside of; None = directly on the screen.
        fixed: Does not move when the screen scrolls (a bar, an overlay, a dialog).
        rewrites: What the element makes of text written into it; for fields that refuse or format.
        on_write: Called with the value after text was written into it.
        on_toggle: Called with the new state after a toggle was pressed.
    """

    role: str
    name: str = ""
    rect: Rect = field(default_factory=lambda: Rect(0, 0, 100, 40))
    value: str | None = None
    identifier: str = ""
    states: set[str] = field(default_factory=set)
    secure: bool = False
    on_press: Callable[[], None] | None = None
    parent: FakeElement | None = None
    fixed: bool = False
    rewrites: Callable[[str], str] | None = None
    on_write: Callable[[str], None] | None = None
    on_toggle: Callable[[bool], None] | None = None
    key: str = field(default_factory=lambda: f"k{next(_keys)}")

    def write(self, text: str) -> None:
        """Text is written into the element, as its own rules allow."""
        self.value = self.rewrites(text) if self.rewrites is not None else text
        if self.on_write is not None:
            self.on_write(self.value)

    def inside(self, other: FakeElement) -> bool:
        """Whether it is somewhere inside of another element."""
        above = self.parent
        while above is not None and above is not other:
            above = above.parent
        return above is not None

    def renew(self) -> None:
        """Becomes another element that looks the same."""
        self.key = f"k{next(_keys)}"


def _shorten(node: Node, most: int) -> int:
    """Cuts the texts of a node; how many were too long."""
    cuts = 0
    if len(node.name) > most:
        node.name, cuts = node.name[:most], cuts + 1
    if node.value is not None and len(node.value) > most:
        node.value, cuts = node.value[:most], cuts + 1
    return cuts


class FakeScreen:
    """Elements in the order they are drawn, a viewport that can scroll, and a journal.

    Attributes:
        journal: Everything that was done to this screen: `(what, key or None, details)`.
        focus: The element that has the keyboard focus.
        dialog: A dialog that blocks the screen: (kind, text, buttons), or None.
    """

    def __init__(self, elements: Iterable[FakeElement] = (), *, width: float = 390, height: float = 844) -> None:
        self.elements = list(elements)
        self.width, self.height = width, height
        self.offset = 0.0
        self.title = "Practice"
        self.location = "fake://practice/home"
        self.focus: FakeElement | None = None
        self.dialog: tuple[str, str, tuple[str, ...]] | None = None
        self.journal: list[tuple[str, str | None, dict[str, Any]]] = []
        self.history: list[str] = []
        self.desk = FakeDesk(self)
        self.upkeep = Upkeep()
        self.diary = Diary()

    # --- building and looking, for tests ---

    def add(self, element: FakeElement) -> FakeElement:
        """Draws an element over what is there."""
        self.elements.append(element)
        return element

    def remove(self, element: FakeElement) -> None:
        """Takes an element and everything inside it away."""
        gone = [e for e in self.elements if e is element or e.parent is element]
        self.elements = [e for e in self.elements if e not in gone]

    def named(self, name: str, role: str | None = None) -> FakeElement:
        """The only element of this name (and role).

        Raises:
            LookupError: None or several.
        """
        found = [e for e in self.elements if e.name == name and role in (None, e.role)]
        if len(found) != 1:
            raise LookupError(f"{len(found)} elements are named {name!r}")
        return found[0]

    def text(self, name: str) -> str | None:
        """The value of the element of this name."""
        return self.named(name).value

    def did(self, what: str) -> list[tuple[str, str | None, dict[str, Any]]]:
        """The journal's entries of one kind."""
        return [entry for entry in self.journal if entry[0] == what]

    def log(self, what: str, element: FakeElement | None = None, **details: Any) -> None:
        """Adds to the journal."""
        self.journal.append((what, element.key if element is not None else None, details))

    @property
    def content_height(self) -> float:
        """Height of everything, in points."""
        bottoms = [e.rect.y + e.rect.height for e in self.elements if not e.fixed]
        return max([self.height, *bottoms])

    # --- looking ---

    async def ready(self) -> None:
        """Called before every operation: timers run out here, a frozen screen hangs here, a dead one raises."""

    def by_key(self, key: str) -> FakeElement:
        """The element of this key.

        Raises:
            StaleRef: It is gone.
        """
        for element in itertools.chain(self.elements, *(window.elements for window in self.desk.others)):
            if element.key == key:
                return element
        raise StaleRef("The element is gone.", ref=key, reason="gone", nearest_matches=[])

    def place(self, element: FakeElement) -> Rect:
        """Where the element is now, in the viewport's space."""
        rect = element.rect
        if any(element in window.elements for window in self.desk.others):
            return rect
        shift, corner = 0.0 if element.fixed else self.offset, self.desk.frame
        return Rect(rect.x + corner.x, rect.y - shift + corner.y, rect.width, rect.height)

    @property
    def viewport(self) -> Rect:
        """What is on screen."""
        return Rect(0, 0, self.width, self.height)

    def node(self, element: FakeElement, parent: int = 0) -> Node:
        """The element as a driver reports it."""
        rect = self.place(element)
        states = set(element.states)
        if rect.intersect(self.viewport) is None:
            states.add("offscreen")
        if self.desk.away and element in self.elements:
            states.add("hidden")
        if element is self.focus:
            states.add("focused")
        if element.role in EDITABLE and "readonly" not in states:
            states.add("editable")
        return Node(
            role=element.role,
            name=element.name,
            value=None if element.secure else element.value,
            parent=parent,
            key=element.key,
            identifier=element.identifier,
            states=frozenset(states),
            rect=rect,
            actions=("press",) if element.on_press or element.role in INTERACTIVE else (),
            secure=element.secure,
        )

    def tree(self, scope: TreeScope) -> Tree:
        """The screen as a driver reports it.

        Raises:
            StaleRef: The element to start from is gone.
        """
        top = self.by_key(scope.root) if scope.root is not None else None
        if scope.reach == "desktop" or scope.window is not None:
            return self.desk.tree(scope)
        nodes = [Node(role="window", name=self.title, key="root", rect=self.desk.frame, window=self.title)]
        index, depths = {"root": 0}, [0]
        missing: Counter[str] = Counter()
        for element in self.elements:
            if top is not None and element is not top and not element.inside(top):
                continue
            node = self.node(element, index.get(element.parent.key, 0) if element.parent is not None else 0)
            if scope.mode == "interactive" and not (node.actions or node.role == "heading"):
                continue
            depth = depths[node.parent] + 1
            if scope.mode == "viewport" and "offscreen" in node.states:
                missing["offscreen"] += 1
            elif depth >= scope.max_depth:
                missing["depth"] += 1
            elif len(nodes) >= scope.max_nodes:
                missing["nodes"] += 1
            else:
                missing["text"] += _shorten(node, scope.max_text)
                index[element.key] = len(nodes)
                nodes.append(node)
                depths.append(depth)
        omitted = {reason: count for reason, count in missing.items() if count}
        return Tree(
            nodes=nodes,
            generation=self.location,
            quality="truncated" if omitted.keys() - {"offscreen"} else "complete",
            viewport=self.viewport,
            title=self.title,
            location=self.location,
            omitted=omitted,
        )

    def hit(self, point: Point) -> FakeElement | None:
        """The topmost element at a point of the viewport."""
        if self.desk.away:
            return None
        for element in reversed(self.elements):
            if "hidden" not in element.states and self.place(element).contains(point):
                return element
        return None

    # --- acting ---

    def press_at(self, point: Point, what: str = "press", **details: Any) -> FakeElement | None:
        """A finger or pointer goes down and up at a point."""
        element = self.hit(point)
        self.log(what, element, point=point, **details)
        if element is not None and "disabled" not in element.states:
            self.activate(element)
        return element

    def activate(self, element: FakeElement) -> None:
        """What a press does: focus, toggle, and the element's own behaviour."""
        if element.role in EDITABLE:
            self.focus = element
        if element.role in ("checkbox", "switch"):
            element.states ^= {"checked"}
            if element.on_toggle is not None:
                element.on_toggle("checked" in element.states)
        target: FakeElement | None = element
        while target is not None and target.on_press is None:
            target = target.parent
        if target is not None and target.on_press is not None:
            target.on_press()

    def hold_at(self, point: Point, seconds: float, what: str = "hold") -> None:
        """A finger or button stays down at a point."""
        self.press_at(point, what, seconds=seconds)

    def hover_at(self, point: Point) -> None:
        """The pointer comes to rest at a point."""
        self.log("hover", self.hit(point), point=point)

    def drag(self, start: Point, end: Point, seconds: float, hold: float = 0.0) -> None:
        """Something is dragged."""
        self.log("drag", None, start=start, end=end, seconds=seconds, hold=hold)

    def swipe(self, start: Point, end: Point, seconds: float) -> None:
        """A finger swipes; the content follows."""
        self.log("swipe", None, start=start, end=end, seconds=seconds)
        self.scroll(start.y - end.y)

    def fingers(self, paths: Sequence[Sequence[Point]], seconds: float) -> None:
        """Several fingers move at once."""
        self.log("multi_touch", None, paths=paths, seconds=seconds)

    def scroll(self, dy: float) -> None:
        """The content moves; positive shows what is further down."""
        self.offset = min(max(0.0, self.offset + dy), max(0.0, self.content_height - self.height))
        self.log("scroll", None, dy=dy)

    def type(self, text: str) -> None:
        """Text arrives at the focused element."""
        element = self.focus
        self.log("type", element, text="<secret>" if element is not None and element.secure else text)
        if element is not None:
            element.write((element.value or "") + text)

    def write(self, element: FakeElement, text: str) -> None:
        """Text replaces an element's value through accessibility."""
        element.write(text)

    def key(self, chord: str) -> None:
        """A key or chord arrives."""
        self.log("key", self.focus, chord=chord)

    def answer(self, how: str, text: str | None) -> None:
        """The open dialog is answered."""
        self.log(f"alert.{how}", None, text=text)
        self.dialog = None

    # --- apps and links ---

    def open(self, request: OpenRequest) -> None:
        """An app or URL is opened.

        Raises:
            AppNotFound: There is no such app.
        """
        if request.app is not None and request.app.casefold() not in ("practice", "com.example.practice"):
            raise AppNotFound("There is no such app.", nearest_matches=["practice"])
        self.history.append(self.location)
        self.location = request.url or f"fake://{request.app}"
        self.log("open", None, url=request.url, app=request.app)

    def close(self, app: str | None, force: bool) -> None:
        """An app is closed."""
        self.log("close", None, app=app, force=force)

    def power_off(self) -> None:
        """The device stops, and everything on it."""

    def back(self) -> bool:
        """One step back; False when there is none."""
        if not self.history:
            return False
        self.location = self.history.pop()
        self.log("back")
        return True

    def event(self, event: AppEvent) -> bool | None:
        """An app event arrives; whether the app acknowledges it, or None where it cannot say."""
        self.log("event", None, name=event.name, url=event.url, payload=event.payload)
        return event.name.startswith("ack.")

    def link(self, url: str) -> None:
        """A deep link arrives."""
        self.log("open_url", None, url=url)

    def state(self) -> Mapping[str, Any]:
        """What is in the foreground."""
        return {"app": "practice", "title": self.title, "location": self.location}


def practice_screen() -> FakeScreen:
    """A home screen to practise on: a counter, a form, twins, covered and disabled things, a long list."""
    screen = FakeScreen()
    add = screen.add
    add(FakeElement("heading", "Practice", Rect(20, 20, 350, 40)))
    count = add(FakeElement("text", "Count", Rect(20, 70, 150, 40), value="0"))

    def increment() -> None:
        count.value = str(int(count.value or "0") + 1)

    add(FakeElement("button", "Increment", Rect(200, 70, 150, 40), on_press=increment))
    name = add(FakeElement("textbox", "Name", Rect(20, 120, 350, 40), value="", identifier="form.name"))
    add(FakeElement("textbox", "Password", Rect(20, 170, 350, 40), secure=True, value=""))
    letters = add(FakeElement("textbox", "Letters", Rect(20, 220, 350, 40), value=""))
    letters.rewrites = lambda text: "".join(ch for ch in text if not ch.isdigit())
    add(FakeElement("switch", "Wi-Fi", Rect(20, 270, 350, 40)))
    add(FakeElement("button", "Sign in", Rect(20, 320, 160, 40)))
    add(FakeElement("button", "Sign in with a passkey", Rect(200, 320, 170, 40)))
    for column in (20, 200):
        add(FakeElement("button", "Delete", Rect(column, 370, 150, 40)))
    submit = add(FakeElement("button", "Submit", Rect(20, 420, 150, 40), states={"disabled"}))

    def fill_name(text: str) -> str:
        submit.states = set() if text else {"disabled"}
        return text

    name.rewrites = fill_name
    add(FakeElement("button", "Covered", Rect(200, 420, 150, 40)))
    add(FakeElement("dialog", "Veil", Rect(190, 410, 170, 60), states={"modal"}))
    row = add(FakeElement("row", "General", Rect(20, 480, 350, 44), on_press=increment))
    add(FakeElement("text", "General", Rect(30, 490, 100, 24), parent=row))
    for number in range(60):
        add(FakeElement("listitem", f"Row {number}", Rect(20, 540 + 44 * number, 350, 44)))
    return screen
