"""Videos of pictures, made by a real encoder and looked at by a real decoder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.kit import encoders, video
from anydevice.kit.movies import inspect
from anydevice.kit.video import Frame, Recorder
from anydevice.testing.film import film, plain_png
from anydevice_schemas.errors import DeviceOffline, ToolMissing, UpstreamUnavailable

av = pytest.importorskip("av", reason="nothing to decode videos with")
pytestmark = pytest.mark.anyio
needs_encoder = pytest.mark.skipif(not encoders.candidates(), reason="no encoder")

RED, BLUE = b"\x00\x00\xdc\x00", b"\xdc\x00\x00\x00"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return request.param


class Camera:
    """Gives pictures of one colour, which a test may change, and fails when told to."""

    def __init__(self, width: int = 64, height: int = 48) -> None:
        self.width, self.height, self.colour = width, height, RED
        self.error: Exception | None = None
        self.delay = 0.0
        self.form: video.Form = "bgrx"
        self.taken = 0

    async def __call__(self) -> Frame:
        await anyio.sleep(self.delay)
        if self.error is not None:
            raise self.error
        self.taken += 1
        if self.form == "png":
            return Frame(plain_png(self.width, self.height, 90), self.width, self.height, "png")
        return Frame(self.colour * (self.width * self.height), self.width, self.height)


def decoded(path: Path) -> tuple[list[tuple[int, int, int]], float]:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        colours = [tuple(int(v) for v in f.to_ndarray(format="rgb24")[8, 8]) for f in container.decode(stream)]
        return colours, float(stream.duration * stream.time_base)  # type: ignore[return-value]


def is_red(colour: tuple[int, int, int]) -> bool:
    return colour[0] > 180 and colour[2] < 60


async def until(holds: Any) -> None:
    with anyio.fail_after(30):
        while not holds():
            await anyio.sleep(0.02)


@needs_encoder
async def test_pictures_become_frames_in_their_order(tmp_path: Path) -> None:
    camera = Camera()
    recorder = Recorder(camera, tmp_path / "film", fps=20.0, longest=60.0)
    await recorder.start()
    assert recorder.status()["frames"] >= 1
    await until(lambda: recorder.status()["frames"] >= 10)
    camera.colour = BLUE
    taken = camera.taken
    await until(lambda: camera.taken >= taken + 5)
    made = await recorder.stop()
    assert made.path == tmp_path / "film.mp4" and made.ended == "stopped"
    colours, seconds = decoded(made.path)
    assert len(colours) == made.movie.frames and seconds == pytest.approx(made.movie.seconds or 0, abs=0.01)
    assert seconds == pytest.approx(len(colours) / 20, abs=0.01)
    turn = [is_red(colour) for colour in colours].index(False)
    assert turn >= 9 and not any(is_red(colour) for colour in colours[turn:])


@needs_encoder
async def test_odd_sizes_are_filled_up_and_a_screen_that_changes_its_size_is_fitted(tmp_path: Path) -> None:
    camera = Camera(65, 49)
    recorder = Recorder(camera, tmp_path / "film", fps=20.0, longest=60.0)
    await recorder.start()
    for camera.width, camera.height in ((40, 80), (200, 20), (65, 49)):
        taken = camera.taken
        await until(lambda seen=taken: camera.taken >= seen + 2)  # type: ignore[misc]
    made = await recorder.stop()
    assert (made.movie.width, made.movie.height) == (66, 50)
    colours, _ = decoded(made.path)
    assert all(is_red(colour) for colour in colours)


@needs_encoder
async def test_whole_files_are_taken_as_pictures_too(tmp_path: Path) -> None:
    camera = Camera()
    camera.form = "png"
    recorder = Recorder(camera, tmp_path / "film", fps=10.0, longest=60.0)
    await recorder.start()
    await until(lambda: recorder.status()["frames"] >= 4)
    made = await recorder.stop()
    colours, _ = decoded(made.path)
    assert len(colours) == made.movie.frames
    assert all(abs(value - 90) < 12 for colour in colours for value in colour)


@needs_encoder
async def test_a_slow_camera_makes_no_short_video(tmp_path: Path) -> None:
    camera = Camera()
    recorder = Recorder(camera, tmp_path / "film", fps=20.0, longest=60.0)
    await recorder.start()
    began = anyio.current_time()
    camera.delay = 0.4
    await anyio.sleep(1.5)
    ran = anyio.current_time() - began
    made = await recorder.stop()
    assert made.taken < (made.movie.frames or 0) / 2
    assert made.movie.seconds is not None and made.movie.seconds >= ran - 0.1


@needs_encoder
async def test_it_ends_by_itself_after_the_longest_time(tmp_path: Path) -> None:
    recorder = Recorder(Camera(), tmp_path / "film", fps=10.0, longest=1.0)
    await recorder.start()
    await until(lambda: recorder.over)
    assert recorder.status() == {"seconds": 1.0, "frames": 10, "ended": "longest"}
    made = await recorder.stop()
    assert made.ended == "longest" and made.movie.frames == 10 and not made.full


@needs_encoder
async def test_it_ends_by_itself_at_the_largest_size(tmp_path: Path) -> None:
    class Noise(Camera):
        async def __call__(self) -> Frame:
            self.taken += 1
            return Frame(os.urandom(320 * 240 * 4), 320, 240)

    recorder = Recorder(Noise(), tmp_path / "film", fps=30.0, longest=600.0, largest=300_000)
    await recorder.start()
    await until(lambda: recorder.over)
    made = await recorder.stop()
    assert made.full and made.ended == "longest"
    assert 100_000 < made.path.stat().st_size < 3_000_000 and decoded(made.path)[1] > 0


@needs_encoder
async def test_a_device_that_gives_no_more_pictures_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video, "PATIENCE", 0.5)
    camera = Camera()
    recorder = Recorder(camera, tmp_path / "film", fps=20.0, longest=60.0)
    await recorder.start()
    await until(lambda: recorder.status()["frames"] >= 5)
    camera.error = DeviceOffline("It is gone.", state="offline", fix="x")
    await until(lambda: recorder.over)
    made = await recorder.stop()
    assert made.ended == "device" and len(decoded(made.path)[0]) == made.movie.frames


@needs_encoder
async def test_a_moment_without_pictures_does_not_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video, "PATIENCE", 60.0)  # a machine under load has long moments
    camera = Camera()
    recorder = Recorder(camera, tmp_path / "film", fps=20.0, longest=60.0)
    await recorder.start()
    camera.error = DeviceOffline("Not now.", state="offline", fix="x")
    await anyio.sleep(0.4)
    camera.error = None
    taken = camera.taken
    await until(lambda: camera.taken > taken)
    assert (await recorder.stop()).ended == "stopped"


@needs_encoder
async def test_an_encoder_that_hangs_is_ended_and_nothing_is_called_a_video(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(video, "WRITE_DEADLINE", 0.5)
    recorder = Recorder(Camera(640, 480), tmp_path / "film", fps=30.0, longest=60.0)
    pid = await started(recorder)
    os.kill(pid, signal.SIGSTOP)
    await until(lambda: recorder.over)
    assert recorder.status()["ended"] == "interrupted", "nobody stopped it"
    with pytest.raises(UpstreamUnavailable):
        await recorder.stop()
    assert list(tmp_path.iterdir()) == [] and not lives(pid)


@needs_encoder
async def test_a_start_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    camera = Camera()
    recorder = Recorder(camera, tmp_path / "film", fps=10.0, longest=60.0)
    async with anyio.create_task_group() as group:
        group.start_soon(recorder.start)
        await anyio.sleep(0)
        camera.delay = 0.1
        await anyio.sleep(0.01)
        group.cancel_scope.cancel()
    assert [path.suffix for path in tmp_path.iterdir()] in ([], [".mp4"])
    from anydevice.kit import pids

    await until(lambda: [pid for pid in pids.descendants(os.getpid()) if "ffmpeg" in (pids.program(pid) or "")] == [])


@needs_encoder
def test_the_file_is_finished_when_its_process_is_killed(tmp_path: Path) -> None:
    code = f"""
        import anyio, pathlib
        from anydevice.kit.video import Frame, Recorder

        async def take():
            return Frame(b"\\x00\\x00\\xdc\\x00" * (64 * 48), 64, 48)

        async def main():
            recorder = Recorder(take, pathlib.Path({str(tmp_path / "film")!r}), fps=20.0, longest=60.0)
            await recorder.start()
            await anyio.sleep(0.5)
            print("runs", flush=True)
            await anyio.sleep(600)

        anyio.run(main)
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert child.stdout is not None and child.stdout.readline() == b"runs\n"
    finally:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()
    path, end = tmp_path / "film.mp4", time.monotonic() + 30
    while True:
        try:
            movie = inspect(path)
            break
        except (ValueError, OSError):
            assert time.monotonic() < end
            time.sleep(0.05)
    assert movie.seconds is not None and movie.seconds >= 0.4
    assert all(is_red(colour) for colour in decoded(path)[0])


async def test_without_an_encoder_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "candidates", list)
    recorder = Recorder(Camera(), tmp_path / "film", fps=10.0, longest=60.0)
    with pytest.raises(ToolMissing) as caught:
        await recorder.start()
    assert "anydevice[video]" in caught.value.details["install"]
    assert list(tmp_path.iterdir()) == []


async def test_an_encoder_that_does_not_work_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "ffmpeg"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    others = encoders.candidates()
    monkeypatch.setattr(encoders, "candidates", lambda: [str(broken), *others])
    if others:
        assert (await encoders.encoder()).program == others[0]
    monkeypatch.setattr(encoders, "candidates", lambda: [str(broken)])
    with pytest.raises(ToolMissing):
        await encoders.encoder()


async def started(recorder: Recorder) -> int:
    """Starts it; the encoder's process id."""
    from anydevice.kit import pids

    before = set(pids.descendants(os.getpid()))
    await recorder.start()
    (pid,) = set(pids.descendants(os.getpid())) - before
    return pid


def lives(pid: int) -> bool:
    from anydevice.kit import pids

    return pids.alive(pid)


# --- what a file says of itself ---


def test_a_film_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.mov"
    path.write_bytes(film([plain_png(32, 20), plain_png(32, 20, 0)], [0, 0, 1], 10.0, (32, 20)))
    movie = inspect(path)
    assert (movie.mime, movie.seconds, movie.width, movie.height, movie.frames) == ("video/quicktime", 0.3, 32, 20, 3)
    assert [colour[0] for colour in decoded(path)[0]] == [255, 255, 0]


@pytest.mark.parametrize("length", [0, 3, 20, 200])
def test_a_film_that_is_cut_short_is_none(tmp_path: Path, length: int) -> None:
    whole = film([plain_png(32, 20)], [0], 10.0, (32, 20))
    path = tmp_path / "a.mov"
    for data in (whole[:length], whole[: len(whole) - 1 - length % 100]):
        path.write_bytes(data)
        with pytest.raises(ValueError):
            inspect(path)


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n" + bytes(60), b"hello world" * 20, bytes(500)])
def test_what_is_no_film_is_none(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(data)
    with pytest.raises(ValueError):
        inspect(path)


def test_webm_is_known_by_its_head(tmp_path: Path) -> None:
    path = tmp_path / "a.webm"
    path.write_bytes(b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm" + bytes(40))
    assert inspect(path).mime == "video/webm"
