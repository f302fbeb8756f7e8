"""Recording and sound of a fake device: a tape one can ask what was filmed, and a loudness a test can set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import anyio

from anydevice_schemas.errors import ActionUnverified, InvalidArgument

from .. import driver as d
from .film import film, plain_png

if TYPE_CHECKING:
    from .driver import FakeDriver

SILENCE = -120.0
"""What a fake device plays at while it is silent, in dBFS."""
FRAMES_MOST = 20_000


@dataclass
class Tape:
    """What was filmed of a fake device: the witness of a recording.

    Attributes:
        request: What was asked for.
        began: Reading of the loop's clock.
        ended: How it ended, once it has.
        seconds: How long it ran, once it has ended.
        deeds: How many things were done to the screen when it began, and when it ended.
    """

    request: d.RecordRequest
    began: float
    deeds: list[int] = field(default_factory=list)
    ended: Literal["stopped", "longest", "device"] | None = None
    seconds: float = 0.0
    path: str = ""

    def look(self, now: float, deeds: int) -> None:
        """Sees whether it has run for as long as it may."""
        if self.ended is None and now - self.began >= self.request.longest:
            self.end("longest", self.began + self.request.longest, deeds)

    def end(self, how: Literal["stopped", "longest", "device"], now: float, deeds: int) -> None:
        """It ends, if it has not ended yet."""
        if self.ended is None:
            self.ended, self.seconds = how, now - self.began
            self.deeds.append(deeds)

    @property
    def frames(self) -> int:
        """Pictures in it."""
        return max(1, min(FRAMES_MOST, round(self.seconds * self.request.fps)))


def shade(deeds: int) -> int:
    """The grey a screen is filmed in: it changes with every thing that is done to it."""
    return 40 + deeds * 30 % 200


class FakeRecording(d.Recording):
    """Films a fake screen: the first picture as it was when the tape began, the last as it was when it ended."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    @property
    def tape(self) -> Tape | None:
        """The tape that runs, or waits to be fetched."""
        tape = self.driver.backend.tapes.get(self.driver.device.id)
        if tape is not None:
            tape.look(anyio.current_time(), self._deeds())
        return tape

    def _deeds(self) -> int:
        return len(self.driver.model.journal)

    async def start(self, request: d.RecordRequest) -> d.Acted:
        """See `Recording`."""
        done = await self.driver.enter("recording.start")
        if self.tape is not None:
            raise ActionUnverified("It is being recorded.", expected="no recording", actual="one")
        if request.area is not None and request.area.intersect(self.driver.model.viewport) is None:
            raise InvalidArgument("The area is not on the screen.", param="area", expected="a part of the screen")
        if done:
            tape = Tape(request, anyio.current_time(), [self._deeds()])
            self.driver.backend.tapes[self.driver.device.id] = tape
        return d.Acted("film", data={"fps": request.fps})

    async def stop(self) -> d.Recorded:
        """See `Recording`."""
        await self.driver.enter("recording.stop", page=False)
        tape = self.tape
        if tape is None:
            raise ActionUnverified("Nothing is being recorded.", expected="a recording", actual="none")
        width, height = self.finish("stopped")
        del self.driver.backend.tapes[self.driver.device.id]
        return d.Recorded(
            tape.path, "video/quicktime", tape.seconds, width, height, tape.frames, tape.ended or "stopped"
        )

    async def status(self) -> Mapping[str, Any] | None:
        """See `Recording`."""
        await self.driver.enter("recording.status", page=False)
        tape = self.tape
        if tape is None:
            return None
        seconds = tape.seconds if tape.ended else anyio.current_time() - tape.began
        told: dict[str, Any] = {"seconds": round(seconds, 2), "frames": round(seconds * tape.request.fps)}
        return told | ({"ended": tape.ended} if tape.ended else {})

    def finish(self, how: Literal["stopped", "longest", "device"], *, forget: bool = False) -> tuple[int, int]:
        """Ends the tape, if there is one, and writes its file; the size of its pictures."""
        tape = self.tape
        if tape is None:
            return 0, 0
        tape.end(how, anyio.current_time(), self._deeds())
        area = tape.request.area or self.driver.model.viewport
        size = max(1, round(area.width)), max(1, round(area.height))
        shown = [0] * (tape.frames - 1) + [1]
        pictures = [plain_png(*size, grey=shade(deeds)) for deeds in tape.deeds]
        tape.path = f"{tape.request.path}.mov"
        Path(tape.path).write_bytes(film(pictures, shown, tape.request.fps, size))
        if forget:
            del self.driver.backend.tapes[self.driver.device.id]
        return size


class FakeAudio(d.Audio):
    """Listens to a fake device; how loud it is the test says (`FakeBackend.loudness`)."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver

    async def start(self) -> d.Acted:
        """See `Audio`."""
        if await self.driver.enter("audio.start", page=False):
            self.driver.backend.listening[self.driver.device.id] = anyio.current_time()
        return d.Acted("listen")

    async def level(self) -> Mapping[str, Any]:
        """See `Audio`."""
        await self.driver.enter("audio.level", page=False)
        return self._level()

    async def stop(self) -> Mapping[str, Any]:
        """See `Audio`."""
        await self.driver.enter("audio.stop", page=False)
        level = self._level()
        del self.driver.backend.listening[self.driver.device.id]
        return level

    def _level(self) -> dict[str, Any]:
        began = self.driver.backend.listening.get(self.driver.device.id)
        if began is None:
            raise ActionUnverified("Nobody listens.", expected="listening", actual="not listening")
        peak = self.driver.backend.loudness.get(self.driver.device.id, SILENCE)
        rms = max(SILENCE, peak - 10 * math.log10(2))  # of a pure tone
        seconds = anyio.current_time() - began
        return {"seconds": round(seconds, 3), "rmsDbfs": rms, "peakDbfs": peak, "silent": peak <= SILENCE}
