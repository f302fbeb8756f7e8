"""A stand-in for the SDK: its folder, its `vega` program, and what that program is answered by.

The program is a small script that hands its words and its stdin, stdout and stderr to the lab, as the guest's programs
do. Its switches are files in the state folder, read by the script itself where the lab could not do it:

    delay   seconds each call takes (the real program takes 1.6 to 1.8)
    hang    parts of command lines; a call that has one never ends, and leaves python, node and vda children behind it
    leak    parts of command lines; a call that has one leaves such children, and ends
    noise   lines of a log come before what `virtual-device` answers
    stray   the virtual device is listed by its two adb names, as after `adb connect` to its own port
    lost    the program has lost track of the virtual device that runs
    offline `vda` finds the device offline
"""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import Process, TaskGroup, UNIXSocketStream

from anydevice.kit import processes

from ..guest import programs
from ..guest.files import Files, Layout
from ..handset.faults import FaultList
from ..handset.journal import Journal
from . import qemu

if TYPE_CHECKING:
    from .device import VegaDevice
    from .host import VegaHost

VERSION, CLI = "0.24.12112", "1.3.4"
IMAGE = "tv"
SWITCHES = ("delay", "hang", "leak", "noise", "stray", "lost", "offline", "boot")
VDA = """#!/bin/sh
if [ -e '{state}/offline' ]; then
    echo '* daemon not running; starting now at tcp:5037' >&2
    echo '* daemon started successfully' >&2
    echo 'vda: error: connect failed: device offline (transport offline)' >&2
    exit 1
fi
ANDROID_ADB_SERVER_PORT={port} exec '{adb}' "$@"
"""


class _HostFiles(Files):
    """Paths of the program are this host's."""

    def host(self, path: str) -> Path:
        """Where a path is on this host."""
        return Path(path)


class _Faults(FaultList):
    """The program's faults are switches."""

    async def strike_line(self, line: str) -> bytes | None:
        return None

    async def strike(self, call: Any) -> int | None:
        return None


class Sdk:
    """The SDK of one lab.

    Args:
        host: Where its devices are.
        home: The home folder it is installed in.

    Attributes:
        program: The `vega` program.
        machines: Processes of virtual devices, by serial.
        kept: Port, serial number and host name of the virtual device that was started last.
    """

    def __init__(self, host: VegaHost, home: Path) -> None:
        from .verbs import vega

        self.host, self.home = host, home
        self.state = home / "vega" / ".lab"
        self.program = home / "vega" / "bin" / "vega"
        self.images = home / "vega" / "sdk" / "vega-sdk" / "main" / VERSION / "vvd" / "images"
        self.qemu = self.images / IMAGE / "vmtools" / "agent" / "qemu" / "linux-x86_64" / "vega-virtual-device"
        nowhere = self.state / "none"
        self.files = _HostFiles(nowhere, nowhere / "bin", Layout((), {}, (), "/none/bin"))
        self.commands = {"vega": vega}
        self.journal, self.faults = Journal(), _Faults()
        self.running: dict[int, Any] = {}
        self.processes: set[Process] = set()
        self.shell, self.direct = "/bin/sh", True
        self.environment: dict[str, str] = {}
        self.machines: dict[str, processes.Child] = {}
        self.kept: tuple[int, str, str] | None = None

    async def open(self, tasks: TaskGroup) -> None:
        """Installs it, and begins to answer."""
        self.state.mkdir(parents=True)
        self.program.parent.mkdir()
        qemu.write(self.qemu)
        script = self.state / "tool.py"
        script.write_text(files(__package__).joinpath("tool.txt").read_text())
        interpreter = getattr(sys, "_base_executable", None) or sys.executable
        start = f"#!/bin/sh\nexec '{interpreter}' -ISE '{script}' '{self.state}' \"$@\"\n"
        vda = VDA.format(state=self.state, port=self.host.server.port, adb=self.host.server.program)
        for name, text in (("vega", start), ("kepler", start), ("vda", vda)):
            place = self.program.with_name(name)
            place.write_text(text)
            place.chmod(0o755)
        (self.home / "vega" / "env").write_text(f'export PATH="{self.program.parent}:$PATH"\n')
        listener = await anyio.create_unix_listener(self.state / "vega.sock")

        async def called(stream: Any) -> None:
            assert isinstance(stream, UNIXSocketStream)
            await programs.answer(self, stream)

        tasks.start_soon(listener.serve, called)

    def switch(self, **what: Any) -> None:
        """Sets switches; None or False takes one away, a list is several lines.

        Raises:
            ValueError: There is no such switch.
        """
        for name, value in what.items():
            if name not in SWITCHES:
                raise ValueError(f"there is no switch {name}; there are {', '.join(SWITCHES)}")
            place = self.state / name
            if value is None or value is False:
                place.unlink(missing_ok=True)
            else:
                place.write_text("\n".join(value) if isinstance(value, list) else str(value))

    def told(self, name: str) -> str | None:
        """What a switch is set to; None where it is not."""
        place = self.state / name
        return place.read_text() if place.exists() else None

    def same(self, device: VegaDevice) -> None:
        """A virtual device is the one that was there before, where that is away: its image is the same."""
        if self.kept is None or self.machines:
            return
        device.port, device.dsn, device.machine.hostname = self.kept
        device.machine.log.host = device.machine.hostname

    async def power(self, device: VegaDevice) -> None:
        """The process of a virtual device comes up."""
        self.kept = (device.port, device.dsn, device.machine.hostname)
        ports = (device.port - 1, device.port)
        self.machines[device.serial] = await qemu.start(self.qemu, ports, self.home)

    async def watch(self, device: VegaDevice) -> None:
        """Returns once the process of a virtual device has ended."""
        await self.machines[device.serial].wait()

    async def unplug(self, serial: str) -> None:
        """The process of a virtual device ends."""
        child = self.machines.pop(serial, None)
        if child is not None:
            await processes.stop(child, grace=1)
