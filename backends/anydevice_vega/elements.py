"""Acting on one element by the toolkit's own id of it, after a fresh look that it is still there."""

from __future__ import annotations

import re
from typing import Any, Final

import anyio

from anydevice.driver import Acted, Elements, Probe
from anydevice_schemas import Node, Point, Tree
from anydevice_schemas.errors import ActionUnverified, FocusUnavailable, InvalidArgument, StaleRef, Unsupported

from .codes import BACK, LEFT, RIGHT, SELECT, Key
from .guarding import refuse
from .reach import Reach
from .routes import Routes
from .tree import around, by_key, focus_of

WITHIN: Final = 2.0
"""Seconds the app may take to show what was done to an element."""
STEP: Final = 0.03
TURNS: Final = 200
"""Presses of an arrow that a slider is given."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class VegaElements(Elements):
    """See `Elements`. A key is the toolkit's id of an element."""

    def __init__(self, reach: Reach, routes: Routes) -> None:
        self._reach, self._routes = reach, routes

    async def probe(self, key: str, *, at: Point | None = None) -> Probe:
        """See `Elements.probe`.

        Raises:
            StaleRef: It is gone.
            DialogOpen: A dialog has to be answered first.
        """
        tree, node = await self._fresh(key)
        screen = tree.viewport
        seen = node.rect.intersect(screen) if node.rect is not None and screen is not None else node.rect
        if seen is None or seen.width <= 0 or seen.height <= 0:
            return Probe(node, None)
        point = at or seen.center
        if node.hittable:
            return Probe(node, point)
        over = _over(tree, node, point)
        if over is None:
            return Probe(node, point, "something else")
        return Probe(node, point, f"{over.role} {over.name}".strip(), over.key)

    async def at(self, point: Point) -> Node | None:
        """See `Elements.at`."""
        tree = await self._reach.tree()
        there = [
            node
            for node in tree.nodes
            if node.rect is not None and node.rect.contains(point) and node.key is not None and not node.root
        ]
        acting = [node for node in there if node.actions and node.hittable]
        return acting[-1] if acting else there[-1] if there else None

    async def activate(self, key: str) -> Acted:
        """See `Elements.activate`: by the app's own handler of a press, else the focus is put there and select pressed.

        Raises:
            StaleRef: It is gone.
            Unsupported: Neither it nor what it is inside of can be pressed.
            ActionUnverified: The focus did not get there.
            DialogOpen: A dialog has to be answered first.
        """
        tree, node = await self._fresh(key)
        return await self.press(tree, node)

    async def press(self, tree: Tree, node: Node) -> Acted:
        """Presses an element of a tree that was just read; errors as `activate`."""
        target = next((one for one in around(tree, node) if one.actions and one.key is not None), None)
        if target is None or target.key is None:
            raise Unsupported(
                "Neither the element nor what it is inside of can be pressed.",
                hint="Call snapshot, and press what can have the focus.",
                operation="elements.activate",
                alternatives=["remote.press"],
            )
        if "tap" in target.actions:
            await self._reach.ask("click", {"id": int(target.key)})
            return Acted("accessibility")
        await self._to_focus(target)
        await self._send(SELECT)
        return Acted("focus-and-select")

    async def focus(self, key: str) -> Acted:
        """See `Elements.focus`.

        Raises:
            StaleRef: It is gone.
            FocusUnavailable: It cannot have the focus.
            DialogOpen: A dialog has to be answered first.
        """
        tree, node = await self._fresh(key)
        if not node.actions and "editable" not in node.states:
            now = focus_of(tree)
            raise FocusUnavailable(
                "The element cannot have the focus.",
                hint="Call snapshot, and choose what can be acted on.",
                holder=f"{now.role} {now.name}".strip() if now is not None else "nothing",
                fix="Choose another element.",
            )
        return Acted("accessibility", verified=await self._focused(node))

    async def set_text(self, key: str, text: str) -> Acted:
        """See `Elements.set_text`: of a field its text, of a select its option, of a slider its number.

        Raises:
            StaleRef: It is gone.
            InvalidArgument: It takes no text, or has no such option.
            ActionUnverified: A slider does not come to the number.
            DialogOpen: A dialog has to be answered first.
        """
        _, node = await self._fresh(key)
        if node.role == "combobox":
            return await self._choose(node, text)
        if node.role == "slider":
            return await self._turn(node, text)
        if "editable" not in node.states and "readonly" not in node.states:
            raise InvalidArgument("This element takes no text.", param="target", expected="a field")
        return await self.write(node, text)

    async def write(self, node: Node, text: str) -> Acted:
        """Replaces what a field holds; `verified` is None for a field that does not show what it holds."""
        assert node.key is not None
        await self._reach.ask("setText", {"id": int(node.key), "text": text})
        if node.secure:
            return Acted("set-text")
        holds = await self._until(node, lambda now: now.value == text)
        return Acted("set-text", verified=holds is not None)

    # --- inside ---

    async def _fresh(self, key: str) -> tuple[Tree, Node]:
        tree = await self._reach.tree()
        refuse(tree)
        node = by_key(tree, key)
        if node is None or not key.isdigit():
            raise StaleRef("The element is gone.", ref="", reason="gone", nearest_matches=[])
        return tree, node

    async def _send(self, key: Key) -> None:
        """A key, by the road that reaches the app, as far as that is known."""
        await self._routes.send("inputd" if "toolkit" in self._routes.dead else "toolkit", key)

    async def _to_focus(self, node: Node) -> None:
        if not await self._focused(node):
            raise ActionUnverified(
                "The focus did not get to the element; nothing was pressed.",
                expected="focused",
                actual="elsewhere",
                hint="Call tv-remote to move the focus yourself, and snapshot to see where it is.",
            )

    async def _focused(self, node: Node) -> bool:
        if "focused" in node.states:
            return True
        assert node.key is not None
        await self._reach.ask("setFocus", {"id": int(node.key)})
        return await self._until(node, lambda now: "focused" in now.states) is not None

    async def _until(self, node: Node, holds: Any) -> Node | None:
        """The element once something holds of it; None when it does not in time."""
        with anyio.move_on_after(WITHIN):
            while True:
                now = by_key(await self._reach.tree(), node.key or "")
                if now is not None and holds(now):
                    return now
                await anyio.sleep(STEP)
        return None

    async def _choose(self, node: Node, option: str) -> Acted:
        """Opens a select, and presses the option that is meant."""
        if node.value == option:
            return Acted("none", verified=True)
        before = tree = await self._reach.tree()
        await self.press(before, by_key(before, node.key or "") or node)
        there = {one.key for one in before.nodes}
        offered: list[Node] = []
        with anyio.move_on_after(WITHIN):
            while not offered:
                tree = await self._reach.tree()
                offered = [one for one in tree.nodes if one.key not in there and one.actions and one.name]
                if not offered:
                    await anyio.sleep(STEP)
        found = [one for one in offered if one.name == option] or [
            one for one in offered if one.name.casefold() == option.casefold()
        ]
        if len(found) != 1:
            if offered:
                await self._send(BACK)
            raise InvalidArgument(
                "The select has no such option.", param="text", expected="an option", options=[o.name for o in offered]
            )
        await self.press(tree, found[0])
        chosen = await self._until(node, lambda now: now.value == found[0].name)
        return Acted("choose", verified=chosen is not None)

    async def _turn(self, node: Node, text: str) -> Acted:
        """Brings a slider to a number, press by press, each seen."""
        wanted, now = _number(text), _number(node.value or "")
        if wanted is None or now is None:
            raise InvalidArgument("A slider takes a number.", param="text", expected="a number")
        await self._to_focus(node)
        for _ in range(TURNS):
            if now == wanted:
                return Acted("remote", verified=True)
            was = now
            await self._send(RIGHT if wanted > now else LEFT)
            seen = await self._until(node, lambda one: _number(one.value or "") != was)  # noqa: B023 - called at once
            stepped = _number(seen.value or "") if seen is not None else None
            if stepped is None:
                break  # it does not move any more
            now = stepped
            if was < wanted < now or now < wanted < was:
                break  # it steps over the number
        raise ActionUnverified("The slider does not come to this number.", expected=text, actual=f"{now:g}")


def _number(text: str) -> float | None:
    found = _NUMBER.search(text)
    return float(found[0]) if found else None


def _over(tree: Tree, node: Node, point: Point) -> Node | None:
    """What takes the press at a point instead of an element."""
    at = next(index for index, other in enumerate(tree.nodes) if other is node)
    for later in range(len(tree.nodes) - 1, at, -1):
        other = tree.nodes[later]
        if other.actions and other.rect is not None and other.rect.contains(point):
            return None if at in tree.ancestors(later) else other
    return None


def holder(tree: Tree) -> Node | None:
    """The field that has the focus, else whatever has it."""
    found = [node for node in tree.nodes if "focused" in node.states]
    return next((node for node in found if "editable" in node.states), focus_of(tree))
