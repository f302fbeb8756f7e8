"""Resources, prompts, completion, changes, and what a plugin adds to the facade itself."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import anyio
import mcp_types as types
import pluggy
import pytest

from anydevice.catalogue import command
from anydevice.context import Context, Outcome
from anydevice.hooks import hookimpl, new_manager
from anydevice.router import Router
from anydevice_mcp import Feature
from anydevice_mcp.resources import Resources
from anydevice_schemas import Caller

from .clients import HANDSHAKE, MODERN, PATIENCE, Bare, connected, facade_running, text_of
from .conftest import NoInput

pytestmark = pytest.mark.anyio

ERAS = (HANDSHAKE[-1], MODERN)


async def opened(client: Bare, era: str) -> Bare:
    await client.hello(era)
    return client


@pytest.mark.parametrize("era", ERAS)
async def test_a_picture_that_was_made_is_a_resource_that_can_be_read(router: Router, era: str) -> None:
    async with connected(router) as stream:
        client = await opened(Bare(stream), era)
        before = {each["uri"] for each in (await client.ask("resources/list"))["result"]["resources"]}
        assert "anydevice://devices" in before and "anydevice://guides/start" in before
        made = await client.call("test-picture", seconds=100)
        (link,) = [part for part in made["content"] if part["type"] == "resource_link"]
        after = {each["uri"] for each in (await client.ask("resources/list"))["result"]["resources"]}
        assert after - before == {link["uri"]}
        (content,) = (await client.ask("resources/read", {"uri": link["uri"]}))["result"]["contents"]
        assert base64.b64decode(content["blob"]) == b"\x89PNG" + b"0" * 100 and content["mimeType"] == "image/png"


@pytest.mark.parametrize("uri", ["anydevice://artefacts/nothing.png", "anydevice://artefacts/../x", "file:///etc/passwd",
                                 "anydevice://guides/none", "anydevice://"])  # fmt: skip
@pytest.mark.parametrize("era", ERAS)
async def test_what_is_no_resource_is_an_error_that_names_it(router: Router, era: str, uri: str) -> None:
    async with connected(router) as stream:
        client = await opened(Bare(stream), era)
        error = (await client.ask("resources/read", {"uri": uri}))["error"]
        assert error["code"] == -32602 and error["message"].startswith("Resource not found")


async def test_the_device_list_and_the_guides_are_resources(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(Bare(stream), ERAS[0])
        (content,) = (await client.ask("resources/read", {"uri": "anydevice://devices"}))["result"]["contents"]
        assert {row["id"] for row in json.loads(content["text"])["devices"]} >= {"fake-1"}
        for each in (await client.ask("resources/list"))["result"]["resources"]:
            if "guides" in each["uri"]:
                (guide,) = (await client.ask("resources/read", {"uri": each["uri"]}))["result"]["contents"]
                assert guide["text"].startswith(f"# {each['title']}")
        templates = (await client.ask("resources/templates/list"))["result"]["resourceTemplates"]
        assert [each["uriTemplate"] for each in templates] == [
            "anydevice://artefacts/{name}",
            "anydevice://guides/{name}",
            "anydevice://results/{id}",
        ]


@pytest.mark.parametrize("era", ERAS)
async def test_prompts_are_filled_in_and_judge_their_arguments(router: Router, era: str) -> None:
    async with connected(router) as stream:
        client = await opened(Bare(stream), era)
        listed = (await client.ask("prompts/list"))["result"]["prompts"]
        assert [each["name"] for each in listed] == sorted(each["name"] for each in listed)
        for each in listed:
            given = {argument["name"]: "{x}" for argument in each["arguments"]}
            (message,) = (await client.ask("prompts/get", {"name": each["name"], "arguments": given}))["result"][
                "messages"
            ]
            assert "{x}" in message["content"]["text"] and message["role"] == "user"
        missing = await client.ask("prompts/get", {"name": "test-flow", "arguments": {"app": "a", "nothing": "b"}})
        assert missing["error"]["code"] == -32602
        assert "flow is missing" in missing["error"]["message"] and "'nothing'" in missing["error"]["message"]
        assert (await client.ask("prompts/get", {"name": "none"}))["error"]["code"] == -32602


async def test_arguments_are_completed_from_what_there_is(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(Bare(stream), ERAS[0])

        async def values(ref: dict[str, Any], name: str, value: str) -> list[str]:
            params = {"ref": ref, "argument": {"name": name, "value": value}}
            return list((await client.ask("completion/complete", params))["result"]["completion"]["values"])

        prompt = {"type": "ref/prompt", "name": "test-flow"}
        assert "fake-1" in await values(prompt, "device", "FAKE")
        assert await values(prompt, "device", "zzz") == []
        assert await values({"type": "ref/resource", "uri": "anydevice://guides/{name}"}, "name", "st") == ["start"]
        assert await values({"type": "ref/prompt", "name": "none"}, "device", "") == []


@command(name="test-late", summary="Came late.", effect="read", scope="host", input=NoInput)
async def late(ctx: Context, args: NoInput) -> Outcome:
    return Outcome(data={"late": True})


async def test_a_client_of_the_older_era_hears_that_a_plugin_brought_a_tool(router: Router) -> None:
    async with facade_running(router) as facade, connected(router, facade, schemas="full") as stream:
        client = await opened(Bare(stream), ERAS[0])
        await client.ask("tools/list")
        assert router.services.catalogue.register(late)
        assert (await client.receive())["method"] == "notifications/tools/list_changed"
        names = [tool["name"] for tool in (await client.ask("tools/list"))["result"]["tools"]]
        assert "test-late" in names and names == sorted(names)


async def test_a_listener_of_the_newer_era_hears_what_it_asked_for_and_nothing_else(router: Router) -> None:
    async with facade_running(router) as facade, connected(router, facade) as stream:
        client = await opened(Bare(stream), MODERN)
        wanted = {"notifications": {"toolsListChanged": True}}
        listen = client.request("subscriptions/listen", wanted)
        await client.send(listen)
        assert (await client.receive())["method"] == "notifications/subscriptions/acknowledged"
        await client.call("test-picture", seconds=10)  # changes the list of resources
        assert router.services.catalogue.register(late)
        told = await client.receive()
        assert told["method"] == "notifications/tools/list_changed"


class Brought(Feature):
    """A plugin's feature."""

    name = "brought"

    async def tools(self, ctx: Any) -> Sequence[types.Tool]:
        schema = {"type": "object", "properties": {}}
        return [
            types.Tool(name="brought-tool", description="Brought.", input_schema=schema),
            types.Tool(name="press", description="Would shadow a command.", input_schema=schema),
        ]

    async def call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult | None:
        if params.name != "brought-tool":
            return None
        if (params.arguments or {}).get("fail"):
            raise RuntimeError("secret of the plugin")
        audio = types.AudioContent(type="audio", data="UklGRg==", mime_type="audio/wav")
        return types.CallToolResult(content=[audio])

    async def resources(self, ctx: Any) -> Sequence[types.Resource]:
        raise RuntimeError("this one is sick")

    async def prompts(self, ctx: Any) -> Sequence[types.Prompt]:
        return [types.Prompt(name="brought-prompt")]


class Plugin:
    """A plugin that brings it."""

    @hookimpl
    def anydevice_mcp_features(self) -> Sequence[Feature]:
        return [Brought()]


class Sick:
    """A plugin whose hook fails."""

    @hookimpl
    def anydevice_mcp_features(self) -> Sequence[Feature]:
        raise RuntimeError("broken")


@pytest.fixture
def plugged(router: Router) -> Router:
    manager: pluggy.PluginManager = new_manager()
    manager.register(Sick(), "sick")
    manager.register(Plugin(), "plugin")
    router.plugins = manager
    return router


@pytest.mark.parametrize("era", ERAS)
async def test_a_plugin_reaches_what_only_the_protocol_has(plugged: Router, era: str) -> None:
    async with connected(plugged) as stream:
        client = await opened(Bare(stream), era)
        tools = {tool["name"]: tool for tool in (await client.ask("tools/list"))["result"]["tools"]}
        assert "brought-tool" in tools and "shadow" not in tools["press"]["description"]
        result = await client.call("brought-tool")
        assert result["content"][0]["type"] == "audio"
        assert "brought-prompt" in [each["name"] for each in (await client.ask("prompts/list"))["result"]["prompts"]]
        assert (await client.call("test-show", data={"a": 1}))["isError"] is False


async def test_a_sick_feature_costs_nobody_else_anything(plugged: Router) -> None:
    async with connected(plugged) as stream:
        client = await opened(Bare(stream), ERAS[0])
        assert "anydevice://devices" in [
            each["uri"] for each in (await client.ask("resources/list"))["result"]["resources"]
        ]
        failed = await client.ask("tools/call", {"name": "brought-tool", "arguments": {"fail": True}})
        assert failed["error"]["code"] == -32603 and "secret" not in json.dumps(failed)
        unknown = await client.ask("tools/call", {"name": "brought-tol"})
        assert unknown["error"]["code"] == -32602
        assert text_of(await client.call("test-show", data={"a": 1}))


class Odd:
    """A plugin whose hook takes what nobody gives."""

    @hookimpl(optionalhook=True)
    def anydevice_mcp_features(self, household: Any) -> Sequence[Feature]:
        raise AssertionError(household)


async def test_a_hook_that_is_not_ours_costs_its_own_plugin_alone(plugged: Router) -> None:
    assert plugged.plugins is not None
    plugged.plugins.register(Odd(), "odd")
    async with connected(plugged) as stream:
        client = await opened(Bare(stream), MODERN)
        tools = {tool["name"] for tool in (await client.ask("tools/list"))["result"]["tools"]}
        assert {"press", "brought-tool"} <= tools


async def test_news_that_nobody_hears_stops_nothing(router: Router) -> None:
    async with facade_running(router) as facade:
        async with connected(router, facade) as stream:
            await opened(Bare(stream), ERAS[0])
        household = await facade.household(router)
        for _ in range(3):
            household.changes.changed("prompts")
            household.changes.updated("anydevice://devices")
        async with connected(router, facade) as stream:
            client = await opened(Bare(stream), ERAS[0])
            assert (await client.ask("resources/subscribe", {"uri": "anydevice://devices"}))["result"] == {}
            household.changes.updated("anydevice://devices")
            with anyio.fail_after(PATIENCE):
                told = await client.receive()
            assert told["method"] == "notifications/resources/updated"
            assert told["params"]["uri"] == "anydevice://devices"


async def test_a_client_that_does_not_read_keeps_news_from_nobody_else(router: Router) -> None:
    async with facade_running(router) as facade, connected(router, facade) as deaf, connected(router, facade) as other:
        stuck = await opened(Bare(deaf), ERAS[0])
        for number in range(60):  # 20 kB of answer each, and nobody takes them
            await stuck.send(stuck.request("tools/list", id=f"n{number}"))
        client = await opened(Bare(other), ERAS[0])
        household = await facade.household(router)
        for round_ in range(3):
            household.changes.changed("prompts")
            with anyio.fail_after(4):  # a client gets half a minute to read before it is given up
                told = await client.receive()
            assert told["method"] == "notifications/prompts/list_changed", round_
        await deaf.aclose()


async def test_what_a_client_subscribes_to_is_bounded(router: Router, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anydevice_mcp.changes.SUBSCRIBED_MOST", 2)
    async with connected(router) as stream:
        client = await opened(Bare(stream), ERAS[0])
        for uri in ("anydevice://a", "anydevice://b", "anydevice://a"):
            assert (await client.ask("resources/subscribe", {"uri": uri}))["result"] == {}
        for uri in ("anydevice://c", "anydevice://" + "x" * 5000):
            assert (await client.ask("resources/subscribe", {"uri": uri}))["error"]["code"] == -32602
        assert (await client.ask("resources/unsubscribe", {"uri": "anydevice://b"}))["result"] == {}
        assert (await client.ask("resources/subscribe", {"uri": "anydevice://c"}))["result"] == {}


async def test_whole_results_of_all_principals_together_are_bounded(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice_mcp.resources.RESULTS_MOST", 10_000)
    kept = Resources()
    modest, greedy = (Caller(principal=f"token:{name}", transport="http", connection="") for name in ("one", "two"))
    first = kept.keep(modest, {"text": "x" * 3_000})
    uris = [kept.keep(greedy, {"text": "é" * 1_500}) for _ in range(6)]
    left = {uri for rows in kept._results.values() for uri, _ in rows}
    assert first in left and uris[-1] in left and uris[0] not in left
    assert sum(len(text) for rows in kept._results.values() for _, text in rows) <= 10_000
