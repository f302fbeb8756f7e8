"""Sessions: what a caller is already bound to, and how two callers never meet by accident.

An explicit session has a name, shared on purpose within one principal. An implicit one has none: it belongs to
the caller's scope (one connection, or one user in one directory) and to one device. A session is bound to one
device for life.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anydevice_schemas import Caller, Device, Holder, Tree
from anydevice_schemas.errors import ConnectionLost, SelectorConflict, SessionNotFound

from .clock import Clock
from .elements import RefRegistry
from .settings import private_folder


@dataclass(slots=True)
class Session:
    """One caller's work with one device.

    Attributes:
        name: Public name; implicit sessions have a made-up one that works only in their own scope.
        scope_key: The scope an implicit session lives in; None for explicit ones.
        device_key: The device it is bound to, for life.
        refs: Refs given out in this session; never reused in it.
        tree: The last tree seen, with refs, for diffs.
        app: What was opened last.
        event_template: URL template for app events, given at `open`.
        lease_id, fence: The lease it sits in; kept by the lease desk.
    """

    name: str
    principal: str
    device_key: str
    scope_key: str | None
    connection: str
    created: float
    used: float
    tenant: str = "default"
    run_id: str | None = None
    refs: RefRegistry = field(default_factory=RefRegistry)
    tree: Tree | None = None
    app: str | None = None
    event_template: str | None = None
    lease_id: str | None = None
    fence: tuple[int, int] | None = None
    device_name: str = ""
    cwd: str | None = None
    transport: str = ""
    _holder: Holder | None = None

    @property
    def holder(self) -> Holder:
        """Who its lease is made out to."""
        if self._holder is None:
            self._holder = Holder(principal=self.principal, session=self.name, tenant=self.tenant, run_id=self.run_id)
        return self._holder

    @property
    def implicit(self) -> bool:
        """Whether the caller never gave it a name."""
        return self.scope_key is not None


@dataclass(slots=True, frozen=True)
class Lost:
    """A session an earlier daemon had and could not hand over."""

    name: str
    principal: str
    scope_key: str | None
    cwd: str | None
    device: str
    device_name: str
    app: str | None
    tenant: str = "default"
    transport: str = ""

    def concerns(self, caller: Caller) -> bool:
        """Whether a caller is the one who had it, as far as that can be told after a restart.

        A command line's scope is the same as before. A connection is a new one: what it has in common with the
        earlier one is who is on it, by which transport, and the directory it works in.
        """
        if self.principal != caller.principal:
            return False
        if self.scope_key is not None and self.transport == "cli":
            return self.scope_key == caller.scope_key
        return self.cwd is not None and (self.cwd, self.transport) == (caller.cwd, caller.transport)

    def to_wire(self) -> dict[str, Any]:
        """As a notice shows it."""
        wire = {"session": self.name, "device": self.device}
        if self.app:
            wire["app"] = self.app
        return wire


class Sessions:
    """All sessions of this host.

    Args:
        clock: For idle times.
        idle: Seconds a session lives unused.
        ledger: File that remembers which sessions exist, so that the next daemon can say what was lost.
    """

    def __init__(self, clock: Clock, *, idle: float = 1800.0, ledger: Path | None = None) -> None:
        self.clock = clock
        self.idle = idle
        self.ended: list[Callable[[Session, str], None]] = []
        self._named: dict[tuple[str, str, str], Session] = {}
        self._implicit: dict[str, dict[tuple[str, str], Session]] = {}
        self._ledger = ledger
        self._lost: list[Lost] = _read_ledger(ledger) if ledger is not None else []

    def named(self, caller: Caller, name: str, tenant: str | None = None) -> Session:
        """The explicit session of this name, or one of the caller's own implicit ones by its made-up name.

        Raises:
            ConnectionLost: It existed before the daemon was restarted; told once.
            SessionNotFound: There is none; carries the nearest names of the same principal.
        """
        found = self.find(caller, name, tenant)
        if found is not None:
            return found
        wanted = (caller.principal, tenant or "default", name)
        lost = [entry for entry in self._lost if (entry.principal, entry.tenant, entry.name) == wanted]
        if lost:
            self._forget(lost)
            raise ConnectionLost(
                "The daemon was restarted and this session did not survive.",
                restarted=True,
                lost=[entry.to_wire() for entry in lost],
            )
        raise SessionNotFound(
            f"There is no session {name[:60]!r}.",
            nearest=difflib.get_close_matches(name, self.names(caller, tenant), n=3, cutoff=0.4),
        )

    def find(self, caller: Caller, name: str, tenant: str | None = None) -> Session | None:
        """As `named`, without raising.

        A made-up name works in its own scope; a person on the command line may use it from another directory too.
        """
        found = self._named.get((caller.principal, tenant or "default", name))
        if found is not None:
            return found
        groups = [self._implicit.get(caller.scope_key, {})]
        if caller.transport == "cli":
            person = f"{caller.principal}|cli|"
            groups += [group for scope, group in self._implicit.items() if scope.startswith(person)]
        return next((session for group in groups for session in group.values() if session.name == name), None)

    def names(self, caller: Caller, tenant: str | None = None) -> list[str]:
        """Names a caller may use."""
        own = [n for p, t, n in self._named if p == caller.principal and t == (tenant or "default")]
        return sorted(own + [s.name for s in self.implicit(caller, tenant)])

    def implicit(self, caller: Caller, tenant: str | None = None) -> list[Session]:
        """The caller's implicit sessions for a tenant, one a device, oldest first."""
        mine = self._implicit.get(caller.scope_key)
        if not mine:
            return []
        return [session for session in mine.values() if session.tenant == (tenant or "default")]

    def visible(self, caller: Caller) -> list[Session]:
        """Every session of the caller's principal."""
        named = [s for s in self._named.values() if s.principal == caller.principal]
        implicit = [s for group in self._implicit.values() for s in group.values()]
        return named + [s for s in implicit if s.principal == caller.principal]

    def open(
        self,
        caller: Caller,
        device: Device,
        *,
        name: str | None,
        tenant: str | None = None,
        run_id: str | None = None,
    ) -> Session:
        """The caller's session on a device, made if there is none yet.

        Raises:
            SelectorConflict: The named session is bound to another device.
        """
        now = self.clock.monotonic()
        if name is not None:
            found = self.find(caller, name, tenant)
            if found is None:
                found = self._new(caller, device, name, None, tenant, run_id, now)
                self._named[(caller.principal, tenant or "default", name)] = found
                self._write()
            elif found.device_key != device.key:
                raise SelectorConflict(
                    f"The session {name[:60]!r} is bound to another device for life.",
                    conflicts=[{"session": name, "boundTo": found.device_key, "asked": device.key}],
                    hint="Use another session name, or close this session first.",
                )
            return found
        group = self._implicit.setdefault(caller.scope_key, {})
        slot = (device.key, tenant or "default")
        found = group.get(slot)
        if found is None:
            place = f"{caller.scope_key}|{'|'.join(slot)}"
            made_up = hashlib.blake2b(place.encode(), digest_size=4).hexdigest()
            found = self._new(caller, device, f"auto-{made_up}", caller.scope_key, tenant, run_id, now)
            group[slot] = found
            self._write()
        return found

    def touch(self, session: Session) -> None:
        """The session was used."""
        session.used = self.clock.monotonic()

    def end(self, session: Session, reason: str) -> None:
        """Ends a session and tells whoever listens (the lease desk gives its device back)."""
        if session.scope_key is None:
            self._named.pop((session.principal, session.tenant, session.name), None)
        else:
            group = self._implicit.get(session.scope_key, {})
            group.pop((session.device_key, session.tenant), None)
            if not group:
                self._implicit.pop(session.scope_key, None)
        for listener in self.ended:
            listener(session, reason)
        self._write()

    def end_connection(self, connection: str) -> list[Session]:
        """Ends the implicit sessions of a connection that is gone; explicit ones stay."""
        gone = [
            session
            for group in self._implicit.values()
            for session in group.values()
            if session.connection == connection and session.scope_key and "|cli|" not in session.scope_key
        ]
        for session in gone:
            self.end(session, "its connection ended")
        return gone

    def of_device(self, device_key: str) -> list[Session]:
        """Every session bound to a device."""
        return [s for s in self.all() if s.device_key == device_key]

    def all(self) -> list[Session]:
        """Every session."""
        return [*self._named.values(), *(s for group in self._implicit.values() for s in group.values())]

    def sweep(self) -> list[Session]:
        """Ends sessions nobody used for `idle` seconds."""
        limit = self.clock.monotonic() - self.idle
        gone = [session for session in self.all() if session.used < limit]
        for session in gone:
            self.end(session, f"idle for {self.idle:g} s")
        return gone

    def losses_for(self, caller: Caller) -> list[Lost]:
        """What an earlier daemon lost of this caller's: told once, to whoever comes from the same place.

        A named session may be used from elsewhere too; `named` tells that caller, who is not told here.
        """
        if not self._lost:
            return []
        mine = [entry for entry in self._lost if entry.concerns(caller)]
        self._forget(mine)
        return mine

    def _forget(self, entries: Iterable[Lost]) -> None:
        gone = set(map(id, entries))
        self._lost = [entry for entry in self._lost if id(entry) not in gone]
        self._write()

    def _new(  # noqa: PLR0917 - private, called twice
        self,
        caller: Caller,
        device: Device,
        name: str,
        scope_key: str | None,
        tenant: str | None,
        run_id: str | None,
        now: float,
    ) -> Session:
        return Session(
            name=name,
            principal=caller.principal,
            device_key=device.key,
            scope_key=scope_key,
            connection=caller.connection,
            created=now,
            used=now,
            tenant=tenant or "default",
            run_id=run_id,
            device_name=device.name,
            cwd=caller.cwd,
            transport=caller.transport,
        )

    def remember(self) -> None:
        """Writes the ledger again, after something it shows (the opened app) changed."""
        self._write()

    def _write(self) -> None:
        if self._ledger is None:
            return
        rows: list[dict[str, Any]] = [
            {
                "name": s.name, "principal": s.principal, "scope_key": s.scope_key, "cwd": s.cwd,
                "device": s.device_key, "device_name": s.device_name, "app": s.app, "tenant": s.tenant,
                "transport": s.transport,
            }
            for s in self.all()
        ]  # fmt: skip
        rows += [entry_row(entry) for entry in self._lost]
        private_folder(self._ledger.parent)
        temporary = self._ledger.with_suffix(".new")
        temporary.write_text(json.dumps(rows), "utf-8")
        os.replace(temporary, self._ledger)


def entry_row(entry: Lost) -> dict[str, Any]:
    """A lost session as the ledger keeps it until it was told."""
    return {name: getattr(entry, name) for name in Lost.__slots__}


def _read_ledger(path: Path) -> list[Lost]:
    try:
        rows = json.loads(path.read_text("utf-8"))
        return [Lost(**row) for row in rows][-200:]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError):
        # A damaged ledger is kept for a person to look at; losing it only loses the notice.
        path.replace(path.with_suffix(".damaged"))
        return []
