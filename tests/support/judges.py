"""Programs by others that judge our server, fetched from their registries on first use; never part of the repository.

They lie in `out/judges` (or where ANYDEVICE_JUDGES says). Without npm, or without a network, what needs them is
skipped and says so; in CI, where npm is, a fetch that fails is a failure.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .daemons import ROOT, Home, only
from .distributions import install

PACKAGES = {
    "conformance-2025": "npm:@modelcontextprotocol/conformance@0.1.16",
    "conformance-2026": "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector": "2.12.0",
}
"""The judges, each in one version: a verdict is of a version. 0.1.16 is what npm calls latest in December 2026."""

NODE = "24.21.0"
NODE_LEAST = (22, 19)
"""What the judges need. An older node of the system is passed over for one from npm."""

FETCH_SECONDS = 240.0
CONFIG = only("mcp")


def folder() -> Path:
    """Where the judges are."""
    return Path(os.environ.get("ANYDEVICE_JUDGES") or ROOT / "out" / "judges")


@dataclass(frozen=True)
class Judges:
    """The judges, ready to run."""

    node: str
    modules: Path

    def conformance(self, which: str) -> list[str]:
        """The official suite, `2025` or `2026`."""
        return [self.node, str(self.modules / f"conformance-{which}" / "dist" / "index.js")]

    @property
    def inspector(self) -> list[str]:
        """The Inspector's command line, which is a client of the TypeScript SDK."""
        launcher = self.modules / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
        return [self.node, str(launcher), "--cli"]


def judges() -> Judges:
    """The judges, fetched if they are not there yet; the test is skipped where they cannot be had."""
    where = folder()
    npm, node = shutil.which("npm"), _node()
    wanted = dict(PACKAGES)
    if node is None:
        wanted[_node_package()] = NODE
    modules = where / "node_modules"
    if not all((modules / name / "package.json").exists() for name in wanted):
        if npm is None:
            pytest.skip("there is no npm to fetch the judges with")
        _fetch(npm, where, wanted)
    return Judges(node or str(modules / _node_package() / "bin" / "node"), modules)


def _fetch(npm: str, where: Path, wanted: dict[str, str]) -> None:
    where.mkdir(parents=True, exist_ok=True)
    (where / "package.json").write_text('{"private": true}\n')
    argv = [npm, "install", "--no-fund", "--no-audit", "--no-save", "--ignore-scripts", "--loglevel", "error"]
    argv += [f"{name}@{version}" for name, version in wanted.items()]
    try:
        done = subprocess.run(argv, cwd=where, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False)
        why = done.stderr[-500:] if done.returncode else ""
    except subprocess.TimeoutExpired:
        why = f"not within {FETCH_SECONDS:g} s"
    if why and os.environ.get("CI"):
        pytest.fail(f"the judges could not be fetched: {why}")
    if why:
        pytest.skip(f"the judges could not be fetched: {why}")


def _node() -> str | None:
    """The system's node, if it is new enough."""
    found = shutil.which("node")
    if found is None:
        return None
    said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    version = tuple(int(part) for part in re.findall(r"\d+", said)[:2])
    return found if version >= NODE_LEAST else None


def _node_package() -> str:
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"node-{platform.system().lower()}-{machine}"


@contextlib.contextmanager
def official_home() -> Iterator[tuple[Home, str, str]]:
    """A home whose daemon serves HTTP and has the official suite's fixtures as a plugin; the address, and a token."""
    with Home.made(CONFIG) as home:
        source = ROOT / "tests" / "mcp" / "official"
        install(
            home.plugins,
            "official-fixtures",
            modules={f"official_fixtures/{path.name}": path.read_text("utf-8") for path in source.glob("*.py")},
            entry_points={"anydevice.plugins": {"official-fixtures": "official_fixtures"}},
        )
        added = home.cli("token", "add", "judge", "--json")
        assert added.returncode == 0, added.stderr
        token = json.loads(added.stdout)["data"]["token"]
        url = home.json("serve", "--http", "0")["data"]["http"]
        yield home, url, token


@contextlib.contextmanager
def let_in(url: str, token: str) -> Iterator[str]:
    """Another address of a server, at which requests get a token on their way: the official suite cannot send one.

    Nothing else is touched: what the server and the suite say to each other passes as it is.
    """
    host, _, port = url.removeprefix("http://").partition("/")[0].rpartition(":")
    listener = socket.create_server(("127.0.0.1", 0))
    own = listener.getsockname()[1]
    stop = threading.Event()
    carriers: list[threading.Thread] = []

    def accept() -> None:
        while not stop.is_set():
            try:
                client, _ = listener.accept()
            except OSError:
                return
            carrier = threading.Thread(target=_carry, args=(client, (host, int(port)), token), daemon=True)
            carrier.start()
            carriers.append(carrier)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{own}/{url.partition('://')[2].partition('/')[2]}"
    finally:
        stop.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


def _carry(client: socket.socket, server: tuple[str, int], token: str) -> None:
    """One connection, which is told to hold one request: only its head is read."""
    with client, socket.create_connection(server) as upstream:
        head = b""
        while b"\r\n\r\n" not in head:
            data = client.recv(65536)
            if not data:
                return
            head += data
        lines, _, body = head.partition(b"\r\n\r\n")
        first, *rest = lines.split(b"\r\n")
        kept = [line for line in rest if not line.lower().startswith((b"connection:", b"authorization:"))]
        kept += [b"Authorization: Bearer " + token.encode(), b"Connection: close"]
        upstream.sendall(b"\r\n".join([first, *kept]) + b"\r\n\r\n" + body)
        back = threading.Thread(target=_pump, args=(upstream, client), daemon=True)
        back.start()
        _pump(client, upstream)
        back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end, how in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
        with contextlib.suppress(OSError):
            end.shutdown(how)
