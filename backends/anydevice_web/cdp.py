"""A client of the Chrome DevTools Protocol: calls with deadlines, events, sessions that can fail as a whole.

One `Connection` is one browser; one `Session` is one target of it (sessions are flattened: all share the
connection and are told apart by `sessionId`). A call never outlives what it depends on: when the connection
ends, the session detaches, the page crashes or a dialog opens, `Session.fail` ends what is in flight with a
typed error at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import anyio
import structlog

from anydevice.kit import background
from anydevice_schemas.errors import AnydeviceError, CallTimeout

from .transport import PipeTransport, Transport

log = structlog.get_logger("anydevice.web.cdp")

Params = Mapping[str, Any]
Handler = Callable[[dict[str, Any]], None]
CALL_DEADLINE = 10.0
"""Seconds a call may take unless it says otherwise."""


class ProtocolError(Exception):
    """The browser answered a call with an error. `text` is the browser's own, not a page's."""

    def __init__(self, method: str, code: int, text: str) -> None:
        super().__init__(f"{method}: {text} ({code})")
        self.method = method
        self.code = code
        self.text = text


class Gone(Exception):
    """The session, target or connection a call belonged to is gone. `reason` is ours, safe for messages."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Pending:
    """A call on its way. Await `result` once.

    Attributes:
        wake: Called when it is done, for those who wait for other things too.
    """

    __slots__ = ("_answer", "_done", "_error", "free", "method", "number", "owner", "wake")

    def __init__(self, number: int, method: str, owner: Session, free: bool) -> None:
        self.number = number
        self.method = method
        self.owner = owner
        self.free = free
        self.wake: Callable[[], None] | None = None
        self._done = anyio.Event()
        self._answer: dict[str, Any] = {}
        self._error: Exception | None = None

    @property
    def done(self) -> bool:
        """Whether it was answered or failed."""
        return self._done.is_set()

    def resolve(self, answer: dict[str, Any]) -> None:
        """The browser answered."""
        self._answer = answer
        self._finish()

    def reject(self, error: Exception) -> None:
        """The call failed."""
        self._error = error
        self._finish()

    def _finish(self) -> None:
        self._done.set()
        if self.wake is not None:
            self.wake()

    async def result(self, deadline: float = CALL_DEADLINE) -> dict[str, Any]:
        """The browser's answer.

        Raises:
            ProtocolError: The browser refused the call.
            Gone: The target, session or browser went away first.
            CallTimeout: No answer within `deadline` seconds.
            AnydeviceError: The session failed with this (a dialog, a crash).
        """
        if not self._done.is_set():
            try:
                with anyio.move_on_after(deadline):
                    await self._done.wait()
            finally:
                self.owner.connection.forget(self)
        if not self._done.is_set():
            raise CallTimeout(
                f"The browser did not answer {self.method} in {deadline:g} s.",
                after=deadline,
                waiting_for=self.method,
            )
        if self._error is not None:
            raise self._error
        return self._answer


class Session:
    """One attached target (or, with an empty id, the browser itself)."""

    def __init__(self, connection: Connection, session_id: str) -> None:
        self.connection = connection
        self.id = session_id
        self.gone: str | None = None
        self._handlers: dict[str, list[Handler]] = {}

    def on(self, method: str, handler: Handler) -> None:
        """Calls `handler(params)` for every event of this name, in order, before anything later is read."""
        self._handlers.setdefault(method, []).append(handler)

    async def call(
        self, method: str, params: Params | None = None, *, deadline: float = CALL_DEADLINE, free: bool = False
    ) -> dict[str, Any]:
        """One call and its answer; errors as `Pending.result`.

        Args:
            deadline: Seconds.
            free: Not ended by `fail` (a call that answers a dialog while it blocks all others).
        """
        return await (await self.post(method, params, free=free)).result(deadline)

    async def post(self, method: str, params: Params | None = None, *, free: bool = False) -> Pending:
        """Sends a call without waiting for its answer, so that several travel together.

        Raises:
            Gone: The session or the connection is gone.
        """
        if self.gone is not None:
            raise Gone(self.gone)
        return await self.connection.post(self, method, params, free)

    async def gather(
        self, calls: Sequence[tuple[str, Params]], *, deadline: float = CALL_DEADLINE
    ) -> list[dict[str, Any]]:
        """Sends all calls, then awaits all answers; the first error is raised once every call has ended."""
        return await finish([await self.post(method, params) for method, params in calls], deadline)

    def fail(self, error: Exception) -> None:
        """Ends every call in flight on this session with `error`, except the free ones."""
        self.connection.fail(error, lambda pending: pending.owner is self and not pending.free)

    def end(self, reason: str) -> None:
        """The session is gone: ends all its calls, and every later one."""
        if self.gone is None:
            self.gone = reason
            self.connection.drop(self)
            self.connection.fail(Gone(reason), lambda pending: pending.owner is self)

    def dispatch(self, method: str, params: dict[str, Any]) -> None:
        """Hands an event to its handlers; a handler that fails is logged and never stops the reader."""
        for handler in self._handlers.get(method, ()):
            try:
                handler(params)
            except Exception:
                log.exception("event_handler_failed", event_method=method)


class Connection:
    """One browser's protocol connection. `root` is the session of the browser itself.

    Args:
        transport: The bytes.
        number: Of the last call an earlier connection over the same bytes has made.
    """

    def __init__(self, transport: Transport, *, number: int = 0) -> None:
        self._transport = transport
        self._number = number
        self._calls: dict[int, Pending] = {}
        self._sessions: dict[str, Session] = {}
        self._left = False
        self._on_end: list[Callable[[], None]] = []
        self.ended = anyio.Event()
        self.root = self.session("")
        self._reader = background.start(self._read, name="devtools reader")

    def session(self, session_id: str) -> Session:
        """The session of this id, made on first use."""
        found = self._sessions.get(session_id)
        if found is None:
            found = self._sessions[session_id] = Session(self, session_id)
        return found

    def on_end(self, action: Callable[[], None]) -> None:
        """Calls `action()` once when the browser goes away, after every call has failed."""
        self._on_end.append(action)

    async def post(self, owner: Session, method: str, params: Params | None, free: bool) -> Pending:
        """See `Session.post`."""
        if self.ended.is_set():
            raise Gone("the browser ended")
        self._number += 1
        pending = Pending(self._number, method, owner, free)
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params or {}}
        if owner.id:
            message["sessionId"] = owner.id
        self._calls[self._number] = pending
        try:
            await self._transport.send(json.dumps(message, separators=(",", ":")).encode())
        except anyio.BrokenResourceError as error:
            self.forget(pending)
            raise Gone("the browser ended") from error
        except BaseException:
            self.forget(pending)
            raise
        return pending

    def forget(self, pending: Pending) -> None:
        """Nobody waits for this call any more."""
        self._calls.pop(pending.number, None)

    def drop(self, session: Session) -> None:
        """Events of this session go nowhere from now on."""
        self._sessions.pop(session.id, None)

    def fail(self, error: Exception, which: Callable[[Pending], bool]) -> None:
        """Ends calls in flight with `error`."""
        for pending in [one for one in self._calls.values() if which(one)]:
            self.forget(pending)
            pending.reject(error)

    async def hand_over(self) -> dict[str, Any]:
        """Stops reading, without ending anything, and returns what `taken_up` goes on from.

        Only over a pipe: a connection by address is made anew by whoever goes on.
        """
        self._left = True
        self._reader.cancel()
        await self._reader.wait()
        assert isinstance(self._transport, PipeTransport)
        return {"number": self._number, "pipe": self._transport.hand_over()}

    @classmethod
    def taken_up(cls, state: Mapping[str, Any]) -> Connection:
        """The connection of a state. Answers to calls of the earlier one are dropped; no event is."""
        return cls(PipeTransport.taken_up(state["pipe"]), number=state["number"])

    async def aclose(self) -> None:
        """Closes the connection and ends the reader; a browser we launched ends with it."""
        self._left = False
        await self._transport.aclose()
        with anyio.move_on_after(2, shield=True):
            await self._reader.wait()
        self._reader.cancel()
        self._end()

    async def _read(self) -> None:
        try:
            while True:
                self._take(json.loads(await self._transport.receive()))
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            pass
        finally:
            self._end()

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        if number is not None:
            pending = self._calls.pop(number, None)
            if pending is None:
                return
            error = message.get("error")
            if error is None:
                pending.resolve(message.get("result") or {})
            else:
                text = str(error.get("message", ""))
                pending.reject(ProtocolError(pending.method, int(error.get("code", 0)), text))
            return
        session = self._sessions.get(message.get("sessionId", ""))
        if session is not None:
            session.dispatch(message["method"], message.get("params") or {})

    def _end(self) -> None:
        if self.ended.is_set() or self._left:
            return
        self.ended.set()
        self.fail(Gone("the browser ended"), lambda _: True)
        for action in self._on_end:
            action()


async def finish(pendings: Iterable[Pending], deadline: float = CALL_DEADLINE) -> list[dict[str, Any]]:
    """Awaits several calls under one deadline; the first error is raised once every call has ended."""
    answers: list[dict[str, Any]] = []
    failed: Exception | None = None
    end = anyio.current_time() + deadline
    for pending in pendings:
        try:
            answers.append(await pending.result(max(end - anyio.current_time(), 0.001)))
        except (ProtocolError, Gone, AnydeviceError) as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return answers
