"""The journal of a session that systemd runs: what the processes of an application wrote there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from anydevice.driver import LogLine
from anydevice.kit import processes
from anydevice_schemas.errors import UpstreamUnavailable

DEADLINE: Final = 10.0
"""Seconds journalctl may take."""
CAP: Final = 16 << 20
"""Bytes of its answer that are read."""
PIDS_MOST: Final = 200
BOOTED: Final = Path("/run/systemd/system")
"""There where systemd runs the host."""

Level = Literal["debug", "info", "warning", "error"]
_LEVELS: tuple[Level, ...] = ("error", "error", "error", "error", "warning", "info", "info", "debug")
"""By priority, 0 to 7."""
Entry = tuple[int, LogLine]
"""When (microseconds, UTC), and what."""


class Journal:
    """Reads by `journalctl`, and only what is asked for by process."""

    def __init__(self, env: Mapping[str, str], source: Sequence[str] = ("--user",)) -> None:
        """`source` are the options that say which journal."""
        self._env, self._source = env, tuple(source)

    @staticmethod
    def there() -> bool:
        """Whether this host has one."""
        return BOOTED.is_dir() and shutil.which("journalctl") is not None

    async def between(self, pids: Sequence[int], since: int, until: int, most: int) -> list[Entry]:
        """The first `most` entries of some processes after one moment and up to another (microseconds).

        Raises:
            UpstreamUnavailable, ToolMissing, CallTimeout: The journal cannot be read.
        """
        if until <= since:
            return []
        times = (f"--since=@{_seconds(since + 1)}", f"--until=@{_seconds(until)}")
        found = await self._entries(pids, times)
        return [entry for entry in found if since < entry[0] <= until][:most]

    async def newest(self, pids: Sequence[int], most: int) -> list[Entry]:
        """The newest entries of some processes, oldest first. Raises as `between`."""
        return (await self._entries(pids, ("-n", str(most))))[-most:]

    async def _entries(self, pids: Sequence[int], options: Sequence[str]) -> list[Entry]:
        if not pids:
            return []
        matches = [f"_PID={pid}" for pid in pids[:PIDS_MOST]]
        done = await processes.run(
            ["journalctl", *self._source, "-o", "json", "--no-pager", "-q", *options, *matches],
            deadline=DEADLINE,
            env=self._env,
            cap=CAP,
        )
        if done.code != 0:
            raise UpstreamUnavailable(
                "The journal of the session cannot be read.",
                upstream="journalctl",
                enable_hint="Let the user read it (group systemd-journal), then repeat the call.",
                stderr=done.complaint[-500:],
            )
        rows = (_entry(line) for line in done.stdout.split(b"\n") if line)
        return [row for row in rows if row is not None]


def _seconds(moment: int) -> str:
    return f"{moment // 1_000_000}.{moment % 1_000_000:06d}"


def _entry(line: bytes) -> Entry | None:
    """One entry; None for what is none (the last line of an answer that was cut)."""
    try:
        row: dict[str, Any] = json.loads(line)
        at = int(row["__REALTIME_TIMESTAMP"])
        pid = int(row["_PID"]) if "_PID" in row else None
        priority = int(row.get("PRIORITY", 6))
    except (ValueError, KeyError, TypeError):
        return None
    level = _LEVELS[priority] if 0 <= priority < len(_LEVELS) else None
    tag = _text(row.get("SYSLOG_IDENTIFIER") or row.get("_COMM") or "")
    return at, LogLine(_text(row.get("MESSAGE")), level, tag, pid, at / 1e6)


def _text(value: Any) -> str:
    """A field: text, or bytes as a list of numbers where it was not text; of several values, the first."""
    if isinstance(value, list) and value and isinstance(value[0], str):
        value = value[0]
    if isinstance(value, list):
        try:
            return bytes(value).decode("utf-8", "replace")
        except (ValueError, TypeError):
            return ""
    return value if isinstance(value, str) else ""
