"""The facade: what the daemon gets from this plugin. Light until the first connection comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import structlog
from pluggy import PluginValidationError

from anydevice_schemas.errors import InvalidArgument

from .features import Feature, McpHooks
from .http.choices import ChoiceError, Choices
from .http.choices import read as read_choices
from .http.tokens import Tokens
from .published import OPTIONS

if TYPE_CHECKING:
    from anyio.abc import ByteStream

    from anydevice.router import Router
    from anydevice_schemas import Caller

    from .server import Household

log = structlog.get_logger("anydevice.mcp")


class McpFacade:
    """Serves the Model Context Protocol: newline-delimited JSON-RPC, one connection a client.

    Every connection has a server object of its own: the SDK hands a handler no way to tell connections apart that
    is public in both eras of the protocol, and the caller (so the implicit session) belongs to the connection.
    """

    name = "mcp"
    options = OPTIONS

    def __init__(self) -> None:
        self._household: Household | None = None
        self.told: dict[str, str] = {}
        self.stays = False

    async def prepare(self) -> None:
        """Imports the SDK in a worker thread; it takes most of a second."""
        await anyio.to_thread.run_sync(_import_sdk)

    async def run(self, router: Router) -> None:
        """What runs as long as the daemon does: clients are told of changes, and HTTP is served where it is set."""
        settings = router.services.settings
        try:
            choices = read_choices(settings.tables.get("mcp", {}))
        except ChoiceError as error:
            self._no_http(str(error))
            choices = None
        household = await self.household(router)
        async with anyio.create_task_group() as group:
            group.start_soon(household.changes.run)
            if choices is not None:
                await self._http(household, choices, Tokens(settings.data_dir))

    async def _http(self, household: Household, choices: Choices, tokens: Tokens) -> None:
        from .http.service import Service

        service = Service(household, choices, tokens)
        try:
            self.told["http"] = service.listen()
        except OSError as error:
            self._no_http(f"{choices.host}:{choices.port} cannot be listened on: {error.strerror}")
            return
        log.info("http", address=self.told["http"])
        self.stays = True
        await service.serve()

    def _no_http(self, why: str) -> None:
        log.error("no_http", reason=why)
        self.told["httpFailed"] = why

    async def serve(self, stream: ByteStream, caller: Caller, router: Router, options: Mapping[str, Any]) -> None:
        """Serves one connection until the client ends it.

        Args:
            stream: The connection.
            caller: Who is on it; all calls are made in this name.
            router: Takes the calls.
            options: `schemas`: `default` or `full`; `tools`: toolsets, with commas between. A bad value is told as the
                answer to the first request.
        """
        household = await self.household(router)
        from .server import refuse, serve

        try:
            await serve(stream, caller, household, options)
        except InvalidArgument as error:
            await refuse(stream, error)

    async def household(self, router: Router) -> Household:
        """What all connections share; made when the first one comes."""
        await self.prepare()
        if self._household is None:
            from .server import Household

            self._household = Household(router, brought_features(router))
        return self._household


def brought_features(router: Router) -> list[Feature]:
    """The features of all plugins, in the order the plugins were found."""
    manager = router.plugins
    if manager is None:
        return []
    known = getattr(manager.hook, "anydevice_mcp_features", None)  # there once a plugin implements it, without a spec
    if known is None or not known.has_spec():
        try:
            manager.add_hookspecs(McpHooks)
        except PluginValidationError as error:  # one plugin's fault; it is met again below, where it is called
            log.warning("mcp_features_not_ours", reason=str(error))
    found: list[Feature] = []
    for name, plugin in manager.list_name_plugin():
        others = [other for other in manager.get_plugins() if other is not plugin]
        try:
            brought = manager.subset_hook_caller("anydevice_mcp_features", others)()
        except Exception as error:  # one plugin's fault stays its own
            log.warning("mcp_features_failed", plugin=name, exc_info=error)
            continue
        found += [feature for some in brought for feature in some or ()]
    return found


def _import_sdk() -> None:
    from . import server  # noqa: F401 - imported for its effect
