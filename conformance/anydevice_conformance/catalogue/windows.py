"""Windows of a desktop: told as they are, placed where they were asked to be, and gone once they are closed."""

from __future__ import annotations

from typing import Any

import anyio

from anydevice.driver import TreeScope
from anydevice_schemas import Point, Rect

from ..case import case
from ..looking import holds, only, whole
from ..trial import HEARD_WITHIN, Trial

BUNDLE = "windows"
PLAY = 2.0
"""Points by which a place may differ."""
DESKTOP = frozenset({"desktop"})
AT = (40.0, 60.0)
"""Where a window is moved to."""


async def window(t: Trial) -> dict[str, Any]:
    """The practice app's window: the active one. A window manager may take a moment to give it the keyboard."""
    active: list[dict[str, Any]] = []
    with anyio.move_on_after(HEARD_WITHIN):
        while not active:
            rows = (await t.call("window")).data["windows"]
            active = [row for row in rows if "active" in row["states"]]
            await anyio.sleep(0.05)
    t.equal(len(active), 1, "active windows")
    return active[0]


async def place(t: Trial, id: str) -> Rect:
    """Where a window is, in points."""
    rows = (await t.call("window", window=id)).data["windows"]
    t.equal([row["id"] for row in rows], [id], "windows of one id")
    return Rect(*rows[0]["rect"])


async def corner(t: Trial) -> tuple[float, float]:
    """Where an element of the app is, as reading the screen tells it."""
    x, y, _, _ = (await only(t, "id=home.increment"))["rect"]
    return x, y


def near(t: Trial, actual: float, expected: float, what: str) -> None:
    t.require(abs(actual - expected) <= PLAY, f"{what}: expected {expected:g}, got {actual:g}")


@case(
    "windows.the-apps-window-is-told",
    "The list of windows MUST hold the window of the app in front once, as active, under the title the app has, around "
    "what is in it.",
    command="window",
    bundle=BUNDLE,
    classes=DESKTOP,
)
async def is_told(t: Trial) -> None:
    row = await window(t)
    title = (await t.call("appstate")).data["title"]
    t.equal(row["title"], title, "title of the active window")
    t.require(row["app"], "the window must name its app")
    rect = Rect(*row["rect"])
    x, y, width, height = (await only(t, "id=home.increment"))["rect"]
    inside = rect.x - PLAY <= x and rect.y - PLAY <= y and x + width <= rect.x + rect.width + PLAY
    t.require(inside and y + height <= rect.y + rect.height + PLAY, "an element of the app lies outside of its window")


@case(
    "windows.moved-with-what-is-in-it",
    "A window MUST be where it was moved to, and what is in it with it: elements are told there, and a press arrives.",
    command="window",
    sample={"action": "move", "x": 1, "y": 1},
    bundle=BUNDLE,
    classes=DESKTOP,
    mutates=True,
)
async def moved(t: Trial) -> None:
    id = (await window(t))["id"]
    before, at = await place(t, id), await corner(t)
    answer = await t.call("window", action="move", window=id, x=AT[0], y=AT[1])
    t.require(answer.verified is True, "a move that was read back must be verified")
    now, then = await place(t, id), await corner(t)
    for word, way in (("x", 0), ("y", 1)):
        near(t, getattr(now, word), AT[way], f"{word} of the window")
        moved_by = getattr(now, word) - getattr(before, word)
        near(t, then[way] - at[way], moved_by, f"how far an element went, {word}")
    await t.first_press()


@case(
    "windows.resized-as-asked",
    "A window MUST have the size it was given, and a picture of it that size.",
    command="window",
    sample={"action": "resize", "width": 1, "height": 1},
    needs=("screen.image",),
    bundle=BUNDLE,
    classes=DESKTOP,
    mutates=True,
)
async def resized(t: Trial) -> None:
    id = (await window(t))["id"]
    await t.call("window", action="move", window=id, x=AT[0], y=AT[1])
    await t.call("window", action="resize", window=id, width=640, height=520)
    now = await place(t, id)
    near(t, now.width, 640, "width of the window")
    near(t, now.height, 520, "height of the window")
    answer = await t.call("screenshot", window=id)
    near(t, answer.data["width"] / answer.data["scale"], 640, "width of the picture, in points")
    near(t, answer.data["height"] / answer.data["scale"], 520, "height of the picture, in points")


@case(
    "windows.minimized-and-brought-back",
    "A minimized window MUST be off the screen: nothing in it is visible and no picture of it is taken; brought back, "
    "it takes input again.",
    command="window",
    sample={"action": "minimize"},
    needs=("windows.unminimize", "screen.image"),
    bundle=BUNDLE,
    classes=DESKTOP,
    mutates=True,
)
async def minimized(t: Trial) -> None:
    id = (await window(t))["id"]
    await t.call("window", action="minimize", window=id)
    rows = (await t.call("window", window=id)).data["windows"]
    t.require("minimized" in rows[0]["states"], "it must be told to be minimized")
    t.require(not await holds(t, "visible", "Increment"), "an element of a minimized window is told to be visible")
    await t.call("screenshot", window=id, expect="element_offscreen")
    await t.call("window", action="unminimize", window=id)
    t.require(await holds(t, "visible", "Increment"), "an element of the window is not visible after it came back")
    await t.first_press()


@case(
    "windows.maximized-and-back",
    "A maximized window MUST be told as that and be no smaller than before; taken back, it MUST be where it was.",
    command="window",
    sample={"action": "maximize"},
    needs=("windows.unmaximize",),
    bundle=BUNDLE,
    classes=DESKTOP,
    mutates=True,
)
async def maximized(t: Trial) -> None:
    id = (await window(t))["id"]
    await t.call("window", action="resize", window=id, width=640, height=520)
    await t.call("window", action="move", window=id, x=AT[0], y=AT[1])
    before, at = await place(t, id), await corner(t)
    answer = await t.call("window", action="maximize", window=id)
    t.require("maximized" in answer.data["window"]["states"], "it must be told to be maximized")
    large = await place(t, id)
    t.require(large.width > before.width and large.height > before.height, "it must have grown")
    await t.call("window", action="unmaximize", window=id)
    now, then = await place(t, id), await corner(t)
    for word in ("x", "y", "width", "height"):
        near(t, getattr(now, word), getattr(before, word), f"{word} of the window")
    t.require(abs(at[0] - then[0]) <= PLAY and abs(at[1] - then[1]) <= PLAY, "its elements are not where they were")
    await t.first_press()


@case(
    "windows.raised-takes-the-keyboard",
    "A window that was raised MUST be active, also when it was minimized, and keys MUST go to it.",
    command="window",
    sample={"action": "raise"},
    needs=("windows.minimize", "keys.press"),
    bundle=BUNDLE,
    classes=DESKTOP,
    screen="echo",
    mutates=True,
)
async def raised(t: Trial) -> None:
    id = (await window(t))["id"]
    await t.call("window", action="minimize", window=id)
    answer = await t.call("window", action="raise", window=id)
    t.require({"active", "minimized"} & set(answer.data["window"]["states"]) == {"active"}, "it must be active")
    await t.call("key", chord="f6")
    await t.heard("key", value="f6")


@case(
    "windows.closed-is-gone",
    "A window that was closed MUST be gone: it is not listed, is told as not open, and nothing of it is on screen.",
    command="window",
    sample={"action": "close"},
    bundle=BUNDLE,
    classes=DESKTOP,
    mutates=True,
)
async def closed(t: Trial) -> None:
    id = (await window(t))["id"]
    answer = await t.call("window", action="close", window=id)
    t.require(answer.verified is True and answer.data.get("closed") is True, "it must be told to be closed")
    t.equal((await t.call("window", window=id)).data["windows"], [], "windows of its id")
    t.require(not (await t.call("is", predicate="open", window=id)).data["result"], "it is told to be open")
    await t.call("window", action="raise", window=id, expect="app_not_found")
    found = await t.call("find", query="id=home.increment", timeoutMs=0, expect=None)
    t.require(not found.ok, "an element of it is still told to be on screen")


@case(
    "windows.one-that-is-not-there-is-told",
    "A window that is not there MUST be app_not_found with the nearest that are, and nothing MUST happen to another.",
    command="window",
    sample={"action": "move", "x": 1, "y": 1},
    bundle=BUNDLE,
    classes=DESKTOP,
)
async def not_there(t: Trial) -> None:
    row = await window(t)
    before = await place(t, row["id"])
    answer = await t.call("window", action="move", window="No such window 7", x=1, y=1, expect="app_not_found")
    t.require(row["title"] in t.detail(answer, "nearest_matches")["nearest_matches"], "the nearest must be told")
    driver = await t.driver()
    try:
        await driver.windows.move("no such id", Point(before.x + 30, before.y + 30))  # type: ignore[attr-defined]
    except Exception as error:
        t.equal(getattr(error, "code", type(error).__name__), "app_not_found", "what the driver says of an unknown id")
    else:
        t.require(False, "the driver moved a window of an id that nobody has")
    t.equal(await place(t, row["id"]), before, "place of the window that was not meant")


@case(
    "windows.read-one-by-one",
    "A snapshot of a window MUST hold what is in it, one of the whole desktop MUST hold it as well, and a window that "
    "is not there MUST NOT be read as another.",
    command="snapshot",
    sample={"surface": "window"},
    bundle=BUNDLE,
    classes=DESKTOP,
)
async def read(t: Trial) -> None:
    row = await window(t)
    for asked in ({"window": row["id"]}, {"surface": "window"}, {"surface": "desktop"}):
        nodes = await whole(t, **asked)
        found = [node for node in nodes if node.get("identifier") == "home.increment"]
        t.equal(len(found), 1, f"how often Increment is in a snapshot of {asked}")
        t.equal(found[0].get("window"), row["title"], "the window its node names")
    driver = await t.driver()
    try:
        tree = await driver.screen.tree(TreeScope(mode="full", window="no such id"))  # type: ignore[attr-defined]
    except Exception as error:
        t.equal(getattr(error, "code", type(error).__name__), "app_not_found", "what the driver says of an unknown id")
    else:
        t.equal([node.identifier for node in tree.nodes], "a refusal", "what an unknown window holds")
