"""trigger-app-event: callable by the schema others know it by, with every switch, and templates from everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema
import pytest

from ..support.daemons import Home
from ..support.distributions import install_fake_backend
from ..support.texts import changed
from .conftest import CONFIG, caller, configured
from .doors import DOORS, Agent, Door
from .witness import Witness

pytestmark = [pytest.mark.daemon, pytest.mark.chromium]

DEVICE, KEY = "chromium", "web:chromium"
TEMPLATE = "shop://event?name={event}&payload={payload}&on={platform}"
THEIRS = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "agent-device" / "trigger-app-event.schema.json").read_text("utf-8")
)
PROPERTIES: dict[str, Any] = THEIRS["inputSchema"]["properties"]
NAME = "trigger-app-event"


@pytest.fixture(scope="module")
def module_home() -> Iterator[Home]:
    """A home whose fake phones are joined by two that answer to the platform android, in place of the real backend."""
    with Home.made(configured("android", plugins='prefer = { android = "android-vendor" }')) as home:
        install_fake_backend(home.plugins, name="android", ids=("A-1", "A-2"))
        home.serve()
        yield home


@pytest.fixture(scope="module")
def agent(module_home: Home) -> Iterator[Agent]:
    """An MCP client that asked for full schemas, with a browser."""
    with caller(module_home, "mcp", mcp=("--schemas", "full")) as agent:
        agent.do("boot", device=DEVICE)
        yield agent


@pytest.fixture
def shop(agent: Agent, witness: Witness, tag: str) -> str:
    """The tag of a page that knows events."""
    agent.do("open", url=witness.url(tag), device=DEVICE, eventUrlTemplate=TEMPLATE)
    return tag


def samples(name: str) -> list[Any]:
    """Values that their schema admits for an input."""
    schema = PROPERTIES[name]
    if "enum" in schema:
        return list(schema["enum"])
    plain = {"string": ["a.b-c:d_1"], "boolean": [True, False], "object": [{}, {"deep": [{"x": None}], "é": 1}]}
    return ["0123456789abcdef"] if name == "leaseId" else plain[schema["type"]]


# --- the schema ---


def test_whatever_their_schema_admits_ours_admits_too(agent: Agent) -> None:
    tool = agent.tools()[NAME]
    ours = jsonschema.Draft202012Validator(tool["inputSchema"])
    theirs = jsonschema.Draft202012Validator(THEIRS["inputSchema"])
    assert len(PROPERTIES) == 18
    assert set(tool["inputSchema"]["properties"]) >= set(PROPERTIES)
    assert tool["inputSchema"]["required"] == THEIRS["inputSchema"]["required"] == ["event"]
    everything: dict[str, Any] = {"event": "e"}
    for name in PROPERTIES:
        for value in samples(name):
            call = {"event": "e", name: value}
            assert theirs.is_valid(call), call
            assert ours.is_valid(call), call
            everything[name] = value
    assert theirs.is_valid(everything) and ours.is_valid(everything)
    for wrong in ({}, {"event": "e", "evnt": 1}, {"event": 1}, {"event": "e", "deviceTarget": "fridge"}):
        assert not theirs.is_valid(wrong) and not ours.is_valid(wrong), wrong


@pytest.mark.parametrize("mode", [(), ("--schemas", "full")], ids=["default", "full"])
def test_the_answer_fits_their_output_schema(module_home: Home, mode: tuple[str, ...]) -> None:
    with caller(module_home, "mcp", mcp=mode) as door:
        door.do("open", device="fake-2", eventUrlTemplate=TEMPLATE)
        result = door.raw(NAME, {"event": "seed.cart", "payload": {"items": 3}})
    assert not result.is_error
    jsonschema.validate(result.structured_content, THEIRS["outputSchema"])
    assert result.structured_content["eventUrl"] == "shop://event?name=seed.cart&payload=%7B%22items%22%3A3%7D&on=fake"
    assert "seed.cart" in result.structured_content["message"]


# --- every input ---


def test_event_and_payload_arrive_and_the_page_acknowledges(agent: Agent, shop: str, witness: Witness) -> None:
    payload = {"items": [1, {"q": "a b&c=d/é 👍"}], "none": None}
    said = agent.do(NAME, event="seed.cart", payload=payload)
    encoded = quote(json.dumps(payload, separators=(",", ":"), ensure_ascii=False), safe="")
    assert said.data["eventUrl"] == f"shop://event?name=seed.cart&payload={encoded}&on=web"
    assert (said.device, said.verified, said.data["acknowledged"]) == (KEY, True, "true")
    assert agent.do(NAME, event="call.back").data["acknowledged"] == "true"
    silent = agent.do(NAME, event="note")
    assert (silent.verified, silent.data["acknowledged"]) == (False, "false")
    assert witness.all(shop, "event") == [
        {"name": "seed.cart", "payload": payload, "url": said.data["eventUrl"]},
        {"name": "call.back", "payload": None, "url": "shop://event?name=call.back&payload=&on=web"},
        {"name": "note", "payload": None, "url": "shop://event?name=note&payload=&on=web"},
    ]


def test_names_and_payloads_out_of_bounds_are_refused_and_nothing_arrives(
    agent: Agent, shop: str, witness: Witness
) -> None:
    for wrong in ("", "a b", "x" * 65, "ü"):
        agent.refused("invalid_argument", NAME, event=wrong)
    agent.refused("invalid_argument", NAME, event="e", payload={"big": "x" * 8192})
    agent.refused("invalid_argument", NAME, event="e", payload={"wide": "é" * 1000})
    assert witness.all(shop, "event") == []


@pytest.mark.parametrize(
    ("selectors", "acted"),
    [
        ({"device": "fake-1"}, "fake:fake-1"),
        ({"serial": "FAKE-2"}, "fake:fake-2"),
        ({"platform": "web"}, KEY),
        ({"deviceTarget": "desktop"}, KEY),
        ({"target": "desktop", "deviceTarget": "desktop", "platform": "web", "device": DEVICE}, KEY),
        ({"platform": "android", "device": "A-2", "androidDeviceAllowlist": "A-2 other"}, "android:A-2"),
        ({"tenant": "default", "runId": "run-7", "device": DEVICE}, KEY),
    ],
    ids=str,
)
def test_selectors_lead_to_the_device_they_name(
    module_home: Home, agent: Agent, shop: str, selectors: dict[str, str], acted: str
) -> None:
    for device in ("fake-1", "fake-2", "A-2"):
        agent.do("open", device=device, eventUrlTemplate=TEMPLATE)
    try:
        assert agent.do(NAME, event="e", **selectors).device == acted
    finally:
        for device in ("fake-1", "fake-2", "A-2"):
            agent.do("close", device=device)


@pytest.mark.parametrize(
    ("selectors", "code"),
    [
        ({"target": "tv", "device": DEVICE}, "selector_conflict"),
        ({"deviceTarget": "tv", "target": "desktop"}, "invalid_argument"),
        ({"platform": "android", "device": DEVICE}, "selector_conflict"),
        ({"platform": "ios", "device": DEVICE}, "selector_conflict"),
        ({"udid": "00008110-000A4D2E3C80801E"}, "device_not_found"),
        ({"serial": DEVICE}, "device_not_found"),
        ({"device": "A-1", "androidDeviceAllowlist": "A-2"}, "selector_conflict"),
        ({"session": "nobody"}, "session_not_found"),
        ({"device": DEVICE, "tenant": "elsewhere"}, "lease_held"),
        ({"device": DEVICE, "leaseId": "0123456789abcdef"}, "lease_stale"),
    ],
    ids=str,
)
def test_selectors_that_do_not_fit_are_refused_and_nothing_arrives(
    agent: Agent, shop: str, witness: Witness, selectors: dict[str, str], code: str
) -> None:
    agent.refused(code, NAME, event="e", **selectors)
    assert witness.all(shop, "event") == []


def test_a_session_is_reached_by_its_name(agent: Agent, witness: Witness, tag: str) -> None:
    agent.do("open", device="fake-1", session=tag, eventUrlTemplate="named://{event}")
    said = agent.do(NAME, event="e", session=tag)
    assert (said.session, said.device, said.data["eventUrl"]) == (tag, "fake:fake-1", "named://e")
    agent.do("session", action="end", name=tag)


def test_switches_change_the_answer_and_the_record(module_home: Home, agent: Agent, shop: str) -> None:
    plain = agent.do(NAME, event="e")
    assert "cost" not in plain.wire and "debug" not in plain.wire
    assert agent.do(NAME, event="e", includeCost=True).wire["cost"]["wallClockMs"] > 0
    operations = agent.do(NAME, event="e", debug=True).wire["debug"]["operations"]
    assert [entry["operation"] for entry in operations] == ["links.deliver_event"]
    digest, full = (agent.do(NAME, event="e", responseLevel=level).data for level in ("digest", "full"))
    assert digest.keys() < plain.data.keys() < full.keys()
    assert full["payloadBytes"] == 0
    compact = agent.raw(NAME, {"event": "e", "mcpOutputFormat": "optimized"}).content[0].text
    assert compact.startswith(f"{NAME} on {KEY}")
    replays = _replays(module_home)
    agent.do(NAME, event="unrecorded", noRecord=True)
    assert _replays(module_home) == replays
    agent.do(NAME, event="recorded", noRecord=False)
    assert _replays(module_home) == [*replays, "recorded"]


def _replays(home: Home) -> list[str]:
    lines = (home.path / "journal" / "calls.ndjson").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row["replay"]["arguments"]["event"] for row in rows if row["command"] == NAME and "replay" in row]


# --- where the template comes from ---


@pytest.mark.parametrize("name", DOORS)
def test_without_a_template_the_answer_says_how_to_give_one(module_home: Home, name: str) -> None:
    with caller(module_home, name, "without") as door:
        said = door.refused("unsupported", NAME, event="e", device="fake-1")
        assert "open with eventUrlTemplate" in said.error["hint"].replace("Call open", "open")
        door.do("open", device="fake-1", eventUrlTemplate=said.details["example"])
        assert door.do(NAME, event="e").data["eventUrl"] == "myapp://event?name=e&payload="
        door.do("close", device="fake-1")


@pytest.mark.parametrize("name", DOORS)
def test_two_callers_of_one_daemon_each_have_the_template_of_their_own_environment(
    module_home: Home, name: str
) -> None:
    variable = "AGENT_DEVICE_APP_EVENT_URL_TEMPLATE"
    for word, device in (("one", "fake-1"), ("two", "fake-2")):
        with caller(module_home, name, word, environ={variable: word + "://{event}"}) as door:
            said = door.do(NAME, event="e", device=device)
            assert (said.data["eventUrl"], said.device) == (f"{word}://e", f"fake:{device}")
            assert said.data["templateFrom"] == f"caller's environment: {variable}"
            door.do("close", device=device)


def test_of_the_variables_the_most_specific_counts(module_home: Home) -> None:
    environ = {
        "AGENT_DEVICE_APP_EVENT_URL_TEMPLATE": "theirs://{event}",
        "ANYDEVICE_APP_EVENT_URL_TEMPLATE": "ours://{event}",
        "AGENT_DEVICE_FAKE_APP_EVENT_URL_TEMPLATE": "theirs-fake://{event}",
        "ANYDEVICE_FAKE_APP_EVENT_URL_TEMPLATE": "ours-fake://{event}",
    }
    seen = []
    for _ in list(environ):
        with caller(module_home, "cli", "variables", environ=environ) as door:
            url = door.do(NAME, event="e", device="fake-1").data["eventUrl"]
            seen.append(url.partition(":")[0])
        environ = {name: value for name, value in environ.items() if not value.startswith(f"{seen[-1]}:")}
    assert seen == ["ours-fake", "theirs-fake", "ours", "theirs"]
    module_home.json("close", "--device", "fake-1", cwd=module_home.path.parent / "variables")


def test_session_goes_before_app_before_platform_before_default_before_environment(home: Home) -> None:
    (home.path / "config.toml").write_text(
        f'{CONFIG}\n[events.templates]\ndefault = "by-default://{{event}}"\nfake = "by-platform://{{event}}"\n'
        '"app:practice" = "by-app://{event}"\n'
    )
    install_fake_backend(home.plugins, name="other", ids=("other-1",))
    with caller(home, "python", environ={"ANYDEVICE_APP_EVENT_URL_TEMPLATE": "by-environment://{event}"}) as door:

        def asked(device: str) -> tuple[str, str]:
            data = door.do(NAME, event="e", device=device).data
            return data["eventUrl"], data["templateFrom"]

        assert asked("other-1") == ("by-default://e", "config: default")
        assert asked("fake-1") == ("by-platform://e", "config: fake")
        door.do("open", device="fake-1", app="practice")
        assert asked("fake-1") == ("by-app://e", "config: app:practice")
        door.do("open", device="fake-1", eventUrlTemplate="by-session://{event}")
        assert asked("fake-1") == ("by-session://e", "session")


@pytest.mark.parametrize("template", ["no-placeholder://x", "javascript:{event}", "file:///{event}", "odd://{evnt}"])
def test_a_template_of_the_environment_that_cannot_be_used_is_told_by_its_name(
    module_home: Home, template: str
) -> None:
    variable = "ANYDEVICE_APP_EVENT_URL_TEMPLATE"
    with caller(module_home, "cli", "bad", environ={variable: template}) as door:
        said = door.call(NAME, event="e", device="fake-1")
        assert said.code in ("invalid_argument", "refused")
        assert variable in said.error["message"]
        door.do("close", device="fake-1")


def test_an_http_template_opens_the_page_it_names(agent: Agent, witness: Witness, tag: str) -> None:
    url = witness.url(tag)
    agent.do("open", url=url, device=DEVICE, eventUrlTemplate=changed(url, ("?", "second?")) + "&event={event}")
    said = agent.do(NAME, event="go.there", device=DEVICE)
    assert said.data["acknowledged"] == "not_requested"
    assert witness.wait(f"{tag}&event=go.there", "second") is None


def test_every_door_delivers_to_the_page(module_home: Home, agent: Door, witness: Witness, tag: str) -> None:
    agent.do("open", device=DEVICE)
    agent.do("close", device=DEVICE)
    for name in DOORS:
        with caller(module_home, name, f"deliver-{name}") as door:
            page = f"{tag}-{name}"
            door.do("open", url=witness.url(page), device=DEVICE, eventUrlTemplate=TEMPLATE)
            assert door.do(NAME, event="seed.x", payload={"by": name}).device == KEY
            assert [event["payload"] for event in witness.all(page, "event")] == [{"by": name}]
            door.do("close")
