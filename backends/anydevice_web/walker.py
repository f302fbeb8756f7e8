"""Reading a page: every document walked where it lives, then put together in points of the page."""

from __future__ import annotations

from typing import Any

import anyio

from anydevice.driver import Geometry, TreeScope
from anydevice_schemas import Point, Rect, Tree
from anydevice_schemas.errors import AnydeviceError, CallTimeout

from .cdp import Gone, ProtocolError
from .frames import Frame, WorldLost, decode, split_key, stale
from .page import Page
from .snapshot import Builder, Part, Placement

WALK_DEADLINE = 10.0
"""Seconds a page may take to be walked."""
FRAME_DEADLINE = 3.0
"""Seconds a frame may take; a frozen one is left out and the tree says so."""
TRIES = 4
"""How often a page that is replaced while it is read is read again."""


async def read_tree(page: Page, scope: TreeScope) -> Tree:
    """All nodes of a page within `scope`.

    `Tree.omitted` may also hold `frames` (frames that did not answer) and `unread` (elements beyond what one
    walk looks at).

    Raises:
        StaleRef: `scope.root` is gone.
        CallTimeout: The page is busy and did not answer.
        AnydeviceError: As `Page.guard`.
    """
    options: dict[str, Any] = {
        "mode": scope.mode, "nodes": scope.max_nodes, "depth": scope.max_depth, "text": scope.max_text, "root": 0,
    }  # fmt: skip
    placement, frame = Placement(), page.main
    if scope.root is None:
        packed = decode(await ask_main(page, "walk", options))
    else:
        frame, document, options["root"] = locate(page, scope.root)
        placement = await place(frame)
        packed = decode(await frame.ask("walk", options, document=document, deadline=WALK_DEADLINE))
        if "stale" in packed:
            raise stale(scope.root, packed["stale"])
        options["root"] = 0
    part = Part(_document(frame), packed)
    missing = await _read_inside(frame, part, options)
    builder = Builder(scope.max_nodes, scope.mode == "viewport")
    builder.add(part, -1, placement, skip_root=False)
    omitted = builder.omitted
    if missing:
        omitted["frames"] = missing
    cut = omitted.keys() & {"nodes", "depth", "text", "unread"}
    own = frame is page.main
    view = packed["view"] if own else (await ask_main(page, "page"))["view"]
    return Tree(
        nodes=builder.nodes,
        generation=_document(page.main),
        quality="degraded" if missing else "truncated" if cut else "complete",
        viewport=Rect(0, 0, view[0], view[1]),
        title=packed["title"] if own else page.tab.title,
        location=packed["url"] if own else page.tab.url,
        app=page.tab.id,
        omitted=omitted,
    )


async def read_geometry(page: Page) -> Geometry:
    """Size, scale and scroll position of a page. Raises as `ask_main`."""
    view = (await ask_main(page, "page"))["view"]
    return Geometry(
        viewport=Rect(0, 0, view[0], view[1]),
        scale=view[6],
        content=Rect(-view[2], -view[3], view[4], view[5]),
    )


async def ask_main(page: Page, method: str, options: Any = None, *, deadline: float = WALK_DEADLINE) -> Any:
    """Asks whatever document the page shows now; again when it is replaced meanwhile.

    Raises:
        CallTimeout: It did not answer, or was replaced faster than it could be read.
        AnydeviceError: As `Page.guard`.
    """
    for _ in range(TRIES):
        try:
            return await page.main.ask(method, options, deadline=deadline)
        except WorldLost:
            page.guard()
            await page.change(0.25)
    raise CallTimeout("The page is being replaced faster than it can be read.", after=deadline, waiting_for="page")


def locate(page: Page, key: str) -> tuple[Frame, str, int]:
    """The frame, document and number a key names, without asking the page.

    Raises:
        StaleRef: The document is gone, or is shown in another tab.
    """
    document, number = split_key(key)
    frame = page.documents.get(document)
    if frame is None:
        page.guard()
        if page.browser.elsewhere(document) is not None:
            raise stale(key, "it is in another tab")
        raise stale(key, "the page or frame it was on is gone")
    return frame, document, number


async def frame_at(page: Page, point: Point) -> Frame | None:
    """The innermost frame of another world that shows at a point, seen drawn; None where it is the page's own.

    A frame of another process that was not drawn yet is given no input by the browser, so it is waited for.
    """
    if len(page.frames) < 2 and not page.foreign:
        return None
    frame: Frame | None = None
    found = await ask_main(page, "frameAt", {"x": point.x, "y": point.y}, deadline=FRAME_DEADLINE)
    try:
        while found is not None:
            inner = await (frame or page.main).inner(found["frame"])
            if inner is None:
                break
            frame = inner
            found = await inner.ask("frameAt", {"x": found["x"], "y": found["y"]}, deadline=FRAME_DEADLINE)
        if frame is not None and frame.world is not None and not frame.world.drawn:
            await frame.ask("drawn", deadline=FRAME_DEADLINE)
            await ask_main(page, "drawn", deadline=FRAME_DEADLINE)
            frame.world.drawn = True
    except (WorldLost, Gone, ProtocolError):
        return None  # it is being replaced; nobody can say what is there
    return frame


async def place(frame: Frame) -> Placement:
    """How points of a frame's document map to points of the page, and what of it shows.

    Raises:
        StaleRef: A frame around it is gone.
    """
    if frame.parent is None:
        return Placement()
    outer = await place(frame.parent)
    view = await frame.parent.ask(
        "frameView", {"n": frame.owner}, document=_document(frame.parent), deadline=FRAME_DEADLINE
    )
    if "stale" in view:
        raise stale(frame.id, view["stale"])
    return outer.inside(view["x"], view["y"], view["sx"], view["sy"], view["shown"])


async def _read_inside(frame: Frame, part: Part, options: dict[str, Any]) -> int:
    """Walks the frames inside a part, all at once; returns how many could not be read."""
    missing = 0
    trouble: list[AnydeviceError] = []

    async def one(entry: list[Any]) -> None:
        nonlocal missing
        number, depth = entry[1], entry[2]
        try:
            inner = await frame.inner(number)
            if inner is None:
                missing += 1
                return
            remaining = {**options, "nested": True, "depth": max(options["depth"] - depth, 0)}
            packed = decode(await inner.ask("walk", remaining, deadline=FRAME_DEADLINE))
            child = part.inner[number] = Part(_document(inner), packed)
            missing += await _read_inside(inner, child, {**options, "depth": remaining["depth"]})
        except (WorldLost, Gone, ProtocolError, CallTimeout):
            missing += 1
        except AnydeviceError as error:  # a dialog or a crash concerns the whole page
            trouble.append(error)

    entries = part.packed["frames"]
    if len(entries) == 1:
        await one(entries[0])
    elif entries:
        async with anyio.create_task_group() as group:
            for entry in entries:
                group.start_soon(one, entry)
    if trouble:
        raise trouble[0]
    return missing


def _document(frame: Frame) -> str:
    return frame.world.document if frame.world is not None else ""
