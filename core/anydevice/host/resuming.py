"""Connections that come back: the token a client shows, and the connection it then is again.

A token is known in full to its client only; the ledger keeps its SHA-256, so that a copy of the ledger is no key.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Protocol

import structlog

from anydevice_schemas import Caller

from ..discovery import describe

log = structlog.get_logger("anydevice.host.resuming")

TOKEN_BYTES = 16
KEPT = 1024
"""Connections remembered without a ledger; beyond that the oldest are forgotten."""


class ConnectionLedger(Protocol):
    """Where connections are kept over the life of a daemon."""

    def remember(self, token_hash: str, principal: str, transport: str, connection: str, scope_key: str) -> None:
        """Keeps a connection, or notes that it was seen just now."""
        ...

    def find(self, token_hash: str) -> Mapping[str, Any] | None:
        """The connection of a token."""
        ...


class Resuming:
    """The connections that may come back.

    Args:
        ledger: Keeps them beyond this process, for as long as they may be away; None keeps them in memory only.
    """

    def __init__(self, ledger: ConnectionLedger | None) -> None:
        self._ledger = ledger
        self._known: OrderedDict[str, dict[str, Any]] = OrderedDict()

    def issue(self, caller: Caller) -> str | None:
        """A token for a new connection; None for the command line, whose sessions belong to no connection."""
        if caller.transport == "cli":
            return None
        token = secrets.token_hex(TOKEN_BYTES)
        self.remember(token, caller)
        return token

    def remember(self, token: str, caller: Caller) -> None:
        """Notes that a connection is there now."""
        row = {
            "token_hash": _hash(token),
            "principal": caller.principal,
            "transport": caller.transport,
            "connection": caller.connection,
            "scope_key": caller.scope_key,
        }
        if self._ledger is None:
            self._known[row["token_hash"]] = row
            self._known.move_to_end(row["token_hash"])
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
            return
        try:
            self._ledger.remember(**row)
        except Exception as error:  # a connection works without; it only cannot come back after a crash
            log.warning("connection_not_remembered", reason=describe(error))

    def find(self, token: object, principal: str, transport: str) -> str | None:
        """The connection a token stands for, if it is this user's over this transport."""
        if not isinstance(token, str) or len(token) != 2 * TOKEN_BYTES:
            return None
        key = _hash(token)
        row: Mapping[str, Any] | None = self._known.get(key)
        if self._ledger is not None:
            try:
                row = self._ledger.find(key)
            except Exception as error:  # as above
                log.warning("connection_not_found", reason=describe(error))
        if row is None or (row["principal"], row["transport"]) != (principal, transport):
            return None
        return str(row["connection"])


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
