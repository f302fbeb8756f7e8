"""What the guest says of itself: uname, id, vdcm, vsm, and the compositor's screenshot programs."""

from __future__ import annotations

import anyio
import anyio.to_thread

from ...handset.picture import png
from ..programs import Invocation, Program
from ..recorder import drawing

CONF = "com.amazon.devconf/"
KERNEL = "6.1.90"


async def uname(call: Invocation) -> int:
    """System, host name, release, machine."""
    device = call.device
    parts = {
        "s": "Linux", "n": device.machine.hostname, "r": KERNEL, "v": "#1 SMP PREEMPT", "m": device.kind.architecture,
    }  # fmt: skip
    asked = "".join(word[1:] for word in call.args if word.startswith("-")) or "s"
    names = "snrvm" if "a" in asked else [name for name in "snrvm" if name in asked]
    await call.out(" ".join(parts[name] for name in names) + "\n")
    return 0


async def hostname(call: Invocation) -> int:
    """The host name."""
    await call.out(call.device.machine.hostname + "\n")
    return 0


async def who(call: Invocation) -> int:
    """`id` and `whoami`: a user of no rights."""
    if call.name == "whoami":
        await call.out("app_user\n")
    elif "-u" in call.args:
        await call.out("5000\n")
    else:
        await call.out("uid=5000(app_user) gid=5000(app_user) groups=5000(app_user)\n")
    return 0


async def vdcm(call: Invocation) -> int:
    """Values of the device's configuration."""
    settings = call.device.machine.settings
    verb, name = (call.args[0], call.args[1].removeprefix(CONF)) if len(call.args) > 1 else ("", "")
    if verb == "get" and call.args[1].startswith(CONF):
        if name not in settings:
            await call.err(f"Error: no value for {call.args[1]}\n")
            return 1
        await call.out(f"{settings[name]}\n")
        return 0
    if verb == "set" and len(call.args) > 2 and call.args[1].startswith(CONF):
        call.device.journal.add("setting", name=name, value=call.args[2])
        if call.device.faults.active("settings_ignored", name) is None:
            settings[name] = call.args[2]
        return 0
    await call.err("Usage: vdcm get KEY | set KEY VALUE\n")
    return 1


async def vsm(call: Invocation) -> int:
    """Developer mode: on, off, or which."""
    if call.args[:1] != ["developer-mode"] or len(call.args) < 2 or call.args[1] not in ("enable", "disable", "status"):
        await call.err("Usage: vsm developer-mode enable|disable|status\n")
        return 1
    if call.args[1] != "status":
        call.device.machine.developer = call.args[1] == "enable"
    await call.out(f"developer mode: {'enabled' if call.device.machine.developer else 'disabled'}\n")
    return 0


async def screenshot(call: Invocation) -> int:
    """The compositor's picture of the display; on a virtual device it leaves an empty file and never ends."""
    device = call.device
    target = next((word for word in call.args if not word.startswith("-")), "/tmp/screenshot.png")
    path = call.path(target)
    try:
        path.write_bytes(b"")
    except OSError as error:
        await call.err(f"{call.name}: {target}: {error.strerror}\n")
        return 1
    if not device.kind.screenshooter or device.faults.active("screenshot_hang") is not None:
        await anyio.sleep_forever()
    if device.faults.active("screenshot_empty") is None:
        path.write_bytes(await anyio.to_thread.run_sync(png, drawing(device.machine)))
    return 0


async def refused(call: Invocation) -> int:
    """A program that a user without rights may not use."""
    await call.err(f"{call.name}: Permission denied\n")
    return 126


async def reboot(call: Invocation) -> int:
    """Goes away and comes back."""
    await call.device.reboot()
    return 0


PROGRAMS: dict[str, Program] = {
    "uname": uname, "hostname": hostname, "id": who, "whoami": who, "vdcm": vdcm, "vsm": vsm, "reboot": reboot,
    "gwsi-tool-screenshooter": screenshot, "screenshooter": refused,
}  # fmt: skip
