"""Lists that are longer than the screen, and hold only the rows near what is seen of them."""

from __future__ import annotations

from collections.abc import Mapping

from anydevice_schemas.practice import ROWS

from ..case import case
from ..looking import Shown, by_id, heard_times, named, pointed, ref_of, states, took, whole
from ..trial import CaseFailed, Trial

BUNDLE = "lists"
TARGET = 321
ROW = f'label="Row {TARGET}" role=listitem'
AWAY = {"offscreen", "hidden"}


def rows(nodes: list[dict[str, object]]) -> Mapping[int, Shown]:
    """The rows that are told, by number."""
    found = {}
    for node in nodes:
        word, _, number = str(node.get("name", "")).partition(" ")
        if node["role"] == "listitem" and word == "Row" and number.isdigit():
            found[int(number)] = node
    return found


async def seen(t: Trial) -> Mapping[int, Shown]:
    """The rows on screen, by number.

    Raises:
        CaseFailed: There are none.
    """
    found = {n: node for n, node in rows(await whole(t, mode="viewport")).items() if not states(node) & AWAY}
    if not found:
        raise CaseFailed("no row of the list is told to be on screen")
    return found


async def press_where_it_is(t: Trial, number: int) -> None:
    """Presses the place where a row is told to be; the app says which row is really there.

    A device without points is steered to the row that is told.
    """
    row = f"id=row.{number}"
    if pointed(t):
        where = await t.call("get", target=row, what="point")
        t.require(where.data["point"] is not None, f"row {number} must have a place on screen")
        x, y = where.data["point"]
        await t.call("press", x=x, y=y)
    else:
        await t.call("press", target=row, timeoutMs=0)
    await t.heard("press", id=f"row.{number}")


@case(
    "lists.scroll-goes-that-way",
    "scroll down MUST show what is further down, scroll up what is further up, and MUST say that it moved.",
    command="scroll",
    sample={"direction": "down"},
    bundle=BUNDLE,
    screen="list",
    mutates=True,
)
async def scroll_goes_that_way(t: Trial) -> None:
    first = await seen(t)
    answer = await t.call("scroll", direction="down")
    t.require(answer.data.get("moved") is True and answer.verified is True, "it must say that it moved")
    second = await seen(t)
    t.require(min(second) > min(first) and max(second) > max(first), "scrolling down must show rows further down")
    middle = sorted(second)[len(second) // 2]
    await press_where_it_is(t, middle)
    await t.call("scroll", direction="up")
    third = await seen(t)
    t.require(min(third) < min(second) and max(third) < max(second), "scrolling up must show rows further up")


@case(
    "lists.scroll-to-the-edge",
    "scroll to an edge MUST end at that edge, however long the list is.",
    command="scroll",
    sample={"edge": "bottom"},
    bundle=BUNDLE,
    screen="list",
    mutates=True,
    seconds=120.0,
)
async def scroll_to_the_edge(t: Trial) -> None:
    # An arrow a row: what a remote control needs 20 s for, fingers do in a few.
    longest = 50_000 if t.device.device_class == "tv" else 25_000
    answer = await t.call("scroll", edge="bottom", timeoutMs=longest)
    t.require(answer.data.get("atEdge") is True, "it must say that it is at the edge")
    await t.call("wait", target=f'label="Row {ROWS - 1}" role=listitem visible=true', timeoutMs=3000)
    await press_where_it_is(t, ROWS - 1)
    await t.call("scroll", edge="top", timeoutMs=longest)
    await t.call("wait", target='label="Row 0" role=listitem visible=true', timeoutMs=3000)


@case(
    "lists.a-row-that-is-not-there-yet",
    "A row that does not exist yet MUST NOT be found where the list was not scrolled to it.",
    command="find",
    sample={"query": ROW},
    screen="list",
)
async def a_row_that_is_not_there_yet(t: Trial) -> None:
    there = rows(await whole(t))
    t.require(0 in there, "the rows on screen must be told")
    t.require(len(there) < ROWS / 2, f"{len(there)} rows are told, and only those near the visible part exist")
    await t.call("find", query=ROW, timeoutMs=0, expect="element_not_found")


@case(
    "lists.until-finds-what-is-far",
    "scroll until MUST bring a row on screen that did not exist when the scrolling began.",
    command="scroll",
    sample={"until": ROW},
    bundle=BUNDLE,
    screen="list",
    mutates=True,
    seconds=60.0,
)
async def until_finds_what_is_far(t: Trial) -> None:
    answer = await t.call("scroll", until=ROW, timeoutMs=40_000)
    element = answer.data["element"]
    t.equal(element.get("identifier"), f"row.{TARGET}", "the row that is brought on screen")
    t.require(not states(element) & AWAY, "the row must be told to be on screen")
    await press_where_it_is(t, TARGET)


@case(
    "lists.a-twin-off-screen-is-told",
    "A twin off screen MUST count: the same text there makes a label ambiguous, the candidates tell which of them is "
    "off screen, and a filter tells them apart.",
    command="scroll",
    sample={"until": ROW},
    sees="offscreen",
    bundle=BUNDLE,
    screen="list",
    mutates=True,
    seconds=60.0,
)
async def a_twin_off_screen_is_told(t: Trial) -> None:
    await t.call("scroll", until=ROW, timeoutMs=40_000)
    answer = await t.call("press", target=f"Row {TARGET}", timeoutMs=0, expect="ambiguous_element")
    candidates = t.detail(answer, "candidates")["candidates"]
    away = {entry["role"]: "offscreen" in states(entry) for entry in candidates}
    t.equal(away, {"text": True, "listitem": False}, "which of the candidates are off screen")
    await t.call("press", target=ROW, timeoutMs=0)
    await t.heard("press", id=f"row.{TARGET}")
    t.equal([report["id"] for report in t.reports("press")], [f"row.{TARGET}"], "what was pressed")


@case(
    "lists.a-row-that-left-is-stale",
    "The ref of a row that scrolled away and is gone MUST be stale_ref; it MUST NOT mean the row that took its place.",
    command="scroll",
    sample={"until": ROW},
    bundle=BUNDLE,
    screen="list",
    mutates=True,
    seconds=60.0,
)
async def a_row_that_left_is_stale(t: Trial) -> None:
    old = {number: str(node["ref"]) for number, node in (await seen(t)).items()}
    await t.call("scroll", until=ROW, timeoutMs=40_000)
    now = {str(node["ref"]) for node in rows(await whole(t)).values()}
    t.require(not now & set(old.values()), "rows that came have refs of rows that went")
    for number in (min(old), max(old)):
        await t.call("press", target=old[number], timeoutMs=0, expect="stale_ref")
        await t.call("get", target=old[number], timeoutMs=0, expect="stale_ref")
    await t.unheard("press")


@case(
    "lists.nothing-moved-is-told",
    "A scroll that moves nothing MUST be action_unverified, with what was expected and what is.",
    command="scroll",
    sample={"direction": "up"},
    bundle=BUNDLE,
    screen="list",
    mutates=True,
)
async def nothing_moved_is_told(t: Trial) -> None:
    answer = await t.call("scroll", direction="up", expect="action_unverified")
    t.detail(answer, "expected", "actual")
    await t.unheard("press")


@case(
    "lists.until-ends",
    "scroll until something that is not in the list MUST end as element_not_found when its time is up, or the list is.",
    command="scroll",
    sample={"until": "No such row"},
    bundle=BUNDLE,
    screen="list",
    mutates=True,
)
async def until_ends(t: Trial) -> None:
    answer = await t.call("scroll", until='label="Row 999" role=listitem', timeoutMs=1000, expect="element_not_found")
    t.detail(answer, "nearest_matches", "on_screen")
    t.require(took(t) <= 6, f"it was told to give up after 1 s and took {took(t):.1f} s")


@case(
    "lists.reveals-what-is-named",
    "scroll until an element that exists off screen MUST bring exactly that one on screen, by query and by ref.",
    command="scroll",
    sample={"until": "Far"},
    sees="offscreen",
    bundle=BUNDLE,
    screen="tall",
    mutates=True,
)
async def reveals_what_is_named(t: Trial) -> None:
    near, far = await ref_of(t, "Near"), await ref_of(t, "Far")
    for until, shown, gone in (("label=Far role=button", "tall.far", "tall.near"), (near, "tall.near", "tall.far")):
        await t.call("scroll", until=until, direction="down" if shown == "tall.far" else "up")
        nodes = await whole(t)
        t.require("offscreen" not in states(by_id(nodes, shown)), f"{shown} must be on screen")
        t.require("offscreen" in states(by_id(nodes, gone)), f"{gone} is off screen, and must be told to be")
    t.equal(await ref_of(t, "Far"), far, "the ref of Far")
    t.require(named(nodes, "Far"), "Far must be told")
    await heard_times(t, "press", 0)
