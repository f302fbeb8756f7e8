"""What several tests here ask of a device: its files, its driver, its settings."""

from __future__ import annotations

from pathlib import Path

from anydevice.driver import Driver, Environment
from anydevice_lab.android import Lab

from .rig import Rig


async def root(lab: Lab, serial: str) -> Path:
    """The device's files."""
    (found,) = [device["root"] for device in await lab.devices() if device["serial"] == serial]
    return Path(found)


async def driver_of(rig: Rig, serial: str) -> Driver:
    """The driver the router uses."""
    await rig.devices()
    env = Environment(variables=rig.environment)
    listed = await rig.router.services.backends.listed(env)
    return await rig.router.services.connections.get(listed.by_key(f"android:{serial}"), env)


async def given_back(rig: Rig, serial: str) -> None:
    """What happens when the device is given back."""
    await (await driver_of(rig, serial)).clean()


async def setting(lab: Lab, rig: Rig, serial: str, space: str, name: str) -> str:
    """A setting as the device has it."""
    told = await rig.do("shell", device=serial, commandLine=f"settings get {space} {name}")
    return str(told.data["stdout"]).strip()
