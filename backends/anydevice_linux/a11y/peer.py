"""One call to an application over its own socket, past the bus.

GTK 3 does what it is asked while it reads the question. Where that runs a dialog (`gtk_dialog_run`), nothing more is
read from the same connection until the dialog is closed; everything else goes on. So actions come over a connection
that is used for nothing else.
"""

from __future__ import annotations

import os
import struct
from typing import Final

import anyio
from anyio.abc import SocketStream

from .bus import Call, Lost, Refusal, Silence

CALL: Final = 1
REPLY: Final = 2
ERROR: Final = 3
HEADER: Final = struct.Struct("<BBBBIII")
MESSAGE_MOST: Final = 1 << 20


async def ask_peer(address: str, call: Call, deadline: float) -> bool:
    """Makes one call whose only argument is a whole number and whose answer is yes or no.

    Args:
        address: D-Bus address of the application's own socket.
        call: The call; its signature is `i`.
        deadline: Seconds it may take.

    Raises:
        Refusal: The application answered with an error.
        Silence: It did not answer.
        Lost: It cannot be reached this way.
    """
    path = address.removeprefix("unix:path=").partition(",")[0]
    if not address.startswith("unix:path="):
        raise Lost("no socket of its own")
    try:
        with anyio.fail_after(deadline):
            async with await anyio.connect_unix(path) as stream:
                await stream.send(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
                if not (await _line(stream)).startswith(b"OK"):
                    raise Lost("it does not let us in")
                await stream.send(b"BEGIN\r\n" + encoded(call))
                return await _answer(stream)
    except TimeoutError:
        raise Silence(f"no answer within {deadline:g} s") from None
    except (OSError, anyio.EndOfStream, anyio.BrokenResourceError) as error:
        raise Lost("its socket is gone") from error


def encoded(call: Call) -> bytes:
    """A method call as the protocol writes it, little-endian, serial 1."""
    fields = b""
    for code, kind, text in ((1, b"o", call.path), (2, b"s", call.interface), (3, b"s", call.member)):
        fields += b"\0" * (-len(fields) % 8)
        raw = text.encode()
        fields += bytes((code, 1)) + kind + b"\0" + struct.pack("<I", len(raw)) + raw + b"\0"
    fields += b"\0" * (-len(fields) % 8) + bytes((8, 1)) + b"g\0" + bytes((1,)) + b"i\0"
    body = struct.pack("<i", call.body[0])
    head = HEADER.pack(ord("l"), CALL, 0, 1, len(body), 1, len(fields))
    message = head + fields
    return message + b"\0" * (-len(message) % 8) + body


async def _answer(stream: SocketStream) -> bool:
    """The answer to serial 1; whatever else is said in between is passed over."""
    buffer = b""
    while True:
        buffer = await _filled(stream, buffer, HEADER.size)
        order, kind, _, _, size, _, fields = HEADER.unpack_from(buffer)
        if order != ord("l") or size > MESSAGE_MOST or fields > MESSAGE_MOST:
            raise Lost("it speaks another protocol")
        start = HEADER.size + fields + (-(HEADER.size + fields) % 8)
        buffer = await _filled(stream, buffer, start + size)
        if kind == ERROR:
            raise Refusal("error")
        if kind == REPLY:
            return size >= 4 and bool(struct.unpack_from("<I", buffer, start)[0])
        buffer = buffer[start + size :]


async def _filled(stream: SocketStream, buffer: bytes, size: int) -> bytes:
    while len(buffer) < size:
        buffer += await stream.receive()
    return buffer


async def _line(stream: SocketStream) -> bytes:
    buffer = b""
    while not buffer.endswith(b"\r\n"):
        buffer += await stream.receive(512)
        if len(buffer) > 4096:
            raise Lost("it speaks another protocol")
    return buffer
