"""The hdc server: it greets, finds the device that a key names, and has the command done that follows.

A key is resolved as soon as the client answers the greeting: one that leads nowhere is refused before any command.
Without a device only commands of the server's own work, and with one only those of the device.
"""

from __future__ import annotations

import itertools
import sys
import traceback
from collections.abc import Mapping
from typing import ClassVar

import anyio
from anyio.abc import SocketAttribute, SocketStream, TaskGroup

from ..guest.shell import PipeClosed
from ..handset.faults import FaultList
from ..handset.journal import Journal
from . import local, remote, wire
from .channel import Channel
from .device import HarmonyDevice
from .forwards import Forwards

ANY = "any"
RESERVED = 8710
"""The port of everybody's own server: this one never listens there."""
NOBODY = "Not match target founded, check connect-key please"
AWAY = "[E001005] Device not found or connected"
DEAD = "Bind tartget session is dead"
ESTABLISHING = (
    "[E000004]:The communication channel is being established.\r\nPlease wait for several seconds and try again."
)
REFUSALS = {
    "asks": (
        "[E000002]:The device unauthorized.\r\nThis server's public key is not set.\r\n"
        "Please check for a confirmation dialog on your device.\r\nOtherwise try 'hdc kill' if that seems wrong."
    ),
    "denied": (
        "[E000003]:The device unauthorized.\r\nThe user denied the access for the device.\r\n"
        "Please execute 'hdc kill' and redo your command,\r\nthen check for a confirmation dialog on your device."
    ),
    "keys": "[E000010]:Auth failed, cannt login the device.",
    "old": "[E000001]:The sdk hdc.exe version is too low, please upgrade to the latest version.",
}
"""What is said of a device that lets nobody in: it asks a person, who said no; keys or versions do not match."""


class ServerFaults(FaultList):
    """What the server itself does wrong; `match` is searched in the command."""

    known: ClassVar[Mapping[str, str]] = {
        "mute": "a connection is taken and never greeted",
        "refuse": "a connection is closed before it is greeted",
        "wrong": "the greeting is another program's",
        "slow": "an answer begins after `seconds`",
        "hang": "a command is never answered",
    }


class HdcServer:
    """One server.

    Args:
        tasks: Where its work runs.

    Attributes:
        devices: Everything it may know, by key; what is attached in two ways has two.
        lost: Keys it was asked to connect to, and could not.
        version: Whether its greeting holds its version, as some builds' do.
        number: That version.
        port: Where it listens; 0 = it does not.
        journal: What it was asked.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        self.tasks = tasks
        self.devices: dict[str, HarmonyDevice] = {}
        self.lost: set[str] = set()
        self.version, self.number = False, wire.VERSION
        self.port = 0
        self.journal, self.faults = Journal(), ServerFaults()
        self.forwards = Forwards(tasks)
        self._numbers = itertools.count(0x01234567)
        self._listening: anyio.CancelScope | None = None
        self._closed = anyio.Event()

    async def start(self, port: int = 0) -> int:
        """Begins to listen; returns the port.

        Raises:
            ValueError: That port is not this server's to take.
            OSError: Somebody else listens there.
        """
        if port == RESERVED:
            raise ValueError(f"port {RESERVED} is everybody's own server")
        if self._listening is not None:
            return self.port
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
        self.port = listener.extra(SocketAttribute.local_port)
        self._listening, self._closed = anyio.CancelScope(), anyio.Event()
        closed = self._closed

        async def serve(scope: anyio.CancelScope) -> None:
            with scope:
                try:
                    await listener.serve(self._serve)
                finally:
                    with anyio.CancelScope(shield=True):
                        await listener.aclose()
                    closed.set()

        self.tasks.start_soon(serve, self._listening)
        return self.port

    async def stop(self) -> None:
        """Ends: connections are lost, and forwards with them. Its port stays in mind."""
        if self._listening is not None:
            self._listening.cancel()
            self._listening = None
            await self._closed.wait()
        await self.forwards.clear()

    @property
    def old(self) -> bool:
        """Whether it is of the 2.x versions."""
        return self.number.startswith("Ver: 2.")

    @property
    def up(self) -> bool:
        """Whether it listens."""
        return self._listening is not None

    async def drop(self, device: HarmonyDevice) -> None:
        """Sessions with a device end: its forwards go, and it is not attached over the network any more."""
        for key in [key for key, one in self.devices.items() if one is device]:
            await self.forwards.drop(key)
            if key != device.key:
                del self.devices[key]

    # --- inside ---

    async def _serve(self, stream: SocketStream) -> None:
        async with stream:
            try:
                await self._channel(Channel(stream, next(self._numbers), old=self.old))
            except* (PipeClosed, anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # the client went away in the middle, as clients do
            except* Exception as problem:
                sys.stderr.write("".join(traceback.format_exception(problem)))

    async def _channel(self, channel: Channel) -> None:
        if self.faults.active("refuse"):
            return
        if self.faults.active("mute"):
            await anyio.sleep_forever()
        if self.faults.active("wrong"):
            await channel.stream.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            return
        await channel.send(wire.greeting(channel.number, version=self.number if self.version else ""))
        answer = await channel.receive()
        key = wire.key_of(answer)
        if key is None:
            return
        channel.key = key
        device = None
        if not wire.waits(answer) and key:
            device = self._only() if key == ANY else self.devices.get(key)
            if key != ANY and (refused := self._refusal(key)):
                self.journal.add("refused", key=key, why=refused)
                await channel.fail(refused)
                return
        if device is not None and key == ANY:
            channel.key = device.key
        while True:
            line = (await channel.receive()).split(b"\0")[0].decode("utf-8", "surrogateescape")
            if line.startswith("alive"):
                channel.kept = True
                continue
            await self._one(channel, device, line)
            if device is not None or not channel.kept:
                return

    async def _one(self, channel: Channel, device: HarmonyDevice | None, line: str) -> None:
        self.journal.add("command", key=channel.key, line=line[:4096])
        if self.faults.active("hang", line):
            await anyio.sleep_forever()
        if slow := self.faults.active("slow", line):
            await anyio.sleep(slow.seconds)
        if local.mistake(line):
            await channel.fail(local.mistake(line))
        elif device is None or line.startswith(("fport rm", "start")):
            await local.serve(self, channel, line)
        elif device.unauthorized:
            await channel.fail(REFUSALS[device.refusal])
        else:
            await remote.serve(self, channel, device, line)

    def _only(self) -> HarmonyDevice | None:
        found = [device for device in self.devices.values() if device.connected]
        return found[0] if len(found) == 1 else None

    def _refusal(self, key: str) -> str:
        device = self.devices.get(key)
        if device is None or not device.listed:
            return AWAY if key in self.lost else NOBODY
        if not device.connected:
            return AWAY
        if device.faults.active("session_dead"):
            return DEAD
        if device.faults.active("establishing"):
            return ESTABLISHING
        return ""
