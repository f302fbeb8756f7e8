"""Several videos as one file, by the real program that makes videos."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image as Pictures

from anydevice.kit.encoders import encoder
from anydevice.kit.movies import inspect
from anydevice_android.joining import Part, join
from anydevice_lab.handset.film import film, unfinished
from anydevice_schemas.errors import ToolMissing, UpstreamUnavailable

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def _program() -> None:
    try:
        await encoder()
    except ToolMissing as error:
        pytest.skip(error.message)


def picture(size: tuple[int, int], shade: int) -> bytes:
    out = io.BytesIO()
    Pictures.new("RGB", size, (shade, 0, 255 - shade)).save(out, "JPEG")
    return out.getvalue()


def part(folder: Path, number: int, size: tuple[int, int], seconds: float, keep: float | None = None) -> Part:
    """A video of ten pictures a second."""
    pictures = [(at / 10, picture(size, at * 5 % 256)) for at in range(round(seconds * 10))]
    path = folder / f"{number}.mp4"
    path.write_bytes(film(size, pictures, seconds))
    return Part(path, inspect(path), keep)


async def test_one_part_is_the_file_itself(tmp_path: Path) -> None:
    one = part(tmp_path, 1, (64, 48), 1.0)
    written = one.path.read_bytes()
    movie = await join([one], tmp_path / "whole.mp4")
    assert (tmp_path / "whole.mp4").read_bytes() == written
    assert (movie.seconds, movie.width, movie.height, movie.frames) == (1.0, 64, 48, 10)


@pytest.mark.usefixtures("_program")
async def test_where_parts_overlap_the_earlier_one_is_cut(tmp_path: Path) -> None:
    parts = [part(tmp_path, 1, (64, 48), 3.0, keep=2.0), part(tmp_path, 2, (64, 48), 2.0)]
    movie = await join(parts, tmp_path / "whole.mp4")
    assert movie.seconds == pytest.approx(4.0, abs=0.3)
    assert (movie.width, movie.height) == (64, 48)


@pytest.mark.usefixtures("_program")
async def test_a_part_that_ended_by_itself_before_the_next_began_is_kept_whole(tmp_path: Path) -> None:
    parts = [part(tmp_path, 1, (64, 48), 2.0, keep=9.0), part(tmp_path, 2, (64, 48), 2.0)]
    assert (await join(parts, tmp_path / "whole.mp4")).seconds == pytest.approx(4.0, abs=0.3)


@pytest.mark.usefixtures("_program")
async def test_parts_of_different_sizes_become_one_of_the_size_of_the_first(tmp_path: Path) -> None:
    parts = [part(tmp_path, 1, (64, 128), 2.0, keep=1.5), part(tmp_path, 2, (128, 64), 2.0)]
    movie = await join(parts, tmp_path / "whole.mp4")
    assert (movie.width, movie.height) == (64, 128)
    assert movie.seconds == pytest.approx(3.5, abs=0.5)


@pytest.mark.usefixtures("_program")
async def test_what_cannot_be_joined_is_said(tmp_path: Path) -> None:
    good, bad = part(tmp_path, 1, (64, 48), 1.0), part(tmp_path, 2, (64, 48), 1.0)
    for one in (good, bad):
        one.path.write_bytes(unfinished())
    with pytest.raises(UpstreamUnavailable):
        await join([good, bad], tmp_path / "whole.mp4")


def test_what_a_killed_recorder_leaves_is_no_video(tmp_path: Path) -> None:
    path = tmp_path / "half.mp4"
    path.write_bytes(unfinished([(0.0, picture((64, 48), 1))]))
    with pytest.raises(ValueError, match="index"):
        inspect(path)
