"""How loud a device plays, by the history that its sound server keeps. Nothing is recorded or installed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import anyio

from anydevice.driver import Acted, Audio
from anydevice.kit import background
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, Unsupported

from .reach import Reach
from .reading.loudness import STEP, History, loudness

AGAIN: Final = 5.0
"""Seconds after which is looked again: the server tells no more than the last 20 seconds, and less of broken sounds."""
LOOKING: Final = 15.0
FLOOR: Final = -120.0
"""dBFS that stands for nothing at all."""
SILENT: Final = -80.0
"""dBFS no person hears."""
YEAR: Final = 366 * 86_400.0


class AndroidAudio(Audio):
    """See `Audio`: of all outputs the loudest. The peak is that of 50 ms, not of one sample."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._ear: _Ear | None = None

    async def start(self) -> Acted:
        """See `Audio.start`.

        Raises:
            Unsupported: The device keeps no such history.
            AnydeviceError: As `AdbDevice.shell`.
        """
        await self.finish()
        ear = _Ear(self._reach)
        await ear.begin()
        self._ear = ear
        return Acted("power history")

    async def level(self) -> Mapping[str, Any]:
        """See `Audio.level`; errors as `start`."""
        return await self._heard().level()

    async def stop(self) -> Mapping[str, Any]:
        """See `Audio.stop`; errors as `start`."""
        ear = self._heard()
        try:
            return await ear.level()
        finally:
            await self.finish()

    async def finish(self) -> None:
        """Listens no more."""
        ear, self._ear = self._ear, None
        if ear is not None:
            await ear.end()

    def _heard(self) -> _Ear:
        if self._ear is None:
            raise ActionUnverified(
                "Nobody listens to this device.",
                expected="listening",
                actual="not listening",
                hint="Call audio with action=start first.",
            )
        return self._ear


class _Ear:
    """What was heard since it began, step by step."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._levels: dict[int, float] = {}
        self._before: float | None = None
        self._began = 0.0
        self._work: background.Background | None = None

    async def begin(self) -> None:
        told = [at for history in await self._look() for at in history]
        # All that was told by now was before. The device's own clock says what comes after, whatever time it has.
        self._before = max(told, default=None)
        self._began = anyio.current_time()
        self._work = background.start(self._listen, name="sound")

    async def end(self) -> None:
        if self._work is not None:
            self._work.cancel()
            await self._work.wait()

    async def level(self) -> dict[str, Any]:
        self._take(await self._look())
        seconds = anyio.current_time() - self._began
        energy = sum(10 ** (level / 10) for level in self._levels.values()) * STEP
        peak = max(self._levels.values(), default=FLOOR)
        mean = _dbfs(energy / max(seconds, STEP))
        return {"seconds": seconds, "rmsDbfs": min(mean, peak), "peakDbfs": peak, "silent": peak <= SILENT}

    async def _listen(self) -> None:
        while True:
            await anyio.sleep(AGAIN)
            with suppress(AnydeviceError):  # the next look may be answered
                self._take(await self._look())

    async def _look(self) -> list[History]:
        done = await self._reach.run("dumpsys", "media.audio_flinger", deadline=LOOKING)
        found = loudness(done.text)
        if found is None:
            raise Unsupported(
                "This device's sound server keeps no history of how loud it plays.",
                hint="Use an emulator without Google Play, or a development build: these keep one.",
                operation="audio.start",
                alternatives=[],
            )
        return found

    def _take(self, histories: list[History]) -> None:
        for history in histories:
            for at, level in history.items():
                if self._before is None or STEP / 2 < (at - self._before) % YEAR < YEAR / 2:
                    step = round(at / STEP)
                    self._levels[step] = max(level, self._levels.get(step, FLOOR))


def _dbfs(power: float) -> float:
    return max(FLOOR, 10 * math.log10(power)) if power > 0 else FLOOR
