"""The server object: every method of the protocol, answered by the features in turn.

A connection by stdio has a server object of its own, HTTP one for all; both share the features and who hears of changes
(`Household`). This module and those of single features know the SDK; they are imported when the first client comes.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import mcp_types as types
import structlog
from anyio.abc import ByteStream
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError

import anydevice
from anydevice.host.protocol import LINE_LIMIT, Lines, LineTooLong
from anydevice.router import Router
from anydevice_schemas import Caller
from anydevice_schemas.errors import AnydeviceError

from . import instructions
from .changes import Changes
from .commands import Commands
from .features import Feature, Host
from .frames import Malformed, decode, encode, is_id
from .prompts import Prompts
from .published import shown_to
from .resources import Resources
from .seats import Seat, seat_of
from .toolsets import Toolsets
from .wire import CHUNK, Inbound, Outbound, Wire

log = structlog.get_logger("anydevice.mcp")

Request = ServerRequestContext[Any, Any]
T = TypeVar("T")

LIST_TTL_MS = 300_000
"""How long a client may keep a list: it changes only when plugins do."""

LISTS: tuple[CacheableMethod, ...] = ("tools/list", "prompts/list", "resources/templates/list", "server/discover")

REFUSED = -32000
"""Code of the error that answers the first request of a connection that cannot be served."""

CHANGES = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)


class Household:
    """What all connections of a daemon share: the features, and who hears of changes.

    Args:
        router: Takes the calls.
        brought: Features of plugins, after those of the facade.
    """

    def __init__(self, router: Router, brought: Sequence[Feature] = ()) -> None:
        self.router = router
        self.changes = Changes()
        resources = Resources()
        self._toolsets = Toolsets()
        self.commands = Commands(resources, self._toolsets)
        self.features: list[Feature] = [self.commands, resources, Prompts(), self._toolsets, *brought]
        # One key for all connections: what a client of HTTP brings back may reach another server object.
        self.security = RequestStateSecurity(keys=[secrets.token_bytes(32)], bind_principal=_principal)
        host = Host(router, lambda ctx: seat_of(ctx).caller, self.changes.changed, self.changes.updated)
        for feature in self.features:
            feature.host = host
        router.services.catalogue.listeners.append(self._catalogue_changed)

    def _catalogue_changed(self) -> None:
        self.commands.changed()
        self.changes.changed("tools")

    def forget(self, client: object) -> None:
        """A client is gone: its seat, or its session over HTTP."""
        self.changes.forget(client)
        self._toolsets.forget(client)

    def server(self, lifespan: Callable[[Any], Any] | None = None) -> Server[Any]:
        """A server object.

        Args:
            lifespan: Gives a connection its seat, where requests do not carry one.
        """
        more: dict[str, Any] = {} if lifespan is None else {"lifespan": lifespan}
        hint = CacheHint(ttl_ms=LIST_TTL_MS, scope="private")
        desk = _Desk(self)
        server: Server[Any] = _Announcing(
            "anydevice",
            version=anydevice.__version__,
            title="anydevice",
            instructions=instructions.TEXT,
            cache_hints=dict.fromkeys(LISTS, hint),
            on_list_tools=desk.list_tools,
            on_call_tool=desk.call_tool,
            on_list_resources=desk.list_resources,
            on_list_resource_templates=desk.list_templates,
            on_read_resource=desk.read_resource,
            on_subscribe_resource=self.changes.subscribe,
            on_unsubscribe_resource=self.changes.unsubscribe,
            on_subscriptions_listen=ListenHandler(self.changes.bus),
            on_list_prompts=desk.list_prompts,
            on_get_prompt=desk.get_prompt,
            on_completion=desk.complete,
            **more,
        )
        server.middleware.append(self.changes.remember)
        server.middleware.append(RequestStateBoundary(self.security, default_audience="anydevice"))
        return server


def _principal(ctx: Request) -> str | None:
    return seat_of(ctx).caller.principal


class _Announcing(Server[Any]):
    """A server that tells clients of the older era that its lists change."""

    def create_initialization_options(self, notification_options: Any = None, *more: Any, **named: Any) -> Any:
        return super().create_initialization_options(notification_options or CHANGES, *more, **named)

    def get_capabilities(self, notification_options: Any = None, *more: Any, **named: Any) -> types.ServerCapabilities:
        return super().get_capabilities(notification_options or CHANGES, *more, **named)


async def serve(stream: ByteStream, caller: Caller, household: Household, options: Mapping[str, Any]) -> None:
    """Serves one connection until its client ends it.

    Raises:
        InvalidArgument: An option that means nothing; nothing was read yet.
    """
    seat = Seat(caller, shown_to(options))

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[Seat]:
        try:
            yield seat
        finally:
            household.forget(seat)

    server = household.server(lifespan)

    async def run(inbound: Inbound, outbound: Outbound) -> None:
        await server.run(inbound, outbound, server.create_initialization_options())

    await Wire(stream).run(run)


async def refuse(stream: ByteStream, error: AnydeviceError) -> None:
    """Answers the first request of a connection with the reason why there is no server, and ends it."""
    lines = Lines(LINE_LIMIT)
    while True:
        try:
            found = lines.feed(await stream.receive(CHUNK))
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
        for line in found:
            try:
                message = None if isinstance(line, LineTooLong) else decode(line)
            except Malformed:
                continue
            if isinstance(message, dict) and "method" in message and is_id(message.get("id")):
                text = f"{error.code}: {error.message} {error.hint}".strip()
                fault = Malformed(REFUSED, text, message["id"], error.to_wire())
                await stream.send(encode(fault.reply()))
                return


class _Desk:
    """The handlers of a server: each asks the features in turn."""

    def __init__(self, household: Household) -> None:
        self._household = household

    async def list_tools(self, ctx: Request, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """All tools, sorted by name, on one page."""
        found = await self._listed(params, lambda feature: feature.tools(ctx), lambda tool: tool.name)
        return types.ListToolsResult(tools=found)

    async def call_tool(
        self, ctx: Request, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """One call. Only a name that nothing has, and a defect of ours, are errors of the protocol."""
        result: types.CallToolResult | types.InputRequiredResult | None = await self._first(
            lambda feature: feature.call_tool(ctx, params), tool=params.name[:60]
        )
        if result is None:
            raise self._household.commands.unknown(params.name)
        return result

    async def list_resources(
        self, ctx: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Every resource there is now."""
        found = await self._listed(params, lambda feature: feature.resources(ctx), lambda resource: str(resource.uri))
        return types.ListResourcesResult(resources=found)

    async def list_templates(
        self, ctx: Request, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Every template."""
        found = await self._listed(params, lambda feature: feature.templates(ctx), lambda each: each.uri_template)
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def read_resource(
        self, ctx: Request, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        """One resource."""
        result: types.ReadResourceResult | types.InputRequiredResult | None = await self._first(
            lambda feature: feature.read(ctx, params), uri=str(params.uri)[:80]
        )
        if result is None:
            uri = str(params.uri)[:200]
            raise MCPError(types.INVALID_PARAMS, f"Resource not found: {uri}", {"uri": uri})
        return result

    async def list_prompts(self, ctx: Request, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """Every prompt."""
        found = await self._listed(params, lambda feature: feature.prompts(ctx), lambda prompt: prompt.name)
        return types.ListPromptsResult(prompts=found)

    async def get_prompt(
        self, ctx: Request, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        """One prompt."""
        result: types.GetPromptResult | types.InputRequiredResult | None = await self._first(
            lambda feature: feature.prompt(ctx, params), prompt=params.name[:60]
        )
        if result is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name[:60]!r}.")
        return result

    async def complete(self, ctx: Request, params: types.CompleteRequestParams) -> types.CompleteResult:
        """What an argument may be; nothing for what nobody knows."""
        result = await self._first(lambda feature: feature.complete(ctx, params))
        return types.CompleteResult(completion=result or types.Completion(values=[]))

    async def _listed(
        self,
        params: types.PaginatedRequestParams | None,
        ask: Callable[[Feature], Awaitable[Sequence[T]]],
        name_of: Callable[[T], str],
    ) -> list[T]:
        """What all features have, sorted; where two have one name the earlier keeps it."""
        if params is not None and params.cursor is not None:
            raise MCPError(types.INVALID_PARAMS, "Invalid cursor: the list has one page.")
        found: dict[str, T] = {}
        for feature in self._household.features:
            try:
                brought = await ask(feature)
            except Exception as error:  # one feature's fault stays its own
                log.error("mcp_feature_failed", feature=feature.name, exc_info=error)
                continue
            for each in brought:
                found.setdefault(name_of(each), each)
        return [found[name] for name in sorted(found)]

    async def _first(self, ask: Callable[[Feature], Awaitable[T | None]], **about: Any) -> T | None:
        """The answer of the first feature that has one."""
        for feature in self._household.features:
            try:
                result = await ask(feature)
            except MCPError:
                raise
            except Exception as error:  # a defect: told by its incident, nothing of it on the wire
                incident = secrets.token_hex(4)
                log.error("mcp_call_failed", incident=incident, feature=feature.name, **about, exc_info=error)
                raise MCPError(
                    types.INTERNAL_ERROR,
                    f"Something in anydevice is wrong (incident {incident}).",
                    {"incident": incident},
                ) from None
            if result is not None:
                return result
        return None
