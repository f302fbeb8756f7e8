"""The clipboard: what another program gets from us, what we get from it, small and large."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anyio
import pytest
from PIL import Image

from anydevice_linux.clips import as_paths
from anydevice_linux.x11 import Clipboard
from anydevice_schemas.errors import (
    CallTimeout,
    ConnectionLost,
    DeviceOffline,
    InvalidArgument,
    Unsupported,
)

from .desktop import SYSTEM_PYTHON, Seat, end, missing, running_desktop
from .witnesses import Told

pytestmark = pytest.mark.anyio
PROGRAM = Path(__file__).parent / "programs" / "paste_gtk.py"
MIXED = "Grüße, 世界 ✓ 🙂\nsecond line\t'\"\\"


@pytest.fixture
async def clipboard(seat: Seat) -> AsyncIterator[Clipboard]:
    opened = await Clipboard.open(seat.display)
    yield opened
    await opened.aclose()


@pytest.fixture
def gtk() -> None:
    try:
        subprocess.run([SYSTEM_PYTHON, "-c", "import gi; gi.require_version('Gtk', '3.0')"], check=True, timeout=20)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not installed: python3-gi with GTK 3")


class Other:
    """The other program, at either end."""

    def __init__(self, seat: Seat, folder: Path) -> None:
        self.seat, self.folder = seat, folder
        self.made: list[Told] = []

    def _run(self, verb: str, kind: str, file: Path) -> Told:
        self.made.append(Told(self.seat, [SYSTEM_PYTHON, PROGRAM, verb, kind, file]))
        return self.made[-1]

    async def hold(self, kind: str, content: bytes) -> Told:
        """Makes it the owner of something."""
        file = self.folder / "held"
        file.write_bytes(content)
        return await anyio.to_thread.run_sync(self._run, "hold", kind, file)

    async def read(self, kind: str) -> bytes | None:
        """What it gets; it runs in a thread, so that we can serve it."""
        file = self.folder / "got"
        told = await anyio.to_thread.run_sync(self._run, "read", kind, file)
        return file.read_bytes() if told.said[0]["got"] else None


@pytest.fixture
def other(gtk: None, seat: Seat, tmp_path: Path) -> Iterator[Other]:
    made = Other(seat, tmp_path)
    yield made
    for one in made.made:
        one.end()


def picture(width: int, height: int, noise: bool = False) -> bytes:
    made = (
        Image.frombytes("RGB", (width, height), os.urandom(width * height * 3))
        if noise
        else Image.new("RGB", (width, height), (200, 10, 30))
    )
    file = io.BytesIO()
    made.save(file, "PNG")
    return file.getvalue()


def pixels(png: bytes) -> tuple[tuple[int, int], bytes]:
    with Image.open(io.BytesIO(png)) as opened:
        return opened.size, opened.convert("RGB").tobytes()


async def test_an_empty_clipboard_holds_nothing(clipboard: Clipboard) -> None:
    assert await clipboard.kinds() == []
    assert (await clipboard.read_text(), await clipboard.read_png(), await clipboard.read_files()) == (None, None, None)


async def test_another_program_gets_our_text(clipboard: Clipboard, other: Other) -> None:
    started = time.monotonic()
    await clipboard.write_text(MIXED)
    print(f"written in {(time.monotonic() - started) * 1000:.1f} ms")
    assert await other.read("text") == MIXED.encode()


async def test_we_get_another_programs_text(clipboard: Clipboard, other: Other) -> None:
    await other.hold("text", MIXED.encode())
    started = time.monotonic()
    assert await clipboard.read_text() == MIXED
    print(f"read in {(time.monotonic() - started) * 1000:.1f} ms")
    assert await clipboard.kinds() == ["text"]


async def test_we_read_what_we_wrote(clipboard: Clipboard) -> None:
    await clipboard.write_text(MIXED)
    assert await clipboard.read_text() == MIXED
    await clipboard.write_text("")
    assert await clipboard.read_text() == ""


async def test_large_text_goes_in_pieces_both_ways(clipboard: Clipboard, other: Other) -> None:
    text = "0123456789äöü世" * 200_000
    started = time.monotonic()
    await clipboard.write_text(text)
    assert await clipboard.read_text() == text
    print(f"{len(text.encode())} bytes to ourselves in {(time.monotonic() - started) * 1000:.0f} ms")
    assert await other.read("text") == text.encode()
    await other.hold("text", text[::-1].encode())
    started = time.monotonic()
    assert await clipboard.read_text() == text[::-1]
    print(f"from another program in {(time.monotonic() - started) * 1000:.0f} ms")


@pytest.mark.parametrize("size", [128 * 1024 - 1, 128 * 1024, 128 * 1024 + 1, 256 * 1024])
async def test_sizes_around_a_piece_arrive_whole(clipboard: Clipboard, size: int) -> None:
    text = ("abcdefgh" * (size // 8 + 1))[:size]
    await clipboard.write_text(text)
    assert await clipboard.read_text() == text


async def test_another_program_gets_our_picture(clipboard: Clipboard, other: Other) -> None:
    png = picture(40, 30)
    await clipboard.write_png(png)
    got = await other.read("png")
    assert got is not None and pixels(got) == pixels(png)
    assert await clipboard.kinds() == ["png"]


async def test_large_pictures_go_both_ways(clipboard: Clipboard, other: Other) -> None:
    png = picture(700, 500, noise=True)
    assert len(png) > 1_000_000
    await clipboard.write_png(png)
    got = await other.read("png")
    assert got is not None and pixels(got) == pixels(png)
    await other.hold("png", png)
    read = await clipboard.read_png()
    assert read is not None and pixels(read) == pixels(png)


async def test_files_reach_another_program(clipboard: Clipboard, other: Other) -> None:
    paths = [Path("/tmp/a b.txt"), Path("/tmp/ü%20#?.txt"), Path("/tmp/new\nline")]
    await clipboard.write_files(paths)
    got = await other.read("files")
    assert got is not None
    assert [unquote(line.removeprefix("file://")) for line in got.decode().split("\n")] == [str(path) for path in paths]
    assert await clipboard.read_files() == [str(path) for path in paths]
    assert await clipboard.kinds() == ["text", "files"]


def test_only_files_of_this_host_are_files() -> None:
    listed = b"# comment\r\nfile:///a%20b\r\nfile://localhost/c\r\nfile://elsewhere/d\r\nhttp://x/e\r\nfile:f\r\n"
    assert as_paths(listed) == ["/a b", "/c"]
    assert as_paths(b"copy\nfile:///one\nfile:///two%0Athree") == ["/one", "/two\nthree"]
    assert as_paths(b"\xff\xfe[::broken\r\nfile://[/x\r\nfile:///%00") == []


async def test_writing_again_takes_the_place_of_what_was_there(clipboard: Clipboard, other: Other) -> None:
    await other.hold("text", b"theirs")
    await clipboard.write_text("ours")
    assert await clipboard.read_text() == "ours"
    await other.hold("text", b"theirs again")
    assert await clipboard.read_text() == "theirs again"


async def test_clearing_takes_back_only_what_is_ours(clipboard: Clipboard, other: Other) -> None:
    await clipboard.write_text("secret")
    await clipboard.clear()
    assert await clipboard.read_text() is None
    await other.hold("text", b"theirs")
    await clipboard.clear()
    assert await clipboard.read_text() == "theirs"


async def test_what_is_no_text_or_picture_is_refused(clipboard: Clipboard) -> None:
    for bad in ("a\0b", "\ud800"):
        with pytest.raises(InvalidArgument):
            await clipboard.write_text(bad)
    for data in (b"", b"GIF89a", b"\xff\xd8\xff\xe0"):
        with pytest.raises(InvalidArgument):
            await clipboard.write_png(data)
    for paths in ([], [Path("relative")]):
        with pytest.raises(InvalidArgument):
            await clipboard.write_files(paths)


async def test_an_owner_that_does_not_answer_costs_its_deadline_only(
    clipboard: Clipboard, other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice_linux.x11.clipboard.DEADLINE", 0.4)
    owner = await other.hold("text", b"theirs")
    os.kill(owner.process.pid, signal.SIGSTOP)
    try:
        started = time.monotonic()
        with pytest.raises(CallTimeout):
            await clipboard.read_text()
        assert 0.35 < time.monotonic() - started < 2.9
        await clipboard.write_text("ours")
        assert await clipboard.read_text() == "ours"
    finally:
        os.kill(owner.process.pid, signal.SIGCONT)


async def test_a_cancelled_read_ends_at_once_and_keeps_what_we_have(clipboard: Clipboard, other: Other) -> None:
    owner = await other.hold("text", b"theirs")
    os.kill(owner.process.pid, signal.SIGSTOP)
    try:
        started = time.monotonic()
        with anyio.move_on_after(0.1):
            await clipboard.read_text()
        assert time.monotonic() - started < 2.9 and not clipboard.lost
    finally:
        os.kill(owner.process.pid, signal.SIGCONT)
    assert await clipboard.read_text() == "theirs"


async def test_an_owner_that_dies_half_way_is_told(seat: Seat, clipboard: Clipboard, monkeypatch: Any) -> None:
    """An owner of plain X that promises pieces and gives none."""
    monkeypatch.setattr("anydevice_linux.x11.clipboard.DEADLINE", 0.4)
    stop = threading.Event()
    ready = threading.Event()
    thread = threading.Thread(target=_promise, args=(seat.display, ready, stop))
    thread.start()
    try:
        await anyio.to_thread.run_sync(ready.wait, 30)
        started = time.monotonic()
        with pytest.raises(CallTimeout):
            await clipboard.read_text()
        assert time.monotonic() - started < 2.9
    finally:
        stop.set()
        thread.join(30)
    await clipboard.write_text("afterwards")
    assert await clipboard.read_text() == "afterwards"


def _promise(name: str, ready: threading.Event, stop: threading.Event) -> None:
    from Xlib import X, display
    from Xlib.protocol import event

    connection = display.Display(name)
    window = connection.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
    selection, text = connection.intern_atom("CLIPBOARD"), connection.intern_atom("UTF8_STRING")
    window.set_selection_owner(selection, X.CurrentTime)
    connection.sync()
    ready.set()
    while not stop.is_set():
        while connection.pending_events():
            asked = connection.next_event()
            if asked.type != X.SelectionRequest:
                continue
            if asked.target == connection.intern_atom("TARGETS"):
                asked.requestor.change_property(asked.property, connection.intern_atom("ATOM"), 32, [text])
            else:
                asked.requestor.change_property(asked.property, connection.intern_atom("INCR"), 32, [1_000_000])
            notice = event.SelectionNotify(
                time=asked.time, requestor=asked.requestor, selection=selection, target=asked.target,
                property=asked.property,
            )  # fmt: skip
            asked.requestor.send_event(notice)
            connection.sync()
        time.sleep(0.005)
    connection.close()


async def test_a_reader_that_dies_half_way_harms_nobody(seat: Seat, clipboard: Clipboard) -> None:
    text = "x" * 2_000_000
    await clipboard.write_text(text)

    def begin_and_go() -> None:
        from Xlib import X, display

        connection = display.Display(seat.display)
        window = connection.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        atoms = [connection.intern_atom(name) for name in ("CLIPBOARD", "UTF8_STRING", "DROP")]
        window.convert_selection(*atoms, X.CurrentTime)
        while connection.next_event().type != X.SelectionNotify:
            pass
        connection.close()

    await anyio.to_thread.run_sync(begin_and_go)
    assert await clipboard.read_text() == text


async def test_several_targets_are_given_at_once(seat: Seat, clipboard: Clipboard) -> None:
    await clipboard.write_text("both ways")

    def ask() -> tuple[bytes, bytes, list[int], int]:
        from Xlib import X, display

        connection = display.Display(seat.display)
        window = connection.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        names = ("CLIPBOARD", "MULTIPLE", "UTF8_STRING", "STRING", "image/png", "PAIRS", "ONE", "TWO", "THREE")
        selection, multiple, utf8, latin, png, pairs, one, two, three = (connection.intern_atom(name) for name in names)
        window.change_property(pairs, connection.intern_atom("ATOM_PAIR"), 32, [utf8, one, latin, two, png, three])
        window.convert_selection(selection, multiple, pairs, X.CurrentTime)
        while connection.next_event().type != X.SelectionNotify:
            pass
        got = [window.get_full_property(atom, X.AnyPropertyType) for atom in (one, two, pairs)]
        connection.close()
        return bytes(got[0].value), bytes(got[1].value), list(got[2].value), three

    first, second, left, three = await anyio.to_thread.run_sync(ask)
    assert (first, second) == (b"both ways", b"both ways")
    assert left[5] == 0 and three not in left


async def test_a_picture_of_no_known_kind_is_refused_by_type(seat: Seat, clipboard: Clipboard) -> None:
    await clipboard._own({"image/bmp": ("image/bmp", b"BM no picture at all")})
    with pytest.raises(Unsupported):
        await clipboard.read_png()


async def test_a_picture_of_another_kind_is_read_as_png(clipboard: Clipboard) -> None:
    file = io.BytesIO()
    Image.new("RGB", (20, 10), (1, 2, 3)).save(file, "BMP")
    await clipboard._own({"image/bmp": ("image/bmp", file.getvalue())})
    got = await clipboard.read_png()
    assert got is not None and got.startswith(b"\x89PNG") and pixels(got)[0] == (20, 10)


async def test_closing_lets_go_of_the_clipboard(seat: Seat) -> None:
    first, second = await Clipboard.open(seat.display), await Clipboard.open(seat.display)
    await first.write_text("ours")
    assert await second.read_text() == "ours"
    await first.aclose()
    await first.aclose()
    assert await second.read_text() is None
    with pytest.raises(DeviceOffline):
        await first.write_text("late")
    await second.aclose()


async def test_no_display_is_offline() -> None:
    with pytest.raises(DeviceOffline):
        await Clipboard.open(":4711")


async def test_a_frozen_server_is_told_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anydevice_linux.x11.clipboard.DEADLINE", 0.4)
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with running_desktop(tmp_path) as own:
        reading, writing = await Clipboard.open(own.display), await Clipboard.open(own.display)
        os.kill(own.xserver.pid, signal.SIGSTOP)
        for call in (reading.read_text, lambda: writing.write_text("x")):
            started = time.monotonic()
            with pytest.raises(CallTimeout):
                await call()
            assert time.monotonic() - started < 2.9
        os.kill(own.xserver.pid, signal.SIGCONT)
        for one in (reading, writing):
            assert one.lost
            await one.aclose()


async def test_a_display_that_goes_away_is_told(tmp_path: Path) -> None:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with running_desktop(tmp_path) as own:
        clipboard = await Clipboard.open(own.display)
        frozen = await Clipboard.open(own.display)
        await clipboard.write_text("ours")
        os.kill(own.xserver.pid, signal.SIGSTOP)
        started = time.monotonic()
        with pytest.raises(DeviceOffline):
            await Clipboard.open(own.display, deadline=0.3)
        assert time.monotonic() - started < 2.9
        os.kill(own.xserver.pid, signal.SIGCONT)
        end(own.xserver, 0.0)
        for one in (clipboard, frozen):
            with pytest.raises((ConnectionLost, DeviceOffline)):
                await one.read_text()
            assert one.lost
            await one.aclose()
