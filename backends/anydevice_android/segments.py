"""One run of `screenrecord`: started and seen to film, ended so that its file is whole, and fetched.

A recorder writes the index of its file last, and only when it is asked to end (SIGINT); one that is killed leaves a
file that cannot be played. No run may be longer than three minutes.
"""

from __future__ import annotations

import re
import secrets
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from anydevice.kit import background
from anydevice.kit.movies import Movie, inspect
from anydevice_adb import AdbDevice, line
from anydevice_adb.device import TEMPORARY
from anydevice_adb.shell import ShellStream
from anydevice_adb.wire import Closed
from anydevice_schemas.errors import AnydeviceError, PathNotFound, ToolMissing, UpstreamUnavailable

FILMING: Final = 8.0
"""Seconds a recorder may take to write the first of its film."""
ENDING: Final = 6.0
"""Seconds a recorder may take to finish its file."""
FETCHING: Final = 120.0
"""Seconds a file may take from the device."""
AGAIN: Final = 4.0
"""Seconds a device that was lost is given to be there again."""
STEP: Final = 0.1
_PID = re.compile(rb"^(\d+)\s")
_CODEC = re.compile(r"err=-(?:1010|38)\b|unable to (?:configure|create)")
_RETRIED = re.compile(r"retrying at (\d+)x(\d+)")
Size = tuple[int, int]


class CodecRefused(Exception):
    """The device's encoder does not take this size."""


class Segment:
    """One file.

    Attributes:
        began: When it was seen to film, on the loop's clock.
        over: Set once the recorder has ended, or its device is lost.
        lost: Its transport was.
        finished: It was ended and fetched, as far as it could be.
        size: Pixels the recorder chose by itself, where it said so.
    """

    def __init__(self, adb: AdbDevice) -> None:
        self._adb = adb
        self._path = f"{TEMPORARY}/anydevice-{secrets.token_hex(6)}.mp4"
        self._kept = AsyncExitStack()
        self._said = bytearray()
        self._stream: ShellStream | None = None
        self.began = 0.0
        self.over = anyio.Event()
        self.lost = self.finished = False
        self.size: Size | None = None

    async def start(self, *, size: Size | None, display: str | None, limit: int) -> None:
        """Starts the recorder, and returns once it films.

        Args:
            size: Pixels; None = the recorder chooses.
            display: Id of the panel, where there are several.
            limit: Seconds after which it ends by itself.

        Raises:
            CodecRefused: The encoder does not take the size.
            ToolMissing: The device has no recorder.
            UpstreamUnavailable: It does not film.
            AnydeviceError: As `AdbDevice.shell`.
        """
        words: list[str | int] = ["screenrecord", "--time-limit", limit]
        if size is not None:
            words += ["--size", f"{size[0]}x{size[1]}"]
        if display is not None:
            words += ["--display-id", display]
        try:
            self._stream = await self._kept.enter_async_context(
                self._adb.stream(f"echo $$; exec {line(*words, self._path)}")
            )
            reader = background.start(self._hear, self._stream, name="screenrecord")
            self._kept.push_async_callback(_stopped, reader)
            await self._films()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._kept.aclose()
                await self._remove()
            raise
        self.began = anyio.current_time()
        chosen = _RETRIED.search(self._complaint)
        self.size = (int(chosen[1]), int(chosen[2])) if chosen else size

    async def finish(self, target: Path) -> Movie | None:
        """Ends the recorder, and fetches its file; None where no whole one came. Nothing is left on the device."""
        self.finished = True
        try:
            with suppress(AnydeviceError):
                await self._end()
            if self.lost:
                await self._adb_again()
            with suppress(AnydeviceError):
                await self._adb.pull(self._path, target, deadline=FETCHING)
            try:
                return await anyio.to_thread.run_sync(inspect, target)
            except (ValueError, OSError):
                await anyio.to_thread.run_sync(lambda: target.unlink(missing_ok=True))
                return None
        finally:
            with anyio.CancelScope(shield=True):
                await self._kept.aclose()
                await self._remove()

    # --- inside ---

    @property
    def _complaint(self) -> str:
        told = self._stream.complaint if self._stream is not None else b""
        return (bytes(self._said) + b"\n" + told).decode("utf-8", "replace")

    async def _hear(self, stream: ShellStream) -> None:
        try:
            async for chunk in stream:
                self._said += chunk
                del self._said[64:-8192]
        except Closed:
            self.lost = True
        finally:
            self.over.set()

    async def _films(self) -> None:
        """Returns once the recorder has written something: it does when its first pictures come."""
        with anyio.move_on_after(FILMING):
            while not self.over.is_set():
                with suppress(PathNotFound):
                    if (await self._adb.stat(self._path)).size:
                        return
                with anyio.move_on_after(STEP):
                    await self.over.wait()
        said = self._complaint
        if _CODEC.search(said):
            raise CodecRefused
        if "not found" in said:
            raise ToolMissing(
                "This device has no program that records its screen.",
                tools=["screenrecord"],
                install="Android 4.4 and later bring it; some makers leave it out. Use screenshot instead.",
                said=said[-500:],
            )
        raise UpstreamUnavailable(
            "The device's recorder does not film.",
            upstream="screenrecord",
            enable_hint="Turn the screen on and end other recordings, then repeat the call.",
            retryable=True,
            status=self._stream.status if self._stream is not None else None,
            said=said[-2000:],
        )

    async def _end(self) -> None:
        found = _PID.match(bytes(self._said))
        if self.over.is_set() or found is None:
            return
        await self._adb.shell(line("kill", "-INT", found[1].decode()), deadline=5.0)
        with anyio.move_on_after(ENDING):
            await self.over.wait()

    async def _adb_again(self) -> None:
        """Waits a little for a device that was lost: a cable that was moved is soon back, and the file still there."""
        with anyio.move_on_after(AGAIN):
            while True:
                try:
                    await self._adb.stat(self._path, deadline=2.0)
                    await anyio.sleep(STEP)  # its recorder was told of the loss, and may be finishing the file
                    return
                except PathNotFound:
                    return
                except AnydeviceError:
                    await anyio.sleep(STEP)

    async def _remove(self) -> None:
        with anyio.move_on_after(3.0), suppress(AnydeviceError):
            await self._adb.shell(line("rm", "-f", self._path), deadline=3.0)


async def _stopped(work: background.Background) -> None:
    work.cancel()
    await work.wait()
