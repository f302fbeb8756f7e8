"""What the `vega` program answers: verbs of the SDK, of its virtual device, and of one device (`device_verbs.py`)."""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING

import anyio

from anydevice.kit import processes

from ..guest.programs import Invocation
from . import device_verbs
from .sdk import CLI, IMAGE, VERSION
from .words import option

if TYPE_CHECKING:
    from .sdk import Sdk

Call = Invocation["Sdk"]
USAGE = "Usage: vega device|virtual-device|exec|which|platform|run-app|--version ...\n"
NOISE = "[WARN] telemetry is not configured\n[INFO] using SDK {}\n"
BOOT = 0.3
"""Seconds a virtual device takes to boot unless told otherwise."""
LONG = 600.0


async def vega(call: Call) -> int:
    """Answers one call of the program."""
    words = list(call.args)
    if "--version" in words[:1]:
        await call.out(f"Active SDK Version: {VERSION}\nVega CLI Version: {CLI}\n")
        return 0
    group, rest = (words[0], words[1:]) if words else ("", [])
    if group == "device" and rest:
        return await device_verbs.run(call, rest[0], rest[1:])
    if group == "virtual-device" and rest:
        return await virtual_device(call, rest[0], rest[1:])
    if group == "exec" and rest:
        return await execute(call, rest)
    if group == "which" and rest:
        return await which(call, rest[0])
    if group == "run-app" and rest:
        return await device_verbs.run_app(call, rest)
    if words[:2] == ["platform", "doctor"]:
        await call.out(f"SDK {VERSION}: ok\nVirtual device image {IMAGE}: ok\nHost {platform.machine()}: ok\n")
        return 0
    await call.err(USAGE)
    return 1


async def which(call: Call, name: str) -> int:
    """Where a program of the SDK is; other lines come before."""
    place = call.device.program.with_name(name)
    if not place.exists():
        await call.err(f"Error: {name} is not part of SDK {VERSION}\n")
        return 1
    await call.out(f"Active SDK Version: {VERSION}\n{place}\n")
    return 0


async def execute(call: Call, words: list[str]) -> int:
    """Runs a program of the SDK. Its words go through a shell of the host once more, quotes and variables and all."""
    folder = call.device.program.parent
    if not (folder / words[0]).exists():
        await call.err(f"Error: {words[0]} is not part of SDK {VERSION}\n")
        return 1
    env = {**call.device.host.server.environment, "PATH": f"{folder}:/usr/local/bin:/usr/bin:/bin"}
    result = await processes.run(
        ["/bin/sh", "-c", " ".join(words)], deadline=LONG, env=env, cwd=call.folder, cap=64 << 20
    )
    await call.err(result.stderr)
    await call.out(result.stdout)
    return result.code


# --- the virtual device ---


async def virtual_device(call: Call, verb: str, words: list[str]) -> int:
    """start, stop, status."""
    sdk = call.device
    if sdk.told("noise") is not None:
        await call.out(NOISE.format(VERSION))
    if verb == "status":
        pid = _pid(sdk)
        await call.out(json.dumps({"running": pid != -1, "process_ids": {"qemu": pid}}, separators=(",", ":")) + "\n")
        return 0
    if verb == "start":
        return await _start(call, words)
    if verb == "stop":
        return await _stop(call)
    await call.err("Usage: vega virtual-device start|stop|status\n")
    return 1


def _pid(sdk: Sdk) -> int:
    """Process id of the virtual device, as far as the program knows; -1 = none."""
    running = [child for child in sdk.machines.values() if child.code is None]
    return running[0].pid if running and sdk.told("lost") is None else -1


async def _start(call: Call, words: list[str]) -> int:
    sdk = call.device
    image = option(words, "-p")
    if image is not None and not (sdk.images / image).is_dir() and not call.path(image).is_dir():
        await call.err(f"Error: no virtual device image at {image}\n")
        return 1
    if _pid(sdk) != -1:
        await call.out("Virtual device is already running.\n")
        return 0
    await call.out("Launching virtual device. Waiting for virtual device to boot. \n")
    limit = float(option(words, "--timeout", "-t") or 300)
    boot = float(sdk.told("boot") or BOOT)
    if boot > limit:
        await anyio.sleep(limit)
        await call.err(f"Error: virtual device did not boot within {limit:g} seconds\n")
        return 1
    sdk.switch(lost=None)
    await anyio.sleep(boot)
    await sdk.host.start(["vvd"])
    await call.out("Virtual device ready.\n")
    return 0


async def _stop(call: Call) -> int:
    sdk = call.device
    if _pid(sdk) == -1:
        await call.err("Virtual device is not running.\n")
        return 1
    for serial, device in list(sdk.host.devices.items()):
        if device.kind.simulated:
            await sdk.host.ask({"do": "stop", "serial": serial})
    await call.out("Virtual device stopped.\n")
    return 0
