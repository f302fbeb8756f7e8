"""Waiting for what comes, for what goes, and for rest: bounded, and told when it was in vain."""

from __future__ import annotations

import time
from typing import Any

from ..case import EVERY_CLASS, case
from ..looking import took
from ..trial import Trial

SLACK = 2.5
"""Seconds a wait may take beyond its own time, on a slow device too."""


@case(
    "waiting.until-a-text-shows",
    "wait with a text MUST end once the text is on screen, and MUST tell the element that says it.",
    command="wait",
    sample={"text": "Saved"},
    screen="alerts",
)
async def until_a_text_shows(t: Trial) -> None:
    await t.call("wait", text="Saved", timeoutMs=0, expect="timeout")
    await t.call("press", target="Show toast")
    answer = await t.call("wait", text="Saved", timeoutMs=8000)
    t.equal(answer.data["element"].get("identifier"), "alerts.toasted", "the element that says it")


@case(
    "waiting.until-an-element-is-there",
    "wait with a target MUST end once an element matches, and MUST tell it with a ref that works.",
    command="wait",
    sample={"target": "label=Undo role=button"},
    screen="alerts",
)
async def until_an_element_is_there(t: Trial) -> None:
    await t.call("press", target="Show toast")
    answer = await t.call("wait", target="label=Undo role=button", timeoutMs=8000)
    await t.call("press", target=answer.data["element"]["ref"])
    await t.heard("press", id="alerts.undo")


@case(
    "waiting.until-an-element-is-gone",
    "wait with absent MUST end once nothing matches any more, and not before.",
    command="wait",
    sample={"absent": "role=progressbar"},
    screen="alerts",
)
async def until_an_element_is_gone(t: Trial) -> None:
    pressed = time.monotonic()
    await t.call("press", target="Load")
    await t.call("wait", target="role=progressbar", timeoutMs=2500)
    await t.call("wait", absent="role=progressbar", timeoutMs=8000)
    lasted = time.monotonic() - pressed
    t.require(lasted >= 2.8, f"the progress bar is there for 3 s, and was told to be gone after {lasted:.1f} s")
    await t.call("find", query="role=progressbar", timeoutMs=0, expect="element_not_found")


@case(
    "waiting.until-at-rest",
    "wait for a screen at rest MUST end soon on a screen that rests.",
    command="wait",
    sample={"stable": True},
    screen="form",
)
async def until_at_rest(t: Trial) -> None:
    answer = await t.call("wait", stable=True, quietMs=300, timeoutMs=6000)
    t.require(answer.data.get("stable") is True, "it must say that the screen is at rest")
    t.require(answer.data["waitedMs"] >= 300, "it must have seen the screen at rest for as long as was asked")


@case(
    "waiting.never-at-rest-is-told",
    "A screen that never rests MUST NOT be told to rest: the wait MUST end as timeout when its time is up.",
    command="wait",
    sample={"stable": True},
    screen="busy",
)
async def never_at_rest_is_told(t: Trial) -> None:
    answer = await t.call("wait", stable=True, quietMs=400, timeoutMs=1000, expect="timeout")
    t.equal(t.detail(answer, "waiting_for")["waiting_for"], "stable", "what was waited for")
    t.require(1.0 <= took(t) <= 1.0 + SLACK, f"it was told to wait for 1 s and took {took(t):.1f} s")


@case(
    "waiting.in-vain-tells-what-is-there",
    "A wait in vain, for what does not come or for what does not go, MUST end as timeout when its time is up; the "
    "former MUST tell what is near and what is on screen.",
    command="wait",
    sample={"target": "Incremet"},
)
async def in_vain_tells_what_is_there(t: Trial) -> None:
    conditions: list[dict[str, Any]] = [{"text": "Incremet"}, {"target": "Incremet"}]
    for what in conditions:
        answer = await t.call("wait", timeoutMs=400, expect="timeout", **what)
        t.require(0.4 <= took(t) <= 0.4 + SLACK, f"it was told to wait for 0.4 s and took {took(t):.1f} s")
        details = t.detail(answer, "after", "nearest_matches", "on_screen")
        near = [entry.get("name") for entry in details["nearest_matches"]]
        t.require("Increment" in near, f"Increment is near and must be named, not {near}")
        seen = [entry.get("name") for entry in details["on_screen"]]
        t.require("Open list" in seen, f"what is on screen must be told, not {seen}")
    await t.call("wait", absent="Increment", timeoutMs=300, expect="timeout")
    t.require(0.3 <= took(t) <= 0.3 + SLACK, f"it was told to wait for 0.3 s and took {took(t):.1f} s")


@case(
    "waiting.what-is-there-already-ends-it",
    "A wait for what is there already MUST end at once.",
    command="wait",
    sample={"text": "Practice"},
)
async def what_is_there_already_ends_it(t: Trial) -> None:
    conditions: list[dict[str, Any]] = [
        {"text": "Open list"},
        {"target": "label=Increment role=button"},
        {"absent": "No such thing"},
    ]
    for what in conditions:
        await t.call("wait", timeoutMs=30_000, **what)
        t.require(took(t) <= SLACK, f"waiting for {what} took {took(t):.1f} s")


@case(
    "waiting.a-time-is-kept",
    "wait with a duration MUST take that long, and MUST say how long it took.",
    command="wait",
    sample={"durationMs": 300},
)
async def a_time_is_kept(t: Trial) -> None:
    answer = await t.call("wait", durationMs=300)
    t.require(0.3 <= took(t) <= 0.3 + SLACK, f"it was told to take 0.3 s and took {took(t):.1f} s")
    t.require(300 <= answer.data["waitedMs"] <= 300 + SLACK * 1000, "it must say how long it took")


@case(
    "waiting.until-an-app-is-gone-and-until-it-runs",
    "wait and is MUST tell an app that was closed from one that runs: a wait for its end is over once it was closed, "
    "and one for it to run once it was opened again.",
    command="wait",
    sample={"app": "x"},
    needs=("apps.close", "apps.open"),
    bundle="apps",
    classes=EVERY_CLASS - {"browser"},
    mutates=True,
)
async def until_an_app_is_gone(t: Trial) -> None:
    app = t.manifest.practice.app
    running = await t.call("is", predicate="running", app=app)
    t.require(running.data["result"] is True, "the app in front must be told to run")
    await t.call("wait", appGone=app, timeoutMs=300, expect="timeout")
    await t.call("close", app=app)
    await t.call("wait", appGone=app, timeoutMs=8000)
    gone = await t.call("is", predicate="gone", app=app)
    t.require(gone.data["result"] is True, "an app that was closed must be told to be gone")
    await t.call("wait", app=app, timeoutMs=300, expect="timeout")
    await t.open("home")
    await t.call("wait", app=app, timeoutMs=8000)
