"""Every revision of the protocol, with the bare client and with the SDK's."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from anydevice.router import Router
from anydevice_mcp import instructions

from .clients import HANDSHAKE, MODERN, PATIENCE, Bare, connected, sdk_streams, text_of
from .conftest import Watched

pytestmark = pytest.mark.anyio

ERAS = (*HANDSHAKE, MODERN)


@pytest.mark.parametrize("era", HANDSHAKE)
async def test_the_handshake_agrees_on_the_revision_asked_for(router: Router, era: str) -> None:
    async with connected(router) as stream:
        hello = await Bare(stream).hello(era)
        assert hello["protocolVersion"] == era
        assert hello["serverInfo"]["name"] == "anydevice"
        assert hello["capabilities"]["tools"] == {"listChanged": True}
        assert hello["instructions"] == instructions.TEXT


async def test_an_unknown_revision_is_met_with_the_newest_of_the_handshake(router: Router) -> None:
    async with connected(router) as stream:
        assert (await Bare(stream).hello("2019-01-01"))["protocolVersion"] == HANDSHAKE[-1]


async def test_the_modern_era_discovers_and_needs_no_handshake(router: Router) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        hello = await client.hello(MODERN)
        assert hello["supportedVersions"] == [MODERN]
        assert hello["instructions"] == instructions.TEXT
        assert hello["ttlMs"] > 0 and hello["cacheScope"] == "private"
        assert (await client.call("test-show", data={"a": 1}))["structuredContent"]["a"] == 1
    async with connected(router) as stream:
        client = Bare(stream)
        client.modern = True
        reply = await client.ask("tools/list")
        assert reply["result"]["tools"] and reply["result"]["resultType"] == "complete"
        assert {"ttlMs", "cacheScope"} <= set(reply["result"])


async def test_a_connection_stays_in_the_era_it_began_in(router: Router) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(MODERN)
        client.modern = False
        assert (await client.ask("initialize", {"protocolVersion": HANDSHAKE[-1]}))["error"]["code"] == -32022
        client.modern = True
        assert (await client.ask("tools/list"))["result"]["tools"]
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(HANDSHAKE[-1])
        client.modern = True
        assert (await client.ask("tools/list"))["error"]["code"] == -32600


async def test_nothing_but_ping_is_served_before_the_handshake(router: Router) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        assert (await client.ask("ping"))["result"] == {}
        assert "error" in await client.ask("tools/call", {"name": "test-show"})
        await client.hello(HANDSHAKE[-1])
        assert (await client.call("test-show"))["isError"] is False


@pytest.mark.parametrize("era", ERAS)
async def test_text_says_everything_in_every_revision_and_structure_comes_where_it_exists(
    router: Router, era: str
) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(era)
        result = await client.call("test-show", data={"found": "Ä1"}, verified=False)
        assert "found: Ä1" in text_of(result) and "verified: false" in text_of(result)
        if era >= "2025-06-18":
            assert result["structuredContent"]["found"] == "Ä1"
        error = await client.call("test-fail", code="refused", details={"reason": "r", "alternative": "a"})
        assert error["isError"] is True and text_of(error).startswith("refused: ")


@pytest.mark.parametrize("mode", ["legacy", "auto", MODERN])
async def test_the_sdk_client_lists_calls_and_reads_results_in_both_eras(router: Router, mode: Any) -> None:
    async with connected(router) as stream, Client(sdk_streams(stream), mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert 24 <= len(tools) <= 25 and tools["press"].annotations.read_only_hint is False
        result = await client.call_tool("test-show", {"data": {"x": 1}, "verified": True})
        assert result.structured_content == {"verified": True, "x": 1, "untrusted": "test-show"}
        assert result.is_error is False
        found = await client.call_tool("command-search", {"words": "press"})
        assert found.structured_content["commands"][0]["name"] == "press"
        error = await client.call_tool("command-run", {"name": "no-such"})
        assert error.is_error and error.structured_content["error"]["code"] == "unknown_command"
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("pres", {})
        assert unknown.value.code == -32602 and "press" in unknown.value.message


@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_the_sdk_client_gets_progress_and_can_give_up_a_call(router: Router, watched: Watched, mode: Any) -> None:
    async with connected(router) as stream, Client(sdk_streams(stream), mode=mode) as client:
        seen: list[tuple[float, float | None, str | None]] = []

        async def told(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total, message))

        await client.call_tool("test-steps", {"steps": [0.25, 0.5, 1.0]}, progress_callback=told)
        assert seen == [(0.25, 1.0, "on it"), (0.5, 1.0, "on it"), (1.0, 1.0, "on it")]
        scope = anyio.CancelScope()

        async def give_up() -> None:
            while not watched.started:
                await anyio.sleep(0.01)
            scope.cancel()

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(give_up)
                with scope:
                    await client.call_tool("test-slow", {"tag": mode})
            assert scope.cancelled_caught
            while watched.cancelled != [mode]:
                await anyio.sleep(0.01)
        assert (await client.call_tool("test-show", {})).is_error is False
