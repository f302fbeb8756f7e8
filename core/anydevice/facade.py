"""What a facade is: something that serves a connection of the daemon in a protocol of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from anyio.abc import ByteStream

    from anydevice_schemas import Caller

    from .router import Router


class Facade(Protocol):
    """A facade brought by a plugin (see `hooks.Hooks.anydevice_facades`).

    Attributes:
        name: What a client asks for at connect, e.g. `mcp`.
        options: Optional: names of the options it takes; the daemon refuses any other at connect.
        run: Optional: `async def run(router)`, which the daemon starts once and cancels when it ends: what a facade
            does besides serving connections. An exception of it is logged, and nothing else.
        told: Optional: a mapping of what `anydevice status` says of it.
        stays: Optional: True while the daemon must not end for want of connections.
    """

    name: str

    async def prepare(self) -> None:
        """Does slow imports ahead of the first connection; called once, in the background."""
        ...

    async def serve(self, stream: ByteStream, caller: Caller, router: Router, options: Mapping[str, Any]) -> None:
        """Serves one connection until the client ends it. Everything of the connection is gone on return."""
        ...
