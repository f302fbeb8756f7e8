"""Calls as they run: side by side, cancelled, abandoned, and telling how far they are."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from anydevice.router import Router
from anydevice.testing import FakeBackend

from .clients import HANDSHAKE, MODERN, PATIENCE, Bare, connected
from .conftest import Watched

pytestmark = pytest.mark.anyio

BOTH = pytest.mark.parametrize("era", [HANDSHAKE[-1], MODERN])


async def until(condition: Any) -> None:
    with anyio.fail_after(PATIENCE):
        while not condition():
            await anyio.sleep(0.005)


def cancel(id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}}


@BOTH
async def test_a_cancelled_call_is_ended_in_the_router_and_not_answered(
    router: Router, watched: Watched, era: str
) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(era)
        await client.send(client.request("tools/call", {"name": "test-slow"}, id="gone"))
        await until(lambda: watched.started)
        await client.send(cancel("gone"))
        await until(lambda: watched.cancelled == ["slow"])
        await client.silence(0.1)
        assert (await client.ask("tools/list"))["result"]["tools"]
        last = [entry for entry in router.services.journal.tail if entry["command"] == "test-slow"]
        assert [entry["outcome"] for entry in last] == ["cancelled"]


@BOTH
async def test_a_client_that_goes_away_takes_its_calls_with_it(router: Router, watched: Watched, era: str) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(era)
        for number in range(3):
            await client.send(client.request("tools/call", {"name": "test-slow", "arguments": {"tag": f"{number}"}}))
        await until(lambda: len(watched.started) == 3)
        await stream.aclose()
        await until(lambda: sorted(watched.cancelled) == ["0", "1", "2"])


@BOTH
async def test_a_slow_call_delays_nothing_else_on_its_connection(router: Router, watched: Watched, era: str) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(era)
        await client.send(client.request("tools/call", {"name": "test-slow", "arguments": {"seconds": 5}}, id="slow"))
        await until(lambda: watched.started)
        if era != MODERN:
            assert (await client.ask("ping"))["result"] == {}
        assert (await client.call("test-show", data={"a": 2}))["structuredContent"]["a"] == 2
        assert not watched.ended
        assert all(message.get("id") != "slow" for message in client.seen)


async def test_a_slow_device_does_not_delay_another_device(router: Router, backend: FakeBackend) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(MODERN)
        wait = {"name": "wait", "arguments": {"durationMs": 20_000, "device": "fake-1"}}
        await client.send(client.request("tools/call", wait, id="slow"))
        await until(lambda: router.services.lanes.busy("fake:fake-1"))
        result = await client.call("appstate", device="fake-2")
        assert result["structuredContent"]["device"] == "fake:fake-2"
        assert router.services.lanes.busy("fake:fake-1")
        # On the busy device itself the next call waits its turn, and takes it once the first is given up.
        await client.send(
            client.request("tools/call", {"name": "appstate", "arguments": {"device": "fake-1"}}, id="2nd")
        )
        await client.silence(0.1)
        await client.send(cancel("slow"))
        assert (await client.receive())["id"] == "2nd"


async def test_two_connections_of_one_user_never_share_an_implicit_session(
    router: Router, backend: FakeBackend
) -> None:
    async with connected(router) as one, connected(router) as two:
        first, second = Bare(one), Bare(two)
        await first.hello(HANDSHAKE[-1])
        await second.hello(MODERN)
        mine = await first.call("open", device="fake-1")
        yours = await second.call("open", device="fake-2")
        assert mine["structuredContent"]["session"] != yours["structuredContent"]["session"]
        assert (await first.call("appstate"))["structuredContent"]["device"] == "fake:fake-1"
        assert (await second.call("appstate"))["structuredContent"]["device"] == "fake:fake-2"
        held = await second.call("appstate", device="fake-1")
        assert held["structuredContent"]["error"]["code"] == "lease_held"
        await one.aclose()
        await until(lambda: not router.services.desk.held().get("fake:fake-1"))
        assert (await second.call("appstate", device="fake-1"))["isError"] is False


@BOTH
async def test_progress_only_rises_and_ends_before_the_answer(router: Router, era: str) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(era)
        steps = [None, None, 0.5, 0.4, None, 0.5, 0.9, 1.0, 1.0, None, 7]
        await client.call("test-steps", {"progressToken": "tok"}, steps=steps)
        told = [m["params"] for m in client.seen if m.get("method") == "notifications/progress"]
        numbers = [params["progress"] for params in told]
        assert numbers == sorted(set(numbers)) and numbers[2] == 0.5 and numbers[-1] == 1.0
        assert {params["progressToken"] for params in told} == {"tok"}
        assert "total" not in told[0] and told[2]["total"] == 1
        assert "result" in client.seen[-1]


async def test_progress_is_not_sent_without_a_token(router: Router) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(HANDSHAKE[-1])
        await client.call("test-steps", steps=[0.1, 0.9])
        assert not [m for m in client.seen if "method" in m]


async def test_a_call_with_a_token_can_be_cancelled_as_well(router: Router, watched: Watched) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(MODERN)
        params = {"name": "test-slow", "_meta": {"progressToken": 5}}
        await client.send(client.request("tools/call", params, id=3))
        await until(lambda: watched.started)
        await client.send(cancel(3))
        await until(lambda: watched.cancelled)
        await client.silence(0.1)


async def test_a_bad_option_is_the_answer_to_the_first_request(router: Router) -> None:
    for options in ({"schemas": "some"}, {"schema": "full"}, {"schemas": True}):
        async with connected(router, **options) as stream:
            client = Bare(stream)
            await client.raw(b"garbage\n")
            reply = await client.ask("initialize", {"protocolVersion": HANDSHAKE[-1]})
            assert reply["error"]["code"] == -32000 and "invalid_argument" in reply["error"]["message"]
            assert reply["error"]["data"]["details"]["param"] in ("schemas", "schema")
            with anyio.fail_after(PATIENCE), pytest.raises(anyio.EndOfStream):
                await stream.receive()
