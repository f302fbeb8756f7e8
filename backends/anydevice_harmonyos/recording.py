"""Video of the screen: by the phone's own recorder where it has one, of pictures where it has none.

The recorder is an ability that is started to begin and started again to end; whether it films only its file tells. It
keeps the file in the gallery, from where it is taken, and taken away.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import anyio.to_thread
import structlog

from anydevice.driver import Acted, Recorded, Recording, RecordRequest
from anydevice.kit import background, images
from anydevice.kit.movies import Movie, inspect
from anydevice.kit.video import Frame, Recorder
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, ConnectionLost, Unsupported, UpstreamUnavailable

from .hdc import line, quote
from .hdc.device import TEMPORARY
from .reach import Reach
from .reading import missions
from .screen import HarmonyosScreen

log = structlog.get_logger("anydevice.harmonyos")

RECORDER: Final = "com.huawei.hmos.screenrecorder"
ABILITY: Final = f"{RECORDER}.ServiceExtAbility"
SUFFIX, MIME = ".mp4", "video/mp4"
FINISHING: Final = 20.0
"""Seconds the recorder may take to finish its file."""
STEP: Final = 0.2
FRAMES: Final = 5.0
"""Pictures a second at most where a video is made of pictures: each takes the device a moment."""
_URI = re.compile(r"file://[^\s\"']+")
Ended = Literal["stopped", "longest", "device"]


class HarmonyosRecording(Recording):
    """One recording of the device at a time."""

    def __init__(self, reach: Reach, screen: HarmonyosScreen, *, recorder: bool) -> None:
        """`recorder`: the device may have a recorder of its own; emulators and televisions have none."""
        self._reach, self._screen, self._own = reach, screen, recorder
        self._film: Film | None = None
        self._frames: Recorder | None = None

    async def start(self, request: RecordRequest) -> Acted:
        """See `Recording.start`.

        Raises:
            ActionUnverified: One runs, or waits to be fetched.
            Unsupported: Only a part of the screen is wanted.
            ToolMissing: It is made of pictures, and nothing here makes videos of them.
            UpstreamUnavailable: The recorder does not start.
        """
        if self._film is not None or self._frames is not None:
            raise ActionUnverified(
                "The device is being recorded.", expected="no recording", actual="one that was not fetched yet"
            )
        if request.area is not None:
            raise Unsupported(
                "HarmonyOS records the whole screen only.",
                hint="Leave x, y, width and height out.",
                operation="recording.start",
                alternatives=["screen.image"],
                reason="the recorder takes no part of the screen",
            )
        if self._own:
            film = Film(self._reach, request)
            self._film = film
            try:
                if await film.start():
                    return Acted("screenrecorder", data={"fps": "as the recorder takes them"})
            except BaseException:
                self._film = None
                raise
            self._film, self._own = None, False  # the device has no recorder after all
        fps = min(request.fps, FRAMES)
        frames = self._frames = Recorder(self._take, Path(request.path), fps=fps, longest=request.longest)
        try:
            await frames.start()
        except BaseException:
            self._frames = None
            raise
        return Acted("pictures", data={"fps": fps})

    async def stop(self) -> Recorded:
        """See `Recording.stop`.

        Raises:
            ActionUnverified: Nothing is recorded.
            ConnectionLost: The device was lost, and with it what was recorded.
            UpstreamUnavailable: No whole file was made.
        """
        film, self._film = self._film, None
        if film is not None:
            return await film.stop()
        frames, self._frames = self._frames, None
        if frames is None:
            raise ActionUnverified("The device is not being recorded.", expected="a recording", actual="none")
        video = await frames.stop()
        movie = video.movie
        return Recorded(
            str(video.path),
            MIME,
            movie.seconds or 0.0,
            movie.width or 0,
            movie.height or 0,
            movie.frames,
            video.ended,
            {"taken": video.taken},
        )

    async def status(self) -> Mapping[str, Any] | None:
        """See `Recording.status`."""
        if self._film is not None:
            return self._film.status()
        return self._frames.status() if self._frames is not None else None

    async def finish(self) -> None:
        """Ends what runs and lets go of it; its file stays where it was asked for."""
        if self._film is None and self._frames is None:
            return
        try:
            await self.stop()
        except AnydeviceError as error:
            log.warning("recording_not_finished", reason=error.message)

    async def _take(self) -> Frame:
        data = await self._screen.picture(quick=True)
        found = images.inspect(data)
        return Frame(data, found.width, found.height, "png" if found.mime == "image/png" else "jpeg")


class Film:
    """One run of the device's recorder."""

    def __init__(self, reach: Reach, request: RecordRequest) -> None:
        self._reach = reach
        self._name = f"anydevice_{secrets.token_hex(6)}{SUFFIX}"
        path = Path(request.path)
        self._target = path.with_name(path.name + SUFFIX)
        self._longest = request.longest
        self._stopping = anyio.Event()
        self._work: background.Background | None = None
        self._began = self._until = 0.0
        self._ended: Ended = "stopped"
        self._movie: Movie | None = None
        self._error: AnydeviceError | None = None

    async def start(self) -> bool:
        """Starts it; False where the device has no recorder.

        Raises:
            UpstreamUnavailable: It does not start.
        """
        verdict = missions.started((await self._toggle()).text)
        if verdict.code in (missions.NO_PACKAGE, missions.NO_ABILITY, missions.NO_MATCH):
            return False
        if not verdict.ok:
            raise UpstreamUnavailable(
                "The device's recorder does not start.",
                upstream="screen recorder",
                enable_hint="See details; unlock the device, then repeat the call.",
                said=verdict.said,
            )
        self._began = anyio.current_time()
        self._work = background.start(self._run, name="recording")
        return True

    async def stop(self) -> Recorded:
        """Ends it, and returns once the file is whole.

        Raises:
            ConnectionLost, UpstreamUnavailable: There is none.
        """
        assert self._work is not None, "it was never started"
        self._stopping.set()
        await self._work.wait()
        if self._movie is None:
            raise self._error or ConnectionLost(
                "The device was lost, and with it what was recorded.", restarted=False, lost="recording"
            )
        movie = self._movie
        return Recorded(
            str(self._target),
            MIME,
            movie.seconds or 0.0,
            movie.width or 0,
            movie.height or 0,
            movie.frames,
            self._ended,
        )

    def status(self) -> dict[str, Any]:
        """`seconds` so far; `ended`, once it has ended by itself and its file is whole."""
        told: dict[str, Any] = {"seconds": round((self._until or anyio.current_time()) - self._began, 2)}
        if self._work is not None and self._work.done:
            told["ended"] = self._ended
        return told

    async def _run(self) -> None:
        with anyio.move_on_after(self._longest):
            await self._stopping.wait()
        if not self._stopping.is_set():
            self._ended = "longest"
        self._until = anyio.current_time()
        with anyio.CancelScope(shield=True), anyio.move_on_after(2 * FINISHING):
            try:
                await self._toggle()
                await self._fetch()
            except AnydeviceError as error:
                self._error = error

    async def _toggle(self) -> Any:
        words = ("aa", "start", "-b", RECORDER, "-a", ABILITY, "--ps", "CustomizedFileName", self._name)
        return await self._reach.hdc.act(line(*words))  # done twice it would undo itself

    async def _fetch(self) -> None:
        uri = ""
        with anyio.move_on_after(FINISHING):
            while not uri:
                found = _URI.search((await self._reach.run("mediatool", "query", self._name, "-u")).text)
                uri = found[0] if found else ""
                if not uri:
                    await anyio.sleep(STEP)
        if not uri:
            raise UpstreamUnavailable(
                "The device's recorder made no file.",
                upstream="screen recorder",
                enable_hint="Look at the device: it may ask for something.",
            )
        copy = f"{TEMPORARY}/{self._name}"
        try:
            self._movie = await self._whole(uri, copy)
        finally:
            with suppress(AnydeviceError):
                await self._reach.hdc.shell(f"{line('mediatool', 'delete', uri)}; rm -f {quote(copy)}")

    async def _whole(self, uri: str, copy: str) -> Movie:
        """The film here, once it is whole: one that has a steady size may still wait for its end to be written.

        Raises:
            UpstreamUnavailable: It does not become whole in time.
        """
        until = anyio.current_time() + FINISHING
        while True:
            await self._settled(uri, copy)
            await self._reach.hdc.receive(copy, str(self._target), deadline=FINISHING)
            try:
                return await anyio.to_thread.run_sync(inspect, self._target)
            except (ValueError, OSError) as error:
                if anyio.current_time() >= until:
                    raise UpstreamUnavailable(
                        "The recording is not whole.", upstream="screen recorder", enable_hint="Record again."
                    ) from error
            await anyio.sleep(STEP)

    async def _settled(self, uri: str, copy: str) -> None:
        """Copies the file out of the gallery until two copies are of one size: the recorder may still be writing it."""
        last = ""
        with anyio.move_on_after(FINISHING):
            while True:
                recv = line("mediatool", "recv", uri, TEMPORARY)
                take = f"rm -f {quote(copy)}; {recv} >/dev/null; stat -c %s {quote(copy)}"
                size = (await self._reach.hdc.shell(take, deadline=FINISHING)).text.strip()
                if size.isdigit() and size != "0" and size == last:
                    return
                last = size
                await anyio.sleep(STEP)
