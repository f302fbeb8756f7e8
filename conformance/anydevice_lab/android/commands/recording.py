"""screenrecord: a film of the display. It is whole only when the recorder was asked to end, not when it was ended."""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from ...handset.film import Picture, film, unfinished
from ...handset.picture import Drawing, draw, image, jpeg
from ..programs import Invocation, Program

if TYPE_CHECKING:
    from ..device import LabDevice

LONGEST = 180
LOOKS = 0.1
"""Seconds between two looks at the display."""
QUALITY = 60
BITS = (
    "ERROR: unable to configure video/avc codec at {}x{} (err=-1010)\nERROR: unable to create encoder input surface\n"
)


async def screenrecord(call: Invocation) -> int:
    """`screenrecord [--size WxH] [--time-limit S] [--bit-rate N] [--display-id ID] FILE`."""
    words, machine = list(call.args), call.device.machine
    width, height = machine.geometry.size
    limit, target = float(LONGEST), ""
    while words:
        word = words.pop(0)
        if word == "--size" and words:
            width, height = (int(part) for part in words.pop(0).split("x"))
        elif word == "--time-limit" and words:
            limit = float(words.pop(0))
        elif word in ("--bit-rate", "--display-id", "--codec-name") and words:
            words.pop(0)
        elif not word.startswith("-"):
            target = word
    if not target:
        await call.err("Must specify output file (see --help).\n")
        return 2
    if not 0 < limit <= LONGEST:
        await call.err(f"Time limit {limit:g}s outside acceptable range [1,{LONGEST}]\n")
        return 2
    if width % 2 or height % 2 or call.device.faults.active("recorder_fails") is not None:
        await call.err(BITS.format(width, height))
        return 255
    path = call.path(target)
    try:
        path.write_bytes(b"")
    except OSError:
        await call.err(f"Unable to open '{target}': No such file or directory\n")
        return 1
    tape = _Tape(call.device, (width, height))
    await tape.look()
    path.write_bytes(unfinished(tape.pictures))  # the rest is held back by the file system's cache
    with anyio.move_on_after(limit):
        while not call.interrupted.is_set():
            with anyio.move_on_after(LOOKS):
                await call.interrupted.wait()
            await tape.look()
    path.write_bytes(film((width, height), tape.pictures, time.monotonic() - tape.began))
    return 0


class _Tape:
    """The pictures of one run: one whenever the display has changed."""

    def __init__(self, device: LabDevice, size: tuple[int, int]) -> None:
        self._device, self._size = device, size
        self._last: Drawing | None = None
        self.began = time.monotonic()
        self.pictures: list[Picture] = []

    async def look(self) -> None:
        """Takes a picture, if there is anything new to see."""
        machine = self._device.machine
        shown = draw(machine.seen() if machine.awake else [], machine.geometry.size, dark=not machine.awake)
        if shown == self._last:
            return
        self._last, at = shown, time.monotonic() - self.began
        self.pictures.append((at, await anyio.to_thread.run_sync(_scaled, shown, self._size)))


def _scaled(drawing: Drawing, size: tuple[int, int]) -> bytes:
    if drawing.size == size:
        return jpeg(drawing, QUALITY)
    out = io.BytesIO()
    image(drawing).resize(size).save(out, "JPEG", quality=QUALITY)
    return out.getvalue()


PROGRAMS: dict[str, Program] = {"screenrecord": screenrecord}
