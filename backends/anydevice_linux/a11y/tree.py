"""From what was seen of applications to one tree of nodes, parents before children, within the caps of a scope."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from anydevice.driver import TreeScope
from anydevice_schemas import INTERACTIVE, Node, Rect

from .apps import App, process_name
from .coords import Window
from .keys import Key, app_key
from .names import name_of
from .places import HIDDEN, OFFSCREEN, SHOWN
from .roles import COMBO_BOX, INFO_BAR, LABEL, MENUS, PASSWORD, STATUS_BAR, native_of, role_in
from .shape import ACTION, EDITABLE_TEXT, VALUE, Item, Shape
from .states import EDITABLE, FIELDS, MODAL, SHOWING, states_of
from .view import NAMED_BY_CHOICE, View

READ_AS_HEADINGS: Final = frozenset({"heading", "alert", "alertdialog", "dialog", "tablist", "menubar", "menu"})
NAMED_BY_CONTENT: Final = frozenset(
    {"button", "checkbox", "radio", "switch", "link", "tab", "option", "menuitem", "treeitem"}
)
WRITTEN: Final = frozenset({LABEL, 116})
"""Roles that are text."""
NAMED_BY_TEXT: Final = frozenset({LABEL, INFO_BAR, STATUS_BAR})
"""Roles whose text is their name as well, unless they were given another."""
WORDS_MOST: Final = 8
SETTABLE: Final = frozenset({"slider", "spinbutton", "combobox"})
_ACTIONS: Final = ((), ("press",), ("set_text",), ("press", "set_text"))


class Builder:
    """Puts applications together into one list of nodes.

    Args:
        scope: Caps and mode.
        screen: The part of the coordinate space that is on screen, where that is known.
    """

    def __init__(self, scope: TreeScope, screen: Rect | None) -> None:
        self.nodes: list[Node] = []
        self.omitted: dict[str, int] = {}
        self._scope, self._screen = scope, screen

    def omit(self, reason: str, count: int = 1) -> None:
        """Counts something that was left out."""
        if count:
            self.omitted[reason] = self.omitted.get(reason, 0) + count

    def application(self, app: App) -> int:
        """Appends the node of an application; returns its row, or -1 where there is no room."""
        return self._append(
            Node(
                "application", app.title, parent=-1, key=app_key(app.bus_name), native_role="application", app=app.title
            )
        )

    def stand_in(self, app: App, windows: Iterable[Window]) -> None:
        """Appends an application that did not answer, as far as its windows say something of it."""
        row = self.application(app)
        for window in windows:
            name = window.title.strip()
            node = Node("window", name, None, row, app=app.title, window=name)
            node.rect, node.native_role, node.states = window.frame, "window", frozenset({"busy"})
            self._append(node)

    def foreign(self, window: Window) -> None:
        """Appends a window of a program that is not on the accessibility bus."""
        name = window.title.strip()
        app = process_name(window.pid)
        row = self._append(Node("application", app, native_role="application", app=app))
        self._append(Node("window", name, None, row, rect=window.frame, native_role="window", app=app, window=name))
        self.omit(f"not accessible: {app or name}")

    def empty(self) -> None:
        """Appends the desktop itself, where nothing runs on it."""
        self._append(Node("generic", "", rect=self._screen, native_role="desktop frame"))

    def view(self, view: View, root: str = "", *, only: int | None = None) -> None:
        """Appends what was seen of an application, what is in one element of it, or in its window of this id."""
        above = -1 if root else self.application(view.app)
        if view.shape.unread:
            self.omit("unread", view.shape.unread)
        self.omit("text", view.cut)
        modal = modal_top(view)
        done: set[str] = set()  # what is told as a window of its own as well as inside of another one is one thing
        for top in view.tops:
            if only is not None and (top.window is None or top.window.id != only):
                continue
            start = top.path
            if root:
                line = view.shape.line(root)
                if not line or line[-1].path != top.path:
                    continue
                start = root
            reachable = modal in (None, top.path)
            self._part(view, start, top.path, above, title=top.title, reachable=reachable, done=done)

    def _part(
        self, view: View, start: str, top: str, above: int, *, title: str, reachable: bool, done: set[str]
    ) -> None:
        scope, app, shape = self._scope, view.app, view.shape
        items, kids, place_of, rects = shape.items, shape.kids, view.place, view.rects
        viewport, interactive = scope.mode == "viewport", scope.mode == "interactive"
        nodes, screen, most, depth_most = self.nodes, self._screen, scope.max_nodes, scope.max_depth
        bus_name, app_title = app.bus_name, app.title
        over = {"nodes": 0, "depth": 0, "offscreen": 0, "hidden": 0, "text": 0}
        todo: list[tuple[str, int, int]] = [(start, above, 1)]
        while todo:
            path, parent, depth = todo.pop()
            if path in done:
                continue
            done.add(path)
            item = items[path]
            place = place_of.get(path, SHOWN)
            rect = rects.get(path)
            if place == SHOWN and rect is not None and screen is not None and rect.intersect(screen) is None:
                place = OFFSCREEN if rect.width > 0 and rect.height > 0 else place
            row = parent
            own = kids.get(path)
            if viewport and place != SHOWN:
                over["offscreen"] += place == OFFSCREEN
                if place == HIDDEN:
                    continue
            elif interactive and place == HIDDEN:
                continue
            elif depth > depth_most:
                over["depth"] += 1
            elif len(nodes) >= most:
                over["nodes"] += 1
            else:
                node = node_of(view, item, place, top=path == top)
                if not interactive or parent < 0 or _wanted(node):
                    node.parent = parent
                    node.rect = rect
                    node.app = app_title
                    node.window = title
                    node.key = f"{bus_name}{path}#{item.role}"
                    node.hittable = reachable
                    if len(node.name) > scope.max_text:
                        node.name = node.name[: scope.max_text]
                        over["text"] += 1
                    row = len(nodes)
                    nodes.append(node)
            if own:
                depth += 1
                todo.extend((kid, row, depth) for kid in reversed(own))
        for reason, count in over.items():
            self.omit(reason, count)

    def _append(self, node: Node) -> int:
        if len(self.nodes) >= self._scope.max_nodes:
            self.omit("nodes")
            return -1
        self.nodes.append(node)
        return len(self.nodes) - 1


def node_of(view: View, item: Item, place: str, *, top: bool = False) -> Node:
    """The node of one object, without its place in the tree."""
    path, number = item.path, item.role
    role = role_in(item, view.shape.items, top=top, toolkit=view.app.toolkit)
    name = name_of(item.name, view.app.toolkit) or view.labels.get(path, "")
    if not name and role in NAMED_BY_CONTENT:
        name = content_of(view, path)
    value = view.values.get(path)
    if number == COMBO_BOX and view.app.toolkit in NAMED_BY_CHOICE:
        name, value = view.labels.get(path, name), name
    if number in NAMED_BY_TEXT and value == name:
        value = None
    faces = item.faces
    typed = bool(item.mask & EDITABLE) and bool(faces & EDITABLE_TEXT or role in FIELDS)
    sets = typed or (role in SETTABLE and bool(faces & VALUE))
    presses = bool(faces & ACTION) and role in INTERACTIVE and role not in FIELDS
    about = item.description
    return Node(
        role,
        name,
        value,
        0,
        None,
        view.app.ids.get(path, ""),
        states_of(item.mask, role, place),
        None,
        _ACTIONS[presses + 2 * sets],
        native_of(number),
        "" if about == name else about,
        secure=number == PASSWORD,
    )


def content_of(view: View, path: str) -> str:
    """What is written inside of an element, as its name where it has none of its own."""
    shape, place = view.shape, view.place
    words: list[str] = []
    todo = list(shape.kids.get(path, ()))
    while todo and len(words) < WORDS_MOST:
        inner = shape.items.get(todo.pop(0))
        if inner is None or (place.get(inner.path) == HIDDEN and place.get(path) != HIDDEN):
            continue
        if role_in(inner, shape.items) in INTERACTIVE:
            continue
        word = name_of(inner.name, view.app.toolkit)
        if word and inner.role in WRITTEN:
            words.append(word)
        else:
            todo[:0] = shape.kids.get(inner.path, ())
    return " ".join(words)


def single(view: View, item: Item, place: str, rect: Rect | None, *, top: bool, title: str) -> Node:
    """The node of one object, as an answer about it alone."""
    node = node_of(view, item, place, top=top)
    node.parent = -1
    node.key = str(Key(view.app.bus_name, item.path, item.role))
    node.rect, node.app, node.window = rect, view.app.title, title
    return node


def modal_top(view: View) -> str | None:
    """Path of the window of an application that keeps input from its others, or None."""
    for top in view.tops:
        if not top.hidden and (is_modal(view.shape, top.path) or (top.window and "modal" in top.window.state)):
            return top.path
    return None


def is_modal(shape: Shape, top: str) -> bool:
    """Whether a window of an application shows and keeps input from its others."""
    item = shape.items[top]
    return bool(item.mask & MODAL and item.mask & SHOWING and item.role not in MENUS)


def _wanted(node: Node) -> bool:
    return node.role in INTERACTIVE or node.role in READ_AS_HEADINGS or bool(node.actions) or node.root
