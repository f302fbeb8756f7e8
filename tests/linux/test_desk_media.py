"""Video, text in pictures and sound of a desktop; judged by other programs: a decoder, X, the sound server."""

from __future__ import annotations

import shutil
import signal
import struct
import subprocess
import sys
import wave
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

import anydevice_linux
from anydevice.driver import HostServices, RecordRequest
from anydevice.kit import encoders, pids
from anydevice.kit.ocr import engines
from anydevice.router import Router
from anydevice.testing import call, fake_router
from anydevice_linux import sound
from anydevice_linux.backend import LinuxBackend
from anydevice_linux.practicing import runs_here
from anydevice_schemas import Answer, Manifest
from anydevice_schemas.practice import APP_ID

from .desktop import SYSTEM_PYTHON, Seat, missing
from .wayland import driving

av = pytest.importorskip("av", reason="nothing to decode videos with")

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(missing() is not None, reason=missing() or ""),
]
needs_encoder = pytest.mark.skipif(not encoders.candidates(), reason="no encoder")
needs_ocr = pytest.mark.skipif("rapidocr" not in engines(), reason="no OCR engine")

CANVAS = Path(__file__).with_name("programs") / "drawn_gtk.py"
FONT = "DejaVuSans.ttf"
ROW = 60
COLOURS = {"red": (220, 30, 30), "blue": (30, 30, 220)}


class Desk:
    """A virtual desktop behind a router."""

    def __init__(self, router: Router, backend: LinuxBackend, folder: Path) -> None:
        self.router, self.backend, self.folder = router, backend, folder
        self.programs: list[subprocess.Popen[bytes]] = []

    async def call(self, command: str, **arguments: Any) -> Answer:
        return await self.router.call(call(command, device="virtual", **arguments))

    async def do(self, command: str, *, expect: str = "ok", **arguments: Any) -> Answer:
        answer = await self.call(command, **arguments)
        said = "ok" if answer.ok or answer.error is None else answer.error.code
        assert said == expect, (command, arguments, answer.error)
        return answer

    @property
    def env(self) -> dict[str, str]:
        desktop = self.backend.desktop("virtual")
        assert desktop is not None
        return dict(desktop.running().env)

    def launch(self, argv: list[str]) -> subprocess.Popen[bytes]:
        """Starts a program on the desktop beside anydevice."""
        program = subprocess.Popen(
            argv, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        self.programs.append(program)
        return program

    async def drawn(self, *words: str) -> subprocess.Popen[bytes]:
        """A window that draws these words, and takes commands on its stdin; returns once X shows it."""
        from PIL import Image, ImageDraw, ImageFont

        picture = Image.new("RGB", (1280, 800), "white")
        brush, font = ImageDraw.Draw(picture), ImageFont.truetype(FONT, 18)
        for row, word in enumerate(words):
            brush.text((80, row * ROW + 20), word, fill="black", font=font)
        path = self.folder / "drawn.png"
        picture.save(path)
        program = self.launch([SYSTEM_PYTHON, str(CANVAS), str(path), str(ROW), *words])
        await self.eventually(lambda: self.shows("drawn"))
        return program

    async def shows(self, title: str) -> bool:
        from anydevice_linux.x11 import Windows, XDisplay

        desktop = self.backend.desktop("virtual")
        assert desktop is not None
        seat = desktop.running()
        display = await XDisplay.open(seat.display, seat.xauthority)
        try:
            return any(window.title == title for window in await Windows(display).list())
        finally:
            await display.aclose()

    async def pixel(self, x: int, y: int) -> tuple[int, int, int]:
        """The colour at a place of the screen, as a screenshot of it has it."""
        import io

        from PIL import Image

        answer = await self.do("screenshot", x=x, y=y, width=1, height=1)
        data = self.router.services.artefacts.read(answer.artefacts[0].name)
        return Image.open(io.BytesIO(data)).convert("RGB").getpixel((0, 0))  # type: ignore[return-value]

    async def eventually(self, holds: Any, seconds: float = 20.0) -> None:
        with anyio.fail_after(seconds):
            while not await holds():
                await anyio.sleep(0.05)

    async def coloured(self, program: subprocess.Popen[bytes], colour: str) -> None:
        """The window fills itself with a colour; returns once the screen shows it."""
        assert program.stdin is not None
        program.stdin.write(f"fill {colour}\n".encode())
        program.stdin.flush()

        async def seen() -> bool:
            return near(await self.pixel(640, 700), COLOURS[colour])

        await self.eventually(seen)

    def end(self) -> None:
        for program in self.programs:
            pid = program.pid
            if program.poll() is None:
                program.send_signal(signal.SIGKILL)
            program.wait(10)
            assert not pids.alive(pid)


def near(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(abs(a - b) <= 25 for a, b in zip(one, other, strict=True))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    manifest = Manifest.from_toml((Path(anydevice_linux.__file__).parent / "backend.toml").read_text("utf-8"))
    backend = LinuxBackend(HostServices(str(tmp_path / "data"), str(tmp_path / "run")))
    async with fake_router() as (router, _):
        router.services.backends.add(manifest, backend)
        made = Desk(router, backend, tmp_path)
        await made.do("boot")
        try:
            yield made
        finally:
            made.end()
            await made.call("shutdown")
    await backend.aclose()


def decoded(path: str, *, x: int = 640, y: int = 700) -> tuple[list[tuple[int, ...]], float]:
    """The colour of one place in every frame, and how long the video plays, by a decoder that knows nothing of us."""
    with av.open(path) as container:
        stream = container.streams.video[0]
        colours = [tuple(int(v) for v in f.to_ndarray(format="rgb24")[y, x]) for f in container.decode(stream)]
        assert stream.duration is not None and stream.time_base is not None
        return colours, float(stream.duration * stream.time_base)


def encoders_running() -> list[int]:
    """Encoders that this process has started."""
    names = {Path(path).name for path in encoders.candidates()}
    import os

    found = []
    for pid in pids.descendants(os.getpid()):
        program = pids.program(pid)
        if program is not None and Path(program).name in names:
            found.append(pid)
    return found


# --- video ---


@needs_encoder
async def test_a_video_shows_what_happened_and_takes_as_long(desk: Desk) -> None:
    window = await desk.drawn("Anything")
    await desk.coloured(window, "red")
    began = anyio.current_time()
    await desk.do("record", action="start", fps=10.0)
    started = anyio.current_time()
    await anyio.sleep(1.0)
    changed = anyio.current_time()
    await desk.coloured(window, "blue")
    seen = anyio.current_time()
    await anyio.sleep(1.0)
    before = anyio.current_time()
    answer = await desk.do("record", action="stop")
    ended = anyio.current_time()
    assert answer.verified is True and answer.data["ended"] == "stopped"
    assert (answer.data["width"], answer.data["height"]) == (1280, 800)
    path = answer.artefacts[0].path
    assert path is not None
    colours, seconds = decoded(path)
    # What a machine under load takes for start and stop is not known: the bounds are by the clock of this very run.
    assert before - started - 0.5 <= seconds <= ended - began + 1.0
    assert len(colours) == answer.data["frames"] == pytest.approx(seconds * 10, abs=1)
    turn = next(at for at, colour in enumerate(colours) if near(colour, COLOURS["blue"]))
    assert all(near(colour, COLOURS["red"]) for colour in colours[:turn])
    assert all(near(colour, COLOURS["blue"]) for colour in colours[turn + 1 :])
    assert changed - started - 1.0 <= turn / 10 <= seen - began + 3.0
    assert encoders_running() == []


@needs_encoder
async def test_only_a_part_of_odd_size_is_recorded_where_one_is_named(desk: Desk) -> None:
    window = await desk.drawn("Anything")
    await desk.coloured(window, "blue")
    await desk.do("record", action="start", x=601, y=651, width=101, height=99)
    await anyio.sleep(0.3)
    answer = await desk.do("record", action="stop")
    assert (answer.data["width"], answer.data["height"]) == (102, 100)
    colours, _ = decoded(answer.artefacts[0].path or "", x=50, y=50)
    assert all(near(colour, COLOURS["blue"]) for colour in colours)


@needs_encoder
async def test_the_end_of_the_session_finishes_the_video(desk: Desk) -> None:
    answer = await desk.do("record", action="start")
    name = answer.data["name"]
    assert len(encoders_running()) == 1
    await desk.router.call(call("session", action="end", name=answer.session))

    async def gone() -> bool:
        return encoders_running() == []

    await desk.eventually(gone)
    fetched = await desk.do("record", action="stop", name=name)
    assert decoded(fetched.artefacts[0].path or "")[1] > 0


@needs_encoder
async def test_shutting_the_desktop_down_finishes_the_video(desk: Desk) -> None:
    name = (await desk.do("record", action="start")).data["name"]
    await anyio.sleep(0.3)
    await desk.do("shutdown")
    assert encoders_running() == []
    await desk.do("boot")
    fetched = await desk.do("record", action="stop", name=name)
    assert decoded(fetched.artefacts[0].path or "")[1] > 0


@needs_encoder
async def test_a_desktop_that_dies_leaves_the_video_up_to_then(desk: Desk) -> None:
    await desk.do("record", action="start")
    await anyio.sleep(0.5)
    desktop = desk.backend.desktop("virtual")
    assert desktop is not None
    driver = desk.router.services.connections.existing("linux:virtual")
    server = desktop._children["X server"].pid
    import os

    os.kill(server, signal.SIGKILL)

    async def over() -> bool:
        told = await driver.recording.status()  # type: ignore[union-attr]
        return told is None or told.get("ended") is not None

    await desk.eventually(over)
    told = await driver.recording.stop()  # type: ignore[union-attr]
    assert told.ended == "device" and decoded(told.path)[1] > 0
    assert encoders_running() == []


@needs_encoder
async def test_an_encoder_that_dies_is_told_and_a_new_recording_can_begin(desk: Desk) -> None:
    import os

    await desk.do("record", action="start")
    (pid,) = encoders_running()
    os.kill(pid, signal.SIGKILL)

    async def over() -> bool:
        return (await desk.do("record")).data["recording"] is False

    await desk.eventually(over)
    await desk.do("record", action="stop", expect="upstream_unavailable")
    await desk.do("record", action="start")
    await desk.do("record", action="stop")


async def test_without_an_encoder_it_says_how_to_get_one(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "candidates", list)
    answer = await desk.do("record", action="start", expect="tool_missing")
    assert answer.error is not None and "pip install 'anydevice[video]'" in answer.error.hint
    assert (await desk.do("record")).data == {"recording": False}


# --- text in pictures ---


@needs_ocr
async def test_text_that_no_element_holds_is_read_and_pressed(desk: Desk) -> None:
    program = await desk.drawn("Launch probe", "Abort mission", "Grüße 42")
    await desk.do("find", query="Launch probe", timeoutMs=0, expect="element_not_found")
    await desk.do("find", query="Launch probe", via="ocr", timeoutMs=20_000)  # it is painted
    answer = await desk.do("ocr")
    assert {"Launch probe", "Abort mission", "Grüße 42"} <= {line["text"] for line in answer.data["lines"]}
    found = await desk.do("find", query="Abort mission", via="ocr", timeoutMs=20_000)
    (match,) = found.data["matches"]
    assert match["confidence"] > 0.5
    x, y = match["point"]
    await desk.do("press", x=x, y=y)

    async def told() -> bool:
        return await desk.shows("pressed: Abort mission")

    await desk.eventually(told)
    assert program.poll() is None


@needs_ocr
async def test_one_word_of_a_line_has_a_place_of_its_own(desk: Desk) -> None:
    await desk.drawn("File   Edit   View   Help")
    whole = await desk.do("find", query="label=Help", via="ocr", timeoutMs=20_000)
    (match,) = whole.data["matches"]
    line = (await desk.do("find", query="File Edit View Help", via="ocr", timeoutMs=0)).data["matches"][0]
    left, _, width, _ = line["rect"]
    assert match["rect"][0] > left + width / 2 and match["rect"][2] < width / 3


@needs_ocr
async def test_an_element_a_window_and_a_rectangle_are_read_alone(desk: Desk) -> None:
    await desk.drawn("Above the line", "Below the line")
    await desk.do("find", query="Below the line", via="ocr", timeoutMs=20_000)  # it is painted
    every = await desk.do("ocr")
    above = next(line for line in every.data["lines"] if line["text"] == "Above the line")
    x, y, width, height = above["rect"]
    part = await desk.do("ocr", x=x - 10, y=y - 10, width=width + 20, height=height + 20)
    assert [line["text"] for line in part.data["lines"]] == ["Above the line"]
    assert part.data["lines"][0]["rect"] == pytest.approx(above["rect"], abs=6)
    window = await desk.do("ocr", window="drawn")
    assert {"Above the line", "Below the line"} <= {line["text"] for line in window.data["lines"]}


@needs_ocr
async def test_either_looks_in_the_tree_first(desk: Desk) -> None:
    await desk.drawn("Only drawn")
    await desk.do("find", query="Only drawn", via="ocr", timeoutMs=20_000)  # it is painted
    by_picture = await desk.do("find", query="Only drawn", via="either", timeoutMs=500)
    assert by_picture.data["via"] == "ocr"
    await desk.do("find", query="label=nothing-like-it", via="either", timeoutMs=0, expect="element_not_found")


@needs_ocr
@pytest.mark.skipif(not runs_here(), reason="the system's Python has no GTK")
async def test_what_is_read_of_a_program_is_where_its_elements_are(desk: Desk) -> None:
    await desk.do("open", app=APP_ID, arguments=["--screen", "home"])
    tree = (await desk.do("find", query="role=button visible", limit=50)).data["matches"]
    buttons = {row["name"]: row["rect"] for row in tree if row.get("name", "").isalpha()}
    assert "Increment" in buttons
    read = 0
    for name, (x, y, width, height) in buttons.items():
        answer = await desk.call("find", query=f"label={name}", via="ocr", timeoutMs=0)
        if not answer.ok:
            continue
        points = [row["point"] for row in answer.data["matches"]]
        read += any(x <= px <= x + width and y <= py <= y + height for px, py in points)
    # An engine may overlook one; it must not read them elsewhere.
    assert read >= max(1, 0.7 * len(buttons)), (read, buttons)


# --- sound ---


needs_sound = pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("pulseaudio", "parec", "paplay")), reason="no sound server"
)


@pytest.fixture
def tone(tmp_path: Path) -> Path:
    """Ten seconds of a 440 Hz tone at half of full scale."""
    import math

    path = tmp_path / "tone.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        samples = [round(16_384 * math.sin(2 * math.pi * 440 * at / 16_000)) for at in range(160_000)]
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return path


SOUND_SERVER = [
    "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes",
    "-L", "module-null-sink sink_name=out", "-L", "module-native-protocol-unix",
]  # fmt: skip


@needs_sound
async def test_a_tone_is_heard_and_silence_is_silent(desk: Desk, tone: Path) -> None:
    said = await desk.do("audio", action="start", expect="unsupported")
    assert said.error is not None and "sound server" in str(said.error.details["missing"])
    desk.launch(SOUND_SERVER)

    async def listens() -> bool:
        return (await desk.call("audio", action="start")).ok

    await desk.eventually(listens)
    await anyio.sleep(0.3)
    silent = await desk.do("audio", action="stop")
    assert silent.data["silent"] is True and silent.data["seconds"] > 0
    await desk.do("audio", action="start")
    desk.launch(["paplay", str(tone)])

    async def loud() -> bool:
        return (await desk.do("audio")).data["silent"] is False

    await desk.eventually(loud)
    await desk.do("audio", action="start")
    await anyio.sleep(1.0)
    heard = await desk.do("audio", action="stop")
    # Half of full scale is -6 dBFS, and a tone's mean is 3 dB below its peak.
    assert heard.data["peakDbfs"] == pytest.approx(-6.0, abs=1.5)
    assert heard.data["rmsDbfs"] == pytest.approx(-9.0, abs=3.0)
    await desk.do("audio", expect="action_unverified")


@needs_sound
async def test_a_sound_server_that_froze_is_not_called_silent(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound, "MISSED", 1.0)
    server = desk.launch(SOUND_SERVER)

    async def listens() -> bool:
        return (await desk.call("audio", action="start")).ok

    async def deaf() -> bool:
        return (await desk.call("audio")).error is not None

    await desk.eventually(listens)
    server.send_signal(signal.SIGSTOP)
    try:
        await desk.eventually(deaf)
        await desk.do("audio", action="stop", expect="upstream_unavailable")
    finally:
        server.send_signal(signal.SIGCONT)


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    assert sys.platform != "linux" or encoders_running() == []


# --- Wayland ---


@needs_encoder
async def test_a_wayland_session_is_filmed_too(wayland: Seat, tmp_path: Path) -> None:
    import io

    from PIL import Image

    picture = tmp_path / "white.png"
    Image.new("RGB", (1280, 800), "white").save(picture)
    window = subprocess.Popen(
        [SYSTEM_PYTHON, str(CANVAS), str(picture), "60"],
        env={**wayland.env, "GDK_BACKEND": "wayland"}, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    assert window.stdin is not None
    try:
        async with driving(wayland, tmp_path) as driver:

            async def coloured(colour: str) -> None:
                assert window.stdin is not None
                window.stdin.write(f"fill {colour}\n".encode())
                window.stdin.flush()
                with anyio.fail_after(30):
                    while True:
                        shot = await driver.screen.image()
                        pixel = Image.open(io.BytesIO(shot.data)).convert("RGB").getpixel((shot.width // 2, 300))
                        if near(pixel, COLOURS[colour]):  # type: ignore[arg-type]
                            return
                        await anyio.sleep(0.05)

            await coloured("red")
            await driver.recording.start(RecordRequest(str(tmp_path / "film"), fps=5.0))
            await coloured("blue")
            await anyio.sleep(0.5)
            made = await driver.recording.stop()
        colours, seconds = decoded(made.path, x=made.width // 2, y=300)
        assert near(colours[0], COLOURS["red"]) and near(colours[-1], COLOURS["blue"])
        assert seconds == pytest.approx(made.seconds, abs=0.05) and made.frames == len(colours)
    finally:
        window.kill()
        window.wait()
        window.stdin.close()
