"""Commands as tools: what a call of a tool becomes, and what of its answer the client gets."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from anydevice.router import Router
from anydevice_schemas import Answer, Artefact, Call, Caller, Command, Switches
from anydevice_schemas.errors import AnydeviceError, UnknownCommand

from . import approving
from .features import Feature
from .progress import Relay
from .published import PICTURES, Shown, definitions
from .resources import Resources
from .results import Picture, Result, Style, render
from .seats import seat_of
from .toolsets import Toolsets
from .untrusted import scrubber

Request = ServerRequestContext[Any, Any]

PICTURE_MOST = 3_700_000
"""Bytes of a picture that is shown; as base64 it stays below what models accept (5 MB)."""

LISTS_KEPT = 64
"""Lists that are kept made: one for each way in which tools are shown."""

RUNNERS = ("command-run", "command-read")
SWITCH_NAMES = frozenset(field.alias or name for name, field in Switches.model_fields.items())


class Commands(Feature):
    """Every command of the catalogue, of a vendor's too."""

    name = "commands"

    def __init__(self, resources: Resources, toolsets: Toolsets) -> None:
        self._resources = resources
        self._toolsets = toolsets
        self._listed: dict[tuple[Shown, tuple[str, ...]], list[types.Tool]] = {}

    @property
    def _router(self) -> Router:
        return self.host.router

    async def tools(self, ctx: Request) -> Sequence[types.Tool]:
        """The commands the seat is shown. Made once: over HTTP the SDK asks at every call, to check headers by."""
        services, shown = self._router.services, self._toolsets.shown(ctx)
        words = tuple(word.name for word in services.backends.platforms)
        if (shown, words) not in self._listed:
            while len(self._listed) >= LISTS_KEPT:
                del self._listed[next(iter(self._listed))]
            made = definitions(services.catalogue, shown, words)
            self._listed[shown, words] = [types.Tool.model_validate(tool) for tool in made]
        return self._listed[shown, words]

    def changed(self) -> None:
        """The catalogue is another: lists are made anew."""
        self._listed.clear()

    async def call_tool(
        self, ctx: Request, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult | None:
        """One call of the router. Whatever the command says, an error too, is a result."""
        catalogue, seat = self._router.services.catalogue, seat_of(ctx)
        try:
            command = catalogue.get(params.name).command
        except UnknownCommand:
            return None
        arguments = params.arguments or {}
        if command.name in RUNNERS:
            arguments = _handed_on(arguments)
        answer = await self._approved(ctx, params, Call(name=command.name, arguments=arguments, caller=seat.caller))
        if isinstance(answer, types.InputRequiredResult):
            return answer
        self._resources.made(seat.caller, answer.artefacts)
        pictures: list[Picture] = []
        if command.name in PICTURES or not self._toolsets.shown(ctx).has(command):
            answer, pictures = await self._pictures(answer)
        keep = partial(self._resources.keep, seat.caller)
        speaker, scrub = self._speaker(answer, command), self._scrub(seat.caller)
        rendered = render(answer, speaker, Style.of(arguments), scrub, pictures=pictures, keep=keep)
        return _wire_result(rendered, answer.artefacts)

    def unknown(self, name: str) -> MCPError:
        """What a name is answered with that nothing has."""
        try:
            self._router.services.catalogue.get(name)
        except UnknownCommand as error:
            nearest = error.details["nearest"]
            near = f" Nearest: {', '.join(nearest)}." if nearest else ""
            return MCPError(
                types.INVALID_PARAMS, f"Unknown tool: {error.message}{near}", {"nearest": nearest, "hint": error.hint}
            )
        raise AssertionError(name)

    async def _approved(
        self, ctx: Request, params: types.CallToolRequestParams, call: Call
    ) -> Answer | types.InputRequiredResult:
        """The call's answer, once a person was asked where that is needed and the client can ask."""
        policy = self._router.services.policy
        token = approving.answered(policy, params) if params.request_state is not None else None
        answer = await self._answer(ctx, _confirmed(call, token))
        wanted = approving.token_of(answer)
        if wanted is None or token is not None or policy.confirm == "caller" or not approving.can_ask(ctx):
            return answer
        if params.request_state is not None:
            return answer  # the person said no, or nothing
        said = await approving.ask(ctx, policy, wanted)
        if isinstance(said, types.InputRequiredResult):
            return said
        return await self._answer(ctx, _confirmed(call, wanted)) if said else answer

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
        return _scrub_of(str(self._router.services.settings.home), caller.cwd)


@lru_cache(maxsize=256)
def _scrub_of(home: str, cwd: str | None) -> Callable[[str], str]:
    places = [(home, "<anydevice>"), (str(Path.home()), "~"), *([(cwd, ".")] if cwd is not None else [])]
    return scrubber(places)


def _confirmed(call: Call, token: str | None) -> Call:
    """The call with a token where it belongs: with the inner command, where one runs another."""
    if token is None:
        return call
    arguments = dict(call.arguments)
    if call.name in RUNNERS:
        arguments["arguments"] = {**arguments.get("arguments", {}), "confirmToken": token}
    else:
        arguments["confirmToken"] = token
    return call.model_copy(update={"arguments": arguments})


def _handed_on(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `command-run` with its switches given to the inner command too, which would miss them."""
    inner = arguments.get("arguments", {})
    if not isinstance(inner, dict):
        return arguments
    switches = {name: value for name, value in arguments.items() if name in SWITCH_NAMES}
    return {**arguments, "arguments": {**switches, **inner}} if switches else arguments


def _wire_result(result: Result, artefacts: Sequence[Artefact]) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=result.text)]
    content += [
        types.ImageContent(type="image", data=base64.b64encode(p.data).decode("ascii"), mime_type=p.mime)
        for p in result.pictures
    ]
    content += [types.ResourceLink(uri=a.uri, name=a.name, mime_type=a.mime, size=a.size) for a in artefacts]
    if result.whole is not None:
        content.append(types.ResourceLink(uri=result.whole, name="whole-result", mime_type="application/json"))
    if result.structured is None:
        return types.CallToolResult(content=content, is_error=result.is_error)
    return types.CallToolResult(content=content, structured_content=result.structured, is_error=result.is_error)
