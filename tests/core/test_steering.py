"""Elements of a screen without touch are reached by the arrows of a remote control, or it is said that they are not."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from anydevice.commands import _steer
from anydevice.testing import FakeBackend, FakeElement, FakeScreen, call, fake_router
from anydevice.testing.driver import FakeDriver
from anydevice.testing.fake import fake_manifest
from anydevice.testing.upkeep import FakeRemote
from anydevice_schemas import Answer, Rect

pytestmark = pytest.mark.anyio
WAYS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
OPERATIONS = [
    "screen.tree", "screen.geometry", "remote.press", "remote.hold", "apps.state", "keys.press", "keys.type_text",
    "keys.focused",
]  # fmt: skip


def beyond(here: Rect, there: Rect, way: str) -> bool:
    """Whether an arrow may lead from one place to another: it lies that way, in the beam of what has the focus."""
    dx, dy = WAYS[way]
    ahead = (there.center.x - here.center.x) * dx + (there.center.y - here.center.y) * dy
    if dx:
        beam = here.y < there.y + there.height and there.y < here.y + here.height
    else:
        beam = here.x < there.x + there.width and there.x < here.x + here.width
    return ahead > 0 and beam


def led(screen: FakeScreen, element: FakeElement | None, way: str) -> FakeElement | None:
    """Where an arrow leads: to the nearest in the beam; nowhere where there is none."""
    if element is None:
        return screen.elements[0]
    here = element.rect.center
    found = [e for e in screen.elements if e is not element and beyond(element.rect, e.rect, way)]
    found.sort(key=lambda e: abs(e.rect.center.x - here.x) + abs(e.rect.center.y - here.y))
    return found[0] if found else element


class BeamRemote(FakeRemote):
    """Arrows as televisions have them: they lead where there is something, and nowhere else."""

    def _carry_out(self, model: FakeScreen, button: str, seconds: float = 0.0) -> None:
        if button in WAYS:
            model.focus = led(model, model.focus, button)
        else:
            super()._carry_out(model, button, seconds)


class TvBackend(FakeBackend):
    """A television whose only input is its remote control."""

    def __init__(self) -> None:
        super().__init__(["tv-1", "other"], device_class="tv", device_target="tv")
        self.manifest = fake_manifest(operations={op: {} for op in OPERATIONS})

    async def connect(self, device: Any, env: Any) -> FakeDriver:
        driver = await super().connect(device, env)
        driver.remote = BeamRemote(driver)
        return driver


class Tv:
    def __init__(self, router: Any, backend: TvBackend, screen: FakeScreen) -> None:
        self.router, self.backend, self.screen = router, backend, screen
        self.pressed: list[str] = []

    def put(self, name: str, x: float, y: float, **more: Any) -> FakeElement:
        rect = Rect(x, y, 80, 40)
        return self.screen.add(FakeElement("button", name, rect, on_press=lambda: self.pressed.append(name), **more))

    async def press(self, target: str, **more: Any) -> Answer:
        answer: Answer = await self.router.call(call("press", device="tv-1", target=target, **more))
        return answer


@asynccontextmanager
async def television() -> AsyncIterator[Tv]:
    backend = TvBackend()
    screen = FakeScreen(width=1920, height=1080)
    backend.screens["tv-1"] = screen
    async with fake_router(backend) as (router, _):
        yield Tv(router, backend, screen)
        assert backend.screen("other").journal == []


@pytest.fixture
async def tv(anyio_backend: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Tv]:
    monkeypatch.setattr(_steer, "MOVED", 0.05)  # this television moves at once
    async with television() as made:
        yield made


async def test_the_focus_goes_to_the_element_and_select_presses_it_alone(tv: Tv) -> None:
    for row in range(4):
        for column in range(5):
            tv.put(f"Tile {row}{column}", 100 * column, 60 * row)
    answer = await tv.press("Tile 34")
    assert answer.ok and tv.pressed == ["Tile 34"]
    assert answer.data["steps"] == 8 and answer.method == "remote"  # one to wake the focus, three down, four across
    assert (await tv.press("Tile 30")).data["steps"] == 4 and tv.pressed == ["Tile 34", "Tile 30"]
    assert (await tv.press("Tile 30")).data["steps"] == 0 and tv.pressed[2:] == ["Tile 30"]


async def test_a_gap_in_the_way_is_gone_around(tv: Tv) -> None:
    for name, x, y in (("A", 0, 0), ("B", 200, 0), ("C", 200, 120), ("D", 0, 240), ("E", 200, 240)):
        tv.put(name, x, y)
    tv.screen.focus = tv.screen.named("A")
    tv.screen.remove(tv.screen.named("D"))
    tv.put("Goal", 400, 240)
    assert (await tv.press("Goal")).ok and tv.pressed == ["Goal"]


async def test_what_no_arrow_leads_to_is_refused_and_nothing_is_pressed(tv: Tv) -> None:
    tv.put("A", 0, 0)
    tv.put("B", 100, 0)
    tv.put("Island", 900, 700)
    answer = await tv.press("Island")
    assert answer.error is not None and answer.error.code == "focus_unavailable"
    assert answer.error.details["presses"] > 0 and tv.pressed == []


async def test_a_disabled_element_is_refused_before_any_arrow(tv: Tv) -> None:
    tv.put("A", 0, 0)
    tv.put("Off", 100, 0, states={"disabled"})
    answer = await tv.press("Off")
    assert answer.error is not None and answer.error.code == "element_disabled"
    assert tv.screen.upkeep.buttons == []


async def test_holding_an_element_holds_select(tv: Tv) -> None:
    tv.put("A", 0, 0)
    tv.put("B", 100, 0)
    answer = await tv.router.call(call("longpress", device="tv-1", target="B", durationMs=900))
    assert answer.ok and tv.screen.upkeep.buttons[-1] == ("select", 0.9)


async def test_a_button_that_is_only_pressed_long_in_one_way_is_pressed_so(tv: Tv) -> None:
    tv.backend.down["remote.hold"] = "knows one length"
    tv.put("A", 0, 0)
    tv.put("B", 100, 0)
    answer = await tv.router.call(call("longpress", device="tv-1", target="B"))
    assert answer.ok and [seconds for button, seconds in tv.screen.upkeep.buttons if button == "select"] == [0.8]
    pressed = len(tv.screen.upkeep.buttons)
    refused = await tv.router.call(call("longpress", device="tv-1", target="B", durationMs=900))
    assert refused.error is not None and refused.error.code == "unsupported"
    assert refused.error.details["alternatives"] == ["without durationMs"]
    assert len(tv.screen.upkeep.buttons) == pressed


async def test_the_only_way_over_a_slider_is_not_taken(tv: Tv, monkeypatch: pytest.MonkeyPatch) -> None:
    """Left and right would change its value; up and down lead around it."""
    monkeypatch.setattr(BeamRemote, "_carry_out", slides(BeamRemote._carry_out))
    tv.put("A", 0, 0)
    slider = tv.screen.add(FakeElement("slider", "Volume", Rect(100, 0, 200, 40), value="50"))
    tv.put("B", 400, 0)
    tv.screen.focus = slider
    refused = await tv.press("B")
    assert refused.error is not None and refused.error.code == "focus_unavailable"
    assert slider.value == "50" and tv.pressed == []
    tv.put("C", 150, 100)
    tv.put("D", 400, 100)
    assert (await tv.press("B")).ok and slider.value == "50" and tv.pressed == ["B"]


async def test_scrolling_does_not_move_a_slider_that_has_the_focus(tv: Tv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BeamRemote, "_carry_out", slides(BeamRemote._carry_out))
    tv.put("A", 400, 0)
    slider = tv.screen.add(FakeElement("slider", "Volume", Rect(100, 0, 200, 40), value="50"))
    tv.screen.focus = slider
    answer = await tv.router.call(call("scroll", device="tv-1", direction="right"))
    assert answer.error is not None and answer.error.code == "action_unverified" and slider.value == "50"
    assert "value_kept" in [notice["kind"] for notice in answer.notices]


def slides(sound: Any) -> Any:
    """Left and right change the value of a slider that has the focus."""

    def carry_out(self: FakeRemote, model: FakeScreen, button: str, seconds: float = 0.0) -> None:
        if button in ("left", "right") and model.focus is not None and model.focus.role == "slider":
            model.focus.write(str(int(model.focus.value or 0) + 5))
        else:
            sound(self, model, button, seconds)

    return carry_out


async def test_a_label_is_not_pressed_by_way_of_something_around_its_own_button(tv: Tv) -> None:
    """The focus on a page does not do for a text in a button on that page."""
    page = tv.screen.add(FakeElement("listitem", "Page", Rect(0, 0, 600, 600)))
    row = tv.put("Row", 10, 10, parent=page)
    tv.screen.add(FakeElement("text", "Inside", Rect(12, 12, 40, 20), parent=row))
    tv.screen.focus = page
    assert (await tv.press("role=text label=Inside")).ok
    assert tv.pressed == ["Row"]


async def test_a_bare_point_is_no_target_for_a_remote_control(tv: Tv) -> None:
    tv.put("A", 0, 0)
    answer = await tv.router.call(call("press", device="tv-1", x=10, y=10))
    assert answer.error is not None and answer.error.code == "unsupported"


async def test_a_gesture_of_fingers_is_refused_with_what_a_television_has(tv: Tv) -> None:
    answer = await tv.router.call(call("gesture", device="tv-1", kind="swipe", direction="left"))
    assert answer.error is not None and answer.error.code == "unsupported" and "tv-remote" in answer.error.hint
    other = await tv.router.call(call("clipboard", device="tv-1", action="read"))
    assert other.error is not None and "tv-remote" not in other.error.hint


def fields(tv: Tv) -> None:
    """Two buttons above two fields."""
    tv.put("A", 0, 0)
    tv.put("B", 100, 0)
    for row, name in enumerate(("First", "Second")):
        tv.screen.add(FakeElement("textbox", name, Rect(0, 100 + 60 * row, 180, 40), value="", identifier=f"f{row}"))


async def test_type_brings_the_focus_to_the_field_and_presses_nothing(tv: Tv) -> None:
    fields(tv)
    answer = await tv.router.call(call("type", device="tv-1", target="Second", text="Ada"))
    assert answer.ok and (tv.screen.text("First"), tv.screen.text("Second")) == ("", "Ada")
    assert {button for button, _ in tv.screen.upkeep.buttons} <= set(WAYS) and tv.pressed == []
    assert answer.verified is True


async def test_fill_by_keys_presses_nothing_either(tv: Tv) -> None:
    fields(tv)
    answer = await tv.router.call(call("fill", device="tv-1", target="Second", text="Ada"))
    assert answer.ok and tv.screen.text("Second") == "Ada" and tv.pressed == []
    assert {button for button, _ in tv.screen.upkeep.buttons} <= set(WAYS)
    refused = await tv.router.call(call("fill", device="tv-1", target="B", text="Ada"))
    assert refused.error is not None and refused.error.code == "invalid_argument" and tv.pressed == []


async def test_focus_is_seen_to_be_on_the_element(tv: Tv) -> None:
    fields(tv)
    answer = await tv.router.call(call("focus", device="tv-1", target="B"))
    assert answer.ok and answer.verified is True and "focused" in answer.data["element"]["states"]
    assert tv.screen.focus is tv.screen.named("B") and tv.pressed == []


async def test_a_field_no_arrow_leads_to_gets_no_text(tv: Tv) -> None:
    tv.put("A", 0, 0)
    tv.screen.add(FakeElement("textbox", "Island", Rect(900, 700, 80, 40), value=""))
    answer = await tv.router.call(call("type", device="tv-1", target="Island", text="Ada"))
    assert answer.error is not None and answer.error.code == "focus_unavailable"
    assert tv.screen.did("type") == [] and tv.screen.text("Island") == ""


@pytest.fixture
async def long_list(tv: Tv, monkeypatch: pytest.MonkeyPatch) -> Tv:
    """60 rows of 60 points, of which 18 are on screen."""
    monkeypatch.setattr(BeamRemote, "_carry_out", FakeRemote._carry_out)
    for row in range(60):
        tv.put(f"Row {row}", 0, 60 * row)
    return tv


async def test_scroll_moves_content_by_about_what_was_asked(long_list: Tv) -> None:
    tv = long_list
    answer = await tv.router.call(call("scroll", device="tv-1", direction="down", amount=0.5))
    assert answer.ok and answer.verified is True and answer.method == "remote"
    assert 480 <= tv.screen.offset <= 600 and answer.data["by"] == [0.0, tv.screen.offset]
    assert tv.screen.focus is not None and tv.screen.place(tv.screen.focus).intersect(tv.screen.viewport) is not None
    assert tv.pressed == []


async def test_scroll_until_finds_a_row_and_ends_at_the_end(long_list: Tv) -> None:
    tv = long_list
    found = await tv.router.call(call("scroll", device="tv-1", until="Row 45"))
    place = tv.screen.place(tv.screen.named("Row 45"))
    assert found.ok and place.intersect(tv.screen.viewport) is not None
    missing = await tv.router.call(call("scroll", device="tv-1", until="Row 99"))
    assert missing.error is not None and missing.error.code == "element_not_found"
    assert tv.screen.offset == tv.screen.content_height - tv.screen.height and tv.pressed == []


async def test_scroll_to_an_edge_says_that_it_is_there(long_list: Tv) -> None:
    tv = long_list
    assert (await tv.router.call(call("scroll", device="tv-1", edge="bottom"))).data["atEdge"] is True
    assert tv.screen.offset == tv.screen.content_height - tv.screen.height
    assert (await tv.router.call(call("scroll", device="tv-1", edge="top"))).data["atEdge"] is True
    assert tv.screen.offset == 0
    still = await tv.router.call(call("scroll", device="tv-1", direction="up"))
    assert still.error is not None and still.error.code == "action_unverified" and tv.pressed == []


@pytest.fixture
async def ring(tv: Tv, monkeypatch: pytest.MonkeyPatch) -> Tv:
    """40 rows of 60 points, of which 18 are on screen; down on the last leads to the first, and back."""

    def carry_out(self: FakeRemote, model: FakeScreen, button: str, seconds: float = 0.0) -> None:
        if button not in ("up", "down"):
            return
        step = 1 if button == "down" else -1
        at = -1 if model.focus is None else model.elements.index(model.focus)
        model.focus = model.elements[(at + step) % len(model.elements)]
        place = model.place(model.focus)
        model.scroll(place.y if place.y < 0 else max(0.0, place.y + place.height - model.height))

    monkeypatch.setattr(BeamRemote, "_carry_out", carry_out)
    for row in range(40):
        tv.put(f"Row {row}", 0, 60 * row)
    return tv


@pytest.mark.parametrize("first", [0, 13])
async def test_the_end_of_a_list_that_goes_round_is_found_and_kept(ring: Tv, first: int) -> None:
    tv = ring
    tv.screen.focus = tv.screen.named(f"Row {first}")
    answer = await tv.router.call(call("scroll", device="tv-1", edge="bottom"))
    assert answer.ok and answer.data["atEdge"] is True
    assert tv.screen.offset == tv.screen.content_height - tv.screen.height
    missing = await tv.router.call(call("scroll", device="tv-1", until="Row 99"))
    assert missing.error is not None and missing.error.code == "element_not_found"
    assert len(tv.screen.upkeep.buttons) < 200 and tv.pressed == []


async def test_a_menu_that_goes_round_on_one_screen_ends(ring: Tv) -> None:
    tv = ring
    for row in range(12, 40):
        tv.screen.remove(tv.screen.named(f"Row {row}"))
    tv.screen.focus = tv.screen.named("Row 5")
    answer = await tv.router.call(call("scroll", device="tv-1", direction="down"))
    assert answer.error is not None and answer.error.code == "action_unverified"
    assert len(tv.screen.upkeep.buttons) < 40


async def test_an_element_off_screen_is_brought_on_screen_by_the_arrows_that_lead_to_it(long_list: Tv) -> None:
    tv = long_list
    assert (await tv.press("Row 30")).ok and tv.pressed == ["Row 30"]


def reachable(screen: FakeScreen) -> set[str]:
    """Names of all elements some sequence of arrows leads to, from where the focus begins."""
    first = led(screen, None, "down")
    assert first is not None
    seen, queue = {first.name}, deque([first])
    while queue:
        at = queue.popleft()
        for way in WAYS:
            there = led(screen, at, way)
            if there is not None and there.name not in seen:
                seen.add(there.name)
                queue.append(there)
    return seen


@pytest.mark.parametrize("seed", range(10))
async def test_on_any_screen_what_can_be_reached_is_reached_and_the_rest_refused(tv: Tv, seed: int) -> None:
    dice = random.Random(seed)
    cells = dice.sample([(x, y) for x in range(6) for y in range(5)], dice.randint(3, 12))
    for number, (x, y) in enumerate(cells):
        tv.put(f"Tile {number}", 110 * x + dice.randint(0, 25), 70 * y + dice.randint(0, 25))
    can = reachable(tv.screen)
    for target in dice.sample([f"Tile {number}" for number in range(len(cells))], 2):
        tv.screen.focus = None
        tv.pressed.clear()
        answer = await tv.press(target)
        assert answer.ok is (target in can), (target, can, answer.error)
        assert tv.pressed == ([target] if target in can else [])
