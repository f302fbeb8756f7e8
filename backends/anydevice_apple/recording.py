"""Video of a simulator's screen, by `simctl io recordVideo`: one recorder a device, ended by an interrupt alone.

The file is whole only after that; a recorder that is ended in any other way leaves nothing that plays.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import anyio.to_thread
import structlog

from anydevice.driver import Acted, Recorded, Recording, RecordRequest
from anydevice.kit import background, processes
from anydevice.kit.movies import Movie, inspect
from anydevice_schemas.errors import (
    ActionUnverified,
    AnydeviceError,
    ConnectionLost,
    Unsupported,
    UpstreamUnavailable,
)

from .reach import Reach

log = structlog.get_logger("anydevice.apple")

SUFFIX, MIME = ".mp4", "video/mp4"
BEGUN: Final = b"Recording started"
STARTING: Final = 15.0
"""Seconds until it films. An interrupt before that ends it without a file."""
ENDING: Final = 30.0
"""Seconds it may take to write the file."""
SAID: Final = 4096
Ended = Literal["stopped", "longest", "device"]


class AppleRecording(Recording):
    """One recording of the device at a time."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._film: Film | None = None

    async def start(self, request: RecordRequest) -> Acted:
        """See `Recording.start`. The recorder takes a picture whenever the screen changes, whatever `fps` is.

        Raises:
            ActionUnverified: One runs, or waits to be fetched.
            Unsupported: Only a part of the screen is wanted.
            UpstreamUnavailable: It does not film.
        """
        if self._film is not None:
            raise ActionUnverified(
                "The device is being recorded.", expected="no recording", actual="one that was not fetched yet"
            )
        if request.area is not None:
            raise Unsupported(
                "Only the whole screen is recorded.",
                hint="Leave x, y, width and height out.",
                operation="recording.start",
                alternatives=["screen.image"],
                reason="simctl takes no part of the screen",
            )
        film = self._film = Film(self._reach, Path(request.path), request.longest)
        try:
            await film.start()
        except BaseException:
            self._film = None
            raise
        return Acted("simctl", data={"fps": "as the screen changes"})

    async def stop(self) -> Recorded:
        """See `Recording.stop`.

        Raises:
            ActionUnverified: Nothing is recorded.
            ConnectionLost: The recorder ended and left nothing.
            UpstreamUnavailable: Its file cannot be played.
        """
        film, self._film = self._film, None
        if film is None:
            raise ActionUnverified("The device is not being recorded.", expected="a recording", actual="none")
        return await film.stop()

    async def status(self) -> Mapping[str, Any] | None:
        """See `Recording.status`."""
        return self._film.status() if self._film is not None else None

    async def finish(self) -> None:
        """Ends what runs and lets go of it; its file stays where it was asked for."""
        film, self._film = self._film, None
        if film is None:
            return
        try:
            await film.stop()
        except AnydeviceError as error:
            log.warning("recording_not_finished", reason=error.message)


class Film:
    """One recording."""

    def __init__(self, reach: Reach, path: Path, longest: float) -> None:
        self._reach, self._longest = reach, longest
        self._target = path.with_name(path.name + SUFFIX)
        self._child: processes.Child | None = None
        self._films = anyio.Event()
        self._said = bytearray()
        self._stopping = anyio.Event()
        self._work: background.Background | None = None
        self._began = self._until = 0.0
        self._ended: Ended = "stopped"

    async def start(self) -> None:
        """Starts it, and returns once it films.

        Raises:
            UpstreamUnavailable: It does not.
        """
        udid = self._reach.sim.udid
        words = ("io", udid, "recordVideo", "--codec=h264", "--force", "--", str(self._target))
        self._child = await self._reach.sim.start(*words, sink=self._heard)
        try:
            with anyio.move_on_after(STARTING):
                async with anyio.create_task_group() as group:
                    group.start_soon(self._first, group.cancel_scope)
                    await self._films.wait()
                    group.cancel_scope.cancel()
            if not self._films.is_set():
                raise UpstreamUnavailable(
                    "The recorder does not film.",
                    upstream="simctl io recordVideo",
                    enable_hint="See whether another program records this simulator; call screenshot meanwhile.",
                    said=self._said.decode("utf-8", "replace")[-1000:],
                )
        except BaseException:
            await processes.stop(self._child)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(lambda: self._target.unlink(missing_ok=True))
            raise
        self._began = anyio.current_time()
        self._work = background.start(self._run, name="recording")

    async def stop(self) -> Recorded:
        """Ends it, where it has not ended, and returns once its file is whole.

        Raises:
            ConnectionLost, UpstreamUnavailable: There is none.
        """
        assert self._work is not None and self._child is not None, "it was never started"
        self._stopping.set()
        await self._work.wait()
        movie = await anyio.to_thread.run_sync(_whole, self._target)
        if isinstance(movie, Movie):
            return Recorded(
                str(self._target), MIME, movie.seconds or round(self._until - self._began, 2),
                movie.width or 0, movie.height or 0, movie.frames, self._ended, {"engine": "simctl"},
            )  # fmt: skip
        if self._ended == "device":
            raise ConnectionLost(
                "The recorder ended by itself and left nothing that plays.", restarted=False, lost="recording"
            )
        raise UpstreamUnavailable(
            "The file of the recording cannot be played.",
            upstream="simctl io recordVideo",
            enable_hint="Record for longer; see whether the disk is full.",
            reason=movie,
            said=self._said.decode("utf-8", "replace")[-1000:],
        )

    def status(self) -> dict[str, Any]:
        """`seconds` so far; `ended`, once it has ended by itself."""
        until = self._until or anyio.current_time()
        told: dict[str, Any] = {"seconds": round(until - self._began, 2)}
        if self._work is not None and self._work.done:
            told["ended"] = self._ended
        return told

    # --- inside ---

    def _heard(self, piece: bytes) -> None:
        self._said += piece
        if BEGUN in self._said:
            self._films.set()
        del self._said[:-SAID]

    async def _first(self, scope: anyio.CancelScope) -> None:
        assert self._child is not None
        await self._child.wait()
        scope.cancel()

    async def _run(self) -> None:
        """Waits until it is to end, by itself or not, and ends it as the recorder wants to be ended."""
        assert self._child is not None
        child = self._child
        with anyio.move_on_after(self._longest) as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(self._first, group.cancel_scope)
                await self._stopping.wait()
                group.cancel_scope.cancel()
        if scope.cancelled_caught:
            self._ended = "longest"
        elif not self._stopping.is_set():
            self._ended = "device"
        self._until = anyio.current_time()
        with anyio.CancelScope(shield=True):
            if child.code is None:
                _interrupt(child.pid)
                with anyio.move_on_after(ENDING):
                    await child.wait()
            await processes.stop(child)


def _interrupt(group: int) -> None:
    try:
        os.killpg(group, signal.SIGINT)
    except ProcessLookupError:
        return  # it has ended


def _whole(path: Path) -> Movie | str:
    """The film; where there is none, why."""
    try:
        if path.stat().st_size == 0:
            return "the file is empty"
        return inspect(path)
    except FileNotFoundError:
        return "there is no file"
    except (OSError, ValueError) as error:
        return str(error) or type(error).__name__
