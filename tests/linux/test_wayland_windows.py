"""Windows of a Wayland session: listed and arranged, judged by the compositor."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from anydevice.driver import Window
from anydevice_linux.driver import LinuxDriver
from anydevice_schemas import Point, Rect
from anydevice_schemas.errors import AppNotFound, Unsupported

from .a11y import await_, eventually, launched
from .desktop import Seat
from .session import ask, running_session, views
from .wayland import driving, press, window

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def driver(wayland: Seat, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxDriver]:
    async with driving(wayland, tmp_path_factory.mktemp("driver")) as made:
        await made.screen.geometry()  # from now on the session has a mouse and a keyboard
        yield made


def seen(seat: Seat, title: str) -> dict[str, Any]:
    """The window as sway tells it."""
    return next(view for view in views(seat) if view["name"] == title)


def frame(view: dict[str, Any]) -> Rect:
    rect, bar = view["rect"], view["deco_rect"]["height"]
    return Rect(rect["x"], rect["y"] - bar, rect["width"], rect["height"] + bar)


async def test_windows_are_moved_and_sized(driver: LinuxDriver, wayland: Seat) -> None:
    async with launched(wayland, "a11y_gtk3.py", "--title", "Arranged") as started:
        found = await window(driver, "Arranged")
        assert found.pid == started.process.pid and "active" in found.states
        assert found.rect == frame(seen(wayland, "Arranged"))
        moved = await driver.windows.move(found.id, Point(60, 45))
        assert (moved.rect.x, moved.rect.y) == (60, 45)
        assert frame(seen(wayland, "Arranged")) == moved.rect
        sized = await driver.windows.resize(found.id, 900, 640)
        assert (sized.rect.width, sized.rect.height) == (900, 640)
        assert frame(seen(wayland, "Arranged")) == sized.rect
        await press(driver, "Increment", "button")
        await started.says("count 1")


async def test_a_window_is_brought_up_and_closed(driver: LinuxDriver, wayland: Seat) -> None:
    async with (
        launched(wayland, "a11y_gtk3.py", "--title", "Lower"),
        launched(wayland, "a11y_gtk3.py", "--title", "Upper") as upper,
    ):
        lower = await window(driver, "Lower")
        await window(driver, "Upper")
        raised = await driver.windows.bring_up(lower.id)
        assert "active" in raised.states and seen(wayland, "Lower")["focused"]
        assert (await driver.windows.list())[0].title == "Lower"
        found = await window(driver, "Upper")
        closed = await driver.windows.close(found.id)
        assert closed.verified
        assert all(view["name"] != "Upper" for view in views(wayland))
        await eventually(lambda: upper.process.poll() is not None, "it goes on")
        with pytest.raises(AppNotFound):
            await driver.windows.bring_up(found.id)


async def test_a_window_of_another_workspace_is_listed_as_hidden_and_comes_back(
    driver: LinuxDriver, wayland: Seat
) -> None:
    async with launched(wayland, "a11y_gtk3.py", "--title", "Away") as started:
        found = await window(driver, "Away")
        ask(wayland, f"[pid={started.process.pid}] move container to workspace 5")

        async def states() -> frozenset[str]:
            return (await window(driver, "Away")).states

        await await_(states, lambda now: "hidden" in now)
        assert "hidden" not in (await driver.windows.bring_up(found.id)).states
        assert seen(wayland, "Away")["visible"]
    ask(wayland, "workspace 1")


async def test_what_sway_does_not_have_is_refused_and_absent(driver: LinuxDriver, wayland: Seat) -> None:
    async with launched(wayland, "a11y_gtk3.py", "--title", "Refused"):
        found = await window(driver, "Refused")
        for verb in (driver.windows.minimize, driver.windows.unminimize, driver.windows.maximize):
            with pytest.raises(Unsupported):
                await verb(found.id)
        with pytest.raises(Unsupported):
            await driver.windows.unmaximize(found.id)
    assert {"windows.minimize", "windows.unminimize", "windows.maximize", "windows.unmaximize", "power"} <= set(
        driver.unavailable()
    )


async def test_tiled_windows_are_where_sway_puts_them_and_stay(tmp_path: Path) -> None:
    with running_session(tmp_path / "tiled", (1000, 700), floating=False) as seat:
        async with driving(seat, tmp_path) as driver:
            await driver.screen.geometry()
            async with (
                launched(seat, "a11y_gtk3.py", "--title", "One") as one,
                launched(seat, "a11y_gtk3.py", "--title", "Two") as two,
            ):
                right = await window(driver, "Two")

                async def half() -> Window:
                    return await window(driver, "One")

                left = await await_(half, lambda one: one.rect.width == 500)
                with pytest.raises(Unsupported) as caught:
                    await driver.windows.move(left.id, Point(0, 0))
                assert "floating enable" in str(caught.value.hint)
                with pytest.raises(Unsupported):
                    await driver.windows.resize(left.id, 100, 100)
                for found, started in ((left, one), (right, two)):
                    await driver.windows.bring_up(found.id)
                    await press(driver, "Increment", "button")
                    await started.says("count 1")
