"""An X display: one connection, used by one thread, asked from the loop."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable
from typing import TypeVar

import anyio
from Xlib import error as xerror

from anydevice_schemas.errors import AnydeviceError, CallTimeout, ConnectionLost, DeviceOffline, OutcomeUnknown

from . import authority
from .connection import CONNECTION_ERRORS, Connection
from .worker import Stopped, TooLate, Worker

T = TypeVar("T")
FAREWELL = 2.0
"""Seconds closing may take."""
DEADLINE = 3.0
"""Seconds one exchange with the X server may take."""


class XDisplay:
    """A connection to one X display. Nothing of it blocks the loop.

    Once the connection is lost it stays lost; open a new one. What hung for longer than its deadline is cut off, since
    nobody could say any more which of its requests the server will still carry out.
    """

    def __init__(self, name: str, xauthority: str | None) -> None:
        """Use `open`."""
        self.name = name
        self.xauthority = xauthority
        self.farewells: list[Callable[[Connection], object]] = []
        """Run in the thread before the connection is closed, if it still is one: for what must not stay behind."""
        self._socket: socket.socket | None = None
        self._connection: Connection | None = None
        self._lost: str | None = None
        self._closed = False
        self._worker = Worker(f"X display {name}", self._cut)

    @classmethod
    async def open(cls, name: str, xauthority: str | None = None, deadline: float = DEADLINE) -> XDisplay:
        """Connects to a display.

        Args:
            name: Its name, e.g. `:1`.
            xauthority: Path of its authority file; None for the user's own, where there is one.
            deadline: Seconds it may take.

        Raises:
            DeviceOffline: There is no such display, it refuses, or it does not answer.
        """
        display = cls(name, xauthority if xauthority is not None else authority.default_file())
        try:
            await display._worker.run(display._connect, deadline)
        except TooLate:
            await display.aclose()
            raise _offline(f"it did not answer in {deadline:g} s") from None
        except (xerror.DisplayError, *CONNECTION_ERRORS) as error:
            await display.aclose()
            raise _offline(type(error).__name__) from error
        except BaseException:
            await display.aclose()
            raise
        return display

    @property
    def lost(self) -> bool:
        """Whether the connection ended; every call fails from then on."""
        return self._lost is not None or self._closed

    async def do(self, function: Callable[[Connection], T], deadline: float = DEADLINE, *, sent: str = "") -> T:
        """Runs `function(connection)` in the display's thread. Calls are carried out in their order, whole.

        Args:
            function: Blocking code that talks to the X server, for milliseconds; it must not sleep.
            deadline: Seconds it may take, waiting for its turn included.
            sent: What it sends that has an effect (`click`), for the answer when nobody knows whether it had one;
                empty when it only reads.

        Returns:
            What the function returned.

        Raises:
            DeviceOffline: The connection was lost before.
            ConnectionLost: It was lost now, and nothing was sent.
            CallTimeout: The X server did not answer in time, and nothing was sent.
            OutcomeUnknown: Either of the two, with something on its way.
            XError: The server refused a request; the caller knows what that means.
        """
        self.guard()
        try:
            return await self._worker.run(lambda: self._run(function), deadline)
        except TooLate as late:
            if not (late.began and sent):
                raise CallTimeout(
                    "The X server did not answer in time.",
                    after=deadline,
                    waiting_for="X server",
                    hint="Call doctor; the display may be frozen.",
                ) from None
            raise OutcomeUnknown(
                "The X server did not say whether it did it.", sent=sent, reason=f"no answer in {deadline:g} s"
            ) from None
        except Stopped:
            self.guard()
            raise
        except _Broken as broken:
            reason = self._lost or str(broken)
            if sent:
                raise OutcomeUnknown(
                    "The connection to the X display was lost before it said whether it did it.",
                    sent=sent,
                    reason=reason,
                ) from broken.__cause__
            raise ConnectionLost(
                "The connection to the X display was lost.",
                hint="Call devices to see whether the display is still there.",
                restarted=False,
                reason=reason,
            ) from broken.__cause__

    def guard(self) -> None:
        """Says so when the connection is lost.

        Raises:
            DeviceOffline: It is.
        """
        if self.lost:
            raise _offline(self._lost or "the connection was closed")

    async def aclose(self) -> None:
        """Closes the connection; the server forgets everything that belonged to it. May be called more than once."""
        if self._closed:
            return
        self._closed = True
        with anyio.CancelScope(shield=True):
            try:
                await self._worker.run(self._disconnect, FAREWELL)
            except (TooLate, Stopped):
                self._cut()
        self._worker.stop()

    # --- in the thread ---------------------------------------------------------------------------------

    def _connect(self) -> None:
        self._connection = Connection(self.name, self.xauthority, self._take)

    def _take(self, peer: socket.socket) -> None:
        self._socket = peer

    def _run(self, function: Callable[[Connection], T]) -> T:
        connection = self._connection
        if connection is None or self._lost is not None:
            raise _Broken("lost")
        try:
            result = function(connection)
            connection.tidy()
            return result
        except xerror.XError:
            raise
        except CONNECTION_ERRORS as error:
            if connection.display.socket_error is None:
                raise  # a defect of ours, or a window's, and no matter of the connection
            self._lost = self._lost or "the X server closed it"
            raise _Broken(type(error).__name__) from error

    def _disconnect(self) -> None:
        if self._connection is not None:
            for farewell in self.farewells:
                with contextlib.suppress(xerror.XError, AnydeviceError, *CONNECTION_ERRORS):
                    farewell(self._connection)
            with contextlib.suppress(*CONNECTION_ERRORS):  # lost before
                self._connection.close()
        if self._socket is not None:
            self._socket.close()

    # --- in the loop -----------------------------------------------------------------------------------

    def _cut(self) -> None:
        """Breaks the connection under whatever waits for it in the thread."""
        self._lost = self._lost or "the X server did not answer in time"
        if self._socket is not None:
            with contextlib.suppress(OSError):  # gone already
                self._socket.shutdown(socket.SHUT_RDWR)


class _Broken(Exception):
    """The connection broke under a function."""


def _offline(reason: str) -> DeviceOffline:
    return DeviceOffline(
        "The X display cannot be reached.",
        state="offline",
        fix="Start the desktop again (boot, for one of ours), then repeat the call.",
        reason=reason,
    )
