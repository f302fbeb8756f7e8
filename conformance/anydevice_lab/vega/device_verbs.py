"""`vega device ...`: which devices there are, and what is asked of one of them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ..guest.programs import Invocation
from . import device_data
from .apps import VegaApp, read_vpkg
from .words import option, said

if TYPE_CHECKING:
    from .device import VegaDevice
    from .sdk import Sdk
    from .verbs import Call

NAME = "VirtualDevice"
"""What a virtual device is called."""
NOBODY = {
    "idme": "", "hostname": "", "architecture": "", "profile": "", "product": "", "os": "unknown",
    "buildDescription": "", "simulated": False, "inDeveloperMode": False,
}  # fmt: skip
"""What is told of a device that is not exactly one."""


class NotOne(Exception):
    """The words do not lead to exactly one device; the text is what is said of it."""


async def rows(sdk: Sdk) -> list[tuple[str, str, VegaDevice]]:
    """Names, descriptions and devices, as they are listed."""
    found: list[tuple[str, str, VegaDevice]] = []
    stray = sdk.told("stray") is not None
    listed = await sdk.host.server.ask("host:devices")
    devices: list[VegaDevice] = list(sdk.host.devices.values())
    stray = stray or any(device.kind.simulated and f"{device.address}\t" in listed for device in devices)
    for device in devices:
        if f"{device.serial}\t" not in listed:
            continue
        kind, name = device.kind, device.machine.hostname
        if stray and kind.simulated:
            found += [(device.address, device.dsn, device), (device.serial, device.dsn, device)]
        elif stray:
            found.append((device.serial, device.dsn, device))
        else:
            first = NAME if kind.simulated else device.dsn
            found.append((first, f"tv - {kind.architecture} - OS - {name}", device))
    return found


async def _one(call: Call, words: list[str]) -> VegaDevice:
    """The device that is meant.

    Raises:
        NotOne: None, or several.
    """
    listed = await rows(call.device)
    wanted = option(words, "-d", "--device")
    if wanted is None:
        if not listed:
            raise NotOne("No device found")
        if len(listed) > 1:
            raise NotOne("Too many devices connected")
        return listed[0][2]
    for name, _, device in listed:
        if wanted in (name, device.serial) or (device.kind.simulated and wanted == NAME):
            return device
    raise NotOne(f"Device {wanted} not found")


async def run(call: Call, verb: str, words: list[str]) -> int:
    """One verb."""
    if verb == "list":
        return await _list(call)
    if verb not in VERBS and verb != "info":
        await call.err(f"Error: unknown command: {verb}\n")
        return 1
    try:
        device = await _one(call, words)
    except NotOne as problem:
        if verb == "info":
            await call.out(json.dumps(NOBODY) + "\n")
            return 0
        await call.err(f"Error: {problem}\n")
        return 1
    if verb == "info":
        await call.out(json.dumps(device.info) + "\n")
        return 0
    return await VERBS[verb](call, device, words)


async def _list(call: Call) -> int:
    listed = await rows(call.device)
    if not listed:
        await call.out("No devices found\n")
        return 0
    head = "device" if len(listed) == 1 else "devices"
    await call.out(f"Found the following {head}:\n" + "".join(f"{name} : {told}\n" for name, told, _ in listed))
    return 0


def _component(words: list[str]) -> str:
    return option(words, "-a", "--appName") or ""


async def launch_app(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Launches a component; one that dies at once was launched all the same."""
    name = _component(words)
    if not device.machine.send(f"pkg://{name}"):
        return await said(call, f"Error: failed to launch {name}", 1)
    device.journal.add("send", uri=f"pkg://{name}")
    return await said(call, f"Launched {name} successfully")


async def terminate_app(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Ends an app."""
    app = _app(device, _component(words))
    if app is None or not app.running or app.id == device.machine.launcher:
        return await said(call, f"Error: {_component(words)} is not running", 1)
    device.machine.stop(app)
    return await said(call, f"Terminated {app.id}")


def _app(device: VegaDevice, name: str) -> VegaApp | None:
    return device.machine.apps.get(name) or device.machine.by_component(name)


async def is_app_running(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Whether an app runs."""
    app = _app(device, _component(words))
    return await said(call, "true" if app is not None and app.running else "false")


async def is_app_installed(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Whether an app is installed."""
    return await said(call, "true" if _app(device, _component(words)) is not None else "false")


async def running_apps(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Ids of what runs."""
    ids = sorted(app.id for app in device.machine.apps.values() if app.running)
    return await said(call, "\n".join(ids))


async def installed(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Ids of what is installed."""
    return await said(call, "\n".join(sorted(device.machine.apps)))


async def install_app(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Installs a package of the host; what went wrong is told in the text and not by the exit status."""
    path = option(words, "-p", "--packagePath")
    folder = option(words, "--dir")
    if path is None and folder is not None:
        path = next((str(found) for found in sorted(call.path(folder).rglob("*.vpkg"))), None)
    if path is None:
        return await said(call, "Error: no package given", 1)
    return await _install(call, device, path)


async def _install(call: Call, device: VegaDevice, path: str) -> int:
    title = path.rpartition("/")[2].removesuffix(".vpkg")
    try:
        package = read_vpkg(call.path(path))
    except OSError as error:
        return await said(call, f"Error: {path}: {error.strerror}", 1)
    except ValueError:
        return await said(call, f"Installing/Updating '{title}' ...failed")
    if (fault := device.faults.active("install", package.id)) is not None:
        text = fault.text or f"Installing/Updating '{title}' ...success\nVerifying '{title}' ...failed"
        return await said(call, text.rstrip("\n"))
    device.machine.install(package)
    device.journal.add("install", id=package.id)
    return await said(call, f"Installing/Updating '{title}' ...success")


async def uninstall_app(call: Call, device: VegaDevice, words: list[str]) -> int:
    """Uninstalls an app."""
    app = _app(device, _component(words))
    if app is None or app.id == device.machine.launcher:
        return await said(call, f"Error: {_component(words)} is not installed", 1)
    device.machine.uninstall(app)
    return await said(call, f"Uninstalling '{app.id}' ...success")


async def run_app(call: Call, words: list[str]) -> int:
    """Installs a package and launches a component of it."""
    try:
        device = await _one(call, words)
    except NotOne as problem:
        return await said(call, f"Error: {problem}", 1)
    if (code := await _install(call, device, words[0])) != 0:
        return code
    try:
        package = read_vpkg(call.path(words[0]))
    except (OSError, ValueError):
        return 1
    name = words[1] if len(words) > 1 and not words[1].startswith("-") else package.component
    return await launch_app(call, device, ["-a", name])


async def is_connected(call: Call, device: VegaDevice, words: list[str]) -> int:
    """A device that is found is connected."""
    return await said(call, "true")


async def reboot(call: Call, device: VegaDevice, words: list[str]) -> int:
    """The device goes away and comes back."""
    await device.reboot()
    return await said(call, "Rebooting")


VERBS: dict[str, Callable[[Invocation[Sdk], VegaDevice, list[str]], Awaitable[int]]] = {
    "launch-app": launch_app, "terminate-app": terminate_app, "is-app-running": is_app_running,
    "is-app-installed": is_app_installed, "running-apps": running_apps, "installed-apps": installed,
    "installed-packages": installed, "install-app": install_app, "uninstall-app": uninstall_app,
    "is-connected": is_connected, "reboot": reboot, **device_data.VERBS,
}  # fmt: skip
"""Every verb that needs a device."""
