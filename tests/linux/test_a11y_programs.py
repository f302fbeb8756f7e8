"""Programs nobody here wrote, read and driven through accessibility alone; judged by files and window titles."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from anydevice.driver import TreeScope
from anydevice_linux.a11y import A11y
from anydevice_schemas import Tree

from .a11y import await_, find, key_of, reading, tree_of
from .desktop import Seat

pytestmark = pytest.mark.anyio
SLOW = 30.0
"""Seconds a large program may take to be there on a busy machine."""


@pytest.fixture
async def a11y(seat: Seat) -> AsyncIterator[A11y]:
    async with reading(seat) as a11y:
        yield a11y


@asynccontextmanager
async def started(seat: Seat, *argv: str) -> AsyncIterator[subprocess.Popen[bytes]]:
    """A program, for as long as the block runs; skipped where it is not installed."""
    if shutil.which(argv[0]) is None:
        pytest.skip(f"not installed: {argv[0]}")
    process = seat.launch(argv)
    try:
        yield process
    finally:
        await anyio.to_thread.run_sync(seat.end, process)


async def test_calculator_computes(a11y: A11y, seat: Seat) -> None:
    async with started(seat, "gnome-calculator") as process:
        tree = await tree_of(a11y, process.pid)
        assert not any("disabled" in find(tree, key, "button").states for key in "0123456789=")
        field = next(node for node in tree.nodes if node.role == "textbox" and "editable" in node.states)
        assert field.key is not None
        for key in "42×17=":
            await a11y.elements.activate(key_of(tree, key, "button"))
        read = await await_(lambda: a11y.elements.probe(field.key or ""), lambda probe: probe.node.value == "714")
        assert read.point is not None


async def test_editor_saves_through_its_menu_and_the_file_dialog(a11y: A11y, seat: Seat, tmp_path: Path) -> None:
    async with started(seat, "mousepad", "--disable-server") as process:
        pid = process.pid
        tree = await tree_of(a11y, pid)
        text = next(node for node in tree.nodes if node.role == "textbox" and "multiline" in node.states)
        assert (await a11y.elements.set_text(text.key or "", "Zoë 世界\nsecond line\n")).verified is True
        await a11y.elements.activate(key_of(tree, "Save As...", "menuitem"))

        def open_dialog(now: Tree) -> bool:
            return any(node.role == "dialog" and node.name == "Save As" for node in now.nodes)

        dialog = await await_(lambda: tree_of(a11y, pid, TreeScope()), open_dialog)
        path = tmp_path / "saved.txt"
        assert (await a11y.elements.set_text(key_of(dialog, "Name:", "textbox"), str(path))).verified is True

        async def ready() -> Tree:
            return await tree_of(a11y, pid, TreeScope())

        usable = await await_(ready, lambda now: "disabled" not in find(now, "Save", "button").states)
        await a11y.elements.activate(key_of(usable, "Save", "button"))
        await await_(_of(path), lambda held: held == "Zoë 世界\nsecond line\n")
        await await_(ready, lambda now: not open_dialog(now))


def _of(path: Path):  # type: ignore[no-untyped-def]
    async def read() -> str | None:
        return path.read_text() if path.exists() else None

    return read


async def test_large_editor_is_read_whole(a11y: A11y, seat: Seat) -> None:
    async with started(seat, "gedit", "--standalone") as process:
        tree = await tree_of(a11y, process.pid)
        tree = await await_(lambda: tree_of(a11y, process.pid), lambda now: len(now.nodes) > 100)
        assert tree.quality == "complete"
        text = next(node for node in tree.nodes if node.role == "textbox" and "multiline" in node.states and node.rect)
        assert (await a11y.elements.set_text(text.key or "", "hello")).verified is True
        assert (await a11y.elements.probe(text.key or "")).node.value == "hello"


PAGE = """<!doctype html><title>Page</title><h1>Head</h1>
<input id=name aria-label=Name><input type=password aria-label=Secret value=hunter2>
<input type=range aria-label=Volume min=0 max=100 value=10>
<select aria-label=Colour><option>Red<option>Green<option>Blue</select>
<button onclick="document.title='Pressed'">Press me</button><button disabled>Off</button>
<div style="position:relative;height:40px"><button style="position:absolute;width:200px;height:40px">Under</button>
<div role=dialog aria-label=Veil style="position:absolute;width:300px;height:40px;background:#ccc">veil</div></div>
<div style="height:3000px"></div><button>Far away</button>"""


@asynccontextmanager
async def browser(seat: Seat, folder: Path, *flags: str) -> AsyncIterator[subprocess.Popen[bytes]]:
    page = folder / "page.html"
    page.write_text(PAGE)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    words = ["--no-first-run", f"--user-data-dir={folder / 'profile'}", "--disable-gpu", "--password-store=basic"]
    async with started(seat, "chromium", *sandbox, *words, *flags, page.as_uri()) as process:
        yield process


async def _browser_pid(a11y: A11y) -> int:
    async def read() -> list[int]:
        return [app.pid for app in await a11y.apps() if app.toolkit == "Chromium" and app.pid is not None]

    found: list[int] = await await_(read, bool, SLOW)
    return found[0]


async def test_page_in_a_browser_is_read_and_driven(a11y: A11y, seat: Seat, tmp_path: Path) -> None:
    async with browser(seat, tmp_path, "--force-renderer-accessibility"):
        pid = await _browser_pid(a11y)

        async def read() -> Tree:
            return await a11y.tree(TreeScope(mode="full", max_nodes=20_000), reach=pid)

        tree = await await_(read, lambda now: any(node.name == "Far away" for node in now.nodes), SLOW)
        assert find(tree, "Name", "textbox").identifier == "name"
        assert find(tree, "Secret", "textbox").secure and "hunter2" not in repr(tree)
        assert "disabled" in find(tree, "Off", "button").states
        colour = key_of(tree, "Colour", "combobox")
        assert (await a11y.elements.probe(colour)).node.value == "Red"
        assert (await a11y.elements.set_text(colour, "Blue")).verified is True
        assert (await a11y.elements.probe(colour)).node.value == "Blue"
        assert (await a11y.elements.set_text(key_of(tree, "Volume", "slider"), "40")).verified is True
        covered = await a11y.elements.probe(key_of(tree, "Under", "button"))
        assert covered.cover == "dialog Veil"
        far = key_of(tree, "Far away", "button")
        assert "offscreen" in (await a11y.elements.probe(far)).node.states
        assert (await a11y.elements.reveal(far)).verified is True
        await a11y.elements.activate(key_of(tree, "Press me", "button"))

        async def titles() -> list[str]:
            return [window.title for window in await a11y.windows.list()]

        await await_(titles, lambda found: any(title.startswith("Pressed") for title in found))


async def test_browser_that_keeps_its_page_to_itself_is_named_with_the_remedy(
    a11y: A11y, seat: Seat, tmp_path: Path
) -> None:
    async with browser(seat, tmp_path, "--disable-renderer-accessibility"):
        pid = await _browser_pid(a11y)

        async def read() -> Tree:
            return await a11y.tree(TreeScope(mode="full", max_nodes=20_000), reach=pid)

        tree = await await_(read, lambda now: any(node.role == "window" for node in now.nodes), SLOW)
        assert any("--force-renderer-accessibility" in reason for reason in tree.omitted), tree.omitted
