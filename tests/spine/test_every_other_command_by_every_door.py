"""Every command that starts, ends, lists, finds or combines, by every door, judged by page and process table."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from anydevice.commands import all_commands

from ..support.daemons import Home
from .doors import Door
from .pages import DEVICE, KEY, Page
from .processes import browsers, needs_proc
from .witness import Witness

numbers = itertools.count(1)
pytestmark = [pytest.mark.daemon, pytest.mark.chromium]


def test_no_command_of_core_is_forgotten_here() -> None:
    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_every_*.py"))
    tried = set(re.findall(r'\.(?:do\(|refused\("unsupported", )"([a-z-]+)"', tests))
    assert {spec.command.name for spec in all_commands()} - tried == set()


# --- starting and ending ---


def test_devices_lists_the_browser_and_the_phones_with_selectors_that_pin_them(door: Door) -> None:
    rows = {row["id"]: row for row in door.do("devices").data["devices"]}
    assert {DEVICE, "fake-1", "fake-2"} <= rows.keys()
    assert rows[DEVICE]["class"] == "browser"
    assert [row["id"] for row in door.do("devices", platform="web").data["devices"]] == [DEVICE]
    for row in rows.values():
        assert door.do("capabilities", **row["selectors"]).data["device"]["id"] == row["id"]


@needs_proc
def test_boot_starts_the_browser_and_shutdown_leaves_no_process_of_it(
    door: Door, witness: Witness, tag: str, module_home: Home
) -> None:
    door.do("shutdown", device=DEVICE)
    assert browsers(module_home.pid) == []
    said = door.do("boot", device=DEVICE)
    assert (said.device, said.verified, said.data["state"]) == (KEY, True, "ready")
    running = browsers(module_home.pid)
    assert len(running) == 1
    assert door.do("boot", device=DEVICE).data["alreadyRunning"] is True
    assert browsers(module_home.pid) == running
    door.do("open", url=witness.url(tag), device=DEVICE)
    said = door.do("shutdown", device=DEVICE)
    assert (said.device, said.verified, said.data["state"]) == (KEY, True, "shutdown")
    assert not running[0].lives
    witness.no_page(tag)


@pytest.mark.parametrize("command", ["boot", "shutdown"])
def test_boot_and_shutdown_want_their_device_named(page: Page, command: str) -> None:
    said = page.door.refused("invalid_argument", command)
    assert "device" in said.error["message"]
    page.do("snapshot")


def test_open_says_where_it_really_ended_up(page: Page) -> None:
    said = page.do("open", url=page.witness.url(page.tag, "/second"))
    assert said.data["location"] == page.witness.url(page.tag, "/second")
    assert (said.data["title"], said.data["status"]) == ("Second page", 200)
    assert page.told("second") == [None]


def test_close_closes_the_page_and_ends_the_session(page: Page) -> None:
    said = page.do("close")
    assert (said.verified, said.data["closed"], said.data["sessionEnded"]) == (True, True, True)
    page.witness.no_page(page.tag)
    assert said.session not in [row["name"] for row in page.door.do("session").data["sessions"]]


def test_back_returns_to_the_page_before(page: Page) -> None:
    page.do("press", target="Second page")
    page.witness.wait(page.tag, "second")
    said = page.do("back")
    assert said.verified is True
    assert page.state["url"] == f"/?{page.tag}"


# --- several at once, and finding commands ---


def test_batch_stops_at_the_first_failure_and_says_what_was_done(page: Page) -> None:
    press = {"command": "press", "arguments": {"target": "Increment"}}
    said = page.door.do("batch", steps=[press, press])
    assert (said.data["executed"], [row["device"] for row in said.data["results"]]) == (2, [KEY, KEY])
    failing = {"command": "press", "arguments": {"target": "Submit"}}
    said = page.door.refused("element_disabled", "batch", steps=[press, failing, press])
    assert said.details["batch"]["executed"] == 2
    assert page.told("count") == [1, 2, 3]


def test_command_search_finds_what_command_run_then_runs(page: Page) -> None:
    found = page.door.do("command-search", words="event app").data["commands"]
    assert found[0]["name"] == "trigger-app-event"
    arguments = {"event": "seed.cart", "payload": {"items": 3}}
    said = page.do("command-run", name=found[0]["name"], arguments=arguments)
    assert said.data["acknowledged"] == "true"
    assert page.told("event")[0]["payload"] == {"items": 3}


def test_command_read_runs_what_only_looks_and_nothing_else(page: Page) -> None:
    said = page.do("command-read", name="is", arguments={"predicate": "visible", "target": "Increment"})
    assert said.data["result"] is True
    page.door.refused("refused", "command-read", name="press", arguments={"target": "Increment"})
    assert page.told("count") == []


def test_trigger_app_event_arrives_with_its_payload(page: Page) -> None:
    said = page.do("trigger-app-event", event="note.taken", payload={"a": [1, "é"]})
    assert (said.data["event"], said.data["transport"], said.data["acknowledged"]) == (
        "note.taken",
        "deep-link",
        "false",
    )
    assert page.told("event") == [{"name": "note.taken", "payload": {"a": [1, "é"]}, "url": said.data["eventUrl"]}]


def test_session_lists_and_ends_what_the_caller_has(page: Page) -> None:
    name = f"work-{next(numbers)}"
    page.do("close")
    page.do("open", url=page.witness.url(page.tag), device=DEVICE, session=name)
    rows = {row["name"]: row for row in page.door.do("session", action="list").data["sessions"]}
    assert rows[name]["device"] == KEY
    assert page.door.do("session", action="show", name=name).data["session"]["app"] == page.witness.url(page.tag)
    page.do("press", target="Increment", session=name)
    assert page.door.do("session", action="end", name=name).verified is True
    page.door.refused("session_not_found", "press", target="Increment", session=name)
    assert page.told("count") == [1]


def test_lease_keeps_a_device_shows_it_and_gives_it_back(page: Page) -> None:
    page.do("press", target="Increment")
    lease = page.door.do("lease", action="acquire", device=DEVICE).data["lease"]
    assert lease["device"] == KEY and lease["kind"] == "run"
    rows = {row["device"]: row for row in page.door.do("lease", action="status").data["leases"]}
    assert rows[KEY]["leaseId"] == lease["leaseId"]
    page.door.do("press", target="Increment", leaseId=lease["leaseId"])
    assert page.told("count") == [1, 2]
    released = page.door.do("lease", action="release", leaseId=lease["leaseId"])
    assert released.verified is True and released.data["device"] == KEY
    page.door.refused("lease_expired", "press", target="Increment", leaseId=lease["leaseId"])


def test_capabilities_name_what_the_browser_can_do(page: Page) -> None:
    data = page.door.do("capabilities", device=DEVICE).data
    assert data["device"]["key"] == KEY
    assert {"press", "snapshot", "gesture", "trigger-app-event", "tabs"} <= set(data["commands"])
    assert data["operations"]["screen.tree"] == {"available": True}
    platforms = {row["backend"] for row in page.door.do("capabilities").data["platforms"]}
    assert platforms == {"fake", "linux", "web"}


def test_doctor_finds_the_browser_and_every_plugin(door: Door) -> None:
    data = door.do("doctor").data
    assert data["ok"] is True
    assert any(check["name"] == "web: browser chromium" for check in data["checks"])
    assert {"web", "mcp", "fake"} <= {plugin["name"] for plugin in data["plugins"]}
