"""A source as a tree of the one vocabulary: roles, names, states, points; what cannot be seen is not in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from anydevice.driver import TreeScope
from anydevice_schemas import INTERACTIVE, Node, Rect, Tree
from anydevice_schemas.tree import Quality

from .reading.elements import Box, Element, Source
from .reading.types import CHECKED, FIELDS, PRESSED, SCROLLED, VALUED, role_of

KEPT: Final = INTERACTIVE | {"heading", "alertdialog", "dialog", "keyboard", "window", "application"}
"""Roles that an interactive tree keeps."""
SPARSE: Final = 2
"""A source of fewer elements says nothing of a screen."""


@dataclass(slots=True, frozen=True)
class View:
    """How a screen is looked at: its size in points as it is turned now, and the app in front."""

    width: float
    height: float
    app: str = ""

    @property
    def viewport(self) -> Rect:
        """The screen."""
        return Rect(0, 0, self.width, self.height)


def size_of(source: Source) -> tuple[float, float] | None:
    """The size of the screen as the root of a source tells it."""
    box = next((element.box for element in source.elements[:3] if element.box is not None), None)
    return (box[2], box[3]) if box is not None and box[2] > 0 and box[3] > 0 else None


def build(source: Source, view: View, scope: TreeScope, quality: Quality = "complete") -> Tree:
    """The tree of a source. A keyboard comes last, since it lies over everything else."""
    builder = _Builder(source, view, scope)
    builder.all()
    tree = builder.tree
    if quality == "complete" and len(source.elements) < SPARSE:
        quality = "degraded"  # an empty screen has a window at least
    if quality == "complete" and (tree.omitted.get("nodes") or tree.omitted.get("depth")):
        quality = "truncated"
    tree.quality = quality
    return tree


class _Builder:
    def __init__(self, source: Source, view: View, scope: TreeScope) -> None:
        self.elements, self.view, self.scope = source.elements, view, scope
        root = source.elements[0] if source.elements else Element("Application", -1)
        self.app = view.app or source.app or root.label.strip()
        first = Node("application", name=root.label.strip(), app=self.app, rect=view.viewport, native_role=root.type)
        self.tree = Tree([first], generation=self.app, viewport=view.viewport, location=self.app, app=self.app)
        self.cut: dict[str, int] = {"offscreen": 0, "nodes": 0, "depth": 0, "text": 0}
        self.placed: list[int] = []
        self.clips: list[Box | None] = []
        self.depths: list[int] = []

    def all(self) -> None:
        """Adds everything, keyboards last."""
        count = len(self.elements)
        self.placed, self.clips, self.depths = [0] * count, [None] * count, [1] * count
        screen: Box = (0.0, 0.0, self.view.width, self.view.height)
        keyboards: list[int] = []
        inside: set[int] = set()
        for at, element in enumerate(self.elements):
            if at == 0:
                self.clips[0] = screen
                continue
            if element.parent in inside or element.type == "Keyboard":
                inside.add(at)
                keyboards.append(at)
                continue
            self.add(at)
        for at in keyboards:
            self.add(at)
        self.tree.omitted = {word: number for word, number in self.cut.items() if number}
        title = next((e.label for e in self.elements if e.type == "NavigationBar" and e.label), "")
        self.tree.title = title or self.tree.nodes[0].name

    def add(self, at: int) -> None:
        """Adds one element, where it can be seen and the scope wants it."""
        element = self.elements[at]
        parent = element.parent if element.parent >= 0 else 0
        up = self.placed[parent]
        self.depths[at] = self.depths[parent] + 1
        self.placed[at] = up
        above = self.elements[parent].type
        clip = self.clips[parent]
        box = element.box
        shown = _common(box, clip) if box is not None and clip is not None else None
        # What holds others without a size of its own clips nothing.
        self.clips[at] = clip if box is None or box[2] <= 0 or box[3] <= 0 else shown
        if element.type == "Key" and len(element.label) <= 1:
            return  # of the keyboard, which takes text by itself: `I` would be found in place of what the app says
        if shown is None and element.visible and box is not None:
            shown = _common(box, self.clips[0] or box)  # the engine sees it, whatever the boxes around it say
        offscreen = box is None or shown is None
        if element.visible is False and not offscreen and (box is None or box[2] > 0):
            return  # on the screen and not to be seen: hidden, or behind something
        role = role_of(element.type, above, element.traits)
        actions = _actions(element)
        scope = self.scope
        if offscreen and (scope.mode == "viewport" or box is None or box[2] <= 0 or box[3] <= 0):
            self.cut["offscreen"] += 1
            return
        if scope.mode == "interactive" and role not in KEPT and not actions:
            return
        if self.depths[at] > scope.max_depth:
            self.cut["depth"] += 1
            return
        if len(self.tree.nodes) >= scope.max_nodes:
            self.cut["nodes"] += 1
            return
        node = Node(
            role,
            parent=up,
            identifier=element.identifier,
            states=_states(element, role, offscreen),
            rect=Rect(*box) if box is not None else None,
            actions=actions,
            native_role=element.type,
            app=self.app,
        )
        self.words(node, element, above)
        self.tree.nodes.append(node)
        self.placed[at] = len(self.tree.nodes) - 1

    def words(self, node: Node, element: Element, above: str) -> None:
        """Gives a node its name and value."""
        label, value, role = element.label, element.value, node.role
        if element.type == "SecureTextField":
            # One capture has what was typed in the label, and no value at all: such a label is not told.
            safe = element.value_told or label in (element.placeholder, element.identifier)
            node.secure, node.name = True, self.short((label if safe else "") or element.placeholder)
            return
        name = label or element.placeholder
        if element.type in FIELDS:
            hint = element.placeholder or (label if not element.placeholder else "")
            node.value = "" if value is None or (value == hint and value) else self.short(value)
        elif element.type in CHECKED or role in ("tab", "heading", "image"):
            node.value = None
        elif value is not None and (role in VALUED or role == "status" or (value and value != label)):
            node.value = self.short(value)
        node.name = self.short(name)

    def short(self, text: str) -> str:
        """A text within the cap."""
        if len(text) <= self.scope.max_text:
            return text
        self.cut["text"] += 1
        return text[: self.scope.max_text]


def _actions(element: Element) -> tuple[str, ...]:
    if element.type in SCROLLED:
        return ("scroll",)
    if element.type in PRESSED or element.traits & {"Button", "Link"}:
        return ("press",)
    return ()


def _states(element: Element, role: str, offscreen: bool) -> frozenset[str]:
    states: list[str] = []
    if offscreen:
        states.append("offscreen")
    if not element.enabled:
        states.append("disabled")
    if element.focused:
        states.append("focused")
    if element.selected:
        states.append("selected")
    if element.type in CHECKED:
        value = (element.value or "").lower()
        on = value in ("1", "true", "on") or (element.selected and not value)
        states.append("mixed" if value == "2" else "checked" if on else "unchecked")
    if element.type in FIELDS:
        states.append("editable")
        if element.type == "TextView":
            states.append("multiline")
    if role == "alertdialog":
        states.append("modal")
    return frozenset(states)


def _common(box: Box, clip: Box) -> Box | None:
    """The part of a box that a clip leaves."""
    left, top = max(box[0], clip[0]), max(box[1], clip[1])
    right, bottom = min(box[0] + box[2], clip[0] + clip[2]), min(box[1] + box[3], clip[1] + clip[3])
    return (left, top, right - left, bottom - top) if right > left and bottom > top else None
