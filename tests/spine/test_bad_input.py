"""Whatever is asked wrongly, or goes wrong around a call, gets a typed answer, changes nothing, and leaves nothing."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from anydevice.host.daemon import STOP_DEADLINE
from anydevice.inventory import IMPORT_DEADLINE

from ..support.daemons import Home, eventually
from ..support.texts import changed
from .conftest import CONFIG, caller
from .doors import Door
from .processes import below, browsers, of_home
from .sick import REFUSED, SICK, TWICE, install_sick
from .witness import Witness

pytestmark = [pytest.mark.daemon, pytest.mark.chromium]

DEVICE = "chromium"
KEY = "web:chromium"


@pytest.fixture(scope="module")
def module_home() -> Iterator[Home]:
    """A home with sick backends beside the good ones; nothing of its daemon may be left at the end."""
    with Home.made(CONFIG) as home:
        install_sick(home.plugins)
        home.serve()
        yield home
        with caller(home, "cli") as last:
            last.do("boot", device=DEVICE)
        family = below(home.pid)
        assert browsers(home.pid)
        began = time.monotonic()
        assert home.json("stop")["data"]["stopped"] is True
        assert time.monotonic() - began < STOP_DEADLINE
        eventually(lambda: not any(p.lives for p in family) and not of_home(home.path), "nothing of it is left")


@pytest.fixture
def page(door: Door, witness: Witness, tag: str) -> Iterator[str]:
    """The tag of a page that must look the same before and after: nothing here may change it."""
    tag = f"{door.name}-{tag}"
    door.do("open", url=witness.url(tag), device=DEVICE, boot=True)
    before = witness.state(tag), witness.told(tag)
    yield tag
    assert (witness.state(tag), witness.told(tag)) == before


# --- arguments ---


WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    ("unknown field", "press", {"taget": "Increment"}, "target"),
    ("unknown field of a host command", "devices", {"stat": "ready"}, "state"),
    ("unknown switch", "snapshot", {"responseLvl": "full"}, "response"),
    ("unknown enum value", "press", {"target": "Increment", "button": "lefty"}, "primary"),
    ("unknown level", "snapshot", {"responseLevel": "fulll"}, "full"),
    ("unknown target", "devices", {"deviceTarget": "fridge"}, "desktop"),
    ("wrong type", "press", {"target": "Increment", "count": "two"}, "integer"),
    ("out of range", "press", {"target": "Increment", "count": 11}, "10"),
    ("not a number", "scroll", {"direction": "down", "pixels": "far"}, "pixels"),
    ("required is missing", "fill", {"target": "Name"}, "text"),
    ("nothing to act on", "press", {}, "target"),
    ("half a point", "press", {"x": 10}, "target"),
    ("target and point", "press", {"target": "Increment", "x": 1, "y": 1}, "target"),
    ("two things to wait for", "wait", {"text": "a", "stable": True}, "exactly one"),
    ("no such key", "key", {"chord": "hyper+q"}, "chord"),
    ("unreadable query", "press", {"target": "labell=Increment role=button"}, "label"),
    ("no such role", "press", {"target": "role=buton"}, "button"),
    ("no such platform", "press", {"target": "Increment", "platform": "andriod"}, "android"),
    ("a step without a command", "batch", {"steps": [{"arguments": {}}]}, "steps.0"),
    ("a step that is no command", "batch", {"steps": [{"command": "command-run"}]}, "steps.0"),
    ("url without a scheme", "open", {"url": "example.org/x"}, "scheme"),
    ("url with a line break", "open", {"url": "java\nscript:alert(1)"}, "control"),
]


def test_wrong_arguments_are_refused_by_name_with_what_is_right(door: Door, page: str) -> None:
    for why, command, arguments, word in WRONG:
        said = door.refused("invalid_argument", command, **arguments)
        assert said.error["retryable"] is False, why
        assert said.details["param"] and said.details["expected"], why
        assert word in json.dumps(said.error, ensure_ascii=False).replace("\\", ""), (why, said.error)


def test_a_command_that_does_not_exist_is_named_with_the_nearest(door: Door) -> None:
    for command, nearest in (("pres", "press"), ("snap-shot", "snapshot"), ("demolish", None)):
        said = door.refused("unknown_command", command)
        assert nearest is None or nearest in said.details["nearest"]


ADDRESSES = [
    "file:///etc/passwd", "javascript:alert(1)", "JavaScript:alert(1)", "view-source:file:///etc/passwd",
    "filesystem:http://127.0.0.1/x", "vbscript:x",
]  # fmt: skip


def test_addresses_that_reach_beyond_a_page_are_refused(door: Door, page: str) -> None:
    for url in ADDRESSES:
        assert door.refused("refused", "open", url=url).details["alternative"], url
    assert door.do("appstate").data["title"] == "Practice page"


def test_a_template_of_a_refused_kind_is_refused_at_open(door: Door, page: str, witness: Witness) -> None:
    door.refused("refused", "open", eventUrlTemplate="javascript:{event}")
    for template in ("practice://x", "practice://{evnt}", "{event}://x", "no scheme {event}"):
        door.refused("invalid_argument", "open", eventUrlTemplate=template)
    door.refused("unsupported", "trigger-app-event", event="x")


@pytest.mark.parametrize(
    "words",
    [
        ["trigger-app-event", "x", "--payload", "@/no/such/file.json"],
        ["batch", "/no/such/steps.json"],
        ["batch", "@/no/such/steps.json"],
        ["command-run", "press", "--arguments", "{not json"],
        ["trigger-app-event", "x", "--payload", "[1]"],
    ],
)
def test_a_file_that_is_not_there_or_not_json_is_a_usage_error(module_home: Home, words: list[str]) -> None:
    said = module_home.json(*words, code=2)
    assert said["error"]["code"] == "invalid_argument"
    assert "no/such" in said["error"]["message"] or "JSON" in said["error"]["message"]


# --- which device, which session ---


CONTRADICTIONS: list[dict[str, str]] = [
    {"device": DEVICE, "platform": "android"},
    {"device": DEVICE, "deviceTarget": "tv"},
    {"device": DEVICE, "serial": "fake-1"},
    {"device": "fake-1", "platform": "web"},
    {"serial": "fake-1", "platform": "apple"},
    {"platform": "ios", "deviceTarget": "desktop"},
]


def test_selectors_that_contradict_each_other_are_refused(door: Door, page: str) -> None:
    for selectors in CONTRADICTIONS:
        said = door.refused("selector_conflict", "press", target="Increment", **selectors)
        assert len(said.details["conflicts"][0]["sides"]) == 2, selectors
        assert said.error["hint"].startswith("Drop "), selectors


def test_a_selector_that_contradicts_the_session_is_refused(door: Door, page: str) -> None:
    name = f"phone-{page}"
    door.do("open", device="fake-1", session=name)
    for selectors in ({"device": DEVICE}, {"platform": "web"}, {"deviceTarget": "tv"}):
        said = door.refused("selector_conflict", "press", target="Increment", session=name, **selectors)
        assert said.device in ("fake:fake-1", None)
    door.refused("selector_conflict", "open", device=DEVICE, session=name)
    door.do("session", action="end", name=name)


UNKNOWN: list[dict[str, str]] = [
    {"udid": DEVICE},
    {"serial": DEVICE},
    {"device": "chromiun"},
    {"device": DEVICE, "udid": "00008110-000A4D2E3C80801E"},
    {"platform": "android"},
    {"platform": "linux"},
]


def test_an_id_of_another_kind_a_mistyped_one_and_an_empty_platform_find_nothing(door: Door, page: str) -> None:
    for selectors in UNKNOWN:
        said = door.refused("device_not_found", "press", target="Increment", **selectors)
        assert said.details["looked_for"] == selectors


def test_a_mistyped_session_is_told_with_the_nearest(door: Door, page: str) -> None:
    name = f"shopping-{page}"
    door.do("open", device="fake-2", session=name)
    said = door.refused("session_not_found", "press", target="Increment", session=changed(name, ("pp", "p")))
    assert name in said.details["nearest"]
    door.do("session", action="end", name=name)


# --- refs ---


def test_a_ref_is_stale_after_its_element_was_replaced(door: Door, witness: Witness, tag: str) -> None:
    door.do("open", url=witness.url(tag), device=DEVICE, boot=True)
    ref = door.do("find", query='label="Replace me"').data["matches"][0]["ref"]
    door.do("press", target="Renew")
    said = door.refused("stale_ref", "press", target=ref)
    assert said.details["ref"] == ref
    assert said.details["nearest_matches"][0]["name"] == "Replace me"
    assert witness.all(tag, "new") == witness.all(tag, "old") == []
    door.do("press", target=said.details["nearest_matches"][0]["ref"])
    assert witness.all(tag, "new") == [None]


def test_a_ref_is_stale_after_its_page_was_left_and_not_that_of_the_next(
    door: Door, witness: Witness, tag: str
) -> None:
    door.do("open", url=witness.url(tag), device=DEVICE, boot=True)
    ref = door.do("find", query="label=Increment").data["matches"][0]["ref"]
    door.do("press", target="Second page")
    door.refused("stale_ref", "press", target=ref)
    door.do("open", url=witness.url(tag))
    for command in ("press", "hover", "longpress"):
        door.refused("stale_ref", command, target=ref)
    door.refused("stale_ref", "fill", target=ref, text="x")
    door.refused("stale_ref", "get", target=ref)
    assert door.do("is", predicate="exists", target=ref).data["result"] is False
    assert witness.all(tag, "count") == witness.all(tag, "only") == []


def test_a_ref_that_was_never_given_or_given_elsewhere_is_stale(door: Door, witness: Witness, tag: str) -> None:
    door.do("open", url=witness.url(tag), device=DEVICE, boot=True)
    door.refused("stale_ref", "press", target="@e999999")
    door.do("close")
    # In sessions that are new, so that the page has given no ref yet when the phone's is tried on it.
    for device, session in (("fake-1", f"{tag}-phone"), (DEVICE, f"{tag}-page")):
        door.do("open", device=device, session=session)
    theirs = door.do("find", query="role=button", session=f"{tag}-phone").data["matches"][0]["ref"]
    door.do("open", url=witness.url(tag), session=f"{tag}-page")
    door.refused("stale_ref", "press", target=theirs, session=f"{tag}-page")
    assert [what for what, _ in witness.told(tag)] == ["loaded", "loaded"]
    for session in (f"{tag}-phone", f"{tag}-page"):
        door.do("session", action="end", name=session)


# --- sick backends ---


def test_sick_backends_are_named_with_their_reason_and_the_others_are_listed(door: Door) -> None:
    began = time.monotonic()
    data = door.do("devices").data
    assert time.monotonic() - began < IMPORT_DEADLINE, "one of them hangs for ever"
    assert {DEVICE, "fake-1", "fake-2"} <= {row["id"] for row in data["devices"]}
    missing = {row["backend"]: row for row in data["missing"]}
    expected = {name: reason for name, (_, reason) in SICK.items()} | {n: reason for n, (_, reason) in REFUSED.items()}
    for name, reason in (expected | {TWICE: "second-of-two"}).items():
        assert re.search(reason, missing[name]["reason"]), missing[name]
        assert missing[name]["fix"], missing[name]


def test_a_backend_that_takes_our_name_does_not_take_our_place(door: Door, module_home: Home) -> None:
    webs = [plugin for plugin in module_home.json("status")["data"]["plugins"] if plugin["name"] == "web"]
    assert [(plugin["distribution"], plugin["state"]) for plugin in webs] == [("would-be-web", "conflict")]
    assert door.do("capabilities", device=DEVICE).data["device"]["key"] == KEY


def test_doctor_says_of_every_sick_backend_what_is_wrong(module_home: Home) -> None:
    data = module_home.json("doctor", code=1)["data"]
    assert data["ok"] is False
    bad = json.dumps([check for check in data["checks"] if not check["ok"]])
    for name in ("hangs-on-import", "breaks-on-import", "exits-on-import", "is-none", *REFUSED, TWICE, "web"):
        assert name in bad


def test_nothing_about_sick_backends_keeps_a_page_from_being_driven(door: Door, witness: Witness, tag: str) -> None:
    door.do("open", url=witness.url(tag), device=DEVICE, boot=True)
    door.do("press", target="Increment")
    assert witness.all(tag, "count") == [1]
