"""What a pump has to know of a JSON-RPC conversation to outlive its daemon: the handshake, and what is not answered.

Bytes pass through; only methods and ids are looked at. When the daemon goes away, a request that may have acted is
answered with an error, because nobody can know; any other, and one that the daemon had not read to its end, is said
again to the next daemon, behind the handshake the host had begun with (the protocol's later revisions have none).
Standard library only.
"""

from __future__ import annotations

import json
import re
import threading

from . import protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

ACTS = "tools/call"
"""The one method that may act on a device."""

LASTING = "subscriptions/listen"
"""A request that is answered with its connection's end; no daemon is started for it."""

AGAIN_MOST = 3
"""How often a request is said again: one that ends every daemon it reaches must not end them for ever."""

AGAIN = "anydevice-handshake-again"
"""Id of the host's handshake when it is said again; the answer is not for the host."""

REFUSED = -32000
"""Code of errors that are the daemon's or ours; what they mean is in their data."""

_REPLY = re.compile(rb'\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*),"(result|error)":')
_CALL = b'{"jsonrpc":"2.0","method":'


class Cut:
    """Cuts a stream of bytes into lines, ends included. A line beyond all limits is passed on in pieces."""

    def __init__(self, limit: int = protocol.ANSWER_LIMIT) -> None:
        self._limit = limit
        self._held = bytearray()

    @property
    def rest(self) -> bytes:
        """What came behind the last line's end."""
        return bytes(self._held)

    def feed(self, data: bytes) -> list[bytes]:
        """Takes bytes as they came and returns the lines that are complete now."""
        end = data.rfind(b"\n") + 1
        if not end:
            self._held += data
            if len(self._held) <= self._limit:
                return []
            piece = bytes(self._held)
            self._held.clear()
            return [piece]
        whole = bytes(self._held) + data[:end] if self._held else data[:end]
        self._held = bytearray(data[end:])
        return [line + b"\n" for line in whole[:-1].split(b"\n")]


class _Request:
    """A request of the host that is not answered: its id, its method, its line unless it came in a batch, and how often
    it was said again.
    """

    __slots__ = ("again", "id", "line", "method")

    def __init__(self, id_: Any, method: str, line: bytes | None) -> None:
        self.id = id_
        self.method = method
        self.line = line
        self.again = 0


class Conversed:
    """The state of one host's conversation. `said` and `heard` may be called from different threads.

    Attributes:
        handed_over: The daemon said that it is replaced, and that what is not answered was not begun.
    """

    def __init__(self) -> None:
        self.handed_over = False
        self._lock = threading.Lock()
        self._flying: dict[Any, _Request] = {}
        self._opening: dict[Any, dict[str, Any]] = {}
        self._initialize: dict[str, Any] | None = None
        self._initialized = b""
        self._last = self._before = b""

    def said(self, lines: Iterable[bytes]) -> None:
        """Lines of the host that go to the daemon."""
        with self._lock:
            self._before = self._last
            for line in lines:
                self._last = line
                message = _decode(line)
                if isinstance(message, dict):
                    self._note(message, line)
                elif isinstance(message, list):
                    for one in message:
                        if isinstance(one, dict):
                            self._note(one, None)

    def _note(self, message: dict[str, Any], line: bytes | None) -> None:
        method, given = message.get("method"), message.get("id")
        if not isinstance(method, str):
            return
        if _is_id(given):
            self._flying.setdefault(_key(given), _Request(given, method, line))
            if method == "initialize":
                self._opening[_key(given)] = message
        elif method == "notifications/initialized" and line is not None:
            self._initialized = line
        elif method == "notifications/cancelled":
            params = message.get("params")
            wanted = params.get("requestId") if isinstance(params, dict) else None
            if _is_id(wanted):
                self._flying.pop(_key(wanted), None)  # it is not answered any more

    def unsaid(self, lines: Iterable[bytes]) -> None:
        """Lines that did not get to the daemon after all; they will be said again as if for the first time."""
        ids = [id_ for line in lines for id_ in requests_of(line)]
        with self._lock:
            self._last = self._before
            for id_ in ids:
                self._flying.pop(_key(id_), None)
                self._opening.pop(_key(id_), None)

    def heard(self, lines: Iterable[bytes]) -> bytes:
        """Lines of the daemon; returns what of them is for the host."""
        passed = []
        with self._lock:
            for line in lines:
                if line == protocol.HANDED_OVER:
                    self.handed_over = True
                    continue
                passed.append(line)
                found = _REPLY.match(line)
                if found is not None:
                    self._settle(_decode(found[1]), found[2] == b"result")
                elif self._flying and not line.startswith(_CALL):
                    message = _decode(line)
                    for one in message if isinstance(message, list) else [message]:
                        if isinstance(one, dict) and "method" not in one:
                            self._settle(one.get("id"), "result" in one)
        return b"".join(passed)

    def _settle(self, given: Any, well: bool) -> None:
        if not _is_id(given):
            return
        self._flying.pop(_key(given), None)
        opening = self._opening.pop(_key(given), None)
        if opening is not None and well:
            self._initialize = opening

    def lost(self, *, final: bool = False, unread: bool = False) -> bytes:
        """The connection has ended; returns the answers the host gets instead of the daemon's.

        Args:
            final: There will be no other; nothing stays without an answer.
            unread: The daemon had not read the end of what was said: its last line was not begun.
        """
        with self._lock:
            answers = []
            last = {_key(id_) for id_ in requests_of(self._last)} if unread else set()
            self._last = b""
            for key, request in list(self._flying.items()):
                begun = not self.handed_over
                acts = begun and request.method == ACTS and key not in last
                request.again += begun
                if request.line is not None and not (final or acts or request.again > AGAIN_MOST):
                    continue
                del self._flying[key]
                self._opening.pop(key, None)
                answers.append(error_line(request.id, _loss(acts)))
            return b"".join(answers)

    def refused(self, wire: Mapping[str, Any]) -> bytes:
        """No daemon can be had; returns the answers to what was to be said again."""
        with self._lock:
            answers = [error_line(request.id, wire) for request in self._flying.values()]
            self._flying.clear()
            return b"".join(answers)

    def waiting(self) -> bool:
        """Whether something is to be said again that is worth starting a daemon for."""
        with self._lock:
            return any(request.method != LASTING for request in self._flying.values())

    def handshake(self) -> bytes:
        """The host's handshake, to be said first on a new connection; its answer has the id `AGAIN`. May be empty."""
        with self._lock:
            self.handed_over = False
            return b"" if self._initialize is None else protocol.encode(self._initialize | {"id": AGAIN})

    def again(self) -> bytes:
        """What is to be said behind the handshake's answer."""
        with self._lock:
            lines = [self._initialized] if self._initialize is not None else []
            lines += [request.line or b"" for request in self._flying.values()]
            self._last = lines[-1] if lines else b""
            return b"".join(lines)


def requests_of(line: bytes) -> list[Any]:
    """The ids of the requests in a line."""
    message = _decode(line)
    found = message if isinstance(message, list) else [message]
    return [one["id"] for one in found if isinstance(one, dict) and "method" in one and _is_id(one.get("id"))]


def is_handshake(line: bytes) -> bool | None:
    """Whether a line answers the handshake that was said again, and well; None when it is another line."""
    message = _decode(line)
    if not isinstance(message, dict) or message.get("id") != AGAIN:
        return None
    return "result" in message


def error_line(id_: Any, wire: Mapping[str, Any]) -> bytes:
    """The answer to a request, as an error of ours; a typed error goes along in its data."""
    text = f"{wire['code']}: {wire['message']}"
    if wire.get("hint"):
        text += f" {wire['hint']}"
    return protocol.encode({"jsonrpc": "2.0", "id": id_, "error": {"code": REFUSED, "message": text, "data": wire}})


def _loss(may_have_acted: bool) -> dict[str, Any]:
    from anydevice_schemas.errors import ConnectionLost, OutcomeUnknown

    if may_have_acted:
        return OutcomeUnknown(
            "The daemon went away while this call ran; it may have acted.",
            sent="unknown",
            reason="the daemon went away",
            restarted=True,
            hint="Look first (snapshot, appstate), then repeat the call if it did not happen. Sessions go on where "
            "their device does; a browser that the daemon had booted ended with it, and the next answer says so.",
        ).to_wire()
    return ConnectionLost(
        "The daemon went away before it answered; nothing was done.",
        restarted=True,
        may_have_acted=False,
        hint="Repeat the request.",
    ).to_wire()


def _decode(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_id(value: Any) -> bool:
    return isinstance(value, (int, float, str)) and not isinstance(value, bool)


def _key(given: Any) -> tuple[bool, Any]:
    """What tells one id from another: 7 and "7" are two, 1 and 1.0 are one."""
    return (isinstance(given, str), given)
