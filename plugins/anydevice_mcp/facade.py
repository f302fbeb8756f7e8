"""The facade: what the daemon gets from this plugin. Light until the first connection comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from anydevice_schemas.errors import InvalidArgument

if TYPE_CHECKING:
    from anyio.abc import ByteStream

    from anydevice.router import Router
    from anydevice_schemas import Caller


class McpFacade:
    """Serves the Model Context Protocol: newline-delimited JSON-RPC, one connection a client.

    Every connection has a server object of its own: the SDK hands a handler no way to tell connections apart that
    is public in both eras of the protocol, and the caller (so the implicit session) belongs to the connection.
    """

    name = "mcp"
    options = ("schemas",)

    async def prepare(self) -> None:
        """Imports the SDK in a worker thread; it takes most of a second."""
        await anyio.to_thread.run_sync(_import_sdk)

    async def serve(self, stream: ByteStream, caller: Caller, router: Router, options: Mapping[str, Any]) -> None:
        """Serves one connection until the client ends it.

        Args:
            stream: The connection.
            caller: Who is on it; all calls are made in this name.
            router: Takes the calls.
            options: `schemas`: `default` or `full`. A bad value is told as the answer to the first request.
        """
        await self.prepare()
        from .server import refuse, serve

        try:
            await serve(stream, caller, router, options)
        except InvalidArgument as error:
            await refuse(stream, error)


def _import_sdk() -> None:
    from . import server  # noqa: F401 - imported for its effect
