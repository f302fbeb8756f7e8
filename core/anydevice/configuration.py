"""What the configuration file says that has no effect here: tables and keys nobody reads, plugins nobody has.

A wrong key of core's own tables keeps the daemon from starting (`settings.py`). What is another's can only be judged
beside what is installed, and may be for a machine that has more: it is told, in the log and by `doctor`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .discovery import BACKENDS, PluginRecord
from .settings import SECTIONS, Settings
from .text import nearest


@dataclass(frozen=True, slots=True)
class Passed:
    """Something in `config.toml` that has no effect.

    Attributes:
        where: The key, with dots.
        detail: Why it has none.
        fix: What to do.
        likely: It is a mistake, as a name much like it or the thing itself is there; else it may be another machine's.
    """

    where: str
    detail: str
    fix: str
    likely: bool


def passed_over(settings: Settings, records: Iterable[PluginRecord]) -> list[Passed]:
    """What has no effect, in order of its names.

    Args:
        settings: As they were read.
        records: Every entry point that was found, whatever its state.
    """
    known: dict[str, list[PluginRecord]] = {}
    for record in records:
        known.setdefault(record.name, []).append(record)
    found = [*_tables(settings.tables, known), *_names("plugins.disabled", settings.disabled, known)]
    found += _names("plugins.prefer", settings.prefer, known)
    for name, distribution in settings.prefer.items():
        brings = sorted({record.distribution for record in known.get(name, ())})
        if brings and distribution not in brings:
            detail = f"{str(distribution)[:60]!r} brings no plugin {name}; {', '.join(brings)} does"
            found.append(Passed(f"plugins.prefer.{name}", detail, f"Write {brings[0]}, or remove it.", True))
    return sorted(found, key=lambda passed: passed.where)


def _tables(tables: Mapping[str, Any], known: Mapping[str, list[PluginRecord]]) -> Iterable[Passed]:
    for name, table in tables.items():
        if name not in known:
            yield _unknown(name[:60], f"nothing here reads the table [{name[:60]}]", name, [*SECTIONS, *known])
            continue
        for record in known[name]:
            keys = record.manifest.settings if record.group == BACKENDS and record.manifest is not None else None
            if keys is not None:
                yield from (_key(name, key, keys) for key in table if key not in keys)


def _key(backend: str, key: str, keys: list[str]) -> Passed:
    near = nearest(key, keys, 1)
    fix = f"Did you mean {near[0]}?" if near else f"It has {', '.join(keys) or 'no keys'}."
    return Passed(f"{backend}.{key[:60]}", f"the backend {backend} has no key {key[:60]!r}", fix, True)


def _names(where: str, names: Iterable[object], known: Mapping[str, object]) -> Iterable[Passed]:
    for name in map(str, names):
        if name not in known:
            yield _unknown(f"{where}: {name[:60]}", f"no plugin is named {name[:60]!r}", name, known)


def _unknown(where: str, detail: str, name: str, known: Iterable[str]) -> Passed:
    near = nearest(name, list(known), 1)
    fix = f"Did you mean {near[0]}?" if near else "Install what it is for, or remove it."
    return Passed(where, detail, fix, bool(near))
