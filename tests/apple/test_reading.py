"""What Xcode's programs, WebDriverAgent, axe and idb print is read right: every output that was kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anydevice.driver import TreeScope
from anydevice.elements import one, parse
from anydevice.kit.processes import Result
from anydevice_apple import devicectl, simctl
from anydevice_apple.answers import WdaError, answer, typed, value
from anydevice_apple.inventory import physical, simulator
from anydevice_apple.keymap import chord
from anydevice_apple.programs import failed
from anydevice_apple.reading import accessibility, coredevice, failures, simulators
from anydevice_apple.reading.elements import NoSource, Source
from anydevice_apple.reading.source import read_json, read_xml
from anydevice_apple.tree import View, build, size_of
from anydevice_schemas import ROLES, Node, Tree, tree_faults
from anydevice_schemas.errors import (
    AmbiguousElement,
    AppNotRunning,
    CallTimeout,
    DeviceNotReady,
    DeviceOffline,
    InvalidArgument,
    ToolMissing,
    Unsupported,
    UpstreamUnavailable,
)

FIXTURES = Path(__file__).parent.parent / "fixtures" / "apple"
WHOLE = TreeScope(mode="full", max_nodes=9999)


def text(name: str) -> str:
    return (FIXTURES / name).read_text("utf-8")


def data(name: str) -> Any:
    return json.loads(text(name))


SOURCES = {
    "wda_source_settings_top.xml": read_xml,
    "wda_source_keyboard_settings.xml": read_xml,
    "wda_source_settings_top.derived.json": lambda text: read_json(json.loads(text)["value"]),
    "wda_source_sign_in.synthetic.json": lambda text: read_json(json.loads(text)["value"]),
    "wda_source_springboard_legacy.json": lambda text: read_json(json.loads(text)["value"]),
    "ax_describe_all_nested_settings_ja.json": accessibility.read,
    "ax_keyboard_qwerty.json": accessibility.read,
    "ax_no_keyboard.json": accessibility.read,
    "idb_describe_all_flat.derived.json": accessibility.read,
    "idb_describe_all_alert.json": accessibility.read,
}


def source(name: str) -> Source:
    found: Source = SOURCES[name](text(name))
    return found


def tree_of(name: str, scope: TreeScope = WHOLE) -> Tree:
    found = source(name)
    size = size_of(found)
    assert size is not None
    return build(found, View(*size), scope)


def named(tree: Tree, name: str) -> list[Node]:
    return [node for node in tree.nodes if node.name == name]


# --- screens ---


@pytest.mark.parametrize("name", SOURCES)
def test_every_captured_screen_becomes_a_sound_tree(name: str) -> None:
    tree = tree_of(name)
    assert tree_faults(tree.nodes) == []
    assert len(tree.nodes) > 3 and tree.quality == "complete"
    assert all(node.role in ROLES for node in tree.nodes)
    assert tree.viewport is not None and tree.viewport.width > 300


@pytest.mark.parametrize(
    ("name", "shown", "hidden"),
    [("wda_source_settings_top.xml", 55, 38), ("wda_source_keyboard_settings.xml", 68, 25)],
)
def test_what_the_device_says_is_invisible_is_not_on_screen(name: str, shown: int, hidden: int) -> None:
    elements = source(name).elements
    assert (len([e for e in elements if e.visible]), len([e for e in elements if e.visible is False])) == (
        shown,
        hidden,
    )
    tree = tree_of(name)
    on_screen = [node for node in tree.nodes if "offscreen" not in node.states]
    assert len(on_screen) <= shown
    # A chevron that is hidden in its cell, and a switch whose cell lies below, carry rectangles on the screen.
    assert not [node for node in on_screen if node.native_role == "Button" and "disabled" in node.states]


def test_xml_and_json_of_one_screen_are_one_tree() -> None:
    one_, other = tree_of("wda_source_settings_top.xml"), tree_of("wda_source_settings_top.derived.json")
    assert [(n.role, n.name, n.rect) for n in one_.nodes] == [(n.role, n.name, n.rect) for n in other.nodes]


def test_the_old_shape_is_read_as_the_new_one() -> None:
    found = source("wda_source_springboard_legacy.json")
    assert found.elements[0].type == "Application" and found.elements[0].box == (0, 0, 375, 667)
    assert all(not element.type.startswith("UIA") for element in found.elements)


def test_switches_say_whether_they_are_on() -> None:
    switches = [n for n in tree_of("wda_source_keyboard_settings.xml").nodes if n.role == "switch"]
    assert switches and all(len({"checked", "unchecked"} & node.states) == 1 for node in switches)


def test_an_exact_label_wins_over_a_longer_one() -> None:
    tree = tree_of("wda_source_sign_in.synthetic.json")
    node = tree.nodes[one(tree, parse("sign in"))]
    assert (node.role, node.identifier) == ("button", "login.submit")
    assert tree.nodes[one(tree, parse("with apple"))].name == "Sign in with Apple"


def test_a_container_and_its_label_are_one_target_which_is_what_can_be_pressed() -> None:
    tree = tree_of("wda_source_sign_in.synthetic.json")
    assert tree.nodes[one(tree, parse("General"))].native_role == "Cell"
    assert tree.nodes[one(tree, parse("label=General role=text"))].native_role == "StaticText"


def test_two_that_say_the_same_are_ambiguous_with_numbered_candidates_and_an_index_chooses() -> None:
    tree = tree_of("wda_source_sign_in.synthetic.json")
    with pytest.raises(AmbiguousElement) as caught:
        one(tree, parse("Delete"))
    assert len(caught.value.details["candidates"]) == 2
    first, second = one(tree, parse("label=Delete index=0")), one(tree, parse("label=Delete index=1"))
    assert first < second


def test_the_app_and_its_window_are_no_targets_by_their_name() -> None:
    tree = tree_of("wda_source_sign_in.synthetic.json")
    assert tree.nodes[0].root and tree.nodes[0].name == "Demo"


@pytest.mark.parametrize("more", [{}, {"value": None}])
def test_a_secure_field_has_neither_value_nor_a_label_that_may_be_what_was_typed(more: dict[str, None]) -> None:
    (field,) = [node for node in tree_of("wda_source_sign_in.synthetic.json").nodes if node.secure]
    assert (field.name, field.value) == ("Password", None)
    typed_in = {
        "type": "Application", "label": "x", "rect": {"x": 0, "y": 0, "width": 390, "height": 844}, "children": [
            {"type": "SecureTextField", "label": "hunter2", "name": "pin", "rawIdentifier": "pin",
             "placeholderValue": "PIN", "rect": {"x": 0, "y": 0, "width": 90, "height": 44}, **more}],
    }  # fmt: skip
    tree = build(read_json(typed_in), View(390, 844), WHOLE)
    assert (tree.nodes[-1].name, tree.nodes[-1].value, tree.nodes[-1].secure) == ("PIN", None, True)


@pytest.mark.parametrize("name", ["ax_keyboard_qwerty.json", "idb_describe_all_flat.derived.json"])
def test_keys_that_lie_among_the_apps_elements_are_gathered_into_a_keyboard(name: str) -> None:
    tree = tree_of(name)
    (keyboard,) = [node for node in tree.nodes if node.role == "keyboard"]
    assert keyboard.rect is not None and 538 <= keyboard.rect.y <= 583 and keyboard.rect.y + keyboard.rect.height == 874
    inside = [node for node in tree.nodes if node.parent >= 0 and tree.nodes[node.parent] is keyboard]
    # Keys of one letter would be found in place of what the app says; "I" is left as a suggestion above them.
    assert named(tree, "A") == [] and all(node in inside for node in named(tree, "I"))
    assert [node.role for node in tree_of("ax_no_keyboard.json").nodes if node.role == "keyboard"] == []


def test_a_tab_bar_that_lies_under_the_keyboard_comes_before_it() -> None:
    tree = tree_of("ax_keyboard_qwerty.json")
    keyboard = next(at for at, node in enumerate(tree.nodes) if node.role == "keyboard")
    under = [
        at for at, node in enumerate(tree.nodes)
        if node.rect is not None and 791 <= node.rect.y < 874 and keyboard not in (at, *tree.ancestors(at))
    ]  # fmt: skip
    assert under and all(at < keyboard for at in under)


def test_labels_of_any_language_and_joined_ones_stay_as_they_are() -> None:
    tree = tree_of("ax_describe_all_nested_settings_ja.json")
    assert any("," in node.name or "、" in node.name for node in tree.nodes if node.actions)
    assert any(ord(sign) > 0x3000 for node in tree.nodes for sign in node.name)


def test_every_path_of_a_real_hierarchy_is_one_that_is_known() -> None:
    known = {
        "AXFrame", "frame", "AXLabel", "AXValue", "AXUniqueId", "role", "role_description", "subrole", "type", "title",
        "help", "enabled", "content_required", "custom_actions", "pid", "children", "traits", "x", "y", "width",
        "height",
    }  # fmt: skip
    rows = data("axe_describe_ui_schema_xcode-26.5-17F42.json")
    names = {part for row in rows for part in row["path"].split(".")} - {"$", "[]", "$[]"}
    assert {name.removesuffix("[]") for name in names} <= known


@pytest.mark.parametrize("found", [None, {}, [], {"value": 1}, "x", {"tree": {}}])
def test_what_holds_no_screen_is_no_empty_screen(found: Any) -> None:
    with pytest.raises(NoSource):
        read_json(found)


@pytest.mark.parametrize("said", ["", "[]", "{}", "no JSON", "<x/>", '<!DOCTYPE x [<!ENTITY a "b">]><x type="y"/>'])
def test_neither_is_what_a_program_prints_in_place_of_one(said: str) -> None:
    with pytest.raises(NoSource):
        accessibility.read(said)
    with pytest.raises(NoSource):
        read_xml(said)


def test_a_tree_of_one_node_is_said_to_be_degraded() -> None:
    lone = read_json({"type": "Application", "label": "x", "rect": {"x": 0, "y": 0, "width": 390, "height": 844}})
    assert build(lone, View(390, 844), WHOLE).quality == "degraded"


def test_places_that_are_none_do_not_lose_the_screen() -> None:
    root = {"type": "Application", "rect": {"x": 0, "y": 0, "width": 390, "height": 844}}
    odd = {"type": "Button", "label": "odd", "rect": {"x": "inf", "y": 0, "width": 1, "height": 1}}
    tree = build(read_json({**root, "children": [odd]}), View(390, 844), WHOLE)
    assert tree_faults(tree.nodes) == [] and named(tree, "odd") == []


# --- simulators ---


def test_only_what_is_available_can_be_chosen_whatever_its_state() -> None:
    rows = {row.name: row for row in simulators.parse(text("simctl_list_devices_states_xcode26.json"))}
    told = {name: found.state for name, row in rows.items() if (found := simulator(row)) is not None}
    assert told == {
        "iPhone 17": "ready", "lab-iphone-17-1": "shutdown", "lab-iphone-17-2": "booting", "lab-iphone-17-3": "unknown",
        "lab-iphone-17-4": "unavailable", "broken-sim": "unavailable", "iPad Pro 13-inch (M5)": "shutdown",
        "iPhone 15": "unavailable", "Apple TV": "unavailable",
    }  # fmt: skip
    away = simulator(rows["iPhone 15"])
    assert away is not None and "not installed" in away.reason and "Components" in away.fix
    assert {simulator(rows[name]).device_class for name in ("iPad Pro 13-inch (M5)", "Apple TV")} == {"tablet", "tv"}  # type: ignore[union-attr]


def test_a_simulator_that_is_booted_under_a_lost_runtime_is_not_ready() -> None:
    row = simulators.Simulator("U", "iPhone 17", "Booted", False, "runtime profile not found", "iOS", "26.4")
    found = simulator(row)
    assert found is not None and found.state == "unavailable"


def test_runtimes_of_old_xcodes_go_by_their_names() -> None:
    rows = simulators.parse(text("simctl_list_devices_xcode10_display_keys.json"))
    assert {(row.os, row.version) for row in rows} >= {("iOS", "12.1"), ("tvOS", "12.1"), ("watchOS", "5.1")}
    assert all(row.available for row in rows if row.name == "iPhone 6")


def test_the_text_form_is_read_too_with_parentheses_in_names() -> None:
    rows = simulators.parse(text("simctl_list_devices_xcode15.txt"))
    found = {(row.name, row.version): row for row in rows}
    assert found["iPad Pro (11-inch) (4th generation)", "16.1"].udid == "7535D29A-DA47-4BA9-8D91-24325AF39243"
    assert len({row.udid for row in rows}) == len(rows) > 20


def test_a_runtime_that_comes_twice_is_told_apart_by_its_build() -> None:
    rows = simulators.runtimes(text("simctl_list_runtimes_xcode15.json"))
    twice = [row for row in rows if row.identifier.endswith("iOS-17-0")]
    assert [row.build for row in twice] == ["21A328", "21A342"] and len({row.key for row in rows}) == len(rows)


def test_types_are_named_as_people_read_them_and_their_class_is_told_by_them() -> None:
    kinds = data("simctl_list_devicetypes_xcode26.json")
    for row in kinds["devicetypes"]:
        system = {"Apple TV": "tvOS", "Apple Watch": "watchOS"}.get(row["productFamily"], "iOS")
        found = simulator(
            simulators.Simulator("U", row["name"], "Shutdown", True, os=system, version="26.5", type=row["identifier"])
        )
        wanted = {"iPhone": "phone", "iPad": "tablet", "Apple TV": "tv"}.get(row["productFamily"])
        assert (found.device_class if found is not None else None) == wanted, row["name"]


def test_what_was_matched_with_a_runtime_is_no_list_of_devices() -> None:
    with pytest.raises(simulators.NoListing):
        simulators.parse(text("simctl_runtime_match_list_xcode26.json"))


KINDS = {
    "boot, already booted": ("wrong_state", "Booted"), "boot while shutting down": ("wrong_state", "Shutting Down"),
    "shutdown, already off": ("wrong_state", "Shutdown"), "erase while booted": ("wrong_state", "Booted"),
    "launch/get_app_container/ui/status_bar on a shut-down device": ("wrong_state", "Shutdown"),
    "spawn on a shut-down device": ("wrong_state", "Shutdown"), "create, incompatible device": ("incompatible", ""),
    "any, unknown device": ("no_device", ""), "launch, app not installed": ("launch_failed", ""),
    "launch, denied": ("denied", ""), "launch, no process handle": ("no_handle", ""),
    "terminate, not running": ("not_running", ""), "get_app_container, not installed": ("absent", ""),
    "install, no bundle at path": ("no_bundle", ""),
    "privacy grant of a service the runtime lacks": ("no_service", ""), "simctl missing (CLT only)": ("no_tool", ""),
}  # fmt: skip


@pytest.mark.parametrize("row", data("simctl_errors.json"), ids=lambda row: row["case"])
def test_a_failure_of_simctl_is_told_by_its_sentence(row: dict[str, Any]) -> None:
    found = failures.failure(row["stderr"])
    assert (found.kind, found.state) == KINDS[row["case"]]


@pytest.mark.parametrize(
    ("case", "error", "fix"),
    [
        ("launch/get_app_container/ui/status_bar on a shut-down device", DeviceNotReady, "boot it"),
        ("erase while booted", DeviceNotReady, "shut it down first"),
        ("any, unknown device", DeviceOffline, "Call devices."),
        ("simctl missing (CLT only)", ToolMissing, ""),
    ],
)
def test_and_becomes_an_error_that_says_what_to_do(case: str, error: type[Exception], fix: str) -> None:
    (row,) = [row for row in data("simctl_errors.json") if row["case"] == case]
    found = simctl.typed(
        simctl.SimctlFailed(failures.failure(row["stderr"]), row["stderr"], row["exit"], ("erase", "U"))
    )
    assert type(found) is error and (found.details.get("fix", "") == fix)
    assert row["stderr"][:40] in found.details["said"] and row["stderr"] not in found.message


# --- devices ---


def test_devices_are_known_by_their_udid_and_watches_are_left_out() -> None:
    rows = coredevice.devices(text("devicectl_device_list_success.json"))
    assert len(rows) == 2 and [physical(row) is None for row in rows] == [False, True]
    phone = physical(rows[0])
    assert phone is not None and (phone.name, phone.state, phone.kind) == ("Test iPhone", "ready", "device")
    assert phone.facts["coreDevice"] == rows[0].identifier != phone.id


def test_a_device_out_of_reach_is_listed_and_not_ready() -> None:
    rows = [physical(row) for row in coredevice.devices(text("devicectl_device_list_with_unreachable.json"))]
    assert [(row.name, row.state) for row in rows if row is not None] == [
        ("Reachable iPhone", "ready"), ("Unreachable iPhone", "offline"),
    ]  # fmt: skip


def test_a_list_that_failed_is_no_empty_list() -> None:
    with pytest.raises(coredevice.Failed) as caught:
        coredevice.devices(text("devicectl_device_list_failure.json"))
    assert caught.value.said[0] == "Failed to list devices"
    assert coredevice.devices('{"info": {"outcome": "success"}, "result": {}}') == []
    for said in ("", "[]", "{"):
        with pytest.raises(coredevice.NoAnswer):
            coredevice.devices(said)


def test_the_deepest_error_says_why() -> None:
    with pytest.raises(coredevice.Failed) as caught:
        coredevice.result(text("devicectl_launch_failure.json"))
    error = devicectl.typed(caught.value, "devicectl device process launch")
    assert isinstance(error, DeviceNotReady) and error.details["state"] == "locked"
    assert "unlocked" in error.details["said"][0]


def test_what_worked_is_told_as_it_is() -> None:
    process = coredevice.result(text("devicectl_launch_success.json"))["process"]
    assert isinstance(process["processIdentifier"], int)
    assert coredevice.result(text("devicectl_install_success.json"))["installedApplications"]


# --- the agent ---

WDA_KINDS: dict[str, type[Exception]] = {
    "no_alert": AppNotRunning, "unknown_endpoint": Unsupported, "unexpected_alert": UpstreamUnavailable,
    "session_not_created": UpstreamUnavailable, "capabilities_missing": UpstreamUnavailable,
    "invalid_element_state": UpstreamUnavailable, "unknown_source_format": InvalidArgument, "timeout": CallTimeout,
    "screenshot_failed": UpstreamUnavailable, "session_does_not_exist": UpstreamUnavailable,
    "stale_element": UpstreamUnavailable, "no_such_element": UpstreamUnavailable,
}  # fmt: skip


@pytest.mark.parametrize("name", data("wda_errors.json"))
def test_an_error_of_the_agent_is_told_by_its_name_never_by_its_status(name: str) -> None:
    row = data("wda_errors.json")[name]
    for status in (row["http"], 200):
        with pytest.raises(WdaError) as caught:
            value(status, answer(status, json.dumps(row["body"]).encode()))
    assert caught.value.error == row["body"]["value"]["error"]
    assert type(typed(caught.value, "screen.tree")) is WDA_KINDS[name]


@pytest.mark.parametrize("name", data("wda_status.json"))
def test_every_generation_of_agents_says_that_it_is_ready(name: str) -> None:
    told = value(200, answer(200, json.dumps(data("wda_status.json")[name]).encode()))
    assert told["ready"] is True


@pytest.mark.parametrize("said", [b"", b"<html>", b"[]", b"{"])
def test_what_is_no_answer_of_an_agent_is_said_to_be_none(said: bytes) -> None:
    with pytest.raises(UpstreamUnavailable):
        value(200, answer(200, said))


# --- the other programs ---


@pytest.mark.parametrize("row", data("axe_cli_errors.json"), ids=lambda row: row["case"])
def test_a_failing_axe_is_told_with_its_own_words(row: dict[str, Any]) -> None:
    done = Result(row["exit"], row["stdout"].encode(), row["stderr"].encode())
    error = failed("axe", done)
    if "No keycode found" in row["stderr"]:
        assert isinstance(error, InvalidArgument)
    else:
        assert isinstance(error, UpstreamUnavailable)
        assert error.details["said"] == (row["stderr"] or row["stdout"])[:1000]


@pytest.mark.parametrize(("text", "held", "key"), [("cmd+shift+a", 2, "a"), ("enter", 0, "enter"), ("+", 0, "+")])
def test_chords_are_read(text: str, held: int, key: str) -> None:
    found = chord(text)
    assert (len(found[0]), found[1]) == (held, key)


@pytest.mark.parametrize("text", ["nosuchkey", "cmd+", "a+b", "cmd+lock"])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        chord(text)
