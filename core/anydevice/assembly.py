"""Putting core together: the one place where the parts meet.

async with open_router(Settings.load()) as router:
    answer = await router.call(call)
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio
import anyio.to_thread
import pluggy
import structlog

from . import commands
from .artefacts import Artefacts
from .catalogue import Catalogue
from .clock import Clock, SystemClock
from .connections import Connections
from .discovery import BACKENDS, PLUGINS, PluginRecord, describe, discover
from .hooks import new_manager
from .inventory import Backends
from .journal import Journal
from .lanes import Lanes
from .leases import Desk, LeaseStore, MemoryStore
from .policy import Policy
from .router import Router
from .services import Services
from .sessions import Sessions
from .settings import Settings

log = structlog.get_logger("anydevice.assembly")

SWEEP_SECONDS = 5.0


class StrictPlugins(RuntimeError):
    """A plugin is not ready and the configuration says that is a reason not to start."""


@asynccontextmanager
async def open_router(
    settings: Settings,
    *,
    clock: Clock | None = None,
    store: LeaseStore | None = None,
    discover_plugins: bool = True,
    persist: bool = True,
) -> AsyncIterator[Router]:
    """A router with every backend and plugin that is installed, closed with all its devices at the end.

    Args:
        settings: Folders and choices.
        clock: Replaced in tests.
        store: Where leases are kept; in memory unless given.
        discover_plugins: False leaves entry points alone (tests add what they need to `services.backends`).
        persist: False writes no journal and no session ledger.

    Raises:
        StrictPlugins: `plugins.strict` is set and a plugin is not ready.
    """
    clock = clock or SystemClock()
    records: list[PluginRecord] = []
    plugin_records: list[PluginRecord] = []
    if discover_plugins:
        find = partial(discover, disabled=settings.disabled, prefer=settings.prefer)
        records = await anyio.to_thread.run_sync(find, BACKENDS)
        plugin_records = await anyio.to_thread.run_sync(find, PLUGINS)
    catalogue = Catalogue()
    for spec in commands.all_commands():
        catalogue.register(spec)
    backends = Backends(records, settings, clock)
    sessions = Sessions(
        clock,
        idle=settings.session_idle,
        ledger=settings.run_dir / "sessions.json" if persist else None,
    )
    services = Services(
        settings=settings,
        clock=clock,
        catalogue=catalogue,
        backends=backends,
        connections=Connections(backends),
        sessions=sessions,
        desk=Desk(store or MemoryStore(epoch=max(1, int(clock.now()))), clock),
        policy=Policy(clock, profile=settings.profile, confirm=settings.confirm),
        lanes=Lanes(),
        journal=Journal(clock, settings.journal_dir if persist else None),
        artefacts=Artefacts(settings.artefact_dir),
        plugins=[*records, *plugin_records],
    )
    for entry in backends.entries.values():
        for command in entry.manifest.commands:
            register_backend_command(catalogue, entry.record, command)
    router = Router(services)
    router.plugins = await anyio.to_thread.run_sync(_load_plugins, plugin_records, services)
    if settings.strict_plugins:
        unready = [record for record in services.plugins if record.state not in ("ready", "disabled")]
        if unready:
            names = ", ".join(f"{record.name} ({record.state}: {record.reason})" for record in unready)
            raise StrictPlugins(f"plugins.strict is set and these are not ready: {names}")
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_keep_house, services)
        try:
            yield router
        except Exception as error:
            failure = error  # raised below as it is, not wrapped in the group's
        finally:
            group.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await services.connections.aclose()
                await backends.aclose()
                services.journal.close()
    if failure is not None:
        raise failure


def register_backend_command(catalogue: Catalogue, record: PluginRecord, command: object) -> None:
    """Adds a command a backend's manifest brings; a bad one is told, not fatal."""
    try:
        catalogue.register_manifest(command, backend=record.name, origin=record.distribution)
    except Exception as error:
        catalogue.refused.append(
            {
                "command": str(getattr(command, "handler", "?")),
                "origin": record.distribution,
                "reason": describe(error),
            }
        )


def _load_plugins(records: Sequence[PluginRecord], services: Services) -> pluggy.PluginManager:
    manager = new_manager()
    for record in records:
        if record.state != "ready":
            continue
        loaded = record.load()
        if loaded is None:
            continue
        try:
            manager.register(loaded, name=record.name)
            manager.check_pending()
        except Exception as error:
            if manager.has_plugin(record.name):
                manager.unregister(name=record.name)
            record.fail(f"its hooks are not ours: {describe(error)}")
    for name, plugin in manager.list_name_plugin():
        record = next(r for r in records if r.name == name)
        only = manager.subset_hook_caller("anydevice_commands", _others(manager, plugin))
        try:
            for specs in only():
                for spec in specs or ():
                    spec.command = spec.command.model_copy(update={"origin": record.distribution})
                    services.catalogue.register(spec)
        except Exception as error:
            record.fail(f"anydevice_commands failed: {describe(error)}")
    services.journal.observers.append(lambda entry: _observe(manager, entry))
    return manager


def _others(manager: pluggy.PluginManager, plugin: object) -> list[object]:
    return [other for other in manager.get_plugins() if other is not plugin]


def _observe(manager: pluggy.PluginManager, entry: dict[str, object]) -> None:
    try:
        manager.hook.anydevice_recorded(record=entry)
    except Exception as error:
        log.warning("observer_failed", reason=describe(error))


async def _keep_house(services: Services) -> None:
    """Ends idle sessions, and closes drivers nobody has a session on any more."""
    while True:
        await anyio.sleep(SWEEP_SECONDS)
        for session in services.sessions.sweep():
            log.info("session_idle", session=session.name, device=session.device_key)


def running_version() -> str:
    """The version of the code that runs, and of the Python that runs it."""
    from . import __version__

    return f"{__version__} (python {sys.version_info.major}.{sys.version_info.minor})"
