"""A layout as a tree of the one vocabulary: roles, names, states, points; and what of it takes input where it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from anydevice.driver import TreeScope
from anydevice_schemas import INTERACTIVE, Node, Rect, Tree
from anydevice_schemas.errors import StaleRef

from .covering import covered
from .reach import View
from .reading.layout import Box, Layout, LayoutWindow, bounds
from .reading.types import DIALOGS, LISTS, role_of

KEPT: Final = INTERACTIVE | {"heading", "dialog", "keyboard", "window", "application"}
"""Roles that an interactive tree keeps."""
BLOCKING: Final = frozenset({"HitTestMode.Block", "HitTestMode.BlockHierarchy", "HitTestMode.BlockDescendants"})
POPUPS: Final = DIALOGS | {"Menu", "Popup"}
"""Types of what lies over all else of its window, and takes all its input."""
EVERY: Final = 1_000_000
"""More than any layout has."""
_MASKED = re.compile(r"[*•●∙]+")
_SECRET = re.compile(r"passw(?:or)?d|passphrase|passcode|secret|\bpin\b|密码|口令", re.I)
_VALUED: Final = frozenset({"combobox", "slider", "spinbutton", "progressbar", "meter", "date"})
_FIELDS: Final = frozenset({"textbox", "searchbox"})
_NAMED_BY_CHILD: Final = frozenset(
    {"clickable", "button", "listitem", "gridcell", "menuitem", "option", "tab", "checkbox", "switch", "radio", "link"}
)
_FLAGS: Final = ("clickable", "longClickable", "scrollable", "checkable", "checked", "enabled", "selected", "visible")
Flags = tuple[str | None, ...]


def build(layout: Layout, view: View, scope: TreeScope) -> Tree:
    """The tree of a layout. Windows come the lowest first, so that what is later in it lies over what is earlier.

    Raises:
        StaleRef: The element that is to be read alone is not there.
    """
    if scope.root is not None:
        return _below(build(layout, view, replace(scope, root=None, max_nodes=EVERY, max_depth=EVERY)), scope)
    builder = _Builder(view, scope)
    shown = sorted(reversed(layout.windows), key=_rank)
    for place, window in enumerate(shown):
        builder.window(window, over=shown[place + 1 :])
    tree = builder.tree
    if tree.omitted.get("nodes") or tree.omitted.get("depth"):
        tree.quality = "truncated"
    tree.location = f"{view.app}/{view.ability}" if view.ability else view.app
    tree.generation = view.app
    return tree


def _below(tree: Tree, scope: TreeScope) -> Tree:
    """The application, and of what is in it only the scope's element and what is inside of that.

    Raises:
        StaleRef: It is not there.
    """
    top = next((at for at, node in enumerate(tree.nodes) if node.key == scope.root), None)
    if top is None:
        raise StaleRef("The element is gone.", ref=scope.root or "", reason="gone", nearest_matches=[])
    if top == 0:
        return tree
    placed, depths = {top: 1}, {top: 2}
    cut = {"text": tree.omitted.get("text", 0), "depth": 0, "nodes": 0}
    nodes = [tree.nodes[0], replace(tree.nodes[top], parent=0)]
    for at in range(top + 1, len(tree.nodes)):
        up = tree.nodes[at].parent
        if up not in depths:
            continue
        depths[at] = depths[up] + 1
        if depths[at] > scope.max_depth or len(nodes) >= scope.max_nodes or up not in placed:
            cut["depth" if depths[at] > scope.max_depth else "nodes"] += 1
            continue
        placed[at] = len(nodes)
        nodes.append(replace(tree.nodes[at], parent=placed[up]))
    omitted = {word: count for word, count in cut.items() if count}
    quality = "truncated" if cut["depth"] or cut["nodes"] else tree.quality
    return replace(tree, nodes=nodes, omitted=omitted, quality=quality)


def _rank(window: LayoutWindow) -> int:
    """Apps under the system's questions, these under keyboards; of one kind the order of the layout counts."""
    if window.keyboard:
        return 2
    return 1 if "dialog" in window.bundle.casefold() else 0


class _Builder:
    """Puts windows into one tree, within the caps of a scope."""

    def __init__(self, view: View, scope: TreeScope) -> None:
        self.view, self.scope = view, scope
        self.screen: Box = (0, 0, view.width, view.height)
        root = Node("application", name=view.app, app=view.app, rect=view.viewport, key=f"app:{view.app}")
        self.tree = Tree(nodes=[root], generation="", viewport=view.viewport, omitted={})
        self.cut = {"nodes": 0, "depth": 0, "text": 0}
        self.keys: set[str] = set()

    def window(self, window: LayoutWindow, over: Sequence[LayoutWindow]) -> None:
        """Adds a window; those `over` it take the input where they are."""
        nodes = self.tree.nodes
        if len(nodes) >= self.scope.max_nodes:
            self.cut["nodes"] += 1 + len(window.parents)
        else:
            title = self._short(window.ability or window.bundle)
            native = window.attributes_of_window.get("type", "")
            nodes.append(
                Node(
                    "keyboard" if window.keyboard else "window",
                    name=title,
                    parent=0,
                    key=self._key(f"window:{window.id}") if window.id else None,
                    rect=self._rect(window.bounds),
                    window=title,
                    app=window.bundle,
                    identifier=window.attributes_of_window.get("id", ""),
                    native_role=native,
                )
            )
            if not window.keyboard:  # its keys are no elements of an app, and `type` and `key` press them
                covers = [one.bounds for one in over if one.bounds is not None and _takes_input(one)]
                self._elements(window, len(nodes) - 1, title, covers)
        self.tree.omitted = {word: count for word, count in self.cut.items() if count}

    def _elements(self, window: LayoutWindow, root: int, title: str, covers: list[Box]) -> None:
        nodes, scope = self.tree.nodes, self.scope
        interactive, deepest, most = scope.mode == "interactive", scope.max_depth, scope.max_nodes
        parents = window.parents
        inner = _Inner(window)
        popup = _popup(window)
        holder = _holder(window)
        placed: list[int] = []
        depths: list[int] = []
        roles: list[str] = []
        boxes: list[tuple[int, Box]] = []
        blocked: list[int] = []
        for at, attributes in enumerate(window.attributes):
            parent = parents[at]
            above, depth, up = (roles[parent], depths[parent] + 1, placed[parent]) if parent >= 0 else ("", 2, root)
            depths.append(depth)
            kind = attributes.get("type", "")
            role, states, actions = _traits(kind, attributes.get("hint", ""), above, tuple(map(attributes.get, _FLAGS)))
            roles.append(role)
            if interactive and role not in KEPT and not actions:
                placed.append(up)
                continue
            if depth > deepest or len(nodes) >= most:
                self.cut["depth" if depth > deepest else "nodes"] += 1
                placed.append(up)
                continue
            if at == holder:
                states |= {"focused"}
            if at == popup and kind in DIALOGS:
                states |= {"modal"}
            box = bounds(attributes.get("bounds", ""))
            index = len(nodes)
            if box is not None:
                takes = bool(actions) or attributes.get("hitTestBehavior") in BLOCKING
                if takes and box[2] > box[0] and box[3] > box[1]:
                    boxes.append((index, box))
                if box[0] >= self.screen[2] or box[2] <= 0 or box[1] >= self.screen[3] or box[3] <= 0:
                    states |= {"offscreen"}
                if popup is not None and at < popup:
                    blocked.append(index)
            number = attributes.get("accessibilityId", "")
            node = Node(
                role,
                parent=up,
                key=self._key(f"{window.id}:{number}") if number and window.id else None,
                identifier=attributes.get("id") or attributes.get("key", ""),
                states=states,
                rect=self._rect(box),
                actions=actions,
                native_role=kind,
                app=window.bundle,
                window=title,
            )
            self._words(node, attributes, inner, at)
            nodes.append(node)
            placed.append(index)
        for index in blocked:
            nodes[index].hittable = False
        for index in covered(boxes, covers, self.screen, self._inside):
            nodes[index].hittable = False

    def _words(self, node: Node, attributes: Mapping[str, str], inner: _Inner, at: int) -> None:
        """Gives a node its texts: which of them is the name and which the value depends on what it is."""
        text, said, hint = (attributes.get(word, "") for word in ("text", "description", "hint"))
        role = node.role
        name, value = text or said, None
        if role in _FIELDS:
            name = said or hint
            if secret(attributes):
                node.secure = True
            else:
                value = text
        elif role in _VALUED:
            name = said or (hint if hint != text else "")
            value = text or inner.first_text(at)
        elif text and said and text != said:
            name, value = said, text  # what a person hears it called, and what it shows
        elif role in ("status", "progressbar") and said and not text:
            value = ""
        if not name and role in _NAMED_BY_CHILD:
            name = inner.first_text(at) or ""
        node.name = self._short(name)
        node.value = self._short(value) if value is not None else None

    def _key(self, key: str) -> str | None:
        """A key, once: a layout that tells one number of two elements tells the identity of neither of the later."""
        if key in self.keys:
            return None
        self.keys.add(key)
        return key

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


@lru_cache(maxsize=8192)
def _traits(kind: str, hint: str, above: str, flags: Flags) -> tuple[str, frozenset[str], tuple[str, ...]]:
    """Role, states and actions; most elements of a screen share theirs with many others."""
    clickable, longer, scrollable, checkable, checked, enabled, selected, visible = flags
    role = role_of(kind, hint if kind == "Toggle" else "")
    if above in LISTS and role == "generic":
        role = "listitem" if above == "list" else "gridcell"
    elif above == "titlebar" and role == "text":
        role = "heading"
    elif above == "tablist" and role in ("generic", "text"):
        role = "tab"
    elif checkable == "true" and role in ("generic", "text", "image"):
        role = "checkbox"
    elif clickable == "true":
        role = {"generic": "clickable", "image": "button"}.get(role, role)
    states = []
    if enabled == "false":
        states.append("disabled")
    if checkable == "true" or role in ("switch", "checkbox", "radio"):
        states.append("checked" if checked == "true" else "unchecked")
    if selected == "true":
        states.append("selected")
    if visible == "false":
        states.append("hidden")
    if role in _FIELDS:
        states.append("editable")
    if kind == "TextArea":
        states.append("multiline")
    actions = []
    if clickable == "true" or checkable == "true":
        actions.append("press")
    if longer == "true":
        actions.append("longpress")
    if scrollable == "true":
        actions.append("scroll")
    return role, frozenset(states), tuple(actions)


def secret(attributes: Mapping[str, str]) -> bool:
    """Whether a field's content is not for anyone: the layout has no word for it, but masks it, and is named so."""
    text = attributes.get("text", "")
    if text and _MASKED.fullmatch(text):
        return True
    return any(_SECRET.search(attributes.get(word, "")) for word in ("id", "key", "hint", "description"))


def _popup(window: LayoutWindow) -> int | None:
    """The dialog or menu that lies over the rest of a window, by its place; the last there is."""
    found = None
    for at, attributes in enumerate(window.attributes):
        if attributes.get("type") in POPUPS:
            found = at
    return found


def _holder(window: LayoutWindow) -> int | None:
    """What has the focus: the innermost element that says so, and is more than an arrangement of others."""
    found = None
    for at, attributes in enumerate(window.attributes):
        if attributes.get("focused") == "true" and (
            attributes.get("clickable") == "true"
            or attributes.get("checkable") == "true"
            or role_of(attributes.get("type", "")) not in ("generic", "group", "list", "grid", "navigation")
        ):
            found = at
    return found


def _takes_input(window: LayoutWindow) -> bool:
    """Whether a window over others takes their input: one that shows nothing to act on lets it through."""
    return bool(window.attributes) and any(
        attributes.get("clickable") == "true" or attributes.get("scrollable") == "true"
        for attributes in window.attributes
    )


class _Inner:
    """What is inside of what, in one window; worked out when somebody asks."""

    def __init__(self, window: LayoutWindow) -> None:
        self._window = window
        self._ends: list[int] | None = None

    def first_text(self, at: int) -> str | None:
        """The first text inside an element whose label is not its own; what is pressable by itself keeps its text."""
        if self._ends is None:
            self._ends = _ends(self._window.parents)
        for inner in range(at + 1, self._ends[at] + 1):
            attributes = self._window.attributes[inner]
            text = attributes.get("text") or attributes.get("description")
            field = role_of(attributes.get("type", "")) in _FIELDS
            if text and (field or attributes.get("clickable") != "true") and not (field and secret(attributes)):
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
