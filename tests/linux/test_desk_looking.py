"""Looking at several programs at once, and closing one with unsaved work; real programs that nobody here wrote."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from .desktop import missing
from .through import Seated
from .through import seated as desktop_at

NEEDED = ("mousepad", "gnome-calculator")
LACKS = missing() or next((f"not installed: {name}" for name in NEEDED if shutil.which(name) is None), None)
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(LACKS is not None, reason=LACKS or "")]


@pytest.fixture
async def seated(tmp_path: Path) -> AsyncIterator[Seated]:
    async with desktop_at(tmp_path) as made:
        await made.do("open", app="gnome-calculator")
        await made.do("wait", window="Calculator", timeoutMs=15_000)
        await made.do("open", app="mousepad")
        await made.do("wait", window="Mousepad", timeoutMs=15_000)
        yield made


def apps(answer: object) -> set[str]:
    data = answer.data  # type: ignore[attr-defined]
    return {node.get("app", "") for node in data["tree"] if node["role"] not in ("application", "window")}


async def test_each_surface_holds_what_it_says(seated: Seated) -> None:
    front = await seated.do("snapshot", responseLevel="full")
    assert len(apps(front)) == 1 and not any("calc" in app.lower() for app in apps(front))
    whole = await seated.do("snapshot", surface="desktop", responseLevel="full")
    assert len(apps(whole)) == 2 and apps(front) < apps(whole)
    calculator = await seated.do("snapshot", window="Calculator", responseLevel="full")
    assert apps(calculator) == apps(whole) - apps(front)
    assert any(node.get("name") == "7" and node["role"] == "button" for node in calculator.data["tree"])
    active = await seated.do("snapshot", surface="window", responseLevel="full")
    assert apps(active) == apps(front)


async def test_an_element_behind_another_window_is_found_by_its_window_and_pressed(seated: Seated) -> None:
    await seated.do("window", action="maximize", window="Mousepad")
    await seated.do("find", query="label=7 role=button", timeoutMs=0, expect="element_not_found")
    for key in ("7", "×", "8", "="):
        target = f'label="{key}" role=button windowtitle=Calculator'
        answer = await seated.do("find", query=target)
        assert answer.data["count"] == 1
        await seated.do("window", action="raise", window="Calculator")
        await seated.do("press", target=answer.data["matches"][0]["ref"])
    await seated.do("window", action="raise", window="Mousepad")
    await seated.do("wait", target="label=56 windowtitle=Calculator", timeoutMs=10_000)


async def test_unsaved_work_is_asked_about_and_stays(seated: Seated) -> None:
    await seated.do("window", action="raise", window="Mousepad")
    await seated.do("type", text="not saved yet")
    await seated.do("wait", window="Mousepad", title="*", timeoutMs=10_000)
    answer = await seated.do("window", action="close", window="Mousepad", expect="dialog_open")
    assert answer.error is not None and answer.error.details["buttons"]
    assert any("Mousepad" in window.title for window in await seated.windows())
    await seated.do("snapshot", expect="dialog_open")
    await seated.do("alert", action="dismiss")
    with anyio.fail_after(10):
        while len((await seated.do("window", app=answer.error.details["window"]["app"])).data["windows"]) != 1:
            await anyio.sleep(0.05)
    found = await seated.do("find", query="role=textbox", timeoutMs=5000)
    assert any("not saved yet" in str(row) for row in found.data["matches"])
