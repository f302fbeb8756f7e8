"""The protocol client over streams we hold both ends of: split and joined messages, deadlines, ends, cancellation."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from anydevice_schemas.errors import AppCrashed, CallTimeout, ToolMissing, Unsupported
from anydevice_web import endpoint
from anydevice_web.cdp import Connection, Gone, ProtocolError
from anydevice_web.transport import PipeTransport

from .loops import run_on


def on_both_loops(test: Callable[..., Any]) -> Callable[..., None]:
    """Runs a test on asyncio and on trio, each on a loop of its own, with both ends of a fresh pipe."""

    @pytest.mark.parametrize("loop", ["asyncio", "trio"])
    def run(loop: str) -> None:
        async def body() -> None:
            async with pipe() as (connection, far):
                await test(connection, far)

        run_on(loop, body)

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


class Far:
    """The browser's end of a pipe."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd, self._write_fd = read_fd, write_fd
        self._unread = b""

    async def receive(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            await anyio.wait_readable(self._read_fd)
            self._unread += os.read(self._read_fd, 65536)
        message, _, self._unread = self._unread.partition(b"\0")
        return dict(json.loads(message))

    def write(self, data: bytes) -> None:
        os.write(self._write_fd, data)

    def send(self, **message: Any) -> None:
        self.write(json.dumps(message).encode() + b"\0")

    def close(self) -> None:
        for fd in (self._read_fd, self._write_fd):
            with contextlib.suppress(OSError):
                os.close(fd)


@asynccontextmanager
async def pipe() -> AsyncIterator[tuple[Connection, Far]]:
    commands_out, commands_in = os.pipe()
    answers_out, answers_in = os.pipe()
    far = Far(commands_out, answers_in)
    connection = Connection(PipeTransport(commands_in, answers_out))
    try:
        yield connection, far
    finally:
        await connection.aclose()
        far.close()


async def both(*calls: Callable[[], Any]) -> None:
    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            for call in calls:
                group.start_soon(call)


@on_both_loops
async def test_answers_find_their_calls_in_any_order(connection: Connection, far: Far) -> None:
    first, second = await connection.root.post("A.one"), await connection.root.post("A.two", {"x": 1})
    sent = [await far.receive(), await far.receive()]
    assert [(m["method"], m["params"]) for m in sent] == [("A.one", {}), ("A.two", {"x": 1})]
    far.send(id=sent[1]["id"], result={"n": 2})
    far.send(id=sent[0]["id"], result={"n": 1})
    assert (await first.result(), await second.result()) == ({"n": 1}, {"n": 2})


@on_both_loops
async def test_messages_may_come_split_and_joined(connection: Connection, far: Far) -> None:
    seen: list[int] = []
    connection.root.on("E.vent", lambda params: seen.append(params["n"]))
    data = b"".join(json.dumps({"method": "E.vent", "params": {"n": n}}).encode() + b"\0" for n in range(50))
    for start in range(0, len(data), 7):
        far.write(data[start : start + 7])
        if start % 70 == 0:
            await anyio.sleep(0)
    with anyio.fail_after(30):
        while len(seen) < 50:
            await anyio.sleep(0.005)
    assert seen == list(range(50))


@on_both_loops
async def test_large_messages_pass_both_ways_while_the_other_side_is_slow(connection: Connection, far: Far) -> None:
    text = "x" * 3_000_000

    async def ask() -> None:
        assert (await connection.root.call("A.big", {"text": text}))["length"] == len(text)

    async def answer() -> None:
        await anyio.sleep(0.1)
        message = await far.receive()
        far.send(id=message["id"], result={"length": len(message["params"]["text"])})

    await both(ask, answer)


@on_both_loops
async def test_a_cancelled_send_never_tears_a_message(connection: Connection, far: Far) -> None:
    with anyio.move_on_after(0.05) as scope:
        await connection.root.post("A.big", {"text": "y" * 5_000_000})
    assert scope.cancelled_caught

    async def ask() -> None:
        assert await connection.root.call("A.next") == {"ok": True}

    async def answer() -> None:
        assert (await far.receive())["method"] == "A.big"
        message = await far.receive()
        assert message["method"] == "A.next"
        far.send(id=message["id"], result={"ok": True})

    await both(ask, answer)


@on_both_loops
async def test_a_call_without_an_answer_ends_at_its_deadline_and_a_late_one_is_ignored(
    connection: Connection, far: Far
) -> None:
    with pytest.raises(CallTimeout) as caught:
        await connection.root.call("A.slow", deadline=0.05)
    assert (caught.value.details["after"], caught.value.details["waiting_for"]) == (0.05, "A.slow")
    far.send(id=(await far.receive())["id"], result={})
    pending = await connection.root.post("A.next")
    far.send(id=pending.number, result={"n": 1})
    assert await pending.result() == {"n": 1}


@on_both_loops
async def test_an_error_of_the_browser_is_an_error_of_the_call(connection: Connection, far: Far) -> None:
    pending = await connection.root.post("A.bad")
    far.send(id=pending.number, error={"code": -32000, "message": "no such thing"})
    with pytest.raises(ProtocolError) as caught:
        await pending.result()
    assert (caught.value.method, caught.value.code, caught.value.text) == ("A.bad", -32000, "no such thing")


@on_both_loops
async def test_events_go_to_their_session_and_a_broken_handler_stops_nothing(connection: Connection, far: Far) -> None:
    seen: list[tuple[str, int]] = []
    for name in ("s1", "s2"):
        session = connection.session(name)
        session.on("E.vent", lambda params: 1 / 0)
        session.on("E.vent", lambda params, name=name: seen.append((name, params["n"])))  # type: ignore[misc]
    for name, n in (("s1", 1), ("s2", 2), ("s3", 3), ("s1", 4)):
        far.send(method="E.vent", params={"n": n}, sessionId=name)
    pending = await connection.root.post("A.sync")
    far.send(id=pending.number, result={})
    await pending.result()
    assert seen == [("s1", 1), ("s2", 2), ("s1", 4)]


@on_both_loops
async def test_failing_a_session_ends_its_calls_but_not_the_free_ones_nor_others(
    connection: Connection, far: Far
) -> None:
    mine, other = connection.session("mine"), connection.session("other")
    stuck, free = await mine.post("A.stuck"), await mine.post("A.answer", free=True)
    theirs = await other.post("A.theirs")
    mine.fail(AppCrashed("x", app="t1", reason="test"))
    with pytest.raises(AppCrashed):
        await stuck.result()
    for pending in (free, theirs):
        far.send(id=pending.number, result={"n": 1}, sessionId=pending.owner.id)
        assert await pending.result() == {"n": 1}
    mine.end("gone now")
    with pytest.raises(Gone, match="gone now"):
        await mine.post("A.later")


@on_both_loops
async def test_the_end_of_the_pipe_ends_everything_at_once(connection: Connection, far: Far) -> None:
    ended: list[int] = []
    connection.on_end(lambda: ended.append(1))
    pending = await connection.root.post("A.never")
    far.close()
    with anyio.fail_after(20), pytest.raises(Gone):
        await pending.result()
    with pytest.raises(Gone):
        await connection.root.post("A.later")
    await connection.aclose()
    await connection.aclose()
    assert ended == [1]


@on_both_loops
async def test_closing_ends_what_is_in_flight(connection: Connection, far: Far) -> None:
    pending = await connection.root.post("A.never")

    async def ask() -> None:
        with pytest.raises(Gone):
            await pending.result()

    await both(ask, connection.aclose)


def test_attaching_says_so_where_the_event_loop_cannot() -> None:
    with pytest.raises(Unsupported) as caught:
        run_on("trio", endpoint.connect, "ws://127.0.0.1:9/x")
    assert caught.value.details["operation"] == "web.attach"


def test_attaching_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "websockets.asyncio.client", None)
    with pytest.raises(ToolMissing) as caught:
        run_on("asyncio", endpoint.connect, "ws://127.0.0.1:9/x")
    assert caught.value.details["tools"] == ["websockets"]
