"""Commands that are a device's: shell, log, files, packages, forwards, reboot."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import anyio

from ..guest.shell import PipeClosed, direct, direct_words, in_shell, on_terminal
from . import transfer
from .outline import follow, outline

if TYPE_CHECKING:
    from .channel import Channel
    from .device import HarmonyDevice
    from .server import HdcServer

FAILED = "[E002106] Failed to communicate with daemon"


class _Pipe:
    """What a client sees of a running command: stdout and stderr in frames, and no exit status."""

    def __init__(self, channel: Channel, *, talks: bool = False) -> None:
        self._channel, self._talks = channel, talks

    async def out(self, data: bytes) -> None:
        """What it prints."""
        if data:
            await self._channel.send(data)

    async def err(self, data: bytes) -> None:
        """What it prints as errors goes the same way."""
        await self.out(data)

    async def read(self) -> bytes:
        """What is typed into it, in a shell somebody talks to; a command has none."""
        if not self._talks:
            return b""
        return await self._channel.receive()


async def serve(server: HdcServer, channel: Channel, device: HarmonyDevice, line: str) -> None:
    """Does one command of a device, until it ends or its client has gone."""
    device.journal.add("hdc", line=line[:4096])
    what = re.sub(r"^(shell|hilog|install|uninstall|fport|rport|file (send|recv)) ?", "", line)
    talks = line == "shell" or "remote " in line
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            try:
                while True:
                    await channel.receive()  # whatever else it says
            except PipeClosed:
                group.cancel_scope.cancel()

        if not talks:
            group.start_soon(watch)
        if not await device.faults.strike_channel(what, channel):
            await _serve(server, channel, device, line)
            if late := device.faults.active("late", what):
                await channel.tell(late.text)
        group.cancel_scope.cancel()


async def _serve(server: HdcServer, channel: Channel, device: HarmonyDevice, line: str) -> None:
    name, _, rest = line.partition(" ")
    if name == "shell":
        await _shell(channel, device, rest)
    elif name == "hilog":
        await direct(device, _Pipe(channel), "hilog", ["-h"] if " -h" in line else [])
    elif name == "file":
        await transfer.file(channel, device, rest)
    elif name == "install":
        await transfer.install(channel, device, rest)
    elif name == "uninstall":
        await transfer.uninstall(channel, device, rest)
    elif name in ("fport", "rport") and not rest.startswith(("ls", "rm")):
        problem = await server.forwards.add(device, channel.key, rest, forward=name == "fport")
        await (channel.fail(problem) if problem else channel.tell("Forwardport result:OK"))
    elif name in ("jpid", "track-jpid"):
        pids = [str(app.pid) for app in device.machine.apps.values() if app.running and app.debug]
        await channel.tell("\n".join(pids) or "[Empty]")
        if name == "track-jpid":
            await anyio.sleep_forever()
    elif line.startswith("target boot"):
        await server.drop(device)
        server.tasks.start_soon(device.reboot)
    elif line.startswith("target mount"):
        await channel.fail("[E007100] Operate need running under debug mode")
    elif name == "smode":
        await channel.fail("Cannot set root run mode in undebuggable version.")
    elif name == "tmode":
        await _mode(server, channel, device, rest)
    else:
        await channel.fail(FAILED)


async def _shell(channel: Channel, device: HarmonyDevice, rest: str) -> None:
    if rest.startswith("-b "):
        await channel.fail(f"[E003001] Invalid bundle name: {rest[3:].split(maxsplit=1)[0]}")
        return
    line = rest.encode("utf-8", "surrogateescape")
    device.journal.add("shell", line=rest[:4096])
    words = direct_words(device, line) if line else None
    outlined = outline(device, rest) if line and device.direct else None
    try:
        if outlined is not None:
            await follow(device, _Pipe(channel), outlined)
        elif words is not None:
            await direct(device, _Pipe(channel), words[0], words[1:])
        elif line:
            await in_shell(device, _Pipe(channel), line, merged=True, ends=True)
        else:
            await on_terminal(device, _Pipe(channel, talks=True), line, raw=False)
    except PipeClosed:
        return


async def _mode(server: HdcServer, channel: Channel, device: HarmonyDevice, rest: str) -> None:
    if device.kind.emulator:
        await channel.fail("[E001300]Not support tmode for Emulator")
    elif rest.startswith("usb"):
        await channel.fail("[E001000]For USB debugging, please set it on the device's Settings UI")
    else:
        if rest != "port close":
            await channel.tell("Set device run mode successful.")
        if device.kind.connection == "USB":
            await server.drop(device)
            number = rest.removeprefix("port").strip()
            server.tasks.start_soon(device.listen, int(number) if number.isdigit() else 0)
