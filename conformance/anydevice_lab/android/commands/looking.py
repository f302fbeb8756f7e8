"""screencap: a picture of a display."""

from __future__ import annotations

import struct

import anyio.to_thread

from ...handset.picture import Drawing, draw, image, png
from ..programs import Invocation, Program

WARNING = (
    "[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first display found, "
    "however this default is not guaranteed to be consistent across captures. A display id should be specified.\n"
    "A display ID can be specified with the [-d display-id] option.\n"
    'See "dumpsys SurfaceFlinger --display-id" for valid display IDs.\n'
)


async def screencap(call: Invocation) -> int:
    """`screencap [-p] [-d ID] [FILE]`; without a file the picture goes to stdout."""
    words, kind, machine = list(call.args), call.device.kind, call.device.machine
    number = words[words.index("-d") + 1] if "-d" in words and words[-1] != "-d" else ""
    files = [word for i, word in enumerate(words) if not word.startswith("-") and words[i - 1] != "-d"]
    ids = [str(display.id) for display in kind.displays] or ["4619827259835644672"]
    if number and number not in ids and number != "0":
        await call.err(f"Display Id '{number}' is not valid.\n")
        return 1
    if call.device.faults.active("screencap_fails") is not None:
        return 1
    size = machine.geometry.size
    dark = not machine.awake
    if kind.displays:
        display = next((one for one in kind.displays if str(one.id) == number), kind.displays[0])
        dark = dark or display.dark
        size = (display.width, display.height) if display.dark else size
        if not number and not files:
            await call.out(WARNING)
    encoded = "-p" in words or (bool(files) and files[0].endswith(".png"))
    drawing = draw([] if dark else machine.seen(), size, dark=dark)
    data = await anyio.to_thread.run_sync(png if encoded else raw, drawing)
    if call.device.faults.active("screencap_cut") is not None:
        data = data[: len(data) // 2]
    if files:
        call.path(files[0]).write_bytes(data)
    else:
        await call.out(data)
    return 0


PROGRAMS: dict[str, Program] = {"screencap": screencap}


def raw(drawing: Drawing) -> bytes:
    """A picture as `screencap` writes it unless told otherwise: width, height, format, colours, then the pixels."""
    return struct.pack("<4I", *drawing.size, 1, 1) + bytes(image(drawing).convert("RGBA").tobytes())
