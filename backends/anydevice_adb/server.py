"""The adb server of a caller: where it is, what it lists, starting it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import anyio

from anydevice.kit import processes
from anydevice_schemas.errors import (
    AnydeviceError,
    CallTimeout,
    ConnectionLost,
    MachineUnreachable,
    ToolMissing,
    UpstreamUnavailable,
)

from .listing import Row, parse_rows
from .wire import Closed, Connection, Failure, Unreachable

HOST, PORT = "127.0.0.1", 5037
DEADLINE = 5.0
"""Seconds a question to the server may take."""
START = 20.0
"""Seconds the server may take to start."""
INSTALL = "pip install 'anydevice[android]' brings adb; or install Android's platform-tools."
_HOST = re.compile(r"[A-Za-z0-9._:-]{1,255}")
_PORT = re.compile(r"[0-9]{1,5}")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True)
class AdbServer:
    """An adb server by its address."""

    host: str = HOST
    port: int = PORT

    @classmethod
    def of(cls, variables: Mapping[str, str], default: str = "") -> AdbServer:
        """The server that a caller's environment names (`ANDROID_ADB_SERVER_HOST`, `ANDROID_ADB_SERVER_PORT`).

        Args:
            variables: The environment; what cannot be a host or a port in it is passed over, as if it were not there.
            default: `HOST:PORT` of the one to use where it names none; empty = adb's own.
        """
        given_host, _, given_port = default.rpartition(":")
        host = variables.get("ANDROID_ADB_SERVER_HOST", "")
        host = host if _HOST.fullmatch(host) else given_host or HOST
        ports = (variables.get("ANDROID_ADB_SERVER_PORT", ""), given_port)
        return cls(host, next((int(port) for port in ports if _PORT.fullmatch(port) and 0 < int(port) < 65536), PORT))

    @property
    def address(self) -> str:
        """`host:port`, for people."""
        return f"{self.host}:{self.port}"

    @contextlib.asynccontextmanager
    async def calling(self, deadline: float, waiting_for: str = "adb server") -> AsyncIterator[None]:
        """Bounds a conversation with the server, and turns what goes wrong with it into typed errors.

        Raises:
            CallTimeout: It did not come to its end in time.
            MachineUnreachable: A server on another machine does not answer.
            UpstreamUnavailable: No server runs on this machine.
            ConnectionLost: It ended in the middle.
        """
        try:
            with anyio.fail_after(deadline):
                yield
        except TimeoutError:
            raise CallTimeout(
                "The adb server or the device did not answer in time.", after=deadline, waiting_for=waiting_for
            ) from None
        except Unreachable as error:
            raise self._unreachable() from error
        except Closed as error:
            raise ConnectionLost("The connection to the device ended.", restarted=False, lost=waiting_for) from error

    async def connection(self) -> Connection:
        """A connection to the server; only within `calling`."""
        return await Connection.open(self.host, self.port)

    async def ask(self, service: str, deadline: float = DEADLINE) -> str:
        """The text a host service answers with.

        Raises:
            Failure: It was refused.
            CallTimeout, MachineUnreachable, UpstreamUnavailable, ConnectionLost: As `calling`.
        """
        async with self.calling(deadline), await self.connection() as connection:
            await connection.request(service)
            return (await connection.block()).decode("utf-8", "replace")

    async def version(self) -> int:
        """The server's version, e.g. 41.

        Raises:
            AnydeviceError: As `calling`.
        """
        text = await self.ask("host:version")
        try:
            return int(text, 16)
        except ValueError:
            raise ConnectionLost("What answers is no adb server.", restarted=False, lost="adb server") from None

    async def devices(self, deadline: float = DEADLINE) -> list[Row]:
        """What it lists.

        Raises:
            AnydeviceError: As `calling`.
        """
        return parse_rows(await self.ask("host:devices-l", deadline))

    async def track(self) -> AsyncIterator[list[Row]]:
        """The listing now, and again on each change, for as long as one listens. Has no deadline.

        Raises:
            MachineUnreachable, UpstreamUnavailable, ConnectionLost: As `calling`.
        """
        try:
            async with await self.connection() as connection:
                await connection.request("host:track-devices-l")
                while True:
                    yield parse_rows((await connection.block()).decode("utf-8", "replace"))
        except Unreachable as error:
            raise self._unreachable() from error
        except (Closed, Failure) as error:
            raise ConnectionLost("The adb server ended.", restarted=False, lost="adb server") from error

    async def start(self) -> None:
        """Starts the server, where it is to be on this machine. Does nothing when it runs.

        It is the user's from then on: anydevice never ends it.

        Raises:
            ToolMissing: There is no adb.
            MachineUnreachable: It is to be on another machine.
            UpstreamUnavailable: It did not start.
        """
        if self.host not in LOOPBACK:
            raise self._unreachable()
        result = await processes.run(
            [program(), "-P", str(self.port), "start-server"],
            deadline=START,
            env={**_environment(), "ANDROID_ADB_SERVER_PORT": str(self.port)},
        )
        if result.code != 0:
            raise UpstreamUnavailable(
                "The adb server did not start.",
                upstream="adb server",
                enable_hint=f"Run: adb -P {self.port} start-server",
                exit=result.code,
                stderr=result.complaint[-2000:],
            )

    async def ready(self, *, start: bool = True) -> None:
        """Returns once the server answers; starts it where that is possible and wanted.

        Raises:
            AnydeviceError: As `version` and `start`.
        """
        try:
            await self.version()
        except UpstreamUnavailable:
            if not start:
                raise
            await self.start()
            await self.version()

    def _unreachable(self) -> AnydeviceError:
        if self.host in LOOPBACK:
            return UpstreamUnavailable(
                f"No adb server runs at {self.address}.",
                upstream="adb server",
                enable_hint=f"Run: adb -P {self.port} start-server",
            )
        return MachineUnreachable(
            f"The adb server at {self.address} does not answer.", machine=self.address, last_seen=None
        )


def program() -> str:
    """Path of the adb program: on PATH, else the one adbutils brings.

    Raises:
        ToolMissing: There is none.
    """
    import shutil

    found = shutil.which("adb")
    if found is not None:
        return found
    try:
        from adbutils import adb_path
    except ImportError:
        raise ToolMissing("The program adb is not installed.", tools=["adb"], install=INSTALL) from None
    try:
        return str(adb_path())
    except Exception:  # adbutils raises whatever it came upon
        raise ToolMissing("The program adb is not installed.", tools=["adb"], install=INSTALL) from None


def _environment() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if not name.startswith(("ANDROID_ADB", "ADB_"))}
