"""Whether what can be pressed gets the touch at its middle. Rectangles raise the question, the device answers it.

A source does not tell what lies over what: a picture over a button may let touches through, a bar over a list does not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from anydevice_schemas import Node, Rect, Tree
from anydevice_schemas.errors import AnydeviceError

ASKED_MOST: Final = 8
BUDGET: Final = 1.5
"""Elements of one look that are asked about, and seconds for all of them; what is left over counts as free."""
KNOWN_MOST: Final = 500
_HOLDERS: Final = frozenset({"generic", "group", "window", "application", "list", "grid", "region", "webview"})
Asked = Callable[[Node], Awaitable[bool | None]]
Known = tuple[str, str, str, Rect, Rect]


class Covers:
    """What is known of one screen."""

    def __init__(self) -> None:
        self._known: dict[Known, bool] = {}

    async def judge(self, tree: Tree, asked: Asked) -> None:
        """Marks what gets no touch as not hittable; `asked` asks the device, and says None where it does not tell."""
        if len(self._known) > KNOWN_MOST:
            self._known.clear()
        left = ASKED_MOST
        with anyio.move_on_after(BUDGET):
            for index, node in enumerate(tree.nodes):
                over = cover(tree, index)
                if over is None or node.rect is None or over.rect is None:
                    continue
                known = (node.native_role, node.identifier, node.name, node.rect, over.rect)
                free = self._known.get(known)
                if free is None and left > 0:
                    left -= 1
                    try:
                        free = await asked(node)
                    except AnydeviceError:
                        return  # the look itself is good
                    if free is not None:
                        self._known[known] = free
                node.hittable = free is not False


def cover(tree: Tree, index: int) -> Node | None:
    """What may lie over the middle of something that is pressed: it comes later, and is neither inside nor a holder."""
    node = tree.nodes[index]
    if "press" not in node.actions or "offscreen" in node.states or node.rect is None or node.role == "key":
        return None
    seen = node.rect.intersect(tree.viewport) if tree.viewport is not None else node.rect
    if seen is None:
        return None
    for later in range(len(tree.nodes) - 1, index, -1):
        other = tree.nodes[later]
        if other.rect is None or not other.rect.contains(seen.center) or other.role in ("keyboard", "key"):
            continue
        if "offscreen" in other.states or (other.role in _HOLDERS and not other.actions):
            continue
        if index not in tree.ancestors(later):
            return other
    return None
