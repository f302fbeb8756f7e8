"""Which process a window belongs to, as the X server itself knows it: for programs that do not say."""

from __future__ import annotations

from collections.abc import Sequence

from Xlib import error as xerror
from Xlib.ext import res

from .connection import Connection

SAYS_PIDS = (1, 2)
"""First version of the extension that tells process ids."""


def pids_of(connection: Connection, ids: Sequence[int]) -> dict[int, int]:
    """Process id of each window whose program runs on this host; empty where the server does not say.

    Args:
        connection: Of the display; this runs in its thread.
        ids: Of the windows.
    """
    if not ids or not _spoken(connection):
        return {}
    wanted = [{"client": id, "mask": res.LocalClientPIDMask} for id in ids]
    try:
        answer = res.query_client_ids(connection, wanted)
    except xerror.XError:
        return {}  # one of them is gone
    # The server names each program by the first of the numbers it may give to what it makes.
    bits = connection.display.info.resource_id_mask
    by_base = {one.spec.client & ~bits: int(one.value[0]) for one in answer.ids if one.value}
    return {id: by_base[id & ~bits] for id in ids if by_base.get(id & ~bits, 0) > 0}


def _spoken(connection: Connection) -> bool:
    """Whether the server has the extension, found out once a connection."""
    if connection.tells_owners is None:
        connection.tells_owners = False
        found = connection.query_extension(res.extname)
        if found is not None:
            connection.display.set_extension_major(res.extname, found.major_opcode)
            version = res.query_version(connection)
            connection.tells_owners = (version.server_major, version.server_minor) >= SAYS_PIDS
    return connection.tells_owners
