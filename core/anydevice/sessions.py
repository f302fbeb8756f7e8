"""Sessions: what a caller is already bound to, and how two callers never meet by accident.

An explicit session has a name, shared on purpose within one principal. An implicit one has none: it belongs to
the caller's scope (one connection, or one user in one directory) and to one device. A session is bound to one
device for life, and that life does not end with the daemon: the ledger hands it to the next one.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Iterable

import structlog

from anydevice_schemas import Caller, Device, Lease
from anydevice_schemas.errors import SelectorConflict, SessionNotFound, UpstreamUnavailable

from .clock import Clock
from .database import StoreBusy
from .discovery import describe
from .elements import RefRegistry
from .leases.refusals import PERSON
from .losses import DEVICE_GONE, GONE_STATES, NEVER_BACK, Losses, Lost, refusal
from .resolution import Inventory
from .session import Session, Unreadable
from .session_ledger import SessionLedger, key_of

__all__ = ["Session", "Sessions"]

log = structlog.get_logger("anydevice.sessions")

HANDLE = "handle-"
"""What the sessions of callers without a connection are called: unguessable, and bound to the principal."""

MADE_UP = ("auto-", "waiting-", HANDLE, PERSON)
"""What made-up names begin with; no caller can give a session such a name."""

TOUCH_SECONDS = 5.0
"""A use is written when the last one written is this long ago."""

RESUME_SECONDS = 10.0
"""Seconds a connection that broke without a goodbye has to come back before its implicit sessions end."""

RESTART_SECONDS = 120.0
"""Seconds a connection of an earlier daemon has to come back."""

TIDY_SECONDS = 600.0
"""How often connections that will not come back are forgotten."""


class Sessions:
    """All sessions of this host.

    Args:
        clock: For idle times.
        idle: Seconds a session lives unused.
        ledger: What keeps them over a restart; without one they end with the process.

    Attributes:
        ended: Told of every session that ends, and why.
        unjudged: Sessions of an earlier daemon of which it is not known yet whether their device is still what it was.
    """

    def __init__(self, clock: Clock, *, idle: float = 1800.0, ledger: SessionLedger | None = None) -> None:
        self.clock = clock
        self.idle = idle
        self.ledger = ledger
        self.ended: list[Callable[[Session, str], None]] = []
        self.unjudged: list[Session] = []
        self._named: dict[tuple[str, str, str], Session] = {}
        self._implicit: dict[str, dict[tuple[str, str], Session]] = {}
        self._lost = Losses(ledger)
        self._undropped: set[str] = set()
        self._tidied = clock.monotonic()
        if ledger is not None:
            self._restore(ledger)

    # --- finding ---

    def named(self, caller: Caller, name: str, tenant: str | None = None) -> Session:
        """The explicit session of this name, or one of the caller's own implicit ones by its made-up name.

        Raises:
            ConnectionLost: It existed before the daemon was restarted and is gone; told once.
            SessionNotFound: There is none; carries the nearest names of the same principal.
        """
        found = self.find(caller, name, tenant)
        if found is not None:
            return found
        lost = self._lost.named(caller.principal, tenant or "default", name)
        if lost:
            self._write(self._lost.forget, lost)
            raise refusal(lost)
        raise SessionNotFound(
            f"There is no session {name[:60]!r}.",
            nearest=difflib.get_close_matches(name, self.names(caller, tenant), n=3, cutoff=0.4),
        )

    def find(self, caller: Caller, name: str, tenant: str | None = None) -> Session | None:
        """As `named`, without raising.

        A made-up name works in its own scope; a person on the command line may use it from another directory too.
        """
        tenant = tenant or "default"
        found = self._named.get((caller.principal, tenant, name))
        if found is not None:
            return found if _open_to(caller, found) else None
        groups = [self._implicit.get(caller.scope_key, {})]
        if caller.transport == "cli":
            person = f"{caller.principal}|cli|"
            groups += [group for scope, group in self._implicit.items() if scope.startswith(person)]
        mine = (session for group in groups for session in group.values() if session.tenant == tenant)
        return next((session for session in mine if session.name == name), None)

    def names(self, caller: Caller, tenant: str | None = None) -> list[str]:
        """Names a caller may use."""
        mine = (caller.principal, tenant or "default")
        own = [s.name for s in self._named.values() if (s.principal, s.tenant) == mine and _open_to(caller, s)]
        return sorted(own + [s.name for s in self.implicit(caller, tenant)])

    def implicit(self, caller: Caller, tenant: str | None = None) -> list[Session]:
        """The caller's implicit sessions for a tenant, one a device, oldest first."""
        mine = self._implicit.get(caller.scope_key)
        if not mine:
            return []
        return [session for session in mine.values() if session.tenant == (tenant or "default")]

    def visible(self, caller: Caller, tenant: str | None = None) -> list[Session]:
        """Every session of the caller's principal for a tenant; those of other tenants are not seen."""
        mine = (caller.principal, tenant or "default")
        return [s for s in self.all() if (s.principal, s.tenant) == mine and _open_to(caller, s)]

    def of_lease(self, lease: Lease) -> Session | None:
        """The session that sits in a lease."""
        return next((session for session in self.all() if session.lease_id == lease.lease_id), None)

    def of_device(self, device_key: str) -> list[Session]:
        """Every session bound to a device."""
        return [s for s in self.all() if s.device_key == device_key]

    def all(self) -> list[Session]:
        """Every session."""
        return [*self._named.values(), *(s for group in self._implicit.values() for s in group.values())]

    # --- beginning, using, ending ---

    def open(
        self,
        caller: Caller,
        device: Device,
        *,
        name: str | None,
        tenant: str | None = None,
        run_id: str | None = None,
        made_up: bool = False,
    ) -> Session:
        """The caller's session on a device, made if there is none yet, and kept from then on.

        Args:
            made_up: The name is one of ours, not the caller's.

        Raises:
            SelectorConflict: The named session is bound to another device.
            SessionNotFound: Names of this kind are made up here: there is none of this one that the caller may use.
        """
        if name is not None:
            found = self.find(caller, name, tenant)
            if found is None and name.startswith(MADE_UP) and not made_up:
                raise SessionNotFound(
                    f"There is no session {name[:60]!r} that you may use.",
                    nearest=[],
                    hint=f"Choose a name of your own; those that begin with {', '.join(MADE_UP)} are made up here.",
                )
            if found is None:
                found = self._new(caller, device, name, None, tenant, run_id)
            elif found.device_key != device.key:
                raise SelectorConflict(
                    f"The session {name[:60]!r} is bound to another device for life.",
                    conflicts=[{"session": name, "boundTo": found.device_key, "asked": device.key}],
                    hint="Use another session name, or close this session first.",
                )
            return found
        slot = (device.key, tenant or "default")
        found = self._implicit.get(caller.scope_key, {}).get(slot)
        if found is None:
            place = f"{caller.scope_key}|{'|'.join(slot)}"
            tag = hashlib.blake2b(place.encode(), digest_size=4).hexdigest()
            found = self._new(caller, device, f"auto-{tag}", caller.scope_key, tenant, run_id)
        return found

    def touch(self, session: Session) -> None:
        """The session was used, by whoever may use it: its holder is back."""
        session.used = self.clock.monotonic()
        session.attached, session.until = True, None

    def save(self, session: Session | None) -> None:
        """Writes what changed of a session since it was last written; to be called before an answer goes out.

        What cannot be written now is written by `sweep`, or when the session is saved next.
        """
        if self.ledger is None or session is None or session.ended:
            return
        utc = self.clock.now() - self.clock.monotonic()
        row = session.to_row(utc)
        used = session.used + utc
        if row != session.saved:
            written = self._write(self.ledger.put, row | {"used": used})
        elif used - session.saved_used >= TOUCH_SECONDS:
            written = self._write(self.ledger.touch, key_of(row), used)
        else:
            return
        if written:
            session.saved, session.saved_used = row, used

    def end(self, session: Session, reason: str) -> None:
        """Ends a session and tells whoever listens (the lease desk gives its device back)."""
        self._remove(session, reason)
        self._drop(key_of(session.saved or session.to_row(0.0)))

    def lose(self, session: Session, why: str) -> None:
        """Ends a session of an earlier daemon; whoever had it is told, once."""
        row = session.to_row(0.0)
        entry = Lost(
            session.name, session.principal, session.scope_key, session.cwd, session.device_key, session.device_name,
            session.app, session.tenant, session.transport, why, row["refs"], row["notes"],
        )  # fmt: skip
        self._remove(session, why)
        self._lost.add(entry)
        if self.ledger is not None and not self._write(self._lost.keep, key_of(row), entry):
            self._undropped.add(key_of(row))

    def sweep(self) -> list[Session]:
        """Ends sessions nobody used for `idle` seconds, and those whose connection did not come back; writes the rest.

        Returns:
            The sessions that ended.
        """
        now = self.clock.monotonic()
        gone = []
        for session in self.all():
            if session.used < now - self.idle:
                self.end(session, f"idle for {self.idle:g} s")
            elif session.until is not None and session.until < now:
                (self.lose if session.news is not None else self.end)(session, NEVER_BACK)
            else:
                self.save(session)
                continue
            gone.append(session)
        for key in list(self._undropped):
            self._drop(key)
        if self.ledger is not None and now - self._tidied >= TIDY_SECONDS:
            self._tidied = now
            self._write(self.ledger.forget_connections)
        return gone

    # --- connections ---

    def connection_here(self, connection: str) -> list[Session]:
        """A connection is here, for the first time or again; the sessions it had wait for it no longer."""
        mine = self._of_connection(connection)
        for session in mine:
            session.attached, session.until = True, None
        return mine

    def connection_gone(self, connection: str, clean: bool) -> list[Session]:
        """A connection ended, and has not come back yet.

        Args:
            connection: Which.
            clean: It said goodbye, so its implicit sessions end at once; else they wait for it `RESUME_SECONDS`.

        Returns:
            The sessions that ended.
        """
        if self.ledger is not None:
            self._write(self.ledger.left, connection, clean)
        if clean:
            return self.end_connection(connection)
        for session in self._of_connection(connection):
            session.attached, session.until = False, self.clock.monotonic() + RESUME_SECONDS
        return []

    def end_connection(self, connection: str) -> list[Session]:
        """Ends the implicit sessions of a connection that is gone; explicit ones stay."""
        gone = self._of_connection(connection)
        for session in gone:
            self.end(session, "its connection ended")
        return gone

    def _of_connection(self, connection: str) -> list[Session]:
        groups = self._implicit.values()
        return [s for group in groups for s in group.values() if s.connection == connection and s.transport != "cli"]

    # --- after a restart ---

    def judge(self, inventory: Inventory, *, unlisted: Iterable[Session] = ()) -> None:
        """Finds out which sessions of an earlier daemon still have their device; the others are lost.

        Must see the first listing of a device before anything is started on it: a device that was started since is
        another one than the session was bound to.

        Args:
            inventory: What is listed.
            unlisted: Sessions whose backend was asked for their caller and answered: theirs is gone if not listed.
        """
        asked = {id(session) for session in unlisted}
        for session in list(self.unjudged):
            if session.ended:
                self.unjudged.remove(session)
                continue
            row = inventory.by_key(session.device_key)
            if (row is None and id(session) in asked) or (row is not None and row.state in GONE_STATES):
                self.lose(session, DEVICE_GONE)
            elif row is None or row.state != "ready":
                continue
            self.unjudged.remove(session)

    def losses_for(self, caller: Caller, tenant: str | None = None) -> list[Lost]:
        """What a restart lost of this caller's: told once, to whoever comes from the same place.

        A named session may be used from elsewhere too; `named` tells that caller, who is not told here.
        """
        if not self._lost.entries:
            return []
        mine = self._lost.concerning(caller, tenant or "default")
        # The very connection that had one may still come back, and is told then.
        self._write(self._lost.forget, [e for e in mine if e.scope_key is None or e.had_by(caller)])
        return mine

    def _restore(self, ledger: SessionLedger) -> None:
        utc = self.clock.now() - self.clock.monotonic()
        now = self.clock.monotonic()
        for row in ledger.rows():
            key = row.pop("key")
            try:
                session = Session.from_row(row, utc)
                if not self._place(session):
                    raise Unreadable("there is another of the same name or device")
            except Unreadable as error:
                log.warning("session_left_out", session=str(row.get("name"))[:60], reason=str(error))
                self._drop(key)
                continue
            session.used, session.created = min(session.used, now), min(session.created, now)
            if session.implicit and session.transport != "cli":
                session.until = now + min(self.idle, RESTART_SECONDS)
            self.unjudged.append(session)
        self._write(ledger.all_away)

    # --- inside ---

    def _new(  # noqa: PLR0917 - private, called twice
        self, caller: Caller, device: Device, name: str, scope_key: str | None, tenant: str | None, run_id: str | None
    ) -> Session:
        now = self.clock.monotonic()
        tenant = tenant or "default"
        session = Session(
            name=name,
            principal=caller.principal,
            device_key=device.key,
            scope_key=scope_key,
            connection=caller.connection,
            created=now,
            used=now,
            tenant=tenant,
            run_id=run_id,
            refs=RefRegistry(above=self._lost.refs(caller.principal, tenant, name)),
            device_name=device.name,
            cwd=caller.cwd,
            transport=caller.transport,
        )
        self._place(session)
        self.save(session)
        return session

    def _place(self, session: Session) -> bool:
        """Puts a session where it is found; False where there is one already."""
        if session.scope_key is None:
            return self._named.setdefault((session.principal, session.tenant, session.name), session) is session
        group = self._implicit.setdefault(session.scope_key, {})
        return group.setdefault((session.device_key, session.tenant), session) is session

    def _remove(self, session: Session, reason: str) -> None:
        session.ended = True
        if session.scope_key is None:
            self._named.pop((session.principal, session.tenant, session.name), None)
        else:
            group = self._implicit.get(session.scope_key, {})
            group.pop((session.device_key, session.tenant), None)
            if not group:
                self._implicit.pop(session.scope_key, None)
        for listener in self.ended:
            listener(session, reason)

    def _drop(self, key: str) -> None:
        if self.ledger is not None and not self._write(self.ledger.drop, key):
            self._undropped.add(key)
        else:
            self._undropped.discard(key)

    @staticmethod
    def _write(write: Callable[..., object], *what: object) -> bool:
        """Writes to the ledger; False, and a line in the log, where that does not work now."""
        try:
            write(*what)
        except (StoreBusy, UpstreamUnavailable, TypeError, ValueError) as error:
            log.warning("ledger_not_written", step=getattr(write, "__name__", "?"), reason=describe(error))
            return False
        return True


def _open_to(caller: Caller, session: Session) -> bool:
    """Whether a session is for such callers at all: one in which a person drives is for persons."""
    return not session.name.startswith(PERSON) or "admin" in caller.scopes
