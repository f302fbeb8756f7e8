"""The pieces a Wayland session is spoken to with: messages, keymap, sway's socket, against what others wrote."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import struct
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest

from anydevice_linux.a11y import surfaces
from anydevice_linux.wayland.connection import Broken, Connection
from anydevice_linux.wayland.ipc import HEAD, MAGIC, SwayIpc
from anydevice_linux.wayland.keymap import PLAIN, SPARE, Keymap
from anydevice_linux.wayland.protocol import SEAT, SHM
from anydevice_linux.wayland.session import Session
from anydevice_linux.wayland.wire import Malformed, pack, take, unpack
from anydevice_linux.x11.keymap import keysym_of
from anydevice_schemas.errors import ActionUnverified, CallTimeout, ConnectionLost, OutcomeUnknown

from .desktop import Seat

pytestmark = pytest.mark.anyio


def test_messages_are_packed_as_the_protocol_says() -> None:
    # Protocol: object, size << 16 | number, then the arguments; texts with their length and a zero, to four bytes.
    message = pack(2, 0, "usun", [7, "wl_shm", 1, 9])
    expected = struct.pack("=IHHII", 2, 0, 36, 7, 7) + b"wl_shm\0\0" + struct.pack("=II", 1, 9)
    assert message == expected[:6] + struct.pack("=H", len(expected)) + expected[8:]
    assert pack(3, 1, "if", [-1, 1.5])[8:] == struct.pack("=ii", -1, 384)
    assert pack(3, 1, "noh", [4, None])[8:] == struct.pack("=II", 4, 0)


def test_events_are_unpacked_as_they_were_packed() -> None:
    values = [7, "grüße", -3, 2.25, 0]
    assert list(unpack("usifo", pack(1, 1, "usifo", values)[8:])) == values
    array = struct.pack("=I", 5) + b"abcde\0\0\0" + struct.pack("=I", 8)
    assert list(unpack("au", array)) == [b"abcde", 8]


def test_messages_come_in_any_pieces() -> None:
    whole = pack(1, 2, "s", ["one"]) + pack(3, 4, "", []) + pack(5, 6, "u", [7])
    for size in (1, 3, 8, len(whole)):
        heard, found = bytearray(), []
        for start in range(0, len(whole), size):
            heard += whole[start : start + size]
            while (message := take(heard)) is not None:
                found.append(message[:2])
        assert found == [(1, 2), (3, 4), (5, 6)] and not heard


def test_what_is_no_message_is_told() -> None:
    with pytest.raises(Malformed):
        take(bytearray(struct.pack("=IHH", 1, 0, 4)))
    for kinds, body in (("u", b"\0"), ("s", struct.pack("=I", 100)), ("a", struct.pack("=I", 9) + b"abc")):
        with pytest.raises(Malformed):
            list(unpack(kinds, body))


def test_characters_keep_their_keys_until_there_are_too_few() -> None:
    keymap = Keymap()
    assert not keymap.write([keysym_of(one) for one in "Hello, World!"])
    first = [keysym_of(one) for one in "世界"]
    assert keymap.write(first) and not keymap.write(first)
    strokes = [keymap.stroke(one) for one in first]
    many = [0x1000000 + 0x3000 + number for number in range(keymap.room - 2)]
    assert keymap.write(many)
    assert [keymap.stroke(one) for one in first] == strokes
    assert len({keymap.stroke(one) for one in [*first, *many]}) == keymap.room
    assert keymap.write([0x1000000 + 0x5000])
    assert keymap.stroke(first[0]) is None and keymap.stroke(0x1000000 + 0x5000) is not None


def test_chords_are_pressed_without_altgr() -> None:
    keymap = Keymap()
    keysym = keysym_of("ö")
    keymap.write([keysym])
    assert keymap.lend(keysym) and not keymap.lend(keysym)
    written, key = keymap.stroke(keysym), keymap.key(keysym)
    assert written is not None and written.third and key is not None and not key.third


@pytest.mark.skipif(shutil.which("xkbcomp") is None, reason="not installed: xkbcomp")
def test_the_keymap_is_one_to_others(tmp_path: Path) -> None:
    keymap = Keymap()
    keymap.write([keysym_of(one) for one in "é€世🙂"])
    keymap.lend(keysym_of("ö"))
    source = tmp_path / "keymap.xkb"
    source.write_text(keymap.text())
    done = subprocess.run(
        ["xkbcomp", "-w", "0", "-xkb", str(source), "-"], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    for word in ("eacute", "U4E16", "U0001F642", "odiaeresis", "Control_L", "ISO_Level3_Shift"):
        assert word in done.stdout, word


def test_every_character_people_type_has_a_key_of_its_own() -> None:
    for character in map(chr, range(0x20, 0x7F)):
        assert keysym_of(character) in PLAIN, character
    taken = {(stroke.key, stroke.shift) for stroke in PLAIN.values()}
    assert not {key for key, _ in taken} & set(SPARE)


def test_a_compositor_that_refuses_is_told_by_what_was_asked(wayland: Seat) -> None:
    path = Path(wayland.env["XDG_RUNTIME_DIR"]) / wayland.env["WAYLAND_DISPLAY"]
    connection = Connection(str(path))
    try:
        session = Session(connection)
        shm = session.take(SHM, "test")
        reader, writer = os.pipe()
        try:
            from anydevice_linux.wayland.protocol import SHM_POOL

            with pytest.raises(Broken, match="wl_shm"):
                connection.ask(shm, "create_pool", SHM_POOL, -5, fds=[reader])
                connection.settle()
        finally:
            os.close(reader)
            os.close(writer)
    finally:
        connection.close()


def test_ids_are_given_again(wayland: Seat) -> None:
    path = Path(wayland.env["XDG_RUNTIME_DIR"]) / wayland.env["WAYLAND_DISPLAY"]
    connection = Connection(str(path))
    try:
        Session(connection).take(SEAT, "test")
        for _ in range(50):
            connection.settle()
        assert max(connection._things) < 10
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("boxes", "size", "begins"),
    [
        ([(26, 23, 900, 47), (26, 70, 900, 700)], (900, 747), (26, 23)),  # a title bar, and what is below it
        ([(26, 23, 900, 47), (26, 70, 900, 700), (640, 69, 286, 900)], (900, 747), (26, 23)),  # something hangs out
        ([(5, 4, 222, 147)], (222, 147), (5, 4)),
        ([(0, 0, 640, 560)], (500, 560), None),  # larger than the window: which part of it shows is not told
        ([(26, 23, 900, 47)], (900, 747), None),  # not all of the window
        ([], (10, 10), None),
    ],
)
def test_a_window_begins_in_its_surface_where_its_content_fits(
    boxes: list[tuple[int, ...]], size: tuple[int, int], begins: tuple[int, int] | None
) -> None:
    assert surfaces._fitting(boxes, size) == begins


def test_the_content_of_a_browser_is_the_only_thing_as_large_as_the_window() -> None:
    boxes = [(0, 0, 1050, 780), (16, 10, 1018, 738), (16, 50, 1018, 698), (16, 10, 1018, 738)]
    assert surfaces._whole(boxes, (1018, 738)) == (16, 10)
    assert surfaces._whole([*boxes, (20, 12, 1018, 738)], (1018, 738)) is None
    assert surfaces._whole(boxes, (1000, 700)) is None


def test_a_menu_is_believed_where_it_touches_what_it_was_opened_from() -> None:
    entry, chooser = (40, 0, 44, 26), (0, 140, 168, 34)
    assert surfaces._touches((40, 26), 108, entry)  # below an entry of a menu bar
    assert surfaces._touches((0, 140), 238, chooser) and surfaces._touches((0, 111), 209, chooser)  # over a list
    assert surfaces._touches((142, 30), 90, (40, 31, 102, 26))  # beside an entry of another menu
    for origin, low in (((60, 26), 108), ((40, 60), 120), ((0, 0), 20)):
        assert not surfaces._touches(origin, low, entry if origin[0] else chooser), origin


@pytest.fixture
def sway_like(tmp_path: Path) -> Iterator[tuple[Path, list[bytes]]]:
    """A socket that answers every question with the next of some bytes; nothing where there is none left."""
    import socket

    path, answers = tmp_path / "ipc.sock", list[bytes]()
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()

    def serve() -> None:
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            with peer, contextlib.suppress(OSError):  # it did not wait for the rest
                while peer.recv(65536):
                    if not answers:
                        continue
                    answer = answers.pop(0)
                    if answer == b"cut":
                        break
                    peer.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield path, answers
    server.shutdown(socket.SHUT_RDWR)
    server.close()


def answer(kind: int, data: object) -> bytes:
    body = json.dumps(data).encode()
    return MAGIC + HEAD.pack(len(body), kind) + body


@pytest.fixture
async def ipc(sway_like: tuple[Path, list[bytes]]) -> AsyncIterator[SwayIpc]:
    made = SwayIpc(str(sway_like[0]))
    yield made
    await made.aclose()


async def test_what_goes_wrong_with_sway_is_told_by_type(ipc: SwayIpc, sway_like: tuple[Path, list[bytes]]) -> None:
    _, answers = sway_like
    answers.append(answer(7, {"human_readable": "1.7"}))
    assert await ipc.version() == "1.7"
    answers.append(answer(0, [{"success": False, "error": "No matching node."}]))
    with pytest.raises(ActionUnverified) as caught:
        await ipc.run("[con_id=1] focus")
    assert caught.value.details["actual"] == "No matching node." and "No matching" not in str(caught.value)
    answers.append(answer(0, []))
    with pytest.raises(ActionUnverified):
        await ipc.run("[con_id=1] focus")
    answers.append(b"cut")
    with pytest.raises(ConnectionLost):
        await ipc.tree()
    answers.append(b"nonsense, and nothing else")
    with pytest.raises(ConnectionLost):
        await ipc.tree()
    answers.append(b"cut")
    with pytest.raises(OutcomeUnknown):
        await ipc.run("kill")
    with anyio.fail_after(20), pytest.raises(CallTimeout):
        await ipc.tree()
    answers.append(answer(4, {"nodes": []}))
    assert await ipc.tree() == {"nodes": []}


async def test_a_cancelled_question_leaves_no_answer_for_the_next(
    ipc: SwayIpc, sway_like: tuple[Path, list[bytes]]
) -> None:
    _, answers = sway_like
    with anyio.move_on_after(0.2):
        await ipc.tree()
    answers.append(answer(7, {"human_readable": "later"}))
    assert await ipc.version() == "later"
