"""A screen as the accessibility programs tell it (`axe describe-ui`, `idb ui describe-all`): nested or flat.

There the keyboard is no element of its own: its keys lie among the app's elements. It is found by its keys and put into
one, so that a key named `I` is not taken for something of the app.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .elements import DEEPEST, Box, Element, NoSource, Source, box_of, text_of
from .source import MOST, traits_of

_SUBROLES: Final = {
    "AXSearchField": "SearchField", "AXSecureTextField": "SecureTextField", "AXSwitch": "Switch", "AXToggle": "Switch",
    "AXTabButton": "Tab",
}  # fmt: skip
_TYPES: Final = {
    "GenericElement": "Other", "Group": "Other", "Heading": "StaticText", "TextArea": "TextView", "CheckBox": "Switch",
    "RadioButton": "Button", "Window": "Window",
}  # fmt: skip
KEYS: Final = 10
"""Keys of one character that make a keyboard."""
BAR: Final = 60.0
"""Points of the bar of suggestions above the keys, at most."""
TOUCH: Final = 8.0
"""Points between parts of a keyboard that lie side by side."""


def read(text: str) -> Source:
    """A screen from what such a program printed.

    Raises:
        NoSource: It holds none.
    """
    try:
        found: Any = json.loads(text)
    except ValueError:
        raise NoSource("no JSON") from None
    while isinstance(found, Mapping) and "type" not in found:
        found = next((found[name] for name in ("data", "raw", "elements") if name in found), None)
    roots = [found] if isinstance(found, Mapping) else found
    if not isinstance(roots, list) or not roots:
        raise NoSource("no element in it")
    source = Source([])
    # Flat lists name the application first; everything else is in it.
    app = roots[0] if isinstance(roots[0], Mapping) and roots[0].get("type") == "Application" else None
    if app is None:
        source.elements.append(Element("Application", -1))
    stack = [(node, -1 if node is app else 0, 1) for node in reversed(roots) if isinstance(node, Mapping)]
    while stack:
        node, parent, depth = stack.pop()
        if len(source.elements) >= MOST or depth > DEEPEST:
            raise NoSource("larger than a screen")
        source.elements.append(_element(node, parent))
        source.depth = max(source.depth, depth)
        at = len(source.elements) - 1
        children = node.get("children")
        if isinstance(children, list):
            stack += [(child, at, depth + 1) for child in reversed(children) if isinstance(child, Mapping)]
    _gather_keyboard(source.elements)
    return source


def _element(node: Mapping[str, Any], parent: int) -> Element:
    get = node.get
    kind, subrole = text_of(get("type")), text_of(get("subrole"))
    type_ = _SUBROLES.get(subrole) or _TYPES.get(kind, kind or "Other")
    traits = traits_of(get("traits")) | (frozenset({"Header"}) if kind == "Heading" else frozenset())
    value = get("AXValue")
    pid = get("pid")
    return Element(
        type_,
        parent,
        text_of(get("AXUniqueId")),
        text_of(get("AXLabel")) or text_of(get("title")),
        None if value is None else text_of(value),
        box_of(get("frame")),
        enabled=get("enabled") is not False,
        selected="Selected" in traits,
        traits=traits,
        value_told="AXValue" in node,
        pid=pid if isinstance(pid, int) else None,
    )


def _gather_keyboard(elements: list[Element]) -> None:
    """Puts the keys that lie among the app's elements into a keyboard, at the end."""
    top = [at for at, element in enumerate(elements) if element.parent == 0]
    keys = [at for at in top if elements[at].type == "Button" and len(elements[at].label) == 1]
    if len(keys) < KEYS:
        return
    _turn(elements, top, keys)
    area = _union([box for at in keys if (box := elements[at].box) is not None])
    if area is None:
        return
    # What the system lays under the keys is the keyboard's own place; suggestions lie in one row above it.
    under = [
        box for at in top if (box := elements[at].box) is not None and not elements[at].label and _holds(box, area)
    ]
    place = under[0] if under else area
    row = [at for at in top if (box := elements[at].box) is not None and abs(box[1] + box[3] - place[1]) <= TOUCH
           and elements[at].type == "Other" and box[3] < place[3] / 2]  # fmt: skip
    row = row if len({elements[at].box[1] for at in row if elements[at].box}) == 1 and len(row) > 1 else []  # type: ignore[index]
    inside = [at for at in top if (box := elements[at].box) is not None and _middle_in(box, place) and _of_keyboard(
        elements[at], keys, at)]  # fmt: skip
    parts = sorted({*row, *inside, *keys})
    whole = _union([place, *(box for at in row if (box := elements[at].box) is not None)])
    keyboard = Element("Keyboard", 0, box=whole)
    moved: dict[int, int] = {}
    kept = [at for at in range(len(elements)) if at not in set(parts)]
    order: list[Element] = []
    for at in kept:
        moved[at] = len(order)
        order.append(elements[at])
    order.append(keyboard)
    home = len(order) - 1
    for at in parts:
        moved[at] = len(order)
        order.append(elements[at])
    for at, element in enumerate(elements):
        element.parent = home if at in set(parts) else moved.get(element.parent, -1)
        if at in keys:
            element.type = "Key"
    elements[:] = order


def _turn(elements: list[Element], top: Sequence[int], keys: Sequence[int]) -> None:
    """Puts a keyboard where it is seen, which is told where the display has it, that does not turn with the app.

    Of the two ways a display can lie on its side it is the one that has the keyboard at the lower edge.
    """
    screen = elements[0].box
    area = _union([box for at in keys if (box := elements[at].box) is not None])
    if screen is None or area is None or screen[2] <= screen[3] or _holds(screen, area, much=False):
        return
    ways: tuple[Callable[[Box], Box], ...] = (
        lambda box: (box[1], screen[3] - box[0] - box[2], box[3], box[2]),
        lambda box: (screen[2] - box[1] - box[3], box[0], box[3], box[2]),
    )
    way = min(ways, key=lambda one: abs(one(area)[1] + one(area)[3] - screen[3]))
    if not _holds(screen, way(area), much=False):
        return  # letters of the app, partly out of sight
    limit = way(area)[1] - BAR
    first, last = top.index(keys[0]), top.index(keys[-1])

    def beside(at: int) -> bool:
        box = elements[at].box
        return box is not None and way(box)[1] >= limit and elements[at].type in ("Button", "Other")

    while first > 0 and beside(top[first - 1]):
        first -= 1
    while last + 1 < len(top) and beside(top[last + 1]):
        last += 1
    for at in top[first : last + 1]:
        box = elements[at].box
        elements[at].box = way(box) if box is not None else None


def _of_keyboard(element: Element, keys: Sequence[int], at: int) -> bool:
    """Whether what lies over a keyboard is a part of it: it comes after the first key, and has nothing inside."""
    return at > keys[0] and element.type in ("Button", "Other")


def _union(boxes: Sequence[Box]) -> Box | None:
    if not boxes:
        return None
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right, bottom = max(box[0] + box[2] for box in boxes), max(box[1] + box[3] for box in boxes)
    return left, top, right - left, bottom - top


def _holds(box: Box, inner: Box, *, much: bool = True) -> bool:
    """Whether a box holds most of another, and (`much`) is not much larger than it."""
    left, top = max(box[0], inner[0]), max(box[1], inner[1])
    right = min(box[0] + box[2], inner[0] + inner[2])
    bottom = min(box[1] + box[3], inner[1] + inner[3])
    common = max(0.0, right - left) * max(0.0, bottom - top)
    return common >= 0.9 * inner[2] * inner[3] and (not much or box[2] * box[3] <= 2.5 * inner[2] * inner[3])


def _middle_in(box: Box, place: Box) -> bool:
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    return place[0] <= x < place[0] + place[2] and place[1] <= y < place[1] + place[3]
