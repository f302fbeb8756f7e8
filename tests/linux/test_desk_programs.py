"""Programs nobody here wrote, driven through our commands; judged by their files and windows, not by our answers."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest

from anydevice_linux.x11 import Window

from .desktop import missing
from .through import PATIENCE, Seated
from .through import seated as seated_in

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(missing() is not None, reason=missing() or "")]


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"not installed: {program}")


@pytest.fixture
async def seated(tmp_path: Path) -> AsyncIterator[Seated]:
    async with seated_in(tmp_path) as made:
        yield made


async def written(path: Path, text: str) -> None:
    """Waits until a file holds a text."""
    with anyio.move_on_after(PATIENCE):
        while not path.exists() or path.read_text("utf-8") != text:
            await anyio.sleep(0.05)
    assert path.exists(), "no file"
    assert path.read_text("utf-8") == text


@needs("gnome-calculator")
async def test_the_calculator_computes(seated: Seated) -> None:
    await seated.do("open", app="gnome-calculator")
    for key in ("7", "×", "8", "="):
        await seated.do("press", target=f'label="{key}" role=button')
    answer = await seated.do("find", query="label=56", timeoutMs=10_000)
    assert answer.data["count"] >= 1
    await seated.do("close")
    assert await seated.gone("Calculator")


@needs("gnome-calculator")
async def test_the_calculators_menus_open_and_are_pressed_where_they_are_drawn(seated: Seated) -> None:
    await seated.do("open", app="gnome-calculator")
    (before,) = await seated.windows()
    await seated.do("press", target="label=Basic role=button")
    await seated.do("press", target="label=Advanced role=menuitemradio", timeoutMs=10_000)
    with anyio.move_on_after(PATIENCE):
        while (await seated.windows())[0].client.width <= before.client.width + 100:
            await anyio.sleep(0.05)
    assert (await seated.windows())[0].client.width > before.client.width + 100
    x, y, width, height = (await seated.do("find", query="label=Minimize")).data["matches"][0]["rect"]
    await seated.do("press", x=x - 16, y=y + height / 2)  # the button beside it has no name
    answer = await seated.do("find", query='label="About Calculator" role=menuitem', timeoutMs=10_000)
    x, y, width, height = answer.data["matches"][0]["rect"]
    await seated.do("press", x=x + width / 2, y=y + height / 2)
    assert await seated.shown("About")


@needs("mousepad")
async def test_a_text_is_typed_and_saved_by_menu_and_file_dialog(seated: Seated, tmp_path: Path) -> None:
    path = tmp_path / "saved.txt"
    await seated.do("open", app="mousepad")
    await seated.do("type", text="Grüße 世界 🙂\nline two\n")
    await seated.do("press", target="label=File role=menuitem")
    await seated.do("press", target='label="Save As..." role=menuitem')
    await seated.do("wait", target='label="Name:" role=textbox', timeoutMs=10_000)
    await seated.do("fill", target='label="Name:" role=textbox', text=str(path))
    await seated.do("wait", target="label=Save role=button enabled=true", timeoutMs=10_000)
    await seated.do("press", target="label=Save role=button")
    await written(path, "Grüße 世界 🙂\nline two\n")
    assert await seated.gone("Save As")
    assert any("saved.txt" in window.title for window in await seated.windows())
    await seated.do("close")
    assert await seated.gone("Mousepad")


@needs("mousepad")
async def test_keys_reach_a_dialog_that_a_menu_opened(seated: Seated, tmp_path: Path) -> None:
    path = tmp_path / "keys.txt"
    await seated.do("open", app="mousepad")
    await seated.do("type", text="by keys")
    await seated.do("press", target="label=File role=menuitem")
    await seated.do("press", target='label="Save As..." role=menuitem')
    await seated.do("wait", target='label="Name:" role=textbox focused=true', timeoutMs=10_000)
    await seated.do("key", chord="ctrl+a")
    await seated.do("type", text=str(path))
    await seated.do("wait", target="label=Save role=button enabled=true", timeoutMs=10_000)
    await seated.do("key", chord="enter")
    await written(path, "by keys")


@needs("mousepad")
async def test_unsaved_work_is_asked_for_and_can_be_kept(seated: Seated) -> None:
    await seated.do("open", app="mousepad")
    await seated.do("type", text="not saved")
    await seated.do("close", expect="dialog_open")
    with anyio.fail_after(20):  # a dialog may be there before its buttons are
        while len((await seated.do("alert")).data["dialog"]["buttons"]) < 2:
            await anyio.sleep(0.05)
    await seated.do("alert", action="dismiss")
    assert any("Mousepad" in window.title for window in await seated.windows())
    await seated.do("close", force=True)
    assert await seated.gone("Mousepad")


@needs("gedit")
async def test_find_and_replace_changes_the_file(seated: Seated, tmp_path: Path) -> None:
    path = tmp_path / "fruit.txt"
    path.write_text("apple pear apple\n")
    await seated.do("open", app="gedit", arguments=[str(path)])
    await seated.do("key", chord="ctrl+h")
    await seated.do("wait", target="role=dialog", timeoutMs=10_000)
    await seated.do("snapshot")
    await seated.do("key", chord="ctrl+a")
    await seated.do("type", text="apple")
    await seated.do("key", chord="tab")
    await seated.do("type", text="plum")
    await seated.do("press", target='label="Replace All" role=button')
    await seated.do("key", chord="escape")
    await seated.do("key", chord="ctrl+s")
    await written(path, "plum pear plum\n")


@needs("gedit")
async def test_another_editor_saves_through_its_menu_and_the_file_dialog(seated: Seated, tmp_path: Path) -> None:
    path = tmp_path / "fruit.txt"
    await seated.do("open", app="gedit")
    await seated.do("type", text="pears, 梨")
    await seated.do("press", target="label=Menu role=button index=0")
    await seated.do("press", target='label="Save As…" role=button', timeoutMs=10_000)
    await seated.do("wait", target='label="Name:" role=textbox', timeoutMs=10_000)
    await seated.do("fill", target='label="Name:" role=textbox', text=str(path))
    await seated.do("press", target="label=Save role=button index=0")
    await written(path, "pears, 梨\n")  # it ends the last line
    assert await seated.shown("fruit.txt")


@needs("mousepad")
async def test_find_and_replace_through_menu_and_dialog(seated: Seated, tmp_path: Path) -> None:
    path = tmp_path / "fruit.txt"
    path.write_text("apple pear apple\n")
    await seated.do("open", app="mousepad", arguments=[str(path)])
    await seated.do("press", target="label=Search role=menuitem", timeoutMs=10_000)
    await seated.do("press", target='label="Find and Replace..." role=menuitem')
    await seated.do("wait", target='label="Find and Replace" role=dialog', timeoutMs=10_000)
    await seated.do("wait", target="role=textbox focused=true", timeoutMs=10_000)
    await seated.do("type", text="apple")
    await seated.do("key", chord="tab")
    await seated.do("type", text="plum")
    await seated.do("press", target='label="Replace all in:" role=checkbox')
    await seated.do("wait", target="label=Replace role=button enabled=true", timeoutMs=10_000)
    await seated.do("press", target="label=Replace role=button")
    await seated.do("press", target="label=Close role=button")
    assert await seated.gone("Find and Replace")
    await seated.do("key", chord="ctrl+s")
    await written(path, "plum pear plum\n")


@needs("featherpad")
async def test_a_qt_editor_saves_through_its_menu_and_the_file_dialog(seated: Seated, tmp_path: Path) -> None:
    path = tmp_path / "fruit.txt"
    await seated.do("open", app="featherpad")
    await seated.do("type", text="pears, 梨\n")
    await seated.do("press", target="label=File role=menuitem")
    await seated.do("press", target='label="Save As" role=menuitem', timeoutMs=10_000)
    await seated.do("wait", target='label="File name:" role=textbox', timeoutMs=10_000)
    await seated.do("fill", target='label="File name:" role=textbox', text=str(path))
    await seated.do("press", target="label=Save role=button index=0")
    await written(path, "pears, 梨\n")
    assert await seated.gone("Save as")


@needs("featherpad")
async def test_a_qt_editor_finds_and_replaces(seated: Seated, tmp_path: Path) -> None:
    path = tmp_path / "fruit.txt"
    path.write_text("apple pear apple\n")
    await seated.do("open", app="featherpad", arguments=[str(path)])
    await seated.do("press", target="label=Replace role=button", timeoutMs=10_000)
    await seated.do("wait", target='label="Replace with:"', timeoutMs=10_000)
    await seated.do("wait", target="role=textbox focused=true", timeoutMs=10_000)
    await seated.do("type", text="apple")
    await seated.do("key", chord="tab")
    await seated.do("type", text="plum")
    tree = (await seated.do("snapshot", mode="full", responseLevel="full")).data["tree"]
    panel = next(node["ref"] for node in tree if node.get("name") == "Replacement")
    part = (await seated.do("snapshot", scope=panel, responseLevel="full")).data["tree"]
    plain = [node for node in part if node["role"] == "button" and not node.get("name")]
    everywhere = max(plain, key=lambda node: float(node["rect"][0]))  # the rightmost
    await seated.do("press", target=everywhere["ref"])
    await seated.do("wait", target="label=Save role=button enabled=true", timeoutMs=10_000)
    await seated.do("press", target="label=Save role=button")
    await written(path, "plum pear plum\n")


@needs("mousepad")
async def test_windows_are_arranged_and_x_says_so(seated: Seated) -> None:
    await seated.do("open", app="mousepad")

    async def until(good: Callable[[Window], object]) -> Window:
        now = await seated.windows()
        with anyio.move_on_after(PATIENCE):
            while not (now and good(now[0])):
                await anyio.sleep(0.05)
                now = await seated.windows()
        assert now and good(now[0]), now
        return now[0]

    before = await until(lambda window: "Mousepad" in window.title)
    await seated.do("window", action="resize", window="Mousepad", width=640, height=420)
    await until(lambda window: (window.frame.width, window.frame.height) == (640, 420))
    await seated.do("window", action="move", window="Mousepad", x=40, y=50)
    await until(lambda window: (window.frame.x, window.frame.y) == (40, 50))
    await seated.do("window", action="maximize", window="Mousepad")
    await until(lambda window: "maximized_vert" in window.state and window.client.width > 1200)
    await seated.do("window", action="unmaximize", window="Mousepad")
    await until(lambda window: "maximized_vert" not in window.state and window.client.width < 700)
    await seated.do("window", action="minimize", window="Mousepad")
    await until(lambda window: "minimized" in window.state)
    await seated.do("window", action="unminimize", window="Mousepad")
    await until(lambda window: "minimized" not in window.state and window.shown)
    await seated.do("window", action="close", window="Mousepad")
    assert await seated.gone("Mousepad")
    assert before.id not in {window.id for window in await seated.windows()}


PAGE = """<title>Hello page</title>
<button onclick="document.title = 'Pressed'">Press here</button>
<input aria-label="Your name" oninput="document.title = 'Name: ' + this.value">
"""
FLAGS = (
    "--no-sandbox", "--force-renderer-accessibility", "--no-first-run", "--disable-gpu", "--password-store=basic",
)  # fmt: skip


@needs("chromium")
async def test_a_browsers_own_window_and_page_are_driven(seated: Seated, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    arguments = [*FLAGS, f"--user-data-dir={tmp_path / 'profile'}", str(page)]
    await seated.do("open", app="chromium", arguments=arguments)
    await seated.do("press", target='label="Press here" role=button', timeoutMs=15_000)
    assert await seated.shown("Pressed")
    await seated.do("fill", target='label="Your name"', text="Grüße 🙂")
    assert await seated.shown("Name: Grüße 🙂")
    await seated.do("press", target='label="Reload" role=button')
    assert await seated.shown("Hello page")
    other = tmp_path / "other.html"
    other.write_text("<title>Other page</title>")
    await seated.do("fill", target='label="Address and search bar" role=textbox', text=other.as_uri())
    await seated.do("key", chord="enter")
    assert await seated.shown("Other page")
    await seated.do("press", target="label=Back role=button")
    assert await seated.shown("Hello page")
    await seated.do("close")
    assert await seated.gone("Chromium")
