"""Programs nobody here wrote, driven through our commands; judged by their files and windows, not by our answers."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

import anydevice_linux
from anydevice.driver import HostServices
from anydevice.router import Router
from anydevice.testing import call, fake_router
from anydevice_linux.backend import LinuxBackend
from anydevice_linux.x11 import Window, Windows, XDisplay
from anydevice_schemas import Answer, Manifest

from .desktop import missing

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(missing() is not None, reason=missing() or "")]


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"not installed: {program}")


class Seated:
    """A virtual desktop behind a router."""

    def __init__(self, router: Router, backend: LinuxBackend) -> None:
        self.router, self.backend = router, backend

    async def do(self, command: str, *, expect: str = "ok", **arguments: Any) -> Answer:
        answer = await self.router.call(call(command, device="virtual", **arguments))
        said = "ok" if answer.ok or answer.error is None else answer.error.code
        assert said == expect, (command, arguments, answer.error)
        return answer

    async def windows(self) -> list[Window]:
        """What X itself says."""
        desktop = self.backend.desktop("virtual")
        assert desktop is not None
        seat = desktop.running()
        display = await XDisplay.open(seat.display, seat.xauthority)
        try:
            return await Windows(display).list()
        finally:
            await display.aclose()

    async def shown(self, title: str) -> bool:
        with anyio.move_on_after(5):
            while not any(window.title.startswith(title) for window in await self.windows()):
                await anyio.sleep(0.05)
            return True
        return False

    async def gone(self, title: str) -> bool:
        with anyio.move_on_after(5):
            while any(title in window.title for window in await self.windows()):
                await anyio.sleep(0.05)
            return True
        return False


@pytest.fixture
async def seated(tmp_path: Path) -> AsyncIterator[Seated]:
    manifest = Manifest.from_toml((Path(anydevice_linux.__file__).parent / "backend.toml").read_text("utf-8"))
    backend = LinuxBackend(HostServices(str(tmp_path / "data"), str(tmp_path / "run")))
    async with fake_router() as (router, _):
        router.services.backends.add(manifest, backend)
        made = Seated(router, backend)
        await made.do("boot")
        yield made
        await made.do("shutdown")
    await backend.aclose()


async def written(path: Path) -> str:
    with anyio.move_on_after(5):
        while not path.exists() or not path.read_text("utf-8"):
            await anyio.sleep(0.05)
    return path.read_text("utf-8") if path.exists() else "(no file)"


@needs("gnome-calculator")
async def test_the_calculator_computes(seated: Seated) -> None:
    await seated.do("open", app="gnome-calculator")
    for key in ("7", "×", "8", "="):
        await seated.do("press", target=f'label="{key}" role=button')
    answer = await seated.do("find", query="label=56", timeoutMs=5000)
    assert answer.data["count"] >= 1
    await seated.do("close")
    assert await seated.gone("Calculator")


@needs("mousepad")
async def test_a_text_is_typed_and_saved_by_menu_and_file_dialog(seated: Seated, tmp_path: Path) -> None:
    path = tmp_path / "saved.txt"
    await seated.do("open", app="mousepad")
    await seated.do("type", text="Grüße 世界 🙂\nline two\n")
    await seated.do("press", target="label=File role=menuitem")
    await seated.do("press", target='label="Save As..." role=menuitem')
    await seated.do("wait", target='label="Name:" role=textbox', timeoutMs=5000)
    await seated.do("fill", target='label="Name:" role=textbox', text=str(path))
    await seated.do("wait", target="label=Save role=button enabled=true", timeoutMs=5000)
    await seated.do("press", target="label=Save role=button")
    assert await written(path) == "Grüße 世界 🙂\nline two\n"
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
    await seated.do("wait", target='label="Name:" role=textbox focused=true', timeoutMs=5000)
    await seated.do("key", chord="ctrl+a")
    await seated.do("type", text=str(path))
    await seated.do("wait", target="label=Save role=button enabled=true", timeoutMs=5000)
    await seated.do("key", chord="enter")
    assert await written(path) == "by keys"


@needs("mousepad")
async def test_unsaved_work_is_asked_for_and_can_be_kept(seated: Seated) -> None:
    await seated.do("open", app="mousepad")
    await seated.do("type", text="not saved")
    answer = await seated.do("close", expect="dialog_open")
    assert answer.error is not None and len(answer.error.details["buttons"]) >= 2
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
    await seated.do("wait", target="role=dialog", timeoutMs=5000)
    await seated.do("snapshot")
    await seated.do("key", chord="ctrl+a")
    await seated.do("type", text="apple")
    await seated.do("key", chord="tab")
    await seated.do("type", text="plum")
    await seated.do("press", target='label="Replace All" role=button')
    await seated.do("key", chord="escape")
    await seated.do("key", chord="ctrl+s")
    with anyio.move_on_after(5):
        while path.read_text() != "plum pear plum\n":
            await anyio.sleep(0.05)
    assert path.read_text() == "plum pear plum\n"


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
    await seated.do("press", target='label="Press here" role=button', timeoutMs=8000)
    assert await seated.shown("Pressed")
    await seated.do("fill", target='label="Your name"', text="Grüße 🙂")
    assert await seated.shown("Name: Grüße 🙂")
    await seated.do("press", target='label="Reload" role=button')
    assert await seated.shown("Hello page")
    await seated.do("close")
    assert await seated.gone("Chromium")
