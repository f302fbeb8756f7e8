"""Finding the program that makes a video of pictures: the system's, else the one a Python package brings."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from anydevice_schemas.errors import AnydeviceError, ToolMissing

from . import processes

INSTALL = "pip install 'anydevice[video]'"
PROGRAM = "ffmpeg"
PACKAGE = "imageio_ffmpeg"
CODECS: dict[str, tuple[str, ...]] = {
    "libx264": ("-preset", "ultrafast", "-crf", "23"),
    "libopenh264": ("-b:v", "4M"),
    "mpeg4": ("-q:v", "4"),
}
"""Codecs that make an MP4 file, the best first, with their options: quick ones, since devices are driven meanwhile."""
LOOK_DEADLINE = 20.0


@dataclass(slots=True, frozen=True)
class Encoder:
    """A program that was seen to work: its path, and the codec with its options."""

    program: str
    codec: str
    options: tuple[str, ...]


_known: dict[str, Encoder] = {}


def candidates() -> list[str]:
    """Paths of programs that may do, the first choice first. Blocking but small."""
    found = []
    own = shutil.which(PROGRAM)
    if own is not None:
        found.append(own)
    spec = importlib.util.find_spec(PACKAGE)  # looked up, not imported: the import runs programs
    if spec is not None and spec.origin is not None:
        brought = (Path(spec.origin).parent / "binaries").glob("ffmpeg-*")
        found += sorted(str(path) for path in brought if path.is_file())
    return found


async def encoder() -> Encoder:
    """The first program that works here and has a codec; looked for once, then known.

    Raises:
        ToolMissing: There is none.
    """
    broken = []
    for program in await anyio.to_thread.run_sync(candidates):
        known = _known.get(program)
        if known is not None:
            return known
        try:
            said = await processes.run([program, "-hide_banner", "-encoders"], deadline=LOOK_DEADLINE)
        except AnydeviceError:
            broken.append(program)
            continue
        words = set(said.text.split())
        for codec, options in CODECS.items():
            if said.code == 0 and codec in words:
                _known[program] = made = Encoder(program, codec, options)
                return made
        broken.append(program)
    raise ToolMissing(
        "No program that makes videos is installed."
        if not broken
        else "The program that makes videos does not work, or has no codec for it.",
        tools=[PROGRAM],
        install=f"{INSTALL}, or install ffmpeg from the system's packages",
        hint=f"Run: {INSTALL}",
        broken=[Path(program).name for program in broken],
    )
