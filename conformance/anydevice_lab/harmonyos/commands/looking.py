"""snapshot_display: a picture of the display, as a file."""

from __future__ import annotations

import io
import time

import anyio.to_thread

from ...handset.picture import Drawing, draw, image
from ..programs import Invocation, Program

FOLDER = "/data/local/tmp"
"""Nowhere else may pictures be written."""
QUALITY = 75


def _encoded(drawing: Drawing, png: bool, size: tuple[int, int] | None) -> bytes:
    picture = image(drawing)
    if size is not None:
        picture = picture.resize(size)
    out = io.BytesIO()
    if png:
        picture.save(out, "PNG", compress_level=1)
    else:
        picture.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()


async def save_picture(call: Invocation, path: str, *, png: bool, size: tuple[int, int] | None = None) -> str:
    """Writes a picture of the display; why that fails, or nothing."""
    device, machine = call.device, call.device.machine
    if device.faults.active("screen_fails") is not None:
        return "capture failed"
    if device.faults.active("screen_empty") is not None:
        data = b""
    else:
        dark = not machine.awake
        drawing = draw([] if dark else machine.windows(), machine.geometry.size, dark=dark)
        data = await anyio.to_thread.run_sync(_encoded, drawing, png, size)
        if device.faults.active("screen_cut") is not None:
            data = data[: len(data) // 2]
    try:
        await anyio.to_thread.run_sync(call.path(path).write_bytes, data)
    except OSError:
        return "open file failed"
    device.journal.add("screenshot", path=path)
    return ""


async def snapshot_display(call: Invocation) -> int:
    """`snapshot_display [-i DISPLAY] [-f FILE] [-t jpeg|png] [-w W] [-h H]`: a file whose suffix says what it is."""
    old, words = call.device.kind.old, list(call.args)

    def given(name: str) -> str:
        return words[words.index(name) + 1] if name in words and words.index(name) + 1 < len(words) else ""

    kind = "png" if given("-t") == "png" and not old else "jpeg"
    path = given("-f") or f"{FOLDER}/{time.strftime('snapshot_%Y-%m-%d_%H-%M-%S')}.{kind}"
    problem = _mistake(path, f".{kind}")
    if old and "-t" in words:
        problem = "usage: snapshot_display [-i displayId] [-f output_file] [-w width] [-h height] [-m]"
    if given("-i") not in ("", "0"):
        problem = f"error: displayId {given('-i')} invalid!\ntips: supported displayIds:\n\t0"
    if problem:
        await call.out(f"{problem}\n")
        return 0 if old else 255  # older builds leave with 0 after a mistake like that
    width, height = call.device.machine.geometry.size
    size = (int(given("-w") or width), int(given("-h") or height))
    await call.out(
        f"process: display 0: width {width}, height {height}\n"
        if old
        else f"process: display 0, file type: {kind}, width: {width}, height: {height}\n"
    )
    if await save_picture(call, path, png=kind == "png", size=size if size != (width, height) else None):
        await call.out(f"\nerror: snapshot display 0, write to {path} as jpeg failed!\n")
        return 255
    colon = "" if old else ":"
    await call.out(
        f"\nsuccess: snapshot display 0 , write to {path} as {kind}, width{colon} {size[0]}, height{colon} {size[1]}\n"
    )
    return 0


def _mistake(path: str, suffix: str) -> str:
    """What is wrong with a name; empty = nothing."""
    if not path.startswith(f"{FOLDER}/"):
        where = path.rpartition("/")[0] or "/"
        return f"error: fileName {path} invalid, realpath {where} must dump at dir: {FOLDER}"
    return "" if path.endswith(suffix) else f"error: fileName {path} invalid, suffix must be {suffix}"


PROGRAMS: dict[str, Program] = {"snapshot_display": snapshot_display}
