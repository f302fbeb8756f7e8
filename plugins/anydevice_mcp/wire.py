"""One connection: lines on one side, the SDK's message streams on the other.

Beyond framing, this is where the connection is made safe against what the SDK leaves open: lines that are no
message are answered, ids are kept apart that the SDK would take for one another (7 and "7"), a request cannot take
the id of another that still runs, the number of requests in flight is bounded, and batches work in the protocol
revisions that have them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import ByteStream, ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage

from anydevice.host.protocol import LINE_LIMIT, Lines, LineTooLong

from .frames import BUSY, Id, Malformed, Message, decode, encode, is_id, read_message

MAX_IN_FLIGHT = 128
"""Requests of one connection that may run at once."""

BATCH_REVISIONS = frozenset({"2024-11-05", "2025-03-26"})
"""Protocol revisions in which a line may be an array of messages."""

DRAIN_SECONDS = 60.0
"""How long requests may go on once the client has ended its direction (it may still read their answers)."""

LASTING = frozenset({"subscriptions/listen"})
"""Requests that are not waited for then: they last as long as their connection."""

CHUNK = 65_536

Inbound = ObjectReceiveStream[SessionMessage | Exception]
Outbound = ObjectSendStream[SessionMessage]


@dataclass(slots=True)
class _Batch:
    """The answers to one array of messages, sent together."""

    waiting: int = 0
    replies: list[dict[str, Any]] = field(default_factory=list)
    complete: bool = False


@dataclass(slots=True)
class _Request:
    """A request in flight: the id its client knows it by, what it asks, and the batch it came in."""

    id: Id
    method: str
    batch: _Batch | None


class _Outwards(ObjectSendStream[SessionMessage]):
    """What the server sends, written where it is sent: a task in between would cost every answer two turns of the loop.

    Args:
        write: Writes one message, whole.
        lost: Called when the client is gone.
    """

    def __init__(self, write: Callable[[Message], Awaitable[None]], lost: Callable[[], None]) -> None:
        self._write = write
        self._lost = lost

    async def send(self, item: SessionMessage) -> None:
        """Writes it. Not even a cancelled sender leaves an answer unsent that is booked as given."""
        with anyio.CancelScope(shield=True):
            try:
                await self._write(item.message)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                self._lost()

    async def aclose(self) -> None:
        """Nothing is kept back, so there is nothing to do."""


class Wire:
    """One connection's messages.

    Args:
        stream: The connection's bytes.
        max_line: Bytes a message may have; a longer one is refused unread.
        max_in_flight: Requests that may run at once.
    """

    def __init__(self, stream: ByteStream, *, max_line: int = LINE_LIMIT, max_in_flight: int = MAX_IN_FLIGHT) -> None:
        self._stream = stream
        self._max_line = max_line
        self._max_in_flight = max_in_flight
        self._requests: dict[int | str, _Request] = {}
        self._keys: dict[tuple[bool, Id], int | str] = {}
        self._minted = 0
        self._revision: str | None = None
        self._lock = anyio.Lock(fast_acquire=True)
        self._idle = anyio.Event()

    async def run(self, serve: Callable[[Inbound, Outbound], Awaitable[None]]) -> None:
        """Runs `serve` on this connection's messages until the client ends it, or `serve` returns."""
        to_server, inbound = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with anyio.create_task_group() as group:

            async def read() -> None:
                async with to_server:
                    await self._read(to_server)

            group.start_soon(read)
            # The client gone without a word: what it asked for is not carried on.
            await serve(inbound, _Outwards(self._answer, group.cancel_scope.cancel))
            group.cancel_scope.cancel()

    # --- from the client ---

    async def _read(self, to_server: ObjectSendStream[SessionMessage | Exception]) -> None:
        lines = Lines(self._max_line)
        try:
            while True:
                try:
                    data = await self._stream.receive(CHUNK)
                except anyio.EndOfStream:
                    break
                for line in lines.feed(data):
                    await self._line(line, to_server)
            for line in lines.feed(b"\n"):  # a last line without an end
                await self._line(line, to_server)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # one side of this reader is gone; `run` ends everything
        with anyio.move_on_after(DRAIN_SECONDS):
            while any(request.method not in LASTING for request in self._requests.values()):
                self._idle = anyio.Event()
                await self._idle.wait()

    async def _line(self, line: bytes | LineTooLong, to_server: ObjectSendStream[SessionMessage | Exception]) -> None:
        try:
            if isinstance(line, LineTooLong):
                raise Malformed(types.INVALID_REQUEST, f"Invalid request: {line}.")
            value = decode(line)
            if isinstance(value, list):
                await self._batch(value, to_server)
            else:
                await self._forward(self._take(read_message(value), None), to_server)
        except Malformed as fault:
            await self._send(fault.reply())

    async def _batch(self, values: list[Any], to_server: ObjectSendStream[SessionMessage | Exception]) -> None:
        if self._revision not in BATCH_REVISIONS:
            raise Malformed(types.INVALID_REQUEST, "Invalid request: this protocol revision has no batches.")
        if not values:
            raise Malformed(types.INVALID_REQUEST, "Invalid request: an empty batch.")
        batch = _Batch()
        messages = []
        for value in values:
            try:
                message = read_message(value)
                if isinstance(message, types.JSONRPCRequest) and message.method == "initialize":
                    raise Malformed(types.INVALID_REQUEST, "Invalid request: initialize in a batch.", message.id)
                messages.append(self._take(message, batch))
            except Malformed as fault:
                batch.replies.append(fault.reply())
        batch.complete = True
        for taken in messages:
            await self._forward(taken, to_server)
        await self._finish(batch)

    async def _forward(
        self, message: SessionMessage | None, to_server: ObjectSendStream[SessionMessage | Exception]
    ) -> None:
        if message is not None:
            await to_server.send(message)

    def _take(self, message: Message, batch: _Batch | None) -> SessionMessage | None:
        """Prepares a message for the server: its id made unique there, its settling watched. None = not for it."""
        if isinstance(message, types.JSONRPCRequest):
            key = self._register(message, batch)

            async def unanswered() -> None:
                await self._settle(key)

            return SessionMessage(
                message.model_copy(update={"id": key}), ServerMessageMetadata(on_request_unanswered=unanswered)
            )
        if isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            wanted = (message.params or {}).get("requestId")
            key_of = self._keys.get(_name(wanted)) if is_id(wanted) else None
            if key_of is None:
                return None  # nothing of this id runs; passed on, it might name an id that we made up
            params = {**(message.params or {}), "requestId": key_of}
            return SessionMessage(message.model_copy(update={"params": params}))
        return SessionMessage(message)

    def _register(self, message: types.JSONRPCRequest, batch: _Batch | None) -> int | str:
        given: Id = message.id
        name = _name(given)
        if name in self._keys:
            # Answered without the id: the answer to the request that still runs must stay the only one.
            raise Malformed(
                types.INVALID_REQUEST, "Invalid request: this id is still in use.", data={"duplicate": given}
            )
        if len(self._requests) >= self._max_in_flight:
            raise Malformed(
                BUSY, f"{len(self._requests)} requests are in flight; wait for answers.", given, {"retryable": True}
            )
        key = self._key(given)
        self._keys[name] = key
        self._requests[key] = _Request(given, message.method, batch)
        if batch is not None:
            batch.waiting += 1
        return key

    def _key(self, given: Id) -> int | str:
        """The id the SDK gets to see: the client's own, unless the SDK would take it for another.

        It folds "7" and 7 into one and knows no fractions; those get a made-up id.
        """
        plain = isinstance(given, int) or (isinstance(given, str) and not _like_an_integer(given))
        if plain and given not in self._requests:
            return given  # type: ignore[return-value]
        while True:
            self._minted += 1
            made_up = f"~{self._minted}"
            if made_up not in self._requests:
                return made_up

    # --- to the client ---

    async def _answer(self, message: Message) -> None:
        wire: dict[str, Any]
        if isinstance(message, types.JSONRPCResponse):
            wire = {"jsonrpc": "2.0", "id": message.id, "result": message.result}
        else:
            wire = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
            request = self._forget(message.id)
            if request is not None:
                wire["id"] = request.id
                if request.method == "initialize" and "result" in wire:
                    self._revision = wire["result"].get("protocolVersion")
                if request.batch is not None:
                    request.batch.replies.append(wire)
                    await self._finish(request.batch)
                    self._idle.set()
                    return
        await self._send(wire)
        self._idle.set()

    async def _settle(self, key: int | str) -> None:
        """A request ended without an answer, because its client cancelled it."""
        request = self._forget(key)
        if request is not None and request.batch is not None:
            await self._finish(request.batch)
        self._idle.set()

    def _forget(self, key: int | str) -> _Request | None:
        request = self._requests.pop(key, None)
        if request is not None:
            del self._keys[_name(request.id)]
            if request.batch is not None:
                request.batch.waiting -= 1
        return request

    async def _finish(self, batch: _Batch) -> None:
        if batch.complete and not batch.waiting and batch.replies:
            replies, batch.replies = batch.replies, []
            await self._send(replies)

    async def _send(self, message: Any) -> None:
        async with self._lock:
            await self._stream.send(encode(message))


def _like_an_integer(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True


def _name(given: Any) -> tuple[bool, Id]:
    """What tells one id from another: text from number; numbers compare as in JSON (1 and 1.0 are one)."""
    return (isinstance(given, str), given)
