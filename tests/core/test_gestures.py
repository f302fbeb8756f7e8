"""Two fingers, flings, and what does not go with which gesture; judged by the practice app in memory."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anydevice.commands.gestures import two_fingers
from anydevice.testing import ReferenceBackend, call, fake_router
from anydevice.testing.gestures import pinch_of
from anydevice_schemas import Answer, Point, Rect

ROOM = Rect(10, 20, 300, 160)


class Phone:
    """A phone with the practice app on its gestures screen, and what the app reported."""

    def __init__(self, router: Any, backend: ReferenceBackend) -> None:
        self.router, self.backend = router, backend
        self.heard: list[tuple[str, str, Any]] = []
        backend.practice("phone-1").report_to = lambda r: self.heard.append((r["what"], r["id"], r["value"]))

    async def gesture(self, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call("gesture", device="phone-1", **arguments))
        return answer


@pytest.fixture
async def phone(anyio_backend: str) -> AsyncIterator[Phone]:
    backend = ReferenceBackend(classes=("phone",))
    async with fake_router(backend) as (router, _):
        opened = await router.call(
            call("open", device="phone-1", app="dev.anydevice.practice", arguments=["--screen", "gestures"])
        )
        assert opened.ok, opened.error
        yield Phone(router, backend)


@pytest.mark.anyio
@pytest.mark.parametrize("scale", [2.0, 0.5])
async def test_a_pinch_reaches_the_app_with_its_scale(phone: Phone, scale: float) -> None:
    answer = await phone.gesture(kind="pinch", target="Pinch here", scale=scale)
    assert answer.ok and answer.data["element"]["name"] == "Pinch here"
    ((what, where, value),) = [told for told in phone.heard if told[0] == "pinch"]
    assert (what, where) == ("pinch", "gestures.pinch") and value == pytest.approx(scale, rel=0.05)


@pytest.mark.anyio
@pytest.mark.parametrize("degrees", [60.0, -90.0])
async def test_a_turn_reaches_the_app_with_its_angle(phone: Phone, degrees: float) -> None:
    assert (await phone.gesture(kind="rotate", target="Pinch here", degrees=degrees)).ok
    turned = [value for what, _, value in phone.heard if what == "rotate"]
    assert turned == [pytest.approx(degrees, abs=5)]


@pytest.mark.anyio
async def test_a_fling_is_a_swipe_that_is_over_in_a_moment(phone: Phone) -> None:
    assert (await phone.gesture(kind="fling", target="Swipe here", direction="left")).ok
    assert [(what, value) for what, _, value in phone.heard if what == "swipe"] == [("swipe", "left")]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "param"),
    [
        ({"kind": "pinch"}, "scale"),
        ({"kind": "rotate"}, "degrees"),
        ({"kind": "swipe", "direction": "left", "scale": 2}, "scale"),
        ({"kind": "pinch", "scale": 2, "degrees": 5}, "degrees"),
        ({"kind": "pinch", "scale": 2, "direction": "left"}, "direction"),
        ({"kind": "rotate", "degrees": 5, "to": "Card"}, "to"),
        ({"kind": "fling", "direction": "left", "durationMs": 500}, "durationMs"),
        ({"kind": "swipe", "direction": "left", "holdMs": 500}, "holdMs"),
        ({"kind": "pinch", "scale": 0}, "scale"),
    ],
)
async def test_what_does_not_go_with_a_gesture_is_refused_by_name(
    phone: Phone, arguments: dict[str, Any], param: str
) -> None:
    answer = await phone.gesture(target="Pinch here", **arguments)
    assert answer.error is not None and answer.error.code == "invalid_argument", answer.data
    assert answer.error.details["param"] == param or param in str(answer.error.details["errors"])
    assert phone.heard == []


@given(scale=st.floats(0.05, 20), degrees=st.floats(-170, 170))
def test_fingers_stay_inside_the_element_and_do_what_they_are_told(scale: float, degrees: float) -> None:
    one, two = two_fingers(ROOM.center, ROOM, scale, degrees)
    for point in (*one, *two):
        assert ROOM.contains(point)
    told_scale, told_degrees = pinch_of(one, two)
    assert told_scale == pytest.approx(scale, rel=0.01)
    assert told_degrees == pytest.approx(degrees, abs=0.5)


def test_around_a_bare_point_the_fingers_are_opposite_each_other() -> None:
    one, two = two_fingers(Point(500, 500), None, 2.0, 0.0)
    for a, b in zip(one, two, strict=True):
        assert math.isclose((a.x + b.x) / 2, 500) and math.isclose((a.y + b.y) / 2, 500)
