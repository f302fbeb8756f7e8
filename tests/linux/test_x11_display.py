"""The connection to a display: never blocks, always answers in time, says what was lost."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from anydevice_linux.x11 import Clipboard, Shots, Windows, XDisplay, XKeys, XPointer, authority
from anydevice_linux.x11.worker import Stopped, TooLate, Worker
from anydevice_schemas import Point
from anydevice_schemas.errors import (
    AnydeviceError,
    CallTimeout,
    ConnectionLost,
    DeviceOffline,
    OutcomeUnknown,
    Unsupported,
)

from .desktop import Seat, end, missing, running_desktop

pytestmark = pytest.mark.anyio


@pytest.fixture
def own_seat(tmp_path: Path) -> Iterator[Seat]:
    """A desktop that a test may break."""
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with running_desktop(tmp_path) as running:
        yield running


async def test_a_display_that_is_not_there_is_offline() -> None:
    started = time.monotonic()
    with pytest.raises(DeviceOffline) as told:
        await XDisplay.open(":4711")
    assert told.value.details["state"] == "offline"
    assert time.monotonic() - started < 10


async def test_a_name_that_is_none_is_offline() -> None:
    with pytest.raises(DeviceOffline):
        await XDisplay.open("no display at all")


async def test_a_server_that_accepts_and_says_nothing_is_told_in_time(tmp_path: Path) -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    number = listener.getsockname()[1] - 6000
    started = time.monotonic()
    with listener, pytest.raises(DeviceOffline) as told:
        await XDisplay.open(f"127.0.0.1:{number}", deadline=0.3)
    assert 0.25 < time.monotonic() - started < 2.9
    assert "did not answer" in told.value.details["reason"]


async def test_calls_are_carried_out_in_their_order(display: XDisplay) -> None:
    order: list[int] = []
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(display.do, lambda connection, number=number: order.append(number))
    assert order == list(range(20))


async def test_the_loop_goes_on_while_the_thread_is_busy(display: XDisplay) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.01)
            ticks += 1

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        await display.do(lambda connection: time.sleep(1.0))
        group.cancel_scope.cancel()
    assert ticks > 10


async def test_what_waits_behind_others_times_out_and_is_never_done(display: XDisplay) -> None:
    done: list[str] = []
    async with anyio.create_task_group() as group:
        group.start_soon(display.do, lambda connection: time.sleep(1.5))
        await anyio.sleep(0.05)
        with pytest.raises(CallTimeout):
            await display.do(lambda connection: done.append("late"), 0.1, sent="something")
    await display.do(lambda connection: None)
    assert done == [] and not display.lost


async def test_a_cancelled_call_that_waits_is_never_done(display: XDisplay) -> None:
    done: list[str] = []
    async with anyio.create_task_group() as group:
        group.start_soon(display.do, lambda connection: time.sleep(1.5))
        await anyio.sleep(0.05)
        with anyio.move_on_after(0.05):
            await display.do(lambda connection: done.append("late"))
    await display.do(lambda connection: None)
    assert done == []


async def test_a_cancelled_call_that_runs_is_done_whole(display: XDisplay) -> None:
    done: list[str] = []

    def work(connection: object) -> None:
        time.sleep(1.5)
        done.append("whole")

    with anyio.move_on_after(0.3) as scope:
        await display.do(work)
    assert scope.cancelled_caught and done == ["whole"] and not display.lost


async def test_a_frozen_server_is_told_inside_the_deadline(own_seat: Seat) -> None:
    display = await XDisplay.open(own_seat.display)
    pointer, windows = XPointer(display), Windows(display)
    await pointer.move(Point(10, 10))
    os.kill(own_seat.xserver.pid, signal.SIGSTOP)
    try:
        started = time.monotonic()
        with pytest.raises(CallTimeout) as told:
            await windows.list(0.4)
        took = time.monotonic() - started
        assert 0.35 < took < 2.9 and told.value.details["after"] == 0.4
        assert display.lost
        with pytest.raises(DeviceOffline):
            await windows.list(0.4)
        with pytest.raises(DeviceOffline):
            await XDisplay.open(own_seat.display, deadline=0.4)
    finally:
        os.kill(own_seat.xserver.pid, signal.SIGCONT)
    await display.aclose()
    again = await XDisplay.open(own_seat.display)
    assert await Windows(again).list() == []
    await again.aclose()


async def test_input_to_a_frozen_server_has_an_unknown_outcome(own_seat: Seat) -> None:
    display = await XDisplay.open(own_seat.display)
    os.kill(own_seat.xserver.pid, signal.SIGSTOP)
    try:
        with pytest.raises(OutcomeUnknown) as told:
            await display.do(lambda connection: connection.settle(), 0.3, sent="click")
        assert told.value.details["sent"] == "click"
    finally:
        os.kill(own_seat.xserver.pid, signal.SIGCONT)
    await display.aclose()


async def test_every_room_answers_by_type_when_the_server_is_frozen(own_seat: Seat) -> None:
    """One display a call: the first deadline cuts the connection."""
    calls = {
        "click": lambda display: XPointer(display).click(Point(5, 5)),
        "press": lambda display: XKeys(display).press("a"),
        "image": lambda display: Shots(display, Windows(display)).image(),
    }
    displays = {name: await XDisplay.open(own_seat.display) for name in calls}
    os.kill(own_seat.xserver.pid, signal.SIGSTOP)
    answers: dict[str, type[BaseException]] = {}
    try:

        async def ask(name: str) -> None:
            try:
                await calls[name](displays[name])
            except AnydeviceError as error:
                answers[name] = type(error)

        started = time.monotonic()
        async with anyio.create_task_group() as group:
            for name in calls:
                group.start_soon(ask, name)
        assert time.monotonic() - started < 8.5, "they are waited for one after the other"
    finally:
        os.kill(own_seat.xserver.pid, signal.SIGCONT)
    assert answers == {"click": OutcomeUnknown, "press": OutcomeUnknown, "image": CallTimeout}
    for display in displays.values():
        await display.aclose()


async def test_a_server_killed_mid_call_is_lost(own_seat: Seat) -> None:
    display = await XDisplay.open(own_seat.display)

    def long(connection: object) -> None:
        for _ in range(100_000):
            connection.settle()  # type: ignore[attr-defined]

    async def kill() -> None:
        await anyio.sleep(0.1)
        end(own_seat.xserver, 0.0)

    started = time.monotonic()
    async with anyio.create_task_group() as group:
        group.start_soon(kill)
        with pytest.raises(ConnectionLost) as told:
            await display.do(long)
    assert time.monotonic() - started < 20 and told.value.details["restarted"] is False
    with pytest.raises(DeviceOffline):
        await display.do(lambda connection: None)
    await display.aclose()


async def test_a_server_killed_while_input_is_sent_leaves_the_outcome_unknown(own_seat: Seat) -> None:
    display = await XDisplay.open(own_seat.display)

    def typing(connection: object) -> None:
        for _ in range(100_000):
            connection.settle()  # type: ignore[attr-defined]

    async with anyio.create_task_group() as group:
        group.start_soon(anyio.to_thread.run_sync, lambda: (time.sleep(0.1), end(own_seat.xserver, 0.0)))
        with pytest.raises(OutcomeUnknown):
            await display.do(typing, sent="text")
    await display.aclose()


async def test_displays_of_two_servers_do_not_mix_their_extensions(seat: Seat, own_seat: Seat) -> None:
    first, second = await XDisplay.open(seat.display), await XDisplay.open(own_seat.display)
    majors = [await one.do(lambda connection: connection.display.extension_major_opcodes) for one in (first, second)]
    assert majors[0] is not majors[1]
    await XPointer(first).move(Point(11, 12))
    await XPointer(second).move(Point(21, 22))
    for one, point in ((first, (11, 12)), (second, (21, 22))):
        at = await one.do(lambda connection: connection.screen().root.query_pointer())
        assert (at.root_x, at.root_y) == point
        await one.aclose()


async def test_a_server_that_takes_no_input_says_so(display: XDisplay) -> None:
    await display.do(lambda connection: connection.extensions.clear())
    for call in (XPointer(display).click(Point(5, 5)), XKeys(display).press("a")):
        with pytest.raises(Unsupported):
            await call
    assert not display.lost


async def test_a_process_with_many_descriptors_still_reaches_it(seat: Seat) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 1200:
        pytest.skip("this process may not have so many descriptors")
    with contextlib.ExitStack() as stack:
        for _ in range(1100):
            stack.enter_context(open(os.devnull))
        display = await XDisplay.open(seat.display)
        assert display._socket is not None and display._socket.fileno() > 1023
        await XPointer(display).move(Point(30, 31))
        await XKeys(display).keyboard_state()
        clipboard = await Clipboard.open(seat.display)
        await clipboard.write_text("high")
        assert await clipboard.read_text() == "high"
        await clipboard.aclose()
        await display.aclose()


async def test_closing_twice_is_fine_and_ends_the_thread(seat: Seat) -> None:
    before = threading.active_count()
    display = await XDisplay.open(seat.display)
    await display.aclose()
    await display.aclose()
    assert display.lost
    for _ in range(2000):
        if threading.active_count() <= before:
            break
        await anyio.sleep(0.01)
    assert threading.active_count() <= before
    with pytest.raises(DeviceOffline):
        await display.do(lambda connection: None)


async def test_a_worker_that_was_stopped_says_so() -> None:
    worker = Worker("test")
    assert await worker.run(lambda: 7, 1.0) == 7
    worker.stop()
    with pytest.raises(Stopped):
        await worker.run(lambda: 7, 1.0)


async def test_a_worker_interrupts_what_hangs() -> None:
    freed = threading.Event()
    worker = Worker("test", freed.set)
    with pytest.raises(TooLate) as told:
        await worker.run(freed.wait, 0.1)
    assert told.value.began and freed.is_set()
    worker.stop()


def entry(family: int, address: bytes, number: bytes, scheme: bytes, data: bytes) -> bytes:
    parts = b"".join(len(part).to_bytes(2, "big") + part for part in (address, number, scheme, data))
    return family.to_bytes(2, "big") + parts


def test_the_cookie_of_the_right_display_is_taken(tmp_path: Path) -> None:
    host = socket.gethostname().encode()
    magic = authority.MAGIC_COOKIE
    file = tmp_path / "authority"
    file.write_bytes(
        entry(256, host, b"7", magic, b"seven")
        + entry(256, b"elsewhere", b"8", magic, b"foreign")
        + entry(256, host, b"8", b"XDM-AUTHORIZATION-1", b"other scheme")
        + entry(256, host, b"8", magic, b"eight")
        + entry(65535, b"", b"", magic, b"any")
        + b"\x01\x00\x00\x09cut"
    )
    with socket.socket(socket.AF_UNIX) as peer:
        assert authority.cookie(str(file), peer, 7) == (magic, b"seven")
        assert authority.cookie(str(file), peer, 8) == (magic, b"eight")
        assert authority.cookie(str(file), peer, 9) == (magic, b"any")
        assert authority.cookie(str(tmp_path / "none"), peer, 7) == (b"", b"")
        assert authority.cookie(None, peer, 7) == (b"", b"")
