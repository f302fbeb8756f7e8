"""Where a soak happens: a home folder, the stand-in devices, and the processes started, all gone afterwards."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from anydevice.host import record, start

from . import jumps
from .device import device_id
from .faults import offsets
from .judge import Violation

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SOURCES = [str(ROOT / part) for part in ("core", "schemas", "backends", "plugins")]
READY = 20.0
"""Seconds the stand-in, or a daemon, may take to come up."""

CONFIG = """
[plugins]
disabled = ["android", "apple", "harmonyos", "mcp", "vega", "web"]

[host]
idle = 60

[soak]
socket = {socket}
devices = {devices}
"""


class Children:
    """Processes forked from this one, each in a group of its own and with a clock of its own.

    Args:
        folder: Where the file with their clocks goes.
        slots: How many clocks there are.

    Attributes:
        running: What each process is, by its id.
        clocks: The file; see `jumps`.
    """

    def __init__(self, folder: Path, slots: int) -> None:
        self.running: dict[int, str] = {}
        self.slots = slots
        self.clocks = folder / "jumps"
        jumps.prepare(str(self.clocks), slots)

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fork(self, what: str, slot: int, run: Callable[[], None]) -> int:
        """Runs a function in a process of its own; it knows its clock's slot."""
        pid = os.fork()
        if pid:
            self.running[pid] = what
            return pid
        self._child(slot, run)

    def _child(self, slot: int, run: Callable[[], None]) -> NoReturn:
        code = 1
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.setpgid(0, 0)
            os.environ |= {jumps.FILE: str(self.clocks), jumps.SLOT: str(slot)}
            jumps.install()
            run()
            code = 0
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(code)

    def broken(self) -> list[Violation]:
        """Takes leave of processes that have ended; those that ended badly are a fault of ours."""
        out = []
        for pid, what in list(self.running.items()):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                del self.running[pid]
                if status:
                    out.append(Violation("a process broke", "*", f"{what} ended with status {status}"))
        return out

    def jump(self, seed: int) -> None:
        """Every clock is wrong in another way from now on."""
        jumps.jump(str(self.clocks), offsets(seed, self.slots))

    def kill(self, pid: int) -> None:
        """Kills one and waits for its end."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        self.running.pop(pid, None)

    def signal(self, number: signal.Signals) -> None:
        """Sends all of them a signal."""
        for pid in self.running:
            os.kill(pid, number)

    def close(self) -> None:
        """Ends all of them."""
        for pid in list(self.running):
            self.kill(pid)


@dataclass
class Ground:
    """One soak's place.

    Attributes:
        folder: Everything is below it; short, so that a socket's address fits.
        devices: How many stand-ins there are.
        children: Processes forked here.
    """

    folder: Path
    devices: int
    children: Children
    _stand_in: subprocess.Popen[bytes] | None = None

    @staticmethod
    @contextmanager
    def made(devices: int, clients: int, seed: str) -> Iterator[Ground]:
        """A place with running stand-ins and no daemon yet; whatever was started has ended afterwards."""
        with tempfile.TemporaryDirectory(prefix="ad-") as name:
            before = dict(os.environ)
            ground = Ground(Path(name), devices, Children(Path(name), clients + 2))
            try:
                ground._prepare(seed)
                yield ground
            finally:
                ground.close()
                os.environ.clear()
                os.environ.update(before)

    @property
    def home(self) -> Path:
        """The home folder of the daemons."""
        return self.folder / "home"

    @property
    def database(self) -> Path:
        """Where the daemon keeps leases and sessions."""
        return self.home / "data" / "state.db"

    @property
    def witnesses(self) -> Path:
        """Journals of the devices."""
        return self.folder / "devices"

    @property
    def journals(self) -> Path:
        """Journals of clients."""
        return self.folder / "clients"

    @property
    def ids(self) -> list[str]:
        """Ids of the devices."""
        return [device_id(number) for number in range(self.devices)]

    def _prepare(self, seed: str) -> None:
        for path in (self.home, self.witnesses, self.journals):
            path.mkdir(mode=0o700)
        plugins = self.folder / "plugins"
        shutil.copytree(HERE / "backend", plugins / "soak_backend", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(HERE / "jumps.py", plugins / "sitecustomize.py")
        info = plugins / "soak_backend-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: soak-backend\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[anydevice.backends]\nsoak = soak_backend:Backend\n")
        (info / "RECORD").write_text("soak_backend/__init__.py,,\nsoak_backend/backend.toml,,\n")
        address = str(self.folder / "dev.sock")
        (self.home / "config.toml").write_text(CONFIG.format(socket=json.dumps(address), devices=self.devices))
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ANYDEVICE_", "AGENT_DEVICE_"))}
        paths = os.pathsep.join(filter(None, [str(plugins), *SOURCES, os.environ.get("PYTHONPATH")]))
        os.environ.clear()
        os.environ.update(
            kept | {"ANYDEVICE_HOME": str(self.home), "PYTHONPATH": paths, jumps.FILE: str(self.children.clocks)}
        )
        script = [sys.executable, str(HERE / "device.py"), address, str(self.witnesses), str(self.devices), seed]
        self._stand_in = subprocess.Popen(
            script, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, env=kept
        )
        assert self._stand_in.stdout is not None
        if self._stand_in.stdout.readline() != b"ready\n":
            raise RuntimeError("the stand-in devices did not come up")

    def copy(self, keep: Path) -> None:
        """Copies what was written here to another folder, for a person to look at."""
        shutil.copytree(self.folder, keep, ignore=shutil.ignore_patterns("*.sock", "plugins"), dirs_exist_ok=True)

    # --- devices ---

    def spoil(self, number: int, kind: str, seconds: float) -> None:
        """Lets a device hang, be slow, or drop the next command's connection."""
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(READY)
            link.connect(str(self.folder / "dev.sock"))
            asked = {"device": device_id(number), "op": "spoil", "kind": kind, "seconds": seconds}
            link.sendall(json.dumps(asked).encode() + b"\n")
            link.recv(1024)

    # --- the daemon ---

    def daemon(self) -> int | None:
        """The process of the daemon that runs; None when none does."""
        found = record.read_record(str(self.home))
        return int(found["pid"]) if found is not None and record.lives(found) else None

    def serve(self) -> int:
        """Sees to it that a daemon runs; returns its process."""
        until = time.monotonic() + READY
        while time.monotonic() < until:
            start.start_daemon(str(self.home), until)
            if (found := self.daemon()) is not None:
                return found
            time.sleep(0.01)  # a thread of one that was just killed still had its socket open
        raise RuntimeError(f"no daemon came up; its log ends:\n{self.log()[-3000:]}")

    def signal_daemon(self, number: signal.Signals) -> int | None:
        """Sends the daemon a signal; returns its process, None when none runs."""
        found = self.daemon()
        if found is not None:
            with suppress(ProcessLookupError):
                os.kill(found, number)
        return found

    def log(self) -> str:
        """The daemon's log."""
        path = self.home / "run" / record.LOG
        return path.read_text("utf-8", "replace") if path.exists() else ""

    def close(self) -> None:
        """Ends everything that was started."""
        self.children.close()
        self.signal_daemon(signal.SIGCONT)
        if self.signal_daemon(signal.SIGTERM) is not None:
            until = time.monotonic() + READY
            while self.daemon() is not None and time.monotonic() < until:
                time.sleep(0.02)
            self.signal_daemon(signal.SIGKILL)
        if self._stand_in is not None:
            assert self._stand_in.stdin is not None and self._stand_in.stdout is not None
            self._stand_in.stdin.close()
            try:
                self._stand_in.wait(READY)
            except subprocess.TimeoutExpired:
                self._stand_in.kill()
                self._stand_in.wait()
            self._stand_in.stdout.close()


def attempts(seconds: float, action: Callable[[], Any]) -> Any:
    """Calls until it does not raise a typed error, for at most `seconds`; the daemon may be away just now."""
    from anydevice_schemas.errors import AnydeviceError

    until = time.monotonic() + seconds
    while True:
        try:
            return action()
        except AnydeviceError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
