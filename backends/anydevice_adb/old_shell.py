"""Commands on devices from before shell_v2 (API 23 and older): `exec:`, with the exit status written at the end.

Such a device cannot keep errors apart, and does not end a command whose connection is closed.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from .shell import ShellDone
from .wire import Closed, Connection

_MARK = "\x01anydevice-status:"
_END = re.compile(re.escape(_MARK.encode()) + rb"(\d+)\n?\Z")


def wrapped(command: str) -> str:
    """The command line, followed by its exit status behind a mark. On a line of its own: it may end in a comment.

    In a shell of its own: it may leave with `exit`, or be replaced by `exec`.
    """
    return "( " + command + "\n) 2>&1; echo -n '" + _MARK + "'$?"


async def run(connection: Connection, stdin: bytes | AsyncIterator[bytes] | None, most: int) -> ShellDone:
    """Reads a wrapped command to its end.

    Raises:
        Closed: The transport was lost before the command ended.
    """
    if isinstance(stdin, bytes):
        await connection.send(stdin)
    elif stdin is not None:
        async for piece in stdin:
            await connection.send(piece)
    out, cut = bytearray(), 0
    while chunk := await connection.receive():
        out += chunk
        if len(out) > most + 65536:
            surplus = len(out) - most - 4096  # the mark is at the end, and must stay
            del out[most - 4096 : most - 4096 + surplus]
            cut += surplus
    found = _END.search(bytes(out[-128:]))
    if found is None:
        raise Closed
    del out[len(out) - (len(found[0])) :]
    return ShellDone(int(found[1]) & 0xFF, bytes(out), b"", cut)
