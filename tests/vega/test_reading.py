"""What Vega's programs and its toolkit print is read right; every sample of the fixtures."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from anydevice.driver import TreeScope
from anydevice_adb import Row
from anydevice_adb.virtual import parse_processes
from anydevice_lab.vega import write_vpkg
from anydevice_schemas import ROLES, Node, Tree, tree_faults
from anydevice_schemas.errors import InvalidArgument, StaleRef, Unsupported
from anydevice_vega.codes import BUTTONS, KEYS, SELECT, button, chord
from anydevice_vega.glance import compare
from anydevice_vega.guarding import dialog_of, may_ask
from anydevice_vega.inventory import Identity, Known, device, devices
from anydevice_vega.reading import cli, guest, journal, measures
from anydevice_vega.reading.page import LAUNCHER, NoPage, Page, parse_page
from anydevice_vega.reading.vpkg import package_id
from anydevice_vega.routes import NO_SHELL
from anydevice_vega.toolkit import source
from anydevice_vega.tree import build, cursor_of

FIXTURES = Path(__file__).parent.parent / "fixtures" / "vega"
ALL = TreeScope(mode="full", max_nodes=9999)
APP = "com.example.multitv"


def text(name: str) -> str:
    return (FIXTURES / name).read_text("utf-8")


def part(name: str, title: str) -> str:
    """What a file of several samples has under one heading."""
    return text(name).partition(f"# {title}\n")[2].partition("\n# ")[0]


def page(*windows: str, app: str = "com.example.app", run: int = 9) -> Page:
    return parse_page(f'<root id="1"><app id="{run}" appName="{app}">{"".join(windows)}</app></root>')


def window(inner: str = "", *, size: tuple[int, int] = (1920, 1080), id: int = 10) -> str:
    return f'<window x="0" y="0" width="{size[0]}" height="{size[1]}" id="{id}">{inner}</window>'


def child(id: int, inner: str = "", **facts: str) -> str:
    place = {"x": "10", "y": "10", "width": "100", "height": "50"} | {n: facts.pop(n) for n in ("x", "y") if n in facts}
    attributes = " ".join(f'{name}="{value}"' for name, value in {**place, **facts}.items())
    return f'<child id="{id}" {attributes}>{inner}</child>'


def named(tree: Tree, name: str, role: str = "button") -> Node:
    (found,) = [node for node in tree.nodes if node.name == name and node.role == role]
    return found


# --- page sources ---


def test_the_captured_page_source_becomes_a_sound_tree() -> None:
    captured = parse_page(text("page_source_native.xml"))
    tree = build(captured, ALL)
    assert tree_faults(tree.nodes) == [] and tree.quality == "complete"
    assert (tree.app, tree.viewport and tree.viewport.width) == (APP, 1920)
    assert all(node.role in ROLES for node in tree.nodes)
    shown = captured.front()
    assert shown is not None
    assert len(tree.nodes) == 1 + len(shown.windows) + sum(len(one.elements) for one in shown.windows)
    home = named(tree, "Home")
    assert "press" in home.actions and {"selected"} <= home.states and home.key == "163208757260"


def test_the_home_screen_is_in_front_only_where_nothing_else_is() -> None:
    captured = parse_page(text("page_source_native.xml"))
    assert [app.name for app in captured.apps] == [APP, LAUNCHER]
    assert "Kepler Virtual Device is ready" not in [node.name for node in build(captured, ALL).nodes]
    alone = Page([app for app in captured.apps if app.name == LAUNCHER])
    assert "Kepler Virtual Device is ready" in [node.name for node in build(alone, ALL).nodes]


def test_ids_of_sixty_four_bits_stay_whole() -> None:
    big = 2**63 + 12345
    tree = build(page(window(child(big, role="button", clickable="true"))), ALL)
    assert tree.nodes[-1].key == str(big)


def test_an_id_given_twice_is_no_handle() -> None:
    tree = build(page(window(child(7, role="button") + child(7, role="button"))), ALL)
    assert [node.key for node in tree.nodes if node.role == "button"] == ["7", None]


def test_the_cursor_is_what_has_the_focus_else_what_is_selected() -> None:
    chosen = child(1, role="button", focusable="true", selected="true", focused="false")
    other = child(2, role="button", focusable="true", focused="false")
    holder = child(3, role="button", focusable="true", focused="true")

    def cursor(inner: str) -> str:
        app = page(window(inner)).front()
        assert app is not None
        found = cursor_of(app)
        return found.attributes["id"] if found is not None else ""

    assert (cursor(other + chosen), cursor(chosen + holder), cursor(other)) == ("1", "3", "")
    captured = parse_page(text("page_source_native.xml")).front()
    assert captured is not None
    found = cursor_of(captured)
    assert found is not None and found.attributes["id"] == "163208757277"  # a tile; the tab it is under is selected too


def test_a_label_names_what_it_is_in_and_is_as_disabled_as_that() -> None:
    label = child(2, "<text>Go</text>", role="text")
    tree = build(page(window(child(1, label + label.replace('"2"', '"3"'), role="button", enabled="false"))), ALL)
    assert named(tree, "Go").states >= {"disabled"}
    assert all("disabled" in node.states for node in tree.nodes if node.role == "text")


def test_what_cannot_be_seen_is_left_out_with_what_is_in_it() -> None:
    hidden = child(1, '<traits><visibility alpha="0"/></traits>' + child(2, "<text>Ghost</text>"), role="button")
    tree = build(page(window(hidden + child(3, "<text>There</text>"))), ALL)
    assert [node.name for node in tree.nodes if node.name] == ["com.example.app", "There"]


def test_traits_are_no_elements_and_their_copies_no_texts() -> None:
    copy = '<traits><text>copy</text><focusable focused="true"/></traits>'
    tree = build(page(window(child(1, f"<text>Own</text>{copy}", role="text"))), ALL)
    assert [node.name for node in tree.nodes[2:]] == ["Own"] and "focused" not in tree.nodes[-1].states


def test_a_page_of_the_web_inside_an_app_belongs_to_the_app() -> None:
    inner = '<app id="5" appName="Webview"><window x="0" y="0" width="1920" height="1080" id="6">'
    inner += child(7, "<text>Next</text>", role="link", clickable="true") + "</window></app>"
    shown = page(window(inner))
    assert [app.name for app in shown.apps] == ["com.example.app"]
    tree = build(shown, ALL)
    assert "webview" in [node.role for node in tree.nodes] and named(tree, "Next", "link").app == "com.example.app"


@pytest.mark.parametrize("head", ["", '<?xml version="1.0"?>', "[INFO] noise\n", "\ufeff"])
def test_a_document_is_found_with_or_without_a_declaration(head: str) -> None:
    assert parse_page(head + '<root id="1"><app id="2" appName="a.b"><window id="3"/></app></root>').front()


def test_characters_that_no_xml_has_do_not_lose_the_page() -> None:
    broken = page(window(child(1, "<text>a\x01b&#0;c</text>", role="text")))
    assert build(broken, ALL).nodes[-1].name == "a\ufffdb\ufffdc"


@pytest.mark.parametrize("bad", ["", "null", "<root", "<root><app></root>", "<html></html>"])
def test_what_is_no_page_source_is_told_to_be_none(bad: str) -> None:
    with pytest.raises(NoPage):
        parse_page(bad)


def test_a_page_source_of_nothing_is_an_empty_screen() -> None:
    answer = json.loads(text("toolkit_rpc.jsonl").splitlines()[0])
    empty = parse_page(source(answer["res"]["result"]))
    assert empty.front() is None and len(build(empty, ALL).nodes) == 1


def test_a_tree_can_begin_at_an_element_or_a_window_and_not_at_what_is_gone() -> None:
    shown = page(window(child(1, child(2, "<text>In</text>"), role="button") + child(3, "<text>Out</text>")))
    names = [node.name for node in build(shown, TreeScope(mode="full", root="1")).nodes]
    assert "In" in names and "Out" not in names
    for root in ("window:10", "app:9"):
        assert len(build(shown, TreeScope(mode="full", root=root)).nodes) == 5
    for root in ("99", "window:11", "app:8"):
        with pytest.raises(StaleRef):
            build(shown, TreeScope(mode="full", root=root))


def test_caps_are_kept_and_told() -> None:
    captured = parse_page(text("page_source_native.xml"))
    few = build(captured, TreeScope(mode="full", max_nodes=5))
    assert (len(few.nodes), few.quality) == (5, "truncated") and few.omitted["nodes"] > 1
    flat = build(captured, TreeScope(mode="full", max_depth=1))
    assert {node.role for node in flat.nodes} == {"application", "window"} and flat.omitted["depth"] > 1


# --- dialogs and changes ---


def test_a_smaller_window_with_a_button_is_a_dialog_and_a_screen_of_its_own_is_none() -> None:
    text_, yes = (
        child(21, "<text>Sure?</text>", role="text"),
        child(22, "<text>OK</text>", role="button", clickable="true"),
    )
    asked = page(
        window(child(1, "<text>Go</text>", role="button", clickable="true")),
        window(text_ + yes, size=(400, 200), id=20),
    )
    found = dialog_of(build(asked, ALL))
    assert found is not None and (found.kind, found.text, list(found.buttons)) == ("alert", "Sure?", ["OK"])
    assert may_ask(asked) and not named(build(asked, ALL), "Go").hittable
    rows = "".join(child(40 + n, role="button", clickable="true") for n in range(6))
    assert dialog_of(build(page(window(), window(rows, size=(400, 200), id=20)), ALL)) is None
    assert not may_ask(page(window(rows)))


def test_what_a_key_did_is_told_apart() -> None:
    def shown(focus: int, words: str = "a", x: str = "10", more: str = "", run: int = 9) -> Page:
        inner = "".join(
            child(n, f"<text>{words if n == 1 else n}</text>", focusable="true", focused=str(n == focus).lower(), x=x)
            for n in (1, 2)
        )
        return page(window(inner + more), run=run)

    assert not compare(shown(1), shown(1)).any
    assert compare(shown(1), shown(2)).focus
    assert compare(shown(1), shown(1, run=10)).focus
    said = compare(shown(1), shown(1, words="b"))
    assert (said.focus, said.other, len(said.texts)) == (False, False, 1)
    assert len(compare(shown(1), shown(1, x="20")).texts) == 2
    assert compare(shown(1), shown(1, more=child(3))).other


# --- the SDK's program ---


def test_the_last_line_that_is_an_object_is_what_status_says() -> None:
    line = part("virtual_device_status.txt", "running")
    noisy = f"[WARN] telemetry {{}}\n[INFO] more\n{line}"
    for told in (line, noisy, noisy.replace("\n", "\r\n")):
        assert cli.qemu_of(told) == 68674
    for told in (
        "",
        "[WARN] {",
        '{"running":false,"process_ids":{"qemu":-1}}',
        '{"running":true,"process_ids":{"qemu":-1}}',
    ):
        assert cli.qemu_of(told) is None


def test_what_is_told_of_a_device_is_read_and_of_an_unclear_one_is_nothing() -> None:
    told = cli.device_info(text("device_info_vvd.json"))
    assert (told["simulated"], told["hostname"]) == (True, "amazon-0123456789abcdef")
    row = device(Known(Row("emulator-5554", "device"), Identity(told["hostname"], "aarch64", told)))
    assert (row.kind, row.os_version, row.model, row.state) == ("emulator", "1.2", "vvrp-tv-arm64", "ready")
    assert cli.device_info('{"idme":"","hostname":"","os":"unknown"}') == {}
    assert cli.device_info(json.dumps(told, indent=2)) == told


def test_the_listing_has_each_device_once_however_often_it_is_listed() -> None:
    (one,) = cli.listed(text("device_list.txt"))
    assert (one.id, one.hostname) == ("VirtualDevice", "amazon-0123456789abcdef")
    stray = "Found the following devices:\n127.0.0.1:5555 : AN4X\nemulator-5554 : AN4X\n"
    stray += "G4N1 : tv - armv7l - OS - amazon-ab\n"
    assert [row.id for row in cli.listed(stray)] == ["emulator-5554", "G4N1"]
    assert cli.listed("No devices found\n") == []


def test_a_virtual_device_is_found_in_the_process_table() -> None:
    (row,) = parse_processes("    1 /sbin/init\n" + text("ps_vvd.txt") + "\n99 grep vega-virtual-device -ports\n")
    assert (row.pid, row.port, row.serial, row.image) == (68674, 5554, "emulator-5554", "tv")
    assert row.program.endswith("/vega-virtual-device")


def test_what_the_adapter_says_while_it_starts_is_no_answer() -> None:
    noise, offline = text("vda_errors.txt").splitlines()[:2], text("vda_errors.txt").splitlines()[-1]
    assert cli.without_noise("\n".join([*noise, '{"a": 1}'])) == '{"a": 1}'
    assert cli.OFFLINE.search(offline)


# --- the guest's programs ---


def test_packages_are_listed_and_titled() -> None:
    assert guest.ids(part("vpm_vlcm.txt", "vpm list packages")) == ["com.amazondeveloper.test"]
    assert guest.title(part("vpm_vlcm.txt", "vpm info com.amazondeveloper.test")) == "Test Amazon Developer Package"
    assert guest.title(part("vpm_vlcm.txt", "vpm info com.amazondeveloper.test.interactive")) == ""
    assert guest.ids("com.a.b\ncom.c.d\n\nError: x\n") == ["com.a.b", "com.c.d"]


@pytest.mark.parametrize(
    "table",
    ["application  pid  id  state  launch args\ncom.a.b.main  12  7  foreground  <none>\n",
     "pid  state  application   launch args\n12  FOREGROUND  pkg://com.a.b.main  <none>\n",
     "\n  Application    PID    Instance ID   State    Launch Args\n  com.a.b.main   12     7     Active   x=1,y=2\n"],
)  # fmt: skip
def test_what_runs_is_read_by_the_heading_whatever_its_order(table: str) -> None:
    (row,) = guest.running(table)
    assert (row.component, row.pid, row.front) == ("com.a.b.main", 12, True)
    assert guest.of_app("com.a.b", [row]) == [row] and guest.of_app("com.a", [row]) == [row]
    assert guest.of_app("com.a.bc", [row]) == []


def test_a_plain_list_of_ids_is_what_runs_as_well() -> None:
    assert [row.component for row in guest.running("com.a.b\ncom.c.d\n")] == ["com.a.b", "com.c.d"]
    assert not guest.running("Error: cannot connect to the life cycle manager\n")


def test_an_installation_went_well_only_if_no_phase_failed() -> None:
    good = part("install_app.txt", "ok")
    assert guest.installed_well(good)
    assert not guest.installed_well(good + "Verifying 'app' ...failed\n")
    assert not guest.installed_well("") and not guest.installed_well("Error: no space left\n")
    assert guest.says_no_more("Installing/Updating 'x' ...failed\n")
    assert not guest.says_no_more("Installing/Updating 'x' ...failed\nno space left on device\n")


def test_a_crash_counts_for_its_own_app_only() -> None:
    history = "timestamp  application\n2026-01-01 00:00:00  com.a.b.main  7\n2026-01-01 00:00:01  com.a.bc.main  8\n"
    assert (guest.crashes(history, "com.a.b"), guest.crashes(history, "com.a.bc")) == (1, 1)


def test_input_that_has_no_service_is_known_by_its_word() -> None:
    assert NO_SHELL in text("vpm_vlcm.txt")
    assert "Unrecognized command" in part("inputd_cli.txt", "unknown")


@pytest.mark.parametrize("name", sorted(KEYS) + sorted(BUTTONS))
def test_every_key_has_the_name_and_the_number_of_the_input_layer(name: str) -> None:
    from anydevice_lab.vega.keys import CODES

    key = KEYS.get(name) or BUTTONS[name]
    assert CODES[key.name.removeprefix("KEY_")] == key.code


def test_select_is_enter_and_home_is_the_home_page() -> None:
    assert (button("select").name, button("home").name) == ("KEY_ENTER", "KEY_HOMEPAGE")
    usage = text("inputd_cli.txt")
    assert "button_press <key>" in usage and "--holdDuration" in usage
    assert SELECT.code == 28 and button("down").code == 108
    asked = [json.loads(row)["req"] for row in text("toolkit_rpc.jsonl").splitlines()]
    (press,) = [one["params"] for one in asked if one["method"] == "injectInputKeyEvent"]
    assert press["inputKeyEvent"] == str(button("down").code)


def test_chords_and_unknown_keys_are_refused_by_type() -> None:
    with pytest.raises(Unsupported):
        chord("ctrl+a")
    for word in ("nokey", "ctrl+nokey", "", "foo+a"):
        with pytest.raises(InvalidArgument):
            chord(word)
    with pytest.raises(InvalidArgument):
        button("eject")


# --- logs, measures, packages ---


def test_lines_of_the_log_have_their_moment_in_the_right_year() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    found = journal.parse_line("Dec 31 23:59:59.250000 amazon-ab lcm[1]: Component x launched", now)
    assert found is not None
    moment, line = found
    assert (moment.year, moment.microsecond, line.tag, line.pid, line.text) == (
        2025, 250000, "lcm", 1, "Component x launched")  # fmt: skip
    assert journal.parse_line("-- Boot --", now) is None and journal.parse_line("Feb 30 00:00:00.0 a b: c", now) is None


def test_memory_and_time_are_added_up_over_processes() -> None:
    assert measures.memory("VmRSS:\t 100 kB\nVmHWM:\t 150 kB\nVmRSS:\t 20 kB\n") == {"residentKb": 120, "peakKb": 150}
    assert measures.memory("nothing") == {}
    rows = "cpu  100 0 50 800 0 0 0 0 0 0\ncpu0 1 2\ncpu1 1 2\n7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 30 12 0 0 20 0\n"
    assert measures.ticks(rows) == (42, 950, 2)


def test_a_package_tells_its_app_and_what_is_none_tells_nothing(tmp_path: Path) -> None:
    write_vpkg(tmp_path / "a.vpkg", "com.example.app")
    (tmp_path / "b.vpkg").write_bytes(b"no package")
    assert package_id(tmp_path / "a.vpkg") == "com.example.app"
    assert package_id(tmp_path / "b.vpkg") is None and package_id(tmp_path / "none.vpkg") is None


# --- rows ---


def known(serial: str, host: str = "", state: str = "device", **info: Any) -> Known:
    return Known(Row(serial, state), Identity(host, "aarch64", info or None) if host else None)


def test_one_device_attached_in_two_ways_is_one_row() -> None:
    twice = [known("127.0.0.1:5555", "amazon-a"), known("emulator-5554", "amazon-a"), known("G4N", "amazon-b")]
    assert [row.id for row in devices(twice)] == ["G4N", "emulator-5554"]
    silent = [known("127.0.0.1:5555", "amazon-a"), known("emulator-5554", state="offline")]
    assert [row.id for row in devices(silent)] == ["emulator-5554"]
    both = [known("192.168.0.7:5555", "amazon-c"), known("G4N", "amazon-c")]
    assert [row.id for row in devices(both)] == ["G4N"]
    assert len(devices([known("127.0.0.1:5557", "amazon-d"), known("emulator-5554", "amazon-a")])) == 2


@pytest.mark.parametrize("state", ["offline", "unauthorized", "recovery"])
def test_a_device_that_is_not_ready_says_why_and_what_to_do(state: str) -> None:
    row = device(known("emulator-5554", state=state))
    assert row.state != "ready" and row.reason and row.fix
