"""A home folder with real daemons and real command lines, and nothing left of them afterwards."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import anydevice
from anydevice.host import protocol, record

from .distributions import install_fake_backend
from .vendor import install_vendor

PATIENCE = 30.0
ROOT = Path(__file__).resolve().parents[2]
SOURCES = [str(ROOT / part) for part in ("core", "schemas", "backends", "plugins")]
OURS = sorted(
    point.name
    for point in distribution("anydevice").entry_points
    if point.group in ("anydevice.backends", "anydevice.plugins")
)


def only(*kept: str, more: str = "") -> str:
    """Configuration of a home in which of our own plugins there are only these; `more` are lines of the same table.

    What a new backend brings is switched off everywhere by that: it would look for devices of the machine.
    """
    assert set(kept) <= set(OURS), f"there is no plugin {sorted(set(kept) - set(OURS))}"
    disabled = [name for name in OURS if name not in kept]
    return f"[plugins]\ndisabled = {json.dumps(disabled)}\n{more}\n"


ALONE = only()
"""Configuration of a home without our own plugins."""
CLI = [sys.executable, "-m", "anydevice_cli.entry"]


def eventually(check: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """Waits until `check` says something true, and returns it."""
    until = time.monotonic() + seconds
    while True:
        found = check()
        if found:
            return found
        assert time.monotonic() < until, f"not within {seconds:g} s: {what}"
        time.sleep(0.01)


@dataclass
class Home:
    """A home folder of anydevice, with the environment of programs that use it."""

    path: Path
    plugins: Path
    extra: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[Any]] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        """What programs started here see; nothing of the outer anydevice."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ANYDEVICE_", "AGENT_DEVICE_"))}
        for name in ("NO_COLOR", "COLUMNS", "LINES"):  # of the terminal the tests are run in
            kept.pop(name, None)
        paths = os.pathsep.join(filter(None, [str(self.plugins), *SOURCES, os.environ.get("PYTHONPATH")]))
        return kept | {"ANYDEVICE_HOME": str(self.path), "PYTHONPATH": paths} | self.extra

    @staticmethod
    @contextmanager
    def made(config: str = ALONE) -> Iterator[Home]:
        """A home with the tests' plugin and a fake backend; everything that was started ends with it.

        The folder's name is short, so that a socket's address fits; long ones have tests of their own.
        """
        with tempfile.TemporaryDirectory(prefix="ad-") as folder:
            plugins = Path(folder) / "plugins"
            install_vendor(plugins)
            install_fake_backend(plugins)
            home = Home(Path(folder) / "home", plugins)
            home.path.mkdir()
            (home.path / "config.toml").write_text(config)
            try:
                yield home
            finally:
                home.close()

    # --- command lines ---

    def spawn(self, *argv: str, **options: Any) -> subprocess.Popen[bytes]:
        """Starts the command line; ended at the end of the test if it still runs."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        process = subprocess.Popen([*CLI, *argv], env=self.environ, **options)
        self.started.append(process)
        return process

    def cli(self, *argv: str, cwd: Path | None = None, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """Runs the command line to its end."""
        given: dict[str, Any] = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
        return subprocess.run(
            [*CLI, *argv], env=self.environ, cwd=cwd, capture_output=True, text=True, timeout=2 * PATIENCE, check=False,
            **given,
        )  # fmt: skip

    def json(self, *argv: str, code: int = 0, **options: Any) -> dict[str, Any]:
        """Runs the command line with `--json`; exactly one object comes out, and the exit code is as expected."""
        done = self.cli("--json", *argv, **options)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        lines = done.stdout.splitlines()
        assert len(lines) == 1, done.stdout
        found: dict[str, Any] = json.loads(lines[0])
        return found

    # --- the daemon ---

    @property
    def record(self) -> dict[str, Any] | None:
        """What the daemon says of itself."""
        return record.read_record(str(self.path))

    @property
    def pid(self) -> int:
        """The daemon's process."""
        found = self.record
        assert found is not None, "no daemon has written its record"
        return int(found["pid"])

    def running(self) -> bool:
        """Whether the daemon of the record runs."""
        found = self.record
        return found is not None and record.lives(found)

    def serve(self, *argv: str) -> int:
        """Starts a daemon, detached, as people do; returns its process id."""
        self.json("serve", *argv)
        return self.pid

    def log(self) -> str:
        """The daemon's log so far."""
        path = self.path / "run" / record.LOG
        return path.read_text("utf-8") if path.exists() else ""

    def connect(self) -> Wire:
        """A bare connection to the daemon's socket."""
        found = self.record
        assert found is not None
        return Wire(record.connect(found["socket"], timeout=PATIENCE))

    def hello(self, what: str = "call", transport: str = "python", **changes: Any) -> Wire:
        """A connection on which the hello was accepted."""
        wire = self.connect()
        wire.send(greeting(what, transport, **changes))
        reply = wire.receive()
        assert reply["ok"], reply
        return wire

    def close(self) -> None:
        """Ends everything that was started."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        found = self.record
        if found is not None and record.lives(found):
            os.kill(found["pid"], signal.SIGTERM)
            eventually(lambda: not record.lives(found), "the daemon ends")
        eventually(self._swept, "nothing of it is left")

    def _swept(self) -> bool:
        """Ends what has no record: a daemon that a program was about to start when it was ended. True once none is."""
        mine = f"ANYDEVICE_HOME={self.path}".encode()
        left = False
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if mine in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGTERM)
                    left = True
            except OSError:
                continue
        return not left


def greeting(what: str = "call", transport: str = "python", **changes: Any) -> dict[str, Any]:
    """A hello as a client of this version says it."""
    said = json.loads(protocol.hello(what, transport, environ={}, cwd="/"))  # type: ignore[arg-type]
    return said | changes


VERSION = anydevice.__version__


class Wire:
    """A client that knows nothing but lines of JSON."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.buffer = b""

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        """Sends one message, or bytes as they are."""
        self.socket.sendall(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")

    def receive(self, seconds: float = PATIENCE) -> dict[str, Any]:
        """The next message.

        Raises:
            EOFError: The daemon ended the connection.
        """
        self.socket.settimeout(seconds)
        while b"\n" not in self.buffer:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Sends a request and returns what comes with its id, progress left out."""
        self.send(message)
        while True:
            reply = self.receive()
            if reply.get("id") == message.get("id") and "progress" not in reply:
                return reply

    def close(self) -> None:
        """Goes away."""
        self.socket.close()
