"""The same form in GTK 4 and in Qt: what each toolkit says differently comes out the same."""

from __future__ import annotations

import importlib.util
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from anydevice_linux.a11y import A11y
from anydevice_linux.x11 import XPointer
from anydevice_schemas import Node, Point, Tree
from anydevice_schemas.errors import ElementDisabled, InvalidArgument, StaleRef, Unsupported

from .a11y import Program, await_, find, key_of, launched, reading, tree_of
from .desktop import SYSTEM_PYTHON, Seat

pytestmark = pytest.mark.anyio


def _missing(toolkit: str) -> str | None:
    if toolkit == "qt":
        return None if importlib.util.find_spec("PySide6") else "not installed: PySide6"
    asked = subprocess.run(
        [SYSTEM_PYTHON, "-c", "import gi; gi.require_version('Gtk', '4.0')"], capture_output=True, check=False
    )
    return None if asked.returncode == 0 else "not installed: gir1.2-gtk-4.0"


@asynccontextmanager
async def form_of(seat: Seat, toolkit: str, *words: str) -> AsyncIterator[Program]:
    reason = _missing(toolkit)
    if reason is not None:
        pytest.skip(reason)
    async with launched(seat, f"a11y_{toolkit}.py", *words, system=toolkit != "qt") as program:
        yield program


class Hands:
    """A pointer, as the driver lends it."""

    def __init__(self, a11y: A11y) -> None:
        self._pointer = XPointer(a11y.windows.display)  # type: ignore[attr-defined]

    async def click(self, point: Point) -> None:
        await self._pointer.click(point)

    async def front(self, window: object) -> None:
        return None


@pytest.fixture
async def a11y(seat: Seat) -> AsyncIterator[A11y]:
    async with reading(seat) as a11y:
        yield a11y


@pytest.fixture(params=["gtk4", "qt"])
def toolkit(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def form(seat: Seat, toolkit: str) -> AsyncIterator[Program]:
    async with form_of(seat, toolkit, "--rows", "80") as program:
        yield program


async def test_tree_says_the_same_as_of_gtk3(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    assert tree.quality == "complete"
    assert find(tree, "Increment", "button").states >= set()
    assert "disabled" in find(tree, "Off", "button").states
    assert not any("disabled" in find(tree, name, "button").states for name in ("Increment", "Veil", "Row 3"))
    assert find(tree, "Agree", "checkbox").states >= {"unchecked"}
    assert find(tree, "Name", "textbox").value == ""
    secret = find(tree, "Secret", "textbox")
    assert secret.secure and secret.value is None
    assert find(tree, "Volume", "slider").value == "0"
    assert "offscreen" in find(tree, "Row 60", "button").states
    assert "offscreen" not in find(tree, "Row 3", "button").states


async def test_places_are_points_of_the_screen(a11y: A11y, form: Program, seat: Seat) -> None:
    tree = await tree_of(a11y, form.process.pid)
    pointer = XPointer(a11y.windows.display)  # type: ignore[attr-defined]
    increment = find(tree, "Increment", "button")
    assert increment.rect is not None
    rect = increment.rect
    for count, corner in enumerate(
        (Point(rect.x + 3, rect.y + 3), Point(rect.x + rect.width - 3, rect.y + rect.height - 3), rect.center)
    ):
        await pointer.click(corner)
        await form.says(f"count {count + 1}")
    found = await a11y.elements.at(rect.center)
    assert found is not None and found.name == "Increment"


async def test_press_fill_and_numbers(a11y: A11y, form: Program, toolkit: str) -> None:
    tree = await tree_of(a11y, form.process.pid)
    assert (await a11y.elements.activate(key_of(tree, "Increment", "button"))).method == "accessibility"
    await form.says("count 1")
    name = key_of(tree, "Name", "textbox")
    assert (await a11y.elements.set_text(name, "Zoë 世界 🙂")).verified is True
    await form.says("name Zoë 世界 🙂")
    assert (await a11y.elements.probe(name)).node.value == "Zoë 世界 🙂"
    assert (await a11y.elements.set_text(key_of(tree, "Volume", "slider"), "40")).verified is True
    await form.says("volume 40")
    with pytest.raises(InvalidArgument):
        await a11y.elements.set_text(key_of(tree, "Volume", "slider"), "101")
    with pytest.raises(ElementDisabled):
        await a11y.elements.activate(key_of(tree, "Off", "button"))
    if toolkit == "qt":
        assert (await a11y.elements.activate(key_of(tree, "Agree", "checkbox"))).verified is not False
        await form.says("agree True")


async def test_check_box_without_any_action_is_refused_or_pressed_by_the_pointer(a11y: A11y, seat: Seat) -> None:
    async with form_of(seat, "gtk4") as form:
        agree = key_of(await tree_of(a11y, form.process.pid), "Agree", "checkbox")
        with pytest.raises(Unsupported):
            await a11y.elements.activate(agree)
        a11y.hands = Hands(a11y)  # type: ignore[assignment]
        acted = await a11y.elements.activate(agree)
        assert acted.method == "mouse" and acted.verified is not False
        await form.says("agree True")
        assert "checked" in (await a11y.elements.probe(agree)).node.states


async def test_gtk4_list_tells_its_choice_and_says_how_to_make_another(a11y: A11y, seat: Seat) -> None:
    async with form_of(seat, "gtk4") as form:
        tree = await tree_of(a11y, form.process.pid)
        colour = find(tree, "Colour", "combobox")
        assert colour.value == "Red"
        with pytest.raises(Unsupported) as refused:
            await a11y.elements.set_text(colour.key or "", "Blue")
        assert refused.value.hint.startswith("Press it")


async def test_what_is_drawn_over_an_element_is_told(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    probe = await a11y.elements.probe(key_of(tree, "Under", "button"))
    assert probe.cover is not None and probe.cover.endswith("Veil") and not probe.cover_outside
    for free in ("Veil", "Increment", "Row 3"):
        probe = await a11y.elements.probe(key_of(tree, free, "button"))
        assert (probe.cover, probe.point is None) == (None, False), free


async def test_qt_list_is_chosen_from_and_scrolled_and_its_focus_is_told(a11y: A11y, seat: Seat) -> None:
    async with form_of(seat, "qt", "--rows", "80") as form:
        tree = await tree_of(a11y, form.process.pid)
        assert find(tree, "Increment", "button").identifier == "increment"
        colour = next(node for node in tree.nodes if node.role == "combobox")
        assert colour.value == "Red" and colour.key is not None
        assert (await a11y.elements.set_text(colour.key, "Green")).verified is False  # Qt marks it and does not take it
        a11y.hands = Hands(a11y)  # type: ignore[assignment]
        acted = await a11y.elements.set_text(colour.key, "Blue")
        assert (acted.method, acted.verified) == ("mouse", True)
        await form.says("colour Blue")
        row = key_of(tree, "Row 60", "button")
        assert (await a11y.elements.probe(row)).point is None
        assert (await a11y.elements.reveal(row)).verified is True
        assert (await a11y.elements.probe(row)).point is not None
        name = key_of(tree, "Name", "textbox")
        assert (await a11y.elements.focus(name)).verified is True
        focused: Node = await await_(a11y.focused, lambda node: node is not None)
        assert focused.key == name


async def test_qt_dialog_that_runs_its_own_loop_is_seen_and_answered(a11y: A11y, seat: Seat) -> None:
    async with form_of(seat, "qt") as form:
        tree = await tree_of(a11y, form.process.pid)
        await a11y.elements.activate(key_of(tree, "Ask", "button"))
        dialog = await await_(a11y.alerts.get, lambda found: found is not None)
        assert dialog.text == "Really?" and {"Yes", "No"} <= {name.replace("&", "") for name in dialog.buttons}
        name = key_of(tree, "Name", "textbox")
        probe = await await_(lambda: a11y.elements.probe(name), lambda probe: probe.cover is not None)
        assert not probe.cover_outside
        await a11y.alerts.accept()
        await form.says("answer True")


async def test_key_of_an_app_that_ended_is_stale(a11y: A11y, form: Program) -> None:
    key = key_of(await tree_of(a11y, form.process.pid), "Increment", "button")
    form.process.kill()
    await anyio.to_thread.run_sync(form.process.wait)
    with pytest.raises(StaleRef):
        await await_(lambda: a11y.elements.probe(key), lambda _: False, 3.0)


def _seen(tree: Tree) -> list[tuple[object, ...]]:
    return [(node.key, node.role, node.name, node.value, node.states - {"focused"}, node.parent) for node in tree.nodes]


async def test_mirror_of_a_qt_program_under_churn_is_what_a_whole_walk_says(a11y: A11y, seat: Seat) -> None:
    async with form_of(seat, "qt", "--churn") as form:
        pid = form.process.pid
        tree = await tree_of(a11y, pid)
        for turn in range(1, 4):
            await a11y.elements.activate(key_of(tree, "Churn", "button"))
            while form.look().count("churned") < turn:
                await tree_of(a11y, pid)
                await anyio.sleep(0.01)
            await anyio.sleep(0.2)  # layouts come to rest a moment after the last change
            app = await a11y.app_of(pid)
            assert app is not None and app.mirror is not None and app.mirror.believed()
            kept = await tree_of(a11y, pid)
            async with reading(seat) as fresh:
                walked = await tree_of(fresh, pid)
            assert _seen(kept) == _seen(walked)


async def test_qt_program_that_was_seen_is_read_without_walking_it_again(a11y: A11y, seat: Seat) -> None:
    async with form_of(seat, "qt", "--rows", "400") as form:
        first = await tree_of(a11y, form.process.pid)
        app = await a11y.app_of(form.process.pid)
        assert app is not None and app.mirror is not None
        walked = app.mirror.shape
        await a11y.elements.activate(key_of(first, "Increment", "button"))
        await form.says("count 1")
        again = await await_(
            lambda: tree_of(a11y, form.process.pid), lambda tree: any(node.name == "Count: 1" for node in tree.nodes)
        )
        assert app.mirror.shape is walked and len(again.nodes) == len(first.nodes)
