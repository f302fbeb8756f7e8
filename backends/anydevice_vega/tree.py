"""A page source as a tree of the one vocabulary: the app in front, its windows and elements, in points.

Points are the units of the page source: on every Vega so far those of a screen of 1920 by 1080.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from anydevice.driver import TreeScope
from anydevice_schemas import INTERACTIVE, Node, Rect, Tree
from anydevice_schemas.errors import StaleRef

from .reading.page import LAUNCHER, Element, Page, PageApp, PageWindow
from .reading.roles import FIELDS, TOGGLES, VALUED, role_of

SCREEN: Final = Rect(0, 0, 1920, 1080)
"""What a screen measures where no window says more."""
WHOLE: Final = TreeScope(mode="full", max_nodes=20_000, max_text=1_000_000)
KEPT: Final = INTERACTIVE | {"heading", "dialog", "alertdialog", "keyboard", "window", "application"}
"""Roles that an interactive tree keeps."""
NAMED_INSIDE: Final = frozenset({"clickable", "button", "listitem", "gridcell", "menuitem", "tab", "option", *TOGGLES})
"""Roles that are called as the first text inside them says, where they say nothing themselves."""
APP, WINDOW = "app:", "window:"
"""What keys of the app in front and of its windows begin with; those of elements are the toolkit's ids."""
BULLETS: Final = frozenset("•●*")
BAND: Final = 64
"""Points of the height of a screen that are looked through together for what lies over what."""


def build(page: Page, scope: TreeScope = WHOLE) -> Tree:
    """The tree of the app in front; that of nothing at all where no app shows anything.

    Raises:
        StaleRef: What the scope begins with is gone.
    """
    app = page.front()
    name, run = (app.name, app.id) if app is not None else ("", "")
    windows = ordered(app) if app is not None else []
    screen = _screen(windows)
    root = Node("application", name=name, app=name, rect=screen, key=f"{APP}{run}" if run else None)
    tree = Tree([root], generation=f"{name}:{run}", viewport=screen, location=name, app=name)
    builder = _Builder(tree, scope, screen)
    start = scope.root if scope.root != root.key else None
    found = start is None
    for place, window in enumerate(windows):
        modal = place > 0 and window is windows[-1] and _smaller(window, windows[0])
        blocked = not modal and len(windows) > 1 and _smaller(windows[-1], windows[0])
        whole = start is None or start == WINDOW + window.attributes.get("id", "")
        part = window if whole else _part(window, start or "")
        if whole or part.elements:
            found = True
            builder.window(part, modal=modal, blocked=blocked)
    if not found:
        raise StaleRef("The element is gone.", ref="", reason="gone", nearest_matches=[])
    builder.finish()
    return tree


def focus_of(tree: Tree) -> Node | None:
    """What has the focus: the innermost that says so."""
    return next((node for node in reversed(tree.nodes) if "focused" in node.states and not node.root), None)


def by_key(tree: Tree, key: str) -> Node | None:
    """The element of this key."""
    return next((node for node in tree.nodes if node.key == key), None)


def around(tree: Tree, node: Node) -> list[Node]:
    """An element and what it is inside of, the innermost first."""
    at = next(index for index, other in enumerate(tree.nodes) if other is node)
    return [node, *(tree.nodes[index] for index in tree.ancestors(at))]


def is_home(app: str) -> bool:
    """Whether this is the home screen."""
    return app == LAUNCHER


def _part(window: PageWindow, key: str) -> PageWindow:
    """A window with one element of it, and what is inside of that; nothing where it has none of this key."""
    places: dict[int, int] = {}
    kept: list[Element] = []
    for at, element in enumerate(window.elements):
        if element.parent in places or (not kept and element.attributes.get("id") == key):
            places[at] = len(kept)
            kept.append(Element(places.get(element.parent, -1), element.attributes, element.text, element.web))
    return PageWindow(window.attributes, kept)


def at_home(page: Page) -> bool:
    """Whether the home screen is in front."""
    app = page.front()
    return app is not None and is_home(app.name)


def says(page: Page, name: str) -> bool:
    """Whether an app shows anything that has words."""
    app = page.app(name)
    return app is not None and any(
        element.text or element.attributes.get("description") for window in app.windows for element in window.elements
    )


def cursor_of(app: PageApp) -> Element | None:
    """The element with the cursor, in the topmost window that has one."""
    for window in reversed(ordered(app)):
        at = _cursor(window)
        if at >= 0:
            return window.elements[at]
    return None


def screen_of(page: Page) -> Rect:
    """The screen, in points."""
    app = page.front()
    return _screen(ordered(app) if app is not None else [])


def ordered(app: PageApp) -> list[PageWindow]:
    """Windows, the lowest first: what is smaller lies over what fills the screen."""
    return sorted(app.windows, key=lambda window: -_area(_rect(window.attributes)))


def _screen(windows: list[PageWindow]) -> Rect:
    found = _rect(windows[0].attributes) if windows else None
    return found if found is not None and found.width > 0 and found.height > 0 else SCREEN


def _smaller(window: PageWindow, other: PageWindow) -> bool:
    return _area(_rect(window.attributes)) < _area(_rect(other.attributes))


def _area(rect: Rect | None) -> float:
    return rect.width * rect.height if rect is not None else 0.0


def _rect(attributes: Mapping[str, str]) -> Rect | None:
    try:
        x, y, width, height = (float(attributes[name]) for name in ("x", "y", "width", "height"))
    except (KeyError, ValueError):
        return None
    return Rect(x, y, max(0.0, width), max(0.0, height)) if abs(x) + abs(y) + width + height < 1e9 else None


@dataclass(slots=True)
class _Builder:
    """Puts windows into one tree, within the caps of a scope."""

    tree: Tree
    scope: TreeScope
    screen: Rect
    keys: set[str] = field(default_factory=set)
    cut: dict[str, int] = field(default_factory=lambda: {"nodes": 0, "depth": 0, "text": 0, "offscreen": 0})

    def window(self, window: PageWindow, *, modal: bool, blocked: bool) -> None:
        """Adds a window. `blocked`: a dialog above it takes all input."""
        if len(self.tree.nodes) >= self.scope.max_nodes:
            self.cut["nodes"] += 1 + len(window.elements)
            return
        states = frozenset({"modal"}) if modal else frozenset()
        node = Node("dialog" if modal else "window", parent=0, states=states, rect=_rect(window.attributes))
        node.key = self._key(WINDOW, window.attributes)
        self.tree.nodes.append(node)
        self._elements(window, len(self.tree.nodes) - 1, blocked)

    def finish(self) -> None:
        """Notes what was left out."""
        self.tree.omitted = {word: count for word, count in self.cut.items() if count}
        if self.cut["nodes"] or self.cut["depth"]:
            self.tree.quality = "truncated"

    def _elements(self, window: PageWindow, root: int, blocked: bool) -> None:
        nodes, scope = self.tree.nodes, self.scope
        cursor = _cursor(window)
        placed: list[int] = []
        depths: list[int] = []
        off: list[bool] = []
        first = len(nodes)
        for at, element in enumerate(window.elements):
            up = placed[element.parent] if element.parent >= 0 else root
            depth = depths[element.parent] + 1 if element.parent >= 0 else 2
            depths.append(depth)
            node = self._node(window, at, element, focused=at == cursor)
            off.append("disabled" in node.states or (not node.actions and element.parent >= 0 and off[element.parent]))
            if off[at]:
                node.states |= {"disabled"}  # a label is as disabled as what it is the label of
            if depth > scope.max_depth or len(nodes) >= scope.max_nodes:
                self.cut["depth" if depth > scope.max_depth else "nodes"] += 1
                placed.append(up)
                continue
            if scope.mode == "viewport" and "offscreen" in node.states:
                self.cut["offscreen"] += 1
                placed.append(up)
                continue
            if scope.mode == "interactive" and node.role not in KEPT and not node.actions:
                placed.append(up)
                continue
            node.parent = up
            node.key = self._key("", element.attributes)
            nodes.append(node)
            placed.append(len(nodes) - 1)
        self._cover(first, blocked)

    def _node(self, window: PageWindow, at: int, element: Element, *, focused: bool) -> Node:
        get = element.attributes.get
        acts = get("clickable") == "true" or get("focusable") == "true" or get("selectable") == "true"
        role = role_of(get("role", ""), text=element.text is not None, acts=acts, web=element.web)
        node = Node(
            role,
            identifier="" if get("test_id", "").isdigit() else get("test_id", ""),  # a number is React's, not the app's
            rect=_rect(element.attributes),
            states=_states(element.attributes, role, focused),
            actions=_actions(element.attributes),
            native_role=get("role", ""),
            app=self.tree.app,
            secure=_secure(element, role),
        )
        if node.rect is None or node.rect.intersect(self.screen) is None:
            node.states |= {"offscreen"}
        self._words(node, window, at, element)
        return node

    def _words(self, node: Node, window: PageWindow, at: int, element: Element) -> None:
        """Gives an element its texts; which of them is the name depends on what it is."""
        text, said = element.text or "", element.attributes.get("description", "")
        if node.secure:
            node.name = self._short(said)
            return
        if node.role in FIELDS or (node.role in VALUED and said):
            node.name, node.value = self._short(said), self._short(text)
            return
        node.name = said or text
        if said and text and said != text:
            node.value = self._short(text)
        if not node.name and node.role in NAMED_INSIDE:
            node.name = _inside(window, at)
        node.name = self._short(node.name)

    def _cover(self, first: int, blocked: bool) -> None:
        """Marks what does not get the press at its middle: something that takes it lies over it there."""
        nodes = self.tree.nodes
        over: dict[int, list[tuple[int, Rect]]] = {}
        for index in range(len(nodes) - 1, first - 1, -1):
            node = nodes[index]
            if not node.actions or node.rect is None:
                continue
            middle = node.rect.center
            later = over.get(int(middle.y) // BAND, ())
            if blocked or any(rect.contains(middle) and index not in self.tree.ancestors(at) for at, rect in later):
                node.hittable = False
            top, bottom = int(max(0.0, node.rect.y)), int(min(node.rect.y + node.rect.height, 1e5))
            for band in range(top // BAND, bottom // BAND + 1):
                over.setdefault(band, []).append((index, node.rect))

    def _key(self, kind: str, attributes: Mapping[str, str]) -> str | None:
        """The element's own id, unless it was given to another one as well."""
        id = attributes.get("id", "")
        if not id.isdigit() or kind + id in self.keys:
            return None
        self.keys.add(kind + id)
        return kind + id

    def _short(self, text: str) -> str:
        if len(text) <= self.scope.max_text:
            return text
        self.cut["text"] += 1
        return text[: self.scope.max_text]


def _actions(attributes: Mapping[str, str]) -> tuple[str, ...]:
    """What can be done to an element: press it, and where the app handles a tap of it, tap it."""
    if attributes.get("clickable") == "true":
        return "press", "tap"
    acts = attributes.get("focusable") == "true" or attributes.get("selectable") == "true"
    return ("press",) if acts else ()


def _states(attributes: Mapping[str, str], role: str, focused: bool) -> frozenset[str]:
    get = attributes.get
    states = set()
    if get("enabled") == "false":
        states.add("disabled")
    if focused:
        states.add("focused")
    if get("selected") == "true":
        states.add("selected")
    if get("checked") is not None or role in TOGGLES:
        states.add({"true": "checked", "mixed": "mixed"}.get(get("checked", ""), "unchecked"))
    if get("expanded") is not None:
        states.add("expanded" if get("expanded") == "true" else "collapsed")
    if get("readonly") == "true":
        states.add("readonly")
    elif role in FIELDS:
        states.add("editable")
    return frozenset(states)


def _secure(element: Element, role: str) -> bool:
    """Whether it holds a secret: it says so, or shows nothing but bullets."""
    if any(element.attributes.get(name) == "true" for name in ("password", "secure", "secureTextEntry")):
        return True
    return role in FIELDS and bool(element.text) and set(element.text or "") <= BULLETS


def _cursor(window: PageWindow) -> int:
    """The element with the cursor: the one with the focus, else the last that is selected and could have it.

    An app that moves its cursor itself tells it as a selection only. -1 where there is none.
    """
    found = -1
    for at, element in enumerate(window.elements):
        if element.attributes.get("focused") == "true":
            return _innermost(window, at)
        if element.attributes.get("selected") == "true" and element.attributes.get("focusable") == "true":
            found = at
    return found


def _innermost(window: PageWindow, first: int) -> int:
    found = first
    for at in range(first + 1, len(window.elements)):
        if window.elements[at].attributes.get("focused") == "true":
            found = at
    return found


def _inside(window: PageWindow, at: int) -> str:
    """The first text inside an element whose label is not its own; what can be pressed by itself keeps its text."""
    family = {at}
    for inner in range(at + 1, len(window.elements)):
        element = window.elements[inner]
        if element.parent not in family:
            if element.parent < at:
                break
            continue
        get = element.attributes.get
        if get("clickable") == "true" or get("focusable") == "true":
            continue
        family.add(inner)
        if element.text or get("description"):
            return element.text or get("description", "")
    return ""
