"""Logs: from a moment on, marks in their places, page by page, of the app that was named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio

from anydevice_schemas import Answer

from ..case import Trying, case
from ..trial import HEARD_WITHIN, Trial

PRESSED = "practice press home.increment"
LIST, FORM = "practice press home.list", "practice press home.form"


def _case(name: str, must: str) -> Callable[[Trying], Trying]:
    return case(f"logs.{name}", must, command="logs", sample={"action": "start"}, bundle="logs", mutates=True)


def lines_of(answer: Answer) -> list[str]:
    """The lines of a log that are the practice app's own, and the marks, without what stands before them."""
    out = []
    for line in str(answer.data.get("text", "")).splitlines():
        if line.startswith(">>> "):
            out.append(">>> " + line.partition(" ")[2].partition(" ")[2])
        elif "practice " in line:
            out.append("practice " + line.rpartition("practice ")[2].strip())
    return out


async def until(t: Trial, line: str, **arguments: Any) -> list[str]:
    """The lines of a log once it has a line: what an app writes may be on its way for a moment."""
    lines: list[str] = []
    with anyio.move_on_after(HEARD_WITHIN):
        while line not in lines:
            lines = lines_of(await t.call("logs", action="read", **arguments))
            await anyio.sleep(0.05)
    t.require(line in lines, f"the app wrote {line!r}, and the log has {str(lines[-3:])[:200]}")
    return lines


async def pressed(t: Trial, target: str, element: str) -> None:
    """Presses a button, and waits until the app has told of it."""
    await t.call("press", target=target)
    await t.heard("press", id=element)


@_case(
    "only-what-came-since",
    "Reading MUST give what was written since start, and nothing from before it or of another device.",
)
async def since_start(t: Trial) -> None:
    await pressed(t, "Increment", "home.increment")
    await until(t, PRESSED)
    await t.call("logs", action="start")
    other = t.new_caller("beside")
    await t.open("home", on=t.other, by=other)
    await t.call("press", on=t.other, by=other, target="Open form")
    await t.heard("press", id="home.form", on=t.other)
    await pressed(t, "Open list", "home.list")
    lines = await until(t, LIST)
    t.require(PRESSED not in lines, "what was written before the start is in it")
    t.require(FORM not in lines, "what another device wrote is in it")
    t.equal(lines.count(LIST), 1, "how often the line is in it")


@_case("marks-stand-where-they-were-put", "A mark MUST stand between what was written before it and after it.")
async def marks(t: Trial) -> None:
    await t.call("logs", action="start")
    await pressed(t, "Increment", "home.increment")
    await until(t, PRESSED)
    await t.call("logs", action="mark", text="halfway")
    await pressed(t, "Open list", "home.list")
    lines = await until(t, LIST)
    t.require(">>> halfway" in lines, f"the mark is not in it: {lines}")
    there = [lines.index(one) for one in (PRESSED, ">>> halfway", LIST)]
    t.require(there == sorted(there), f"the mark is out of its place: {lines}")


@_case("clear-begins-anew-and-deletes-nothing", "clear MUST hide what came before, and delete nothing on the device.")
async def clear(t: Trial) -> None:
    await t.call("logs", action="start")
    await pressed(t, "Increment", "home.increment")
    await until(t, PRESSED)
    await t.call("logs", action="clear")
    t.require(PRESSED not in lines_of(await t.call("logs", action="read")), "what came before is still shown")
    await t.call("logs", action="stop")
    await until(t, PRESSED)


@_case("pages-join-without-a-gap", "Read page by page, a log MUST lose no line and tell none twice.")
async def pages(t: Trial) -> None:
    await t.call("logs", action="start")
    for _ in range(3):
        await t.call("press", target="Increment")
    await t.heard("count", value=3)
    await pressed(t, "Open list", "home.list")
    whole = await until(t, LIST)
    page = await t.call("logs", action="read", limit=1)
    joined = lines_of(page)
    for _ in range(200):
        if not page.data.get("more"):
            break
        page = await t.call("logs", action="read", limit=1, after=page.data["next"])
        joined += lines_of(page)
    t.equal(joined[: len(whole)], whole, "the pages, put together")


@_case("an-unknown-app-is-refused", "The log of an app that is not there MUST be refused as app_not_found.")
async def unknown_app(t: Trial) -> None:
    for action in ("read", "start"):
        answer = await t.call("logs", action=action, app="dev.anydevice.no-such-app", expect="app_not_found")
        t.detail(answer, "nearest_matches")
    await t.call("logs", action="start", app=t.manifest.practice.app)
    await pressed(t, "Increment", "home.increment")
    await until(t, PRESSED)
