"""A Wayland compositor: one connection, used by one thread, asked from the loop."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import anyio

from anydevice_schemas.errors import AnydeviceError, CallTimeout, ConnectionLost, DeviceOffline, OutcomeUnknown

from ..x11.worker import Stopped, TooLate, Worker
from .connection import Broken, Connection, TooSlow
from .protocol import Interface
from .session import Session

T = TypeVar("T")
DEADLINE: Final = 3.0
"""Seconds one exchange with the compositor may take."""
FAREWELL: Final = 1.0
"""Seconds closing may take."""


class Compositor:
    """A connection to one compositor. Nothing of it blocks the loop.

    Once the connection is lost it stays lost; open a new one. What hung for longer than its deadline is cut off, since
    nobody could say any more which of its requests will still be carried out. Between calls the thread listens: a
    compositor ends connections that do not take what it says.
    """

    def __init__(self, path: str) -> None:
        """Use `open`."""
        self.path = path
        self.farewells: list[Callable[[Session], object]] = []
        """Run in the thread before the connection is closed, if it still is one: for what must not stay behind."""
        self.unnoticed = 0.0
        """Time (of the loop) until which programs may not have noticed a mouse or keyboard that was just made."""
        self._socket: socket.socket | None = None
        self._session: Session | None = None
        self._others: Callable[[], list[int]] = list
        self._watched: Callable[[], None] | None = None
        self._lost: str | None = None
        self._closed = False
        self._hear, self._wake = socket.socketpair()
        self._hear.setblocking(False)
        self._wake.setblocking(False)
        self._worker = Worker(f"compositor {path}", self._cut, rest=self._rest, nudge=self._nudge)

    @classmethod
    async def open(cls, path: str, deadline: float = DEADLINE) -> Compositor:
        """Connects to a compositor.

        Args:
            path: Of its socket.
            deadline: Seconds it may take.

        Raises:
            DeviceOffline: There is none at the path, it refuses, or it does not answer.
        """
        compositor = cls(path)
        try:
            await compositor._worker.run(compositor._connect, deadline)
        except TooLate:
            await compositor.aclose()
            raise offline(f"it did not answer in {deadline:g} s") from None
        except (OSError, Broken) as error:
            await compositor.aclose()
            reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
            raise offline(reason) from error
        except BaseException:
            await compositor.aclose()
            raise
        return compositor

    @property
    def name(self) -> str:
        """The name of its socket, e.g. `wayland-1`."""
        return Path(self.path).name

    @property
    def lost(self) -> bool:
        """Whether the connection ended; every call fails from then on."""
        return self._lost is not None or self._closed

    def offers(self, interface: Interface, version: int = 1) -> bool:
        """Whether it offers something, in a version at least. Asks nobody: it tells by itself what it offers."""
        return self._session is not None and self._session.offers(interface, version)

    async def do(self, function: Callable[[Session], T], deadline: float = DEADLINE, *, sent: str = "") -> T:
        """Runs `function(session)` in the compositor's thread. Calls are carried out in their order, whole.

        Args:
            function: Blocking code that talks to the compositor, for milliseconds; it must not sleep.
            deadline: Seconds it may take, waiting for its turn included.
            sent: What it sends that has an effect (`click`), for the answer when nobody knows whether it had one;
                empty when it only reads.

        Returns:
            What the function returned.

        Raises:
            DeviceOffline: The connection was lost before.
            ConnectionLost: It was lost now, and nothing was sent.
            CallTimeout: The compositor did not answer in time, and nothing was sent.
            OutcomeUnknown: Either of the two, with something on its way.
        """
        self.guard()
        try:
            return await self._worker.run(lambda: self._run(function), deadline)
        except (TooLate, TooSlow) as late:
            began = late.began if isinstance(late, TooLate) else True
            if not (began and sent):
                raise CallTimeout(
                    "The compositor did not answer in time.",
                    hint="Call doctor; the session may be frozen or locked.",
                    after=deadline,
                    waiting_for="compositor",
                ) from None
            raise OutcomeUnknown(
                "The compositor did not say whether it did it.", sent=sent, reason=f"no answer in {deadline:g} s"
            ) from None
        except Stopped:
            self.guard()
            raise
        except Broken as broken:
            self._lost = self._lost or str(broken)
            if sent:
                raise OutcomeUnknown(
                    "The connection to the compositor was lost before it said whether it did it.",
                    sent=sent,
                    reason=self._lost,
                ) from broken
            raise ConnectionLost(
                "The connection to the compositor was lost.",
                hint="Call devices to see whether the session is still there.",
                restarted=False,
                reason=self._lost,
            ) from broken

    async def noticed(self) -> None:
        """Returns once programs have had the time to notice a mouse or keyboard that was just made."""
        await anyio.sleep(max(0.0, self.unnoticed - anyio.current_time()))

    def watch(self, others: Callable[[], list[int]], ready: Callable[[], None]) -> None:
        """Also waits between calls for other descriptors to have room.

        Args:
            others: Which ones now; called in the thread.
            ready: Called in the thread when one may have; it must not block.
        """
        self._others, self._watched = others, ready

    def guard(self) -> None:
        """Says so when the connection is lost.

        Raises:
            DeviceOffline: It is.
        """
        if self.lost:
            raise offline(self._lost or "the connection was closed")

    async def aclose(self) -> None:
        """Closes the connection; the compositor forgets all that belonged to it. May be called more than once."""
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
        self._session = Session(Connection(self.path, self._take))

    def _take(self, peer: socket.socket) -> None:
        self._socket = peer

    def _run(self, function: Callable[[Session], T]) -> T:
        if self._session is None or self._lost is not None:
            raise Broken(self._lost or "lost")
        return function(self._session)

    def _rest(self) -> None:
        """Listens until something is asked."""
        session = self._session
        if session is None or self.lost:
            self._hear.setblocking(True)
            self._hear.recv(4096)
            self._hear.setblocking(False)
            return
        try:
            session.connection.listen([self._hear.fileno()], self._others())
            if self._watched is not None:
                self._watched()
        except Broken as broken:
            self._lost = self._lost or str(broken)
        except Exception as error:  # the thread goes on, or whoever asks next would wait for nothing
            self._lost = self._lost or type(error).__name__
        with contextlib.suppress(BlockingIOError):  # all nudges heard
            while self._hear.recv(4096):
                pass

    def _disconnect(self) -> None:
        if self._session is not None:
            if self._lost is None:
                for farewell in self.farewells:
                    with contextlib.suppress(Broken, TooSlow, AnydeviceError):
                        farewell(self._session)
            self._session.connection.close()
        self._lost = self._lost or "the connection was closed"

    # --- in the loop -----------------------------------------------------------------------------------

    def _nudge(self) -> None:
        with contextlib.suppress(OSError):  # full of nudges, or closed
            self._wake.send(b".")

    def _cut(self) -> None:
        """Breaks the connection under whatever waits for it in the thread."""
        self._lost = self._lost or "it did not answer in time"
        if self._socket is not None:
            with contextlib.suppress(OSError):  # gone already
                self._socket.shutdown(socket.SHUT_RDWR)


def offline(reason: str) -> DeviceOffline:
    """The error for a compositor that cannot be reached."""
    return DeviceOffline(
        "The Wayland session cannot be reached.",
        state="offline",
        fix="Log in to the session again, then call with its WAYLAND_DISPLAY and XDG_RUNTIME_DIR.",
        reason=reason,
    )
