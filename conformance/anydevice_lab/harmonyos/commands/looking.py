"""snapshot_display: a picture of the display, as a file."""

from __future__ import annotations

import io
import secrets

import anyio.to_thread

from ...handset.picture import Drawing, draw, image
from ..programs import Invocation, Program

QUALITY = 80


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
    """`snapshot_display [-i DISPLAY] [-f FILE] [-t jpeg|png] [-w W -h H]`."""
    words = list(call.args)

    def given(name: str) -> str:
        return words[words.index(name) + 1] if name in words and words.index(name) + 1 < len(words) else ""

    kind = given("-t") or "jpeg"
    path = given("-f") or f"/data/local/tmp/snapshot_{secrets.randbelow(10**6)}.{kind}"
    right = ".png" if kind == "png" else ".jpeg"
    if kind not in ("jpeg", "png") or (kind == "png" and call.device.kind.old) or not path.endswith(right):
        await call.out(f"error: fileName {path} invalid, file type must be {kind}\n")
        return 1
    if given("-i") not in ("", "0"):
        await call.out("error: displayId is invalid\n")
        return 1
    width, height = given("-w"), given("-h")
    size = (int(width), int(height)) if width.isdigit() and height.isdigit() else None
    problem = await save_picture(call, path, png=kind == "png", size=size)
    if problem:
        await call.out(f"error: snapshot display {problem}\n")
        return 1
    whole = call.device.machine.geometry.size
    await call.out(
        f"process: display 0, width {(size or whole)[0]}, height {(size or whole)[1]}\n"
        f"success: snapshot display 0 , write to {path} as {kind}, width {(size or whole)[0]}, "
        f"height {(size or whole)[1]}\n"
    )
    return 0


PROGRAMS: dict[str, Program] = {"snapshot_display": snapshot_display}
