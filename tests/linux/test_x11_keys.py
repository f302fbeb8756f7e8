"""The keyboard: any text into any toolkit, chords on any layout, and the keyboard mapping as it was afterwards."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice_linux.x11 import Windows, XDisplay, XKeys, xkb
from anydevice_linux.x11.keymap import Layout, Stroke, keysym_of, parse_chord, typable
from anydevice_schemas.errors import CallTimeout, FocusUnavailable, InvalidArgument, OutcomeUnknown

from .desktop import SYSTEM_PYTHON, Seat
from .witnesses import Field, Witness

pytestmark = pytest.mark.anyio
PROGRAMS = Path(__file__).parent / "programs"
MIXED = "Hello, World! {x}[y] ~ éß€ ñ 世界 ✓ 🙂"
TOOLKITS = ["gtk3", "gtk4", "qt"]


def field_of(toolkit: str, seat: Seat, slow: int = 0) -> Field:
    if toolkit == "qt":
        if importlib.util.find_spec("PySide6") is None:
            pytest.skip("not installed: PySide6")
        return Field(seat, [sys.executable, PROGRAMS / "typing_qt.py"])
    version = toolkit[-1]
    try:
        subprocess.run(
            [SYSTEM_PYTHON, "-c", f"import gi; gi.require_version('Gtk', '{version}.0')"], check=True, timeout=20
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"not installed: python3-gi with GTK {version}")
    return Field(seat, [SYSTEM_PYTHON, PROGRAMS / "typing_gtk.py", version, *([str(slow)] if slow else [])])


@pytest.fixture
def field(seat: Seat) -> Iterator[Callable[..., Field]]:
    made: list[Field] = []

    def make(toolkit: str, slow: int = 0) -> Field:
        made.append(field_of(toolkit, seat, slow))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.fixture
async def keys(display: XDisplay) -> AsyncIterator[XKeys]:
    made = XKeys(display)
    yield made
    if not display.lost:
        await made.restore()


def use_layout(seat: Seat, *words: str) -> None:
    subprocess.run(["setxkbmap", *words], env=seat.env, check=True, timeout=10)


@pytest.fixture
def layout(seat: Seat) -> Iterator[Callable[..., None]]:
    if shutil.which("setxkbmap") is None:
        pytest.skip("not installed: setxkbmap")
    yield lambda *words: use_layout(seat, *words)
    use_layout(seat, "us", "-option", "")


async def mapping(display: XDisplay) -> list[xkb.Row]:
    """The keyboard mapping, to the bit."""
    return (await display.do(xkb.read))[1]


async def core_mapping(display: XDisplay) -> list[list[int]]:
    """The keyboard mapping as programs without the keyboard extension see it: four keysyms a key."""
    return await display.do(lambda connection: [list(row[:4]) for row in connection.get_keyboard_mapping(8, 248)])


@pytest.mark.parametrize("toolkit", TOOLKITS)
async def test_any_text_is_typed_exactly(toolkit: str, field: Callable[..., Field], keys: XKeys) -> None:
    made = field(toolkit)
    started = time.monotonic()
    await keys.type_text(MIXED)
    sent = time.monotonic() - started
    await made.wait(MIXED)
    print(f"{toolkit}: sent in {sent * 1000:.0f} ms, there after {(time.monotonic() - started) * 1000:.0f} ms")


@pytest.mark.parametrize("toolkit", TOOLKITS)
async def test_more_new_characters_than_spare_keys_come_in_rounds(
    toolkit: str, field: Callable[..., Field], keys: XKeys
) -> None:
    made = field(toolkit)
    text = "".join(chr(0x4E00 + number) for number in range(60)) + "end"
    started = time.monotonic()
    await keys.type_text(text)
    await made.wait(text)
    print(f"{toolkit}: 60 new characters in {(time.monotonic() - started) * 1000:.0f} ms")


async def test_a_slow_program_still_gets_the_right_characters(field: Callable[..., Field], keys: XKeys) -> None:
    """It comes to its keys long after they were sent, when the next round would have changed the mapping."""
    made = field("gtk3", 15)
    text = "".join(chr(0x4E00 + number) for number in range(50))
    await keys.type_text(text)
    await made.wait(text)
    more = "".join(chr(0x5E00 + number) for number in range(17))
    await keys.type_text(more)
    await keys.restore()
    await made.wait(text + more)


@pytest.mark.parametrize("toolkit", ["gtk3", "gtk4"])
async def test_hostile_text_is_typed_as_it_is(toolkit: str, field: Callable[..., Field], keys: XKeys) -> None:
    made = field(toolkit)
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    text = f"a\tb\n\"'`$(id)\\;|&<>%s%n{{}} \u202eRTL\u202c e\u0301 {family} \u00a0\u00ad\ufeff."
    await keys.type_text(text)
    await made.wait(text)


@pytest.mark.parametrize("bad", ["a\0b", "\x1b[31m", "\x7f", "\ud800", "\ufffe", "a\x08"])
async def test_what_no_keyboard_types_is_refused_before_anything_is_typed(
    bad: str, field: Callable[..., Field], keys: XKeys
) -> None:
    made = field("gtk3")
    with pytest.raises(InvalidArgument):
        await keys.type_text("before" + bad)
    await anyio.sleep(0.1)
    assert made.text == ""


async def test_line_ends_of_any_kind_are_one_enter(field: Callable[..., Field], keys: XKeys) -> None:
    made = field("gtk3")
    await keys.type_text("a\r\nb\rc\nd")
    await made.wait("a\nb\nc\nd")


async def test_the_mapping_is_as_it_was_afterwards(
    field: Callable[..., Field], keys: XKeys, display: XDisplay, layout: Callable[..., None]
) -> None:
    layout("de,ru")
    before, core = await mapping(display), await core_mapping(display)
    made = field("gtk3")
    text = "".join(chr(0x4E00 + number) for number in range(40))
    await keys.type_text(text)
    await made.wait(text)
    lent = await mapping(display)
    assert lent != before
    assert all(row == was for row, was in zip(lent, before, strict=True) if any(was.syms))
    await keys.restore()
    assert await mapping(display) == before and await core_mapping(display) == core
    await keys.type_text("plain again")
    await made.wait(text + "plain again")


async def test_closing_the_display_gives_lent_keys_back(
    field: Callable[..., Field], display: XDisplay, seat: Seat
) -> None:
    before = await mapping(display)
    made = field("gtk3")
    own = await XDisplay.open(seat.display)
    text = "".join(chr(0x4E00 + number) for number in range(12))
    await XKeys(own).type_text(text)
    await own.aclose()
    assert await mapping(display) == before
    await made.wait(text)


async def test_the_same_characters_again_cost_no_new_mapping(
    field: Callable[..., Field], keys: XKeys, display: XDisplay
) -> None:
    made = field("gtk3")
    await keys.type_text("世界")
    lent = await mapping(display)
    await keys.type_text("界世" * 10)
    await made.wait("世界" + "界世" * 10)
    assert await mapping(display) == lent


async def test_keys_a_process_left_lent_are_taken_over(
    field: Callable[..., Field], keys: XKeys, display: XDisplay
) -> None:
    before = await mapping(display)
    await field("gtk3").quiet()
    connection = await XDisplay.open(display.name)
    dead = XKeys(connection)
    connection.farewells.clear()
    text = "".join(chr(0x6E00 + number) for number in range(17))
    await dead.type_text(text)
    await connection.aclose()  # as a crash would: nothing is given back
    made = field("gtk3")
    more = "".join(chr(0x7E00 + number) for number in range(17))
    await keys.type_text(more)
    await made.wait(more)
    await keys.restore()
    assert await mapping(display) == before


@pytest.mark.parametrize("toolkit", ["gtk3", "gtk4"])
@pytest.mark.parametrize("name", ["de", "fr", "us -variant intl", "us,ru"])
async def test_other_layouts_type_the_same(
    toolkit: str, name: str, field: Callable[..., Field], keys: XKeys, layout: Callable[..., None]
) -> None:
    layout(*name.split())
    made = field(toolkit)
    text = "aAzZ19!@#[]{}\\|~ ' ^ äé€ñ ж 世"
    await keys.type_text(text)
    await made.wait(text)


async def test_the_active_layout_of_several_is_used(
    field: Callable[..., Field], keys: XKeys, layout: Callable[..., None], display: XDisplay
) -> None:
    """With Russian active, Latin letters have no key on it: they are lent one, not mistyped."""
    layout("us,ru", "-option", "grp:shifts_toggle")
    await display.do(lambda connection: lock_group(connection, 1))
    try:
        assert (await keys.keyboard_state())["layout"] == 1
        made = field("gtk3")
        await keys.type_text("hello привет 12")
        await made.wait("hello привет 12")
    finally:
        await display.do(lambda connection: lock_group(connection, 0))


def lock_group(connection: Any, group: int) -> None:
    """Makes a layout the active one, as a layout switcher does (XkbLatchLockState)."""
    from Xlib.protocol import rq

    class UseExtension(rq.ReplyRequest):  # type: ignore[misc]
        _request = rq.Struct(
            rq.Card8("opcode"), rq.Opcode(0), rq.RequestLength(), rq.Card16("major"), rq.Card16("minor")
        )
        _reply = rq.Struct(
            rq.ReplyCode(), rq.Card8("supported"), rq.Card16("sequence_number"), rq.ReplyLength(), rq.Pad(24)
        )

    class LatchLockState(rq.Request):  # type: ignore[misc]
        _request = rq.Struct(
            rq.Card8("opcode"), rq.Opcode(5), rq.RequestLength(), rq.Card16("device"), rq.Card8("affect_locks"),
            rq.Card8("locks"), rq.Card8("lock_group"), rq.Card8("group"), rq.Card8("affect_latches"), rq.Pad(1),
            rq.Pad(1), rq.Card8("latch_group"), rq.Card16("latch"),
        )  # fmt: skip

    opcode = connection.query_extension("XKEYBOARD").major_opcode
    UseExtension(display=connection.display, opcode=opcode, major=1, minor=0)
    LatchLockState(
        display=connection.display, opcode=opcode, device=0x100, affect_locks=0, locks=0, lock_group=1, group=group,
        affect_latches=0, latch_group=0, latch=0,
    )  # fmt: skip
    connection.settle()


async def test_caps_lock_does_not_change_what_is_typed(field: Callable[..., Field], keys: XKeys) -> None:
    made = field("gtk3")
    await keys.press("capslock")
    try:
        await keys.type_text("Mixed Case é 世")
        await made.wait("Mixed Case é 世")
        await keys.type_text("x")
        await made.wait("Mixed Case é 世x")
    finally:
        await keys.press("capslock")


async def test_a_delay_is_kept_between_characters(field: Callable[..., Field], keys: XKeys) -> None:
    made = field("gtk3")
    started = time.monotonic()
    await keys.type_text("abcd", delay=0.1)
    assert time.monotonic() - started >= 0.3
    await made.wait("abcd")


async def test_long_text_arrives_whole(field: Callable[..., Field], keys: XKeys) -> None:
    made = field("gtk3")
    text = "".join(f"line {number} of a long text;\n" for number in range(80))
    started = time.monotonic()
    await keys.type_text(text)
    sent = time.monotonic() - started
    await made.wait(text)
    print(
        f"{len(text)} characters sent in {sent * 1000:.0f} ms, there after {(time.monotonic() - started) * 1000:.0f} ms"
    )


async def test_text_without_a_window_that_has_the_keyboard_is_refused(keys: XKeys, display: XDisplay) -> None:
    for _ in range(2000):
        if await Windows(display).active() is None:
            break
        await anyio.sleep(0.01)
    with pytest.raises(FocusUnavailable):
        await keys.type_text("nobody")


async def test_a_program_that_does_not_read_is_told_and_gets_no_second_round(
    field: Callable[..., Field], keys: XKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice_linux.x11.keys.READING", 0.5)
    made = field("gtk3")
    os.kill(made.process.pid, signal.SIGSTOP)
    try:
        started = time.monotonic()
        with pytest.raises(OutcomeUnknown):
            await keys.type_text("".join(chr(0x4E00 + number) for number in range(40)))
        assert time.monotonic() - started < 4.9
    finally:
        os.kill(made.process.pid, signal.SIGCONT)


async def test_a_program_that_hangs_keeps_no_text_from_another(
    field: Callable[..., Field], keys: XKeys, display: XDisplay
) -> None:
    hung = field("gtk3")
    await keys.type_text("".join(chr(0x4E00 + number) for number in range(17)))
    os.kill(hung.process.pid, signal.SIGSTOP)
    try:
        other = field("gtk3")
        more = "".join(chr(0x5E00 + number) for number in range(17))
        started = time.monotonic()
        await keys.type_text(more)
        assert time.monotonic() - started < 4.9
        await other.wait(more)
    finally:
        os.kill(hung.process.pid, signal.SIGCONT)


async def test_a_program_that_hangs_gets_nothing_more(
    field: Callable[..., Field], keys: XKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice_linux.x11.keys.READING", 0.4)
    made = field("gtk3")
    first = "".join(chr(0x4E00 + number) for number in range(17))
    await keys.type_text(first)
    await made.wait(first)
    await keys.type_text(first[:3])
    await made.wait(first + first[:3])
    os.kill(made.process.pid, signal.SIGSTOP)
    try:
        for _ in range(2):
            with pytest.raises(CallTimeout):
                await keys.type_text("\u5e00")
    finally:
        os.kill(made.process.pid, signal.SIGCONT)
    await keys.type_text("\u5e01")
    await made.wait(first + first[:3] + "\u5e01")


async def test_a_window_that_answers_no_pings_gets_time_instead(witness: Callable[..., Witness], keys: XKeys) -> None:
    made = witness("--deaf")
    await made.quiet()
    started = time.monotonic()
    await keys.type_text("".join(chr(0x4E00 + number) for number in range(20)))
    assert time.monotonic() - started > 0.4
    assert len(await made.wait(20, "key")) == 20


@pytest.mark.parametrize(
    ("chord", "expected"),
    [
        ("a", [(97, 0)]),
        ("A", [(0xFFE1, 0), (65, 1)]),
        ("enter", [(0xFF0D, 0)]),
        ("f5", [(0xFFC2, 0)]),
        ("ctrl+s", [(0xFFE3, 0), (115, 4)]),
        ("ctrl+shift+p", [(0xFFE3, 0), (0xFFE1, 4), (80, 5)]),
        ("alt+left", [(0xFFE9, 0), (0xFF51, 8)]),
        ("?", [(0xFFE1, 0), (63, 1)]),
        ("ctrl++", [(0xFFE3, 0), (0xFFE1, 4), (43, 5)]),
        ("primary+a", [(0xFFE3, 0), (97, 4)]),
        ("shift", [(0xFFE1, 0)]),
        ("世", [(0x1004E16, 0)]),
    ],
)
async def test_chords(chord: str, expected: list[tuple[int, int]], field: Callable[..., Field], keys: XKeys) -> None:
    made = field("gtk3")
    await made.quiet()
    acted = await keys.press(chord)
    assert acted.method == "keys"
    for _ in range(4000):
        got = [(word["key"], word["state"]) for word in made.read() if "key" in word]
        if len(got) >= len(expected):
            break
        await anyio.sleep(0.005)
    assert got == expected


async def test_a_shortcut_is_found_on_another_layout(
    field: Callable[..., Field], keys: XKeys, layout: Callable[..., None], display: XDisplay
) -> None:
    layout("us,ru")
    await display.do(lambda connection: lock_group(connection, 1))
    try:
        made = field("gtk3")
        await keys.type_text("мир")
        await made.wait("мир")
        await keys.press("ctrl+a")
        await keys.press("backspace")
        await made.wait("")
    finally:
        await display.do(lambda connection: lock_group(connection, 0))


@pytest.mark.parametrize("chord", ["", "nokey", "ctrl+", "hyper+a", "a+b", "ctrl+nokey", "\0"])
async def test_what_is_no_chord_is_refused(chord: str, keys: XKeys) -> None:
    with pytest.raises(InvalidArgument):
        await keys.press(chord)


async def test_no_modifier_stays_down(field: Callable[..., Field], keys: XKeys, display: XDisplay) -> None:
    made = field("gtk3")
    await keys.press("ctrl+shift+f5")
    await keys.type_text("Ab?")
    await made.wait("Ab?")
    down = await display.do(
        lambda connection: [number for number, byte in enumerate(connection.query_keymap()) if byte]
    )
    assert down == []


async def test_a_modifier_that_was_left_down_is_let_go(
    field: Callable[..., Field], keys: XKeys, display: XDisplay
) -> None:
    made = field("gtk3")
    await display.do(lambda connection: (connection.xtest_fake_input(2, 37), connection.settle()))
    await keys.type_text("abc")
    await made.wait("abc")


async def test_focus_is_asked_of_those_who_know(display: XDisplay) -> None:
    from anydevice_schemas import Node

    node = Node(role="textbox", name="Name")

    async def focused() -> Node | None:
        return node

    assert await XKeys(display, focused).focused() is node
    assert await XKeys(display).focused() is None


def test_keysyms_of_characters() -> None:
    assert [keysym_of(c) for c in "aé€\n\t"] == [0x61, 0xE9, 0x10020AC, 0xFF0D, 0xFF09]


def row(*groups: str | int, width: int = 2) -> xkb.Row:
    syms = [ord(sym) if isinstance(sym, str) else sym for sym in groups]
    return xkb.Row(bytes(4), len(syms) // width, width, tuple(syms))


def test_a_level_is_read_from_the_active_layout() -> None:
    rows = [row(0xFFE1, width=1), row(0xFE03, width=1), row("q", "Q", 0x6CA, 0x6EA), row("8", "(", "[", "{", width=4)]
    first = Layout(8, rows, 0, [[8], [9]])
    assert first.stroke(ord("Q")) == Stroke(10, 1) and first.stroke(0x6CA) is None
    assert first.stroke(ord("[")) == Stroke(11, 2) and first.modifier_keys(3) == [8, 9]
    second = Layout(8, rows, 1, [[8], [9]])
    assert second.stroke(0x6EA) == Stroke(10, 1) and second.stroke(ord("q")) is None
    assert second.anywhere(ord("q")) == Stroke(10, 0)
    assert second.stroke(ord("{")) == Stroke(11, 3)


def test_a_layout_beyond_a_keys_own_is_found_as_the_server_does() -> None:
    both = row("a", "b", width=1)
    assert [both.sym(group, 0) for group in range(4)] == [97, 98, 97, 98]
    clamped = xkb.Row(bytes(4), 0x42, 1, (97, 98))
    assert clamped.sym(3, 0) == 98
    redirected = xkb.Row(bytes(4), 0x92, 1, (97, 98))
    assert redirected.sym(3, 0) == 98


def test_lent_keys_are_known_again() -> None:
    assert xkb.lent_row(0x1004E16).lent == 0x1004E16
    assert row("a", "A").lent is None and xkb.Row().lent is None


def test_chord_words() -> None:
    assert parse_chord("Control+Alt+Del") == (["ctrl", "alt"], 0xFFFF)
    assert parse_chord("cmd+K") == (["meta"], ord("k"))
    assert typable("a\r\nb") == "a\nb"
