"""The tool list: what is in it, what it costs, and that every host can read it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from anydevice.catalogue import Catalogue
from anydevice.commands import all_commands
from anydevice.router import Router
from anydevice_mcp import instructions
from anydevice_mcp.published import DEFAULT_TOOLS, PICTURES, TOOLSETS, definitions
from anydevice_mcp.schemas import EVENT_TOOL
from anydevice_mcp.shortening import TUNING, WORDS
from anydevice_schemas import Command, DeviceSelector, Switches

from .clients import HANDSHAKE, MODERN, Bare, connected

pytestmark = pytest.mark.anyio

LIST_BUDGET = 5_000
TOOL_BUDGET = 350
DROP_IN = {
    "event": {"type": "string"},
    "payload": {"type": "object"},
    "session": {"type": "string"},
    "platform": {"type": "string"},
    "deviceTarget": {"type": "string", "enum": ["mobile", "tv", "desktop"]},
    "target": {"type": "string", "enum": ["mobile", "tv", "desktop"]},
    "device": {"type": "string"},
    "udid": {"type": "string"},
    "serial": {"type": "string"},
    "androidDeviceAllowlist": {"type": "string"},
    "tenant": {"type": "string"},
    "runId": {"type": "string"},
    "leaseId": {"type": "string"},
    "debug": {"type": "boolean"},
    "noRecord": {"type": "boolean"},
    "includeCost": {"type": "boolean"},
    "mcpOutputFormat": {"type": "string", "enum": ["optimized", "json"]},
    "responseLevel": {"type": "string", "enum": ["digest", "default", "full"]},
}
PLATFORMS = {"apple", "android", "harmonyos", "vega", "linux", "web", "ios", "macos"}


def catalogue() -> Catalogue:
    found = Catalogue()
    for spec in all_commands():
        found.register(spec)
    return found


def by_name(mode: Any) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in definitions(catalogue(), mode)}


def tokens(value: Any) -> int:
    """o200k tokens of a JSON value, minified."""
    from bpe_openai import get_encoding

    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(get_encoding("o200k_base").encode(text))


async def listed(router: Router, era: str, **options: Any) -> list[dict[str, Any]]:
    async with connected(router, **options) as stream:
        client = Bare(stream)
        await client.hello(era)
        tools: list[dict[str, Any]] = (await client.ask("tools/list"))["result"]["tools"]
        return tools


# --- which ---


async def test_the_default_list_is_the_documented_one_sorted_and_the_same_for_everybody(router: Router) -> None:
    first = await listed(router, HANDSHAKE[-1])
    names = [tool["name"] for tool in first]
    assert names == sorted({*DEFAULT_TOOLS, "toolset"}) and len(names) <= 25
    assert await listed(router, MODERN) == [tool for tool in first if tool["name"] != "toolset"]
    assert await listed(router, HANDSHAKE[-1], schemas="default") == first


async def test_calls_do_not_change_the_list(router: Router) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(MODERN)
        before = (await client.ask("tools/list"))["result"]["tools"]
        await client.call("open", device="fake-1")
        await client.call("command-run", name="capabilities", arguments={})
        assert (await client.ask("tools/list"))["result"]["tools"] == before


async def test_full_mode_lists_every_command_of_the_catalogue(router: Router) -> None:
    tools = await listed(router, MODERN, schemas="full")
    assert [tool["name"] for tool in tools] == [c.name for c in router.services.catalogue.commands()]
    assert len(tools) > 30


def test_the_list_is_static_and_every_name_in_it_exists() -> None:
    names = {command.name for command in catalogue().commands()}
    assert not (DEFAULT_TOOLS | PICTURES) - names


def test_what_is_left_out_or_said_shorter_refers_to_inputs_that_exist() -> None:
    commands = {command.name: command for command in catalogue().commands()}
    for name, inputs in TUNING.items():
        assert name in DEFAULT_TOOLS | TOOLSETS["desktop"]
        assert inputs <= set(commands[name].input_schema["properties"]), name
        assert not inputs & set(commands[name].input_schema.get("required", ())), name
    for (name, prop), (start, instead) in WORDS.items():
        users = [
            command
            for command in commands.values()
            if name in ("*", command.name)
            and str(command.input_schema["properties"].get(prop, {}).get("description", "")).startswith(start)
        ]
        assert users, f"{name}.{prop}: no input is described by {start!r} any more"
        assert all(len(instead) <= len(u.input_schema["properties"][prop]["description"]) for u in users)


# --- cost ---


async def test_the_default_list_keeps_its_token_budget(router: Router) -> None:
    tools = await listed(router, HANDSHAKE[-1])
    assert tokens({"tools": tools}) <= LIST_BUDGET
    heavy = {tool["name"]: tokens(tool) for tool in tools if tokens(tool) > TOOL_BUDGET}
    assert not heavy


def test_descriptions_and_instructions_keep_their_length() -> None:
    assert len(instructions.TEXT) <= 2_048
    for tool in definitions(catalogue(), "full"):
        assert 40 <= len(tool["description"]) <= 600, tool["name"]
        for name, prop in tool["inputSchema"]["properties"].items():
            assert len(prop.get("description", "")) <= 200, (tool["name"], name)


def test_every_published_input_is_described() -> None:
    for mode in ("default", "full"):
        for tool in definitions(catalogue(), mode):  # type: ignore[arg-type]
            bare = [n for n, p in tool["inputSchema"]["properties"].items() if not p.get("description")]
            assert not bare, (mode, tool["name"], bare)


def test_instructions_teach_the_loop_and_name_only_what_exists() -> None:
    text = instructions.TEXT
    places = [text.index(word) for word in ("devices ->", "-> open", "-> snapshot", "-> act", "-> close")]
    assert places == sorted(places)
    for word in ("verified", "Hint", "untrusted", "command-search", "command-run", "confirmToken", "timeoutMs"):
        assert word in text
    names = {command.name for command in catalogue().commands()}
    assert set(re.findall(r"\b(command-\w+)\b", text)) <= names


# --- portability: no host may stumble over a definition ---


def nodes(schema: Any, path: str = "$") -> Iterator[tuple[str, Any]]:
    """Every place of a schema where a schema may stand."""
    yield path, schema
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name == "properties":
                for prop, inner in value.items():
                    yield from nodes(inner, f"{path}.{prop}")
            elif name in ("items", "additionalProperties") and isinstance(value, dict):
                yield from nodes(value, f"{path}.{name}")
            elif name in ("anyOf", "oneOf", "allOf"):
                for number, inner in enumerate(value):
                    yield from nodes(inner, f"{path}.{name}.{number}")


@pytest.mark.parametrize("mode", ["default", "full"])
def test_every_definition_is_one_that_all_hosts_can_read(mode: Any) -> None:
    for tool in definitions(catalogue(), mode):
        name, schema = tool["name"], tool["inputSchema"]
        assert re.fullmatch(r"[a-z][a-z0-9-]{0,39}", name)
        assert len("anydevice") + 1 + len(name) <= 60
        assert schema["type"] == "object" and isinstance(schema["properties"], dict)
        text = json.dumps(tool)
        assert "$ref" not in text and "$defs" not in text
        assert not {"anyOf", "oneOf", "allOf", "not", "if"} & set(schema)
        for path, node in nodes(schema):
            assert isinstance(node, dict), path
            assert isinstance(node.get("type"), str), f"{name} {path}: one type, as a word"
            assert not isinstance(node.get("title"), str), f"{name} {path}"
            assert not {"anyOf", "oneOf", "allOf", "not", "const", "patternProperties"} & set(node), f"{name} {path}"
            if "enum" in node:
                assert all(isinstance(word, str) for word in node["enum"])
            if node["type"] == "array":
                assert "items" in node, f"{name} {path}"
        for prop in schema["properties"]:
            assert re.fullmatch(r"[a-zA-Z][a-zA-Z0-9]{0,39}", prop), f"{name} {prop}"
        assert set(schema.get("required", ())) <= set(schema["properties"])
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft7Validator.check_schema(schema)
        if "outputSchema" in tool:
            jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])
            assert tool["outputSchema"]["type"] == "object"


@pytest.mark.parametrize("mode", ["default", "full"])
def test_examples_of_a_command_fit_its_published_schema(mode: Any) -> None:
    tools = by_name(mode)
    for command in catalogue().commands():
        if command.name not in tools:
            continue
        for example in command.examples:
            jsonschema.validate(example.arguments, tools[command.name]["inputSchema"])


# --- inputs ---


def test_by_default_a_tool_publishes_its_own_inputs_and_two_selectors() -> None:
    commands = {command.name: command for command in catalogue().commands()}
    for name, tool in by_name("default").items():
        own = set(commands[name].input_schema["properties"]) - TUNING.get(name, frozenset())
        extra = set(tool["inputSchema"]["properties"]) - own
        wanted = {"device", "session"} if commands[name].selectors else set()
        if name in ("devices", "open"):
            wanted |= {"platform", "deviceTarget"}
        if commands[name].confirm:
            wanted |= {"confirmToken"}
        assert extra == wanted - own, name
        assert "additionalProperties" not in tool["inputSchema"], "unpublished names are accepted"


def test_full_mode_publishes_every_selector_and_switch_under_the_drop_in_names() -> None:
    commands = {command.name: command for command in catalogue().commands()}
    shared = set(DROP_IN) - {"event", "payload"}
    for name, tool in by_name("full").items():
        properties = set(tool["inputSchema"]["properties"])
        assert set(commands[name].input_schema["properties"]) <= properties
        if commands[name].selectors:
            assert shared <= properties, name
        assert tool["inputSchema"]["additionalProperties"] is False


def test_every_published_selector_and_switch_is_one_the_router_knows() -> None:
    known = {f.alias or n for n, f in (*DeviceSelector.model_fields.items(), *Switches.model_fields.items())}
    commands = {command.name: command for command in catalogue().commands()}
    for name, tool in by_name("full").items():
        extra = set(tool["inputSchema"]["properties"]) - set(commands[name].input_schema["properties"])
        assert extra <= known | {"target"}


@pytest.mark.parametrize("mode", ["default", "full"])
def test_the_event_tool_has_the_eighteen_inputs_of_the_tool_it_stands_in_for(mode: Any) -> None:
    from anydevice_mcp.published import definition

    command = catalogue().get(EVENT_TOOL).command
    schema = definition(command, mode, sorted(PLATFORMS))["inputSchema"]
    assert set(schema["properties"]) == set(DROP_IN)
    for name, wanted in DROP_IN.items():
        for key, value in wanted.items():
            assert schema["properties"][name][key] == value, (name, key)
    assert set(schema["properties"]["platform"]["enum"]) == PLATFORMS
    assert schema["properties"]["payload"]["additionalProperties"] is True
    assert schema["required"] == ["event"] and schema["additionalProperties"] is False
    output = definition(command, mode, sorted(PLATFORMS))["outputSchema"]
    assert {"event", "eventUrl", "transport", "message"} <= set(output["properties"])
    assert output["properties"]["transport"]["const"] == "deep-link"


async def test_platforms_of_installed_backends_can_be_named(router: Router) -> None:
    tools = {tool["name"]: tool for tool in await listed(router, MODERN)}
    assert {*PLATFORMS, "fake"} == set(tools["devices"]["inputSchema"]["properties"]["platform"]["enum"])


async def test_selectors_and_switches_are_accepted_whether_published_or_not(router: Router) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(MODERN)
        result = await client.call(
            "appstate", serial="fake-1", platform="fake", target="mobile", responseLevel="full", includeCost=True,
            debug=True, noRecord=True, mcpOutputFormat="optimized", tenant=None, runId="r1",
        )  # fmt: skip
        assert result["isError"] is False, result
        assert result["structuredContent"]["cost"]["wallClockMs"] > 0
        assert result["structuredContent"]["debug"]["operations"]
        assert "cost: {" in result["content"][0]["text"] and "debug: {" in result["content"][0]["text"]
        wrong = await client.call("appstate", serialNumber="fake-1")
        error = wrong["structuredContent"]["error"]
        assert error["code"] == "invalid_argument" and "serial" in json.dumps(error["details"])


# --- annotations ---


@pytest.mark.parametrize("mode", ["default", "full"])
def test_all_four_hints_are_set_and_are_what_the_descriptor_says(mode: Any) -> None:
    commands = {command.name: command for command in catalogue().commands()}
    for name, tool in by_name(mode).items():
        command: Command = commands[name]
        hints = tool["annotations"]
        assert set(hints) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        assert hints["readOnlyHint"] == (command.effect == "read")
        assert hints["openWorldHint"] == command.leaves_device
        if command.effect == "destroy":
            assert hints["destructiveHint"] is True
        if hints["readOnlyHint"]:
            assert hints["destructiveHint"] is False and hints["idempotentHint"] is True
        else:
            assert hints["idempotentHint"] == command.idempotent


async def test_a_command_that_may_need_confirmation_says_that_it_may_destroy(router: Router) -> None:
    tools = {tool["name"]: tool for tool in await listed(router, MODERN, schemas="full")}
    wipe = tools["test-wipe"]
    assert wipe["annotations"] == {
        "readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": False,
    }  # fmt: skip
    assert "confirmToken" in wipe["inputSchema"]["properties"]


# --- weight ---


def test_the_plugin_is_found_and_read_without_importing_the_sdk() -> None:
    code = (
        "import sys, anydevice_mcp\n"
        "facade, = anydevice_mcp.anydevice_facades()\n"
        "assert facade.name == 'mcp' and facade.options\n"
        "heavy = [m for m in sys.modules if m.split('.')[0] in ('mcp', 'mcp_types', 'starlette', 'httpx')]\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", ["anydevice_mcp.hosts", "anydevice_mcp.http.cli"])
def test_the_subcommands_of_the_command_line_import_nothing_of_the_facade(module: str) -> None:
    code = (
        f"import sys, {module}\n"
        "print([m for m in sys.modules if m in ('mcp', 'pydantic', 'anyio', 'structlog', 'anydevice_mcp.facade')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
