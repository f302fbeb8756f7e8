"""`simctl boot, bootstatus, shutdown, erase, create, delete, rename`: states of devices, and which there are."""

from __future__ import annotations

import time
from dataclasses import replace

from ..device import LabDevice
from .asking import MISFIT, SIM, Ask, Failed, Subcommand, bad_state, error
from .sim_list import kind_of


async def boot(ask: Ask) -> int:
    """`boot DEVICE`: returns before it is up."""
    device = ask.device()
    if device.kind.unavailable:
        text = f"Unable to boot device because it cannot be located on disk.\n{device.kind.unavailable}"
        raise error(ask.call, SIM, MISFIT, text)
    if device.state != "Shutdown":
        raise bad_state(ask.call, "boot device", device)
    await device.boot()
    return 0


async def bootstatus(ask: Ask) -> int:
    """`bootstatus DEVICE [-b] [-d]`: waits until it is up; without -b for ever where nobody boots it."""
    switches = ask.switches()
    device, call = ask.device(), ask.call
    await call.out(f"Monitoring boot status for {device.title} ({device.udid}).\n")
    if device.state == "Booted":
        await call.out("Device already booted, nothing to do.\n\n")
        return 0
    began = time.monotonic()
    while device.state == "Shutting Down":
        await device.changed.wait()
    if "b" in switches and device.state == "Shutdown":
        await device.boot()
    while device.state != "Booted":
        await device.changed.wait()
    stamp, took = time.strftime("%Y-%m-%d %H:%M:%S +0000", time.gmtime()), time.monotonic() - began
    line = f"[{stamp}] Status=4294967295, isTerminal=YES, Elapsed={int(took) // 60:02d}:{int(took) % 60:02d}.\n"
    await call.out(f"{line}\tFinished\n")
    return 0


async def shutdown(ask: Ask) -> int:
    """`shutdown DEVICE|booted|all`."""
    if ask.words[:1] in (["all"], ["booted"]):
        for device in list(ask.devices.values()):
            if device.state == "Booted" and not device.kind.physical:
                await device.shutdown()
        return 0
    device = ask.device()
    if device.state != "Booted":
        raise bad_state(ask.call, "shutdown device", device)
    await device.shutdown()
    return 0


async def erase(ask: Ask) -> int:
    """`erase DEVICE…|all`."""
    chosen = _several(ask)
    for device in chosen:
        if device.state != "Shutdown":
            raise bad_state(ask.call, "erase contents and settings", device)
        device.erase()
    return 0


def _several(ask: Ask) -> list[LabDevice]:
    if ask.words == ["all"]:
        return [device for device in ask.devices.values() if not device.kind.physical]
    chosen = [ask.device()]
    while ask.words:
        chosen.append(ask.device())
    return chosen


async def create(ask: Ask) -> int:
    """`create NAME TYPE [RUNTIME]`: prints the UDID."""
    name, type_word = ask.take("name"), ask.take("device type id")
    typed, ran = kind_of(ask, type_word, ask.words[0] if ask.words else "")
    if typed is None:
        raise Failed(161, f"Invalid device type: {type_word}\n")
    if ask.words and ran is None:
        raise Failed(162, f"Invalid runtime: {ask.words[0]}\n")
    system = ran or typed
    if system.platform != typed.platform:
        code = MISFIT if ask.call.world.age > 10 else 163
        raise error(ask.call, SIM, code, "Incompatible device")
    kind = replace(
        typed, title=name, platform=system.platform, os=system.os, build=system.build, state="Shutdown", unavailable=""
    )
    device = await ask.call.world.start(kind, name, ask.where)
    await device.create()
    await ask.call.out(device.udid + "\n")
    return 0


async def delete(ask: Ask) -> int:
    """`delete DEVICE…|unavailable|all`."""
    if ask.words == ["unavailable"]:
        for device in [d for d in ask.devices.values() if d.kind.unavailable and not d.kind.physical]:
            await ask.call.world.remove(device)
        return 0
    for device in _several(ask):
        if device.state == "Booted":
            await device.shutdown()
        await ask.call.world.remove(device)
    return 0


async def rename(ask: Ask) -> int:
    """`rename DEVICE NAME`."""
    device = ask.device()
    device.title = ask.take("name")
    return 0


async def clone(ask: Ask) -> int:
    """`clone DEVICE NAME`: prints the UDID."""
    device = ask.device()
    if device.state != "Shutdown":
        raise bad_state(ask.call, "clone device", device)
    name = ask.take("name")
    made = await ask.call.world.start(replace(device.kind, title=name, state="Shutdown"), name, ask.where)
    await made.create()
    await ask.call.out(made.udid + "\n")
    return 0


async def getenv(ask: Ask) -> int:
    """`getenv DEVICE NAME`."""
    device = ask.device(booted="lookup")
    known = {"SIMULATOR_UDID": device.udid, "SIMULATOR_DEVICE_NAME": device.title,
             "SIMULATOR_RUNTIME_VERSION": device.kind.os, "HOME": str(device.root)}  # fmt: skip
    await ask.call.out(known.get(ask.take("name"), "") + "\n")
    return 0


SUBCOMMANDS: dict[str, Subcommand] = {
    "boot": boot, "bootstatus": bootstatus, "shutdown": shutdown, "erase": erase, "create": create, "delete": delete,
    "rename": rename, "clone": clone, "getenv": getenv,
}  # fmt: skip
