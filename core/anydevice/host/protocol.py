"""The wire between a daemon and its clients: one JSON object a line, over a local socket.

    -> {"hello": "call", "version": "0.1.0", "protocol": 1, "transport": "stdio", "cwd": …, "env": {…},
        "options": {…}, "python": "/…/bin/python", "resume": "<token>"}
    <- {"ok": true, "version": "0.1.0", "protocol": 1, "pid": 4711, "catalogue": "<digest>", "resume": "<token>"}
                                       or {"ok": false, "error": {code, message, …}} and the connection ends

A client that lost its daemon says the token of its last reply in its next hello (`resume`), and is the same
connection again: its sessions are where it left them. The command line has no token, and needs none.

A client of a newer version makes the daemon replace itself by that version, run by the client's `python`. It is told
``{"handing_over": {…}}`` at once; then either its connection ends, because the new daemon has taken over and is to be
greeted anew, or the reply comes after all. Connections that were open meanwhile are ended after
``{"handed_over": true}``: every request the daemon had read is answered by then, any other has not been begun and is
said again to the new daemon.

What follows depends on the word in `hello`:

* `call`: requests, answered in the order they end, as many at once as the client likes.

        -> {"id": 1, "call": "press", "arguments": {"target": "@e3"}, "deadline": 20}
        <- {"id": 1, "progress": {"done": 0.4, "message": "…"}}        any number of times
        <- {"id": 1, "answer": {"ok": true, …}}                        exactly once
        -> {"cancel": 1}                                               its answer still comes, and says so
        -> {"goodbye": true}                                           the client does not come back
        -> {"id": 2, "host": "status"}                                 asks the daemon itself
        <- {"id": 2, "result": {…}}                                    or {"id": 2, "error": {…}}

* `host`: the same, without calls. It is the only conversation a daemon has with a client of another version,
  and `status` and `stop` keep their form in every version.
* the name of a facade: the rest of the stream is the facade's own protocol.

A line that cannot be used is answered with ``{"id": null, "error": {…}}``; the next line is unaffected.
Standard library only: the pump and the command line start with this module.
"""

from __future__ import annotations

import json
import os
import sys

import anydevice

from ..places import call_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

PROTOCOL = 1
CALL = "call"
HOST = "host"
LINE_LIMIT = 4 * 1024 * 1024
"""Bytes a line from a client may have."""

ANSWER_LIMIT = 64 * 1024 * 1024
"""Bytes a line from the daemon may have."""

HELLO_DEADLINE = 8.0
"""Seconds either side waits for the other's first line."""

HAND_OVER_DEADLINE = 20.0
"""Seconds that what runs in a daemon gets to end before it is replaced by a newer version."""

HANDED_OVER = b'{"handed_over":true}\n'
"""The last line of a connection whose daemon is replaced (see above)."""


class LineTooLong(ValueError):
    """A line exceeded what a side accepts; it was dropped up to its end."""


class Malformed(ValueError):
    """A line is no JSON object; the message says what is wrong with it."""


def encode(message: Mapping[str, Any]) -> bytes:
    """One message as a line. Pure ASCII, so that any text at all (lone surrogates too) survives."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes | bytearray) -> dict[str, Any]:
    """The message in a line.

    Raises:
        Malformed: It is not UTF-8, not JSON, or not an object.
    """
    try:
        message = json.loads(line)
    except UnicodeDecodeError:
        raise Malformed("the line is not UTF-8") from None
    except RecursionError:
        raise Malformed("the JSON is nested too deeply") from None
    except ValueError as error:
        raise Malformed(f"the line is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise Malformed("the line is JSON but not an object")
    return message


class Lines:
    """Cuts a stream of bytes into lines, without ever holding more than `limit` bytes of one.

    Attributes:
        limit: Bytes a line may have. A longer one comes out as `LineTooLong`, once, and is skipped to its end.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._buffer = bytearray()
        self._skipping = False
        self._searched = 0

    def feed(self, data: bytes) -> list[bytes | LineTooLong]:
        """Takes bytes as they came and returns the lines that are complete now; empty lines are left out."""
        buffer = self._buffer
        buffer += data
        out: list[bytes | LineTooLong] = []
        start = 0
        while (end := buffer.find(b"\n", max(start, self._searched))) >= 0:
            if self._skipping:
                self._skipping = False
            elif end - start > self.limit:
                out.append(self._too_long())
            elif line := bytes(buffer[start:end]).strip():
                out.append(line)
            start = end + 1
        del buffer[:start]
        if len(buffer) > self.limit and not self._skipping:
            self._skipping = True
            out.append(self._too_long())
        if self._skipping:
            buffer.clear()
        self._searched = len(buffer)
        return out

    def _too_long(self) -> LineTooLong:
        return LineTooLong(f"the line is longer than {self.limit} bytes")


def hello(
    what: str,
    transport: Literal["stdio", "cli", "python"],
    *,
    options: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> bytes:
    """The first line of a client, with its working directory and the allow-listed part of its environment.

    Args:
        what: `call`, `host`, or the name of a facade.
        transport: How the caller reaches us; scopes its implicit sessions.
        options: Options of the facade.
        environ: The environment to pick from; this process's own when None.
        cwd: The working directory to say; this process's own when None.
    """
    if cwd is None:
        try:
            cwd = os.getcwd()
        except OSError:
            cwd = None  # it was deleted under us
    return encode(
        {
            "hello": what,
            "version": anydevice.__version__,
            "protocol": PROTOCOL,
            "transport": transport,
            "cwd": cwd,
            "env": call_environment(os.environ if environ is None else environ),
            "options": dict(options or {}),
            "python": sys.executable,
        }
    )


def resumed(line: bytes, token: str | None) -> bytes:
    """A hello that is to go on with an earlier connection; the hello itself without a token."""
    return line if token is None else encode(decode(line) | {"resume": token})


def left_unread(error: BaseException | None) -> bool:
    """Whether a connection ended so that its other side had not read all that was sent: the last line was not begun.

    Linux resets a local stream whose end closes with bytes still to be read, and only such (unix_release_sock in
    net/unix/af_unix.c). Elsewhere nobody can tell, and the answer is False.
    """
    return sys.platform == "linux" and isinstance(error, ConnectionResetError)
