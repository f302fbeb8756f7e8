"""Whether what can be pressed gets the touch at its middle. Rectangles raise the question, the device answers it.

A source does not tell what lies over what: a picture over a button may let touches through, a bar over a list does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

import anyio

from anydevice_schemas import Node, Rect, Tree
from anydevice_schemas.errors import AnydeviceError

ASKED_MOST: Final = 8
BUDGET: Final = 1.5
"""Elements of one look that are asked about, and seconds for all of them; what is left over counts as free."""
KNOWN_MOST: Final = 500
_HOLDERS: Final = frozenset({"generic", "group", "window", "application", "list", "grid", "region", "webview"})
_KEYS: Final = frozenset({"key", "keyboard"})
SHELF: Final = 48.0
"""Points; what is looked for at a place is looked for among what lies on the same shelf."""
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
            for index, over in covers(tree):
                node = tree.nodes[index]
                assert node.rect is not None and over.rect is not None
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


def covers(tree: Tree) -> Iterator[tuple[int, Node]]:
    """What is pressed, by index, and what may lie over its middle: it comes later, not inside, and is no holder."""
    nodes = tree.nodes
    shelves: dict[int, list[int]] = defaultdict(list)
    shown = [
        index for index, node in enumerate(nodes)
        if node.rect is not None and "offscreen" not in node.states and node.role not in _KEYS
    ]  # fmt: skip
    for index in shown:
        node = nodes[index]
        if (node.actions or node.role not in _HOLDERS) and node.rect is not None:
            for shelf in range(int(node.rect.y // SHELF), int((node.rect.y + node.rect.height) // SHELF) + 1):
                shelves[shelf].append(index)
    for index in shown:
        node = nodes[index]
        if "press" not in node.actions or node.rect is None:
            continue
        seen = node.rect.intersect(tree.viewport) if tree.viewport is not None else node.rect
        if seen is None:
            continue
        middle = seen.center
        for later in reversed(shelves.get(int(middle.y // SHELF), ())):
            if later <= index:
                break
            rect = nodes[later].rect
            if rect is not None and rect.contains(middle) and index not in tree.ancestors(later):
                yield index, nodes[later]
                break
