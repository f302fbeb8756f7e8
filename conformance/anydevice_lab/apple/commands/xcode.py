"""`xcrun`, `xcodebuild`, `xcode-select`: which tool is meant, and the runner that xcodebuild starts."""

from __future__ import annotations

import plistlib

import anyio

from ..model.apps import RUNNER
from ..programs import Invocation, Program
from . import atos, devicectl, simctl

MISSING = 72
USAGE = "Usage: xcrun [options] <tool name> ... arguments ...\n"


def developer_dir(call: Invocation) -> str:
    """Where Xcode is."""
    bare = call.world.xcode == "clt"
    return "/Library/Developer/CommandLineTools" if bare else "/Applications/Xcode.app/Contents/Developer"


async def xcrun(call: Invocation) -> int:
    """`xcrun [--find|--version|--sdk NAME] TOOL …`."""
    words = list(call.args)
    finds = False
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "--version":
            await call.out("xcrun version 72.\n")
            return 0
        if word in ("--find", "-f"):
            finds = True
        elif word in ("--sdk", "-sdk", "--toolchain") and words:
            words.pop(0)
    if not words:
        return await call.fail(64, USAGE)
    tool, *rest = words
    known = {"simctl": simctl.run, "devicectl": devicectl.run, "atos": atos.run}
    if tool not in known or call.world.xcode == "clt" or (tool == "devicectl" and call.world.age < 15):
        text = f'xcrun: error: unable to find utility "{tool}", not a developer tool or in PATH\n'
        return await call.fail(MISSING, text)
    if finds:
        await call.out(f"{developer_dir(call)}/usr/bin/{tool}\n")
        return 0
    return await known[tool](call, rest)


async def xcodebuild(call: Invocation) -> int:
    """`xcodebuild -version`, `-runFirstLaunch`, `test-without-building -xctestrun FILE -destination id=U`."""
    words = list(call.args)
    if call.world.xcode == "clt":
        text = (
            "xcode-select: error: tool 'xcodebuild' requires Xcode, but active developer directory "
            f"'{developer_dir(call)}' is a command line tools instance\n"
        )
        return await call.fail(1, text)
    if "-version" in words:
        await call.out(f"Xcode {call.world.xcode}\nBuild version 17F42\n")
        return 0
    if "-runFirstLaunch" in words:
        call.world.faults.clear("first_launch")
        return 0
    if "-checkFirstLaunchStatus" in words:
        return 69 if call.world.faults.active("first_launch") else 0
    if "test-without-building" not in words or "-xctestrun" not in words:
        return await call.fail(65, "xcodebuild: error: The lab runs tests that were built, of an xctestrun file.\n")
    environment = {
        name.removeprefix("TEST_RUNNER_"): value
        for name, value in call.environment.items()
        if name.startswith("TEST_RUNNER_")
    }
    try:
        file = plistlib.loads(call.path(words[words.index("-xctestrun") + 1]).read_bytes())
    except (OSError, IndexError, plistlib.InvalidFileException):
        return await call.fail(66, "xcodebuild: error: The xctestrun file could not be read.\n")
    for target in file.values():
        if isinstance(target, dict):
            environment |= {str(k): str(v) for k, v in target.get("EnvironmentVariables", {}).items()}
    goal = words[words.index("-destination") + 1] if "-destination" in words else ""
    udid = dict(part.partition("=")[::2] for part in goal.split(",")).get("id", "")
    device = call.world.find(udid)
    if device is None:
        text = (
            "xcodebuild: error: Unable to find a device matching the provided destination specifier:\n\t\t{ id:%s }\n"
        )
        return await call.fail(70, text % udid)
    if device.state != "Booted":
        await device.boot()
        while device.state != "Booted":
            await device.changed.wait()
    if RUNNER not in device.machine.apps:
        device.machine.install(device.machine.new_runner())
    await call.out("Test Suite 'All tests' started\n")
    device.launch(RUNNER, (), environment, fresh=True, tested=True)
    told = False
    try:
        while not call.interrupted.is_set():
            with anyio.move_on_after(0.1):
                await call.interrupted.wait()
            if device.server is not None and not told:
                told = True
                await call.out(f"    ServerURLHere->http://127.0.0.1:{device.server.port}<-ServerURLHere\n")
            app = device.machine.apps.get(RUNNER)
            if app is None or not app.running:
                await call.err("Testing failed:\n\tWebDriverAgentRunner-Runner encountered an error\n")
                return 65
        return 75
    finally:
        app = device.machine.apps.get(RUNNER)
        if app is not None and app.running:
            device.terminate(app)


async def xcode_select(call: Invocation) -> int:
    """`xcode-select -p`."""
    if call.args[:1] in (["-p"], ["--print-path"]):
        await call.out(developer_dir(call) + "\n")
        return 0
    return await call.fail(1, "xcode-select: error: no command option given\n")


async def opens(call: Invocation) -> int:
    """`open -a NAME …`: the Mac opens one of its own programs; Xcode's Simulator is one."""
    if call.args[:2] == ["-a", "Simulator"] and call.world.xcode != "clt":
        return 0
    return await call.fail(1, f"Unable to find application named '{' '.join(call.args[1:2])}'\n")


PROGRAMS: dict[str, Program] = {"open": opens, "xcrun": xcrun, "xcodebuild": xcodebuild, "xcode-select": xcode_select}
