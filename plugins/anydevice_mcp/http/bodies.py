"""The body of a request, read whole before the protocol sees it: within its time, within its size, and one message.

The SDK's two ways in read JSON each in a manner of its own: one passes `NaN` and half characters on, the other takes a
request whose id is null for a notification and leaves its client waiting. What is no message is refused here, by the
same rules as on stdio.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import anyio
import mcp_types as types

from ..frames import Malformed, decode, read_message

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

BODY_SECONDS = 30.0
"""How long a body may take to come."""

LEFTOVER_SECONDS = 1.0
"""How long the body of a refused request is waited for: a connection that is closed on it may lose the answer."""


LEFTOVER_MOST = 8 * 1024 * 1024


class Gone(Exception):
    """The client went away in the middle of its request: there is nothing to answer, and nobody."""


class TooLarge(Exception):
    """The body has more bytes than it may."""


async def whole(receive: Receive, most: int) -> bytes:
    """The body.

    Raises:
        Gone: The client went away before its end.
        TooLarge: It has more than `most` bytes; the rest was not read.
        TimeoutError: It did not come within `BODY_SECONDS`.
    """
    body = bytearray()
    with anyio.fail_after(BODY_SECONDS):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise Gone
            body += message.get("body", b"")
            if len(body) > most:
                raise TooLarge
            if not message.get("more_body", False):
                return bytes(body)


async def pass_over(receive: Receive) -> None:
    """Reads on to the end of a body nobody wants, for a moment and within bounds."""
    size = 0
    with anyio.move_on_after(LEFTOVER_SECONDS):
        while size <= LEFTOVER_MOST:
            message = await receive()
            size += len(message.get("body", b""))
            if message["type"] != "http.request" or not message.get("more_body", False):
                return


def judge(body: bytes) -> None:
    """Lets a body pass that is one message.

    Raises:
        Malformed: It is none.
    """
    value = decode(body)
    if isinstance(value, list):
        raise Malformed(types.INVALID_REQUEST, "Invalid request: over HTTP there are no batches.")
    message = read_message(value)
    if isinstance(getattr(message, "id", None), float):
        raise Malformed(types.INVALID_REQUEST, 'Invalid request: "id" must be a string or an integer.')


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body first, and then what comes."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
