"""Video of the screen, by the toolkit's own recorder: one run of it is a recording, and takes three minutes at most."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

import anyio
import anyio.to_thread
import structlog

from anydevice.driver import Acted, Recorded, Recording, RecordRequest
from anydevice.kit import movies, processes
from anydevice.kit.encoders import encoder
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, ConnectionLost, Unsupported, UpstreamUnavailable

from .reach import Reach

log = structlog.get_logger("anydevice.vega")

LIMIT: Final = 180
"""Seconds the toolkit records at most."""
FILM: Final = "/tmp/*automation-toolkit.service*/tmp/atk_screen_capture.mp4"
SUFFIX, MIME = ".mp4", "video/mp4"
FETCHING: Final = 60.0
STOPPING: Final = 20.0
REMUXING: Final = 30.0
MOST: Final = 1 << 30


class VegaRecording(Recording):
    """One recording of the device at a time."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._path: Path | None = None
        self._stamp = f"/tmp/anydevice-{secrets.token_hex(6)}.began"
        self._longest = 0.0
        self._began = 0.0

    async def start(self, request: RecordRequest) -> Acted:
        """See `Recording.start`. How many pictures a second there are is the device's affair.

        Raises:
            ActionUnverified: One runs, or waits to be fetched.
            Unsupported: Only a part of the screen is wanted.
            DeviceNotReady: No app was started with the toolkit.
        """
        if self._path is not None:
            raise ActionUnverified(
                "The device is being recorded.", expected="no recording", actual="one that was not fetched yet"
            )
        if request.area is not None:
            raise Unsupported(
                "Vega records the whole screen only.",
                hint="Leave x, y, width and height out.",
                operation="recording.start",
                alternatives=["screen.image"],
                reason="the toolkit records no part of the screen",
            )
        longest = min(request.longest, float(LIMIT))
        # What is not newer than this file is the film of somebody else, or of another time.
        await self._reach.run("touch", self._stamp, deadline=5.0)
        try:
            await self._reach.ask("startRecordingScreen", {"timeLimitInSeconds": math.ceil(longest)}, deadline=15.0)
        except BaseException:
            await self._away(self._stamp)
            raise
        self._path, self._longest, self._began = Path(request.path), longest, anyio.current_time()
        data: dict[str, Any] = {"fps": "as the device has it"}
        if longest < request.longest:
            data |= {"longest": longest, "limitedBy": "the device records three minutes at most"}
        return Acted("toolkit", data=data)

    async def stop(self) -> Recorded:
        """See `Recording.stop`.

        Raises:
            ActionUnverified: Nothing is recorded.
            ConnectionLost: The device was lost, and with it what was recorded.
            UpstreamUnavailable: No whole file was made.
        """
        path, self._path = self._path, None
        if path is None:
            raise ActionUnverified("The device is not being recorded.", expected="a recording", actual="none")
        ended: Literal["stopped", "longest"] = "longest" if self._over else "stopped"
        target = path.with_name(path.name + SUFFIX)
        try:
            await self._end(ended)
            await self._fetch(target)
        finally:
            await self._away(self._stamp)
        movie = await _whole(target)
        seconds = movie.seconds or min(anyio.current_time() - self._began, self._longest)
        return Recorded(
            str(target), MIME, seconds, movie.width or 0, movie.height or 0, movie.frames, ended, {"engine": "toolkit"}
        )

    async def status(self) -> Mapping[str, Any] | None:
        """See `Recording.status`."""
        if self._path is None:
            return None
        told: dict[str, Any] = {"seconds": round(min(anyio.current_time() - self._began, self._longest), 2)}
        return told | ({"ended": "longest"} if self._over else {})

    async def finish(self) -> None:
        """Ends what runs and lets go of it; its file stays where it was asked for."""
        if self._path is None:
            return
        try:
            await self.stop()
        except AnydeviceError as error:
            log.warning("recording_not_finished", reason=error.message)

    @property
    def _over(self) -> bool:
        return anyio.current_time() - self._began >= self._longest

    async def _end(self, ended: Literal["stopped", "longest"]) -> None:
        try:
            await self._reach.ask("stopRecordingScreen", deadline=STOPPING)
        except UpstreamUnavailable as error:
            if ended == "stopped":
                raise
            log.info("recording_had_ended", error=error.code)  # by itself: there is nothing to stop any more

    async def _fetch(self, target: Path) -> None:
        """Reads the file through a shell: what the shell sees is where the toolkit writes; then removes it there."""
        newest = f"f=$(ls -t {FILM} 2>/dev/null | head -n 1)"
        mine = f'test -n "$f" && test ! "$f" -ot {self._stamp} && cat "$f"'
        done = await self._reach.adb.shell(f"{newest}; {mine}", deadline=FETCHING, most=MOST)
        if done.status != 0 or not done.stdout or done.cut:
            raise ConnectionLost("What was recorded is not there.", restarted=False, lost="recording")
        await anyio.to_thread.run_sync(target.write_bytes, done.stdout)
        await self._reach.sh(f"rm -f {FILM}", deadline=5.0)

    async def _away(self, path: str) -> None:
        with anyio.move_on_after(3.0, shield=True), suppress(AnydeviceError):
            await self._reach.run("rm", "-f", path, deadline=2.0)


async def _whole(target: Path) -> movies.Movie:
    """What the file says of itself; one without an index is written anew where there is a program for it.

    Raises:
        UpstreamUnavailable: It is no whole video.
    """
    try:
        return await anyio.to_thread.run_sync(movies.inspect, target)
    except ValueError:
        log.info("recording_without_index")
    made = target.with_name(f".{target.name}.whole{SUFFIX}")
    try:
        program = await encoder()
        words = ["-hide_banner", "-nostdin", "-loglevel", "error", "-i", str(target), "-c", "copy", "-y", str(made)]
        await processes.run([program.program, *words], deadline=REMUXING)
        movie = await anyio.to_thread.run_sync(movies.inspect, made)
        await anyio.to_thread.run_sync(made.replace, target)
        return movie
    except (ValueError, OSError, AnydeviceError) as error:
        await anyio.to_thread.run_sync(_away, made, target)
        raise UpstreamUnavailable(
            "The device gave no whole video.",
            upstream="automation toolkit",
            enable_hint="Record anew; a shorter recording may work.",
            reason=type(error).__name__,
        ) from error


def _away(*paths: Path) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
