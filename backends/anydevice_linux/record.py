"""What runs for a virtual desktop, written down, so that it is ended also after this process died."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio

from anydevice.kit import pids

GRACE = 2.0
"""Seconds between TERM and KILL."""
STEP = 0.02
PREFIX = "anydevice-desktop-"
"""How the runtime folder of a desktop is called."""


@dataclass(slots=True, frozen=True)
class Record:
    """One desktop that runs.

    Attributes:
        id: Of the device.
        owner: Process id of who started it, and when that process started.
        runtime: Its runtime folder; every process on the desktop has it in its environment.
    """

    id: str
    owner: tuple[int, str]
    runtime: str

    @staticmethod
    def mine(id: str, runtime: str) -> Record:
        """A record of this process."""
        return Record(id, (os.getpid(), pids.started(os.getpid()) or ""), runtime)

    @property
    def orphaned(self) -> bool:
        """Whether who started it is gone."""
        pid, at = self.owner
        return pids.started(pid) != at

    def write(self, folder: Path) -> None:
        """Writes it down. Blocks for a moment."""
        folder.mkdir(parents=True, exist_ok=True)
        new = folder / f"{self.id}.new"
        new.write_text(json.dumps(asdict(self)))
        new.replace(folder / f"{self.id}.json")

    def forget(self, folder: Path) -> None:
        """Removes what `write` wrote, and the runtime folder. Blocks for a moment."""
        runtime = Path(self.runtime)
        if runtime.name.startswith(PREFIX):
            shutil.rmtree(runtime, ignore_errors=True)
        (folder / f"{self.id}.json").unlink(missing_ok=True)


def read_all(folder: Path) -> list[Record]:
    """Every record of a folder; what cannot be read is left out. Blocks for a moment."""
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            data = json.loads(path.read_text())
            pid, at = data["owner"]
            found.append(Record(str(data["id"]), (int(pid), str(at)), str(data["runtime"])))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def processes_of(runtime: str) -> dict[int, str]:
    """Every process on the desktop of a runtime folder, as `processes_with`."""
    return processes_with(f"XDG_RUNTIME_DIR={runtime}")


def processes_with(entry: str) -> dict[int, str]:
    """Every process with an entry (`NAME=value`) in its environment: pid and start time. Blocks for a moment.

    A process keeps the environment it was started with: also what lost its parent and left its group is found.
    """
    wanted = entry.encode()
    found = {}
    for folder in os.scandir("/proc"):
        if not folder.name.isdigit():
            continue
        pid = int(folder.name)
        try:
            at = pids.started(pid)
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it ended while we looked, or is somebody else's
        if at is not None and wanted in environment and pid != os.getpid():
            found[pid] = at
    return found


async def end_all(runtime: str, first: Callable[[], None] | None = None, *, grace: float = GRACE) -> bool:
    """Ends every process on the desktop of a runtime folder; returns whether none is left.

    Args:
        runtime: The folder.
        first: Called before the first signal.
        grace: Seconds between TERM and KILL.
    """
    if first is not None:
        first()
    return await end_with(f"XDG_RUNTIME_DIR={runtime}", grace=grace)


async def end_with(entry: str, *, grace: float = GRACE) -> bool:
    """Ends every process with an entry (`NAME=value`) in its environment; returns whether none is left.

    Args:
        entry: As `processes_with` takes it.
        grace: Seconds between TERM and KILL.
    """
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, grace)):
        left = await anyio.to_thread.run_sync(processes_with, entry)
        if not left:
            return True
        for pid, at in left.items():
            _send(pid, at, signal.SIGCONT)
            _send(pid, at, number)
        end = anyio.current_time() + patience
        while left and anyio.current_time() < end:
            await anyio.sleep(STEP)
            left = {pid: at for pid, at in left.items() if pids.started(pid) == at}
    return not await anyio.to_thread.run_sync(processes_with, entry)


def _send(pid: int, at: str, number: signal.Signals) -> None:
    if pids.started(pid) == at:
        with suppress(ProcessLookupError):  # it ended just now
            os.kill(pid, number)
