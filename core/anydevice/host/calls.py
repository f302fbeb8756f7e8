"""The `call` conversation: requests that run beside one another, progress, cancelling, and the daemon itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anyio
import structlog

from anydevice_schemas import Answer, Call, Caller, ErrorBody
from anydevice_schemas.errors import (
    AnydeviceError,
    CallCancelled,
    CallTimeout,
    ConnectionLost,
    HostAtCapacity,
    Internal,
    InvalidArgument,
    OutcomeUnknown,
    Refused,
    UnknownCommand,
)

from ..policy import applies
from . import operations, protocol
from .stream import HostStream

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from .connection import ConnectionInfo
    from .daemon import Daemon

log = structlog.get_logger("anydevice.host.calls")

MAX_RUNNING = 64
"""Requests of one connection that may run at once."""

MAX_DEADLINE = 86400.0
_REQUEST = {
    "call": {"id", "call", "arguments", "deadline"},
    "host": {"id", "host", "arguments"},
    "cancel": {"cancel"},
    "goodbye": {"goodbye"},
}
RequestId = int | str


class Conversation:
    """One client's requests, from its first to the last answer."""

    def __init__(self, daemon: Daemon, stream: HostStream, caller: Caller, info: ConnectionInfo) -> None:
        self.daemon = daemon
        self.stream = stream
        self.caller = caller
        self.info = info
        self._running: dict[RequestId, anyio.CancelScope] = {}
        self._asked_to_cancel: set[RequestId] = set()
        self._calls = True

    async def run(self, *, calls: bool) -> None:
        """Reads requests until the client ends its direction, and runs them to their end while it is there.

        Args:
            calls: False for the `host` conversation, in which only operations may be asked for.
        """
        self._calls = calls
        await self.stream.while_wanted(self._read)

    async def _read(self) -> None:
        lines = protocol.Lines(protocol.LINE_LIMIT)
        async with anyio.create_task_group() as group:
            while True:
                try:
                    data = await self.stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return  # what still runs goes on for as long as the client listens
                for line in lines.feed(data):
                    await self._take(line, group)

    async def _take(self, line: bytes | protocol.LineTooLong, group: TaskGroup) -> None:
        """One line: starts what it asks for, or says what is wrong with it."""
        request_id: RequestId | None = None
        try:
            if isinstance(line, protocol.LineTooLong):
                raise _bad("line", f"a line of at most {protocol.LINE_LIMIT} bytes")
            try:
                message = protocol.decode(line)
            except protocol.Malformed as error:
                raise _bad("line", f"one JSON object a line ({error})") from None
            given = message.get("id")
            if isinstance(given, (int, str)) and not isinstance(given, bool):
                request_id = given
            kind = next((kind for kind in _REQUEST if kind in message), None)
            if kind is None:
                raise _bad("request", "one with `call`, `host`, `cancel` or `goodbye`")
            if unknown := sorted(set(message) - _REQUEST[kind]):
                raise _bad(unknown[0][:60], f"one of {', '.join(sorted(_REQUEST[kind]))}")
            if kind == "cancel":
                self._cancel(message["cancel"])
                return
            if kind == "goodbye":
                self.stream.goodbye = True
                return
            self._start(kind, request_id, message, group)
        except AnydeviceError as error:
            await self._reply(request_id, error=error.to_wire())

    def _start(self, kind: str, request_id: RequestId | None, message: Mapping[str, Any], group: TaskGroup) -> None:
        name, arguments, deadline = message[kind], message.get("arguments", {}), message.get("deadline")
        if request_id is None:
            raise _bad("id", "a number or a string")
        if request_id in self._running:
            raise _bad("id", "one that no running request has")
        if not isinstance(name, str):
            raise _bad(kind, "a name")
        if not isinstance(arguments, dict):
            raise _bad("arguments", "an object")
        if deadline is not None and (
            isinstance(deadline, bool) or not isinstance(deadline, (int, float)) or not 0 < deadline <= MAX_DEADLINE
        ):
            raise _bad("deadline", f"seconds, more than 0 and at most {MAX_DEADLINE:g}")
        if kind == "call" and not self._calls:
            raise Refused(
                "This connection asks only the daemon itself.", reason='it said hello "host"', alternative='say "call"'
            )
        if len(self._running) >= MAX_RUNNING:
            raise HostAtCapacity(f"{MAX_RUNNING} requests of this connection run already.", limit=MAX_RUNNING)
        # In place before the task starts, so that a cancel right behind the request finds it.
        scope = self._running[request_id] = anyio.CancelScope()
        if kind == "call":
            self.info.running += 1
            group.start_soon(self._call, request_id, name, arguments, deadline, scope)
        else:
            group.start_soon(self._operate, request_id, name, arguments, scope)

    def _cancel(self, request_id: Any) -> None:
        """Ends a running request; its answer says so. One that has ended already is none of our business."""
        if not isinstance(request_id, (int, str)):
            raise _bad("cancel", "the id of a request")
        scope = self._running.get(request_id)
        if scope is not None:
            self._asked_to_cancel.add(request_id)
            scope.cancel()

    async def _call(
        self,
        request_id: RequestId,
        name: str,
        arguments: dict[str, Any],
        deadline: float | None,
        scope: anyio.CancelScope,
    ) -> None:
        answer: Answer | None = None

        async def progress(done: float | None, message: str) -> None:
            if not self.stream.busy():  # a client that reads slowly gets fewer of these, never a slower call
                await self._reply(request_id, progress={"done": done, "message": message})

        if deadline is not None:
            scope.deadline = anyio.current_time() + deadline
        try:
            with scope:
                call = Call(name=name, arguments=arguments, caller=self.caller)
                answer = await self.daemon.router.call(call, progress=progress)
        finally:
            asked = request_id in self._asked_to_cancel
            self.info.running -= 1
            self._settle(request_id)
            if answer is None:
                # Cancelled, by whomever: the client is told, even while the daemon shuts down.
                answer = self._ended_early(name, arguments, deadline, asked)
            with anyio.CancelScope(shield=True):
                await self._answer(request_id, answer)

    def _ended_early(self, name: str, arguments: Mapping[str, Any], deadline: float | None, asked: bool) -> Answer:
        """The answer to a call that was ended from outside; honest about what may have happened before."""
        try:
            descriptor = self.daemon.router.services.catalogue.get(name).command
            reads = descriptor.effect == "read" or (
                bool(descriptor.reads_when) and applies(descriptor.reads_when, arguments)
            )
        except UnknownCommand:
            reads = True
        error: AnydeviceError
        if asked:
            error = CallCancelled("The call was cancelled.", by="caller", retryable=reads, may_have_acted=not reads)
        elif self.daemon.handing_over:
            error = ConnectionLost(
                "The daemon was replaced by a newer version while the call ran, and did not wait any longer.",
                restarted=True,
                may_have_acted=not reads,
                hint="Repeat the call."
                if reads
                else "Look at the device first (snapshot, appstate): the call may have acted.",
            )
        elif self.daemon.stopping:
            error = ConnectionLost(
                "The daemon was stopped while the call ran.", restarted=False, may_have_acted=not reads
            )
        elif deadline is None:
            error = CallCancelled("The call was ended.", by="daemon", retryable=reads, may_have_acted=not reads)
        elif reads:
            error = CallTimeout(f"{name[:60]} did not end within the caller's deadline.", after=deadline)
        else:
            error = OutcomeUnknown(
                f"{name[:60]} did not end within the caller's deadline.",
                sent="unknown",
                reason=f"the caller's deadline of {deadline:g} s",
            )
        return Answer(ok=False, command=name[:60], error=ErrorBody(**error.to_wire()))

    async def _operate(
        self, request_id: RequestId, name: str, arguments: dict[str, Any], scope: anyio.CancelScope
    ) -> None:
        result: dict[str, Any] | None = None
        error: AnydeviceError = CallCancelled("The operation was cancelled.", by="caller")
        try:
            with scope:
                result = await operations.run(self.daemon, self.caller, name, arguments)
        except AnydeviceError as refused:
            error = refused
        except Exception as defect:  # a defect of ours must still be an answer
            log.error("operation_failed", operation=name[:60], exc_info=defect)
            error = Internal("Something in the daemon is wrong.", incident="operation", kind=type(defect).__name__)
        finally:
            self._settle(request_id)
        if result is None:
            await self._reply(request_id, error=error.to_wire())
            return
        await self._reply(request_id, result=result)
        if name == "stop":
            self.daemon.stop("asked to")

    def _settle(self, request_id: RequestId) -> None:
        del self._running[request_id]
        self._asked_to_cancel.discard(request_id)

    async def _answer(self, request_id: RequestId, answer: Answer) -> None:
        try:
            text = answer.model_dump_json(exclude_none=True)
        except Exception:  # lone surrogates, or whatever else a backend put into its data
            text = json.dumps(answer.model_dump(exclude_none=True), default=repr, separators=(",", ":"))
        line = b'{"id":%b,"answer":%b}\n' % (json.dumps(request_id).encode(), text.encode())
        if len(line) > protocol.ANSWER_LIMIT:
            limit = Internal("The answer is too large to be sent.", incident="answer-limit", size=len(line))
            short = Answer(ok=False, command=answer.command, error=ErrorBody(**limit.to_wire()))
            line = b'{"id":%b,"answer":%b}\n' % (
                json.dumps(request_id).encode(),
                short.model_dump_json(exclude_none=True).encode(),
            )
        await self._send(line)

    async def _reply(self, request_id: RequestId | None, **what: Any) -> None:
        await self._send(protocol.encode({"id": request_id, **what}))

    async def _send(self, line: bytes) -> None:
        try:
            await self.stream.send(line)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # nobody listens any more; reading ends the conversation


def _bad(param: str, expected: str) -> InvalidArgument:
    return InvalidArgument(f"{param} is not what is expected: {expected}.", param=param, expected=expected)
