"""Where things are kept, and what the configuration file says.

Everything lives under one folder: ``$ANYDEVICE_HOME``, else ``~/.anydevice``. Nothing here reads the
environment of a call; that travels with the caller.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from .places import (
    CALL_ENVIRONMENT,
    CALL_ENVIRONMENT_PREFIXES,
    HOME_VARIABLE,
    call_environment,
    home_path,
    make_private,
)

__all__ = [
    "CALL_ENVIRONMENT",
    "CALL_ENVIRONMENT_PREFIXES",
    "HOME_VARIABLE",
    "Settings",
    "SettingsError",
    "call_environment",
    "home_folder",
    "private_folder",
]


def home_folder(environ: Mapping[str, str] | None = None) -> Path:
    """The folder all of anydevice's files live under, absolute."""
    return Path(home_path(environ))


def private_folder(path: Path) -> Path:
    """Creates a folder only its owner can enter (0700), parents included, and returns it.

    Raises:
        PermissionError: It exists and belongs to somebody else, or others may enter it and it cannot be closed.
    """
    make_private(path)
    return path


@dataclass(frozen=True)
class Settings:
    """Everything that can be configured, with its defaults.

    Attributes:
        home: The folder all files live under.
        profile: Policy profile: `read-only`, `standard` or `full`.
        confirm: `person` (tokens need a person's approval) or `caller`.
        session_idle: Seconds an idle session lives.
        session_lock: What a selector does that contradicts the session: `reject`, or `strip` scope selectors.
        host_idle: Seconds a daemon without connections and sessions stays; 0 = until it is stopped.
        disabled: Names of plugins that are not loaded.
        prefer: Which distribution wins where two bring a plugin of one name.
        strict_plugins: Refuse to start unless every plugin is ready.
        event_templates: URL templates of app events: `default`, a platform name, or `app:<id>`.
        observers: Whether any caller may look (not act) at a device that somebody else drives; admins always may.
        lease_ttl: Seconds a lease lives without use.
        lease_longest: Seconds after which a lease is not renewed any more.
        lease_held, lease_queued, lease_minutes: What one tenant may have: devices at once, waiting requests at once,
            minutes in a UTC day. None = no limit.
        roots: Folders callers may read from and write to besides their own working directory.
        private_hosts: Hosts of private networks that may be asked for downloads: names, addresses, networks.
        tables: The configuration file's other tables; a backend or facade gets the one of its own name.
        over: What was laid over the file (see `load`).
    """

    home: Path
    profile: str = "standard"
    confirm: str = "person"
    session_idle: float = 1800.0
    host_idle: float = 900.0
    session_lock: Literal["reject", "strip"] = "reject"
    disabled: frozenset[str] = frozenset()
    prefer: Mapping[str, str] = field(default_factory=dict)
    strict_plugins: bool = False
    event_templates: Mapping[str, str] = field(default_factory=dict)
    observers: bool = False
    lease_ttl: float = 60.0
    lease_longest: float = 86400.0
    lease_held: int | None = None
    lease_queued: int | None = None
    lease_minutes: float | None = None
    roots: tuple[str, ...] = ()
    private_hosts: tuple[str, ...] = ()
    tables: Mapping[str, Any] = field(default_factory=dict)
    over: tuple[str, ...] = ()

    @property
    def data_dir(self) -> Path:
        """What survives a restart."""
        return self.home / "data"

    @property
    def run_dir(self) -> Path:
        """What does not: the socket, fresh profiles, the daemon's own record."""
        return self.home / "run"

    @property
    def artefact_dir(self) -> Path:
        """Screenshots and other files calls made."""
        return self.home / "artefacts"

    @property
    def journal_dir(self) -> Path:
        """Audit and replay records."""
        return self.home / "journal"

    @staticmethod
    def load(home: Path | None = None, over: Sequence[str] = ()) -> Settings:
        """Reads `config.toml` in the home folder; absent = all defaults.

        Args:
            home: The home folder; this process's own when None.
            over: Lines of TOML that count more than the file, as `mcp.http.port = 8931`.

        Raises:
            SettingsError: The file or a line is not TOML, or holds a key or value that means nothing.
        """
        home = home or home_folder()
        path = home / "config.toml"
        try:
            table = tomllib.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            table = {}
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise SettingsError(f"{path.name}: {error}") from error
        for line in over:
            try:
                table = _laid_over(table, tomllib.loads(line))
            except tomllib.TOMLDecodeError as error:
                raise SettingsError(f"{line[:80]!r} is no setting: {error}") from error
        return replace(_from_table(home, table), over=tuple(over))


def _laid_over(table: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """A table with another laid over it."""
    out = dict(table)
    for key, value in over.items():
        below = out.get(key)
        out[key] = _laid_over(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return out


class SettingsError(ValueError):
    """The configuration file cannot be used; the message says which key and why."""


_PLAIN: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "policy.profile": ("profile", str),
    "policy.confirm": ("confirm", str),
    "policy.roots": ("roots", list),
    "policy.private_hosts": ("private_hosts", list),
    "policy.observers": ("observers", bool),
    "lease.ttl": ("lease_ttl", (int, float)),
    "lease.longest": ("lease_longest", (int, float)),
    "lease.held": ("lease_held", int),
    "lease.queued": ("lease_queued", int),
    "lease.minutes": ("lease_minutes", (int, float)),
    "session.idle": ("session_idle", (int, float)),
    "host.idle": ("host_idle", (int, float)),
    "session.lock": ("session_lock", str),
    "plugins.disabled": ("disabled", list),
    "plugins.prefer": ("prefer", dict),
    "plugins.strict": ("strict_plugins", bool),
    "events.templates": ("event_templates", dict),
}
SECTIONS: tuple[str, ...] = tuple(dict.fromkeys(key.partition(".")[0] for key in _PLAIN))
"""Core's own tables; every other table is a backend's or a plugin's."""

_BOUNDS: dict[str, tuple[float, float]] = {
    "lease.ttl": (5, 600),
    "lease.longest": (60, 31 * 86400),
    "lease.held": (1, 1e6),
    "lease.queued": (1, 1e6),
    "lease.minutes": (1, 1e6),
}
_CHOICES = {
    "policy.profile": ("read-only", "standard", "full"),
    "policy.confirm": ("person", "caller"),
    "session.lock": ("reject", "strip"),
}


def _from_table(home: Path, table: Mapping[str, Any]) -> Settings:
    ours = set(SECTIONS)
    values: dict[str, Any] = {}
    for section in ours & set(table):
        if not isinstance(table[section], dict):
            raise SettingsError(f"config.toml: {section} must be a table")
        for key, value in table[section].items():
            full = f"{section}.{key}"
            if full not in _PLAIN:
                known = ", ".join(sorted(k for k in _PLAIN if k.startswith(section + ".")))
                raise SettingsError(f"config.toml: unknown key {full}; known are {known}")
            name, kind = _PLAIN[full]
            if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
                raise SettingsError(f"config.toml: {full} has a value of the wrong type")
            if (
                full in _BOUNDS
                and isinstance(value, (int, float))
                and not _BOUNDS[full][0] <= value <= _BOUNDS[full][1]
            ):
                raise SettingsError(f"config.toml: {full} must be from {_BOUNDS[full][0]} to {_BOUNDS[full][1]:g}")
            if full in _CHOICES and value not in _CHOICES[full]:
                raise SettingsError(f"config.toml: {full} must be one of {', '.join(_CHOICES[full])}")
            values[name] = value
    if "disabled" in values:
        values["disabled"] = frozenset(values["disabled"])
    for name in ("roots", "private_hosts"):
        if any(not isinstance(entry, str) for entry in values.get(name, ())):
            raise SettingsError(f"config.toml: policy.{name} must be a list of texts")
        values |= {name: tuple(values[name])} if name in values else {}
    tables = {key: value for key, value in table.items() if key not in ours}
    for key, value in tables.items():
        if not isinstance(value, dict):  # it belongs below [plugins], [policy] or the like, and would say nothing here
            below = [full for full in sorted(_PLAIN) if full.rpartition(".")[2] == key]
            known = f"; it is {' or '.join(below)}" if below else ""
            raise SettingsError(f"config.toml: unknown key {key} outside of a table{known}")
    return Settings(home=home, tables=tables, **values)
