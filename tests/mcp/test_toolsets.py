"""The tool `toolset`: a connection of the handshake era widens its own list, hears of it, and narrows it again."""

from __future__ import annotations

import pytest

from anydevice.router import Router
from anydevice_mcp.published import DEFAULT_TOOLS, TOOLSETS

from .clients import HANDSHAKE, MODERN, Bare, connected

pytestmark = pytest.mark.anyio


async def names(client: Bare) -> set[str]:
    return {tool["name"] for tool in (await client.ask("tools/list"))["result"]["tools"]}


async def test_what_is_enabled_is_listed_until_it_is_disabled_and_the_client_hears_each_time(router: Router) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(HANDSHAKE[-1])
        assert await names(client) == DEFAULT_TOOLS | {"toolset"} and len(DEFAULT_TOOLS) < 25
        for change, expected in (
            ({"enable": "tv"}, DEFAULT_TOOLS | TOOLSETS["tv"]),
            ({"enable": "files"}, DEFAULT_TOOLS | TOOLSETS["tv"] | TOOLSETS["files"]),
            ({"disable": "tv"}, DEFAULT_TOOLS | TOOLSETS["files"]),
        ):
            before = len(client.seen)
            said = await client.call("toolset", **change)
            assert said["structuredContent"]["tools"] == len(expected) + 1
            heard = [each.get("method") for each in client.seen[before:]]
            assert heard.count("notifications/tools/list_changed") == 1
            assert await names(client) == expected | {"toolset"}
        before = len(client.seen)
        await client.call("toolset", enable="files")  # as it is
        await client.call("toolset")
        assert all("method" not in each for each in client.seen[before:])


@pytest.mark.parametrize("bad", [{"enable": "nothing"}, {"disable": 3}, {"add": "tv"}, {"enable": ["tv"]}])
async def test_what_means_nothing_is_a_typed_error_and_changes_nothing(router: Router, bad: dict[str, object]) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(HANDSHAKE[-1])
        result = await client.call("toolset", **bad)
        assert result["isError"] and result["structuredContent"]["error"]["code"] == "invalid_argument"
        assert await names(client) == DEFAULT_TOOLS | {"toolset"}


async def test_it_widens_what_the_launch_flag_chose(router: Router) -> None:
    async with connected(router, tools="tv") as stream:
        client = Bare(stream)
        await client.hello(HANDSHAKE[0])
        await client.call("toolset", enable="files")
        assert await names(client) == TOOLSETS["tv"] | TOOLSETS["files"] | {"toolset"}


async def test_it_is_not_there_in_the_newer_era_nor_where_every_command_is_listed(router: Router) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(MODERN)
        assert await names(client) == DEFAULT_TOOLS
    async with connected(router, schemas="full") as stream:
        client = Bare(stream)
        await client.hello(HANDSHAKE[-1])
        assert "toolset" not in await names(client)
