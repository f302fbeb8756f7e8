"""The tool `toolset`: a client of the handshake era widens its own list while it is connected.

Only there: a connection of that era has a memory, and hears that its list changed. In the newer era a list depends on
nothing but the request, so the address, the launch flag or the token choose.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from .changes import MOST, key_of
from .features import Feature
from .published import TOOLSETS, WORDS_OF_READ, Shown
from .seats import seat_of

Request = ServerRequestContext[Any, Any]

NAME = "toolset"
WORDS = (*TOOLSETS, WORDS_OF_READ)

_TOOL = {
    "name": NAME,
    "description": "Adds a group of tools to this connection's tool list, or takes it out; your client is told that "
    "the list changed. Use it before a series of calls of one kind. For one call use command-search and command-run "
    "instead. Changes nothing on devices, nor for other clients.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "enable": {"type": "string", "enum": list(WORDS), "description": "Group to add"},
            "disable": {"type": "string", "enum": list(WORDS), "description": "Group to take out"},
        },
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {
            "toolsets": {"type": "array", "items": {"type": "string"}},
            "tools": {"type": "integer"},
            "error": {"type": "object"},
        },
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
}


class Toolsets(Feature):
    """What each client of the older era added to its list."""

    name = "toolsets"

    def __init__(self) -> None:
        self._added: OrderedDict[object, tuple[str, ...]] = OrderedDict()

    def shown(self, ctx: Request) -> Shown:
        """What a client is shown: what its seat says, and what it added."""
        seat = seat_of(ctx).shown
        added = self._added.get(key_of(ctx), ()) if _remembers(ctx) else ()
        if not added:
            return seat
        return replace(seat, toolsets=tuple(dict.fromkeys((*(seat.toolsets or ("core",)), *added))))

    def forget(self, key: object) -> None:
        """A client is gone."""
        self._added.pop(key, None)

    async def tools(self, ctx: Request) -> Sequence[types.Tool]:
        """The one tool, where it works."""
        return [types.Tool.model_validate(_TOOL)] if _works(ctx) else []

    async def call_tool(self, ctx: Request, params: types.CallToolRequestParams) -> types.CallToolResult | None:
        """Adds, takes out, or only tells."""
        if params.name != NAME or not _works(ctx):
            return None
        given = dict(params.arguments or {})
        enable, disable = given.pop("enable", None), given.pop("disable", None)
        for param, word in (("enable", enable), ("disable", disable)):
            if word is not None and word not in WORDS:
                return _refused(param, f"There is no toolset {str(word)[:60]!r}.", ", ".join(WORDS))
        if given:
            return _refused(min(given)[:60], "There is no such input.", "enable or disable")
        before = self._added.get(key_of(ctx), ())
        after = tuple(word for word in before if word != disable)
        if enable is not None and enable not in after:
            after += (enable,)
        if after != before:
            self._keep(key_of(ctx), after)
            await ctx.session.send_tool_list_changed()
        shown = self.shown(ctx)
        count = sum(map(shown.has, self.host.router.services.catalogue.commands())) + 1
        words = list(shown.toolsets or ("core",))
        text = f"{NAME}: {', '.join(words)}; {count} tools"
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)],
            structured_content={"toolsets": words, "tools": count},
        )

    def _keep(self, key: object, words: tuple[str, ...]) -> None:
        self._added[key] = words
        self._added.move_to_end(key)
        while len(self._added) > MOST:
            self._added.popitem(last=False)


def _remembers(ctx: Request) -> bool:
    return ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS


def _works(ctx: Request) -> bool:
    """Not where every command is a tool already."""
    return _remembers(ctx) and not (seat_of(ctx).shown.schemas == "full" and not seat_of(ctx).shown.toolsets)


def _refused(param: str, message: str, expected: str) -> types.CallToolResult:
    error = {
        "code": "invalid_argument",
        "message": message,
        "retryable": False,
        "hint": f"It is one of: {expected}.",
        "details": {"param": param, "expected": expected},
    }
    text = f"invalid_argument: {message}\nHint: {error['hint']}\nRetryable: false"
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content={"error": error}, is_error=True
    )
