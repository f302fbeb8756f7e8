"""One connection of the daemon: who it is, what it wants, and that nothing of it stays when it is gone."""

from __future__ import annotations

import difflib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import structlog
from anyio.abc import SocketAttribute, SocketStream

import anydevice
from anydevice_schemas import Caller, Scope, Transport
from anydevice_schemas.errors import AnydeviceError, CallTimeout, InvalidArgument, Refused, Unsupported

from ..places import travels
from . import protocol, record
from .calls import Conversation
from .stream import HostStream
from .versions import newer

if TYPE_CHECKING:
    from ..facade import Facade
    from .daemon import Daemon

log = structlog.get_logger("anydevice.host.connection")

HELLO_LIMIT = 256 * 1024
ENVIRONMENT_LIMIT = 64
_SCOPES: dict[str, list[Scope]] = {
    "stdio": ["read", "act"],
    "python": ["read", "act"],
    "cli": ["read", "act", "admin"],
}


@dataclass(slots=True)
class ConnectionInfo:
    """What the daemon's status says of a connection; `running` counts its calls.

    Attributes:
        stream: Its bytes.
        scope: Cancelled to end what runs on it.
        caller: Who is on it.
        resume: The token by which it may come back.
    """

    connection: str
    what: str
    transport: Transport
    cwd: str | None
    since: float
    stream: HostStream
    caller: Caller
    resume: str | None = None
    running: int = 0
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    def to_wire(self) -> dict[str, Any]:
        """As status shows it."""
        return {
            "what": self.what,
            "transport": self.transport,
            "cwd": self.cwd,
            "age": round(anyio.current_time() - self.since, 1),
            "running": self.running,
        }


@dataclass(slots=True, frozen=True)
class Greeting:
    """A hello that was understood."""

    what: str
    caller: Caller
    options: Mapping[str, Any]
    facade: Facade | None
    resume: str | None = None


class Newer(Exception):
    """A hello of a newer version: this daemon is to be replaced by it.

    Attributes:
        version: The client's.
        python: The interpreter that has it.
    """

    def __init__(self, version: str, python: str) -> None:
        super().__init__(version)
        self.version = version
        self.python = python


async def serve_connection(daemon: Daemon, raw: SocketStream) -> None:
    """Serves one connection to its end. Never raises; a fault of it stays its own."""
    try:
        async with HostStream(raw) as stream:
            daemon.streams.add(stream)
            try:
                greeting = await _greet(daemon, raw, stream)
                if greeting is not None:
                    await _serve(daemon, stream, greeting)
            finally:
                daemon.streams.discard(stream)
    except Exception as error:  # one connection's fault must not reach the others
        if not _only_hung_up(error):
            log.error("connection_failed", exc_info=error)


def _only_hung_up(error: BaseException) -> bool:
    """Whether an exception says no more than that the client went away."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_only_hung_up, error.exceptions))
    return isinstance(error, (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream))


async def _greet(daemon: Daemon, raw: SocketStream, stream: HostStream) -> Greeting | None:
    """Reads the hello and answers it; None when the connection ends with that."""
    try:
        # Read before it is judged: a client that is still writing would not see why it is refused.
        with anyio.fail_after(protocol.HELLO_DEADLINE):
            line = await stream.first_line(HELLO_LIMIT)
        uid = record.peer_uid(raw.extra(SocketAttribute.raw_socket))
        if uid != os.getuid():
            raise Refused(
                "This daemon serves another user.",
                reason="the socket's peer is another user",
                alternative="Start a daemon of your own: anydevice serve",
            )
        try:
            if daemon.handing_over:
                await _wait_for_successor(daemon, stream)
            greeting = read_hello(daemon, line, uid)
        except Newer as asked:
            await stream.send(protocol.encode({"handing_over": {"version": asked.version}}))
            raise await daemon.succession.by(asked.version, asked.python) from None
    except TimeoutError:
        late = CallTimeout("No hello came.", after=protocol.HELLO_DEADLINE, waiting_for="hello")
        await stream.send(protocol.encode({"ok": False, "error": late.to_wire()}))
        return None
    except AnydeviceError as error:
        await stream.send(protocol.encode({"ok": False, "error": error.to_wire()}))
        return None
    reply = {
        "ok": True,
        "version": anydevice.__version__,
        "protocol": protocol.PROTOCOL,
        "pid": os.getpid(),
        "catalogue": daemon.published.digest,
    }
    if greeting.resume is not None:
        reply["resume"] = greeting.resume
    await stream.send(protocol.encode(reply))
    return greeting


async def _wait_for_successor(daemon: Daemon, stream: HostStream) -> None:
    """A client that comes while the daemon is being replaced waits; returns when it was not replaced after all."""
    await stream.send(protocol.encode({"handing_over": {}}))
    await daemon.succession.over()


def read_hello(daemon: Daemon, line: bytes, uid: int) -> Greeting:
    """Judges the first line of a client.

    Raises:
        Newer: It comes from a newer version, which is to take over.
        InvalidArgument: It is no hello of this protocol.
        Refused: It comes from an older version, or over a transport that may not ask for this.
        Unsupported: There is no such facade.
    """
    try:
        message = protocol.decode(line)
    except protocol.Malformed as error:
        raise _bad("hello", f"a hello as one line of JSON ({error})") from None
    what = message.get("hello")
    if not isinstance(what, str):
        raise _bad("hello", '"call", "host" or the name of a facade')
    transport, principal = message.get("transport"), f"uid:{uid}"
    if transport not in _SCOPES:
        raise _bad("transport", " or ".join(_SCOPES))
    earlier = None
    if what != protocol.HOST:
        earlier = daemon.resuming.find(message.get("resume"), principal, transport)
        _same_version(message, resumed=earlier is not None)
    cwd, env, options = message.get("cwd"), message.get("env", {}), message.get("options", {})
    if not (cwd is None or (isinstance(cwd, str) and os.path.isabs(cwd) and len(cwd) <= 4096)):
        raise _bad("cwd", "an absolute path")
    if not isinstance(env, dict) or len(env) > ENVIRONMENT_LIMIT:
        raise _bad("env", f"an object of at most {ENVIRONMENT_LIMIT} variables")
    for name, value in env.items():
        if not travels(name) or not isinstance(value, str) or len(value) > 8192:
            raise _bad("env", "only variables that travel with a call, as strings of at most 8192 characters")
    if not isinstance(options, dict):
        raise _bad("options", "an object")
    facade = None
    if what not in (protocol.CALL, protocol.HOST):
        facade = _facade(daemon, what, options)
    caller = Caller(
        principal=principal,
        transport=transport,
        connection=earlier or secrets.token_hex(8),
        cwd=cwd,
        env=env,
        scopes=_SCOPES[transport],
    )
    resume: str | None = message["resume"] if earlier is not None else None
    if resume is None and what != protocol.HOST:
        resume = daemon.resuming.issue(caller)
    elif resume is not None:
        daemon.resuming.remember(resume, caller)
    return Greeting(what, caller, options, facade, resume)


def _same_version(message: Mapping[str, Any], *, resumed: bool) -> None:
    """Whether this client may come in: one of this version, or one that was in before the daemon was replaced."""
    theirs, mine, spoken = message.get("version"), anydevice.__version__, message.get("protocol")
    if spoken == protocol.PROTOCOL and (theirs == mine or (resumed and newer(mine, str(theirs)))):
        return
    python = message.get("python")
    if not (isinstance(python, str) and os.path.isabs(python)):
        raise other_version(theirs)
    if isinstance(spoken, int) and spoken >= protocol.PROTOCOL and newer(theirs, mine):
        raise Newer(str(theirs), python)
    raise other_version(theirs)


def other_version(theirs: object, why: str = "") -> Refused:
    """The refusal of a client that this daemon does not serve, and is not replaced by."""
    mine = anydevice.__version__
    message = f"The daemon that runs is version {mine} and this client is version {str(theirs)[:40]}."
    return Refused(
        f"{message} It could not hand over: {why}." if why else message,
        reason="another version",
        alternative="anydevice stop",
        hint="Run: anydevice stop ; then repeat the call, which starts a daemon of your version. "
        "anydevice status shows whose sessions that ends.",
        running=mine,
        protocol=protocol.PROTOCOL,
    )


def _facade(daemon: Daemon, name: str, options: Mapping[str, Any]) -> Facade:
    facade = daemon.facades.get(name)
    if facade is None:
        known = sorted(daemon.facades)
        plugin = next((p for p in daemon.router.services.plugins if p.name == name and p.state != "ready"), None)
        reason = f"plugin {name} is {plugin.state}: {plugin.reason}" if plugin else "no plugin brings it"
        raise Unsupported(
            f"This daemon has no facade {name[:40]!r}: {reason}.",
            operation=f"facade.{name[:40]}",
            alternatives=known,
            hint=(plugin.remedy if plugin else "") or "Call doctor for the state of all plugins.",
        )
    accepted = getattr(facade, "options", None)
    if accepted is not None:
        for given in options:
            if given not in accepted:
                near = difflib.get_close_matches(given, accepted, n=1)
                expected = f"--{near[0]}" if near else ", ".join(f"--{n}" for n in accepted) or "no options"
                raise InvalidArgument(f"{name} has no option --{given[:40]}.", param=given[:40], expected=expected)
    return facade


async def _serve(daemon: Daemon, stream: HostStream, greeting: Greeting) -> None:
    caller = greeting.caller
    info = ConnectionInfo(
        caller.connection, greeting.what, caller.transport, caller.cwd, anyio.current_time(), stream, caller,
        greeting.resume,
    )  # fmt: skip
    earlier = daemon.connections.get(caller.connection)
    daemon.connections[caller.connection] = info
    daemon.router.services.sessions.connection_here(caller.connection)
    if earlier is not None:
        earlier.scope.cancel()  # its client is the one that has just come back
    daemon.active()
    try:
        with info.scope:
            if daemon.handing_over:
                stream.pause()
            if greeting.facade is None:
                await Conversation(daemon, stream, caller, info).run(calls=greeting.what == protocol.CALL)
            else:
                await stream.while_wanted(greeting.facade.serve, stream, caller, daemon.router, greeting.options)
    finally:
        with anyio.CancelScope(shield=True):
            await _leave(daemon, info, answered=greeting.facade is None or not info.scope.cancelled_caught)


async def _leave(daemon: Daemon, info: ConnectionInfo, *, answered: bool) -> None:
    """The connection has ended: for ever, for a moment, or because the daemon is being replaced."""
    if daemon.connections.get(info.connection) is info:
        del daemon.connections[info.connection]
    daemon.active()
    if daemon.handing_over and info.stream.paused and not info.stream.gone():
        if answered:
            await info.stream.send(protocol.HANDED_OVER)
        daemon.succession.left.append(info.caller)
        return
    await free(daemon, info.caller, clean=info.stream.goodbye)


async def free(daemon: Daemon, caller: Caller, *, clean: bool) -> None:
    """Ends the connection's own sessions, and lets go of devices nobody has a session on any more.

    Args:
        clean: The client does not come back; else its sessions wait for it a while.
    """
    services = daemon.router.services
    for session in services.sessions.connection_gone(caller.connection, clean=clean):
        log.info("session_ended", session=session.name, device=session.device_key, why="connection ended")
        key = session.device_key
        if not services.sessions.of_device(key) and not services.desk.cleaning(key):
            await services.connections.drop(key)


def _bad(param: str, expected: str) -> InvalidArgument:
    return InvalidArgument(f"hello: {param} must be {expected}.", param=param, expected=expected)
