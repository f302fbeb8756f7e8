"""The server object of a connection: what each request of the protocol becomes.

This is the only door to the SDK besides `wire`; it is imported when the first connection comes.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
import structlog
from anyio.abc import ByteStream
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

import anydevice
from anydevice.host.protocol import LINE_LIMIT, Lines, LineTooLong
from anydevice.router import Router
from anydevice_schemas import Answer, Call, Caller, Command, Switches
from anydevice_schemas.errors import AnydeviceError, UnknownCommand

from . import instructions
from .frames import Malformed, decode, encode, is_id
from .progress import Relay
from .published import PICTURES, Mode, definitions, is_listed, mode_of
from .results import Picture, Result, Style, render
from .untrusted import scrubber
from .wire import CHUNK, Inbound, Outbound, Wire

log = structlog.get_logger("anydevice.mcp")

Request = ServerRequestContext[Any, Any]
CallerOf = Callable[[Request], Caller]

LIST_TTL_MS = 300_000
"""How long a client may keep the tool list: it changes only when plugins do."""

PICTURE_MOST = 3_700_000
"""Bytes of a picture that is shown; as base64 it stays below what models accept (5 MB)."""

RUNNER = "command-run"
SWITCH_NAMES = frozenset(field.alias or name for name, field in Switches.model_fields.items())

REFUSED = -32000
"""Code of the error that answers the first request of a connection that cannot be served."""


async def serve(stream: ByteStream, caller: Caller, router: Router, options: Mapping[str, Any]) -> None:
    """Serves one connection until its client ends it.

    Raises:
        InvalidArgument: An option that means nothing; nothing was read yet.
    """
    server = build_server(router, lambda _: caller, mode_of(options))

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


def build_server(router: Router, caller_of: CallerOf, mode: Mode) -> Server[Any]:
    """A server over a router.

    Args:
        router: Takes the calls.
        caller_of: Says in whose name a request is made; only what authenticates the transport may decide that.
        mode: Which tools are listed, and under which schemas.
    """
    door = _Door(router, caller_of, mode)
    hint = CacheHint(ttl_ms=LIST_TTL_MS, scope="private")
    return Server(
        "anydevice",
        version=anydevice.__version__,
        title="anydevice",
        instructions=instructions.TEXT,
        cache_hints={"tools/list": hint, "server/discover": hint},
        on_list_tools=door.list_tools,
        on_call_tool=door.call_tool,
    )


class _Door:
    """The handlers of one server."""

    def __init__(self, router: Router, caller_of: CallerOf, mode: Mode) -> None:
        self._router = router
        self._caller_of = caller_of
        self._mode = mode

    async def list_tools(self, ctx: Request, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """The tools of this mode, sorted, all on one page."""
        if params is not None and params.cursor is not None:
            raise MCPError(types.INVALID_PARAMS, "Invalid cursor: the list has one page.")
        services = self._router.services
        words = [word.name for word in services.backends.platforms]
        tools = definitions(services.catalogue, self._mode, words)
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in tools])

    async def call_tool(self, ctx: Request, params: types.CallToolRequestParams) -> types.CallToolResult:
        """One call of the router. Whatever the command says, an error too, is a result; only a name that no
        command has, and a defect of ours, are protocol errors."""
        try:
            return await self._call(ctx, params.name, params.arguments or {})
        except MCPError:
            raise
        except Exception as error:  # a defect of ours: told by its incident, nothing of it on the wire
            incident = secrets.token_hex(4)
            log.error("mcp_call_failed", incident=incident, tool=params.name[:60], exc_info=error)
            raise MCPError(
                types.INTERNAL_ERROR, f"Something in anydevice is wrong (incident {incident}).", {"incident": incident}
            ) from None

    async def _call(self, ctx: Request, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        catalogue = self._router.services.catalogue
        try:
            command = catalogue.get(name).command
        except UnknownCommand as error:
            nearest = error.details["nearest"]
            near = f" Nearest: {', '.join(nearest)}." if nearest else ""
            raise MCPError(
                types.INVALID_PARAMS, f"Unknown tool: {error.message}{near}", {"nearest": nearest, "hint": error.hint}
            ) from None
        caller = self._caller_of(ctx)
        if command.name == RUNNER:
            arguments = _handed_on(arguments)
        answer = await self._answer(ctx, Call(name=command.name, arguments=arguments, caller=caller))
        pictures: list[Picture] = []
        if command.name in PICTURES or not is_listed(command.name, self._mode):
            answer, pictures = await self._pictures(answer)
        return _wire_result(
            render(answer, self._speaker(answer, command), Style.of(arguments), self._scrub(caller), pictures)
        )

    def _speaker(self, answer: Answer, called: Command) -> Command:
        """The command an answer is of: the inner one, where `command-run` passed it on."""
        if answer.command == called.name:
            return called
        try:
            return self._router.services.catalogue.get(answer.command).command
        except UnknownCommand:
            return called

    async def _answer(self, ctx: Request, call: Call) -> Answer:
        if not ctx.meta or "progress_token" not in ctx.meta:
            return await self._router.call(call)
        relay = Relay(ctx.session.report_progress)
        async with anyio.create_task_group() as group:
            group.start_soon(relay.run)
            try:
                answer = await self._router.call(call, progress=relay)
            finally:
                relay.close()
        return answer

    async def _pictures(self, answer: Answer) -> tuple[Answer, list[Picture]]:
        """The pictures an answer made, and the answer with a word for each that cannot be shown."""
        shown: list[Picture] = []
        missing: list[str] = []
        store = self._router.services.artefacts
        for artefact in answer.artefacts:
            if not artefact.mime.startswith("image/"):
                continue
            if artefact.size > PICTURE_MOST:
                missing.append(f"picture {artefact.name}: {artefact.size} bytes, more than can be shown")
                continue
            try:
                data = await anyio.to_thread.run_sync(store.read, artefact.name)
            except (AnydeviceError, OSError):
                missing.append(f"picture {artefact.name}: it is gone already")
                continue
            shown.append(Picture(artefact.mime, data))
        if missing:
            answer = answer.model_copy(update={"truncated": [*answer.truncated, *missing]})
        return answer, shown

    def _scrub(self, caller: Caller) -> Callable[[str], str]:
        places = [(str(self._router.services.settings.home), "<anydevice>"), (str(Path.home()), "~")]
        if caller.cwd is not None:
            places.append((caller.cwd, "."))
        return scrubber(places)


def _handed_on(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `command-run` with its switches given to the inner command too, which would miss them."""
    inner = arguments.get("arguments", {})
    if not isinstance(inner, dict):
        return arguments
    switches = {name: value for name, value in arguments.items() if name in SWITCH_NAMES}
    return {**arguments, "arguments": {**switches, **inner}} if switches else arguments


def _wire_result(result: Result) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=result.text)]
    content += [
        types.ImageContent(type="image", data=base64.b64encode(p.data).decode("ascii"), mime_type=p.mime)
        for p in result.pictures
    ]
    if result.structured is None:
        return types.CallToolResult(content=content, is_error=result.is_error)
    return types.CallToolResult(content=content, structured_content=result.structured, is_error=result.is_error)
