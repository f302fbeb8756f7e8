"""The stand-in: devices in one process that outlive every daemon and keep a journal each. A plain script.

    python device.py SOCKET FOLDER COUNT SEED

As nasty as the real thing: a device refuses nothing by itself and would obey two drivers at once. It can hang, be
slow, and drop a connection. What it was told, by whom and from when to when, stands in `FOLDER/<id>.jsonl`, on
CLOCK_MONOTONIC, which all processes of a host share. It ends when its standard input does. Standard library only.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from typing import Any

FASTEST, SLOWEST = 0.005, 0.040
"""Seconds a command takes."""

SLOW = 5.0
"""How many times longer while the device is slow."""


def device_id(number: int) -> str:
    """The id of a device by its number."""
    return f"soak-{number:02}"


class Device:
    """One device: its journal, and what is wrong with it at the moment."""

    def __init__(self, folder: str, number: int, seed: str) -> None:
        self.id = device_id(number)
        self.journal = os.open(os.path.join(folder, f"{self.id}.jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.random = random.Random(f"{seed}/{self.id}")
        self.count = 0
        self.hangs_until = 0.0
        self.slow_until = 0.0
        self.drops = 0

    def note(self, what: str, number: int, **more: Any) -> None:
        """One line of the journal, written before anything else happens."""
        line = {"t": time.monotonic_ns(), "what": what, "n": number, **more}
        os.write(self.journal, json.dumps(line).encode() + b"\n")

    def begin(self, text: str) -> tuple[int, float, bool]:
        """Accepts a command: its number, the loop's time at which it ends, and whether the connection is dropped."""
        self.count += 1
        self.note("begin", self.count, text=text)
        now = time.monotonic()
        takes = self.random.uniform(FASTEST, SLOWEST) * (SLOW if now < self.slow_until else 1.0)
        drop = self.drops > 0
        self.drops -= drop
        return self.count, max(now + takes, self.hangs_until), drop

    def spoil(self, kind: str, seconds: float) -> None:
        """Something goes wrong from now on."""
        if kind == "hang":
            self.hangs_until = time.monotonic() + seconds
        elif kind == "slow":
            self.slow_until = time.monotonic() + seconds
        else:
            self.drops += 1


class Link(asyncio.Protocol):
    """One connection. Whatever runs on it when it ends is cut off, and the journal says so before anything else."""

    def __init__(self, devices: dict[str, Device]) -> None:
        self.devices = devices
        self.buffer = b""
        self.running: dict[tuple[str, int], asyncio.TimerHandle] = {}

    def connection_made(self, transport: Any) -> None:
        """See `asyncio.Protocol`."""
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self.buffer += data
        while b"\n" in self.buffer:
            line, _, self.buffer = self.buffer.partition(b"\n")
            self.take(json.loads(line))

    def take(self, asked: dict[str, Any]) -> None:
        """One request."""
        device = self.devices[asked["device"]]
        if asked["op"] == "who":
            self.say({"id": device.id})
        elif asked["op"] == "spoil":
            device.spoil(asked["kind"], asked["seconds"])
            self.say({"id": device.id})
        else:
            number, at, drop = device.begin(asked["text"])
            loop = asyncio.get_running_loop()
            self.running[device.id, number] = loop.call_at(at, self.finish, device, number, drop)

    def finish(self, device: Device, number: int, drop: bool) -> None:
        """A command has come to its end."""
        if drop:
            self.cut()
            self.transport.abort()
            return
        del self.running[device.id, number]
        device.note("end", number, cut=False)
        self.say({"id": device.id, "n": number})

    def say(self, reply: dict[str, Any]) -> None:
        """Answers."""
        if not self.transport.is_closing():
            self.transport.write(json.dumps(reply).encode() + b"\n")

    def eof_received(self) -> bool:
        """See `asyncio.Protocol`; at once, so that a command on a later connection begins after the end of this."""
        self.cut()
        return False

    def connection_lost(self, error: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self.cut()

    def cut(self) -> None:
        """Ends what runs."""
        for (device, number), timer in self.running.items():
            timer.cancel()
            self.devices[device].note("end", number, cut=True)
        self.running.clear()


async def serve(path: str, folder: str, count: int, seed: str) -> None:
    """Serves until standard input ends."""
    devices = {device.id: device for device in (Device(folder, number, seed) for number in range(count))}
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def listen() -> None:
        if not os.read(0, 1024):
            ended.set()

    loop.add_reader(0, listen)
    server = await loop.create_unix_server(lambda: Link(devices), path)
    os.write(1, b"ready\n")
    await ended.wait()
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))
