"""Folders of running browsers: one for each boot, deleted after it, and swept when its owner died first.

run_dir/boot-XXXX/owner.json    process id and start time of the program that booted the browser
                 /profile       the fresh profile, where no named one is used
                 /downloads     where downloads go
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
from pathlib import Path

import anyio
import anyio.to_thread
import structlog

from anydevice.kit.pids import started_at

from .profiles import lock_owner

log = structlog.get_logger("anydevice.web.folders")

PREFIX = "boot-"
OWNER = "owner.json"


async def make_folder(run_dir: str) -> Path:
    """A new folder for one boot, marked with its owner (this process)."""
    stamp = await started_at(os.getpid())

    def make() -> Path:
        Path(run_dir).mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=run_dir))
        (folder / OWNER).write_text(json.dumps({"pid": os.getpid(), "started": stamp}), encoding="utf-8")
        for part in ("profile", "downloads"):
            (folder / part).mkdir(mode=0o700)
        return folder

    return await anyio.to_thread.run_sync(make)


async def remove_folder(folder: Path) -> None:
    """Deletes a boot's folder; a browser's last writes may race with it, so it is tried more than once."""
    for _ in range(5):
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))
        if not await anyio.Path(folder).exists():
            return
        await anyio.sleep(0.1)
    log.warning("boot_folder_stays", folder=folder.name)


async def sweep(run_dir: str) -> list[str]:
    """Deletes the folders of boots whose owner is dead, ending a browser that outlived it. Returns their names.

    A browser we launched ends when its owner's pipe closes; one that is still there after that is ended by its
    process id, and only if its own command line names that very folder.
    """
    root = anyio.Path(run_dir)
    if not await root.is_dir():
        return []
    swept = []
    async for entry in root.glob(PREFIX + "*"):
        folder = Path(entry)
        if await _owned(folder):
            continue
        owner = await anyio.to_thread.run_sync(lock_owner, folder / "profile")
        if owner is not None and owner.here and not await _end_orphan(owner.pid, folder):
            continue
        await remove_folder(folder)
        swept.append(folder.name)
    return swept


async def _owned(folder: Path) -> bool:
    try:
        owner = json.loads(await anyio.Path(folder / OWNER).read_text(encoding="utf-8"))
        pid, stamp = int(owner["pid"]), owner["started"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    now = await started_at(pid)
    return now is not None and now == stamp


async def _end_orphan(pid: int, folder: Path) -> bool:
    """Ends a browser whose owner is gone. False when it cannot be told to be ours; it is then left alone."""
    try:
        line = await anyio.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    if os.fsencode(folder) not in line:
        return False
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return True
    with anyio.move_on_after(5):
        while await started_at(pid) is not None:  # noqa: ASYNC110 - it is not our child, nothing tells
            await anyio.sleep(0.02)
    return await started_at(pid) is None
