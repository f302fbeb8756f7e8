"""Mouse and keyboard of a Wayland session, judged by the programs that get what is sent."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Iterator

import anyio
import pytest

from anydevice_linux.driver import LinuxDriver
from anydevice_schemas import Point
from anydevice_schemas.errors import FocusUnavailable, InvalidArgument, OutcomeUnknown

from .a11y import PROGRAMS, eventually
from .desktop import SYSTEM_PYTHON, Seat, until
from .session import ask, views
from .wayland import driving
from .witnesses import Field, Told

pytestmark = pytest.mark.anyio
TEXT = "Hello, World! {x}[y] ~ éß€ ñ Ωж 世界 ✓ 🙂\tend\nnext `'\"\\|"


@pytest.fixture(scope="module")
async def driver(wayland: Seat, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxDriver]:
    async with driving(wayland, tmp_path_factory.mktemp("driver")) as made:
        await made.screen.geometry()  # from now on the session has a mouse and a keyboard
        yield made


@pytest.fixture
def mouse(wayland: Seat, driver: LinuxDriver) -> Iterator[tuple[Told, Point]]:
    """A window that tells what the mouse does in it, and where its upper left corner is."""
    told = Told(wayland, [SYSTEM_PYTHON, PROGRAMS / "pointer_gtk.py"])
    corners: list[Point] = []

    def rests() -> bool:
        view = next((view for view in views(wayland) if view["pid"] == told.process.pid), None)
        if view is not None and view["window_rect"]["width"] == 400:
            corners.append(
                Point(view["rect"]["x"] + view["window_rect"]["x"], view["rect"]["y"] + view["window_rect"]["y"])
            )
        return len(corners) > 1 and corners[-1] == corners[-2]

    until(rests, "no window", pause=0.1)
    yield told, corners[-1]
    told.end()


async def heard(told: Told, kind: str, count: int = 1) -> list[dict[str, object]]:
    """What it said of a kind, once there is so much of it."""
    await eventually(lambda: len([word for word in told.read() if word.get("kind") == kind]) >= count, f"no {kind}")
    return [word for word in told.read() if word.get("kind") == kind]


async def test_a_click_lands_where_it_was_aimed_at(driver: LinuxDriver, mouse: tuple[Told, Point]) -> None:
    told, corner = mouse
    for x, y, button, number in ((0, 0, "primary", 1), (399, 299, "secondary", 3), (123, 45, "middle", 2)):
        await told.quiet()
        await driver.pointer.click(Point(corner.x + x, corner.y + y), button=button)  # type: ignore[arg-type]
        (pressed,) = await heard(told, "press")
        assert (int(pressed["x"]), int(pressed["y"]), pressed["button"]) == (x, y, number)  # type: ignore[call-overload]
        await heard(told, "release")


async def test_two_clicks_of_a_call_are_a_double_click(driver: LinuxDriver, mouse: tuple[Told, Point]) -> None:
    told, corner = mouse
    await driver.pointer.click(Point(corner.x + 50, corner.y + 50), count=2)
    await heard(told, "double")
    assert len(await heard(told, "release", 2)) == 2


async def test_a_button_is_held_until_it_is_let_go(driver: LinuxDriver, mouse: tuple[Told, Point]) -> None:
    told, corner = mouse
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: driver.pointer.click(Point(corner.x + 50, corner.y + 50), hold=60.0))
        await heard(told, "press")
        await anyio.sleep(0.3)
        assert not [word for word in told.read() if word.get("kind") == "release"]
        group.cancel_scope.cancel()
    await heard(told, "release")


async def test_a_drag_moves_in_steps_and_a_cancelled_one_lets_go(
    driver: LinuxDriver, mouse: tuple[Told, Point]
) -> None:
    told, corner = mouse
    start, end = Point(corner.x + 20, corner.y + 20), Point(corner.x + 220, corner.y + 120)
    await driver.pointer.drag(start, end, seconds=0.3)
    (pressed,), (released,) = await heard(told, "press"), await heard(told, "release")
    assert (int(pressed["x"]), int(pressed["y"])) == (20, 20)  # type: ignore[call-overload]
    assert (int(released["x"]), int(released["y"])) == (220, 120)  # type: ignore[call-overload]
    moves = [int(word["x"]) for word in await heard(told, "motion")]  # type: ignore[call-overload]
    assert moves == sorted(moves)
    await told.quiet()
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: driver.pointer.drag(start, end, seconds=60))
        await heard(told, "press")
        group.cancel_scope.cancel()
    await heard(told, "release")


async def test_the_wheel_turns_the_way_that_was_asked_for(driver: LinuxDriver, mouse: tuple[Told, Point]) -> None:
    told, corner = mouse
    middle = Point(corner.x + 200, corner.y + 150)
    for ask_for, axis, sign in (({"dy": 120}, "dy", 1), ({"dy": -60}, "dy", -1), ({"dx": 60}, "dx", 1)):
        await told.quiet()
        await driver.pointer.wheel(middle, **ask_for)  # type: ignore[arg-type]
        scrolls = await heard(told, "scroll")
        assert sum(float(word[axis]) for word in scrolls) * sign > 0  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        await driver.pointer.wheel(middle)


async def test_a_point_beyond_the_screen_is_refused(driver: LinuxDriver) -> None:
    for point in (Point(1280, 10), Point(-1, 10), Point(10, 800)):
        with pytest.raises(InvalidArgument):
            await driver.pointer.click(point)


@pytest.mark.parametrize("version", ["3", "4"])
async def test_any_text_is_typed_exactly(driver: LinuxDriver, wayland: Seat, version: str) -> None:
    field = Field(wayland, [SYSTEM_PYTHON, PROGRAMS / "typing_gtk.py", version])
    try:
        await driver.keys.type_text(TEXT)
        await field.wait(TEXT)
        await driver.keys.press("ctrl+a")
        await driver.keys.press("delete")
        await field.wait("")
        many = "".join(map(chr, range(0x4E00, 0x4E00 + 260)))  # more than there are spare keys
        async with anyio.create_task_group() as group:
            group.start_soon(driver.keys.type_text, many)
            # Read meanwhile: it says more than a pipe holds, and would read no keys while it cannot write.
            await field.wait(many, 60)
    finally:
        field.end()


async def test_a_program_that_does_not_read_for_a_while_is_waited_for_and_gets_everything(
    driver: LinuxDriver, wayland: Seat
) -> None:
    """The compositor would end it, were it told all at once: its socket is full at about half of this."""
    many = "".join(map(chr, range(0x4E00, 0x4E00 + 1200)))
    field = Field(wayland, [SYSTEM_PYTHON, PROGRAMS / "typing_gtk.py", "4", "last"])
    try:
        os.kill(field.process.pid, signal.SIGSTOP)
        async with anyio.create_task_group() as group:
            group.start_soon(driver.keys.type_text, many)
            await anyio.sleep(1)
            os.kill(field.process.pid, signal.SIGCONT)
            await field.wait(many, 60)
    finally:
        field.end()


async def test_a_program_that_reads_no_more_is_told_and_not_ended(
    driver: LinuxDriver, wayland: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice_linux.wayland.keys.CATCHING_UP", 0.5)
    field = Field(wayland, [SYSTEM_PYTHON, PROGRAMS / "typing_gtk.py", "3", "last"])
    try:
        os.kill(field.process.pid, signal.SIGSTOP)
        with pytest.raises(OutcomeUnknown) as told:
            await driver.keys.type_text("".join(map(chr, range(0x4E00, 0x4E00 + 1200))))
        os.kill(field.process.pid, signal.SIGCONT)
        typed = "".join(map(chr, range(0x4E00, 0x4E00 + told.value.details["characters"])))
        await field.wait(typed, 60)
    finally:
        field.end()


async def test_chords_reach_the_program_with_their_modifiers(driver: LinuxDriver, wayland: Seat) -> None:
    field = Field(wayland, [SYSTEM_PYTHON, PROGRAMS / "typing_gtk.py", "3"])
    try:
        for chord, keysym, state in (
            ("ctrl+shift+k", ord("K"), 5),
            ("alt+x", ord("x"), 8),
            ("f5", 0xFFC2, 0),
            ("ctrl+ö", 0xF6, 4),
            ("shift+f10", 0xFFC7, 1),
        ):
            await field.quiet()
            await driver.keys.press(chord)
            wanted = {"key": keysym, "state": state}
            await eventually(lambda wanted=wanted: wanted in field.read(), f"{chord}: {field.said}")  # type: ignore[misc]
            if chord == "shift+f10":
                await driver.keys.press("escape")
        await driver.keys.type_text("ab")
        await driver.keys.press("backspace")
        await field.wait("a")
    finally:
        field.end()


async def test_typing_to_nobody_is_refused(driver: LinuxDriver, wayland: Seat) -> None:
    ask(wayland, "workspace 9")
    try:
        with pytest.raises(FocusUnavailable):
            await driver.keys.type_text("lost")
    finally:
        ask(wayland, "workspace 1")
