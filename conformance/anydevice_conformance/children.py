"""The processes this process started and that still run: what a driver or a device leaves behind shows here."""

from __future__ import annotations

import os
from pathlib import Path

import anyio

PROC = Path("/proc")


def children() -> dict[int, str] | None:
    """Name of every process this one started, by pid; None where the host does not tell. Ended ones do not count."""
    if not (PROC / "self" / "stat").exists():
        return None
    mine = str(os.getpid())
    found: dict[int, str] = {}
    for folder in PROC.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            name, _, rest = (folder / "stat").read_text("utf-8", "replace").rpartition(")")
        except OSError:
            continue  # it ended while we looked
        state, parent = rest.split()[:2]
        if parent == mine and state not in ("Z", "X"):
            found[int(folder.name)] = name.partition("(")[2]
    return found


async def left_over(before: dict[int, str] | None, *, within: float = 3.0) -> dict[int, str]:
    """Processes that run now and did not run `before`, after giving them `within` seconds to end."""
    until = anyio.current_time() + within
    while True:
        now = children()
        more = {pid: name for pid, name in (now or {}).items() if before is not None and pid not in before}
        if not more or anyio.current_time() >= until:
            return more
        await anyio.sleep(0.05)
