"""Tokens of HTTP clients: 256 bits each, shown once, kept as digests in a file only its owner reads.

Standard library only: the command line mints and revokes them without a daemon.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from anydevice.places import make_private

SCOPES = ("read", "act", "admin")
PREFIX = "adt_"
FILE = "http-tokens.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}\Z")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True)
class Token:
    """A token, without its secret.

    Attributes:
        name: Who has it; calls are made in this name.
        scope: `read`, `act` (which includes it) or `admin` (which includes both).
        toolset: The tools its holder is shown; empty = those of the address it asks.
        created: UTC, ISO 8601.
        digest: SHA-256 of the secret.
    """

    name: str
    scope: str
    toolset: str
    created: str
    digest: str

    @property
    def scopes(self) -> list[str]:
        """Every scope it has."""
        return list(SCOPES[: SCOPES.index(self.scope) + 1])


class TokenError(ValueError):
    """A token cannot be made or removed as asked; the message says why."""


class Tokens:
    """The tokens of a home folder. Read again whenever the file changes, so that a revoked one is gone at once.

    Args:
        data_dir: Where the file is.
    """

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / FILE
        self._seen: tuple[int, int, int] | None = None
        self._tokens: dict[str, Token] = {}

    def all(self) -> list[Token]:
        """Every token, by name.

        Raises:
            TokenError: The file cannot be read, or others may read it.
        """
        self._read()
        return [self._tokens[name] for name in sorted(self._tokens)]

    def find(self, secret: str) -> Token | None:
        """The token of a secret. Takes the same time whether it is there or not."""
        self._read()
        digest = _digest(secret)
        found = None
        for token in self._tokens.values():
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found

    def mint(self, name: str, *, scope: str = "act", toolset: str = "") -> str:
        """Makes a token; returns its secret, which is kept nowhere.

        Raises:
            TokenError: The name is taken or no name, or there is no such scope.
        """
        if not _NAME.match(name):
            raise TokenError("a name has up to 40 letters, digits, '-', '_' or '.', and begins with a letter or digit")
        if scope not in SCOPES:
            raise TokenError(f"scope is one of {', '.join(SCOPES)}")
        secret = PREFIX + secrets.token_urlsafe(32)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with self._alone():
            if name in self._tokens:
                raise TokenError(f"there is a token {name} already; remove it first")
            self._write({**self._tokens, name: Token(name, scope, toolset, now, _digest(secret))})
        return secret

    def remove(self, name: str) -> None:
        """Revokes a token.

        Raises:
            TokenError: There is none of this name.
        """
        with self._alone():
            if name not in self._tokens:
                raise TokenError(f"there is no token {name}")
            self._write({other: token for other, token in self._tokens.items() if other != name})

    def _read(self) -> None:
        try:
            # Not held up by what is no file: this is asked on the daemon's loop.
            handle = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            self._seen, self._tokens = None, {}
            return
        except OSError as error:
            raise TokenError(f"{self.path.name} cannot be read: {error.strerror}") from error
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
            if seen == self._seen and not status.st_mode & 0o077:
                return
            self._seen = None
            if not stat.S_ISREG(status.st_mode):
                raise TokenError(f"{self.path.name} is no file")
            if status.st_mode & 0o077 or status.st_uid != os.getuid():
                raise TokenError(f"others may read {self.path.name}: make it private (chmod 600), and mint new tokens")
            try:
                rows = json.loads(file.read().decode("utf-8"))
                self._tokens = {token.name: token for token in map(_token, rows)}
            except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
                raise TokenError(f"{self.path.name} cannot be read: {type(error).__name__}") from error
        self._seen = seen

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """While nobody else changes the tokens: else one that was revoked could come back with one that was made."""
        make_private(self.path.parent)
        handle = os.open(self.path.with_name(f"{FILE}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            self._read()
            yield
        finally:
            os.close(handle)

    def _write(self, tokens: dict[str, Token]) -> None:
        new = self.path.with_name(f"{FILE}.{secrets.token_hex(4)}")
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump([asdict(token) for token in tokens.values()], file, indent=1)
        new.replace(self.path)
        self._read()


def _token(row: dict[str, str]) -> Token:
    """A row of the file.

    Raises:
        ValueError, TypeError: It is none that we wrote; nobody is let in by half a row.
    """
    token = Token(**row)
    if not _NAME.match(token.name) or token.scope not in SCOPES or not _DIGEST.match(token.digest):
        raise ValueError(token.name)
    if not isinstance(token.toolset, str) or not isinstance(token.created, str):
        raise TypeError(token.name)
    return token


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
