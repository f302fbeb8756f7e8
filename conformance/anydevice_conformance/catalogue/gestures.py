"""Gestures: what fingers and pointers do, as the app itself felt it."""

from __future__ import annotations

from math import cos, radians, sin

from anydevice_schemas import Point, Rect

from ..case import case
from ..looking import only
from ..trial import Trial

BUNDLE = "gestures"
HELD = 1.2
PLAY = 0.6
"""Seconds a hold may last longer than asked: a slow device lifts late, never early."""


@case(
    "gestures.longpress-lasts-as-long-as-asked",
    "A long press MUST hold the element for as long as it was asked to.",
    command="longpress",
    sample={"target": "Hold me", "durationMs": 1200},
    bundle="longpress",
    optional=True,  # a remote control may know one length of a long press
    screen="gestures",
    mutates=True,
)
async def longpress_lasts_as_long_as_asked(t: Trial) -> None:
    await t.call("longpress", target="Hold me", durationMs=int(HELD * 1000))
    report = await t.heard("hold", id="gestures.hold")
    lasted = float(report["value"])
    t.require(HELD - 0.05 <= lasted <= HELD + PLAY, f"it was told to hold for {HELD} s, and held for {lasted} s")


@case(
    "gestures.longpress-refuses-disabled",
    "A long press on a disabled element MUST be refused as element_disabled and MUST NOT reach the app.",
    command="longpress",
    sample={"target": "Submit"},
    bundle="longpress",
    screen="form",
    mutates=True,
)
async def longpress_refuses_disabled(t: Trial) -> None:
    await t.call("longpress", target="Submit", expect="element_disabled")
    await t.unheard()


@case(
    "gestures.drag-goes-from-source-to-zone",
    "A drag MUST take up what it starts on and drop it on what it ends on.",
    command="gesture",
    sample={"kind": "drag", "target": "Card", "to": "Drop here"},
    bundle=BUNDLE,
    screen="gestures",
    mutates=True,
)
async def drag_goes_from_source_to_zone(t: Trial) -> None:
    await t.call("gesture", kind="drag", target="Card", to="Drop here", holdMs=200)
    await t.heard("drag", value=["gestures.source", "gestures.zone"])


@case(
    "gestures.swipe-goes-that-way",
    "A swipe MUST go the way it was asked to, in each of the four directions.",
    command="gesture",
    sample={"kind": "swipe", "target": "Swipe here", "direction": "left"},
    bundle=BUNDLE,
    screen="gestures",
    mutates=True,
)
async def swipe_goes_that_way(t: Trial) -> None:
    for way in ("left", "right", "up", "down"):
        await t.call("gesture", kind="swipe", target="Swipe here", direction=way, distance=70, durationMs=150)
        await t.heard("swipe", id="gestures.pad", value=way)
    ways = [report["value"] for report in t.reports("swipe")]
    t.equal(ways, ["left", "right", "up", "down"], "the swipes the app felt")


@case(
    "gestures.what-does-not-move-is-refused",
    "A drag that ends where it starts MUST be refused as invalid_argument and MUST NOT reach the app.",
    command="gesture",
    sample={"kind": "drag", "target": "Card", "to": "Card"},
    bundle=BUNDLE,
    screen="gestures",
    mutates=True,
)
async def what_does_not_move_is_refused(t: Trial) -> None:
    await t.call("gesture", kind="drag", target="Card", to="Card", expect="invalid_argument")
    await t.unheard()


@case(
    "gestures.hover-rests-on-the-element",
    "hover MUST bring the pointer to rest on the element, and press nothing.",
    command="hover",
    sample={"target": "Hover me"},
    bundle="pointer",
    screen="gestures",
    mutates=True,
)
async def hover_rests_on_the_element(t: Trial) -> None:
    await t.call("find", query="Hovered", timeoutMs=0, expect="element_not_found")
    await t.call("hover", target="Hover me")
    await t.heard("hover", id="gestures.hover")
    await t.call("find", query="Hovered", timeoutMs=3000)
    await t.unheard("press")


async def pad(t: Trial) -> Rect:
    """Where the pad for two fingers is, in points."""
    await t.call("get", target="Pinch here", what="point")
    x, y, width, height = (await only(t, "Pinch here"))["rect"]
    return Rect(x, y, width, height)


def turned(middle: Point, reach: float, degrees: float) -> Point:
    """The point so far from the middle, turned clockwise by so much."""
    return Point(middle.x + reach * cos(radians(degrees)), middle.y + reach * sin(radians(degrees)))


async def move_two_fingers(t: Trial, reach: tuple[float, float], turn: float) -> None:
    """Two fingers on the pad, on opposite sides of its middle, go from one distance to another while they turn."""
    driver = await t.driver()
    middle, steps = (await pad(t)).center, 12
    paths: list[list[Point]] = [[], []]
    for step in range(steps + 1):
        share = step / steps
        far = reach[0] + (reach[1] - reach[0]) * share
        for path, start in zip(paths, (180.0, 0.0), strict=True):
            path.append(turned(middle, far, start + turn * share))
    await driver.touch.multi_touch(paths, seconds=0.4)  # type: ignore[attr-defined]


@case(
    "gestures.two-fingers-pinch",
    "Two fingers that move apart MUST reach the app as a pinch of that scale.",
    needs=("touch.multi_touch",),
    bundle="touch",
    screen="gestures",
    mutates=True,
)
async def two_fingers_pinch(t: Trial) -> None:
    await move_two_fingers(t, (25, 60), 0)
    await t.heard("pinch", id="gestures.pinch", where=lambda scale: 1.9 <= scale <= 2.9)


@case(
    "gestures.two-fingers-turn",
    "Two fingers that turn around each other MUST reach the app as a rotation by that angle.",
    needs=("touch.multi_touch",),
    bundle="touch",
    screen="gestures",
    mutates=True,
)
async def two_fingers_turn(t: Trial) -> None:
    await move_two_fingers(t, (50, 50), 60)
    await t.heard("rotate", id="gestures.pinch", where=lambda degrees: 45 <= degrees <= 75)
