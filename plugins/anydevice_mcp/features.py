"""What a plugin may add to this facade itself: tools, resources and prompts in the protocol's own types.

Commands are the ordinary way to add something: each is a tool, a CLI command and a method of the client at once. A
feature is for what only the protocol has: embedded resources, audio, prompts, resources, rounds of questions. A plugin
implements `anydevice_mcp_features` with `anydevice.hooks.hookimpl(optionalhook=True)`: optional, because this facade
need not be there, and the plugin's commands are to work without it. The facade's own resources and prompts are features
like any other.

Importing this module imports nothing of the SDK, so a plugin stays light; handlers get and return its types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from anydevice.hooks import hookspec
from anydevice_schemas import Call

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.context import ServerRequestContext

    from anydevice.router import Router
    from anydevice_schemas import Caller

    Request = ServerRequestContext[Any, Any]

What = Literal["tools", "prompts", "resources"]


class Feature:
    """Something the facade serves besides commands. Subclass it and override what you bring.

    Every method of a request gets the SDK's request context: `ctx.session` reports progress and asks the client. A
    handler that needs answers in the protocol's newer era returns an `InputRequiredResult`; its `request_state` is
    sealed on the way out and checked on the way in. Exceptions of a handler are answered as errors of the protocol
    with an incident number; raise `mcp.shared.exceptions.MCPError` for one with words of your own.

    Attributes:
        name: For logs.
        host: Set by the facade before anything is asked.
    """

    name = ""
    host: Host

    async def tools(self, ctx: Request) -> Sequence[types.Tool]:
        """The tools it brings. A name that a command or an earlier feature has is left out."""
        return ()

    async def call_tool(
        self, ctx: Request, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult | None:
        """Calls one of its tools; None = it has none of that name."""
        return None

    async def resources(self, ctx: Request) -> Sequence[types.Resource]:
        """Resources that exist now."""
        return ()

    async def templates(self, ctx: Request) -> Sequence[types.ResourceTemplate]:
        """Addresses with holes in them that it can read."""
        return ()

    async def read(
        self, ctx: Request, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult | None:
        """Reads one of its resources; None = that address is not its own."""
        return None

    async def prompts(self, ctx: Request) -> Sequence[types.Prompt]:
        """Prompts it brings."""
        return ()

    async def prompt(
        self, ctx: Request, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult | None:
        """One of its prompts, filled in; None = it has none of that name."""
        return None

    async def complete(self, ctx: Request, params: types.CompleteRequestParams) -> types.Completion | None:
        """What an argument of one of its prompts or templates may be; None = the reference is not its own."""
        return None


class Host:
    """What the facade gives a feature.

    Args:
        router: Takes calls.
        caller_of: In whose name a request is made.
        changed: Tells every client that a list changed; takes no time. To be called on the event loop, as `updated`.
        updated: Tells those who subscribed to it that a resource changed.
    """

    def __init__(
        self,
        router: Router,
        caller_of: Callable[[Any], Caller],
        changed: Callable[[What], None],
        updated: Callable[[str], None],
    ) -> None:
        self.router = router
        self.caller_of = caller_of
        self.changed = changed
        self.updated = updated

    async def devices(self, ctx: Request) -> list[dict[str, Any]]:
        """The devices the asking caller may see, as the command `devices` lists them; none where it fails."""
        answer = await self.router.call(Call(name="devices", arguments={}, caller=self.caller_of(ctx)))
        found: list[dict[str, Any]] = answer.data.get("devices", []) if answer.ok else []
        return found


class McpHooks:
    """Hooks of this facade, for plugins that were found under `anydevice.plugins`."""

    @hookspec
    def anydevice_mcp_features(self) -> Sequence[Feature]:  # type: ignore[empty-body]
        """Features the plugin adds. Called once a daemon, when its first client comes."""
