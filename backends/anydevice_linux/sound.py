"""How loud a desktop plays, heard at the monitor of its sound server."""

from __future__ import annotations

import array
import math
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import anyio

from anydevice.driver import Acted, Audio
from anydevice.kit import background, processes
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, ToolMissing, UpstreamUnavailable

from .seats import Seat

PROGRAM: Final = "parec"
INSTALL: Final = "Debian and Ubuntu: apt install pulseaudio-utils. Fedora: dnf install pulseaudio-utils."
RATE: Final = 16_000
"""Samples a second that are listened to, of one channel."""
FULL: Final = 32_768
FLOOR: Final = -120.0
"""dBFS that stands for nothing at all."""
SILENT: Final = -80.0
"""dBFS no person hears."""
FIRST: Final = 5.0
"""Seconds the sound server may take to deliver the first samples."""
MISSED: Final = 3.0
"""Seconds of which nothing came, after which what was heard says nothing about the time that passed."""
AGAIN: Final = 2.0
"""Seconds for which it is taken for granted whether there is a sound server."""


class LinuxAudio(Audio):
    """Listens to the default output, through PulseAudio or what stands in for it (PipeWire)."""

    def __init__(self, reach: Callable[[], Seat]) -> None:
        """`reach` says how the desktop is reached now, or raises why it is not."""
        self._reach = reach
        self._ear: _Ear | None = None
        self._looked: tuple[float, str | None, str] = (0.0, None, "")

    @property
    def reason(self) -> str:
        """Why nobody can listen, and what to do; empty while one can, and while the desktop does not run."""
        try:
            seat = self._reach()
        except AnydeviceError:
            return ""
        at, mark, reason = self._looked
        if mark != seat.mark or time.monotonic() - at > AGAIN:
            reason = _why_not(seat)
            self._looked = (time.monotonic(), seat.mark, reason)
        return reason

    async def start(self) -> Acted:
        """See `Audio.start`.

        Raises:
            UpstreamUnavailable: The sound server cannot be reached, or gives nothing.
            ToolMissing: The program that listens is not installed.
        """
        await self.finish()
        seat = self._reach()
        if not shutil.which(PROGRAM):
            raise ToolMissing(f"The program {PROGRAM} is not installed.", tools=[PROGRAM], install=INSTALL)
        ear = self._ear = _Ear()
        try:
            await ear.open(seat.env)
        except BaseException:
            self._ear = None
            raise
        return Acted("monitor", data={"rate": RATE})

    async def level(self) -> Mapping[str, Any]:
        """See `Audio.level`."""
        return self._heard().level()

    async def stop(self) -> Mapping[str, Any]:
        """See `Audio.stop`."""
        ear = self._heard()
        try:
            return ear.level()
        finally:
            await self.finish()

    async def finish(self) -> None:
        """Listens no more."""
        ear, self._ear = self._ear, None
        if ear is not None:
            await ear.aclose()

    def _heard(self) -> _Ear:
        if self._ear is None:
            raise ActionUnverified(
                "Nobody listens to this desktop.",
                expected="listening",
                actual="not listening",
                hint="Call audio with action=start first.",
            )
        return self._ear


class _Ear:
    """A program that delivers samples, and what was heard of them so far."""

    def __init__(self) -> None:
        self._child: processes.Child | None = None
        self._work: background.Background | None = None
        self._first = anyio.Event()
        self._samples = 0
        self._since = 0.0
        self._energy = 0.0
        self._peak = 0

    async def open(self, env: Mapping[str, str]) -> None:
        argv = [
            PROGRAM, "--device=@DEFAULT_MONITOR@", "--format=s16le", f"--rate={RATE}", "--channels=1",
            "--latency-msec=50", "--client-name=anydevice",
        ]  # fmt: skip
        self._child = await processes.start(argv, env=env, stdout=subprocess.PIPE)
        self._work = background.start(self._listen, self._child, name="sound")
        try:
            with anyio.move_on_after(FIRST):
                await self._first.wait()
            if not self._samples:
                raise _deaf(self._child)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.aclose()
            raise

    def level(self) -> dict[str, Any]:
        missed = time.monotonic() - self._since - self._samples / RATE
        if self._work is None or self._work.done or missed > MISSED:
            raise _deaf(self._child)
        mean = math.sqrt(self._energy / self._samples) if self._samples else 0.0
        peak = _dbfs(self._peak)
        return {
            "seconds": self._samples / RATE,
            "rmsDbfs": _dbfs(mean),
            "peakDbfs": peak,
            "silent": peak <= SILENT,
        }

    async def aclose(self) -> None:
        if self._child is not None:
            await processes.stop(self._child, grace=0.5)
        if self._work is not None:
            self._work.cancel()

    async def _listen(self, child: processes.Child) -> None:
        stream, rest = child.process.stdout, b""
        assert stream is not None
        try:
            while True:
                data = rest + await stream.receive()
                whole = len(data) // 2 * 2
                self._take(data[:whole])
                rest = data[whole:]
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._first.set()

    def _take(self, data: bytes) -> None:
        samples = array.array("h", data)
        if not samples:
            return
        if sys.byteorder == "big":
            samples.byteswap()
        if not self._samples:
            self._since = time.monotonic() - len(samples) / RATE
        self._samples += len(samples)
        self._energy += float(sum(value * value for value in samples))
        highest, lowest = max(samples), min(samples)
        self._peak = max(self._peak, highest, -lowest)
        self._first.set()


def _why_not(seat: Seat) -> str:
    if server_of(seat.env) is None:
        return (
            "No sound server runs on this desktop. Start PulseAudio or PipeWire (pipewire-pulse) on it, in its "
            "XDG_RUNTIME_DIR, and the programs after it."
        )
    return "" if shutil.which(PROGRAM) else f"The program {PROGRAM} is not installed. {INSTALL}"


def server_of(env: Mapping[str, str]) -> str | None:
    """Where the sound server of an environment is; None where it has none."""
    told = env.get("PULSE_SERVER")
    if told:
        return told
    folder = env.get("PULSE_RUNTIME_PATH") or (f"{env['XDG_RUNTIME_DIR']}/pulse" if "XDG_RUNTIME_DIR" in env else "")
    return f"{folder}/native" if folder and Path(folder, "native").is_socket() else None


def _dbfs(value: float) -> float:
    return max(FLOOR, 20 * math.log10(value / FULL)) if value > 0 else FLOOR


def _deaf(child: processes.Child | None) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        "The sound server gives nothing to listen to.",
        upstream="sound server",
        enable_hint="See whether it runs and has an output (pactl info), then call audio with action=start.",
        said=child.tail[-300:] if child is not None else "",
    )
