"""What a request passes before it reaches the protocol: host, origin, token, rate, session, body. Plain ASGI.

Refusals are JSON-RPC errors, with the status the specification names: 421 host, 403 origin, 401 token, 404 session,
429 rate, 408 and 413 body, 400 what is no message. They end the connection.
"""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import anyio
import structlog
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from anydevice_schemas import Caller
from anydevice_schemas.errors import InvalidArgument

from ..frames import Malformed
from ..published import shown_to
from ..seats import SEAT, Seat
from . import bodies
from .choices import LOOPBACK_HOSTS, Choices
from .tokens import Token, TokenError, Tokens

log = structlog.get_logger("anydevice.mcp.http")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/mcp"
SESSION = b"mcp-session-id"
CODE = -32600
IDLE_MARGIN = 60.0
"""Seconds after the protocol's own end of an idle session."""
END_SECONDS = 5.0
"""How long the end of a session in the protocol may take."""
NOTE_SECONDS = 10.0
"""How often at most the log says that somebody was not let in."""
SHARE = 4
"""Which part of all sessions one token may have: a quarter."""
OPEN_MOST = 256
"""Requests of one token that may be open at once, streams included; half of all connections."""
ONCE = frozenset(
    (
        b"host",
        b"origin",
        b"authorization",
        b"content-type",
        b"mcp-protocol-version",
        b"mcp-method",
        b"mcp-name",
        SESSION,
    )
)
"""Headers that are said once: of two, somebody behind this guard might read the other one."""


@dataclass(slots=True)
class _Bucket:
    """What one token may still ask at once."""

    left: float
    at: float


@dataclass(slots=True)
class _Held:
    """A session of the older era: the token that began it, when it was used last, how many of its requests are open."""

    token: Token
    used: float
    open: int = field(default=0)


class Refusal(Exception):
    """A request that goes no further."""

    def __init__(
        self, status: int, message: str, headers: Mapping[str, str] | None = None, *, code: int = CODE, id: Any = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers or {}
        self.code, self.id = code, id


class Guard:
    """Lets requests through to `app`, each with its seat.

    Args:
        app: The protocol.
        choices: Host names, origins, rates.
        tokens: Who may come.
        gone: Told of the caller connection of each session that ended.
    """

    def __init__(self, app: App, choices: Choices, tokens: Tokens, gone: Callable[[str], object]) -> None:
        self._app, self._choices, self._tokens, self._gone = app, choices, tokens, gone
        self._buckets: dict[str, _Bucket] = {}
        self._sessions: dict[str, _Held] = {}
        self._open: dict[anyio.CancelScope, Token] = {}
        self._refused, self._note_again = 0, -math.inf
        self._hosts = {host.casefold() for host in (*LOOPBACK_HOSTS, *choices.hosts)}
        self._origins = {origin.casefold().rstrip("/") for origin in choices.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return
        try:
            headers = _said_once(scope["headers"])
            toolset = _toolset(scope["path"])
            self._at_home(headers)
            token = self._known(headers)
            self._slowly(token)
            session = self._session(headers, token)
            scope.setdefault("state", {})[SEAT] = _seat(token, session, toolset)
        except Refusal as refused:
            self._note(refused)
            await bodies.pass_over(receive)
            await _refuse(send, refused)
            return
        scope["path"] = PATH
        await self._pass(scope, receive, send, token, session)

    async def _pass(self, scope: Scope, receive: Receive, send: Send, token: Token, session: str) -> None:
        held = self._sessions.get(session)
        status = 0
        open_ = anyio.CancelScope()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                begun = dict(message.get("headers", ())).get(SESSION)
                if begun is not None and not session and status < 400:
                    await self._begin(begun.decode("latin-1"), token)
            await send(message)

        if held is not None:
            held.open += 1
        with open_:
            self._open[open_] = token
            try:
                if scope["method"] == "POST":
                    receive = await self._message(receive)
                await self._app(scope, receive, watched)
            except bodies.Gone:
                return
            except Refusal as refused:
                await _refuse(send, refused)
            finally:
                del self._open[open_]
                self._after(scope, session, held, status)
        if open_.cancelled_caught:
            await _break_off(send, status)

    def _note(self, refused: Refusal) -> None:
        """Logs that somebody was not let in: once in a while, with how often."""
        if refused.status not in (401, 403, 421):
            return
        self._refused += 1
        if anyio.current_time() >= self._note_again:
            log.warning("http_refused", status=refused.status, reason=refused.message, times=self._refused)
            self._refused, self._note_again = 0, anyio.current_time() + NOTE_SECONDS

    async def _message(self, receive: Receive) -> Receive:
        """The body, read and judged; a `receive` that gives it again."""
        most = self._choices.body
        try:
            body = await bodies.whole(receive, most)
            bodies.judge(body)
        except TimeoutError:
            raise Refusal(408, "The body of this request did not come in time") from None
        except bodies.TooLarge:
            await bodies.pass_over(receive)
            raise Refusal(413, f"The body of a request has at most {most} bytes here") from None
        except Malformed as fault:
            raise Refusal(400, fault.message, code=fault.code, id=fault.id) from None
        return bodies.replayed(body, receive)

    def _after(self, scope: Scope, session: str, held: _Held | None, status: int) -> None:
        if held is None:
            return
        held.open -= 1
        held.used = anyio.current_time()
        if status == 404 or (scope["method"] == "DELETE" and 200 <= status < 300):
            self._forget(session)

    # --- sessions of the older era ---

    def _session(self, headers: Mapping[bytes, bytes], token: Token) -> str:
        """The session a request belongs to; the newer era has none, whatever a header says."""
        version = headers.get(b"mcp-protocol-version", b"").decode("latin-1")
        if version and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return ""
        session = headers.get(SESSION, b"").decode("latin-1")
        if session:
            held = self._sessions.get(session)
            if held is None or held.token != token:  # another's looks like none
                raise Refusal(404, "Session not found")
        return session

    async def _begin(self, session: str, token: Token) -> None:
        """A session began. One token has a share of them only: then the one it did not use for longest ends."""
        self._sessions[session] = _Held(token, anyio.current_time())
        own = [name for name, held in self._sessions.items() if held.token == token]
        unused = sorted((name for name in own if not self._sessions[name].open), key=lambda n: self._sessions[n].used)
        for name in unused[: max(0, len(own) - max(1, self._choices.sessions // SHARE))]:
            if name != session:
                log.info("session_replaced", principal=token.name)
                await self._end(name)

    async def sweep(self) -> None:
        """Ends sessions that nobody used, and whatever a revoked token left open; to be called now and then."""
        try:
            known = set(self._tokens.all())
        except TokenError:
            known = set()  # nobody is let in then; the log says why once somebody asks
        for scope, token in list(self._open.items()):
            if token not in known:
                scope.cancel()
        before = anyio.current_time() - self._choices.idle - IDLE_MARGIN
        for session, held in list(self._sessions.items()):
            if held.token not in known or (not held.open and held.used < before):
                await self._end(session)

    def end_all(self) -> None:
        """Every session is over, because the protocol is."""
        for session in list(self._sessions):
            self._forget(session)

    async def _end(self, session: str) -> None:
        """Ends a session in the protocol too, and with it the calls that still run in it."""
        self._forget(session)
        headers = [(SESSION, session.encode("latin-1")), (b"accept", b"*/*")]
        scope: Scope = {
            "type": "http", "method": "DELETE", "path": PATH, "raw_path": PATH.encode(), "query_string": b"",
            "root_path": "", "scheme": "http", "http_version": "1.1", "headers": headers, "state": {},
            "server": None, "client": None,
        }  # fmt: skip

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def unread(_: Message) -> None:
            return None

        with anyio.move_on_after(END_SECONDS):
            await self._app(scope, nothing, unread)

    def _forget(self, session: str) -> None:
        if self._sessions.pop(session, None) is not None:
            self._gone(session)

    # --- checks ---

    def _at_home(self, headers: Mapping[bytes, bytes]) -> None:
        """Host and origin: a page in a browser must not reach this by a name of its own (DNS rebinding)."""
        host = headers.get(b"host", b"").decode("latin-1").casefold()
        if host not in self._hosts and _without_port(host) not in self._hosts:
            raise Refusal(421, "This server does not answer to that host name")
        origin = headers.get(b"origin", b"").decode("latin-1").casefold().rstrip("/")
        same = origin.partition("://")[2] == host  # a page of this very server, by a name that was just accepted
        if origin and not same and origin not in self._origins:
            raise Refusal(403, "This origin may not ask")

    def _known(self, headers: Mapping[bytes, bytes]) -> Token:
        scheme, _, secret = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        if scheme.casefold() != "bearer" or not secret.strip():
            raise Refusal(
                401, "A token is needed: Authorization: Bearer …; anydevice token add NAME mints one",
                {"www-authenticate": 'Bearer realm="anydevice"'},
            )  # fmt: skip
        try:
            token = self._tokens.find(secret.strip())
        except TokenError as error:
            log.error("tokens_unusable", reason=str(error))
            raise Refusal(503, "The tokens of this server cannot be read; its log says why") from None
        if token is None:
            raise _unknown()
        return token

    def _slowly(self, token: Token) -> None:
        if sum(other.name == token.name for other in self._open.values()) >= OPEN_MOST:
            raise Refusal(429, "Too many requests of this token are open", {"retry-after": "1"})
        now, rate, burst = anyio.current_time(), self._choices.rate, float(self._choices.burst)
        bucket = self._buckets.setdefault(token.name, _Bucket(burst, now))
        bucket.left = min(burst, bucket.left + (now - bucket.at) * rate)
        bucket.at = now
        if bucket.left < 1:
            wait = ceil((1 - bucket.left) / rate)
            raise Refusal(429, "Too many requests", {"retry-after": str(max(1, wait))})
        bucket.left -= 1


def _toolset(path: str) -> str:
    """The word after `/mcp/`; empty for `/mcp` itself."""
    first, _, toolset = path.strip("/").partition("/")
    if f"/{first}" != PATH or "/" in toolset:
        raise Refusal(404, f"Not found; the server is at {PATH} and {PATH}/TOOLSET")
    return toolset


def _seat(token: Token, session: str, toolset: str) -> Seat:
    scopes: Any = token.scopes
    caller = Caller(principal=f"token:{token.name}", transport="http", connection=session, scopes=scopes)
    try:
        shown_to({"tools": toolset} if toolset else {})  # an address that means nothing is told, whoever asks
        wanted = token.toolset or toolset
        return Seat(caller, shown_to({"tools": wanted} if wanted else {}, reads=token.scope == "read"))
    except InvalidArgument as error:
        raise Refusal(404, error.message) from None


def _unknown() -> Refusal:
    challenge = 'Bearer realm="anydevice", error="invalid_token"'
    return Refusal(401, "This token is not known here", {"www-authenticate": challenge})


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isascii() and port.isdigit() else host


def _said_once(pairs: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """The headers by name."""
    headers: dict[bytes, bytes] = {}
    for name, value in pairs:
        if name.lower() in headers and name.lower() in ONCE:
            raise Refusal(400, f"The header {name.decode('latin-1').lower()} is said twice")
        headers[name.lower()] = value
    if b"content-length" in headers and b"transfer-encoding" in headers:
        raise Refusal(400, "The length of the body is said in two ways")
    return headers


async def _refuse(send: Send, refused: Refusal) -> None:
    error = {"code": refused.code, "message": refused.message}
    body = json.dumps({"jsonrpc": "2.0", "id": refused.id, "error": error}).encode()
    # Closed: who is refused may not keep a place here with a body that never ends.
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(b"connection", b"close")]
    headers += [(name.encode(), value.encode()) for name, value in refused.headers.items()]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _break_off(send: Send, status: int) -> None:
    """Ends the response to a request whose token was revoked meanwhile."""
    if not status:
        await _refuse(send, _unknown())
    else:
        await send({"type": "http.response.body", "body": b""})
