"""Putting core together: the one place where the parts meet.

async with open_router(Settings.load()) as router:
    answer = await router.call(call)
"""

from __future__ import annotations

import sys
import time
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
from .clock import Clock, SteadyClock, SystemClock
from .configuration import passed_over
from .connections import Connections
from .database import Database
from .discovery import BACKENDS, PLUGINS, PluginRecord, describe, discover
from .hooks import new_manager
from .inventory import Backends
from .journal import Journal
from .kit.patience import in_time
from .lanes import Lanes
from .leases import Desk, LeaseStore, MemoryStore, Rules, StateStore
from .leases.sqlite import SqliteStore
from .policy import Policy
from .router import Router
from .services import Services
from .session_ledger import SessionLedger
from .sessions import Sessions
from .settings import Settings, private_folder

log = structlog.get_logger("anydevice.assembly")

STORE_PATIENCE = 0.02
"""Seconds a write to the database may hold up the loop because another process writes; then it is tried again later."""

PLUGIN_DEADLINE = 8.0
"""Seconds a plugin may take to be imported, and to bring its commands."""

PLUGINS_DEADLINE = 16.0
"""Seconds all of them may take, before each gets `PLUGIN_LEAST` only: whoever starts a daemon waits for it."""

PLUGIN_LEAST = 1.0


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
        store: Where leases are kept; in the database of the home folder unless given.
        discover_plugins: False leaves entry points alone (tests add what they need to `services.backends`).
        persist: False keeps nothing: no journal, and leases and sessions in memory only.

    Raises:
        StrictPlugins: `plugins.strict` is set and a plugin is not ready.
        UpstreamUnavailable: The database of the home folder cannot be used; it is left as it is.
    """
    database: Database | None = None
    if persist:
        folder = await anyio.to_thread.run_sync(private_folder, settings.data_dir)
        database = await anyio.to_thread.run_sync(Database.open, folder / "state.db")
        database.patience = STORE_PATIENCE
    clock = clock or (SteadyClock(database.offset) if database is not None else SystemClock())
    records: list[PluginRecord] = []
    plugin_records: list[PluginRecord] = []
    if discover_plugins:
        find = partial(discover, disabled=settings.disabled, prefer=settings.prefer)
        records = await anyio.to_thread.run_sync(find, BACKENDS)
        plugin_records = await anyio.to_thread.run_sync(find, PLUGINS)
        for passed in passed_over(settings, [*records, *plugin_records]):
            log.warning("configuration_passed_over", where=passed.where, reason=passed.detail, fix=passed.fix)
    catalogue = Catalogue()
    for spec in commands.all_commands():
        catalogue.register(spec)
    backends = Backends(records, settings, clock)
    sessions = Sessions(
        clock,
        idle=settings.session_idle,
        ledger=SessionLedger(database) if database is not None else None,
    )
    if store is None:
        rules = lease_rules(settings)
        store = (
            SqliteStore(database, rules=rules, steady=clock.now) if database is not None else MemoryStore(rules=rules)
        )
    services = Services(
        settings=settings,
        clock=clock,
        catalogue=catalogue,
        backends=backends,
        connections=Connections(backends),
        sessions=sessions,
        desk=Desk(store, clock, ttl=settings.lease_ttl),
        policy=Policy(clock, profile=settings.profile, confirm=settings.confirm),
        lanes=Lanes(),
        journal=Journal(clock, settings.journal_dir if persist else None),
        artefacts=Artefacts(settings.artefact_dir),
        plugins=[*records, *plugin_records],
        database=database,
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
        group.start_soon(router.janitor.run, group)
        try:
            yield router
        except Exception as error:
            failure = error  # raised below as it is, not wrapped in the group's
        finally:
            group.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await services.connections.aclose()
                await backends.aclose()
                await services.reader.aclose()
                services.journal.close()
                if isinstance(store, StateStore):
                    store.close()
                if database is not None:
                    database.close()
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
    """Loads plugins, one after the other. One that hangs is broken from then on, and all that is lost is its time."""
    manager = new_manager()
    until = time.monotonic() + PLUGINS_DEADLINE
    for record in records:
        if record.state != "ready":
            continue
        patience = max(PLUGIN_LEAST, min(PLUGIN_DEADLINE, until - time.monotonic()))
        try:
            loaded = in_time(record.load, patience)
        except TimeoutError:
            record.fail(f"importing {record.value} took longer than {patience:g} s")
            continue
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
            for specs in in_time(only, max(PLUGIN_LEAST, min(PLUGIN_DEADLINE, until - time.monotonic()))):
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


def lease_rules(settings: Settings) -> Rules:
    """What the configuration says of leases."""
    return Rules(
        heard=3.0,  # whoever waits here looks at least every second
        held=settings.lease_held,
        queued=settings.lease_queued,
        minutes=settings.lease_minutes,
        longest=settings.lease_longest,
    )


def running_version() -> str:
    """The version of the code that runs, and of the Python that runs it."""
    from . import __version__

    return f"{__version__} (python {sys.version_info.major}.{sys.version_info.minor})"
