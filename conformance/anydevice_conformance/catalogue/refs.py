"""Refs: one element each, for as long as it lives, and never another one."""

from __future__ import annotations

from collections.abc import Sequence

from anydevice.driver import TreeScope
from anydevice_schemas.practice import SCREENS

from ..case import case
from ..looking import ROOTS, Shown, heard_times, ref_of, whole
from ..trial import Trial


def known(nodes: Sequence[Shown]) -> dict[str, Shown]:
    """The nodes of the practice app by identifier; what the system shows around it stays from screen to screen."""
    ours = {element.id for screen in SCREENS.values() for element in screen.elements}
    return {node["identifier"]: node for node in nodes if node.get("identifier") in ours and node["role"] not in ROOTS}


@case(
    "refs.stay-the-same",
    "An element MUST keep its ref from look to look for as long as it lives, also when its content changes.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def stay_the_same(t: Trial) -> None:
    before = {name: node["ref"] for name, node in known(await whole(t)).items()}
    t.require({"home.count", "home.increment"} <= before.keys(), "the elements of the home screen must be told")
    await t.call("press", target=before["home.increment"])
    await t.heard("count", value=1)
    await t.call("press", target="Increment")
    await t.heard("count", value=2)
    after = {name: node["ref"] for name, node in known(await whole(t, mode="viewport")).items()}
    for name in before.keys() & after.keys():
        t.equal(after[name], before[name], f"the ref of {name}")
    t.equal(await ref_of(t, "id=home.increment"), before["home.increment"], "the ref that find gives Increment")


@case(
    "refs.re-created-is-stale",
    "The ref of an element that was re-created, however much it looks the same, MUST be stale_ref, MUST NOT press "
    "anything, and MUST name what looks like it, with a ref that works. (A device that gives its elements no identity "
    "may take what looks the same, in the same place, for the same.)",
    command="press",
    sample={"target": "Refresh"},
    screen="list",
    mutates=True,
)
async def re_created_is_stale(t: Trial) -> None:
    old = await ref_of(t, "label=Refresh role=button")
    await t.call("press", target=old, settle=True)
    await heard_times(t, "press", 1)
    answer = await t.call("press", target=old, expect=None)
    if answer.ok and not await has_identities(t):
        await heard_times(t, "press", 2)
        return
    t.equal(answer.error.code if answer.error is not None else "ok", "stale_ref", "the answer to the old ref")
    near = t.detail(answer, "ref", "reason", "nearest_matches")["nearest_matches"]
    await heard_times(t, "press", 1)
    t.require(near and near[0].get("name") == "Refresh", "what looks like the old element must be named")
    t.require(near[0]["ref"] != old, "what looks like the old element must have a ref of its own")
    await t.call("press", target=near[0]["ref"])
    await heard_times(t, "press", 2)


async def has_identities(t: Trial) -> bool:
    """Whether the device gives its elements an identity of their own."""
    driver = await t.driver()
    tree = await driver.screen.tree(TreeScope())  # type: ignore[attr-defined]
    return any(node.key is not None for node in tree.nodes if not node.root)


@case(
    "refs.of-an-earlier-screen-are-stale",
    "After the screen has changed, every ref of the screen before MUST be stale_ref; none MUST act on what took its "
    "place.",
    command="press",
    sample={"target": "Open form"},
    mutates=True,
)
async def of_an_earlier_screen_are_stale(t: Trial) -> None:
    before = known(await whole(t))
    await t.call("press", target="Open form")
    await t.heard("ready", value="form")
    for name, node in before.items():
        answer = await t.call("press", target=node["ref"], timeoutMs=0, expect="stale_ref")
        details = t.detail(answer, "ref", "reason", "nearest_matches")
        t.equal(details["ref"], node["ref"], f"the ref that is named as stale for {name}")
    await heard_times(t, "press", 1)


@case(
    "refs.reads-refuse-stale-refs",
    "A stale ref MUST be refused by what reads as well: nothing is told of an element that is gone.",
    command="get",
    sample={"target": "Open form"},
    mutates=True,
)
async def reads_refuse_stale_refs(t: Trial) -> None:
    old = await ref_of(t, "label=Increment role=button")
    for what in ("text", "attrs", "point"):
        await t.call("get", target=old, what=what)
    await t.call("press", target="Open form")
    await t.heard("ready", value="form")
    for what in ("text", "attrs", "point"):
        await t.call("get", target=old, what=what, expect="stale_ref")
    await t.call("find", query=old, expect="stale_ref")
    await t.call("snapshot", scope=old, expect="stale_ref")
    answer = await t.call("is", predicate="exists", target=old)
    t.require(answer.data["result"] is False, "an element that is gone does not exist")


@case(
    "refs.never-issued-are-refused",
    "A ref that was never issued MUST be stale_ref for every command, and MUST NOT act on anything.",
    command="press",
    sample={"target": "@e999999"},
    mutates=True,
)
async def never_issued_are_refused(t: Trial) -> None:
    await whole(t)
    await t.call("press", target="@e999999", expect="stale_ref")
    await t.call("get", target="@e999999", expect="stale_ref")
    await t.call("is", predicate="visible", target="@e999999", expect="stale_ref")
    await t.unheard()


@case(
    "refs.of-another-session-are-refused",
    "A ref MUST mean nothing outside of the session it was issued in: neither on another device nor for whoever drives "
    "the same device next.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def of_another_session_are_refused(t: Trial) -> None:
    ref = await ref_of(t, "label=Increment role=button")
    await t.call("press", on=t.other, target=ref, expect="stale_ref")
    sessions = (await t.call("session", named=False, action="list")).data["sessions"]
    mine = [session["name"] for session in sessions if session["device"] == t.device.key]
    t.equal(len(mine), 1, "sessions of this case on the device")
    await t.call("session", named=False, action="end", name=mine[0])
    await t.call("press", by=t.new_caller("next"), target=ref, expect="stale_ref")
    await t.unheard()


@case(
    "refs.are-never-used-again",
    "A ref MUST never be given to a second element within a session.",
    command="press",
    sample={"target": "Open list"},
    mutates=True,
)
async def are_never_used_again(t: Trial) -> None:
    given: dict[str, tuple[str, str]] = {}
    for screen in ("list", "form", "home"):
        for node in await whole(t):
            if node["role"] in ROOTS:
                continue
            meant = (str(node.get("identifier", "")), node["role"])
            t.equal(meant, given.setdefault(node["ref"], meant), f"what {node['ref']} means")
        await t.open(screen)
    t.require(len(given) > 20, "the screens must be told")
