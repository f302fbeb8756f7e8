"""What devices there are now: all backends asked at once, each under its own deadline, none able to spoil the rest."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from operator import is_
from typing import Any

import anyio
import structlog

from anydevice_schemas import WELL_KNOWN, Device, Manifest, PlatformWord
from anydevice_schemas.errors import AnydeviceError, BackendBroken

from .clock import Clock
from .discovery import PluginRecord, describe
from .driver import Backend, Environment, HostServices
from .resolution import Default, Inventory, Missing
from .settings import Settings, private_folder

log = structlog.get_logger("anydevice.inventory")

IMPORT_DEADLINE = 15.0
BACKOFF_FIRST = 2.0
BACKOFF_MOST = 60.0


@dataclass(slots=True)
class _Listing:
    devices: tuple[Device, ...] = ()
    missing: Missing | None = None
    good_until: float = 0.0
    failures: int = 0
    heard: bool = False
    round: int = 0
    lock: anyio.Lock = field(default_factory=anyio.Lock)


@dataclass(slots=True)
class BackendEntry:
    """A backend with its record, its manifest and, once it was used, its instance."""

    record: PluginRecord
    manifest: Manifest
    instance: Backend | None = None
    listings: dict[tuple[tuple[str, str], ...], _Listing] = field(default_factory=dict)
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    importer: threading.Thread | None = None
    import_began: float = 0.0


class Backends:
    """All backends of this host, constructed on first use, and the inventory made of what they list.

    Attributes:
        heard: Told of every inventory before whoever asked for it.
    """

    def __init__(self, records: Iterable[PluginRecord], settings: Settings, clock: Clock) -> None:
        self.records = list(records)
        self.settings = settings
        self.clock = clock
        self.entries: dict[str, BackendEntry] = {
            record.name: BackendEntry(record, record.manifest)
            for record in self.records
            if record.state == "ready" and record.manifest is not None
        }
        self.platforms = platform_words(entry.manifest for entry in self.entries.values())
        self.heard: list[Callable[[Inventory], None]] = []
        self._made: tuple[tuple[object, ...], Inventory] | None = None

    def add(self, manifest: Manifest, instance: Backend, *, distribution: str = "test") -> None:
        """Adds a backend that is already constructed (tests, embedders)."""
        record = PluginRecord(manifest.name, "", distribution, "0", "", manifest=manifest)
        self.records.append(record)
        self.entries[manifest.name] = BackendEntry(record, manifest, instance)
        self.platforms = platform_words(entry.manifest for entry in self.entries.values())
        self._made = None

    def remove(self, name: str) -> None:
        """Takes a backend that was added out again; whoever added it closes it."""
        entry = self.entries.pop(name, None)
        if entry is None:
            return
        self.records.remove(entry.record)
        self.platforms = platform_words(entry.manifest for entry in self.entries.values())
        self._made = None

    def manifest(self, backend: str) -> Manifest:
        """The manifest of a backend.

        Raises:
            BackendBroken: There is no such backend, or it is not ready.
        """
        entry = self.entries.get(backend)
        if entry is None:
            raise BackendBroken(f"No backend {backend!r} is ready.", backend=backend, reason="not loaded")
        return entry.manifest

    async def instance(self, name: str) -> Backend:
        """The backend itself, imported (in a thread of its own) and constructed on first use.

        Raises:
            BackendBroken: It cannot be imported or constructed; its record says so from now on.
        """
        entry = self.entries.get(name)
        if entry is None:
            raise BackendBroken(f"No backend {name!r} is ready.", backend=name, reason="not loaded")
        if entry.instance is None:
            async with entry.lock:
                if entry.instance is None:
                    entry.instance = await self._construct(entry)
        return entry.instance

    async def _construct(self, entry: BackendEntry) -> Backend:
        record = entry.record
        await _import(entry)
        if record.state != "ready":
            raise BackendBroken(
                f"The backend {record.name} cannot be loaded.",
                backend=record.name,
                reason=record.reason,
                fix=record.remedy,
            )
        data = private_folder(self.settings.data_dir / record.name)
        run = private_folder(self.settings.run_dir / record.name)
        table = self.settings.tables.get(record.name, {})
        host = HostServices(str(data), str(run), table if isinstance(table, dict) else {})
        try:
            instance = record.loaded(host)
        except Exception as error:
            record.fail(f"constructing {record.value} failed: {describe(error)}")
            raise BackendBroken(
                f"The backend {record.name} cannot be started.",
                backend=record.name,
                reason=record.reason,
                fix=record.remedy,
            ) from error
        if not isinstance(instance, Backend):
            record.fail(f"{record.value} made something that is no anydevice.driver.Backend")
            raise BackendBroken(
                f"The backend {record.name} is no backend.",
                backend=record.name,
                reason=record.reason,
                fix=record.remedy,
            )
        return instance

    async def listed(
        self, env: Environment, *, fresh: bool = False, sick: bool = True, only: Iterable[str] | None = None
    ) -> Inventory:
        """Everything there is, from listings that are still good or are made anew now.

        Args:
            env: The caller's environment; listings are kept apart by the variables a backend reads.
            fresh: Ask again even where the last listing is still good.
            sick: With `fresh`, also ask those that failed last time and would have a pause still; without it, a
                backend that hangs does not hold up calls that have nothing to do with it.
            only: Backends to ask anew; the others answer from their last listing, however old.
        """
        now = self.clock.monotonic()
        wanted = self.entries if only is None else {n: self.entries[n] for n in only if n in self.entries}
        due = [entry for entry in wanted.values() if self._due(self._slot(entry, env), now, fresh, sick)]
        if len(due) == 1:
            await self._refresh(due[0], env, fresh)
        elif due:
            async with anyio.create_task_group() as group:
                for entry in due:
                    group.start_soon(partial(self._refresh, entry, env, fresh))
        inventory = self._inventory(env)
        for listener in self.heard:
            listener(inventory)
        return inventory

    @staticmethod
    def _due(slot: _Listing, now: float, fresh: bool, sick: bool) -> bool:
        return slot.good_until <= now or (fresh and (sick or not slot.failures))

    def cached(self, env: Environment) -> Inventory:
        """What was listed last, without asking anybody."""
        return self._inventory(env)

    def known(self, device_key: str) -> Device | None:
        """A device as it was listed last, in whatever caller's environment; for what is done on nobody's behalf."""
        slots = [slot for entry in self.entries.values() for slot in entry.listings.values()]
        for slot in sorted(slots, key=lambda slot: slot.good_until, reverse=True):
            for device in slot.devices:
                if device.key == device_key:
                    return device
        return None

    def beside(self, inventory: Inventory, device_key: str) -> Inventory:
        """An inventory and, where it is known from another environment, one more device."""
        device = self.known(device_key)
        if device is None:
            return inventory
        return Inventory([*inventory.devices, device], platforms=self.platforms, missing=inventory.missing)

    def forget(self, backend: str) -> None:
        """The backend's listing is not good any more (something was started or stopped)."""
        entry = self.entries.get(backend)
        if entry is not None:
            for slot in entry.listings.values():
                slot.good_until = 0.0

    async def aclose(self, deadline: float = 10.0) -> None:
        """Ends all backends at once, under one deadline."""
        async with anyio.create_task_group() as group:
            for entry in self.entries.values():
                if entry.instance is not None:
                    group.start_soon(_close_backend, entry, deadline)

    def _slot(self, entry: BackendEntry, env: Environment) -> _Listing:
        key = tuple((name, env.variables[name]) for name in sorted(entry.manifest.env) if name in env.variables)
        slot = entry.listings.get(key)
        if slot is None:
            if len(entry.listings) > 32:
                entry.listings.pop(next(iter(entry.listings)))
            slot = entry.listings[key] = _Listing()
        return slot

    async def _refresh(self, entry: BackendEntry, env: Environment, fresh: bool) -> None:
        slot = self._slot(entry, env)
        asked = slot.round
        async with slot.lock:
            if slot.round != asked or (not fresh and slot.good_until > self.clock.monotonic()):
                return  # somebody else has just asked
            slot.round += 1
            deadline = entry.manifest.discovery_deadline
            try:
                with anyio.fail_after(deadline):
                    backend = await self.instance(entry.record.name)
                    rows = await backend.devices(env)
                slot.devices = tuple(_checked(entry, rows))
                slot.missing, slot.failures, slot.heard = None, 0, True
                slot.good_until = self.clock.monotonic() + entry.manifest.list_ttl
                return
            except TimeoutError:
                reason, fix = (
                    f"gave no listing within {deadline:g} s",
                    "Call doctor; it is asked again later.",
                )
            except AnydeviceError as error:
                reason = f"{error.code}: {error.details.get('reason') or error.message}"
                fix = remedy(error)
            except Exception as error:
                reason, fix = describe(error), f"Report it to {entry.record.distribution}."
            log.warning("listing_failed", backend=entry.record.name, reason=reason)
            slot.failures += 1
            slot.devices, slot.heard = (), False
            slot.missing = Missing(entry.record.name, reason, fix, _roots(entry.manifest))
            pause = min(BACKOFF_MOST, BACKOFF_FIRST * 2 ** (slot.failures - 1))
            slot.good_until = self.clock.monotonic() + pause

    def _inventory(self, env: Environment) -> Inventory:
        slots = {name: self._slot(entry, env) for name, entry in self.entries.items()}
        parts = (
            self.platforms,
            *(slot.devices for slot in slots.values()),
            *(slot.missing for slot in slots.values()),
            *(slot.heard for slot in slots.values()),
        )
        # The parts themselves are kept: the id of one that is gone may be that of another by now.
        if self._made is not None and all(map(is_, self._made[0], parts)) and len(self._made[0]) == len(parts):
            return self._made[1]
        rows = self._specialised([device for slot in slots.values() for device in slot.devices])
        broken = [
            Missing(
                record.name, f"{record.state}: {record.reason}", record.remedy,
                _roots(record.manifest) if record.manifest is not None else (),
            )
            for record in self.records
            if record.state in ("broken", "refused", "conflict")
            and (record.name not in self.entries or self.entries[record.name].record is not record)
        ]  # fmt: skip
        missing = [slot.missing for slot in slots.values() if slot.missing is not None]
        answered = [name for name, slot in slots.items() if slot.heard]
        made = Inventory(rows, platforms=self.platforms, missing=[*missing, *broken], answered=answered)
        self._made = (parts, made)
        return made

    def _specialised(self, rows: list[Device]) -> list[Device]:
        """Drops rows of a backend for which a more specific one lists the same transport."""
        special: dict[str, set[str]] = {}
        for entry in self.entries.values():
            for general in entry.manifest.specialises:
                special.setdefault(general, set()).add(entry.record.name)
        if not special:
            return rows
        claimed = {(row.backend, str(row.facts.get("transport", row.id))) for row in rows}
        return [
            row
            for row in rows
            if not any(
                (name, str(row.facts.get("transport", row.id))) in claimed for name in special.get(row.backend, ())
            )
        ]


def platform_words(manifests: Iterable[Manifest]) -> tuple[PlatformWord, ...]:
    """The well-known platform words and those that manifests add; a well-known word keeps its meaning."""
    words: dict[str, PlatformWord] = {word.name: word for word in WELL_KNOWN}
    for manifest in manifests:
        for entry in manifest.platforms:
            words.setdefault(
                entry.name,
                PlatformWord(
                    entry.name,
                    entry.platform or entry.name,
                    entry.id_kind,
                    tuple(entry.targets),
                    default_env=dict(entry.default_env),
                ),
            )
    return tuple(words.values())


def _roots(manifest: Manifest) -> tuple[str, ...]:
    """The platforms whose devices a backend lists."""
    return tuple(dict.fromkeys(entry.platform or entry.name for entry in manifest.platforms))


async def _import(entry: BackendEntry) -> None:
    """Imports a backend's code; its record says how that went.

    In a thread of its own, begun once however often it is asked for: an import that hangs then holds one thread, not
    one more with every listing, and being a daemon thread it does not keep the process from ending.
    """
    record = entry.record
    if entry.importer is None:
        entry.importer = threading.Thread(target=record.load, name=f"import of {record.name}", daemon=True)
        entry.import_began = time.monotonic()
        entry.importer.start()
    while entry.importer.is_alive():  # nothing tells an event loop that a thread has ended
        if time.monotonic() - entry.import_began > IMPORT_DEADLINE:
            record.fail(f"importing {record.value} took longer than {IMPORT_DEADLINE:g} s")
            return
        await anyio.sleep(0.005)


def remedy(error: AnydeviceError) -> str:
    """What to do about an error, where only one line of it is shown: the hint may point into details nobody sees."""
    details = error.details
    return str(details.get("fix") or details.get("install") or details.get("enable_hint") or error.hint)


def _checked(entry: BackendEntry, rows: Any) -> Iterable[Device]:
    """The rows of a listing, each of them a `Device` of this backend; a bad row is told and left out."""
    words = {word.platform or word.name for word in entry.manifest.platforms}
    for row in rows:
        if not isinstance(row, Device):
            log.warning("bad_row", backend=entry.record.name, reason=f"a {type(row).__name__}, not a Device")
            continue
        if row.backend != entry.record.name or row.platform not in words:
            log.warning("bad_row", backend=entry.record.name, reason=f"claims {row.backend}/{row.platform}")
            continue
        yield row


async def _close_backend(entry: BackendEntry, deadline: float) -> None:
    assert entry.instance is not None
    try:
        with anyio.move_on_after(deadline, shield=True):
            await entry.instance.aclose()
    except Exception as error:
        log.warning("close_failed", backend=entry.record.name, reason=describe(error))


def defaults_from(env: Environment, platforms: Iterable[PlatformWord]) -> list[Default]:
    """Default selectors the caller's environment holds."""
    return [
        Default(selector, env.variables[variable], f"{variable} of the caller's environment", word.platform)
        for word in platforms
        for variable, selector in word.default_env.items()
        if env.variables.get(variable)
    ]
