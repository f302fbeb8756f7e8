"""One emulator: started in a process group of its own on a port of ours, and ended through its console."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

import anyio
import anyio.to_thread

from anydevice.kit import processes
from anydevice_adb import AdbDevice, AdbServer
from anydevice_schemas.errors import (
    ActionUnverified,
    AnydeviceError,
    CallTimeout,
    DeviceNotReady,
    HostAtCapacity,
    ToolMissing,
    UpstreamUnavailable,
)

from .avds import Avd, environment, program
from .console import avd_name, kill
from .reading.props import Identity, identity, parse_props

PORTS: Final = (5554, 5682)
"""First and last console port an emulator may have; its adb port is the next."""
STEP: Final = 0.2
GRACE: Final = 8.0
"""Seconds an emulator may take to save its state when it is ended by signal."""
_UNKNOWN = re.compile(r"Unknown AVD name|Cannot find AVD", re.I)
_RUNS = re.compile(r"multiple emulators with the same AVD|already running", re.I)
_KVM = re.compile(r"requires hardware acceleration|/dev/kvm|KVM is (?:not|required)|HVF error", re.I)


class Emulator:
    """A virtual device that this program starts.

    Attributes:
        avd: Which.
        serial: What the adb server calls it, while it runs.
        identity: What it said it is, once it is up.
    """

    def __init__(self, avd: Avd, server: AdbServer, variables: Mapping[str, str], ports: Sequence[int] = PORTS) -> None:
        self.avd = avd
        self._server, self._variables, self._ports = server, variables, ports
        self._child: processes.Child | None = None
        self._port = 0
        self._lock = anyio.Lock()
        self.serial = ""
        self.identity: Identity | None = None

    @property
    def server(self) -> AdbServer:
        """The adb server it is attached to."""
        return self._server

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._child is not None and self._child.code is None

    @property
    def up(self) -> bool:
        """Whether it can be driven."""
        return self.running and self.identity is not None

    async def boot(self, *, headless: bool | None, deadline: float) -> bool:
        """Starts it, and returns once Android is up and said to be the one; False where it was already.

        Raises:
            ToolMissing: There is no emulator program.
            DeviceNotReady: The virtual device runs already, started by somebody else.
            UpstreamUnavailable: The emulator does not start: it says why in details.
            HostAtCapacity: No port is free.
            ActionUnverified: Another virtual device came up.
            CallTimeout: It is not up in time; it goes on starting, and another call goes on waiting.
        """
        async with self._lock:
            if self.up:
                return False
            if not self.running:
                await self._begin(headless)
            try:
                with anyio.fail_after(deadline):
                    self.identity = await self._came_up()
            except TimeoutError:
                raise CallTimeout(
                    "Android is not up yet. The emulator goes on starting.",
                    after=deadline,
                    waiting_for="sys.boot_completed",
                    hint="Call boot again: it goes on waiting. To give up, call shutdown.",
                ) from None
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await self._drop()
                raise
            return True

    async def shutdown(self, *, deadline: float) -> bool:
        """Ends it, and returns once it is gone; False where it did not run."""
        async with self._lock:
            if not self.running:
                await self._drop()
                return False
            child = self._child
            assert child is not None
            with anyio.move_on_after(max(1.0, deadline - GRACE)):
                if await kill(self._server.host, self._port):
                    await child.wait()
            serial = self.serial
            await self._drop()
            await gone(self._server, serial, deadline=5.0)
            return True

    def hand_over(self) -> dict[str, Any] | None:
        """What the program that replaces this one needs to go on with it, as JSON; None when it does not run."""
        if not self.running or self._child is None:
            return None
        return {
            "avd": asdict(self.avd),
            "server": [self._server.host, self._server.port],
            "variables": dict(self._variables),
            "port": self._port,
            "identity": asdict(self.identity) if self.identity is not None else None,
            "child": processes.hand_over(self._child),
        }

    def take_up(self, state: Mapping[str, Any]) -> None:
        """Goes on with what `hand_over` told.

        Raises:
            ChildProcessError: It is not there any more.
        """
        if self.running:  # it was not handed over after all
            processes.take_back(state["child"])
            return
        self._child = processes.adopt(state["child"])
        self._port = state["port"]
        self.serial = f"emulator-{self._port}"
        self.identity = Identity(**state["identity"]) if state["identity"] is not None else None

    async def aclose(self) -> None:
        """Ends it, if it runs."""
        with suppress(AnydeviceError):
            await self.shutdown(deadline=GRACE + 2.0)

    # --- inside ---

    async def _begin(self, headless: bool | None) -> None:
        await self._drop()
        path = await anyio.to_thread.run_sync(program, self._variables)
        if path is None:
            raise ToolMissing(
                "The program emulator is not installed.",
                tools=["emulator"],
                install="Install Android's emulator (sdkmanager emulator) and set ANDROID_HOME.",
            )
        self._port = await self._free()
        argv = [path, "-avd", self.avd.name, "-port", str(self._port), "-no-boot-anim"]
        if headless if headless is not None else _no_display():
            argv += ["-no-window", "-no-audio"]
        env = {**environment(self._variables), "ANDROID_ADB_SERVER_PORT": str(self._server.port)}
        self._child = await processes.start(argv, env=env, stdout=subprocess.STDOUT)
        self.serial = f"emulator-{self._port}"

    async def _drop(self) -> None:
        child, self._child = self._child, None
        self.identity, self.serial = None, ""
        if child is not None:
            await processes.stop(child, grace=GRACE)

    async def _free(self) -> int:
        """An even port that is free, with the next one, and that the adb server lists no emulator at."""
        listed = {row.serial for row in await self._server.devices()}
        first, last = self._ports
        for port in range(first + first % 2, last, 2):
            if f"emulator-{port}" not in listed and await anyio.to_thread.run_sync(_both_free, port):
                return port
        raise HostAtCapacity("No port for another emulator is free.", limit=f"emulator ports {first} to {last}")

    async def _came_up(self) -> Identity:
        device = AdbDevice(self._server, self.serial)
        while True:
            self._look_after()
            with suppress(AnydeviceError):
                done = await device.shell("getprop", deadline=5.0)
                found = identity(parse_props(done.text))
                if found.booted:
                    name = found.avd or await avd_name(self._server.host, self._port)
                    if name != self.avd.name:
                        break
                    return found
            await anyio.sleep(STEP)
        raise ActionUnverified(
            "Another virtual device came up on the port; it was ended.", expected=self.avd.name, actual=name
        )

    def _look_after(self) -> None:
        """Tells why it ended, if it did.

        Raises:
            DeviceNotReady, UpstreamUnavailable: It did.
        """
        child = self._child
        if child is None or child.code is None:
            return
        said = child.tail[-2000:]
        if _RUNS.search(said):
            raise DeviceNotReady(
                "This virtual device runs already: somebody else started it.",
                state="conflict",
                fix="Call devices and use the one that runs, or end it there.",
                hint="Call devices and use the one that runs, or end it there.",
                said=said,
            )
        hint = "Run the emulator by hand and read what it says: emulator -avd " + self.avd.name
        if _UNKNOWN.search(said):
            hint = "Call devices: this virtual device is not there any more."
        elif _KVM.search(said):
            hint = "Let this user use hardware virtualisation (Linux: /dev/kvm, group kvm), then repeat the call."
        raise UpstreamUnavailable(
            "The emulator ended before Android was up.",
            upstream="emulator",
            enable_hint=hint,
            exit=child.code,
            said=said,
        )


async def gone(server: AdbServer, serial: str, *, deadline: float) -> bool:
    """Waits until the server lists a device no more; whether it does not."""
    with anyio.move_on_after(deadline):
        while True:
            with suppress(AnydeviceError):
                if all(row.serial != serial for row in await server.devices()):
                    return True
            await anyio.sleep(STEP)
    return False


def _both_free(port: int) -> bool:
    for one in (port, port + 1):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", one))
            except OSError:
                return False
    return True


def _no_display() -> bool:
    return sys.platform != "darwin" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
