"""HarmonyOS devices of the lab in tests: the channel byte by byte, and the programs `hdc` and `Emulator`.

Nothing of the backend's own client is used here: the lab is held against the captures, not against us.
"""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from anydevice.kit import processes
from anydevice.kit.processes import Result
from anydevice_lab.harmonyos import Lab

PRACTICE = "dev.anydevice.practice"
FIXTURES = Path(__file__).parents[1] / "fixtures" / "harmonyos"
ENDS = (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError)
MARK = "__rc="


def sample(name: str, title: str = "") -> str:
    """A capture; with a title only what stands below the line `# title...`."""
    text = (FIXTURES / name).read_bytes().decode()
    if not title:
        return text
    for block in ("\n" + text).split("\n# ")[1:]:
        head, _, body = block.partition("\n")
        if head.startswith(title):
            return body
    raise AssertionError(title)


class Wire:
    """One connection to an hdc server, in frames."""

    def __init__(self, stream: SocketStream) -> None:
        self.stream = stream
        self._reader = BufferedByteReceiveStream(stream)

    async def frame(self) -> bytes | None:
        """The next frame; None once the server has closed it, also in the middle of one."""
        try:
            (length,) = struct.unpack(">I", await self._reader.receive_exactly(4))
            return await self._reader.receive_exactly(length) if length else b""
        except ENDS:
            return None

    async def send(self, data: bytes) -> None:
        """Sends a frame."""
        await self.stream.send(struct.pack(">I", len(data)) + data)

    async def rest(self) -> bytes:
        """All frames up to the end."""
        found = b""
        while (data := await self.frame()) is not None:
            found += data
        return found

    async def hello(self, key: str, last: bytes = b"H") -> bytes:
        """Answers the greeting with a key; the greeting."""
        greeting = await self.frame()
        assert greeting is not None
        tail = greeting[44:]
        await self.send(greeting[:11] + last + key.encode().ljust(32, b"\0") + tail)
        return greeting


@asynccontextmanager
async def connected(lab: Lab) -> AsyncIterator[Wire]:
    """A connection to the lab's server."""
    with anyio.fail_after(30):
        async with await anyio.connect_tcp("127.0.0.1", lab.port) as stream:
            yield Wire(stream)


async def ask(lab: Lab, key: str, command: str | bytes) -> bytes:
    """What a command is answered, all frames together."""
    async with connected(lab) as wire:
        await wire.hello(key)
        await wire.send(command if isinstance(command, bytes) else command.encode())
        return await wire.rest()


async def hdc(lab: Lab, *words: str, **env: str) -> Result:
    """Runs the lab's program hdc to its end."""
    argv = [lab.hdc, *words]
    return await processes.run(argv, deadline=60, env={**os.environ, **lab.environment, **env}, cap=8 << 20)


async def emulator(lab: Lab, *words: str) -> Result:
    """Runs the lab's program Emulator to its end."""
    return await processes.run([lab.emulator, *words], deadline=60, env={**os.environ, **lab.environment})


Attributes = dict[str, str]


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A node of a layout and all below, in order."""
    yield node
    for child in node["children"]:
        yield from walk(child)


def box(text: str) -> tuple[int, int, int, int]:
    """A place in a layout: left, top, right, bottom."""
    left, top, right, bottom = map(int, re.findall(r"-?\d+", text))
    return left, top, right, bottom


@dataclass
class Device:
    """One device of a lab."""

    lab: Lab
    serial: str

    async def ask(self, command: str) -> str:
        """What a command of this device is answered."""
        return (await ask(self.lab, self.serial, command)).decode()

    async def run(self, line: str) -> tuple[int, str]:
        """Exit status and output of a command line; the status comes in the only way there is."""
        text = await self.ask(f"shell {line}\necho {MARK}$?")
        body, found, status = text.rpartition(MARK)
        assert found, (line, text)
        return int(status), body

    async def shell(self, line: str) -> str:
        """What a command line prints, which must end well."""
        status, text = await self.run(line)
        assert status == 0, (line, status, text)
        return text

    async def open(self, screen: str, witness: str = "") -> None:
        """Opens the practice app on a screen."""
        more = f" --ps witness '{witness}'" if witness else ""
        said = await self.shell(f"aa start -W -a EntryAbility -b {PRACTICE} -m entry --ps screen {screen}{more}")
        assert said.endswith("start ability successfully.\n"), said

    async def layout(self, *options: str) -> Any:
        """The layout, as JSON."""
        path = "/data/local/tmp/test_layout.json"
        text = await self.shell(f"uitest dumpLayout -p {path} {' '.join(options)} > /dev/null; cat {path}; rm {path}")
        return json.loads(text)

    async def nodes(self) -> list[Attributes]:
        """Attributes of every node that is told."""
        return [node["attributes"] for node in walk(await self.layout())]

    async def node(self, name: str) -> Attributes:
        """Attributes of the node of an id."""
        found = [node for node in await self.nodes() if node["id"] == name]
        assert len(found) == 1, (name, found)
        return found[0]

    async def middle(self, name: str) -> tuple[int, int]:
        """The middle of the node of an id, in pixels."""
        left, top, right, bottom = box((await self.node(name))["bounds"])
        return (left + right) // 2, (top + bottom) // 2

    async def tap(self, name: str) -> None:
        """A click in the middle of the node of an id."""
        x, y = await self.middle(name)
        assert await self.shell(f"uitest uiInput click {x} {y}") == "No Error\n"

    async def journal(self, kind: str) -> list[dict[str, Any]]:
        """What the device received, of one kind."""
        return await self.lab.journal(self.serial, kind)
