"""Several video files as one: what one run of the recorder may hold is less than a recording may take."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from anydevice.kit import processes
from anydevice.kit.encoders import encoder
from anydevice.kit.movies import Movie, inspect
from anydevice_schemas.errors import UpstreamUnavailable

JOINING = 60.0
"""Seconds joining may take; pictures are copied, not encoded anew, where all are of one size."""
LIST = "parts.txt"


@dataclass(slots=True, frozen=True)
class Part:
    """A file, what it says of itself, and the seconds of it to keep: the next one begins before it ends."""

    path: Path
    movie: Movie
    keep: float | None = None


async def join(parts: Sequence[Part], target: Path) -> Movie:
    """Makes one file of the parts, in their order; returns what it says of itself.

    Raises:
        ToolMissing: There are several, and nothing here joins them.
        UpstreamUnavailable: They could not be joined.
        CallTimeout: Nor in time.
    """
    if len(parts) == 1:
        await anyio.to_thread.run_sync(os.replace, parts[0].path, target)
        return parts[0].movie
    program = await encoder()
    words = ["ffconcat version 1.0"]
    for part in parts:
        words.append(f"file {part.path.name}")
        if part.keep is not None and (part.movie.seconds is None or part.keep < part.movie.seconds):
            words.append(f"outpoint {part.keep:.3f}")
    listed = parts[0].path.with_name(LIST)
    await anyio.to_thread.run_sync(listed.write_text, "\n".join(words) + "\n")
    first = parts[0].movie
    how = ["-c", "copy"]
    if any((part.movie.width, part.movie.height) != (first.width, first.height) for part in parts):
        fit = (
            f"scale={first.width}:{first.height}:force_original_aspect_ratio=decrease,"
            f"pad={first.width}:{first.height}:-1:-1"
        )
        how = ["-vf", fit, "-c:v", program.codec, *program.options, "-pix_fmt", "yuv420p"]
    done = await processes.run(
        [
            program.program, "-hide_banner", "-nostats", "-nostdin", "-loglevel", "error", "-f", "concat",
            "-i", str(listed), "-an", *how, "-movflags", "+faststart", "-f", "mp4", "-n", str(target),
        ],
        deadline=JOINING,
        cwd=str(listed.parent),
    )  # fmt: skip
    try:
        if done.code != 0:
            raise ValueError("it ended with a failure")
        return await anyio.to_thread.run_sync(inspect, target)
    except (ValueError, OSError) as error:
        raise UpstreamUnavailable(
            "The parts of the recording could not be joined.",
            upstream="video encoder",
            enable_hint="See whether the disk is full, and whether ffmpeg works.",
            status=done.code,
            said=done.complaint[-1000:],
        ) from error
