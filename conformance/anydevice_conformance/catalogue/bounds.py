"""Everything is bounded, and every cut is told: trees, texts, lists of matches, time."""

from __future__ import annotations

import json
import time
from typing import Any

from anydevice_schemas import Answer
from anydevice_schemas.practice import LONG_TEXT

from ..case import case
from ..trial import Trial

ANSWER_MOST = 100_000
"""Characters of an answer's data, as JSON, that no screen of the practice app may exceed."""
SLACK = 5.0
"""Seconds a call may take over the time it was given: for looking once, and for a slow device."""


def cuts(answer: Answer, word: str) -> list[str]:
    """What the answer says was cut, of one kind."""
    return [entry for entry in answer.truncated if word in entry]


def shown(answer: Answer) -> int:
    """Lines of a snapshot that are elements."""
    return sum(line.lstrip().startswith("@") for line in answer.data["text"].splitlines())


@case(
    "bounds.a-huge-text-is-cut-and-told",
    "A snapshot of a text of 10,000 characters MUST show only its beginning, and say that text was cut.",
    command="snapshot",
    screen="text",
)
async def huge_text(t: Trial) -> None:
    for level in ("default", "full"):
        answer = await t.call("snapshot", mode="full", responseLevel=level)
        t.require("xxxxxxxx" in answer.data["text"], "the long text is missing altogether")
        t.require("x" * 4_000 not in json.dumps(answer.data), f"level {level} holds the long text nearly whole")
        t.require(cuts(answer, "text"), f"text was cut at level {level} and truncated says {answer.truncated}")
        t.require(len(json.dumps(answer.data)) < ANSWER_MOST, "the answer is longer than the bound")


@case(
    "bounds.one-text-is-read-whole-or-told",
    "Get MUST answer one element's text of 10,000 characters whole, or say that it is cut.",
    command="get",
    sample={"target": "id=text.long"},
    screen="text",
)
async def one_text(t: Trial) -> None:
    for what in ("text", "attrs"):
        answer = await t.call("get", target="id=text.long", what=what)
        text = answer.data["text"] if what == "text" else answer.data["element"].get("name", "")
        t.require(set(text) <= {"x", "…"} and text, "the text is not the one on screen")
        t.require(len(text) == LONG_TEXT or answer.truncated, f"what={what} left out a part and truncated is empty")


@case(
    "bounds.a-cap-on-elements-is-kept-and-told",
    "A cap on elements MUST be kept, and what it left out MUST be told.",
    command="snapshot",
    screen="form",
)
async def node_cap(t: Trial) -> None:
    whole = await t.call("snapshot", mode="full")
    t.require(not cuts(whole, "nodes"), "nothing was capped, yet nodes are told as cut")
    answer = await t.call("snapshot", mode="full", maxNodes=5)
    t.require(1 <= answer.data["nodes"] <= 5 and shown(answer) <= 5, f"{answer.data['nodes']} elements for a cap of 5")
    t.require(cuts(answer, "nodes"), f"elements were left out and truncated says {answer.truncated}")
    t.require(answer.data["quality"] != "complete", "a capped tree is called complete")


@case(
    "bounds.a-cap-on-depth-is-kept-and-told",
    "A cap on depth MUST be kept, and that something deeper was left out MUST be told.",
    command="snapshot",
    screen="form",
)
async def depth_cap(t: Trial) -> None:
    answer = await t.call("snapshot", mode="full", maxDepth=1)
    t.require("Sign in" not in answer.data["text"], "an element is shown that is deeper than the cap")
    t.require(cuts(answer, "depth"), f"deeper elements were left out and truncated says {answer.truncated}")
    answer = await t.call("snapshot", mode="full", maxDepth=200)
    t.require("Sign in" in answer.data["text"] and not cuts(answer, "depth"), "the deepest cap cuts something")


@case(
    "bounds.a-list-of-500-rows-is-bounded",
    "A screen with a list of 500 rows MUST be answered within bounds: every element there is, or what was cut.",
    command="snapshot",
    screen="list",
)
async def long_list(t: Trial) -> None:
    for mode in ("viewport", "full"):
        answer = await t.call("snapshot", mode=mode)
        lines = [line for line in answer.data["text"].splitlines() if '"Row ' in line and "listitem" in line]
        t.require('"Row 0"' in answer.data["text"], "the first row is missing")
        t.require(len(json.dumps(answer.data)) < ANSWER_MOST, "the answer is longer than the bound")
        # What is off screen in a snapshot of what is on screen is no cut; it is said in the text.
        asked = "role=listitem" if mode == "full" else "role=listitem visible=true"
        there = (await t.call("find", query=asked)).data["count"]
        t.require(
            len(lines) >= there or answer.truncated,
            f"{there} rows are there, {len(lines)} are shown, and nothing is told as cut",
        )


@case(
    "bounds.a-limit-on-matches-is-kept-and-told",
    "Find MUST keep its limit, count what it left out, and say so.",
    command="find",
    sample={"query": "role=listitem"},
    screen="list",
)
async def match_limit(t: Trial) -> None:
    answer = await t.call("find", query="role=listitem", limit=3)
    matches, count = answer.data["matches"], answer.data["count"]
    t.equal(len(matches), 3, "matches")
    t.require(count > 3, f"{count} of the rows are counted")
    t.require(cuts(answer, f"{count - 3} matches"), f"{count - 3} matches were left out, told is {answer.truncated}")


@case(
    "bounds.a-short-answer-is-short",
    "The level digest MUST answer less than the default level, and say what it left out.",
    command="snapshot",
    screen="form",
)
async def digest(t: Trial) -> None:
    whole = await t.call("snapshot", mode="full")
    short = await t.call("snapshot", mode="full", responseLevel="digest")
    t.require(len(short.data["text"]) < len(whole.data["text"]), "the digest is no shorter")
    t.require(len(short.data["text"]) <= 2_000, f"the digest has {len(short.data['text'])} characters")


@case(
    "bounds.waiting-ends-when-it-was-told-to",
    "A call that waits MUST wait as long as it was told, no shorter and no longer.",
    command="wait",
    sample={"target": "No such thing"},
    seconds=60.0,
)
async def waiting(t: Trial) -> None:
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("wait", {"target": "No such thing"}, "timeout"),
        ("press", {"target": "No such thing"}, "element_not_found"),
        ("find", {"query": "No such thing"}, "element_not_found"),
    ]
    for command, arguments, code in calls:
        began = time.monotonic()
        await t.call(command, timeoutMs=600, expect=code, **arguments)
        took = time.monotonic() - began
        t.require(0.55 <= took <= 0.6 + SLACK, f"{command} with timeoutMs=600 took {took:.2f} s")
    await t.unheard()


@case(
    "bounds.an-argument-beyond-its-bound-is-refused",
    "An argument beyond its bound MUST be refused by name, saying what is accepted, and never cut in silence.",
    command="snapshot",
)
async def arguments(t: Trial) -> None:
    for command, given, param in (
        ("snapshot", {"maxNodes": 20_001}, "maxNodes"),
        ("snapshot", {"maxDepth": 0}, "maxDepth"),
        ("find", {"query": "x" * 2_001}, "query"),
        ("wait", {"durationMs": 600_001}, "durationMs"),
        ("press", {"target": "Increment", "count": 11}, "count"),
    ):
        answer = await t.call(command, expect="invalid_argument", **given)
        t.equal(t.detail(answer, "param", "expected")["param"], param, "the argument at fault")
    await t.unheard()
