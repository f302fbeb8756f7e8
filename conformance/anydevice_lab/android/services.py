"""Which service a stream is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import ports, shell, sync
from .transport import Stream

if TYPE_CHECKING:
    from .adb_device import AdbDevice

TOLD = {
    b"root": "adbd cannot run as root in production builds\n",
    b"unroot": "adbd not running as root\n",
    b"tcpip": "restarting in TCP mode port: {}\n",
    b"usb": "restarting in USB mode\n",
    b"remount": 'Not running as root. Try "adb root" first.\n',
    b"disable-verity": "Device is locked. Please unlock the device first\n",
}
"""Services that only say something."""


async def serve(device: AdbDevice, stream: Stream, destination: bytes) -> None:
    """Serves a stream; what there is not (jdwp, framebuffer, sideload, ...) is refused."""
    name = destination.partition(b":")[0].partition(b",")[0]
    if name in (b"shell", b"exec"):
        await shell.serve(device, stream, destination)
    elif name in (b"abb", b"abb_exec") and name.decode() in device.features:
        await shell.abb(device, stream, destination)
    elif name == b"sync":
        await sync.serve(device, stream, destination)
    elif name in (b"tcp", b"localabstract"):
        await ports.serve(device, stream, destination)
    elif name == b"reverse":
        await ports.serve_reverse(device, stream, destination)
    elif name == b"reboot":
        device.journal.add("reboot", into=destination.partition(b":")[2].decode("ascii", "replace"))
        await stream.accept()
        await device.reboot()
    elif name in TOLD:
        device.journal.add("service", name=destination.decode("utf-8", "replace"))
        await stream.accept()
        await stream.send(TOLD[name].format(destination.partition(b":")[2].decode("ascii", "replace")).encode())
    else:
        device.journal.add("refused", name=destination.decode("utf-8", "replace"))
