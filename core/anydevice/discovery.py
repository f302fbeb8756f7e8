"""Finding plugins: a guarded loop over entry points that turns every one into a record with a state.

A broken, too old or name-clashing plugin is a record that says so, never a crash and never silent. A backend's
manifest is read as package data, without importing the vendor's code; the code itself is imported on first use.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from anydevice_schemas import CONTRACT_VERSION, MANIFEST_FILE, Manifest, contract_accepts
from anydevice_schemas.errors import AnydeviceError

BACKENDS = "anydevice.backends"
PLUGINS = "anydevice.plugins"
OWN_DISTRIBUTION = "anydevice"

State = Literal["ready", "refused", "broken", "conflict", "disabled"]


@dataclass
class PluginRecord:
    """What is known of one entry point: the same record `doctor`, listings and reports print.

    Attributes:
        name, group: Of the entry point.
        distribution, version: Who brings it.
        state: ready | refused (contract) | broken (error) | conflict (two distributions) | disabled.
        reason, remedy: Why it is not ready, and what to do.
        manifest: A backend's static facts; None for other plugins or when it could not be read.
        import_seconds: How long importing took, once it was.
    """

    name: str
    group: str
    distribution: str
    version: str
    value: str
    state: State = "ready"
    reason: str = ""
    remedy: str = ""
    manifest: Manifest | None = None
    import_seconds: float | None = None
    loaded: Any = field(default=None, repr=False)

    def load(self) -> Any:
        """Imports the plugin's object, once. Blocking: call it in a worker thread.

        Returns:
            The object, or None when it cannot be had; `state`, `reason` and `remedy` then say why.
        """
        if self.state != "ready" or self.loaded is not None:
            return self.loaded
        module_name, _, attribute = self.value.partition(":")
        started = time.perf_counter()
        try:
            loaded: Any = importlib.import_module(module_name.strip())
            for part in filter(None, attribute.strip().split(".")):
                loaded = getattr(loaded, part)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.fail(f"importing {self.value} failed: {describe(error)}")
            return None
        self.import_seconds = time.perf_counter() - started
        self.loaded = loaded
        return loaded

    def fail(self, reason: str, remedy: str = "") -> None:
        """Marks the plugin broken."""
        self.state = "broken"
        self.reason = reason[:500]
        self.remedy = remedy or f"Repair or uninstall the distribution {self.distribution}."

    def to_wire(self) -> dict[str, Any]:
        """The record as answers carry it."""
        wire: dict[str, Any] = {
            "name": self.name,
            "group": self.group,
            "distribution": self.distribution,
            "version": self.version,
            "state": self.state,
        }
        if self.reason:
            wire |= {"reason": self.reason, "remedy": self.remedy}
        if self.import_seconds is not None:
            wire["importMs"] = round(self.import_seconds * 1000, 1)
        return wire


def describe(error: BaseException) -> str:
    """An exception as one short line; of ours the message alone, as a reason is no place for a hint."""
    text = " ".join(str(error.message if isinstance(error, AnydeviceError) else error).split())[:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def discover(
    group: str,
    *,
    disabled: Iterable[str] = (),
    prefer: Mapping[str, str] | None = None,
    found: Iterable[EntryPoint] | None = None,
) -> list[PluginRecord]:
    """One record for every entry point of a group, sorted by name. Imports nothing of a vendor's.

    Args:
        group: `BACKENDS` or `PLUGINS`.
        disabled: Names that are recorded as disabled.
        prefer: Which distribution wins where several bring one name. Without an entry none of them loads,
            except that names anydevice itself brings stay anydevice's.
        found: The entry points to look at instead of the installed ones.
    """
    prefer = prefer or {}
    disabled = set(disabled)
    by_name: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=group) if found is None else found:
        homes = by_name.setdefault(point.name, [])
        if not any(_distribution(p) == _distribution(point) and p.value == point.value for p in homes):
            homes.append(point)
    records = [
        record
        for name in sorted(by_name)
        for record in _records_of(group, name, by_name[name], disabled, prefer.get(name))
    ]
    for record in records:
        if group == BACKENDS and record.state == "ready":
            _read_manifest(record)
    return records


def _records_of(
    group: str, name: str, points: list[EntryPoint], disabled: set[str], preferred: str | None
) -> list[PluginRecord]:
    records = sorted(
        (PluginRecord(name, group, _distribution(point), _version(point), point.value) for point in points),
        key=lambda record: (record.distribution, record.value),
    )
    if name in disabled:
        for record in records:
            record.state, record.reason = "disabled", "disabled in config.toml"
            record.remedy = "Remove it from plugins.disabled."
        return records
    if len(records) == 1:
        return records
    names = " and ".join(sorted({record.distribution for record in records}))
    winner = preferred or (OWN_DISTRIBUTION if any(r.distribution == OWN_DISTRIBUTION for r in records) else None)
    chosen = [record for record in records if record.distribution == winner]
    for record in records:
        if len(chosen) == 1 and record is chosen[0]:
            continue
        record.state = "conflict"
        record.reason = f"{names} all bring a plugin named {name!r}"
        record.remedy = f'Uninstall one, or set plugins.prefer.{name} = "<distribution>" in config.toml.'
    return records


def _read_manifest(record: PluginRecord) -> None:
    try:
        path = manifest_path(record.value.partition(":")[0].strip())
        if path is None:
            record.fail(f"its package carries no {MANIFEST_FILE}")
            return
        manifest = Manifest.from_toml(path.read_text("utf-8"))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        record.fail(f"{MANIFEST_FILE}: {where}: {first['msg']} ({error.error_count()} faults in all)")
        return
    except Exception as error:
        record.fail(f"{MANIFEST_FILE}: {describe(error)}")
        return
    if manifest.name != record.name:
        record.fail(f"{MANIFEST_FILE} says name {manifest.name!r}, the entry point {record.name!r}")
        return
    record.manifest = manifest
    if not contract_accepts(manifest.contract):
        record.state = "refused"
        record.reason = f"written for contract {manifest.contract}; this is {CONTRACT_VERSION}"
        record.remedy = f"Install a release of {record.distribution} for contract {CONTRACT_VERSION}."


def manifest_path(module: str) -> Path | None:
    """The manifest nearest to a module, found without importing anything; None when there is none.

    Raises:
        ModuleNotFoundError: The module's top package is not installed.
    """
    top, *rest = module.split(".")
    spec = importlib.util.find_spec(top) if top not in sys.modules else sys.modules[top].__spec__
    if spec is None:
        raise ModuleNotFoundError(f"No module named {top!r}")
    for location in spec.submodule_search_locations or ():
        folder = Path(location)
        for depth in range(len(rest), -1, -1):
            path = folder.joinpath(*rest[:depth], MANIFEST_FILE)
            if path.is_file():
                return path
    return None


def _distribution(point: EntryPoint) -> str:
    return str(point.dist.name) if point.dist is not None else "unknown"


def _version(point: EntryPoint) -> str:
    return str(point.dist.version) if point.dist is not None else "0"


Loader = Callable[[PluginRecord], Any]
