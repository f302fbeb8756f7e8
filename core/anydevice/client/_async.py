"""The asynchronous client, on asyncio and trio alike. anyio is imported when one is opened."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from anydevice_schemas.errors import AnydeviceError, CallTimeout

from ..host import protocol, record, start
from ..places import home_path
from ._answer import TRIES, Answer, answer_of, command_name, lost, merge
from ._sync import FAREWELL_SECONDS, GRACE

if TYPE_CHECKING:
    import anyio
    from anyio.abc import SocketStream, TaskGroup

Progress = Callable[[float | None, str], Awaitable[None] | None]


class _NotBegun(Exception):
    """The connection ended before the daemon had read the request to its end."""


class _Box:
    """Messages for one request on one connection, in order."""

    def __init__(self, event: anyio.Event, stream: SocketStream) -> None:
        self.messages: list[dict[str, Any]] = []
        self.event = event
        self.stream = stream


class AsyncHost:
    """What can be asked of the daemon itself; see `Host`."""

    def __init__(self, ask: Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]) -> None:
        self._ask = ask

    async def status(self) -> dict[str, Any]:
        """Process, version, sessions, held devices."""
        return await self._ask("status", {})

    async def catalogue(self) -> dict[str, Any]:
        """Every command with its inputs."""
        return await self._ask("catalogue", {})

    async def pending(self) -> list[dict[str, Any]]:
        """Confirmations that wait for a person."""
        pending: list[dict[str, Any]] = (await self._ask("pending", {}))["pending"]
        return pending

    async def approve(self, token: str) -> dict[str, Any]:
        """Approves a confirmation token, as a person."""
        return await self._ask("approve", {"token": token})

    async def artefact(self, name: str) -> bytes:
        """The bytes of a file a call made."""
        import base64

        return base64.b64decode((await self._ask("artefact", {"name": name}))["data"])

    async def stop(self) -> dict[str, Any]:
        """Stops the daemon, with everything it holds."""
        return await self._ask("stop", {})


class AsyncClient:
    """As `Client`, for async code: ``async with AsyncClient() as client: await client.press(target="@e3")``.

    Calls of several tasks run beside one another; cancelling the task cancels the call in the daemon. The
    arguments are those of `Client`.
    """

    def __init__(
        self,
        *,
        home: str | None = None,
        cwd: str | None = None,
        environ: Mapping[str, str] | None = None,
        start: bool = True,
        deadline: float = start.START_DEADLINE,
    ) -> None:
        self._home = home_path() if home is None else home
        self._start = start
        self._deadline = deadline
        self._hello = protocol.hello(protocol.CALL, "python", cwd=cwd, environ=environ)
        self._resume: str | None = None
        self._counter = 0
        self._last = 0
        self._boxes: dict[int, _Box] = {}
        self._stream: SocketStream | None = None
        self._group: TaskGroup | None = None
        self._sending: anyio.Lock | None = None
        self._opening: anyio.Lock | None = None
        self.host = AsyncHost(partial(self._request, "host"))

    async def call(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        deadline: float | None = None,
        progress: Progress | None = None,
        **named: Any,
    ) -> Answer:
        """Makes one call; see `Client.call`. `progress` may be a coroutine function."""
        more = {} if deadline is None else {"deadline": deadline}
        grace = None if deadline is None else deadline + GRACE
        request = merge(arguments, named)
        return answer_of(await self._request("call", command, request, more=more, grace=grace, progress=progress))

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Answer]]:
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(self.call, command_name(name))

    async def __aenter__(self) -> AsyncClient:
        import anyio

        self._sending, self._opening = anyio.Lock(), anyio.Lock()
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        try:
            await self._open()
        except BaseException:
            # Left as if nothing had happened in it, so that the error comes out bare.
            group, self._group = self._group, None
            group.cancel_scope.cancel()
            await group.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._group is not None
        if self._stream is not None:
            await self._say_goodbye(self._stream)
        self._group.cancel_scope.cancel()
        group, self._group = self._group, None
        await group.__aexit__(None, None, None)
        if self._stream is not None:
            await self._dropped(self._stream)  # calls of other tasks end with the client

    async def _open(self) -> SocketStream:
        import anyio
        import anyio.to_thread

        if self._group is None or self._opening is None:
            raise RuntimeError("use the client as: async with AsyncClient() as client")
        async with self._opening:
            if self._stream is not None:
                return self._stream
            until = anyio.current_time() + self._deadline
            while True:
                # Starting a daemon blocks, so it happens in a thread; the probe's own connection is not kept.
                probe = protocol.hello(protocol.HOST, "python")
                left = max(0.1, until - anyio.current_time())
                greet = partial(start.greet, probe, home=self._home, start=self._start, deadline=left)
                connection, _, _ = await anyio.to_thread.run_sync(greet)
                connection.close()
                try:
                    greeted = await self._greet(until)
                except (OSError, anyio.BrokenResourceError):  # a TimeoutError is an OSError
                    raise lost("connect", begun=False) from None
                if greeted is not None:
                    break
                if anyio.current_time() > until:
                    raise lost("connect", begun=False)
            self._stream, rest = greeted
            self._group.start_soon(self._read, self._stream, rest)
            return self._stream

    async def _greet(self, until: float) -> tuple[SocketStream, bytes] | None:
        """Says hello on a connection of its own; None when it ended without an answer, as one does whose daemon is
        replaced by a newer version.
        """
        import anyio

        found = record.read_record(self._home)
        if found is None:
            raise ConnectionError
        stream = await anyio.connect_unix(found["socket"])
        try:
            with anyio.fail_after(protocol.HELLO_DEADLINE) as scope:
                await stream.send(protocol.resumed(self._hello, self._resume))
                said = b""
                while True:
                    head, end, rest = said.partition(b"\n")
                    if not end:
                        said += await stream.receive()
                        continue
                    reply = protocol.decode(head)
                    if "handing_over" not in reply:
                        break
                    scope.deadline, said = until, rest
            if not reply.get("ok"):
                raise AnydeviceError.from_wire(reply["error"])
        except anyio.EndOfStream:
            await stream.aclose()
            return None
        except BaseException:
            await stream.aclose()
            raise
        self._resume = reply.get("resume")
        return stream, rest

    async def _say_goodbye(self, stream: SocketStream) -> None:
        import anyio

        assert self._sending is not None
        self._resume = None
        with (
            anyio.move_on_after(FAREWELL_SECONDS, shield=True),
            contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError),
        ):
            async with self._sending:
                await stream.send(protocol.encode({"goodbye": True}))

    async def _read(self, stream: SocketStream, data: bytes) -> None:
        import anyio

        lines = protocol.Lines(protocol.ANSWER_LIMIT)
        last: dict[str, Any] = {}
        try:
            while True:
                for line in lines.feed(data):
                    message = json.loads(line) if isinstance(line, bytes) else {}
                    if "handed_over" in message:
                        last = message
                    box = self._boxes.get(message.get("id", -1))
                    if box is not None:
                        box.messages.append(message)
                        box.event.set()
                data = await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, ValueError) as ended:
            if protocol.left_unread(ended.__cause__) and self._last in self._boxes and not last:
                box = self._boxes[self._last]
                if box.stream is stream:
                    box.messages.append({"unread": True})
            await self._dropped(stream, last)
            if last and self._resume is not None:
                # The new version is there, and keeps what is ours for a while only.
                with contextlib.suppress(AnydeviceError, RuntimeError):
                    await self._open()

    async def _dropped(self, stream: SocketStream, last: dict[str, Any] | None = None) -> None:
        """The connection has ended; `last` is what every request that waits on it gets to see."""
        if self._stream is stream:
            self._stream = None
        await stream.aclose()
        for box in self._boxes.values():
            if box.stream is stream:
                box.messages.append(last or {})
                box.event.set()

    async def _request(
        self,
        kind: str,
        name: str,
        arguments: dict[str, Any],
        *,
        more: dict[str, Any] | None = None,
        grace: float | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        import anyio

        with anyio.move_on_after(grace):
            tries = 0
            while True:
                try:
                    answer = await self._exchange(kind, name, arguments, more or {}, progress)
                except _NotBegun:
                    tries += 1
                    if tries >= TRIES:
                        raise lost(name, begun=False) from None
                    continue
                if answer is not None:
                    return answer
        raise CallTimeout(f"The daemon did not say how {name} ended.", after=grace, waiting_for="daemon")

    async def _exchange(
        self, kind: str, name: str, arguments: dict[str, Any], more: dict[str, Any], progress: Progress | None
    ) -> dict[str, Any] | None:
        """One request on one connection; None when it was not begun there and is to be said again.

        Raises:
            _NotBegun: The same, as the daemon went away.
        """
        import anyio

        stream = await self._open()
        self._counter += 1
        request = self._counter
        box = self._boxes[request] = _Box(anyio.Event(), stream)
        ended = False
        try:
            sent = await self._send(stream, {"id": request, kind: name, "arguments": arguments, **more})
            while True:
                await box.event.wait()
                box.event = anyio.Event()
                while box.messages:
                    message = box.messages.pop(0)
                    if "progress" in message:
                        await _tell(progress, message["progress"])
                        continue
                    ended = True
                    if "handed_over" in message:
                        return None
                    if not sent or "unread" in message:
                        raise _NotBegun
                    if not message:
                        raise lost(name)
                    if "error" in message:
                        raise AnydeviceError.from_wire(message["error"])
                    found: dict[str, Any] = message["answer" if kind == "call" else "result"]
                    return found
        finally:
            del self._boxes[request]
            if not ended and self._stream is stream:
                # Cancelled, or given up: the daemon must not go on for nobody.
                with anyio.CancelScope(shield=True):
                    await self._send(stream, {"cancel": request})

    async def _send(self, stream: SocketStream, message: dict[str, Any]) -> bool:
        """Sends one message, whole: half a line would spoil the connection for every task. Says whether it got away.

        A connection that has ended is noticed by its reader, which tells everybody who waits on it.
        """
        import anyio

        assert self._sending is not None
        async with self._sending:
            # Before it is sent: else the request before would meanwhile be taken for the last, and be said again.
            self._last = message.get("id", 0)
            try:
                with anyio.CancelScope(shield=True), anyio.fail_after(protocol.HELLO_DEADLINE):
                    await stream.send(protocol.encode(message))
            except TimeoutError:
                await self._dropped(stream)
                return False
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return False
            return True


async def _tell(progress: Progress | None, message: dict[str, Any]) -> None:
    if progress is not None:
        told = progress(message["done"], message["message"])
        if told is not None:
            await told
