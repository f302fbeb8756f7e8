"""Video of the screen, by the device's own recorder: of any length, though no run of that may take three minutes.

The next run begins before the last is ended, and where they overlap the last is cut. What joins them is the program
that makes videos on the host; where there is none, a recording ends by itself when one run does, and start says so.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import anyio.to_thread
import structlog

from anydevice.driver import Acted, Recorded, Recording, RecordRequest
from anydevice.kit import background
from anydevice.kit.encoders import encoder
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, ConnectionLost, ToolMissing, Unsupported

from .joining import Part, join
from .reach import Reach
from .segments import CodecRefused, Segment, Size

log = structlog.get_logger("anydevice.android")

SEGMENT: Final = 175.0
"""Seconds of one run."""
LIMIT: Final = 180
"""Seconds after which the recorder of every Android ends by itself."""
SHORTEST: Final = 1.0
"""Seconds a run takes at least; a recorder that ends sooner by itself would do so for ever."""
SUFFIX, MIME = ".mp4", "video/mp4"
Ended = Literal["stopped", "longest", "device"]


class AndroidRecording(Recording):
    """One recording of the device at a time."""

    def __init__(self, reach: Reach, display: Callable[[], Awaitable[str | None]], *, segment: float = SEGMENT) -> None:
        """`display` tells which of several panels is on; `segment` is seconds of one run of the recorder."""
        self._reach, self._display, self._segment = reach, display, segment
        self._film: Film | None = None

    async def start(self, request: RecordRequest) -> Acted:
        """See `Recording.start`. The recorder takes a picture whenever the screen changes, whatever `fps` is.

        Raises:
            ActionUnverified: One runs, or waits to be fetched.
            Unsupported: Only a part of the screen is wanted.
            ToolMissing: The device has no recorder.
            UpstreamUnavailable: It does not film.
        """
        if self._film is not None:
            raise ActionUnverified(
                "The device is being recorded.", expected="no recording", actual="one that was not fetched yet"
            )
        if request.area is not None:
            raise Unsupported(
                "Android records the whole screen only.",
                hint="Leave x, y, width and height out.",
                operation="recording.start",
                alternatives=["screen.image"],
                reason="screenrecord takes no part of the screen",
            )
        data: dict[str, Any] = {"fps": "as the screen changes"}
        longest = request.longest
        if longest > self._segment:
            try:
                await encoder()
            except ToolMissing as error:
                longest = self._segment
                data |= {"longest": longest, "limitedBy": "nothing here joins videos", "fix": error.details["install"]}
        await self._reach.focus()  # says how the screen is turned
        film = self._film = Film(self._reach, Path(request.path), longest, self._segment)
        try:
            await film.start(await self._display())
        except BaseException:
            self._film = None
            raise
        return Acted("screenrecord", data=data)

    async def stop(self) -> Recorded:
        """See `Recording.stop`.

        Raises:
            ActionUnverified: Nothing is recorded.
            ConnectionLost: The device was lost, and with it everything that was recorded.
            UpstreamUnavailable: No whole file was made.
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
    """One recording, of as many runs as it takes."""

    def __init__(self, reach: Reach, path: Path, longest: float, segment: float) -> None:
        self._reach = reach
        self._target = path.with_name(path.name + SUFFIX)
        self._folder = path.with_name(f".{path.name}.parts")
        self._longest, self._segment = longest, segment
        self._stopping = anyio.Event()
        self._work: background.Background | None = None
        self._parts: list[Part] = []
        self._number = 0
        self._display: str | None = None
        self._size: Size | None = None
        self._began = self._until = 0.0
        self._gaps = 0
        self._ended: Ended = "stopped"
        self._recorded: Recorded | None = None
        self._error: AnydeviceError | None = None

    async def start(self, display: str | None) -> None:
        """Starts it, and returns once it films.

        Raises:
            ToolMissing, UpstreamUnavailable, AnydeviceError: As `Segment.start`.
        """
        self._display = display
        await anyio.to_thread.run_sync(self._folder.mkdir)
        try:
            first = await self._first()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(lambda: shutil.rmtree(self._folder, ignore_errors=True))
            raise
        self._began = first.began
        self._work = background.start(self._run, first, name="recording")

    async def stop(self) -> Recorded:
        """Ends it, where it has not ended, and returns once its file is whole.

        Raises:
            ConnectionLost, ToolMissing, UpstreamUnavailable, CallTimeout: There is none.
        """
        assert self._work is not None, "it was never started"
        self._stopping.set()
        await self._work.wait()
        if self._recorded is None:
            raise self._error or ConnectionLost(
                "The device was lost, and with it what was recorded.", restarted=False, lost="recording"
            )
        return self._recorded

    def status(self) -> dict[str, Any]:
        """`seconds` so far; `ended`, once it has ended by itself and its file is whole."""
        until = self._until or anyio.current_time()
        told: dict[str, Any] = {"seconds": round(until - self._began, 2)}
        if self._work is not None and self._work.done:
            told["ended"] = self._ended
        return told

    # --- inside ---

    async def _first(self) -> Segment:
        """The first run. Some encoders take even sizes only, some none as large as the screen: tried once more."""
        view = await self._reach.view()
        sides = (int(view.width), int(view.height))
        try:
            first = await self._begin(None)
        except CodecRefused:
            try:
                first = await self._begin(even(sides))
            except CodecRefused:
                raise _no_codec(sides) from None
        # All runs have one size, so that they can be joined: a display may be turned between them.
        self._size = first.size or (sides[0] // 2 * 2, sides[1] // 2 * 2)
        return first

    async def _begin(self, size: Size | None) -> Segment:
        segment = Segment(self._reach.adb)
        left = self._longest - (anyio.current_time() - self._began if self._began else 0.0)
        limit = LIMIT if left > self._segment else max(1, min(LIMIT, math.ceil(left) + 4))
        await segment.start(size=size, display=self._display, limit=limit)
        return segment

    async def _run(self, current: Segment) -> None:
        try:
            await self._film(current)
        finally:
            with anyio.CancelScope(shield=True):
                try:
                    await self._whole()
                finally:
                    await anyio.to_thread.run_sync(lambda: shutil.rmtree(self._folder, ignore_errors=True))

    async def _film(self, current: Segment) -> None:
        until = self._began + self._longest
        try:
            while True:
                await self._wait(current, min(until, current.began + self._segment))
                if self._stopping.is_set():
                    return
                if anyio.current_time() >= until:
                    self._ended = "longest"
                    return
                if current.lost or anyio.current_time() - current.began < SHORTEST:
                    self._ended = "device"
                    return
                current = await self._change(current)
        except AnydeviceError as error:
            log.info("recording_ends", reason=error.message)
            self._ended = "device"
        finally:
            self._until = anyio.current_time()
            with anyio.CancelScope(shield=True):
                await self._fetch(current, None)

    async def _wait(self, current: Segment, at: float) -> None:
        """Until it is time, or the run has ended, or the recording is to be stopped."""
        with anyio.move_on_at(at):
            async with anyio.create_task_group() as group:
                for event in (current.over, self._stopping):
                    group.start_soon(_first_of, event, group.cancel_scope)

    async def _change(self, last: Segment) -> Segment:
        """The next run, begun before the last is ended, where the device can do both at once."""
        try:
            following = await self._begin(self._size)
        except (AnydeviceError, CodecRefused):
            self._gaps += 1  # one encoder only: there is a moment that nobody films
            await self._fetch(last, None)
            try:
                return await self._begin(self._size)
            except CodecRefused:
                raise _no_codec(self._size or (0, 0)) from None
        await self._fetch(last, following.began - last.began)
        return following

    async def _fetch(self, segment: Segment, keep: float | None) -> None:
        if segment.finished:
            return
        self._number += 1
        path = self._folder / f"{self._number}{SUFFIX}"
        movie = await segment.finish(path)
        if movie is not None:
            self._parts.append(Part(path, movie, keep))

    async def _whole(self) -> None:
        if not self._parts:
            return
        try:
            movie = await join(self._parts, self._target)
        except AnydeviceError as error:
            self._error = error
            with suppress(OSError):
                await anyio.to_thread.run_sync(lambda: self._target.unlink(missing_ok=True))
            return
        data = {"segments": len(self._parts), "missing": self._number - len(self._parts), "gaps": self._gaps}
        self._recorded = Recorded(
            str(self._target),
            MIME,
            movie.seconds or 0.0,
            movie.width or 0,
            movie.height or 0,
            movie.frames,
            self._ended,
            {name: value for name, value in data.items() if value},
        )


def even(sides: Size) -> Size:
    """The size to try where the screen's own was refused: even, and where it is even already, half."""
    part = 1 if sides[0] % 2 or sides[1] % 2 else 2
    width, height = (side // part // 2 * 2 for side in sides)
    return width, height


async def _first_of(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def _no_codec(sides: Size) -> Unsupported:
    return Unsupported(
        "The device's encoder takes neither the size of the screen nor a smaller one.",
        hint="Use screenshot for pictures of the screen.",
        operation="recording.start",
        alternatives=["screen.image"],
        reason=f"video encoder, {sides[0]}x{sides[1]}",
    )
