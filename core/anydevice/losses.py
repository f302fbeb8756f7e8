"""What a restart of the daemon lost of sessions and what it kept, as it is remembered and told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import structlog

from anydevice_schemas import Caller
from anydevice_schemas.errors import ConnectionLost

from .session_ledger import SessionLedger

log = structlog.get_logger("anydevice.sessions")

GONE_STATES = frozenset({"shutdown"})
"""States of a device in which nothing that ran on it can be there any more."""

SHOWN = 3
"""Lost sessions that the sentence of a refusal names; its details have all."""

DEVICE_GONE = "its device is gone"
NEVER_BACK = "its connection did not come back"
"""Why a session was lost."""


@dataclass(slots=True)
class Lost:
    """A session that did not survive a restart.

    Attributes:
        notes: What was in progress in it (a recording, whose file may still be had).
        number: Of its row in the ledger; None where nothing is kept.
        told: Somebody of the same place knows; the very connection that had it does not yet.
    """

    name: str
    principal: str
    scope_key: str | None
    cwd: str | None
    device: str
    device_name: str
    app: str | None
    tenant: str = "default"
    transport: str = ""
    why: str = DEVICE_GONE
    refs: int = 0
    notes: dict[str, Any] = field(default_factory=dict)
    number: int | None = None
    told: bool = False

    def had_by(self, caller: Caller) -> bool:
        """Whether it was this very caller's: its implicit session, on the connection or in the directory it is in."""
        return self.scope_key is not None and self.scope_key == caller.scope_key

    def concerns(self, caller: Caller, tenant: str = "default") -> bool:
        """Whether a caller is to be told, as far as that can be said after a restart.

        A command line's scope is the same as before, and so is a connection that came back with its token. A new
        connection has in common with the earlier one who is on it, by which transport, and the directory it works in.
        """
        if (self.principal, self.tenant) != (caller.principal, tenant):
            return False
        if self.had_by(caller):
            return True
        if self.told or (self.scope_key is not None and self.transport == "cli"):
            return False
        return self.cwd is not None and (self.cwd, self.transport) == (caller.cwd, caller.transport)

    def to_row(self) -> dict[str, Any]:
        """As the ledger keeps it until it was told."""
        return {name: getattr(self, name) for name in Lost.__slots__ if name not in ("number", "told")}

    def to_wire(self) -> dict[str, Any]:
        """As a notice shows it."""
        wire: dict[str, Any] = {"session": self.name, "device": self.device, "why": self.why}
        if self.app:
            wire["app"] = self.app
        if self.notes:
            wire["inProgress"] = self.notes
        return wire


class Losses:
    """The losses nobody, or not everybody, was told of yet.

    Args:
        ledger: What keeps them over one more restart.
    """

    def __init__(self, ledger: SessionLedger | None) -> None:
        self.ledger = ledger
        self.entries: list[Lost] = []
        self._refs: dict[tuple[str, str, str], int] = {}
        for number, row in ledger.lost() if ledger is not None else ():
            try:
                self.add(Lost(**row, number=number))
            except TypeError:
                log.warning("loss_left_out", number=number, reason="it is damaged")

    def add(self, entry: Lost) -> None:
        """One more, not written yet."""
        self.entries.append(entry)
        self._refs[entry.principal, entry.tenant, entry.name] = entry.refs

    def keep(self, key: str, entry: Lost) -> None:
        """Writes one, in place of the row of its session."""
        if self.ledger is not None:
            entry.number = self.ledger.lose(key, entry.to_row())

    def refs(self, principal: str, tenant: str, name: str) -> int:
        """The highest ref a lost session of this name may have given out: a new one goes on above it."""
        return self._refs.get((principal, tenant, name), 0)

    def named(self, principal: str, tenant: str, name: str) -> list[Lost]:
        """The losses of this name."""
        wanted = (principal, tenant, name)
        return [entry for entry in self.entries if (entry.principal, entry.tenant, entry.name) == wanted]

    def concerning(self, caller: Caller, tenant: str) -> list[Lost]:
        """The losses a caller is to be told of, now."""
        mine = [entry for entry in self.entries if entry.concerns(caller, tenant)]
        for entry in mine:
            entry.told = True
        return mine

    def forget(self, told: Sequence[Lost]) -> None:
        """They were told to everybody they concern."""
        self.entries = [entry for entry in self.entries if not any(entry is one for one in told)]
        numbers = [entry.number for entry in told if entry.number is not None]
        if self.ledger is not None and numbers:
            self.ledger.forget_lost(numbers)


def news(session: str, device: str, *, refs: bool, notes: dict[str, Any]) -> dict[str, Any]:
    """The notice for a session that survived.

    Args:
        session: Its name.
        device: Key of its device.
        refs: Whether refs were given out in it, which are stale now.
        notes: What was in progress in it.
    """
    notice: dict[str, Any] = {
        "kind": "daemon_restarted",
        "message": "The daemon was restarted; this session goes on with what was kept of it.",
        "session": session,
        "device": device,
        "kept": ["session", "device"],
        "lost": ["refs", "tree"] if refs else [],
    }
    if notes:
        notice["inProgress"] = notes
    return notice


def sessions_lost(lost: list[Lost]) -> dict[str, Any]:
    """The notice for sessions that did not."""
    return {
        "kind": "sessions_lost",
        "message": "The daemon was restarted; these sessions and what they ran on are gone.",
        "restarted": True,
        "lost": [entry.to_wire() for entry in lost],
    }


def refusal(lost: Sequence[Lost]) -> ConnectionLost:
    """The error for a call in a session that did not: it was refused before anything was done."""
    which = ", ".join(f"{entry.name} on {entry.device} ({entry.why})" for entry in lost[:SHOWN])
    more = f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
    sessions = "this session" if len(lost) == 1 else "these sessions"
    return ConnectionLost(
        f"The daemon was restarted, and {sessions} did not survive it: {which}{more}. This call did nothing.",
        restarted=True,
        may_have_acted=False,
        lost=[entry.to_wire() for entry in lost],
    )


def origin(address: str) -> str:
    """Scheme and host of an address; what is enough to tell one page from another without keeping the address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
