"""Programs that stand for hdc and for the Emulator manager: small files that hand everything to the lab, and wait."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import Process, SocketStream, TaskGroup

from .. import guest
from ..guest import programs
from ..guest.files import Files, Layout
from ..guest.programs import Invocation
from ..handset.faults import FaultList
from ..handset.journal import Journal
from . import client

if TYPE_CHECKING:
    from .emulators import Emulators
    from .server import HdcServer

HEAD = """#!{interpreter} -ISE
import posix
posix.environ[b"LAB_SOCKET"] = {socket!r}
posix.environ[b"CLASSPATH"] = posix.environ.get(b"OHOS_HDC_SERVER_PORT", b"")  # the one variable that is handed on
"""


class _HostFiles(Files):
    """Files of this host: paths are what they are."""

    def __init__(self) -> None:
        self.layout = Layout((), {}, ())

    def host(self, path: str) -> Path:
        """The path."""
        return Path(path)

    def outward_word(self, word: str) -> str:
        """The word."""
        return word


class _NoFaults(FaultList):
    """They do nothing wrong by themselves."""

    async def strike_line(self, line: str) -> bytes | None:
        """Nothing."""
        return None

    async def strike(self, call: Invocation[Any]) -> int | None:
        """Nothing."""
        return None


class Tools:
    """The programs, and what answers them.

    Attributes:
        hdc, emulator: Where they are.
        server: The lab's own; `others` are those that a client began on other ports.
    """

    def __init__(self, folder: Path, server: HdcServer, emulators: Emulators) -> None:
        self.server, self.tasks = server, server.tasks
        self.others: dict[int, HdcServer] = {}
        self.files: Files = _HostFiles()
        self.faults, self.journal = _NoFaults(), Journal()
        self.running: dict[int, Invocation[Any]] = {}
        self.processes: set[Process] = set()
        self.shell, self.direct, self.environment = "/bin/sh", False, dict[str, str]()
        self._socket = folder / "tools.sock"
        tools = folder / "toolchains"
        tools.mkdir()
        self.hdc, self.emulator = tools / "hdc", tools / "Emulator"
        head = HEAD.format(interpreter=sys._base_executable, socket=str(self._socket).encode())  # type: ignore[attr-defined]
        for program in (self.hdc, self.emulator):
            program.write_text(head + files(guest).joinpath("client.txt").read_text())
            program.chmod(0o755)

        async def hdc(call: Invocation[Any]) -> int:
            return await client.run(self, call)

        self.commands: Mapping[str, Callable[[Any], Awaitable[int]]] = {"hdc": hdc, "Emulator": emulators.run}

    async def run(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Answers them until it is cancelled."""
        listener = await anyio.create_unix_listener(self._socket)
        async with anyio.create_task_group() as group:
            task_status.started()
            await self._serve(listener, group)

    async def _serve(self, listener: anyio.abc.Listener[SocketStream], group: TaskGroup) -> None:
        async def called(stream: SocketStream) -> None:
            assert isinstance(stream, anyio.abc.UNIXSocketStream)
            await programs.answer(self, stream)

        await listener.serve(called, group)
