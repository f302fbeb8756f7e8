"""Mutants of the cases about gestures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from faults import operation

from anydevice.commands import act, gestures
from anydevice.testing import ReferenceBackend
from anydevice_schemas import Point

from . import Mutant


def holds_as_long_as_it_likes(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every hold lasts half a second."""

    async def hold(sound: Any, self: Any, point: Point, *, seconds: float) -> Any:
        return await sound(self, point, seconds=0.5)

    operation(monkeypatch, "touch.hold", hold)


def holds_though_disabled(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long press does not ask whether the element is enabled."""
    sound = act.aim

    async def aim(ctx: Any, args: Any, **more: Any) -> Any:
        held = isinstance(args, act.LongpressInput)
        return await sound(ctx, args, **(more | {"enabled": False} if held else more))

    monkeypatch.setattr(act, "aim", aim)


def lets_go_half_way(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drag ends before it is where it should go."""

    async def drag(sound: Any, self: Any, start: Point, end: Point, **more: Any) -> Any:
        return await sound(self, start, Point((start.x + end.x) / 2, start.y + (end.y - start.y) / 4), **more)

    operation(monkeypatch, "touch.drag", drag)


def mirrors_swipes(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Left and right are exchanged."""

    async def swipe(sound: Any, self: Any, start: Point, end: Point, **more: Any) -> Any:
        return await sound(self, start, Point(2 * start.x - end.x, end.y), **more)

    operation(monkeypatch, "touch.swipe", swipe)


def moves_all_the_same(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drag that goes nowhere is made to go somewhere."""
    sound = gestures._end

    async def end(ctx: Any, args: Any, start: Point) -> Point:
        found = await sound(ctx, args, start)
        return Point(found.x + 5, found.y) if found == start else found

    monkeypatch.setattr(gestures, "_end", end)


def moves_no_pointer(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A move of the pointer is answered and not done."""
    backend.fault.swallow.add("pointer.move")


def moves_one_finger(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second finger only rests on the glass."""

    async def multi_touch(sound: Any, self: Any, fingers: Sequence[Sequence[Point]], **more: Any) -> Any:
        first, second = fingers
        return await sound(self, [first, [second[0]] * len(second)], **more)

    operation(monkeypatch, "touch.multi_touch", multi_touch)


def turns_the_other_way(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The y axis of two fingers points up."""

    async def multi_touch(sound: Any, self: Any, fingers: Sequence[Sequence[Point]], **more: Any) -> Any:
        middle = (fingers[0][0].y + fingers[1][0].y) / 2
        turned = [[Point(point.x, 2 * middle - point.y) for point in path] for path in fingers]
        return await sound(self, turned, **more)

    operation(monkeypatch, "touch.multi_touch", multi_touch)


MUTANTS: dict[str, Mutant] = {
    "gestures.longpress-lasts-as-long-as-asked": holds_as_long_as_it_likes,
    "gestures.longpress-refuses-disabled": holds_though_disabled,
    "gestures.drag-goes-from-source-to-zone": lets_go_half_way,
    "gestures.swipe-goes-that-way": mirrors_swipes,
    "gestures.what-does-not-move-is-refused": moves_all_the_same,
    "gestures.hover-rests-on-the-element": moves_no_pointer,
    "gestures.two-fingers-pinch": moves_one_finger,
    "gestures.two-fingers-turn": turns_the_other_way,
}
