"""Two browsers at once: every command changes the one that was named, never the other, and says which one acted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import anydevice_web
from anydevice.commands import all_commands
from anydevice_schemas import Manifest, Plan

from ..support.daemons import Home
from .conftest import caller
from .doors import Door
from .processes import browsers, needs_proc
from .witness import Witness

pytestmark = [pytest.mark.daemon, pytest.mark.chromium]

ONE, TWO = "chromium", "chromium:second"
BOTH = (ONE, TWO)
BROWSER = Manifest.from_toml((Path(anydevice_web.__file__).parent / "backend.toml").read_text("utf-8"))
State = Callable[[dict[str, Any]], Any]


def other(device: str) -> str:
    """The browser that is not meant."""
    return TWO if device == ONE else ONE


@dataclass
class Pair:
    """Two browsers with the practice page, each under a tag of its own, and the caller who opened them."""

    door: Door
    witness: Witness
    tags: dict[str, str]

    def open(self, device: str) -> None:
        """The practice page, fresh, in one of them."""
        self.door.do("open", url=self.witness.url(self.tags[device]), device=device, eventUrlTemplate="p://x?{event}")

    def look(self, device: str) -> tuple[Any, list[tuple[str, Any]]]:
        """Everything the page in a browser says of itself, and all it has told."""
        return self.witness.state(self.tags[device]), self.witness.told(self.tags[device])


@pytest.fixture(scope="module")
def agent(module_home: Home) -> Iterator[Door]:
    with caller(module_home, "mcp") as door:
        said = door.do("browser-profile", action="add", name="second")
        assert said.data["device"] == TWO
        for device in BOTH:
            door.do("boot", device=device)
        yield door


@pytest.fixture
def pair(agent: Door, witness: Witness, tag: str) -> Pair:
    made = Pair(agent, witness, {ONE: f"{tag}-one", TWO: f"{tag}-two"})
    for device in BOTH:
        made.open(device)
    return made


def field(name: str) -> State:
    """What a field of the page holds."""
    return lambda state: state["fields"][name]


PRESS: dict[str, Any] = {"command": "press", "arguments": {"target": "Increment"}}
MUTATING: dict[str, tuple[list[tuple[str, dict[str, Any]]], State, Any]] = {
    "press": ([("press", {"target": "Increment"})], lambda s: s["count"], 1),
    "press-toggle": ([("press", {"target": "Wi-Fi"})], field("wifi"), True),
    "longpress": ([("longpress", {"target": "Increment", "durationMs": 120})], lambda s: s["count"], 1),
    "fill": ([("fill", {"target": "Name", "text": "Ada"})], field("name"), "Ada"),
    "type": ([("type", {"target": "Mail", "text": "a@b"})], field("mail"), "a@b"),
    "key": ([("press", {"target": "Echo"}), ("key", {"chord": "z"})], field("echo"), "z"),
    "hover": ([("hover", {"target": "Hover me"})], lambda s: s["tip"], True),
    "scroll": ([("scroll", {"direction": "down", "pixels": 200})], lambda s: s["scroll"], [0, 200]),
    "scroll-until": ([("scroll", {"until": "Row 45"})], lambda s: s["scroll"][1] > 0, True),
    "gesture": (
        [("gesture", {"kind": "drag", "target": "Pad", "direction": "right", "distance": 90})],
        lambda s: s["touched"]["pointerdown"], 1,
    ),
    "swipe": (
        [("gesture", {"kind": "swipe", "target": "Pad", "direction": "left", "distance": 90})],
        lambda s: s["touched"]["touchstart"], 1,
    ),
    "focus": ([("focus", {"target": "Name"})], lambda s: s["focus"], "name"),
    "alert": ([("press", {"target": "Confirm me"}), ("alert", {"action": "accept"})], lambda s: s["focus"], "confirm"),
    "batch": ([("batch", {"steps": [PRESS] * 2})], lambda s: s["count"], 2),
    "command-run": ([("command-run", {"name": "press", "arguments": PRESS["arguments"]})], lambda s: s["count"], 1),
}  # fmt: skip


def test_no_command_that_changes_a_device_is_forgotten_here() -> None:
    tried = {command for steps, _, _ in MUTATING.values() for command, _ in steps}
    tried |= {"open", "back", "close", "trigger-app-event", "boot", "shutdown"}  # below, each in a test of its own
    changing = [s.command for s in all_commands() if s.command.effect != "read" and s.command.scope == "device"]
    there = {command.name for command in changing if not command.plans or any(map(carried, command.plans))}
    assert there - tried == set()


def carried(plan: Plan) -> bool:
    """Whether a browser has everything that a plan needs."""
    return set(plan.operations) <= BROWSER.operations.keys()


@pytest.mark.parametrize("device", BOTH)
@pytest.mark.parametrize("row", MUTATING)
def test_a_command_changes_the_page_of_the_browser_it_names_and_not_the_others(
    pair: Pair, row: str, device: str
) -> None:
    steps, wanted, expected = MUTATING[row]
    untouched = pair.look(other(device))
    for command, arguments in steps:
        if command == "command-run":
            inner = {**arguments["arguments"], "device": device}
            said = pair.door.do(command, name=arguments["name"], arguments=inner)
        else:
            said = pair.door.do(command, **arguments, device=device)
        acted = [step["device"] for step in said.data["results"]] if command == "batch" else [said.device]
        assert set(acted) == {f"web:{device}"}
    assert wanted(pair.witness.state(pair.tags[device])) == expected
    assert pair.look(other(device)) == untouched


@pytest.mark.parametrize("device", BOTH)
def test_events_navigation_and_closing_stay_in_the_browser_they_are_for(pair: Pair, device: str) -> None:
    mine = pair.tags[device]
    untouched = pair.look(other(device))
    assert pair.door.do("trigger-app-event", event="seed.now", device=device).device == f"web:{device}"
    assert len(pair.witness.all(mine, "event")) == 1
    said = pair.door.do("open", url=pair.witness.url(mine, "/second"), device=device)
    assert said.device == f"web:{device}"
    pair.witness.wait(mine, "second")
    assert pair.door.do("back", device=device).device == f"web:{device}"
    assert pair.witness.state(mine)["url"] == f"/?{mine}"
    assert pair.door.do("close", device=device).device == f"web:{device}"
    pair.witness.no_page(mine)
    assert pair.look(other(device)) == untouched


@needs_proc
def test_shutting_one_down_leaves_the_other_running(pair: Pair, module_home: Home) -> None:
    untouched = pair.look(TWO)
    assert len(browsers(module_home.pid)) == 2
    pair.door.do("shutdown", device=ONE)
    (left,) = browsers(module_home.pid)
    assert f"--anydevice-id={TWO}" in left.line
    assert pair.look(TWO) == untouched
    refused = pair.door.refused("device_not_ready", "press", target="Increment", device=ONE)
    assert refused.device in (f"web:{ONE}", None)
    assert pair.door.do("boot", device=ONE).device == f"web:{ONE}"
    assert pair.look(TWO) == untouched


def test_without_a_name_nothing_is_chosen_and_every_suggestion_names_one(pair: Pair) -> None:
    before = {device: pair.look(device) for device in BOTH}
    said = pair.door.refused("ambiguous_device", "press", target="Increment")
    assert {device: pair.look(device) for device in BOTH} == before
    pins = [candidate["selectors"] for candidate in said.details["candidates"]]
    assert [pair.door.do("press", target="Increment", **pin).device for pin in pins] == [f"web:{ONE}", f"web:{TWO}"]
    assert [pair.witness.state(pair.tags[device])["count"] for device in BOTH] == [1, 1]


@pytest.mark.parametrize("way", ["id", "key", "folded", "name", "session"])
def test_every_way_to_name_a_browser_reaches_that_one(pair: Pair, way: str) -> None:
    rows = {row["id"]: row for row in pair.door.do("devices", platform="web").data["devices"]}
    for device in BOTH:
        selectors = {
            "id": {"device": device},
            "key": {"device": f"web:{device}"},
            "folded": {"device": device.upper()},
            "name": {"device": rows[device]["name"]},
            "session": {"session": pair.door.do("appstate", device=device).session},
        }[way]
        said = pair.door.do("press", target="Increment", **selectors)
        assert said.device == f"web:{device}"
    assert [pair.witness.state(pair.tags[device])["count"] for device in BOTH] == [1, 1]


def test_refs_of_one_browser_mean_nothing_in_the_other(pair: Pair, tag: str) -> None:
    # Numbers count anew in every session, so both begin at @e1 here; only the first gets far enough for `mine`.
    sessions = {device: f"{tag}-{number}" for number, device in enumerate(BOTH)}
    for device in BOTH:
        pair.door.do("close", device=device)
        pair.door.do("open", url=pair.witness.url(pair.tags[device]), device=device, session=sessions[device])
    try:
        theirs = pair.door.do("find", query="id=increment", session=sessions[TWO]).data["matches"][0]["ref"]
        pair.door.do("find", query="id=increment", session=sessions[ONE])
        pair.door.do("press", target="Renew", session=sessions[ONE])
        mine = pair.door.do("find", query="id=new", session=sessions[ONE]).data["matches"][0]["ref"]
        untouched = pair.look(TWO)
        refused = pair.door.refused("stale_ref", "press", target=mine, session=sessions[TWO])
        assert refused.device == f"web:{TWO}"
        assert pair.look(TWO) == untouched
        pair.door.do("press", target=theirs, session=sessions[TWO])
        assert [pair.witness.state(pair.tags[device])["count"] for device in BOTH] == [0, 1]
    finally:
        for session in sessions.values():
            pair.door.do("close", session=session)


def test_two_clients_at_once_each_drive_their_own(pair: Pair, module_home: Home) -> None:
    pair.door.do("close", device=TWO)
    with caller(module_home, "python", "elsewhere") as second:
        second.do("open", url=pair.witness.url(pair.tags[TWO]), device=TWO)
        callers = {ONE: pair.door, TWO: second}
        acted: dict[str, list[Any]] = {ONE: [], TWO: []}
        together = threading.Barrier(2)

        def drive(device: str) -> None:
            together.wait(30)
            for number in range(8):
                acted[device].append(callers[device].call("press", target="Increment").device)
                acted[device].append(callers[device].call("fill", target="Name", text=f"{device} {number}").device)

        threads = [threading.Thread(target=drive, args=(device,)) for device in BOTH]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert acted == {device: [f"web:{device}"] * 16 for device in BOTH}
        for device in BOTH:
            state, told = pair.look(device)
            assert (state["count"], state["fields"]["name"]) == (8, f"{device} 7")
            assert [more for what, more in told if what == "count"] == list(range(1, 9))
        held = second.refused("lease_held", "press", target="Increment", device=ONE)
        assert held.details["expires"]
        assert pair.witness.state(pair.tags[ONE])["count"] == 8


def test_one_client_may_drive_both_at_once(pair: Pair) -> None:
    """Calls of one connection to two devices run beside one another, and each answer is its own device's."""
    import anyio

    agent = pair.door
    answers: list[tuple[str, str]] = []

    async def drive(device: str) -> None:
        for _ in range(10):
            result = await agent.client.call_tool("press", {"target": "Increment", "device": device})  # type: ignore[attr-defined]
            answers.append((f"web:{device}", result.structured_content["device"]))

    async def both() -> None:
        async with anyio.create_task_group() as group:
            for device in BOTH:
                group.start_soon(drive, device)

    agent.portal.call(both)  # type: ignore[attr-defined]
    assert len(answers) == 20 and all(asked == acted for asked, acted in answers)
    assert [pair.witness.state(pair.tags[device])["count"] for device in BOTH] == [10, 10]
