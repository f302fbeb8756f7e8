"""What stands for the hdc program: a client of the channel that behaves as the real one does.

It leaves with 0 whatever happened, says failures on stdout, begins a server where none listens, and reads and writes
the files of a transfer itself.
"""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import SocketStream

from ..guest.programs import Invocation
from ..guest.shell import PipeClosed
from . import wire
from .channel import Channel
from .server import RESERVED, HdcServer
from .wire import Transfer

if TYPE_CHECKING:
    from .tools import Tools

HELP = "\n                         OpenHarmony device connector(hdc) ...\n\n"
NO_SERVER = "Connect server failed\n"
GLOBAL = ("list targets", "checkserver", "tconn", "wait", "fport ls", "fport rm", "version", "help", "reconnect")
"""Commands that go to no device."""
KNOWN = re.compile(
    r"(list targets|checkserver|tconn|wait|fport|rport|file (send|recv)|install|uninstall|shell|hilog|jpid|track-jpid"
    r"|target (boot|mount)|tmode|smode|bugreport|sideload|reconnect)\b"
)
CONNECTS_WITHIN = 2.0


class _Failed(Exception):
    """No server can be reached."""


async def run(tools: Tools, call: Invocation[Any]) -> int:
    """Runs it; always 0."""
    try:
        await _run(tools, call)
    except (_Failed, OSError):
        await call.err(NO_SERVER)
    except (PipeClosed, ValueError):
        pass  # the real one ends without a word, too
    return 0


def _options(words: list[str]) -> tuple[str, str, list[str]]:
    """Address of the server, key, and the command."""
    server = key = ""
    words = list(words)
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "-s" and words:
            server = words.pop(0)
        elif word == "-t" and words:
            key = words.pop(0)
        elif word in ("-v", "-h"):
            return server, key, [{"-v": "version", "-h": "help"}[word]]
    return server, key, words


async def _run(tools: Tools, call: Invocation[Any]) -> None:
    address, key, words = _options(call.args)
    line = " ".join(words)
    if line == "version":
        await call.out(wire.VERSION + "\n")
        return
    if line in ("", "help", "help verbose"):
        await call.err(HELP)
        return
    host, _, port = address.rpartition(":")
    number = int(port or call.classpath or tools.server.port)
    if host not in ("", "127.0.0.1", "localhost", "::ffff:127.0.0.1") or number == RESERVED:
        await anyio.sleep(0.2)
        raise _Failed
    if line.startswith("kill"):
        await _kill(tools, number, "-r" in words)
        await call.out("Kill server finish\n")
        return
    stream = await _connect(tools, number)
    async with stream:
        if line.startswith("start"):
            return
        if not KNOWN.match(line):
            await call.out("Unknown operation command...\n")
            await call.err(HELP)
            return
        if line == "shell":
            await call.err("[W][lab] Not support stdio TTY mode\n")
        channel = Channel(stream, 0)
        greeting = await channel.receive()
        key = "" if line.startswith(GLOBAL) and line != "wait" else key or "any"
        banner = greeting[:12] if not (line == "wait" and key != "any") else greeting[:11] + b"W"
        tail = greeting[wire.HELLO :]
        await channel.send(banner + key.encode()[: wire.KEY_ROOM].ljust(wire.KEY_ROOM, b"\0") + tail)
        await _command(channel, call, words, line)


async def _command(channel: Channel, call: Invocation[Any], words: list[str], line: str) -> None:
    if words[:1] == ["file"] or words[:1] == ["install"]:
        at = 2 if words[0] == "file" else 1
        quoted = [f'"{word}"' if " " in word else word for word in words[at:]]
        line = " ".join([*words[:at], "remote", "-cwd", f'"{call.folder.rstrip("/")}/"', *quoted])
    with contextlib.suppress(PipeClosed):  # what was said before that is read all the same
        await channel.send(line.encode("utf-8", "surrogateescape") + b"\0")
    transfer = _Transfer(channel, call) if " remote " in line else None
    try:
        while True:
            data = await channel.receive()
            if transfer is not None and await transfer.takes(data):
                continue
            if line.startswith("wait"):
                if not data.startswith(b"[Fail]No any"):
                    return
                await anyio.sleep(1)
                await channel.send(line.encode() + b"\0")
                continue
            if line.startswith("checkserver") and data[:2] == wire.COMMAND.pack(wire.CHECK_SERVER):
                await call.out(f"Client version:{wire.VERSION}, server version:{data[2:].decode()}\n")
                continue
            await call.out(data.replace(b"\n", b"\thdc\n") if line.startswith("list targets -v") else data)
    except PipeClosed:
        return


async def _connect(tools: Tools, port: int) -> SocketStream:
    """Connects to a server; one is begun where nobody listens."""
    try:
        return await anyio.connect_tcp("127.0.0.1", port)
    except OSError:
        server = tools.server if port == tools.server.port else tools.others.setdefault(port, HdcServer(tools.tasks))
        if not server.up:
            await server.start(port)
        with anyio.move_on_after(CONNECTS_WITHIN):
            return await anyio.connect_tcp("127.0.0.1", port)
    raise _Failed


async def _kill(tools: Tools, port: int, again: bool) -> None:
    server = tools.server if port == tools.server.port else tools.others.get(port)
    if server is not None:
        await server.stop()
        if again:
            await anyio.sleep(0.05)
            await server.start(port)


class _Transfer:
    """The client's end of a transfer: it reads what it sends, and writes what it gets."""

    def __init__(self, channel: Channel, call: Invocation[Any]) -> None:
        self._channel, self._call = channel, call
        self._source = Path()
        self._began, self._size = time.monotonic(), 0

    async def takes(self, data: bytes) -> bool:
        """Does what a frame asks; False where it is none of a transfer's."""
        if len(data) < wire.COMMAND.size:
            return False
        (command,) = wire.COMMAND.unpack(data[:2])
        payload = data[2:]
        if command == wire.FILE_INIT:
            await self._say_what(payload.decode(), wire.FILE_CHECK, send=True)
        elif command == wire.APP_INIT:
            await self._say_what(payload.decode(), wire.APP_CHECK, send=False)
        elif command == wire.FILE_BEGIN:
            await self._data(wire.FILE_DATA)
        elif command == wire.APP_BEGIN:
            await self._data(wire.APP_DATA)
        elif command == wire.FILE_FINISH:
            if payload[:1] == b"\1":
                await self._channel.order(wire.FILE_FINISH, b"\0")
        elif command == wire.APP_FINISH:
            said = payload[2:].decode("utf-8", "replace")
            await self._call.out(f"[Info]App install path:{self._source} msg:{said}\r\nAppMod finish\r\n")
            await self._channel.stream.aclose()
        elif command == wire.FILE_CHECK:
            await self._receive(Transfer.unpack(payload))
        else:
            return False
        return True

    async def _say_what(self, text: str, command: int, *, send: bool) -> None:
        words = [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', text)]
        folder = words.pop(words.index("-cwd") + 1)
        words.remove("-cwd")
        options = " ".join(word for word in words if word.startswith("-"))
        paths = [word for word in words if not word.startswith("-")]
        self._source = Path(folder, paths[0])
        try:
            self._size = (await anyio.Path(self._source).stat()).st_size
        except OSError as error:
            reason = (error.strerror or "").lower()
            await self._call.out(f"[Fail]Error opening file: {reason}, path:{self._source}\r\n")
            raise PipeClosed from None
        name = self._source.name
        about = Transfer(self._size, paths[-1] if send else "", name, options, "" if send else "install", folder)
        await self._channel.order(command, about.pack())

    async def _data(self, command: int) -> None:
        data = await anyio.Path(self._source).read_bytes()
        for index in range(0, max(1, len(data)), wire.PIECE):
            await self._channel.send(wire.data_frame(command, index, data[index : index + wire.PIECE]))

    async def _receive(self, about: Transfer) -> None:
        target = Path(about.folder, about.path)
        if await anyio.Path(target).is_dir():
            target = target / about.name
        await self._channel.order(wire.FILE_BEGIN)
        got = b""
        while len(got) < about.size or not about.size:
            command, payload = await self._channel.command()
            if command != wire.FILE_DATA:
                raise ValueError(f"command {command}")
            _, data = wire.data_of(payload)
            got += data
            if not data:
                break
        await anyio.Path(target).write_bytes(got)
        await self._channel.order(wire.FILE_FINISH, b"\1")
        ms = max(1, round((time.monotonic() - self._began) * 1000))
        await self._call.out(
            f"FileTransfer finish, Size:{len(got)}, File count = 1, time:{ms}ms rate:{len(got) / ms:.2f}kB/s\r\n"
        )
