"""A dump as a tree of the one vocabulary: roles, names, states, points; and what of it takes input where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from anydevice.driver import TreeScope
from anydevice_schemas import INTERACTIVE, Node, Rect, Tree
from anydevice_schemas.tree import Quality

from .reading import elements as bits
from .reading.classes import LISTS, role_of
from .reading.dump import Dump, DumpWindow
from .reading.elements import Box, Element

APPLICATION, INPUT_METHOD, SYSTEM = "TYPE_APPLICATION", "TYPE_INPUT_METHOD", "TYPE_SYSTEM"
INPUT_AREA: Final = "android:id/inputArea"
"""Part of an input method's window that is the keyboard; the window itself may be as large as the screen."""
BAND, NARROW, MANY = 64, 16, 200
"""Pixels of the height of the screen that are looked through together for what lies over what, and so many where
there are `MANY` things that take input."""
KEPT: Final = INTERACTIVE | {"heading", "dialog", "keyboard", "window", "application"}
"""Roles that an interactive tree keeps."""


@dataclass(slots=True, frozen=True)
class View:
    """How a screen is looked at: its size in pixels as it is turned now, pixels per point, and the app in front."""

    width: int
    height: int
    scale: float
    app: str = ""
    activity: str = ""

    @property
    def viewport(self) -> Rect:
        """The screen in points."""
        return Rect(0, 0, self.width / self.scale, self.height / self.scale)


def build(dump: Dump, view: View, scope: TreeScope, quality: Quality = "complete", generation: str = "") -> Tree:
    """The tree of a dump. Windows come bottom first, so that what is later in it lies over what is earlier."""
    builder = _Builder(view, scope)
    shown = [window for window in reversed(dump.windows) if window.display in ("", _main(dump))]
    modal = _modal(shown)
    for place, window in enumerate(shown):
        builder.window(window, over=shown[place + 1 :], modal=window is modal, blocked=modal in shown[place + 1 :])
    tree = builder.tree
    if tree.omitted.get("nodes") or tree.omitted.get("depth"):
        quality = "truncated" if quality == "complete" else quality
    tree.quality = quality
    tree.location = f"{view.app}/{view.activity}" if view.activity else view.app
    tree.generation = generation or view.app
    return tree


def _main(dump: Dump) -> str:
    """The display that is looked at: the one with the focus, else the first."""
    for window in dump.windows:
        if window.focused and window.display:
            return window.display
    return dump.windows[0].display if dump.windows else ""


def _modal(windows: Sequence[DumpWindow]) -> DumpWindow | None:
    """The dialog in front: a focused window that is smaller than another one of an app beneath it."""
    apps = [window for window in windows if window.kind == APPLICATION and window.bounds is not None]
    if len(apps) < 2 or not apps[-1].focused:
        return None
    top = _area(apps[-1].bounds)
    return apps[-1] if any(_area(other.bounds) > top for other in apps[:-1]) else None


def _area(box: Box | None) -> int:
    return (box[2] - box[0]) * (box[3] - box[1]) if box is not None else 0


class _Builder:
    """Puts windows into one tree, within the caps of a scope."""

    def __init__(self, view: View, scope: TreeScope) -> None:
        self.view = view
        self.scope = scope
        self.screen: Box = (0, 0, view.width, view.height)
        root = Node("application", name=view.app, app=view.app, rect=view.viewport, key=f"app:{view.app}")
        self.tree = Tree(nodes=[root], generation="", viewport=view.viewport, omitted={})
        self.cut = {"nodes": 0, "depth": 0, "text": 0}

    def window(self, window: DumpWindow, over: Sequence[DumpWindow], modal: bool, blocked: bool) -> None:
        """Adds a window. `blocked`: a dialog above it takes all input."""
        nodes = self.tree.nodes
        if len(nodes) >= self.scope.max_nodes:
            self.cut["nodes"] += 1 + len(window.parents)
            self.tree.omitted = {word: count for word, count in self.cut.items() if count}
            return
        keyboard = window.kind == INPUT_METHOD
        box = _keyboard(window) if keyboard else window.bounds or self.screen
        role = "keyboard" if keyboard else "dialog" if modal else "window"
        states = frozenset({"modal"}) if modal else frozenset()
        title = self._short(window.title)
        nodes.append(
            Node(
                role,
                name=title,
                parent=0,
                key=self._key(window),
                states=states,
                rect=self._rect(box),
                window=title,
                native_role=window.kind,
            )
        )
        self._elements(window, len(nodes) - 1, _covers(over), blocked)
        self.tree.omitted = {word: count for word, count in self.cut.items() if count}

    def _key(self, window: DumpWindow) -> str | None:
        """A window's own id, where the dump tells it; it stays while the window does, whatever is shown in it."""
        if not window.id:
            return None
        key = f"window:{window.display}:{window.id}"
        taken = any(node.key == key for node in self.tree.nodes)
        return None if taken else key

    def _elements(self, window: DumpWindow, root: int, covers: list[Box], blocked: bool) -> None:
        nodes, scope = self.tree.nodes, self.scope
        interactive, deepest, most = scope.mode == "interactive", scope.max_depth, scope.max_nodes
        parents = window.parents
        placed: list[int] = []
        depths: list[int] = []
        roles: list[str] = []
        boxes: list[Placed] = []
        inner = _Inner(window)
        title, scale, longest = window.title, self.view.scale, scope.max_text
        wide, high, count = self.screen[2], self.screen[3], len(nodes)
        # A screen may have thousands of elements: what most of them need is written out here, without calls.
        places = bits.boxes(window.elements)
        for at, (one, place) in enumerate(zip(window.elements, places, strict=True)):
            text, identifier, class_name, app, said, _, _, flags = one
            parent = parents[at]
            if parent >= 0:
                depth, above, up = depths[parent] + 1, roles[parent], placed[parent]
            else:
                depth, above, up = 2, "", root
            depths.append(depth)
            role, states, actions, worded, labelled = _traits(class_name, above, flags)
            roles.append(role)
            if interactive and role not in KEPT and not actions:
                placed.append(up)
                continue
            if depth > deepest or count >= most:
                self.cut["depth" if depth > deepest else "nodes"] += 1
                placed.append(up)
                continue
            rect = None
            if place is not None:
                left, top, right, bottom = place
                rect = Rect(left / scale, top / scale, (right - left) / scale, (bottom - top) / scale)
                if actions:
                    boxes.append((count, left, top, right, bottom))
                if left >= wide or right <= 0 or top >= high or bottom <= 0:
                    states |= {"offscreen"}
            name, value = text, None
            if worded or (text and said):
                name, value = self._words(role, one, inner, at)
            elif not text:
                name = said or (inner.first_text(at) or "" if labelled else "")
            if len(name) > longest:
                name = self._short(name)
            secure = flags & bits.PASSWORD > 0
            placed.append(count)
            count += 1
            nodes.append(
                Node(role, name, value, up, None, identifier, states, rect, actions, class_name, "", app, title, secure)
            )
        self._cover(boxes, covers, blocked)

    def _words(self, role: str, one: Element, inner: _Inner, at: int) -> tuple[str, str | None]:
        """Name and value: which of an element's texts is which depends on what it is."""
        text, said = one.text, one.said
        if one.flags & bits.PASSWORD:
            return said or one.hint, None
        name, value = text or said, None
        if role == "textbox":
            name = said or one.hint
            value = "" if text and text == one.hint else text
        elif role in _VALUED:
            name = said
            value = text or inner.first_text(at)
        elif text and said and text != said:
            # A description beside a text is what a person hears it called; the text is what it shows.
            name, value = said, text
        if not name and role in _NAMED_BY_CHILD:
            name = inner.first_text(at) or ""
        return name, self._short(value) if value is not None else None

    def _cover(self, boxes: list[Placed], covers: list[Box], blocked: bool) -> None:
        """Marks what does not get the input at its middle: something that takes input lies over it there."""
        nodes = self.tree.nodes
        wide, high = self.screen[2], self.screen[3]
        step = NARROW if len(boxes) > MANY else BAND
        last = high // step
        over: dict[int, list[Placed]] = {}  # what is later in a window lies over what is earlier
        for place in reversed(boxes):
            index, left, top, right, bottom = place
            x = ((left if left > 0 else 0) + (right if right < wide else wide)) / 2
            y = ((top if top > 0 else 0) + (bottom if bottom < high else high)) / 2
            hidden = blocked or (bool(covers) and any(_holds(cover, x, y) for cover in covers))
            if not hidden:
                for later, start, above, end, below in over.get(int(y) // step, ()):
                    if above <= y < below and start <= x < end and not self._inside(later, index):
                        hidden = True
                        break
            if hidden:
                nodes[index].hittable = False
            for band in range(max(0, top // step), min(last, bottom // step) + 1):
                over.setdefault(band, []).append(place)

    def _inside(self, index: int, ancestor: int) -> bool:
        nodes = self.tree.nodes
        while index > ancestor:
            index = nodes[index].parent
        return index == ancestor

    def _rect(self, box: Box | None) -> Rect | None:
        if box is None:
            return None
        scale = self.view.scale
        return Rect(box[0] / scale, box[1] / scale, (box[2] - box[0]) / scale, (box[3] - box[1]) / scale)

    def _short(self, text: str) -> str:
        if len(text) <= self.scope.max_text:
            return text
        self.cut["text"] += 1
        return text[: self.scope.max_text]


Placed = tuple[int, int, int, int, int]
"""Number of a node, and its box."""
_VALUED: Final = frozenset({"combobox", "slider", "spinbutton", "progressbar"})
_WORDED: Final = _VALUED | {"textbox"}
"""Roles of which a text may be the value."""
_NAMED_BY_CHILD: Final = frozenset(
    {"clickable", "button", "listitem", "gridcell", "menuitem", "tab", "checkbox", "switch", "radio"}
)


@lru_cache(maxsize=8192)
def _traits(class_name: str, above: str, flags: int) -> tuple[str, frozenset[str], tuple[str, ...], bool, bool]:
    """Role, states and actions, whether its texts need a closer look, and whether one inside it may be its name.

    Most elements of a screen share all that with many others.
    """
    checkable, secure = flags & bits.CHECKABLE > 0, flags & bits.PASSWORD > 0
    role = _role(class_name, above, flags & bits.CLICKABLE > 0, checkable, secure)
    states = []
    if flags & bits.DISABLED:
        states.append("disabled")
    if checkable or role in ("switch", "checkbox", "radio"):
        states.append("checked" if flags & bits.CHECKED else "unchecked")
    if flags & bits.SELECTED:
        states.append("selected")
    if flags & bits.FOCUSED:
        states.append("focused")
    if role == "textbox":
        states.append("editable")
    actions = []
    if flags & (bits.CLICKABLE | bits.CHECKABLE):
        actions.append("press")
    if flags & bits.LONG_CLICKABLE:
        actions.append("longpress")
    if flags & bits.SCROLLABLE:
        actions.append("scroll")
    return role, frozenset(states), tuple(actions), role in _WORDED or secure, role in _NAMED_BY_CHILD


def _role(class_name: str, above: str, clickable: bool, checkable: bool, password: bool) -> str:
    role = role_of(class_name)
    if password:
        return "textbox"
    if checkable and role in ("generic", "text", "image"):
        return "checkbox"
    if above in LISTS and role == "generic":
        return "listitem" if above == "list" else "gridcell"
    if above == "tablist" and role in ("generic", "text"):
        return "tab"
    if above == "toolbar" and role == "text":
        return "heading"
    if clickable:
        return {"generic": "clickable", "image": "button"}.get(role, role)
    return role


class _Inner:
    """What is inside of what, in one window; worked out when somebody asks."""

    def __init__(self, window: DumpWindow) -> None:
        self._window = window
        self._ends: list[int] | None = None

    def first_text(self, at: int) -> str | None:
        """The first text inside an element whose label is not its own; what is pressable by itself keeps its text."""
        if self._ends is None:
            self._ends = _ends(self._window.parents)
        for inner in range(at + 1, self._ends[at] + 1):
            one = self._window.elements[inner]
            text = one.text or one.said
            if text and not one.flags & (bits.PASSWORD | bits.CLICKABLE):
                return text
        return None


def _ends(parents: Sequence[int]) -> list[int]:
    """For each element the index of the last one inside it."""
    ends = list(range(len(parents)))
    for at in range(len(parents) - 1, 0, -1):
        parent = parents[at]
        if parent >= 0 and ends[at] > ends[parent]:
            ends[parent] = ends[at]
    return ends


def _covers(over: Sequence[DumpWindow]) -> list[Box]:
    """Where windows above take the input: keyboards, and what of the system's windows is touchable."""
    found = []
    for window in over:
        if window.kind == INPUT_METHOD:
            box = _keyboard(window)
            if box is not None:
                found.append(box)
        elif window.bounds is not None and window.elements:
            found.append(window.bounds)
    return found


def _keyboard(window: DumpWindow) -> Box | None:
    """The part of an input method's window that is the keyboard."""
    best: Box | None = None
    for one in window.elements:
        box = one.box
        if box is None:
            continue
        if one.id == INPUT_AREA:
            return box
        if one.flags & bits.CLICKABLE:
            best = box if best is None else _union(best, box)
    return best or window.bounds


def _union(one: Box, other: Box) -> Box:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _holds(box: Box, x: float, y: float) -> bool:
    return box[0] <= x < box[2] and box[1] <= y < box[3]
