"""Lines in, lines out: whatever a client sends, it gets an answer, and the next line is not held up."""

from __future__ import annotations

import json
import random
import socket
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

from anydevice.host.protocol import LINE_LIMIT
from anydevice.router import Router
from anydevice_mcp.wire import MAX_IN_FLIGHT

from .clients import HANDSHAKE, MODERN, PATIENCE, Bare, connected
from .conftest import Watched

pytestmark = pytest.mark.anyio

PARSE, REQUEST, METHOD, PARAMS, BUSY = -32700, -32600, -32601, -32602, -32005


async def opened(stream: SocketStream, era: str = HANDSHAKE[-1]) -> Bare:
    client = Bare(stream)
    await client.hello(era)
    return client


@pytest.mark.parametrize(
    "line",
    [
        b"{", b"nonsense", b"{} {}", b"\xff\xfe", b'{"a": NaN}', b'{"a": "\\ud800"}', b'"\x01"', b"[" * 5000,
        b'{"id": ' + b"9" * 9000 + b"}",
    ],
)  # fmt: skip
async def test_a_line_that_is_not_json_is_a_parse_error_and_the_next_line_is_served(
    router: Router, line: bytes
) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        await client.raw(line + b"\n" + json.dumps(client.request("ping", id="after")).encode() + b"\n")
        fault = await client.receive()
        assert fault["id"] is None and fault["error"]["code"] == PARSE
        assert (await client.receive()) == {"jsonrpc": "2.0", "id": "after", "result": {}}


@pytest.mark.parametrize("id", [7, "seven", 7.5])
async def test_a_request_with_half_a_character_in_it_is_refused_by_its_own_id(router: Router, id: Any) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        await client.raw(
            b'{"jsonrpc":"2.0","id":%s,"method":"ping","params":{"a":"\\ud83d"}}\n' % json.dumps(id).encode()
        )
        fault = await client.receive()
        assert (fault["id"], fault["error"]["code"]) == (id, PARSE)
        for nobody in (b'"\\ud800"', b"null", b"true", b"[]"):
            await client.raw(b'{"jsonrpc":"2.0","id":%s,"method":"ping","params":{"a":"\\ud83d"}}\n' % nobody)
            assert (await client.receive())["id"] is None
        assert (await client.ask("ping"))["result"] == {}


@pytest.mark.parametrize(
    ("message", "code", "id"),
    [
        (7, REQUEST, None),
        (None, REQUEST, None),
        ("text", REQUEST, None),
        ({}, REQUEST, None),
        ({"jsonrpc": "1.0", "id": 5, "method": "ping"}, REQUEST, 5),
        ({"id": 5, "method": "ping"}, REQUEST, 5),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, REQUEST, None),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, REQUEST, None),
        ({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}, REQUEST, None),
        ({"jsonrpc": "2.0", "id": [1], "method": "ping"}, REQUEST, None),
        ({"jsonrpc": "2.0", "id": 5, "method": 6}, REQUEST, 5),
        ({"jsonrpc": "2.0", "id": 5, "method": "ping", "params": [1]}, PARAMS, 5),
        ({"jsonrpc": "2.0", "id": 5, "method": "ping", "params": "x"}, PARAMS, 5),
        ({"jsonrpc": "2.0", "id": 5, "result": 3}, REQUEST, None),
        ({"jsonrpc": "2.0", "id": 5, "result": {}, "error": {"code": 1, "message": ""}}, REQUEST, 5),
        ({"jsonrpc": "2.0", "id": 5, "error": "no"}, REQUEST, None),
        ({"jsonrpc": "2.0", "id": 5}, REQUEST, 5),
        ([], REQUEST, None),
        ({"jsonrpc": "2.0", "id": 5, "method": "no/such"}, METHOD, 5),
        ({"jsonrpc": "2.0", "id": 5, "method": ""}, METHOD, 5),
        ({"jsonrpc": "2.0", "id": 5, "method": "tools/call"}, PARAMS, 5),
        ({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": 7}}, PARAMS, 5),
        ({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "is", "arguments": [1]}}, PARAMS, 5),
        ({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {"cursor": "page 2"}}, PARAMS, 5),
    ],
)
async def test_json_that_is_no_request_is_refused_with_the_right_code(
    router: Router, message: Any, code: int, id: Any
) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        await client.send(message)
        fault = await client.receive()
        assert (fault["id"], fault["error"]["code"]) == (id, code)
        assert "Traceback" not in json.dumps(fault)
        assert (await client.ask("ping"))["result"] == {}


async def test_notifications_and_stray_responses_are_never_answered(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        for message in (
            {"method": "no/such"},
            {"method": "notifications/cancelled", "params": {"requestId": 99}},
            {"method": "notifications/cancelled", "params": {"requestId": {"no": "id"}}},
            {"method": "notifications/cancelled"},
            {"method": "notifications/progress", "params": {"progressToken": 1, "progress": "x"}},
            {"id": 77, "result": {}},
            {"id": "77", "error": {"code": 1, "message": "no"}},
            {"id": None, "error": {"code": 1, "message": "no"}},
        ):
            await client.send({"jsonrpc": "2.0", **message})
        await client.raw(b"\n \r\n")
        assert await client.ask("ping", id="last") == {"jsonrpc": "2.0", "id": "last", "result": {}}
        assert client.seen[-1]["id"] == "last" and len(client.seen) == 2


@pytest.mark.parametrize(
    "id", [0, -1, 7, 2**60, 2**70, "7", "", "0", " 7 ", "~1", "s1", "é\u200b\n", "x" * 5000, 1.5, -0.25, 1e300]
)
async def test_an_id_of_any_legal_kind_comes_back_as_it_was(router: Router, id: Any) -> None:
    for era in (HANDSHAKE[0], MODERN):
        async with connected(router) as stream:
            client = await opened(stream, era)
            reply = await client.ask("tools/list", id=id)
            assert reply["id"] == id and type(reply["id"]) is type(id)
            assert reply["result"]["tools"]


async def test_ids_that_look_alike_are_kept_apart(router: Router, watched: Watched) -> None:
    """The SDK folds 7 and "7" into one; answers and cancellations must not."""
    async with connected(router) as stream:
        client = await opened(stream)
        for id in (7, "7", " 7", "07", "~1"):
            params = {"name": "test-slow", "arguments": {"tag": repr(id)}}
            await client.send(client.request("tools/call", params, id=id))
        with anyio.fail_after(PATIENCE):
            while len(watched.started) < 5:
                await anyio.sleep(0.01)
        await client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "7"}})
        with anyio.fail_after(PATIENCE):
            while not watched.cancelled:
                await anyio.sleep(0.01)
        await client.silence(0.1)
        assert watched.cancelled == ["'7'"]


async def test_cancelling_an_id_that_is_not_in_use_ends_no_other_call(router: Router, watched: Watched) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        for id in ("", "7"):
            await client.send(client.request("tools/call", {"name": "test-slow", "arguments": {"seconds": 0.4}}, id=id))
        with anyio.fail_after(PATIENCE):
            while len(watched.started) < 2:
                await anyio.sleep(0.01)
        for id in (99, "~1", 7, None, "s1", True):
            await client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
        assert {(await client.receive())["id"] for _ in range(2)} == {"", "7"}
        assert not watched.cancelled


async def test_an_id_still_in_use_is_refused_without_disturbing_its_first_request(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        slow = client.request("tools/call", {"name": "test-slow", "arguments": {"seconds": 1.5}}, id=5)
        await client.send(slow)
        await client.send(client.request("ping", id=5))
        await client.send(client.request("ping", id=5.0))
        for _ in range(2):
            fault = await client.receive()
            assert fault["id"] is None and fault["error"]["code"] == REQUEST
            assert fault["error"]["data"]["duplicate"] == 5
        answer = await client.receive()
        assert answer["id"] == 5 and answer["result"]["structuredContent"]["slept"] == 1.5
        assert (await client.ask("ping", id=5))["result"] == {}


async def test_a_line_beyond_the_limit_is_refused_unread_and_the_next_is_served(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        chunk = b"x" * (1024 * 1024)
        await client.raw(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":"')
        for _ in range(LINE_LIMIT // len(chunk) + 2):
            await client.raw(chunk)
        await client.raw(b'"}}\n')
        fault = await client.receive()
        assert fault["id"] is None and fault["error"]["code"] == REQUEST
        assert str(LINE_LIMIT) in fault["error"]["message"]
        assert (await client.ask("ping"))["result"] == {}


async def test_a_large_line_within_the_limit_is_served(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        result = await client.call("test-show", data={"text": "y" * 2_000_000})
        assert len(json.dumps(result)) < 60_000


async def test_bytes_may_come_in_any_pieces(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        line = json.dumps(client.request("ping", id="drip")).encode() + b"\r\n"
        for at in range(len(line)):
            await client.raw(line[at : at + 1])
        assert (await client.receive())["id"] == "drip"
        await client.raw(b"".join(json.dumps(client.request("ping", id=f"n{n}")).encode() + b"\n" for n in range(50)))
        assert {(await client.receive())["id"] for _ in range(50)} == {f"n{n}" for n in range(50)}


async def test_nothing_fuzzed_onto_the_wire_ends_or_holds_up_the_connection(router: Router) -> None:
    dice = random.Random(20261130)
    words = ["jsonrpc", "2.0", "id", "method", "params", "result", "error", "tools/call", "ping", "initialize", "name"]

    def value(depth: int = 0) -> Any:
        kind = dice.randrange(9 if depth < 3 else 6)
        if kind == 6:
            return [value(depth + 1) for _ in range(dice.randrange(4))]
        if kind >= 7:
            return {dice.choice(words): value(depth + 1) for _ in range(dice.randrange(6))} | (
                {"jsonrpc": "2.0"} if dice.random() < 0.6 else {}
            )
        return [None, True, dice.randrange(-5, 10**9), dice.random(), dice.choice(words), "é\u2028\x00"][kind]

    async with connected(router) as stream:
        client = await opened(stream)
        for round_ in range(12):
            sent = b""
            for _ in range(40):
                line = json.dumps(value()).encode()
                if dice.random() < 0.4:
                    line = bytes(dice.choice(line + b"\x00{}[]\xff") for _ in range(dice.randrange(1, 60)))
                sent += line.replace(b"\n", b" ") + b"\n"
            await client.raw(sent)
            mark = f"round {round_}"
            reply = await client.ask("ping", id=mark)
            assert reply["id"] == mark and "result" in reply
        for message in client.seen:
            assert isinstance(message, dict) and message["jsonrpc"] == "2.0"
        codes = {message["error"]["code"] for message in client.seen if "error" in message}
        assert codes <= {PARSE, REQUEST, METHOD, PARAMS}, codes
        assert {PARSE, REQUEST} <= codes


# --- batches ---


@pytest.mark.parametrize("era", HANDSHAKE[:2])
async def test_a_batch_is_answered_by_one_array_with_an_answer_for_each_request(router: Router, era: str) -> None:
    async with connected(router) as stream:
        client = await opened(stream, era)
        await client.send(
            [
                client.request("ping", id="a"),
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}},
                client.request("tools/call", {"name": "test-slow", "arguments": {"seconds": 0.2}}, id=2),
                client.request("no/such", id=3),
                17,
                {"jsonrpc": "2.0", "id": 4, "method": "initialize", "params": {}},
            ]
        )
        replies = await client.receive()
        assert isinstance(replies, list)
        by_id = {reply["id"]: reply for reply in replies}
        assert set(by_id) == {"a", 2, 3, 4, None}
        assert by_id["a"]["result"] == {} and by_id[2]["result"]["content"]
        assert by_id[3]["error"]["code"] == METHOD
        assert by_id[4]["error"]["code"] == by_id[None]["error"]["code"] == REQUEST


async def test_a_batch_of_notifications_is_not_answered_and_an_empty_one_is_refused(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(stream, "2025-03-26")
        await client.send([{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}])
        await client.send([])
        fault = await client.receive()
        assert fault["id"] is None and fault["error"]["code"] == REQUEST


async def test_a_batch_is_complete_without_the_request_that_was_cancelled(router: Router, watched: Watched) -> None:
    async with connected(router) as stream:
        client = await opened(stream, "2025-03-26")
        await client.send([client.request("ping", id="p"), client.request("tools/call", {"name": "test-slow"}, id="s")])
        with anyio.fail_after(PATIENCE):
            while not watched.started:
                await anyio.sleep(0.01)
        await client.silence(0.1)
        await client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "s"}})
        assert await client.receive() == [{"jsonrpc": "2.0", "id": "p", "result": {}}]


@pytest.mark.parametrize("era", [*HANDSHAKE[2:], MODERN])
async def test_a_batch_is_refused_in_revisions_that_have_none(router: Router, era: str) -> None:
    async with connected(router) as stream:
        client = await opened(stream, era)
        await client.send([client.request("tools/list", id=1)])
        fault = await client.receive()
        assert fault["id"] is None and fault["error"]["code"] == REQUEST
        assert (await client.ask("tools/list"))["result"]["tools"]


# --- the ends of a connection ---


async def test_too_many_requests_in_flight_are_refused_and_the_rest_go_on(router: Router, watched: Watched) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        for number in range(MAX_IN_FLIGHT + 3):
            await client.send(client.request("tools/call", {"name": "test-slow"}, id=f"n{number}"))
        faults = [await client.receive() for _ in range(3)]
        assert {fault["id"] for fault in faults} == {f"n{MAX_IN_FLIGHT + n}" for n in range(3)}
        assert {fault["error"]["code"] for fault in faults} == {BUSY}
        await client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "n0"}})
        with anyio.fail_after(PATIENCE):
            while not watched.cancelled:
                await anyio.sleep(0.01)
        assert (await client.ask("ping"))["result"] == {}


async def test_answers_still_come_after_the_client_ended_its_own_direction(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        await client.send(client.request("tools/call", {"name": "test-slow", "arguments": {"seconds": 0.3}}, id=1))
        await client.raw(json.dumps(client.request("ping", id=2)).encode())  # without an end
        await stream.send_eof()
        assert {(await client.receive())["id"] for _ in range(2)} == {1, 2}
        with anyio.fail_after(PATIENCE), pytest.raises(anyio.EndOfStream):
            await stream.receive()


async def test_a_client_that_never_reads_cannot_hold_up_the_device(router: Router, watched: Watched) -> None:
    """Progress to a client whose buffer is full is dropped, not waited for: the command goes on and ends."""
    async with connected(router) as stream:
        client = await opened(stream)
        stream.extra(anyio.abc.SocketAttribute.raw_socket).setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        params = {
            "name": "test-steps",
            "arguments": {"steps": [n / 20000 for n in range(20000)]},
            "_meta": {"progressToken": "t"},
        }
        await client.send(client.request("tools/call", params, id=1))
        with anyio.fail_after(PATIENCE):
            while not any(entry["command"] == "test-steps" for entry in router.services.journal.tail):
                await anyio.sleep(0.01)
        while (await client.receive()).get("id") != 1:
            pass
        assert len(client.seen) < 20000
