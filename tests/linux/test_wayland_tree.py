"""Where elements are in a Wayland session: the program that is pressed there, and the compositor, are the judges."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from anydevice_linux.driver import LinuxDriver
from anydevice_schemas import Rect
from anydevice_schemas.errors import DialogOpen

from .a11y import PATIENCE, eventually, launched
from .desktop import SYSTEM_PYTHON, Seat
from .session import ask, views
from .wayland import FULL, driving, press, settled, shows

pytestmark = pytest.mark.anyio
TOOLKITS = {
    "gtk3": ("a11y_gtk3.py", True, None),
    "gtk4": ("a11y_gtk4.py", True, None),
    "qt5": ("a11y_qt.py", True, "import PyQt5.QtWidgets"),
    "qt6": ("a11y_qt.py", False, "import PySide6.QtWidgets"),
}
"""Program, whether the system's Python runs it, and what that Python needs."""
TAKEN = 0.6
"""Seconds after which GTK 3 no longer takes a press in a menu for the end of the one that opened it."""


@pytest.fixture(scope="module")
async def driver(wayland: Seat, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxDriver]:
    async with driving(wayland, tmp_path_factory.mktemp("driver")) as made:
        await made.screen.geometry()  # from now on the session has a mouse and a keyboard
        yield made


def able(toolkit: str) -> None:
    """Skips where the toolkit, or its way to Wayland, is not installed."""
    _, system, needs = TOOLKITS[toolkit]
    python = SYSTEM_PYTHON if system else sys.executable
    if needs is not None and subprocess.run([python, "-c", needs], capture_output=True, check=False).returncode:
        pytest.skip(f"not installed: {toolkit}")
    if toolkit == "qt5" and not list(Path("/usr/lib").glob("*/qt5/plugins/platforms/libqwayland*")):
        pytest.skip("not installed: qtwayland5")


def client_of(seat: Seat, pid: int) -> Rect:
    """Where the compositor has the content of a program's only window; nowhere before it shows."""
    view = next((view for view in views(seat) if view["pid"] == pid), None)
    if view is None:
        return Rect(0, 0, 0, 0)
    rect, inner = view["rect"], view["window_rect"]
    return Rect(rect["x"] + inner["x"], rect["y"] + inner["y"], inner["width"], inner["height"])


@pytest.mark.parametrize("toolkit", list(TOOLKITS))
async def test_elements_are_where_the_compositor_has_their_window(
    driver: LinuxDriver, wayland: Seat, toolkit: str
) -> None:
    able(toolkit)
    program, system, _ = TOOLKITS[toolkit]
    async with launched(wayland, program, system=system) as started:
        await press(driver, "Increment", "button")
        await started.says("count 1")
        ask(wayland, f"[pid={started.process.pid}] move absolute position 37 px 41 px")
        await eventually(lambda: client_of(wayland, started.process.pid).x < 60, "it did not move")
        await press(driver, "Increment", "button")
        await started.says("count 2")
        client = client_of(wayland, started.process.pid)
        tree = await driver.screen.tree(FULL)
        placed = [node for node in tree.nodes if node.rect is not None and node.role not in ("window", "application")]
        assert len(placed) > 8
        assert all(client.x <= node.rect.x and client.y <= node.rect.y for node in placed if node.rect is not None), [
            node for node in placed if node.rect is not None and node.rect.x < client.x
        ]
        button = await settled(driver, "Increment", "button")
        assert button.rect is not None
        found = await driver.elements.at(button.rect.center)
        assert found is not None and found.name == "Increment"


async def test_two_windows_of_a_program_are_told_apart(driver: LinuxDriver, wayland: Seat) -> None:
    async with (
        launched(wayland, "a11y_gtk3.py", "--title", "Left") as left,
        launched(wayland, "a11y_gtk3.py", "--title", "Right") as right,
    ):
        for program in (left, right):
            await eventually(lambda program=program: client_of(wayland, program.process.pid).width, "no window")  # type: ignore[misc]
        ask(wayland, f"[pid={left.process.pid}] move absolute position 0 px 0 px")
        ask(wayland, f"[pid={right.process.pid}] move absolute position 600 px 150 px")
        await eventually(lambda: client_of(wayland, right.process.pid).x > 590, "it did not move")
        ask(wayland, f"[pid={right.process.pid}] focus")
        await press(driver, "Increment", "button")
        await right.says("count 1")
        ask(wayland, f"[pid={left.process.pid}] focus")
        await eventually(lambda: any(v["focused"] and v["name"] == "Left" for v in views(wayland)), "no focus")
        await press(driver, "Increment", "button")
        await left.says("count 1")
        assert "count 2" not in right.look()


async def test_menus_and_lists_that_are_open_are_pressed_where_they_show(driver: LinuxDriver, wayland: Seat) -> None:
    async with launched(wayland, "a11y_gtk3.py") as started:
        await press(driver, "File", "menuitem")
        await shows(driver, "Save", "menuitem")
        await anyio.sleep(TAKEN)
        await press(driver, "Save", "menuitem")
        await started.says("menu Save")
        await press(driver, "Colour", "combobox")
        await shows(driver, "Green", "option")
        await anyio.sleep(TAKEN)
        await press(driver, "Green", "option")
        await started.says("colour Green")


async def test_lists_of_qt_are_pressed_where_they_show(driver: LinuxDriver, wayland: Seat) -> None:
    able("qt6")
    async with launched(wayland, "a11y_qt.py", system=False) as started:
        await press(driver, "Red", "combobox")
        await press(driver, "Blue", "option")
        await started.says("colour Blue")


async def test_a_dialog_is_told_and_its_buttons_are_pressed(driver: LinuxDriver, wayland: Seat) -> None:
    async with launched(wayland, "a11y_gtk3.py") as started:
        await press(driver, "Ask", "button")

        def up() -> bool:
            return len([view for view in views(wayland) if view["pid"] == started.process.pid]) == 2

        await eventually(up, "no dialog")
        with anyio.fail_after(PATIENCE), pytest.raises(DialogOpen) as caught:
            while True:
                await driver.screen.tree(FULL)
                await anyio.sleep(0.05)
        assert caught.value.details["buttons"]
        await driver.alerts.accept()
        await eventually(lambda: not up(), "the dialog stayed")
        await press(driver, "Increment", "button")
        await started.says("count 1")


async def test_a_program_that_draws_its_own_shadow_is_pressed_where_it_shows(
    driver: LinuxDriver, wayland: Seat, tmp_path: Path
) -> None:
    if shutil.which("gedit") is None:
        pytest.skip("not installed: gedit")
    process = wayland.launch(["gedit", "--standalone"])
    try:
        await eventually(lambda: any(view["app_id"] == "gedit" for view in views(wayland)), "no gedit")
        (view,) = [view for view in views(wayland) if view["app_id"] == "gedit"]
        tree = await settled(driver, "Save", "button")
        assert tree.rect is not None
        bar = await shows(driver, "Open", "button")
        assert bar.rect is not None
        client = client_of(wayland, view["pid"])
        # Its title bar is its own: its buttons begin within a few points of the window's corner, not of the shadow's.
        assert 0 <= bar.rect.x - client.x <= 20 and 0 <= bar.rect.y - client.y <= 20
        assert tree.rect.x + tree.rect.width <= client.x + client.width
        await driver.keys.type_text("Grüße aus der Sitzung")
        await press(driver, "Save", "button")
        await eventually(lambda: len([v for v in views(wayland) if v["app_id"] == "gedit"]) == 2, "no dialog")
        saved = tmp_path / "told.txt"
        await driver.keys.type_text(str(saved))
        await driver.keys.press("enter")
        wanted = "Grüße aus der Sitzung\n"
        await eventually(lambda: saved.exists() and saved.read_text("utf-8") == wanted, "it was not saved")
        # Where the menu of the text is, nobody tells: it is read, and not placed.
        await driver.pointer.click(client.center, button="secondary")
        item = await shows(driver, "Select All", "menuitem")
        assert item.rect is None and item.key is not None
        assert (await driver.elements.probe(item.key)).point is None
        await driver.keys.press("escape")
    finally:
        await anyio.to_thread.run_sync(wayland.end, process)


PAGE = """<title>Ready</title><body style="margin:40px"><button onclick="document.title='Pressed'">Here</button>
<input aria-label="Name" oninput="document.title='Name '+this.value">"""


async def test_a_browser_is_pressed_and_typed_into(driver: LinuxDriver, wayland: Seat, tmp_path: Path) -> None:
    browser = next((name for name in ("chromium", "chromium-browser") if shutil.which(name)), None)
    if browser is None:
        pytest.skip("not installed: chromium")
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    process = wayland.launch(
        [browser, "--no-sandbox", "--ozone-platform=wayland", "--force-renderer-accessibility", "--no-first-run",
         f"--user-data-dir={tmp_path}/profile", "--disable-gpu", "--password-store=basic", page.as_uri()]
    )  # fmt: skip

    def title(word: str) -> bool:
        return any(str(view["name"]).startswith(word) for view in views(wayland))

    try:
        await eventually(lambda: title("Ready"), "no browser", 2 * PATIENCE)
        button = await settled(driver, "Here", "button")
        (view,) = [view for view in views(wayland) if str(view["name"]).startswith("Ready")]
        client = client_of(wayland, view["pid"])
        assert button.rect is not None and button.rect.x - client.x == 40  # as the page says, shadow or not
        await press(driver, "Here", "button")
        await eventually(lambda: title("Pressed"), "it was not pressed")
        await press(driver, "Name", "textbox")
        await driver.keys.type_text("Zoë 世界 ~")
        await eventually(lambda: title("Name Zoë 世界 ~"), "it was not typed")
    finally:
        await anyio.to_thread.run_sync(wayland.end, process)


async def test_fields_are_filled_and_read_back(driver: LinuxDriver, wayland: Seat) -> None:
    async with launched(wayland, "a11y_gtk3.py") as started:
        await press(driver, "Name", "textbox")
        await driver.keys.type_text("Zoë 🙂")
        await started.says("name Zoë 🙂")
        field = await shows(driver, "Name", "textbox")
        assert field.value == "Zoë 🙂" and field.key is not None
        assert (await driver.elements.set_text(field.key, "两")).verified
        await started.says("name 两")
        focused = await driver.keys.focused()
        assert focused is not None and focused.name == "Name"
