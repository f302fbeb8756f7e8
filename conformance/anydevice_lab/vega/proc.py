"""`/proc` of a guest: its own processes, and what is the same as on this host."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .machine import VegaMachine

SHARED = ("meminfo", "stat", "loadavg", "uptime", "cpuinfo", "version", "self", "net", "mounts", "vmstat")
"""What leads to this host's."""
TICKS = 100
"""Clock ticks in a second."""
PAGES = 25_600
"""Memory of an app, in pages of 4 KiB."""


class Proc:
    """Keeps the folder of a guest's `/proc` as it should be.

    Args:
        folder: Which that is.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for name in SHARED:
            if Path("/proc", name).exists():
                (folder / name).symlink_to(f"/proc/{name}")

    def renew(self, machine: VegaMachine) -> None:
        """Writes what is told of each app that runs now, and takes away what has ended."""
        running = {str(app.pid): app for app in machine.apps.values() if app.running and app.pid}
        for entry in os.scandir(self._folder):
            if entry.name.isdigit() and entry.name not in running:
                shutil.rmtree(entry.path, ignore_errors=True)
        up = time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
        for pid, app in running.items():
            place = self._folder / pid
            place.mkdir(exist_ok=True)
            age = time.monotonic() - app.started
            began, spent = int((up - age) * TICKS), int(age * TICKS * 0.1)
            rest = " ".join(["0"] * 28)
            (place / "stat").write_text(
                f"{pid} ({app.part[:15]}) S 1 {pid} {pid} 0 -1 4194560 0 0 0 0 {spent} {spent // 4} 0 0 20 0 12 0 "
                f"{began} {PAGES * 3 * 4096} {PAGES} {rest}\n"
            )
            (place / "statm").write_text(f"{PAGES * 3} {PAGES} 4000 1 0 9000 0\n")
            (place / "status").write_text(
                f"Name:\t{app.part[:15]}\nState:\tS (sleeping)\nPid:\t{pid}\nPPid:\t1\nUid:\t5000\t5000\t5000\t5000\n"
                f"VmPeak:\t{PAGES * 16} kB\nVmSize:\t{PAGES * 12} kB\nVmHWM:\t{PAGES * 4 + 512} kB\n"
                f"VmRSS:\t{PAGES * 4} kB\nThreads:\t12\n"
            )
            (place / "cmdline").write_bytes(b"/usr/bin/native-app\0--component\0" + app.component.encode() + b"\0")
            (place / "comm").write_text(f"{app.part[:15]}\n")
