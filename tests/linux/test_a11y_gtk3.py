"""Reading and driving a GTK 3 program; the program itself says what happened to it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest
from Xlib import Xatom, display

from anydevice.driver import Probe, TreeScope
from anydevice_linux.a11y import A11y
from anydevice_linux.x11 import Window, XPointer
from anydevice_linux.x11.arranging import Arranging
from anydevice_schemas import Point, Tree
from anydevice_schemas.errors import (
    AppCrashed,
    CallTimeout,
    ElementDisabled,
    ElementNotFound,
    InvalidArgument,
    OutcomeUnknown,
    StaleRef,
)
from anydevice_schemas.tree import tree_faults

from .a11y import FULL, Program, await_, find, key_of, reading, running, tree_of
from .desktop import Seat, missing, running_desktop

pytestmark = pytest.mark.anyio


@pytest.fixture
async def a11y(seat: Seat) -> AsyncIterator[A11y]:
    async with reading(seat) as a11y:
        yield a11y


@pytest.fixture
async def form(seat: Seat) -> AsyncIterator[Program]:
    async with running(seat, "a11y_gtk3.py") as program:
        yield program


async def test_tree_tells_roles_names_values_states_and_places(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    assert tree.quality == "complete"
    assert [node.role for node in tree.nodes[:2]] == ["application", "window"]
    assert find(tree, "Increment").role == "button"
    assert "disabled" in find(tree, "Off").states
    assert find(tree, "Agree").states >= {"unchecked"}
    assert find(tree, "Fixed").value == "as it is"
    assert "readonly" in find(tree, "Fixed").states
    assert find(tree, "Name").identifier == "name-field"
    assert find(tree, "Volume").value == "0"
    assert find(tree, "Colour").value == "Red"
    assert "multiline" in find(tree, "Notes").states
    window = tree.nodes[1].rect
    for name in ("Increment", "Name", "Notes", "Agree"):
        rect = find(tree, name).rect
        assert rect is not None and window is not None and window.intersect(rect) == rect
    assert {node.window for node in tree.nodes[1:]} == {"Fixture"}


async def test_what_a_secure_field_holds_is_never_read(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    secret = find(tree, "Secret")
    assert secret.secure and secret.value is None
    assert secret.key is not None
    assert (await a11y.elements.probe(secret.key)).node.value is None
    acted = await a11y.elements.set_text(secret.key, "swordfish")
    assert acted.verified is not False
    await form.says("secret swordfish")
    assert "swordfish" not in repr(await tree_of(a11y, form.process.pid))


async def test_closed_menus_and_other_pages_are_hidden_and_not_in_the_viewport(a11y: A11y, form: Program) -> None:
    full = await tree_of(a11y, form.process.pid)
    assert "hidden" in find(full, "Save").states
    assert "hidden" in find(full, "Second button").states
    assert "hidden" not in find(full, "First button").states
    menu = [node.name for node in full.nodes if node.name in ("New", "Save")]
    assert menu == ["New", "Save"]  # in the order of the menu, though it was never open
    seen = await tree_of(a11y, form.process.pid, TreeScope())
    assert not {"Save", "Second button", "Green"} & {node.name for node in seen.nodes}
    acting = await tree_of(a11y, form.process.pid, TreeScope(mode="interactive"))
    names = {node.name for node in acting.nodes}
    assert {"Increment", "Name"} <= names and not names & {"Save", "Second button", "Count: 0"}


async def test_a_part_of_the_tree_can_be_read_alone(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    part = await a11y.tree(TreeScope(mode="full", root=key_of(tree, "File")))
    assert [node.name for node in part.nodes] == ["File", "New", "Save"]
    assert part.nodes[0].parent == -1


async def test_caps_are_counted(a11y: A11y, form: Program) -> None:
    await a11y.elements.set_text(key_of(await tree_of(a11y, form.process.pid), "Notes"), "x" * 2000)
    tree = await tree_of(a11y, form.process.pid, TreeScope(mode="full", max_nodes=10, max_text=100))
    assert len(tree.nodes) == 10 and tree.quality == "truncated"
    assert tree.omitted["nodes"] > 20 and tree.omitted["text"] == 1
    flat = await tree_of(a11y, form.process.pid, TreeScope(mode="full", max_depth=3))
    assert flat.omitted["depth"] > 10


async def test_press_is_done_by_the_named_action(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    acted = await a11y.elements.activate(key_of(tree, "Increment"))
    assert acted.method == "accessibility"
    await form.says("count 1")
    await await_(lambda: tree_of(a11y, form.process.pid), lambda now: any(n.name == "Count: 1" for n in now.nodes))
    await a11y.elements.activate(key_of(tree, "Save"))  # in a menu that is closed
    await form.says("menu Save")


async def test_toggle_that_does_not_change_is_told(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    agree = key_of(tree, "Agree")
    assert (await a11y.elements.activate(agree)).verified is not False
    assert "checked" in (await a11y.elements.probe(agree)).node.states
    assert (await a11y.elements.activate(key_of(tree, "Stubborn"))).verified is False


async def test_tab_is_pressed_by_selecting_it(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    second = key_of(tree, "Second", "tab")
    await a11y.elements.activate(second)
    assert "selected" in (await a11y.elements.probe(second)).node.states
    assert "hidden" not in find(await tree_of(a11y, form.process.pid), "Second button").states


async def test_press_on_a_field_gives_it_the_focus_and_sends_nothing(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    acted = await a11y.elements.activate(key_of(tree, "Name"))
    assert acted.verified is True
    focused = await await_(a11y.focused, lambda node: node is not None)
    assert focused.name == "Name" and focused.key == key_of(tree, "Name")


async def test_disabled_element_is_refused_and_nothing_is_done(a11y: A11y, form: Program) -> None:
    off = key_of(await tree_of(a11y, form.process.pid), "Off")
    assert "disabled" in (await a11y.elements.probe(off)).node.states
    with pytest.raises(ElementDisabled):
        await a11y.elements.activate(off)


@pytest.mark.parametrize("text", ["Ada", "", "Zoë ß€ 世界 🙂", "x" * 5000])
async def test_field_takes_any_text_and_is_read_back(a11y: A11y, form: Program, text: str) -> None:
    name = key_of(await tree_of(a11y, form.process.pid), "Name")
    await a11y.elements.set_text(name, "before")
    acted = await a11y.elements.set_text(name, text)
    assert (acted.method, acted.verified) == ("set-text", True)
    assert (await a11y.elements.probe(name)).node.value == text
    await form.says(f"name {text}")


async def test_text_of_several_lines_is_kept(a11y: A11y, form: Program) -> None:
    notes = key_of(await tree_of(a11y, form.process.pid), "Notes")
    assert (await a11y.elements.set_text(notes, "one\ntwo\n")).verified is True
    assert (await a11y.elements.probe(notes)).node.value == "one\ntwo\n"


async def test_numbers_are_set_as_numbers_and_bounds_are_told(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    assert (await a11y.elements.set_text(key_of(tree, "Volume"), "40")).verified is True
    await form.says("volume 40")
    assert (await a11y.elements.set_text(key_of(tree, "Amount"), "7")).verified is True
    await form.says("amount 7")
    for wrong in ("101", "much"):
        with pytest.raises(InvalidArgument) as refused:
            await a11y.elements.set_text(key_of(tree, "Volume"), wrong)
        assert refused.value.hint == "Give a number from 0 to 100."


async def test_option_of_a_list_is_chosen_by_its_label(a11y: A11y, form: Program) -> None:
    colour = key_of(await tree_of(a11y, form.process.pid), "Colour")
    assert (await a11y.elements.set_text(colour, "Blue")).verified is True
    await form.says("colour Blue")
    assert (await a11y.elements.probe(colour)).node.value == "Blue"
    with pytest.raises(InvalidArgument) as refused:
        await a11y.elements.set_text(colour, "Mauve")
    assert refused.value.details["options"] == ["Red", "Green", "Blue"]


async def test_what_takes_no_text_or_is_read_only_is_refused(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    with pytest.raises(InvalidArgument):
        await a11y.elements.set_text(key_of(tree, "Increment"), "x")
    with pytest.raises(ElementDisabled):
        await a11y.elements.set_text(key_of(tree, "Fixed"), "x")


async def test_probe_names_what_is_drawn_over_an_element(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    probe = await a11y.elements.probe(key_of(tree, "Under"))
    assert probe.cover == "button Veil" and probe.cover_key == key_of(tree, "Veil") and not probe.cover_outside
    for free in ("Veil", "Increment", "Name", "Agree", "First button", "Notes", "Colour"):
        probe = await a11y.elements.probe(key_of(tree, free))
        assert (probe.cover, probe.point is None) == (None, False), free


async def test_modal_dialog_covers_its_whole_app_and_is_answered(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    assert await a11y.alerts.get() is None
    await a11y.elements.activate(key_of(tree, "Ask"))
    dialog = await await_(a11y.alerts.get, lambda found: found is not None)
    assert (dialog.kind, dialog.buttons) == ("alert", ["Cancel", "OK"])
    assert "Really?" in dialog.text and "It cannot be undone." in dialog.text
    probe = await a11y.elements.probe(key_of(tree, "Increment"))
    assert probe.cover is not None and probe.cover.startswith("alertdialog") and not probe.cover_outside
    now = await tree_of(a11y, form.process.pid)
    assert not find(now, "Increment").hittable and find(now, "OK").hittable
    assert (await a11y.alerts.accept()).verified is True
    await form.says("answer True")
    await a11y.elements.activate(key_of(tree, "Ask"))
    await await_(a11y.alerts.get, lambda found: found is not None)
    assert (await a11y.alerts.dismiss()).data["button"] == "Cancel"
    await form.says("answer False")
    with pytest.raises(ElementNotFound):
        await a11y.alerts.accept()


async def test_app_that_runs_a_dialog_inside_an_action_can_still_be_read(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    acted = await a11y.elements.activate(key_of(tree, "Confirm"))
    assert acted.method == "accessibility"
    dialog = await await_(a11y.alerts.get, lambda found: found is not None)
    assert dialog.text == "Sure?"
    now = await tree_of(a11y, form.process.pid)
    assert now.quality == "complete" and find(now, "OK", "button").hittable
    await a11y.alerts.accept()
    await form.says("confirmed True")
    await a11y.elements.activate(key_of(tree, "Increment"))
    await form.says("count 1")


async def test_another_window_over_an_element_is_a_cover_outside(a11y: A11y, form: Program, seat: Seat) -> None:
    tree = await tree_of(a11y, form.process.pid)
    increment = find(tree, "Increment")
    async with running(
        seat, "a11y_gtk3.py", "--title", "Above", "--bare", "--deep", "2", "--at", "300", "100"
    ) as other:
        await tree_of(a11y, other.process.pid)
        found = await a11y.windows.list()
        above = next(window for window in found if window.title == "Above")
        assert increment.rect is not None and above.frame.contains(increment.rect.center)

        async def probe() -> str | None:
            seen = await a11y.elements.probe(increment.key or "")
            assert seen.cover is None or seen.cover_outside
            return seen.cover

        assert await await_(probe, lambda cover: cover is not None) == "window Above"
        assert (await a11y.elements.activate(increment.key or "")).method == "accessibility"
        await form.says("count 1")


async def test_popover_lies_over_its_window_and_nothing_of_the_window_over_it(a11y: A11y, seat: Seat) -> None:
    async with running(seat, "a11y_gtk3.py", "--bare", "--popover") as form:
        pid = form.process.pid
        await a11y.elements.activate(key_of(await tree_of(a11y, pid), "Open"))
        inside = await await_(
            lambda: tree_of(a11y, pid),
            lambda tree: any(n.name == "Inside" and "hidden" not in n.states for n in tree.nodes),
        )
        key = key_of(inside, "Inside")

        async def probe() -> Probe:
            return await a11y.elements.probe(key)

        seen = await await_(probe, lambda seen: seen.point is not None)
        assert seen.cover is None
        below = await a11y.elements.probe(key_of(inside, "Below"))
        assert below.cover is not None and not below.cover_outside
        await a11y.elements.activate(key)
        await form.says("inside")


async def test_element_at_a_point_is_the_inmost_one(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    for name in ("Increment", "Name", "Agree", "Second", "Veil"):
        node = find(tree, name)
        assert node.rect is not None
        found = await a11y.elements.at(node.rect.center)
        assert found is not None and found.key == node.key, name
    assert await a11y.elements.at(Point(1270, 790)) is None


async def test_element_scrolled_away_is_off_screen_until_it_is_revealed(a11y: A11y, seat: Seat) -> None:
    async with running(seat, "a11y_gtk3.py", "--bare", "--rows", "400") as program:
        tree = await tree_of(a11y, program.process.pid)
        for name in ("Row 390", "Row 200", "Row 2"):
            key = key_of(tree, name)
            probe = await a11y.elements.probe(key)
            assert ("offscreen" in probe.node.states and probe.point is None) or name == "Row 2"
            acted = await a11y.elements.reveal(key)
            assert acted.verified is True
            probe = await a11y.elements.probe(key)
            assert probe.point is not None and "offscreen" not in probe.node.states
            at = await a11y.elements.at(probe.point)
            assert at is not None and at.name == name


async def test_key_of_an_element_that_is_gone_or_was_replaced_is_stale(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    doomed = key_of(tree, "Doomed")
    await a11y.elements.activate(key_of(tree, "Replace"))
    await form.says("replaced")
    for call in (a11y.elements.probe, a11y.elements.activate, a11y.elements.focus, a11y.elements.reveal):
        with pytest.raises(StaleRef) as refused:
            await call(doomed)
        assert refused.value.details["reason"] == "gone"
    with pytest.raises(StaleRef):
        await a11y.elements.set_text(doomed, "x")
    with pytest.raises(StaleRef):
        await a11y.tree(TreeScope(root=doomed))
    again = key_of(await tree_of(a11y, form.process.pid), "Doomed")
    assert again != doomed


async def test_keys_that_were_never_given_out_are_stale(a11y: A11y, form: Program) -> None:
    for key in ("", "x", ":1.99999/org/a11y/atspi/accessible/3#43", ":1.5/org/x", "no/slash#x"):
        with pytest.raises(StaleRef):
            await a11y.elements.probe(key)


async def test_frozen_app_costs_its_own_deadline_and_is_named(a11y: A11y, form: Program, seat: Seat) -> None:
    async with running(seat, "a11y_gtk3.py", "--title", "Frozen") as other:
        frozen = await tree_of(a11y, other.process.pid)
        await tree_of(a11y, form.process.pid)
        other.process.send_signal(signal.SIGSTOP)
        try:
            start = time.monotonic()
            tree = await a11y.tree(FULL, reach="all")
            took = time.monotonic() - start
            assert 1.0 < took < 15.0
            assert tree.quality == "degraded"
            assert any(reason.startswith("not answering: ") for reason in tree.omitted)
            assert any(node.name == "Increment" for node in tree.nodes)
            assert any(node.role == "window" and node.name == "Frozen" for node in tree.nodes)
            start = time.monotonic()
            with pytest.raises(CallTimeout):
                await a11y.elements.probe(key_of(frozen, "Increment"))
            assert time.monotonic() - start < 15.0
            again = []
            for _ in range(3):
                start = time.monotonic()
                only = await a11y.tree(FULL, reach=other.process.pid)
                again.append(time.monotonic() - start)
            assert min(again) < 1.0, "it is waited for as long again"
            assert only.quality == "degraded" and [node.role for node in only.nodes] == ["application", "window"]
            await a11y.elements.activate(key_of(tree, "Increment"))  # the other one is unharmed
            await form.says("count 1")
        finally:
            other.process.send_signal(signal.SIGCONT)
        thawed = await await_(lambda: a11y.tree(FULL, reach=other.process.pid), lambda tree: tree.quality == "complete")
        assert key_of(thawed, "Increment") == key_of(frozen, "Increment")


async def test_app_that_ended_leaves_stale_keys_and_a_tree_without_it(a11y: A11y, form: Program, seat: Seat) -> None:
    async with running(seat, "a11y_gtk3.py", "--title", "Mortal") as other:
        key = key_of(await tree_of(a11y, other.process.pid), "Increment")
        other.process.kill()
        await anyio.to_thread.run_sync(other.process.wait)
        with pytest.raises(StaleRef) as refused:
            await await_(lambda: a11y.elements.probe(key), lambda _: False)
        assert refused.value.details["reason"] == "the app it was in has ended"
    tree = await a11y.tree(FULL, reach="all")
    assert not any(node.window == "Mortal" for node in tree.nodes)
    assert any(node.window == "Fixture" for node in tree.nodes)


async def test_app_that_dies_while_it_is_asked_is_told_as_crashed(a11y: A11y, form: Program) -> None:
    key = key_of(await tree_of(a11y, form.process.pid), "Increment")
    form.process.send_signal(signal.SIGSTOP)

    async def die() -> None:
        await anyio.sleep(0.3)
        form.process.kill()

    start = time.monotonic()
    async with anyio.create_task_group() as group:
        group.start_soon(die)
        with pytest.raises(AppCrashed):
            await a11y.elements.probe(key)
    assert time.monotonic() - start < 15.0


async def test_text_that_was_sent_to_an_app_that_froze_has_an_unknown_outcome(a11y: A11y, form: Program) -> None:
    name = key_of(await tree_of(a11y, form.process.pid), "Name")
    near = a11y.elements.near

    async def near_then_freeze(key: str) -> object:
        found = await near(key)
        form.process.send_signal(signal.SIGSTOP)
        return found

    a11y.elements.near = near_then_freeze  # type: ignore[assignment, method-assign]
    try:
        with pytest.raises(OutcomeUnknown) as refused:
            await a11y.elements.set_text(name, "lost")
    finally:
        form.process.send_signal(signal.SIGCONT)
    assert refused.value.details["sent"] == "elements.set_text"
    await form.says("name lost")  # which is why nobody may say that nothing was done


async def test_active_window_decides_what_is_read(a11y: A11y, form: Program, seat: Seat) -> None:
    async with running(seat, "a11y_gtk3.py", "--title", "Front", "--bare", "--deep", "1") as other:
        await tree_of(a11y, other.process.pid)
        tree = await await_(lambda: a11y.tree(FULL), lambda found: found.title == "Front")
        assert {node.window for node in tree.nodes if node.window} == {"Front"}
    tree = await await_(lambda: a11y.tree(FULL), lambda found: found.title == "Fixture")
    assert {node.window for node in tree.nodes if node.window} == {"Fixture"}


async def test_open_menu_and_open_list_are_seen_where_they_are_drawn(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    pointer = XPointer(a11y.windows.display)  # type: ignore[attr-defined]
    for opener, item, said in (("File", "Save", "menu Save"), ("Colour", "Green", "colour Green")):
        await a11y.elements.activate(key_of(tree, opener))
        key = key_of(tree, item)

        async def shown(key: str = key) -> Probe:
            return await a11y.elements.probe(key)

        probe = await await_(shown, lambda probe: probe.point is not None)
        assert (probe.cover, probe.node.states & {"hidden", "offscreen"}) == (None, frozenset()), item
        at = await await_(lambda point=probe.point: a11y.elements.at(point), lambda node: node is not None)
        assert at.name == item
        seen = await tree_of(a11y, form.process.pid, TreeScope())
        assert find(seen, item).role == ("menuitem" if opener == "File" else "option")
        await pointer.click(probe.point)
        await form.says(said)


async def test_window_that_is_not_modal_covers_only_what_it_lies_over(a11y: A11y, form: Program) -> None:
    tree = await tree_of(a11y, form.process.pid)
    await a11y.elements.activate(key_of(tree, "Palette"))
    await form.says("palette")

    def two(now: Tree) -> bool:
        return {node.name for node in now.nodes if node.role == "window"} == {"Fixture", "Palette"}

    now = await await_(lambda: tree_of(a11y, form.process.pid), two)
    assert find(now, "Swatch").hittable and find(now, "Increment").hittable
    assert {node.window for node in now.nodes if node.name in ("Swatch", "Increment")} == {"Palette", "Fixture"}
    assert await a11y.alerts.get() is None
    covers = [(await a11y.elements.probe(node.key or "")) for node in now.nodes if node.role == "button" and node.rect]
    assert all(probe.cover is None or probe.cover_outside or "Veil" in probe.cover for probe in covers)


async def test_program_that_is_not_on_the_bus_is_named_and_its_window_told(a11y: A11y, seat: Seat) -> None:
    connection = display.Display(seat.display)
    try:
        screen = connection.screen()
        window = screen.root.create_window(50, 60, 300, 200, 0, screen.root_depth)
        window.set_wm_name("Mute")
        pid = connection.intern_atom("_NET_WM_PID")
        window.change_property(pid, Xatom.CARDINAL, 32, [os.getpid()])
        window.map()
        connection.sync()
        tree = await await_(lambda: a11y.tree(FULL), lambda tree: tree.title == "Mute")
        assert [node.role for node in tree.nodes] == ["application", "window"]
        assert tree.nodes[1].name == "Mute" and tree.nodes[1].rect is not None
        assert tree.quality == "degraded" and any(reason.startswith("not accessible") for reason in tree.omitted)
    finally:
        connection.close()


async def test_what_is_in_a_minimized_window_is_hidden_until_it_is_revealed(a11y: A11y, form: Program) -> None:
    key = key_of(await tree_of(a11y, form.process.pid), "Increment")
    arranging = Arranging(a11y.windows)  # type: ignore[arg-type]
    window = next(window for window in await a11y.windows.list() if window.title == "Fixture")
    await arranging.minimize(window.id)
    probe = await a11y.elements.probe(key)
    assert probe.point is None and "hidden" in probe.node.states
    tree = await tree_of(a11y, form.process.pid, shown=False)
    assert "hidden" in find(tree, "Increment").states
    assert (await a11y.elements.reveal(key)).verified is False

    class Hands:
        async def front(self, window: Window) -> None:
            await arranging.unminimize(window.id)

    a11y.hands = Hands()  # type: ignore[assignment]
    assert (await a11y.elements.reveal(key)).verified is True
    assert (await a11y.elements.probe(key)).point is not None


async def test_empty_desktop_is_one_node(tmp_path: Path) -> None:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    async with running_desktop(tmp_path) as own, reading(own) as a11y:
        tree = await a11y.tree(FULL)
        assert [node.role for node in tree.nodes] == ["generic"] and tree_faults(tree.nodes) == []
        assert await a11y.focused() is None
        assert await a11y.alerts.get() is None
        assert await a11y.elements.at(Point(10, 10)) is None
