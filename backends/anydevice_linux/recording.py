"""Video of a desktop: pictures of the screen, made into a file by an encoder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import structlog

from anydevice.driver import Acted, Recorded, Recording, RecordRequest
from anydevice.kit.video import MIME, Frame, Recorder
from anydevice_schemas import Rect
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, InvalidArgument

from .live import Lives

log = structlog.get_logger("anydevice.linux")


class LinuxRecording(Recording):
    """One recording of the desktop at a time. The pointer is not in it."""

    def __init__(self, lives: Lives) -> None:
        self._lives = lives
        self._recorder: Recorder | None = None

    async def start(self, request: RecordRequest) -> Acted:
        """See `Recording.start`.

        Raises:
            ActionUnverified: One runs, or waits to be fetched.
            InvalidArgument: The area is not on the screen.
            ToolMissing: There is no encoder.
        """
        if self._recorder is not None:
            raise ActionUnverified(
                "The desktop is being recorded.", expected="no recording", actual="one that was not fetched yet"
            )
        live = await self._lives.get()
        area = live.screen if request.area is None else request.area.intersect(live.screen)
        if area is None:
            raise InvalidArgument("The area is not on the screen.", param="x", expected="a part of the screen")

        async def take() -> Frame:
            return await self._picture(area)

        recorder = self._recorder = Recorder(
            take, Path(request.path), fps=request.fps, longest=request.longest
        )  # from here on a second start is refused
        try:
            await recorder.start()
        except BaseException:
            self._recorder = None
            raise
        return Acted("video", data={"fps": request.fps, "area": [area.x, area.y, area.width, area.height]})

    async def stop(self) -> Recorded:
        """See `Recording.stop`.

        Raises:
            ActionUnverified: Nothing is recorded.
            UpstreamUnavailable: The encoder made no whole file.
        """
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            raise ActionUnverified("The desktop is not being recorded.", expected="a recording", actual="none")
        video = await recorder.stop()
        movie = video.movie
        return Recorded(
            str(video.path),
            MIME,
            movie.seconds or 0.0,
            movie.width or 0,
            movie.height or 0,
            movie.frames,
            video.ended,
            {"taken": video.taken, "full": video.full},
        )

    async def status(self) -> Mapping[str, Any] | None:
        """See `Recording.status`."""
        return self._recorder.status() if self._recorder is not None else None

    async def finish(self) -> None:
        """Ends what runs and lets go of it; its file stays where it was asked for."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        try:
            await recorder.stop()
        except AnydeviceError as error:
            log.warning("recording_not_finished", reason=error.message)

    async def rest(self) -> None:
        """Ends what runs, and keeps it to be fetched: the desktop goes away."""
        if self._recorder is not None:
            try:
                await self._recorder.stop()
            except AnydeviceError as error:
                log.warning("recording_not_finished", reason=error.message)

    async def _picture(self, area: Rect) -> Frame:
        live = await self._lives.get()
        return Frame(*await live.shots.frame(area))
