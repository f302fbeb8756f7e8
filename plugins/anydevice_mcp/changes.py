"""Telling clients that a list changed, in both eras of the protocol.

The newer era has clients that listen (`subscriptions/listen`); they hear of what they asked for. In the older one every
client that shook hands is told, and those that subscribed to a resource hear of it. Whoever has news posts it and goes
on; `Changes.run` carries it out, for each client by itself: one that does not read holds up nobody else.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from .features import What

MOST = 1000
"""Clients of the older era that are remembered; the earliest are forgotten first."""

SUBSCRIBED_MOST, URI_MOST = 200, 2048
"""Resources that one client may subscribe to, and characters of an address."""

TELL_SECONDS = 5.0
"""How long one client may take to be told."""

_EVENTS: dict[What, ServerEvent] = {
    "tools": ToolsListChanged(),
    "prompts": PromptsListChanged(),
    "resources": ResourcesListChanged(),
}
_TELLS: dict[ServerEvent, Callable[[ServerSession], Any]] = {
    ToolsListChanged(): ServerSession.send_tool_list_changed,
    PromptsListChanged(): ServerSession.send_prompt_list_changed,
    ResourcesListChanged(): ServerSession.send_resource_list_changed,
}

Request = ServerRequestContext[Any, Any]


class Changes:
    """Everybody who wants to hear of changes, over all connections of the facade."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._sessions: OrderedDict[object, ServerSession] = OrderedDict()
        self._subscribed: dict[object, set[str]] = {}
        self._news: dict[ServerEvent, None] = {}
        self._due: dict[object, dict[ServerEvent, None]] = {}
        self._telling: set[object] = set()
        self._came, self._wake = anyio.create_memory_object_stream[None](math.inf)

    async def run(self) -> None:
        """Tells everybody of what was posted, until it is cancelled. What is posted twice meanwhile is told once."""
        async with anyio.create_task_group() as group:
            async for _ in self._wake:
                while self._news:
                    event = next(iter(self._news))
                    del self._news[event]
                    await self.bus.publish(event)
                    for key in self._sessions:
                        if event not in _TELLS and _uri(event) not in self._subscribed.get(key, ()):
                            continue
                        self._due.setdefault(key, {})[event] = None
                        if key not in self._telling:
                            self._telling.add(key)
                            group.start_soon(self._tell, key)

    async def _tell(self, key: object) -> None:
        """Tells one client what is due."""
        try:
            while (due := self._due.get(key)) and (session := self._sessions.get(key)) is not None:
                event = next(iter(due))
                del due[event]
                with anyio.move_on_after(TELL_SECONDS):
                    if tell := _TELLS.get(event):
                        await tell(session)
                    else:
                        await session.send_resource_updated(_uri(event))
        finally:
            self._telling.discard(key)
            self._due.pop(key, None)

    def changed(self, what: What) -> None:
        """A list changed. Takes no time; to be called on the event loop."""
        self._post(_EVENTS[what])

    def updated(self, uri: str) -> None:
        """A resource changed. Takes no time; to be called on the event loop."""
        self._post(ResourceUpdated(uri))

    def _post(self, event: ServerEvent) -> None:
        self._news[event] = None
        self._came.send_nowait(None)

    async def remember(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """A middleware of the server: remembers who shook hands."""
        result = await call_next(ctx)
        if ctx.method == "notifications/initialized":
            key = key_of(ctx)
            self._sessions[key] = ctx.session
            while len(self._sessions) > MOST:
                self.forget(next(iter(self._sessions)))
        return result

    def forget(self, key: object) -> None:
        """A client is gone."""
        self._sessions.pop(key, None)
        self._subscribed.pop(key, None)
        self._due.pop(key, None)

    async def subscribe(self, ctx: Request, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """A client of the older era wants to hear of a resource."""
        uri, mine = str(params.uri), self._subscribed.setdefault(key_of(ctx), set())
        if len(uri) > URI_MOST or (len(mine) >= SUBSCRIBED_MOST and uri not in mine):
            raise MCPError(
                types.INVALID_PARAMS,
                f"At most {SUBSCRIBED_MOST} subscriptions, of addresses of up to {URI_MOST} characters.",
            )
        mine.add(uri)
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Request, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """It does not any more."""
        self._subscribed.get(key_of(ctx), set()).discard(str(params.uri))
        return types.EmptyResult()


def _uri(event: ServerEvent) -> str:
    return event.uri if isinstance(event, ResourceUpdated) else ""


def key_of(ctx: Request) -> object:
    """What tells a client of the older era from another: its session over HTTP, its seat elsewhere."""
    headers = getattr(ctx.request, "headers", None)
    session = headers.get("mcp-session-id") if headers is not None else None
    return session or ctx.lifespan_context
