"""Calls on the accessibility bus: every one with a deadline, few enough at once, every failure told by kind.

One program that hangs or floods must not cost another one its answers, so each application is spoken to over a
connection of its own (`Buses.link`); opening one takes less than a millisecond.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import anyio
from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

T = TypeVar("T")

AT_ONCE = 128
"""Calls under way at once on one connection. More make nothing faster, and past some hundreds sockets fill up."""
WAITING_MOST = 1 << 20
"""Bytes that wait for a full socket; more are not taken."""
FULL_PAUSE = 0.001
"""Seconds until a full socket is tried again."""
CONNECT_DEADLINE = 3.0
"""Seconds a bus may take to accept a connection."""
PROPERTIES = "org.freedesktop.DBus.Properties"
_DEAD = frozenset(
    f"org.freedesktop.DBus.Error.{word}" for word in ("ServiceUnknown", "NameHasNoOwner", "NoReply", "Disconnected")
)
_GUID = re.compile(r"guid=([0-9a-fA-F]+)")


class Trouble(Exception):
    """A call that brought no answer."""


class Refusal(Trouble):
    """The program answered with an error: no such object, no such member, not now. Why, toolkits hardly say."""


class Silence(Trouble):
    """The program did not answer within the deadline."""


class Died(Trouble):
    """Nobody of this name is on the bus (any more). `meanwhile`: it was there when it was asked."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.meanwhile = name.endswith(".NoReply")


class Lost(Trouble):
    """The connection to the bus is gone."""


class Call(NamedTuple):
    """One method call: bus name, object path, interface, member, and the arguments with their signature."""

    name: str
    path: str
    interface: str
    member: str
    signature: str = ""
    body: tuple[Any, ...] = ()


def get(name: str, path: str, interface: str, prop: str) -> Call:
    """A call that reads one property; its value is in `.value` of the answer's first item."""
    return Call(name, path, PROPERTIES, "Get", "ss", (interface, prop))


class Link:
    """One connection to a bus."""

    def __init__(self, bus: MessageBus) -> None:
        self._bus = bus
        self.doubtful = False

    @classmethod
    async def open(cls, address: str, deadline: float = CONNECT_DEADLINE) -> Link:
        """Connects.

        Args:
            address: D-Bus address.
            deadline: Seconds it may take.

        Raises:
            Lost: There is no bus at this address, or it does not answer.
        """
        try:
            with anyio.fail_after(deadline):
                bus = await MessageBus(bus_address=address).connect()
        except Exception as error:  # addresses that cannot be read, sockets that are gone, handshakes that fail
            raise Lost(f"no connection to the bus ({type(error).__name__})") from error
        writer = getattr(bus, "_writer", None)
        if writer is not None:
            writer.sock = _Patient(writer.sock)
        return cls(bus)

    @property
    def lost(self) -> bool:
        """Whether the connection is gone."""
        return not self._bus.connected

    async def ask(self, call: Call, deadline: float) -> list[Any]:
        """Makes one call and returns the values of the answer.

        Raises:
            Refusal, Silence, Died, Lost: There was no answer.
        """
        try:
            with anyio.fail_after(deadline):
                return await self._send(call)
        except TimeoutError:
            self.doubtful = True
            raise Silence(f"no answer within {deadline:g} s") from None

    async def value(self, call: Call, deadline: float) -> Any:
        """Reads the one value a call answers with (a property's own value without its wrapping). Raises as `ask`."""
        answer = await self.ask(call, deadline)
        found = answer[0] if answer else None
        return getattr(found, "value", found) if call.interface == PROPERTIES else found

    async def many(self, calls: Iterable[Call], deadline: float) -> list[list[Any] | None]:
        """Makes many calls, `AT_ONCE` at a time; the answers in order, None where the program refused one.

        Args:
            calls: The calls. They may come from a generator.
            deadline: Seconds for all of them together.

        Raises:
            Silence, Died, Lost: The program or the bus is gone, or not all was answered in time.
        """
        if self.lost:
            raise Lost("the connection to the bus is gone")
        batch = _Batch(self._bus, iter(calls))
        try:
            with anyio.fail_after(deadline):
                return await batch.answers()
        except TimeoutError:
            self.doubtful = True
            raise Silence(f"no answer within {deadline:g} s") from None
        finally:
            batch.over()

    def listen(self, heard: Callable[[Message], None]) -> None:
        """Hands on every signal that arrives on this connection."""

        def handle(message: Message) -> None:
            if message.message_type is MessageType.SIGNAL:
                heard(message)

        self._bus.add_message_handler(handle)

    async def aclose(self) -> None:
        """Disconnects."""
        if self._bus.connected:
            self._bus.disconnect()
            with anyio.move_on_after(1.0, shield=True):
                try:
                    await self._bus.wait_for_disconnect()  # type: ignore[no-untyped-call]
                except Exception:  # it was on its way out already
                    return

    async def _send(self, call: Call) -> list[Any]:
        if not self._bus.connected:
            raise Lost("the connection to the bus is gone")
        try:
            reply = await self._bus.call(_message(call))
        except (OSError, EOFError) as error:
            raise Lost("the connection to the bus is gone") from error
        if reply is None:
            raise Lost("the connection to the bus is gone")
        if reply.message_type is MessageType.ERROR:
            name = reply.error_name or "error"
            raise (Died if name in _DEAD else Refusal)(name)
        body: list[Any] = reply.body
        return body


def _message(call: Call) -> Message:
    return Message(
        destination=call.name,
        path=call.path,
        interface=call.interface,
        member=call.member,
        signature=call.signature,
        body=list(call.body),
    )


class _Batch:
    """Many calls on one connection, `AT_ONCE` under way at a time, without a task for each."""

    def __init__(self, bus: MessageBus, calls: Iterator[Call]) -> None:
        self._bus, self._calls = bus, calls
        self._out: list[list[Any] | None] = []
        self._open = 0
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def answers(self) -> list[list[Any] | None]:
        """Sends the calls and returns what came back, None for what was refused. Raises Died, Lost."""
        for _ in range(AT_ONCE):
            if not self._next():
                break
        if self._open:
            await self._done
        return self._out

    def over(self) -> None:
        """Nobody waits any more: what still comes is passed over."""
        self._done.cancel()

    def _next(self) -> bool:
        """Sends the next call; False where there is none."""
        call = next(self._calls, None)
        if call is None:
            return False
        self._out.append(None)
        self._open += 1
        self._bus._call(_message(call), partial(self._answered, len(self._out) - 1))
        return True

    def _answered(self, at: int, reply: Message | None, error: Exception | None) -> None:
        if self._done.done():
            return
        if reply is None:
            self._fail(Lost(f"the connection to the bus is gone ({type(error).__name__})"))
            return
        if reply.message_type is not MessageType.ERROR:
            self._out[at] = reply.body
        elif reply.error_name in _DEAD:
            self._fail(Died(reply.error_name))
            return
        self._open -= 1
        try:
            more = self._next()
        except Exception as gone:  # it is raised where the answers are waited for
            self._fail(Lost(f"the connection to the bus is gone ({type(gone).__name__})"))
            return
        if not more and not self._open:
            self._done.set_result(None)

    def _fail(self, trouble: Trouble) -> None:
        self._done.set_exception(trouble)


class _Patient:
    """A socket whose full buffer is no error (the library would take it for the end of the connection), and that sends
    what is written in one go together: each piece on its own wakes the bus, and through it the program."""

    def __init__(self, sock: Any) -> None:
        self._sock = sock
        self._waiting = bytearray()
        self._due: asyncio.Handle | None = None
        self._loop = asyncio.get_running_loop()

    def send(self, data: Any) -> int:
        if len(self._waiting) >= WAITING_MOST:
            self._flush()
            if len(self._waiting) >= WAITING_MOST:
                return 0
        self._waiting += data
        if self._due is None:
            self._due = self._loop.call_soon(self._flush)
        return len(data)

    def sendmsg(self, data: Sequence[Any], *more: Any) -> int:
        """Descriptors travel with their message; none are ever sent here."""
        sent: int = self._sock.sendmsg(data, *more)
        return sent

    def _flush(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None
        try:
            del self._waiting[: self._sock.send(self._waiting)]
        except BlockingIOError:
            pass
        except OSError:
            self._waiting.clear()  # whoever reads from it hears of it
        if self._waiting:
            self._due = self._loop.call_later(FULL_PAUSE, self._flush)


class Buses:
    """The accessibility bus of one session: a connection of our own, and one for each application."""

    def __init__(self, session_address: str, address: str, own: Link) -> None:
        self._session = session_address
        self.address = address
        self.own = own
        self._links: dict[str, Link] = {}
        self._opening: dict[str, anyio.Lock] = {}

    @classmethod
    async def open(cls, session_address: str, deadline: float) -> Buses:
        """Asks the session bus for the accessibility bus (which starts it if need be) and connects.

        Args:
            session_address: D-Bus address of the session bus.
            deadline: Seconds it may take in all.

        Raises:
            Lost, Silence, Died, Refusal: There is no session bus, or it has no accessibility bus.
        """
        end = anyio.current_time() + deadline
        session = await Link.open(session_address, deadline)
        try:
            left = max(0.05, end - anyio.current_time())
            address = await session.value(Call("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress"), left)
        finally:
            await session.aclose()
        own = await Link.open(str(address), max(0.05, end - anyio.current_time()))
        return cls(session_address, str(address), own)

    @property
    def guid(self) -> str:
        """What tells this bus from every other one; names on it mean nothing anywhere else."""
        found = _GUID.search(self.address)
        return found[1] if found else self.address

    async def link(self, name: str) -> Link:
        """The connection for one application; a new one where the last one is gone or was left with open questions.

        Raises:
            Lost: The bus is gone.
        """
        async with self._opening.setdefault(name, anyio.Lock()):
            link = self._links.get(name)
            if link is not None and not link.lost and not link.doubtful:
                return link
            if link is not None:
                await link.aclose()
            link = self._links[name] = await Link.open(self.address)
            return link

    async def forget(self, alive: Iterable[str]) -> None:
        """Closes the connections of all applications but these."""
        keep = set(alive)
        for name in [name for name in self._links if name not in keep]:
            self._opening.pop(name, None)
            await self._links.pop(name).aclose()

    async def aclose(self) -> None:
        """Disconnects from everything."""
        await self.forget(())
        await self.own.aclose()


def first(answers: Sequence[list[Any] | None], at: int, otherwise: T) -> Any | T:
    """The first value of an answer of `Link.many` (a property's own value), or `otherwise` where it was refused."""
    answer = answers[at]
    if not answer:
        return otherwise
    return getattr(answer[0], "value", answer[0])
