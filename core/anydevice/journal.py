"""What happened, one line a call: audit for people, replay lines for machines.

A line is written straight to the file (a page-cache write of a few microseconds), so that a killed daemon loses
nothing it had answered. Arguments are never written, only their digest; a replay line is written unless the
call said `noRecord`, with secrets and typed text left out.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .clock import Clock
from .nesting import is_deep
from .settings import private_folder

REDACTED = "<redacted>"
_SECRET_FIELDS = frozenset({"text", "payload", "confirmToken", "leaseId", "value", "commandLine"})
_ROTATE_BYTES = 16 * 1024 * 1024


def digest(arguments: Mapping[str, Any], key: bytes = b"") -> str:
    """A short digest that tells two calls apart without showing what they said; with a key, not even to who guesses."""
    if is_deep(arguments):  # refused; the line of its refusal is written all the same
        arguments = {name: "nested too deeply" for name in arguments}
    text = json.dumps(arguments, sort_keys=True, separators=(",", ":"), default=str, ensure_ascii=False)
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8, key=key).hexdigest()


def redacted(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as a replay line may show them, those of calls inside a call (steps of a batch) too."""
    return {key: REDACTED if key in _SECRET_FIELDS else _redacted_inside(value) for key, value in arguments.items()}


def _redacted_inside(value: Any) -> Any:
    if isinstance(value, Mapping):
        return redacted(value)
    if isinstance(value, list):
        return [_redacted_inside(item) for item in value]
    return value


class Journal:
    """The record of calls: a bounded tail in memory and, with a folder, a file a day."""

    def __init__(self, clock: Clock, folder: Path | None = None, *, tail: int = 1000) -> None:
        self.clock = clock
        self.folder = folder
        self.tail: deque[dict[str, Any]] = deque(maxlen=tail)
        self.key = secrets.token_bytes(16)
        """For digests of arguments: kept nowhere, so that a digest in the file is not a way to guess what was typed."""
        self.observers: list[Callable[[dict[str, Any]], None]] = []
        self._handle: int | None = None
        self._written = 0

    def record(self, entry: dict[str, Any]) -> None:
        """Adds one record; it gets its time here."""
        entry["at"] = round(self.clock.now(), 6)
        self.tail.append(entry)
        for observer in self.observers:
            observer(entry)
        if self.folder is not None:
            self._write(entry)

    def _write(self, entry: dict[str, Any]) -> None:
        line = json.dumps(entry, separators=(",", ":"), default=str).encode() + b"\n"
        try:
            if self._handle is None or self._written > _ROTATE_BYTES:
                self._open()
            assert self._handle is not None
            os.write(self._handle, line)
            self._written += len(line)
        except OSError:
            # A full disk must not fail the call; the tail in memory still holds the record.
            self.close()

    def _open(self) -> None:
        assert self.folder is not None
        self.close()
        private_folder(self.folder)
        path = self.folder / "calls.ndjson"
        if path.exists() and path.stat().st_size > _ROTATE_BYTES:
            path.replace(self.folder / "calls.1.ndjson")
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._written = os.fstat(self._handle).st_size

    def close(self) -> None:
        """Closes the file; the next record opens it again."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
