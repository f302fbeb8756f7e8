"""The hdc server of a caller: where it is, what it lists, starting it. It is never ended."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Final

import anyio

from anydevice.kit import processes
from anydevice_schemas.errors import (
    AnydeviceError,
    CallTimeout,
    ConnectionLost,
    MachineUnreachable,
    UpstreamUnavailable,
)

from . import program
from .listing import Row, parse_rows
from .verdicts import error_of, refusal
from .wire import Closed, Connection, NoServer, Unreachable

HOST, PORT = "127.0.0.1", 8710
DEADLINE: Final = 5.0
"""Seconds a question to the server may take."""
START: Final = 15.0
"""Seconds the server may take to start."""
MOST: Final = 4 << 20
_HOST = re.compile(r"[A-Za-z0-9._:-]{1,255}")


@dataclass(frozen=True)
class HdcServer:
    """An hdc server by its address."""

    host: str = HOST
    port: int = PORT

    @classmethod
    def of(cls, variables: Mapping[str, str], default: str = "") -> HdcServer:
        """The server that a caller's environment names (`OHOS_HDC_SERVER_PORT`).

        Args:
            variables: The environment; what can be no port in it is passed over.
            default: `HOST:PORT` of the one to use where it names none; empty = hdc's own.
        """
        given_host, _, given_port = default.rpartition(":")
        host = given_host if _HOST.fullmatch(given_host) else HOST
        named = variables.get("OHOS_HDC_SERVER_PORT", "")
        if _is_port(named):  # a port of the environment is one of this host: hdc itself takes it so
            return cls(HOST, int(named))
        return cls(host, int(given_port) if _is_port(given_port) else PORT)

    @property
    def address(self) -> str:
        """`host:port`, for people and for `hdc -s`."""
        return f"{self.host}:{self.port}"

    @property
    def here(self) -> bool:
        """Whether it runs on this host, and so reads and writes this host's files."""
        return self.host in program.LOOPBACK

    @contextlib.asynccontextmanager
    async def calling(self, deadline: float, waiting_for: str = "hdc server") -> AsyncIterator[None]:
        """Bounds a conversation with the server, and turns what goes wrong with it into typed errors.

        Raises:
            CallTimeout: It did not come to its end in time.
            MachineUnreachable: A server on another host does not answer.
            UpstreamUnavailable: No hdc server runs there.
            ConnectionLost: It ended in the middle.
        """
        try:
            with anyio.fail_after(deadline):
                yield
        except TimeoutError:
            raise CallTimeout(
                "The hdc server or the device did not answer in time.", after=deadline, waiting_for=waiting_for
            ) from None
        except Unreachable as error:
            raise self._unreachable(error.silent) from error
        except NoServer as error:
            raise UpstreamUnavailable(
                "What answers at the address is no hdc server.",
                upstream="hdc server",
                enable_hint="Set OHOS_HDC_SERVER_PORT to the port of the hdc server.",
                address=self.address,
            ) from error
        except Closed as error:
            raise ConnectionLost("The connection to the device ended.", restarted=False, lost=waiting_for) from error

    async def ask(self, command: str, *, key: str = "", deadline: float = DEADLINE) -> str:
        """The text a command is answered with.

        Raises:
            AnydeviceError: It was refused (as `error_of`), or as `calling`.
        """
        async with self.calling(deadline), await Connection.open(self.host, self.port, key) as connection:
            await connection.command(command)
            answer, _ = await connection.answer(MOST)
        text = answer.decode("utf-8", "replace")
        found = refusal(text)
        if found is not None:
            raise error_of(found)
        return text

    async def rows(self, deadline: float = DEADLINE) -> list[Row]:
        """What it lists, serial ports that are no device left out.

        Raises:
            AnydeviceError: As `ask`.
        """
        return [row for row in parse_rows(await self.ask("list targets -v", deadline=deadline)) if not row.noise]

    async def version(self) -> str:
        """Its version, as it says it; empty where it says none.

        Raises:
            AnydeviceError: As `ask`.
        """
        found = re.search(r"Ver: ?([\w.]+)\s*$", (await self.ask("checkserver")).strip())
        return found[1] if found else ""

    async def ready(self, variables: Mapping[str, str], configured: str = "") -> None:
        """Starts it by the caller's own `hdc start` where nobody listens. Never ends one.

        Raises:
            ToolMissing: There is no hdc.
            UpstreamUnavailable: It did not come up, or it would have to run on another host.
        """
        if not self.here:
            raise self._unreachable(False)
        path = await program.locate(variables, configured)
        env = {**os.environ, "OHOS_HDC_SERVER_PORT": str(self.port)}
        said = ""
        try:
            done = await processes.run([path, "start"], deadline=START, env=env)
            said = (done.text + done.complaint)[-1000:]
            with anyio.move_on_after(START):
                while True:
                    with contextlib.suppress(AnydeviceError):
                        await self.rows(deadline=2.0)
                        return
                    await anyio.sleep(0.1)
        except CallTimeout:
            said = "it did not end"
        raise UpstreamUnavailable(
            "The hdc server does not start.",
            upstream="hdc server",
            enable_hint="Run hdc start by hand and read what it says.",
            said=said,
        )

    def _unreachable(self, silent: bool) -> UpstreamUnavailable | MachineUnreachable:
        if self.here and not silent:
            return UpstreamUnavailable(
                "No hdc server runs.", upstream="hdc server", enable_hint="Run hdc start.", address=self.address
            )
        return MachineUnreachable("The hdc server does not answer.", machine=self.address, last_seen=None)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text) < 65536
