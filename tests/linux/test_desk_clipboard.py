"""The clipboard of a real desktop through our commands; judged by what another program pastes and copies."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anyio
import anyio.to_thread
import pytest
from PIL import Image

import anydevice_linux
from anydevice.driver import HostServices
from anydevice.testing import call, caller, fake_router
from anydevice_linux.backend import LinuxBackend
from anydevice_schemas import Answer, Manifest

from .desktop import SYSTEM_PYTHON, end, missing

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(missing() is not None, reason=missing() or "")]
PROGRAM = Path(__file__).parent / "programs" / "paste_gtk.py"
MIXED = "Grüße, 世界 ✓ 🙂\nsecond line\t'\"\\"


class Board:
    """A virtual desktop behind a router, and another program that copies and pastes on it."""

    def __init__(self, router: Any, backend: LinuxBackend, folder: Path) -> None:
        self.router, self.backend, self.folder = router, backend, folder
        self.programs: list[subprocess.Popen[bytes]] = []

    async def __call__(self, command: str = "clipboard", **arguments: Any) -> Answer:
        by = caller(cwd=str(self.folder))
        answer: Answer = await self.router.call(call(command, by=by, device="virtual", **arguments))
        return answer

    async def do(self, command: str = "clipboard", **arguments: Any) -> Answer:
        answer = await self(command, **arguments)
        assert answer.ok, (arguments, answer.error)
        return answer

    async def leave(self) -> None:
        """Ends every session: the device has no holder any more."""
        by = caller(cwd=str(self.folder))
        rows = (await self.router.call(call("session", by=by))).data["sessions"]
        assert rows
        for row in rows:
            assert (await self.router.call(call("session", by=by, action="end", name=row["name"]))).ok
        with anyio.fail_after(20):  # the device is put in order first, and is nobody's meanwhile
            while not (await self()).ok:
                await anyio.sleep(0.05)

    async def hold(self, kind: str, content: bytes) -> None:
        """Another program copies something."""
        (self.folder / "held").write_bytes(content)
        await anyio.to_thread.run_sync(self._run, "hold", kind, "held")

    async def paste(self, kind: str) -> bytes | None:
        """What another program gets; None where it gets nothing of this kind."""
        said = await anyio.to_thread.run_sync(self._run, "read", kind, "got")
        return (self.folder / "got").read_bytes() if b'"got": true' in said else None

    def _run(self, verb: str, kind: str, name: str) -> bytes:
        desktop = self.backend.desktop("virtual")
        assert desktop is not None
        program = subprocess.Popen(
            [SYSTEM_PYTHON, PROGRAM, verb, kind, self.folder / name],
            env=dict(desktop.running().env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.programs.append(program)
        assert program.stdout is not None
        return program.stdout.readline()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def gtk() -> None:
    test = [SYSTEM_PYTHON, "-c", "import gi; gi.require_version('Gtk', '3.0')"]
    if shutil.which(SYSTEM_PYTHON) is None or subprocess.run(test, check=False, timeout=20).returncode != 0:
        pytest.skip("not installed: python3-gi with GTK 3")


@pytest.fixture
async def board(gtk: None, tmp_path: Path) -> AsyncIterator[Board]:
    work = tmp_path / "work"
    work.mkdir()
    manifest = Manifest.from_toml((Path(anydevice_linux.__file__).parent / "backend.toml").read_text("utf-8"))
    backend = LinuxBackend(HostServices(str(tmp_path / "data"), str(tmp_path / "run")))
    async with fake_router(home=tmp_path / "home") as (router, _):
        router.services.backends.add(manifest, backend)
        made = Board(router, backend, work)
        await made.do("boot")
        yield made
        for program in made.programs:
            end(program)
        await made.do("shutdown")
    await backend.aclose()


def picture(width: int = 40, height: int = 30) -> bytes:
    file = io.BytesIO()
    made = Image.new("RGB", (width, height), (200, 30, 60))
    made.putpixel((3, 4), (1, 2, 3))
    made.save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("text", [MIXED, "x" * 700_000], ids=["mixed", "large"])
async def test_text_we_write_is_what_another_program_pastes(board: Board, text: str) -> None:
    answer = await board.do(action="write", text=text)
    assert answer.verified is True
    assert (await board.paste("text") or b"").decode() == text


async def test_text_another_program_copied_is_what_we_read(board: Board) -> None:
    await board.hold("text", MIXED.encode())
    answer = await board.do()
    assert (answer.data["kind"], answer.data["text"]) == ("text", MIXED)
    assert answer.data["kinds"] == ["text"]


async def test_pictures_pass_both_ways(board: Board) -> None:
    (board.folder / "one.png").write_bytes(picture())
    assert (await board.do(action="write", image="one.png")).verified is True
    got = await board.paste("png")
    assert got is not None
    with Image.open(io.BytesIO(got)) as pasted:
        assert (pasted.size, pasted.convert("RGB").getpixel((3, 4))) == ((40, 30), (1, 2, 3))
    await board.hold("png", picture(64, 48))
    answer = await board.do(kind="image")
    assert (answer.data["width"], answer.data["height"], answer.data["mime"]) == (64, 48, "image/png")
    data = board.router.services.artefacts.read(answer.artefacts[0].uri)
    with Image.open(io.BytesIO(data)) as read:
        assert read.convert("RGB").getpixel((3, 4)) == (1, 2, 3)


async def test_files_pass_with_odd_names(board: Board) -> None:
    names = ["a b.txt", "ümläut 100%.txt"]
    for name in names:
        (board.folder / name).write_text("x")
    assert (await board.do(action="write", files=names)).verified is True
    got = await board.paste("files")
    assert got is not None
    pasted = [unquote(word).removeprefix("file://") for word in got.decode().split()]
    assert pasted == [str(board.folder / name) for name in names]
    assert (await board.do(kind="files")).data["files"] == names


async def test_a_kind_that_is_not_there_is_told_by_what_is(board: Board) -> None:
    await board.do(action="write", text="only text")
    answer = await board.do(kind="image")
    assert answer.data == {"kinds": ["text"]}


async def test_the_next_holder_does_not_find_what_was_written(board: Board) -> None:
    await board.do(action="write", text="for the first only")
    assert await board.paste("text") == b"for the first only"
    await board.leave()
    assert (await board.do()).data == {"kinds": []}
    assert await board.paste("text") is None


async def test_what_another_program_holds_stays_when_the_holder_goes(board: Board) -> None:
    await board.do(action="write", text="ours")
    await board.hold("text", b"theirs")
    await board.leave()
    assert (await board.do()).data["text"] == "theirs"


async def test_a_desktop_that_was_started_anew_has_an_empty_clipboard(board: Board) -> None:
    await board.do(action="write", text="before")
    await board.do("shutdown")
    await board.do("boot")
    assert (await board.do()).data == {"kinds": []}
    assert (await board.do(action="write", text="after")).verified is True
    assert await board.paste("text") == b"after"
