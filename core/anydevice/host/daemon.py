"""The daemon: one process a home folder, which owns this host's devices, their leases and sessions."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import anyio.to_thread
import structlog
from anyio.abc import SocketListener, TaskGroup, TaskStatus

import anydevice
from anydevice_schemas.errors import UpstreamUnavailable

from ..assembly import open_router
from ..discovery import describe
from ..facade import Facade
from ..router import Router
from ..settings import Settings, private_folder
from . import record
from .connection import ConnectionInfo, serve_connection
from .logs import LogFile
from .published import Published
from .stream import HostStream

log = structlog.get_logger("anydevice.host.daemon")

LOCK_WAIT = 20.0
"""Seconds a new daemon waits for an earlier one that is still closing its devices."""

STOP_DEADLINE = 30.0
"""Seconds a stop may take before the process ends regardless."""

LAST_WORDS = 1.0
"""Seconds a stopping daemon gives a client to read what is still being sent to it."""

HOUSEKEEPING = 2.0


class AlreadyRunning(Exception):
    """A daemon of this home folder runs and answers.

    Attributes:
        pid: Its process.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(f"a daemon runs already (process {pid})")
        self.pid = pid


class Daemon:
    """A running daemon.

    Attributes:
        router: Takes the calls.
        published: The catalogue as clients see it.
        facades: By the word a client says hello with.
        connections: Those that said hello, by their id; `streams` are all that are open.
        started: When it came up, on the event loop's clock; `started_at` is the same in UTC, ISO 8601.
        idle: Seconds without connections and sessions after which it ends itself; 0 = never.
        stopping: Set once it is on its way out; `watchdog` then ends the process if that takes too long.
    """

    def __init__(self, router: Router, *, idle: float) -> None:
        self.router = router
        self.idle = idle
        self.published = Published(router.services.catalogue, router.services.settings.data_dir)
        self.facades = find_facades(router)
        self.connections: dict[str, ConnectionInfo] = {}
        self.streams: set[HostStream] = set()
        self.started = anyio.current_time()
        self.started_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.stopping = False
        self.watchdog: threading.Timer | None = None
        self._stop = anyio.Event()
        self._active = self.started

    def active(self) -> None:
        """Something was asked: the idle time starts anew."""
        self._active = anyio.current_time()

    def stop(self, reason: str) -> None:
        """Sets the end off; `serve` closes everything and returns."""
        if not self.stopping:
            self.stopping = True
            self.watchdog = _end_anyway()
            log.info("stopping", reason=reason)
            self._stop.set()

    async def run(self, listener: SocketListener, logfile: LogFile | None, place: Place) -> None:
        """Serves connections until `stop`."""
        async with anyio.create_task_group() as group:
            await group.start(self._on_signals)
            group.start_soon(self._keep_house, logfile)
            group.start_soon(self._keep_place, place, group)
            group.start_soon(self._prepare)
            group.start_soon(self._accept, listener)
            await self._stop.wait()
            for stream in self.streams:
                stream.hurry(LAST_WORDS)
            group.cancel_scope.cancel()

    async def _accept(self, listener: SocketListener) -> None:
        async with listener:
            await listener.serve(lambda stream: serve_connection(self, stream))

    async def _on_signals(self, *, task_status: TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            task_status.started()
            async for number in signals:
                if self.stopping:
                    log.warning("stopped_at_once", signal=number.name)
                    os._exit(128 + number)
                self.stop(number.name)

    async def _keep_house(self, logfile: LogFile | None) -> None:
        """Ends an idle daemon, rotates the log, and publishes a catalogue that has changed."""
        written = ""
        while True:
            if self.published.digest != written:
                written = self.published.digest
                try:
                    await anyio.to_thread.run_sync(self.published.write)
                except OSError as error:
                    log.warning("catalogue_not_written", reason=describe(error))
            if logfile is not None:
                logfile.rotate()
            if self.connections or self.router.services.sessions.all():
                self.active()
            elif self.idle and anyio.current_time() - self._active > self.idle:
                self.stop(f"idle for {self.idle:g} s")
            await anyio.sleep(min(HOUSEKEEPING, self.idle / 4) if self.idle else HOUSEKEEPING)

    async def _keep_place(self, place: Place, group: TaskGroup) -> None:
        """Stays reachable: a cleaner of temporary files, or a hand, may take the record or the socket away."""
        while True:
            await anyio.sleep(HOUSEKEEPING)
            try:
                if not place.held():
                    # Another daemon may have the folder by now; two must not drive the same devices.
                    self.stop("its folder was replaced")
                    return
                if place.say_again("ready"):
                    log.warning("record_restored")
                if not place.open():
                    group.start_soon(self._accept, await place.listen())
                    log.warning("socket_restored", socket=place.socket)
            except OSError as error:
                log.warning("place_not_restored", reason=describe(error))

    async def _prepare(self) -> None:
        """Lets facades do their slow imports before anybody waits for them."""
        for name, facade in self.facades.items():
            started = anyio.current_time()
            try:
                await facade.prepare()
            except Exception as error:  # a facade's fault stays its own
                log.warning("facade_not_prepared", facade=name, reason=describe(error))
            else:
                log.info("facade_prepared", facade=name, ms=round((anyio.current_time() - started) * 1000))


class Place:
    """Where a daemon is found: its lock, its record, its socket.

    Attributes:
        home: The home folder.
        lock: The lock file, open and held.
        socket: Path of the socket.
    """

    def __init__(self, home: str, lock: int, socket: str) -> None:
        self.home = home
        self.lock = lock
        self.socket = socket

    def held(self) -> bool:
        """Whether the lock that is held is still the one others would ask for."""
        try:
            there = os.stat(os.path.join(record.run_path(self.home), record.LOCK))
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self.lock))

    def say(self, state: str) -> None:
        """Writes the record."""
        own: dict[str, Any] = {
            "pid": os.getpid(),
            "started": record.process_start(os.getpid()),
            "version": anydevice.__version__,
            "socket": self.socket,
            "state": state,
            "python": sys.executable,
        }
        record.write_record(self.home, own)

    def say_again(self, state: str) -> bool:
        """Writes the record if it is not ours any more; returns whether it was not."""
        found = record.read_record(self.home)
        if found is not None and found["pid"] == os.getpid():
            return False
        self.say(state)
        return True

    def open(self) -> bool:
        """Whether the socket is where it was."""
        return os.path.exists(self.socket)

    async def listen(self) -> SocketListener:
        """Listens at the socket."""
        record.socket_path(self.home)  # its folder may be a temporary one
        listener = await anyio.create_unix_listener(self.socket, mode=0o600)
        assert isinstance(listener, SocketListener)
        return listener


def find_facades(router: Router) -> dict[str, Facade]:
    """The facades of all plugins by name; the first keeps a name, a later one is logged."""
    found: dict[str, Facade] = {}
    manager = router.plugins
    if manager is None:
        return found
    for plugin_name, plugin in manager.list_name_plugin():
        others = [other for other in manager.get_plugins() if other is not plugin]
        try:
            brought = manager.subset_hook_caller("anydevice_facades", others)()
            for facade in (facade for some in brought for facade in some or ()):
                if facade.name in found:
                    log.warning("facade_name_taken", facade=facade.name, plugin=plugin_name)
                else:
                    found[facade.name] = facade
        except Exception as error:  # one plugin's fault stays its own
            log.warning("facades_failed", plugin=plugin_name, reason=describe(error))
    return found


async def serve(
    settings: Settings,
    *,
    idle: float | None = None,
    logfile: LogFile | None = None,
    ready: Callable[[], None] | None = None,
) -> None:
    """Runs the daemon of a home folder until it is stopped, by signal, by request, or by idleness.

    Args:
        settings: Folders and choices.
        idle: Seconds without connections and sessions after which it ends; 0 = never; the setting when None.
        logfile: Rotated while it runs.
        ready: Called once calls are taken.

    Raises:
        AlreadyRunning: Another one runs and answers.
        UpstreamUnavailable: Another one holds the lock and neither answers nor ends.
        StrictPlugins: `plugins.strict` is set and a plugin is not ready.
        OSError: A folder or the socket cannot be made.
    """
    home = str(settings.home)
    await anyio.to_thread.run_sync(private_folder, settings.run_dir)
    place = Place(home, await _lock(home), record.socket_path(home))
    path = place.socket
    try:
        listener = await place.listen()
        place.say("starting")
        daemon: Daemon | None = None
        try:
            async with listener, open_router(settings) as router:
                daemon = Daemon(router, idle=settings.host_idle if idle is None else idle)
                # Written before anybody hears its digest, so that a client's own copy is never needed.
                await anyio.to_thread.run_sync(daemon.published.write)
                place.say("ready")
                log.info("ready", pid=os.getpid(), version=anydevice.__version__, socket=path)
                if ready is not None:
                    ready()
                await daemon.run(listener, logfile, place)
                place.say("stopping")
        finally:
            if daemon is not None and daemon.watchdog is not None:
                daemon.watchdog.cancel()
    finally:
        if place.held():  # else what is there is another daemon's
            with suppress(OSError):
                os.unlink(path)
        record.remove_record(home, os.getpid())
        os.close(place.lock)
        log.info("stopped", pid=os.getpid())


async def _lock(home: str) -> int:
    """Takes the lock that makes this the only daemon; waits for one that is on its way out."""
    handle = os.open(os.path.join(record.run_path(home), record.LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    until = time.monotonic() + LOCK_WAIT
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return handle
            except BlockingIOError:
                pass
            found = record.read_record(home)
            if found is not None and record.lives(found):
                with suppress(OSError):
                    record.connect(found["socket"], timeout=1.0).close()
                    raise AlreadyRunning(found["pid"])
            if time.monotonic() > until:
                pid = found["pid"] if found is not None else 0
                raise UpstreamUnavailable(
                    f"Another daemon (process {pid}) neither answers nor ends.",
                    upstream="daemon",
                    enable_hint="anydevice stop --force",
                    hint="Run: anydevice stop --force ; then repeat.",
                )
            await anyio.sleep(0.05)
    except BaseException:
        os.close(handle)
        raise


def _end_anyway() -> threading.Timer:
    """A stop that hangs in somebody's clean-up must not keep the host's devices for ever."""

    def end() -> None:
        log.error("stop_took_too_long", seconds=STOP_DEADLINE)
        os._exit(70)

    timer = threading.Timer(STOP_DEADLINE, end)
    timer.daemon = True
    timer.start()
    return timer
