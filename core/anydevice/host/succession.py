"""A daemon replaced by a newer version of itself: same process, same lock and socket, and the devices it holds.

    old: check that the new version starts, at all
         read nothing more; let what runs end; every client is told that it is answered, or to ask again
         collect what each backend hands over (open descriptors, process ids, folders)
         exec the new version's interpreter
    new: take lock, socket and devices up, and serve

Sessions and leases are on disk already and need no handing over. Up to the exec nothing is given up that could not be
had again: if it fails, the old version goes on. After it, whatever goes wrong is a crash, and is recovered from as one.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import structlog

import anydevice
from anydevice_schemas.errors import AnydeviceError, Refused

from ..discovery import describe
from ..kit import processes
from .connection import free, other_version
from .protocol import HAND_OVER_DEADLINE

if TYPE_CHECKING:
    from anydevice_schemas import Caller

    from ..router import Router
    from .daemon import Daemon

log = structlog.get_logger("anydevice.host.succession")

FORMAT = 1
"""Of `Heritage`; a version that reads another one is not handed over to."""

CHECK_DEADLINE = 20.0
"""Seconds the new version gets to show that it starts."""

CUT_DEADLINE = 3.0
"""Seconds what did not end in time gets to be told so."""

BACKEND_DEADLINE = 10.0
"""Seconds a backend gets to hand its devices over, and to take them up."""


@dataclass(slots=True)
class Heritage:
    """What a daemon leaves to the version that replaces it.

    Attributes:
        version: The version that left it.
        lock, listener: Descriptors of the lock file and of the listening socket.
        idle: Seconds without use after which the daemon ends; 0 = never.
        detached: Whether it logs to the file.
        backends: What each backend handed over, by its name.
        over: Settings that count more than the file.
    """

    version: str
    lock: int
    listener: int
    idle: float
    detached: bool
    backends: dict[str, dict[str, Any]] = field(default_factory=dict)
    format: int = FORMAT
    over: list[str] = field(default_factory=list)

    def save(self) -> int:
        """Writes it to a file without a name; returns its descriptor, which the new version inherits.

        Raises:
            OSError: There is no room for it.
            TypeError: A backend handed over what JSON cannot hold.
        """
        text = json.dumps(asdict(self)).encode()
        with tempfile.TemporaryFile() as file:
            file.write(text)
            file.seek(0)
            handle = os.dup(file.fileno())
        for inherited in (self.lock, self.listener, handle):
            os.set_inheritable(inherited, True)
        return handle

    @classmethod
    def load(cls, handle: int) -> Heritage:
        """Reads what `save` wrote, and keeps its descriptors from being inherited any further.

        Raises:
            OSError, ValueError, TypeError: It is no heritage.
        """
        with os.fdopen(handle, "rb") as file:
            heritage = cls(**json.loads(file.read()))
        for inherited in (heritage.lock, heritage.listener):
            os.set_inheritable(inherited, False)
        return heritage


class Succession:
    """Replaces a daemon by a newer version, once one asks for it.

    Attributes:
        left: Callers whose connections were ended for it; they are expected back.
    """

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self.left: list[Caller] = []
        self._asking = anyio.Lock()
        self._over = anyio.Event()

    async def by(self, version: str, python: str) -> Refused:
        """Hands over to a newer version. Returns only when that failed, with what its client is told.

        Args:
            version: The new version.
            python: The interpreter that has it.
        """
        async with self._asking:
            why = await self._objection(version, python)
            if not why:
                why = await self._hand_over(version, python)
        log.warning("not_handed_over", version=version[:40], reason=why)
        return other_version(version, why)

    async def over(self) -> None:
        """Returns when a hand-over that is under way has failed. (When it succeeds, nobody is left to return to.)"""
        while self.daemon.handing_over:
            await self._over.wait()

    async def _objection(self, version: str, python: str) -> str:
        """Why the new version would not start; empty when it would."""
        command = [python, "-P", "-m", "anydevice.host", "--check"]
        try:
            result = await processes.run(command, deadline=CHECK_DEADLINE, cwd="/")
        except AnydeviceError as error:
            return error.message.rstrip(".")
        try:
            said = json.loads(result.stdout.splitlines()[-1])
            ok, reason, theirs, format_ = said["ok"], said["reason"], said["version"], said["format"]
        except (ValueError, LookupError, TypeError):
            words = (result.complaint.strip().splitlines() or ["it said nothing"])[-1]
            return f"its interpreter cannot run it ({words[:200]})"
        if not ok:
            return f"it would not start: {str(reason)[:300]}"
        if theirs != version:
            return f"its interpreter runs version {str(theirs)[:40]} in the daemon's environment"
        return "" if format_ == FORMAT else "it cannot take over from this version"

    async def _hand_over(self, version: str, python: str) -> str:
        """Returns why it failed. Does not return otherwise."""
        daemon = self.daemon
        log.info("handing_over", version=version[:40], python=python)
        self._over = anyio.Event()
        daemon.handing_over = daemon.router.services.desk.leaving = True
        heritage: Heritage | None = None
        listener = -1
        try:
            daemon.place.say("handing over")
            listener = daemon.stop_listening()
            await self._quiet()
            if daemon.stopping:
                return "the daemon is being stopped"
            heritage = Heritage(anydevice.__version__, daemon.place.lock, listener, daemon.idle, daemon.detached)
            heritage.over = list(daemon.router.services.settings.over)
            await self._collect(heritage.backends)
            handle = heritage.save()
            try:
                os.execve(python, [python, "-P", "-m", "anydevice.host", "--took-over", str(handle)], os.environ)
            finally:
                os.close(handle)
        except (OSError, TypeError, ValueError) as error:
            return describe(error)
        finally:
            with anyio.CancelScope(shield=True):
                if heritage is not None:
                    await take_up(daemon.router, heritage.backends)
                os.set_inheritable(daemon.place.lock, False)
                daemon.handing_over = daemon.router.services.desk.leaving = False
                left, self.left = self.left, []
                for caller in left:
                    await free(daemon, caller, clean=False)
                if listener >= 0 and not daemon.stopping:
                    await daemon.listen_again(listener)
                    daemon.place.say("ready")
                self._over.set()

    async def _quiet(self) -> None:
        """Lets what runs end, within its time, and tells what does not that nobody waited for it."""
        daemon = self.daemon
        for stream in daemon.streams:
            stream.pause()
        with anyio.move_on_after(HAND_OVER_DEADLINE):
            while daemon.connections and not daemon.stopping:  # noqa: ASYNC110 - they end one by one
                await anyio.sleep(0.005)
        for info in daemon.connections.values():
            log.warning("not_waited_for", what=info.what, transport=info.transport, calls=info.running)
            info.stream.hurry(1.0)
            info.scope.cancel()
        with anyio.move_on_after(CUT_DEADLINE):
            while daemon.connections and not daemon.stopping:  # noqa: ASYNC110 - as above
                await anyio.sleep(0.005)

    async def _collect(self, states: dict[str, dict[str, Any]]) -> None:
        """Asks every backend in use for its devices; one that hands nothing over is closed."""
        services = self.daemon.router.services
        await services.reader.aclose()  # its engine is no child the newer version knows of
        for name, entry in services.backends.entries.items():
            backend = entry.instance
            if backend is None:
                continue
            state: Mapping[str, Any] | None = None
            try:
                with anyio.fail_after(BACKEND_DEADLINE):
                    state = await backend.hand_over()
            except Exception as error:  # its devices are lost; the others' need not be
                log.error("backend_not_handed_over", backend=name, reason=describe(error))
            if state is not None:
                states[name] = dict(state)
                continue
            entry.instance = None  # made anew when it is needed, should this daemon go on after all
            for key in {one.device_key for one in services.sessions.all() if one.device_key.startswith(f"{name}:")}:
                await services.connections.drop(key)
            try:
                with anyio.fail_after(BACKEND_DEADLINE):
                    await backend.aclose()
            except Exception as error:  # as above
                log.warning("close_failed", backend=name, reason=describe(error))


async def take_up(router: Router, states: Mapping[str, Mapping[str, Any]]) -> None:
    """Gives every backend what was handed over for it. A backend that fails has lost its devices, and is logged."""
    for name, state in states.items():
        try:
            with anyio.fail_after(BACKEND_DEADLINE):
                backend = await router.services.backends.instance(name)
                await backend.take_up(state)
        except Exception as error:  # the daemon is up all the same
            log.error("backend_not_taken_up", backend=name, reason=describe(error))
