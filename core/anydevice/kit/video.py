"""A video of pictures: for any backend that can only take pictures, recorded by an encoder in a process of its own.

    recorder = Recorder(take, path, fps=10.0, longest=600.0)
    await recorder.start()          the first picture is in it
    video = await recorder.stop()   whole, and playable

The frame rate is constant: where no new picture came in time the last one is repeated, so that the video takes as
long as what it shows. The encoder reads from a pipe; should this process die, the pipe ends and it finishes the file.
"""

from __future__ import annotations

import fcntl
import math
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import anyio.to_thread
import structlog

from anydevice_schemas.errors import AnydeviceError, UpstreamUnavailable

from . import background, processes
from .encoders import Encoder, encoder
from .movies import Movie, inspect

log = structlog.get_logger("anydevice.kit.video")

TAKE_DEADLINE = 5.0
"""Seconds one picture may take."""
PATIENCE = 3.0
"""Seconds without a picture after which the device counts as gone."""
WRITE_DEADLINE = 10.0
"""Seconds the encoder may take to accept pictures that are due; then it hangs."""
FINISH = 7.0
"""Seconds the encoder may take to finish the file."""
CATCH_UP = 5.0
"""Seconds of the last picture that are put in at once at most, when nothing was put in for long."""
LARGEST = 1 << 30
"""Bytes a video may have."""
PIPE = 1 << 20
SUFFIX = ".mp4"
MIME = "video/mp4"

Form = Literal["bgrx", "png", "jpeg"]
Ended = Literal["stopped", "longest", "device"]
_FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "bgrx": ("-f", "rawvideo", "-pixel_format", "bgr0", "-video_size", "{size}"),
    "png": ("-f", "image2pipe", "-c:v", "png"),
    "jpeg": ("-f", "image2pipe", "-c:v", "mjpeg"),
}
_EVEN = "pad=ceil(iw/2)*2:ceil(ih/2)*2"
"""Players want even sizes: an odd picture gets a black line at its right or lower edge."""


@dataclass(slots=True, frozen=True)
class Frame:
    """One picture: pixels (`bgrx`: four bytes each, blue, green, red, unused) or a whole file (`png`, `jpeg`)."""

    data: bytes
    width: int
    height: int
    form: Form = "bgrx"


@dataclass(slots=True, frozen=True)
class Video:
    """A finished video.

    Attributes:
        path: The file.
        movie: What the file says of itself, read back.
        ended: `stopped`; `longest` (a limit of time or size was reached); `device` (no more pictures came).
        full: It reached the limit of its size.
        taken: Pictures that were taken; the others repeat one.
    """

    path: Path
    movie: Movie
    ended: Ended
    full: bool
    taken: int


class Recorder:
    """Records what `take` gives, until it is stopped, reaches a limit, or no more pictures come.

    Args:
        take: Takes a picture of the device. May fail for a moment; for longer it means that the device is gone.
        path: The file to write, without a suffix.
        fps: Frames a second.
        longest: Seconds after which it ends by itself.
        largest: Bytes after which it does.
    """

    def __init__(
        self,
        take: Callable[[], Awaitable[Frame]],
        path: Path,
        *,
        fps: float,
        longest: float,
        largest: int = LARGEST,
    ) -> None:
        self._take = take
        self._path = path.with_name(path.name + SUFFIX)
        self._fps, self._longest, self._largest = fps, longest, largest
        self._stopping = anyio.Event()
        self._began = anyio.Event()
        self._work: background.Background | None = None
        self._video: Video | None = None
        self._error: AnydeviceError | None = None
        self._ended: Ended = "stopped"
        self._full = False
        self._started = 0.0
        self._written = self._taken = 0

    @property
    def over(self) -> bool:
        """Whether it has ended, by itself or because it was stopped."""
        return self._work is not None and self._work.done

    def status(self) -> dict[str, Any]:
        """`seconds` and `frames` so far; once it has ended by itself, `ended`."""
        told: dict[str, Any] = {"seconds": round(self._written / self._fps, 2), "frames": self._written}
        if self.over:
            told["ended"] = self._ended if self._error is None else "interrupted"
        return told

    async def start(self) -> None:
        """Starts, and returns once the first picture is in the video.

        Raises:
            ToolMissing: There is no encoder.
            UpstreamUnavailable: The encoder does not work.
            AnydeviceError: As `take`.
        """
        program = await encoder()
        with anyio.fail_after(TAKE_DEADLINE):
            first = await self._take()
        self._taken = 1
        reader, writer = os.pipe()
        try:
            child = await processes.start(self._argv(program, first), stdin=reader)
        except BaseException:
            os.close(writer)
            raise
        finally:
            os.close(reader)
        _widen(writer)
        self._work = background.start(self._record, child, writer, first, name="video")
        try:
            async with anyio.create_task_group() as group:  # whichever comes first
                group.start_soon(_first, self._began.wait, group.cancel_scope)
                group.start_soon(_first, self._work.wait, group.cancel_scope)
        except BaseException:
            with anyio.CancelScope(shield=True):
                self._stopping.set()
                await self._work.wait()
                self._path.unlink(missing_ok=True)
            raise
        if self._work.done:
            raise self._error or _broken("ended at once")

    async def stop(self) -> Video:
        """Ends it, if it has not ended yet, and returns once the file is whole.

        Raises:
            UpstreamUnavailable: The encoder made no whole file.
        """
        assert self._work is not None, "it was never started"
        self._stopping.set()
        await self._work.wait()
        if self._video is None:
            raise self._error or _broken("made no video")
        return self._video

    # --- inside ---------------------------------------------------------------------------------------

    def _argv(self, encoder: Encoder, first: Frame) -> list[str]:
        size = f"{first.width}x{first.height}"
        given = [word.format(size=size) for word in _FORMATS[first.form]]
        return [
            encoder.program, "-hide_banner", "-nostats", "-nostdin", "-loglevel", "error",
            *given, "-framerate", f"{self._fps:g}", "-i", "pipe:0",
            "-an", "-vf", _EVEN, "-c:v", encoder.codec, *encoder.options, "-pix_fmt", "yuv420p",
            "-g", str(max(1, round(self._fps * 5))), "-threads", "2", "-movflags", "+faststart",
            "-fs", str(self._largest), "-f", "mp4", "-n", str(self._path),
        ]  # fmt: skip

    async def _record(self, child: processes.Child, writer: int, first: Frame) -> None:
        try:
            await self._feed(child, writer, first)
        except _Refused:
            self._full = child.code == 0 or await _ends_well(child)
            if self._full:
                self._ended = "longest"
        finally:
            with anyio.CancelScope(shield=True):
                os.close(writer)
                await self._finish(child)

    async def _feed(self, child: processes.Child, writer: int, first: Frame) -> None:
        """Puts pictures in, one a tick, until there is a reason to end."""
        started = self._started = last_taken = anyio.current_time()
        most = max(1, math.ceil(self._longest * self._fps))
        last = first
        await self._write(child, writer, first, 1)
        self._began.set()
        while not self._stopping.is_set():
            with anyio.move_on_at(started + self._written / self._fps):
                await self._stopping.wait()
            due = self._due(most) - self._written
            if self._stopping.is_set() or self._written >= most:
                break
            fresh = await self._picture(first)
            now = anyio.current_time()
            if fresh is not None:
                last_taken = now
            elif now - last_taken > PATIENCE:
                self._ended = "device"
                break
            if due > 1:
                await self._write(child, writer, last, due - 1)
            last = fresh or last
            await self._write(child, writer, last, 1)
        await self._write(child, writer, last, max(0, self._due(most) - self._written))
        if self._ended == "stopped" and self._written >= most and not self._stopping.is_set():
            self._ended = "longest"

    def _due(self, most: int) -> int:
        """Frames there should be by now; no more at once than a while is worth, should this process have been held."""
        passed = anyio.current_time() - self._started
        return min(most, math.floor(passed * self._fps) + 1, self._written + math.ceil(CATCH_UP * self._fps))

    async def _picture(self, first: Frame) -> Frame | None:
        """A fresh picture of the size, and the form, of the first; None where none can be had now."""
        try:
            with anyio.fail_after(TAKE_DEADLINE):
                frame = await self._take()
        except (AnydeviceError, TimeoutError, OSError):
            return None
        if frame.form != first.form:
            return None
        self._taken += 1
        if frame.form == "bgrx" and (frame.width, frame.height) != (first.width, first.height):
            return _fitted(frame, first.width, first.height)
        return frame

    async def _write(self, child: processes.Child, writer: int, frame: Frame, times: int) -> None:
        if times <= 0:
            return

        def write() -> bool:
            try:
                for _ in range(times):
                    left = memoryview(frame.data)
                    while left:
                        left = left[os.write(writer, left) :]
            except BrokenPipeError:
                return False
            return True

        async def watch() -> None:
            await anyio.sleep(WRITE_DEADLINE)
            await processes.stop(child, grace=0.0)  # the thread comes free: its pipe has no reader any more

        taken = True
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            with anyio.CancelScope(shield=True):
                taken = await anyio.to_thread.run_sync(write)
            group.cancel_scope.cancel()
        if not taken:
            raise _Refused
        self._written += times

    async def _finish(self, child: processes.Child) -> None:
        """The encoder ends, and the file is looked at."""
        with anyio.move_on_after(FINISH):
            await child.wait()
        await processes.stop(child)
        try:
            movie = await anyio.to_thread.run_sync(inspect, self._path)
        except (ValueError, OSError) as error:
            reason = f"{type(error).__name__}, exit status {child.code}"
            log.warning("video_not_finished", reason=reason, said=child.tail[-500:])
            self._error = _broken(reason, said=child.tail[-500:])
            await anyio.to_thread.run_sync(lambda: self._path.unlink(missing_ok=True))
            return
        self._video = Video(self._path, movie, self._ended, self._full, self._taken)


class _Refused(Exception):
    """The encoder takes no more pictures."""


def _broken(reason: str, **more: Any) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "The program that makes videos did not make one.",
        upstream="video encoder",
        enable_hint="See whether the disk is full, and whether ffmpeg works.",
        reason=reason,
        **more,
    )


async def _first(wait: Callable[[], Awaitable[None]], scope: anyio.CancelScope) -> None:
    await wait()
    scope.cancel()


async def _ends_well(child: processes.Child) -> bool:
    """Whether an encoder that closed its pipe did so because its file has all it may have."""
    with anyio.move_on_after(FINISH):
        return await child.wait() == 0
    return False


def _widen(writer: int) -> None:
    """A larger pipe: a picture goes through in few pieces. Where the system has none, it works all the same."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE)
        except OSError:
            return


def _fitted(frame: Frame, width: int, height: int) -> Frame:
    """A picture of another size, cut or filled with black at its right and lower edges."""
    row, kept = frame.width * 4, min(frame.width, width) * 4
    fill = bytes(width * 4 - kept)
    rows = [frame.data[at * row : at * row + kept] + fill for at in range(min(frame.height, height))]
    rows += [bytes(width * 4)] * (height - len(rows))
    return Frame(b"".join(rows), width, height)
