"""Agents' door: anydevice as an MCP server, a facade of the daemon.

    wire.py, frames.py        lines of JSON-RPC on one side, the SDK's message streams on the other
    server.py, seats.py       every method, answered by the features in turn; who asks
    features.py, changes.py   what a plugin may add to the facade itself; telling clients that a list changed
    commands.py, progress.py  commands as tools: a call of the router, and what of its answer the client gets
    approving.py              asking a person, through the client
    resources.py, prompts.py  files that calls made, devices, guides/; ways to begin
    published.py, schemas.py  which commands are tools, and under which schemas
    shortening.py             what the default list leaves out or says in fewer words
    instructions.py           what a model is told before its first call
    results.py, plain.py      from an answer to text, structured content and pictures
    bounds.py, untrusted.py   every result cut to size; what a device said fenced and marked

    hosts.py, entries.py      `anydevice install-host`
    http/                     the same over HTTP: who gets in, and what listens

Importing this package imports nothing of the MCP SDK; `McpFacade.prepare` does, in a worker thread. Nor does it import
the facade before that is asked for: subcommands of the command line live here too, and have no need of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anydevice.hooks import hookimpl

if TYPE_CHECKING:
    from anydevice.facade import Facade

    from .facade import McpFacade
    from .features import Feature, Host

__all__ = ["Feature", "Host", "McpFacade", "anydevice_facades"]


@hookimpl
def anydevice_facades() -> Sequence[Facade]:
    """The facade `mcp`."""
    from .facade import McpFacade

    return [McpFacade()]


def __getattr__(name: str) -> Any:
    if name == "McpFacade":
        from .facade import McpFacade

        return McpFacade
    if name in ("Feature", "Host"):
        from . import features

        return getattr(features, name)
    raise AttributeError(name)
