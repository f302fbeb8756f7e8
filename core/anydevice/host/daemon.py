"""The daemon: one process a home folder, which owns this host's devices, their leases and sessions."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import anyio
import anyio.to_thread
import structlog
from anyio.abc import SocketAttribute, SocketListener, TaskGroup, TaskStatus

import anydevice

from ..assembly import open_router
from ..discovery import describe
from ..facade import Facade
from ..kit.patience import in_time
from ..router import Router
from ..settings import Settings, private_folder
from . import record
from .connection import ConnectionInfo, serve_connection
from .logs import LogFile
from .place import Place, listen_on, take_lock
from .published import Published
from .resuming import Resuming
from .stream import HostStream
from .succession import Heritage, Succession, take_up

log = structlog.get_logger("anydevice.host.daemon")

STOP_DEADLINE = 30.0
"""Seconds a stop may take before the process ends regardless."""

LAST_WORDS = 1.0
"""Seconds a stopping daemon gives a client to read what is still being sent to it."""

HOUSEKEEPING = 2.0

FACADES_DEADLINE = 5.0
"""Seconds a plugin may take to bring its facades."""


class Daemon:
    """A running daemon.

    Attributes:
        router: Takes the calls.
        place: Where it is found.
        published: The catalogue as clients see it.
        facades: By the word a client says hello with.
        connections: Those that said hello, by their id; `streams` are all that are open.
        started: When it came up, on the event loop's clock; `started_at` is the same in UTC, ISO 8601.
        idle: Seconds without connections and sessions after which it ends itself; 0 = never.
        stopping: Set once it is on its way out; `watchdog` then ends the process if that takes too long.
        handing_over: Set while a newer version takes over; nothing new is begun then.
        resuming: Connections that may come back.
        detached: Whether it logs to the file.
    """

    def __init__(self, router: Router, place: Place, *, idle: float, detached: bool) -> None:
        self.router = router
        self.place = place
        self.idle = idle
        self.detached = detached
        self.published = Published(router.services.catalogue, router.services.settings.data_dir)
        self.facades = find_facades(router)
        self.connections: dict[str, ConnectionInfo] = {}
        self.streams: set[HostStream] = set()
        self.started = anyio.current_time()
        self.started_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.stopping = False
        self.handing_over = False
        self.succession = Succession(self)
        self.resuming = Resuming(router.services.sessions.ledger)
        self.watchdog: threading.Timer | None = None
        self._stop = anyio.Event()
        self._active = self.started
        self._group: TaskGroup | None = None
        self._listener: SocketListener | None = None
        self._accepting: list[anyio.CancelScope] = []

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

    async def run(self, listener: SocketListener, logfile: LogFile | None, announce: Callable[[], None]) -> None:
        """Serves connections until `stop`; calls `announce` once a signal ends it as it should."""
        async with anyio.create_task_group() as group:
            self._group = group
            await group.start(self._on_signals)
            announce()
            group.start_soon(self._keep_house, logfile)
            group.start_soon(self._keep_place)
            group.start_soon(self._prepare)
            for name, facade in self.facades.items():
                group.start_soon(self._run_facade, name, facade)
            group.start_soon(self._accept, listener)
            await self._stop.wait()
            for stream in self.streams:
                stream.hurry(LAST_WORDS)
            group.cancel_scope.cancel()

    async def _run_facade(self, name: str, facade: Facade) -> None:
        run: Callable[[Router], Awaitable[None]] | None = getattr(facade, "run", None)
        if run is None:
            return
        try:
            await run(self.router)
        except Exception as error:  # a facade's fault stays its own
            log.error("facade_failed", facade=name, exc_info=error)

    def stop_listening(self) -> int:
        """Accepts nothing more; returns a descriptor on which whoever connects waits from now on."""
        assert self._listener is not None
        handle = os.dup(self._listener.extra(SocketAttribute.raw_socket).fileno())
        for scope in self._accepting:
            scope.cancel()
        return handle

    async def listen_again(self, handle: int) -> None:
        """Takes up what `stop_listening` left."""
        assert self._group is not None
        os.set_inheritable(handle, False)
        self._group.start_soon(self._accept, await listen_on(handle))

    async def _accept(self, listener: SocketListener) -> None:
        self._listener = listener
        with anyio.CancelScope() as scope:
            self._accepting.append(scope)
            try:
                async with listener:
                    # In the daemon's own group: connections outlive the listening when the daemon is handed over.
                    await listener.serve(lambda stream: serve_connection(self, stream), self._group)
            finally:
                self._accepting.remove(scope)

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
            stays = any(getattr(facade, "stays", False) for facade in self.facades.values())
            if stays or self.connections or self.router.services.sessions.all():
                self.active()
            elif self.idle and anyio.current_time() - self._active > self.idle:
                self.stop(f"idle for {self.idle:g} s")
            await anyio.sleep(min(HOUSEKEEPING, self.idle / 4) if self.idle else HOUSEKEEPING)

    async def _keep_place(self) -> None:
        """Stays reachable: a cleaner of temporary files, or a hand, may take the record or the socket away."""
        place = self.place
        while True:
            await anyio.sleep(HOUSEKEEPING)
            if self.handing_over:
                continue
            try:
                if not place.held():
                    # Another daemon may have the folder by now; two must not drive the same devices.
                    self.stop("its folder was replaced")
                    return
                if place.say_again("ready"):
                    log.warning("record_restored")
                if not place.open():
                    assert self._group is not None
                    self._group.start_soon(self._accept, await place.listen())
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


def find_facades(router: Router) -> dict[str, Facade]:
    """The facades of all plugins by name; the first keeps a name, a later one is logged."""
    found: dict[str, Facade] = {}
    manager = router.plugins
    if manager is None:
        return found
    for plugin_name, plugin in manager.list_name_plugin():
        others = [other for other in manager.get_plugins() if other is not plugin]
        try:
            brought = in_time(manager.subset_hook_caller("anydevice_facades", others), FACADES_DEADLINE)
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
    heritage: Heritage | None = None,
) -> None:
    """Runs the daemon of a home folder until it is stopped, by signal, by request, or by idleness.

    Args:
        settings: Folders and choices.
        idle: Seconds without connections and sessions after which it ends; 0 = never; the setting when None.
        logfile: Rotated while it runs.
        ready: Called once calls are taken.
        heritage: What the version left that this one replaces, in this very process.

    Raises:
        AlreadyRunning: Another one runs and answers.
        UpstreamUnavailable: Another one holds the lock and neither answers nor ends.
        StrictPlugins: `plugins.strict` is set and a plugin is not ready.
        OSError: A folder or the socket cannot be made.
    """
    home = str(settings.home)
    await anyio.to_thread.run_sync(private_folder, settings.run_dir)
    place = Place(home, await take_lock(home) if heritage is None else heritage.lock, record.socket_path(home))
    path = place.socket
    try:
        listener = await place.listen() if heritage is None else await listen_on(heritage.listener)
        place.say("starting")
        daemon: Daemon | None = None
        try:
            async with listener, open_router(settings) as router:
                if heritage is not None:
                    await take_up(router, heritage.backends)
                    idle = heritage.idle
                limit = settings.host_idle if idle is None else idle
                daemon = Daemon(router, place, idle=limit, detached=logfile is not None)
                # Written before anybody hears its digest, so that a client's own copy is never needed.
                await anyio.to_thread.run_sync(daemon.published.write)
                # What was imported stays; looking through it at each collection is what a large tree would pay for.
                gc.collect()
                gc.freeze()

                def announce() -> None:
                    place.say("ready")
                    log.info("ready", pid=os.getpid(), version=anydevice.__version__, socket=path)
                    if heritage is not None:
                        log.info("handed_over", before=heritage.version, version=anydevice.__version__)
                    if ready is not None:
                        ready()

                await daemon.run(listener, logfile, announce)
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


def _end_anyway() -> threading.Timer:
    """A stop that hangs in somebody's clean-up must not keep the host's devices for ever."""

    def end() -> None:
        log.error("stop_took_too_long", seconds=STOP_DEADLINE)
        os._exit(70)

    timer = threading.Timer(STOP_DEADLINE, end)
    timer.daemon = True
    timer.start()
    return timer
