"""One device behind an adb server: commands, files, ports, sockets; each call bounded as a whole."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from anydevice_schemas.errors import (
    AnydeviceError,
    DeviceOffline,
    DeviceUnauthorized,
    PathNotFound,
    PermissionMissing,
    Refused,
    UpstreamUnavailable,
)

from . import old_shell, shell
from .quoting import quote
from .server import AdbServer
from .shell import MOST, ShellDone, ShellStream
from .sync import Entry, Sync
from .wire import LONGEST_REQUEST, Connection, Failure

DEADLINE = 10.0
"""Seconds a command may take unless told otherwise."""
TRANSFER = 300.0
"""Seconds a file may take unless told otherwise."""
TEMPORARY = "/data/local/tmp"
"""Folder of every device that the shell may write and run from."""
_SHELL = "shell,v2,raw:"
_READ = 1 << 20


Entries = list[Entry]
Pairs = list[tuple[str, str]]


class AdbDevice:
    """A device by its serial. Holds no connection: each call has its own, so calls run side by side."""

    def __init__(self, server: AdbServer, serial: str) -> None:
        self.server = server
        self.serial = serial
        self._features: frozenset[str] | None = None

    # --- commands ---

    async def shell(
        self,
        command: str,
        *,
        deadline: float = DEADLINE,
        stdin: bytes | AsyncIterator[bytes] | None = None,
        most: int = MOST,
    ) -> ShellDone:
        """Runs a command line to its end. Put words into it by `quote` or `line` only.

        A call that is late or cancelled ends the command on the device.

        Args:
            command: For the device's shell; of any length.
            deadline: Seconds for all of it.
            stdin: What the command reads.
            most: Bytes kept of each output.

        Raises:
            CallTimeout: It did not end in time.
            DeviceOffline, DeviceUnauthorized: The device cannot be reached.
            ConnectionLost: The transport was lost before the command ended.
            MachineUnreachable, UpstreamUnavailable: The adb server cannot be reached.
        """
        async with self._calling(deadline, "shell"):
            if len(command.encode()) + len(_SHELL) > LONGEST_REQUEST:
                return await self._long(command, stdin, most)
            async with await self._begin(command) as connection:
                if self._plain:
                    return await old_shell.run(connection, stdin, most)
                return await shell.run(connection, stdin, most)

    @contextlib.asynccontextmanager
    async def stream(self, command: str, *, deadline: float = DEADLINE) -> AsyncIterator[ShellStream]:
        """A command that goes on until the context is left; `deadline` is for its start alone.

        Raises:
            AnydeviceError: As `shell`. An end of the transport later is `Closed` from the stream.
        """
        async with self._calling(deadline, "shell"):
            connection = await self._begin(command)
        try:
            yield ShellStream(connection)
        finally:
            connection.close()

    async def open(self, service: str, *, deadline: float = DEADLINE) -> Connection:
        """A connection to a service of the device, such as `tcp:9008` or `localabstract:name`. Close it.

        Raises:
            UpstreamUnavailable: Nothing listens there.
            AnydeviceError: As `shell`.
        """
        async with self._calling(deadline, service.partition(":")[0]):
            return await self._transport(service)

    async def features(self) -> frozenset[str]:
        """What the device's daemon can do (`shell_v2`, `stat_v2`, …); asked for once.

        Raises:
            AnydeviceError: As `shell`.
        """
        if self._features is None:
            async with self._calling(DEADLINE, "features"), await self.server.connection() as connection:
                await connection.request(f"host-serial:{self.serial}:features")
                text = (await connection.block()).decode("utf-8", "replace")
            self._features = frozenset(text.strip().split(","))
        return self._features

    def forget(self) -> None:
        """Asks for the features anew: the device may have become another one (an update, a recovery system)."""
        self._features = None

    # --- files ---

    async def stat(self, path: str, *, deadline: float = DEADLINE) -> Entry:
        """What a path of the device is.

        Raises:
            PathNotFound: There is nothing.
            PermissionMissing: The shell may not look there.
            AnydeviceError: As `shell`.
        """
        async with self._syncing(deadline, path) as sync:
            return await sync.stat(path)

    async def list(self, path: str, *, deadline: float = DEADLINE) -> Entries:
        """The entries of a folder; empty also where it cannot be read.

        Raises:
            AnydeviceError: As `shell`.
        """
        async with self._syncing(deadline, path) as sync:
            return await sync.list(path)

    async def push(
        self, source: bytes | Path, target: str, *, mode: int = 0o644, changed: float = 0.0, deadline: float = TRANSFER
    ) -> int:
        """Writes a file of the device from bytes or from a file of the host; returns its bytes.

        Raises:
            PathNotFound: The source does not exist.
            Refused: The device could not write it; its words are in details.
            AnydeviceError: As `shell`.
        """
        pieces = _bytes(source) if isinstance(source, bytes) else _file(source)
        async with contextlib.aclosing(pieces), self._syncing(deadline, target) as sync:
            return await sync.send(target, pieces, mode=mode, changed=changed)

    async def pull(self, source: str, target: Path, *, deadline: float = TRANSFER, most: int | None = None) -> int:
        """Reads a file of the device into a new file of the host; returns its bytes.

        Nothing is left of a file that did not come whole.

        Raises:
            PathNotFound: There is no such file.
            Refused: The device could not read it, or it is longer than `most` bytes.
            FileExistsError: The target is there.
            AnydeviceError: As `shell`.
        """
        out = await anyio.to_thread.run_sync(_create, target)
        try:
            async with self._syncing(deadline, source) as sync:
                return await sync.receive(source, lambda piece: anyio.to_thread.run_sync(_write, out, piece), most)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(target.unlink)
            raise
        finally:
            os.close(out)

    async def read(self, source: str, *, deadline: float = TRANSFER, most: int = MOST) -> bytes:
        """The bytes of a file of the device.

        Raises:
            AnydeviceError: As `pull`.
        """
        kept = bytearray()

        async def keep(piece: bytes) -> None:
            kept.extend(piece)

        async with self._syncing(deadline, source) as sync:
            await sync.receive(source, keep, most)
        return bytes(kept)

    # --- ports ---

    async def forward(self, host: str, device: str, *, rebind: bool = False) -> str:
        """Lets `host` (`tcp:0` chooses a port) lead to `device` (`tcp:9008`, `localabstract:x`); returns host's end.

        Raises:
            Refused: The port is taken, or an address is none.
            AnydeviceError: As `shell`.
        """
        words = f"forward:{'' if rebind else 'norebind:'}{host};{device}"
        async with self._calling(DEADLINE, "forward"), await self.server.connection() as connection:
            await connection.request(f"host-serial:{self.serial}:{words}")
            await connection.okay()
            return f"tcp:{(await connection.block()).decode()}" if host == "tcp:0" else host

    async def forwards(self) -> Pairs:
        """Host and device ends of this device's forwards, also those of other programs."""
        async with self._calling(DEADLINE, "forward"), await self.server.connection() as connection:
            await connection.request(f"host-serial:{self.serial}:list-forward")
            rows = (await connection.block()).decode("utf-8", "replace").splitlines()
        cells = (row.split() for row in rows)
        return [(row[1], row[2]) for row in cells if len(row) == 3 and row[0] == self.serial]

    async def unforward(self, host: str) -> None:
        """Takes a forward away.

        Raises:
            Refused: There is none.
        """
        async with self._calling(DEADLINE, "forward"), await self.server.connection() as connection:
            await connection.request(f"host-serial:{self.serial}:killforward:{host}")
            await connection.okay()

    async def reverse(self, device: str, host: str, *, rebind: bool = False) -> str:
        """Lets `device` (`tcp:0` chooses a port) lead to `host`; returns the device's end.

        Raises:
            Refused: The port is taken, or an address is none.
            AnydeviceError: As `shell`.
        """
        words = f"reverse:forward:{'' if rebind else 'norebind:'}{device};{host}"
        async with self._calling(DEADLINE, "reverse"), await self._transport(words) as connection:
            await connection.okay()
            return f"tcp:{(await connection.block()).decode()}" if device == "tcp:0" else device

    async def reverses(self) -> Pairs:
        """Device and host ends of the device's reverse forwards."""
        async with self._calling(DEADLINE, "reverse"), await self._transport("reverse:list-forward") as connection:
            rows = (await connection.block()).decode("utf-8", "replace").splitlines()
        cells = (row.split() for row in rows)
        return [(row[1], row[2]) for row in cells if len(row) == 3]

    async def unreverse(self, device: str) -> None:
        """Takes a reverse forward away.

        Raises:
            Refused: There is none.
        """
        words = f"reverse:killforward:{device}"
        async with self._calling(DEADLINE, "reverse"), await self._transport(words) as connection:
            await connection.okay()

    # --- inside ---

    @property
    def _plain(self) -> bool:
        """Whether the device is from before shell_v2 (API 23 and older)."""
        return self._features is not None and "shell_v2" not in self._features

    async def _begin(self, command: str) -> Connection:
        await self.features()
        if self._plain:
            return await self._transport("exec:" + old_shell.wrapped(command))
        return await self._transport(_SHELL + command)

    async def _transport(self, service: str) -> Connection:
        connection = await self.server.connection()
        try:
            await connection.request(f"host:transport:{self.serial}")
            await connection.request(service)
        except BaseException:
            connection.close()
            raise
        return connection

    async def _long(self, command: str, stdin: bytes | AsyncIterator[bytes] | None, most: int) -> ShellDone:
        """Runs a command line that no request can hold, as a script that is taken away afterwards."""
        path = f"{TEMPORARY}/anydevice-{secrets.token_hex(8)}.sh"
        try:
            # For the shell's own eyes: the text may be a secret. A push that is cancelled may have begun the file.
            await self.push(command.encode(), path, mode=0o600)
            async with await self._begin(f"sh {quote(path)}") as connection:
                if self._plain:
                    return await old_shell.run(connection, stdin, most)
                return await shell.run(connection, stdin, most)
        finally:
            with anyio.move_on_after(3.0, shield=True), contextlib.suppress(AnydeviceError):
                await self.shell(f"rm -f {quote(path)}", deadline=3.0)

    @contextlib.asynccontextmanager
    async def _calling(self, deadline: float, what: str) -> AsyncIterator[None]:
        async with self.server.calling(deadline, what):
            try:
                yield
            except Failure as failure:
                raise self.typed(failure, what) from failure

    @contextlib.asynccontextmanager
    async def _syncing(self, deadline: float, path: str) -> AsyncIterator[Sync]:
        features = await self.features()
        async with self._calling(deadline, "files"), await self._transport("sync:") as connection:
            try:
                yield Sync(connection, features)
            except FileNotFoundError:
                raise PathNotFound("There is no such file on the device.", path=path) from None
            except PermissionError:
                raise PermissionMissing(
                    "The device does not let the shell at this file.", permission=path, fix="Use a path it may use."
                ) from None
            except OverflowError:
                raise Refused(
                    "The file is longer than what is read.", reason="too long", alternative="Pull it into a file."
                ) from None
            except Failure as failure:
                if "No such file" in failure.reason:
                    raise PathNotFound("There is no such file on the device.", path=path) from failure
                raise

    def typed(self, failure: Failure, what: str) -> AnydeviceError:
        """The typed error for what the server, or the device, said no to."""
        reason = failure.reason
        said: dict[str, Any] = {"reason_given": reason[:2000], "serial": self.serial}
        if "unauthorized" in reason or "authorizing" in reason:
            return DeviceUnauthorized(
                "The device has not approved this host.", state="unauthorized", fix="Approve it on the device.", **said
            )
        if "offline" in reason or "still connecting" in reason:
            return DeviceOffline("The device is offline.", state="offline", fix="Reconnect the device.", **said)
        if "not found" in reason and ("device" in reason or "transport" in reason):
            self.forget()
            return DeviceOffline(
                "The adb server has no such device.", state="offline", fix="Connect the device.", **said
            )
        if what in ("tcp", "localabstract", "localfilesystem", "local", "localreserved"):
            return UpstreamUnavailable(
                "Nothing on the device listens there.", upstream=what, enable_hint="Start what listens there.", **said
            )
        return Refused(
            f"The device or its adb server refused ({what}).", reason=reason[:500], alternative="See details.", **said
        )


async def _bytes(data: bytes) -> AsyncGenerator[bytes, None]:
    yield data


async def _file(path: Path) -> AsyncGenerator[bytes, None]:
    try:
        handle = await anyio.to_thread.run_sync(os.open, path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        raise PathNotFound("The file does not exist.", path=path.name) from None
    try:
        while piece := await anyio.to_thread.run_sync(os.read, handle, _READ):
            yield piece
    finally:
        os.close(handle)


def _create(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def _write(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
