"""The same form in GTK 4 and in Qt: what each toolkit says differently comes out the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
import pytest

from anydevice_linux.a11y import A11y
from anydevice_linux.x11 import XPointer
from anydevice_schemas import Node, Point
from anydevice_schemas.errors import ElementDisabled, InvalidArgument, StaleRef, Unsupported

from .a11y import Program, await_, find, form_of, key_of, reading, tree_of
from .desktop import Seat

pytestmark = pytest.mark.anyio


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


@pytest.fixture(params=["gtk4", "qt5", "qt6"])
def toolkit(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["qt5", "qt6"])
def qt(request: pytest.FixtureRequest) -> str:
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
    if toolkit != "gtk4":
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
        tree = await await_(
            lambda: tree_of(a11y, form.process.pid), lambda tree: find(tree, "Colour", "combobox").value is not None
        )
        colour = find(tree, "Colour", "combobox")
        assert colour.value == "Red"
        with pytest.raises(Unsupported) as refused:
            await a11y.elements.set_text(colour.key or "", "Blue")
        assert refused.value.hint.startswith("Press it")


async def test_gtk4_list_is_opened_and_chosen_from_where_a_pointer_is_lent(a11y: A11y, seat: Seat) -> None:
    async with form_of(seat, "gtk4") as form:
        colour = key_of(await tree_of(a11y, form.process.pid), "Colour", "combobox")
        a11y.hands = Hands(a11y)  # type: ignore[assignment]
        for label in ("Blue", "Green"):
            acted = await a11y.elements.set_text(colour, label)
            assert (acted.method, acted.verified) == ("mouse", True)
            await form.says(f"colour {label}")
        with pytest.raises(InvalidArgument) as refused:
            await a11y.elements.set_text(colour, "Mauve")
        assert refused.value.details["options"] == ["Red", "Green", "Blue"]
        await await_(
            lambda: tree_of(a11y, form.process.pid), lambda tree: not [n for n in tree.nodes if n.name == "Red"]
        )
        assert find(await tree_of(a11y, form.process.pid), "Colour", "combobox").value == "Green"


async def test_gtk4_menus_and_popovers_are_told_where_they_are_drawn(a11y: A11y, seat: Seat) -> None:
    async with form_of(seat, "gtk4", "--menus") as form:
        pid, pointer = form.process.pid, XPointer(a11y.windows.display)  # type: ignore[attr-defined]

        async def opened(button: str, inside: str, role: str) -> Node:
            """Presses a button and returns what is then inside of what opens, once it has come to rest."""

            tree = await tree_of(a11y, pid)
            outer = [node.key for node in tree.nodes if (node.name, node.role) == (button, "button")]
            await a11y.elements.activate(outer[-1] or "")
            places: list[object] = []

            async def look() -> Node | None:
                now = [n for n in (await tree_of(a11y, pid)).nodes if (n.name, n.role) == (inside, role)]
                shown = (
                    now[0] if now and now[0].rect is not None and not now[0].states & {"hidden", "offscreen"} else None
                )
                places.append(shown and shown.rect)
                return shown if len(places) > 1 and places[-1] == places[-2] else None

            found: Node = await await_(look, lambda node: node is not None)
            return found

        for button, inside, role, said in (
            ("Edit", "Cut", "menuitem", "menu cut"),
            ("Edit", "Paste", "menuitem", "menu paste"),
            ("Open", "Inside", "button", "inside"),
        ):
            node = await opened(button, inside, role)
            assert node.key is not None
            probe = await a11y.elements.probe(node.key)
            assert probe.cover is None and probe.point is not None and probe.node.rect == node.rect
            at = await a11y.elements.at(probe.point)
            assert at is not None and at.name == inside
            below = await a11y.elements.probe(key_of(await tree_of(a11y, pid), "Below", "button"), at=probe.point)
            assert below.cover is not None and below.cover_outside
            count = form.look().count(said)
            await pointer.click(probe.point)
            await await_(form_said(form), lambda lines, said=said, count=count: lines.count(said) == count + 1)
            if button == "Open":
                await pointer.click(Point(probe.point.x + 200, probe.point.y + 250))  # closes it
            await await_(
                lambda: tree_of(a11y, pid), lambda tree, inside=inside: inside not in {n.name for n in tree.nodes}
            )


async def test_what_is_drawn_over_an_element_is_told(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    probe = await a11y.elements.probe(key_of(tree, "Under", "button"))
    assert probe.cover is not None and probe.cover.endswith("Veil") and not probe.cover_outside
    for free in ("Veil", "Increment", "Row 3"):
        probe = await a11y.elements.probe(key_of(tree, free, "button"))
        assert (probe.cover, probe.point is None) == (None, False), free


async def test_qt_list_is_chosen_from_and_scrolled_and_its_focus_is_told(a11y: A11y, seat: Seat, qt: str) -> None:
    async with form_of(seat, qt, "--rows", "80") as form:
        tree = await tree_of(a11y, form.process.pid)
        assert find(tree, "Increment", "button").identifier == ("increment" if qt == "qt6" else "")  # Qt 5 tells none
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


async def test_qt_dialog_that_runs_its_own_loop_is_seen_and_answered(a11y: A11y, seat: Seat, qt: str) -> None:
    async with form_of(seat, qt) as form:
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


def form_said(form: Program) -> Callable[[], Awaitable[list[str]]]:
    """What a program has said, to be waited for."""

    async def said() -> list[str]:
        return list(form.look())

    return said
