"""The adb transport: the adb server's protocol on the event loop, fast, bounded and cancellable. No backend.

    server = AdbServer.of(env.variables)             where the caller's adb server is
    rows = await server.devices()                    what it lists, each row with its state and why
    device = AdbDevice(server, "emulator-5554")
    done = await device.shell("getprop", deadline=5) status, stdout and stderr apart (shell_v2)
    async with device.stream("logcat") as lines      a command that goes on until it is left
    async with device.open("tcp:9008") as pipe       a socket on the device, without a forward
    await device.push(path, "/sdcard/x")             the sync protocol; also pull, stat, list
    await device.forward("tcp:0", "tcp:9008")        ports; also reverse

Every call has a deadline for the whole of it. A call that is cancelled shuts its connection down, which ends the
command on the device (shell_v2). Nothing here blocks the loop or sleeps.

`adbutils` brings the adb program; its own connections sleep 10 ms a call and open a second one, block a thread, and
leave the device's process running when they are abandoned. `anydevice_adb.compat.FastClient` is for code that wants
its interface all the same.
"""

from __future__ import annotations

from .device import AdbDevice
from .listing import Row, parse_rows
from .quoting import line, quote
from .server import AdbServer
from .shell import ShellDone, ShellStream
from .sync import Entry
from .wire import Connection, Failure

__all__ = [
    "AdbDevice",
    "AdbServer",
    "Connection",
    "Entry",
    "Failure",
    "Row",
    "ShellDone",
    "ShellStream",
    "line",
    "parse_rows",
    "quote",
]
