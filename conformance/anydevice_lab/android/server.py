"""A private adb server: the real program, on a port of its own, with a key and a home of its own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from anydevice.kit import processes

from .kinds import CONSOLE_TOKEN

if TYPE_CHECKING:
    from .adb_device import AdbDevice

UP_WITHIN, CONNECTED_WITHIN = 15.0, 40.0
TRIES = 3


def find_adb(wanted: str | None = None) -> str:
    """The adb program: the one that is named, the one in the adbutils distribution, or the one on PATH.

    Raises:
        ToolMissing: There is none.
    """
    if wanted is not None:
        return processes.find(wanted)
    spec = importlib.util.find_spec("adbutils")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        carried = Path(folder) / "binaries" / "adb"
        if carried.is_file():
            return str(carried)
    return processes.find("adb", install="pip install 'anydevice[android]'")


class AdbServer:
    """One server.

    Args:
        program: The adb program.
        home: Folder for its key and whatever else it writes.
    """

    def __init__(self, program: str, home: Path) -> None:
        self.program, self.home = program, home
        self.port = 0
        self._child: processes.Child | None = None

    @property
    def public_key(self) -> Path:
        """The public half of its key."""
        return self.home / "adbkey.pub"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the server and of clients that are to reach it."""
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith(("ADB_", "ANDROID_"))},
            "HOME": str(self.home),
            "ANDROID_USER_HOME": str(self.home / ".android"),
            "ADB_VENDOR_KEYS": str(self.home / "adbkey"),
            "ANDROID_ADB_SERVER_PORT": str(self.port),
            # It neither looks through the ports of emulators, nor at USB, nor at the network's announcements.
            "ADB_LOCAL_TRANSPORT_MAX_PORT": "5553",
            "ADB_USB": "0",
            "ADB_MDNS_AUTO_CONNECT": "0",
            "ADB_MDNS_OPENSCREEN": "0",
        }

    async def start(self) -> None:
        """Starts it, and returns once it answers.

        Raises:
            TimeoutError: It does not.
        """
        (self.home / ".android").mkdir(parents=True, exist_ok=True)
        self.port = _free_port()
        await processes.run([self.program, "keygen", str(self.home / "adbkey")], deadline=20, env=self.environment)
        shutil.copy(self.home / "adbkey", self.home / ".android" / "adbkey")
        shutil.copy(self.public_key, self.home / ".android" / "adbkey.pub")
        (self.home / ".emulator_console_auth_token").write_text(CONSOLE_TOKEN)
        for _ in range(TRIES):
            argv = [self.program, "-L", f"tcp:localhost:{self.port}", "server", "nodaemon"]
            self._child = await processes.start(argv, env=self.environment)
            until = time.monotonic() + UP_WITHIN
            while self._child.code is None and time.monotonic() < until:
                if await self._answers():
                    return
                await anyio.sleep(0.03)
            await processes.stop(self._child, grace=1)
            self.port = _free_port()  # somebody else took that one in the meantime
        raise TimeoutError(f"the adb server does not come up: {self._child.tail[-500:] if self._child else ''}")

    async def stop(self) -> None:
        """Ends it."""
        if self._child is not None:
            await processes.stop(self._child, grace=1)

    async def connect(self, device: AdbDevice) -> None:
        """Lets it connect to a device, and waits until it lists it in the state the device has.

        Raises:
            TimeoutError: It does not.
        """
        where = f"emulator:{device.port}" if device.kind.avd else f"connect:{device.address}"
        until = time.monotonic() + CONNECTED_WITHIN
        while time.monotonic() < until:
            async with anyio.create_task_group() as group:
                group.start_soon(self.ask, f"host:{where}")  # answers after 10 s where a device does not
                for _ in range(100):
                    if await self.state(device.serial) == device.kind.state:
                        group.cancel_scope.cancel()
                        return
                    await anyio.sleep(0.02)
                group.cancel_scope.cancel()
        raise TimeoutError(f"{device.serial} does not become {device.kind.state}")

    async def state(self, serial: str) -> str:
        """The state it lists a device in; empty where it lists none."""
        rows = [line.split("\t") for line in (await self.ask("host:devices")).splitlines()]
        return next((row[1] for row in rows if row[0] == serial and len(row) > 1), "")

    async def ask(self, service: str) -> str:
        """The text it answers to a service of its own; empty where it only fails."""
        try:
            with anyio.fail_after(10):
                async with await anyio.connect_tcp("127.0.0.1", self.port) as stream:
                    data = service.encode()
                    await stream.send(b"%04x" % len(data) + data)
                    answer = b""
                    try:
                        while True:
                            answer += await stream.receive()
                    except (anyio.EndOfStream, anyio.BrokenResourceError):
                        return answer[8:].decode("utf-8", "replace") if answer[:4] == b"OKAY" else ""
        except (OSError, TimeoutError):
            return ""

    async def _answers(self) -> bool:
        return bool(await self.ask("host:version"))


def _free_port() -> int:
    """A port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
