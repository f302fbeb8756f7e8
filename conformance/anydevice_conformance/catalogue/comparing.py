"""Comparing the screen with an earlier snapshot: what changed, came and went, since which one, every cut told."""

from __future__ import annotations

from typing import Any

from ..case import case
from ..looking import by_id, told_cut
from ..trial import Trial


def _said(node: dict[str, Any]) -> str:
    """What an element says, wherever its platform puts it."""
    return f"{node.get('name') or ''} {node.get('value') or ''}"


async def _counted(t: Trial, number: int) -> None:
    await t.call("press", target="Increment")
    await t.heard("count", value=number)


@case(
    "comparing.what-changed-is-told",
    "After a press that changes an element, diff MUST tell that element by its ref as changed, with what it was, "
    "and MUST say since which snapshot.",
    command="diff",
    needs=("screen.tree",),
    mutates=True,
)
async def what_changed_is_told(t: Trial) -> None:
    before = (await t.call("snapshot")).data
    await _counted(t, 1)
    data = (await t.call("diff", responseLevel="full")).data
    t.equal(data["changed"], True, "whether anything changed")
    t.equal(data["baseline"]["id"], before["id"], "the snapshot it was compared with")
    count = by_id(data["altered"], "home.count")
    t.require("0" in _said(count["was"]), f"the count was 0, and is told as {_said(count['was'])[:60]!r}")
    t.require("1" in _said(dict(count)), f"the count is 1, and is told as {_said(dict(count))[:60]!r}")
    t.require(any(count["ref"] in line for line in data["changes"]), "no line of changes names the ref of the count")


@case(
    "comparing.nothing-is-told-where-nothing-changed",
    "On a screen that did not change, diff MUST say that nothing changed, and tell no change.",
    command="diff",
    needs=("screen.tree",),
    mutates=True,
)
async def nothing_is_told_where_nothing_changed(t: Trial) -> None:
    await t.call("snapshot")
    data = (await t.call("diff", responseLevel="full")).data
    told = [data["changed"], data["changes"], data["appeared"], data["vanished"], data["altered"]]
    t.equal(told, [False, [], [], [], []], "what is told of a screen at rest")
    await t.unheard()


@case(
    "comparing.what-came-and-went-is-told",
    "After a change of screens, diff MUST tell what is on the new one as come and what was on the old one as gone.",
    command="diff",
    needs=("screen.tree",),
    mutates=True,
)
async def what_came_and_went_is_told(t: Trial) -> None:
    await t.call("snapshot")
    await t.call("press", target="Open form")
    await t.heard("ready", value="form")
    data = (await t.call("diff", responseLevel="full", limit=500)).data
    came = {node.get("identifier") for node in data["appeared"]}
    went = {node.get("identifier") for node in data["vanished"]}
    t.require("form.name" in came and "form.name" not in went, "the name field of the new screen must be told as come")
    t.require("home.list" in went and "home.list" not in came, "a button of the old screen must be told as gone")


@case(
    "comparing.the-named-snapshot-is-compared",
    "diff MUST compare with the snapshot that since names; without one with the latest of the session; an unknown name "
    "and a session without a snapshot MUST be refused.",
    command="diff",
    needs=("screen.tree",),
    mutates=True,
)
async def the_named_snapshot_is_compared(t: Trial) -> None:
    refused = await t.call("diff", expect="refused")
    t.equal(t.detail(refused, "reason")["reason"], "no_baseline", "why there is nothing to compare with")
    first = (await t.call("snapshot")).data["id"]
    await _counted(t, 1)
    second = (await t.call("snapshot")).data["id"]
    t.require(first != second, "two snapshots must have ids of their own")
    await _counted(t, 2)
    data = (await t.call("diff", since=first, responseLevel="full")).data
    t.equal(data["baseline"]["id"], first, "the snapshot it was compared with")
    t.require("0" in _said(by_id(data["altered"], "home.count")["was"]), "the count was 0 when the first was taken")
    again = (await t.call("diff")).data
    t.equal(again["baseline"]["id"], data["id"], "the latest snapshot, which is what the diff before saw")
    await t.call("diff", since="s-nonsense", expect="invalid_argument")


@case(
    "comparing.cuts-are-told",
    "diff MUST tell no more differences than limit allows, and MUST tell that it left some out.",
    command="diff",
    needs=("screen.tree",),
    mutates=True,
)
async def cuts_are_told(t: Trial) -> None:
    await t.call("snapshot")
    await t.call("press", target="Open form")
    await t.heard("ready", value="form")
    answer = await t.call("diff", limit=2)
    t.equal(len(answer.data["changes"]), 2, "how many differences are told")
    t.require(told_cut(answer, "differences"), "that there are more must be told")
