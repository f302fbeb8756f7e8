"""What HarmonyOS's programs and hdc print is read right, whatever their exit status says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anydevice.driver import TreeScope
from anydevice_harmonyos.guarding import button_for, dialog_of
from anydevice_harmonyos.hdc.listing import Row, parse_rows
from anydevice_harmonyos.hdc.verdicts import app_verdict, error_of, file_verdict, refusal
from anydevice_harmonyos.reach import View
from anydevice_harmonyos.reading import bundles, display, emulators, hilog, inputs, layout, measures, missions, windows
from anydevice_harmonyos.reading.params import identity, parse_params
from anydevice_harmonyos.tree import build
from anydevice_schemas import ROLES, Node, Tree, tree_faults
from anydevice_schemas.errors import StaleRef

FIXTURES = Path(__file__).parent.parent / "fixtures" / "harmonyos"
PHONE = View(1260, 2720, 3.25, app="com.samples.test.uitest", ability="EntryAbility")
ALL = TreeScope(max_nodes=9999)


def text(name: str) -> str:
    return (FIXTURES / name).read_text("utf-8")


def part(name: str, title: str) -> str:
    """What a file holds after a `# title` line, up to the next one."""
    for block in ("\n" + text(name)).split("\n# ")[1:]:
        head, _, body = block.partition("\n")
        if head.startswith(title):
            return body
    raise AssertionError(title)


def node(kind: str, box: str = "[0,0][100,100]", *children: dict[str, Any], **attributes: str) -> dict[str, Any]:
    """A node of a layout."""
    return {"attributes": {"type": kind, "bounds": box, **attributes}, "children": list(children)}


def tree_of(*windows_: dict[str, Any]) -> Tree:
    return build(layout.parse_layout(json.dumps(node("", "[0,0][1260,2720]", *windows_))), PHONE, ALL)


def app(*children: dict[str, Any], number: str = "9", bundle: str = "com.example.app") -> dict[str, Any]:
    more = {"hostWindowId": number, "bundleName": bundle, "abilityName": "EntryAbility"}
    return node("root", "[0,0][1260,2720]", *children, **more)


def named(tree: Tree, name: str) -> Node:
    found = [one for one in tree.nodes if one.name == name]
    assert len(found) == 1, [one.name for one in tree.nodes]
    return found[0]


# --- layouts ---


def test_a_captured_layout_becomes_a_sound_tree_of_all_its_elements() -> None:
    read = layout.parse_layout(text("layout_dump_5.0_phone.json"))
    tree = build(read, PHONE, ALL)
    assert tree_faults(tree.nodes) == []
    assert read.bounds == (0, 0, 1260, 2720)
    assert len(tree.nodes) == 76 == 1 + len(read.windows) + read.count
    assert {one.role for one in tree.nodes} <= ROLES
    assert tree.location == "com.samples.test.uitest/EntryAbility"


def test_an_elements_app_and_window_are_those_of_its_window() -> None:
    tree = build(layout.parse_layout(text("layout_dump_5.0_phone.json")), PHONE, ALL)
    assert named(tree, "showToast").app == "com.samples.test.uitest"
    clock = next(one for one in tree.nodes if one.identifier == "TimeView_Text_timeText")
    assert clock.app == "com.ohos.sceneboard"


def test_types_states_and_labels_of_a_captured_layout() -> None:
    tree = build(layout.parse_layout(text("layout_dump_5.0_phone.json")), PHONE, ALL)
    button = next(one for one in tree.nodes if one.identifier == "btnTest")
    assert (button.role, button.name, button.actions) == ("button", "ButtonTest", ("press",))
    on = next(one for one in tree.nodes if one.identifier == "Toggle_switch_true")
    off = next(one for one in tree.nodes if one.identifier == "Toggle_switch_false")
    assert (on.role, "checked" in on.states, "unchecked" in off.states) == ("switch", True, True)
    assert next(one for one in tree.nodes if one.identifier == "check_test_checked").role == "checkbox"
    assert "checked" in next(one for one in tree.nodes if one.identifier == "radio_test1").states
    assert next(one for one in tree.nodes if one.native_role == "Select").value == "TTT"
    scroll = next(one for one in tree.nodes if one.identifier == "scroll_test")
    assert scroll.actions == ("scroll",)
    assert scroll.rect is not None and round(scroll.rect.width * 3.25) == 1138


def test_what_has_the_focus_is_no_arrangement_of_others() -> None:
    """The root and a Row of the captured layout say that they have the focus: nothing a person could act on does."""
    tree = build(layout.parse_layout(text("layout_dump_5.0_phone.json")), PHONE, ALL)
    assert [one for one in tree.nodes if "focused" in one.states] == []
    field = node("TextInput", focused="true", clickable="true", hint="Name", accessibilityId="3")
    tree = tree_of(app(node("Column", "[0,0][1260,2720]", field, focused="true")))
    assert [one.name for one in tree.nodes if "focused" in one.states] == ["Name"]


def test_identity_is_the_windows_number_and_the_elements() -> None:
    one = app(node("Text", text="a", accessibilityId="7"), node("Text", text="b", accessibilityId="7"))
    other = app(node("Text", text="c", accessibilityId="7"), number="10")
    keys = {each.name: each.key for each in tree_of(one, other).nodes if each.role == "text"}
    assert keys == {"a": "9:7", "b": None, "c": "10:7"}  # a number given twice tells the identity of no second element


def test_a_masked_field_or_one_named_so_is_secure_and_keeps_its_text() -> None:
    tree = tree_of(
        app(
            node("TextInput", text="****", description="Code"),
            node("TextInput", text="", hint="Password"),
            node("TextInput", text="Ada", hint="Name"),
        )
    )
    said = {one.name: (one.secure, one.value) for one in tree.nodes if one.role == "textbox"}
    assert said == {"Code": (True, None), "Password": (True, None), "Name": (False, "Ada")}


def test_bounds_may_lie_outside_of_the_screen() -> None:
    tree = tree_of(app(node("Button", "[-300,-40][-10,50]", text="Gone", clickable="true")))
    assert layout.bounds("[-300,-40][-10,50]") == (-300, -40, -10, 50)
    assert "offscreen" in named(tree, "Gone").states


def test_what_lies_over_an_element_takes_its_input() -> None:
    under = node("Button", "[0,0][400,100]", text="Under", clickable="true")
    beside = node("Button", "[0,200][400,300]", text="Beside", clickable="true")
    veil = node("Image", "[0,0][400,100]", description="Veil", clickable="true")
    tree = tree_of(app(under, beside, veil))
    assert [named(tree, name).hittable for name in ("Under", "Beside", "Veil")] == [False, True, True]


def test_a_keyboard_covers_what_is_under_it() -> None:
    low = node("Button", "[0,2000][400,2100]", text="Low", clickable="true")
    key = node("Button", "[0,1800][100,2700]", text="q", clickable="true")
    board = node("root", "[0,1800][1260,2720]", key, hostWindowId="5", bundleName="com.huawei.hmos.inputmethod")
    tree = tree_of(board, app(low))  # wherever it stands in the layout
    assert named(tree, "Low").hittable is False
    board_node = next(one for one in tree.nodes if one.role == "keyboard")
    assert board_node.rect is not None and tree.nodes.index(board_node) > tree.nodes.index(named(tree, "Low"))
    assert "q" not in {one.name for one in tree.nodes}, "its keys are no elements of an app"


def test_caps_are_counted() -> None:
    many = app(*(node("Text", text="x" * 40) for _ in range(50)))
    read = layout.parse_layout(json.dumps(node("", "[0,0][1260,2720]", many)))
    tree = build(read, PHONE, TreeScope(max_nodes=20, max_text=10))
    assert len(tree.nodes) == 20
    assert (tree.quality, tree.omitted) == ("truncated", {"nodes": 32, "text": 19})


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (part("uiinput_results.txt", "dumpLayout").splitlines()[1], "failed"),
        (text("layout_dump_5.0_phone.json")[:4096], "cut off"),
        ("/bin/sh: uitest: inaccessible or not found", "no layout"),
        ("[]", "no layout"),
        ("", "no layout"),
    ],
)
def test_what_is_no_layout_is_told_by_its_reason(said: str, why: str) -> None:
    with pytest.raises(layout.NoLayout) as none:
        layout.parse_layout(said)
    assert none.value.why == why


def test_a_layout_of_any_depth_is_read() -> None:
    whole: dict[str, Any] = node("Text", text="deep")
    for _ in range(300):
        whole = node("Stack", "[0,0][10,10]", whole)
    assert layout.parse_layout(json.dumps(node("", "[0,0][10,10]", app(whole)))).count == 301


# --- dialogs ---


def dialog(*children: dict[str, Any], kind: str = "AlertDialog") -> Tree:
    below = node("Button", "[0,0][400,100]", text="Below", clickable="true")
    return tree_of(app(below, node(kind, "[100,900][1100,1400]", *children)))


def button(label: str) -> dict[str, Any]:
    return node("Button", "[200,1200][500,1300]", text=label, clickable="true")


def test_a_question_is_told_with_its_text_and_buttons_and_blocks_the_rest() -> None:
    tree = dialog(node("Text", text="Are you sure?"), button("OK"), button("Cancel"))
    found = dialog_of(tree)
    assert found is not None
    assert (found.kind, found.text, list(found.buttons)) == ("confirm", "Are you sure?", ["OK", "Cancel"])
    assert named(tree, "Below").hittable is False


@pytest.mark.parametrize(
    ("labels", "yes", "no"),
    [(("Cancel", "OK"), "OK", "Cancel"), (("取消", "允许"), "允许", "取消"), (("Cancel", "Delete"), "Delete", "Cancel"),
     (("Got it",), "Got it", "Got it"), (("Red", "Blue"), None, None), (("OK", "Cancel", "More"), "OK", "Cancel")],
)  # fmt: skip
def test_only_a_button_that_clearly_says_so_answers(labels: tuple[str, ...], yes: str | None, no: str | None) -> None:
    tree = dialog(node("Text", text="?"), *map(button, labels))
    found = [button_for(tree, True), button_for(tree, False)]
    assert [one.name if one is not None else None for one in found] == [yes, no]


def test_a_dialog_with_more_to_act_on_is_a_screen_like_any_other() -> None:
    rows = [node("ListItem", text=f"Row {at}", clickable="true") for at in range(3)]
    assert dialog_of(dialog(node("Text", text="Choose"), *rows, button("OK"), kind="Dialog")) is None


# --- screens, windows ---


def test_the_screen_of_a_captured_dump_and_its_older_spelling() -> None:
    new = text("hidumper_screen_6.1.1_emulator.txt")
    old = new.replace("powerStatus=", "powerstatus=").replace("render resolution=", "render size: ")
    for said in (new, old):
        panel = display.panel(said)
        assert panel is not None
        assert (panel.width, panel.height, panel.usable) == (1320, 2856, True)
    assert display.scale_of(panel) == 2.625  # 1320 pixels over 78 mm


def test_of_several_screens_the_one_that_is_on() -> None:
    said = (
        "screen[0]: id=0, powerStatus=POWER_STATUS_OFF, render resolution=1080x2504\n"
        "screen[1]: id=5, powerStatus=POWER_STATUS_ON, render resolution=2224x2496\n"
    )
    panel = display.panel(said)
    assert panel is not None
    assert (panel.id, panel.width) == ("5", 2224)
    dark = display.panel(said.replace("_ON", "_SUSPEND"))
    assert dark is not None and not dark.usable


def test_density_rotation_and_bounds_of_the_display() -> None:
    said = "VirtualPixelRatio:                 3.25\nDisplayOrientation: 1\nBounds<L,T,W,H>: 0, 0, 2720, 1260,\n"
    assert display.display(said) == display.Display(3.25, 1, 2720, 1260)
    assert display.display("nothing") == display.Display(None, None, None, None)


@pytest.mark.parametrize(
    ("quarters", "turned", "lying"),
    [(0, 0, False), (1, 1, False), (3, 3, False), (0, 1, True), (1, 0, True), (2, 3, True)],
)
def test_which_way_a_device_is_made_to_be_held(quarters: int, turned: int, lying: bool) -> None:
    assert display.display(f"Rotation: {quarters}\nDisplayOrientation: {turned}\n").made_lying is lying


def test_the_window_managers_table() -> None:
    table = windows.parse_windows(text("hidumper_wms_a.txt"))
    assert (len(table.rows), table.focus) == (6, 13)
    assert table.shows(windows.LOCK) is None and table.shows(windows.RECENTS) is None  # they are there, and not shown
    front = table.shows(windows.APP)
    assert front is not None and (front.name, front.id, front.box) == ("note0", 13, (0, 0, 720, 1280))
    board = "Keyboard1            0         99      21    2105 1    0    3    0           [ 0    800  720  480  ]\n"
    shown = windows.parse_windows(board).shows(windows.KEYBOARD)
    assert shown is not None and shown.box == (0, 800, 720, 480)


# --- apps ---


def test_in_front_is_the_mission_that_says_so_itself() -> None:
    said = text("aa_dump_l.txt")
    front = missions.front(said)
    assert front is not None and (front.app, front.ability) == ("com.example.shop", "EntryAbility")
    # A background mission whose app's process counts as in front is not in front.
    tricky = said.replace("        app state #BACKGROUND", "        app state #FOREGROUND")
    front = missions.front(tricky.replace("state #FOREGROUND  start", "state #BACKGROUND  start"))
    assert front is None


@pytest.mark.parametrize(
    ("title", "ok", "code", "ms"),
    [
        ("aa start -a EntryAbility -b", True, 0, None),
        ("aa start -W", True, 0, 1163),
        ("aa start, wrong ability", False, missions.NO_ABILITY, None),
        ("aa start -b com.example.shop (implicit)", False, missions.NO_MATCH, None),
    ],
)
def test_a_start_is_judged_by_its_words(title: str, ok: bool, code: int, ms: int | None) -> None:
    verdict = missions.started(part("aa_results.txt", title))
    assert (verdict.ok, verdict.code, verdict.ms) == (ok, code, ms)


def test_a_stop_is_judged_by_its_words() -> None:
    assert missions.stopped(part("aa_results.txt", "aa force-stop com.example.shop")).ok
    missing = missions.stopped(part("aa_results.txt", "aa force-stop com.not.installed"))
    assert (missing.ok, missing.code) == (False, missions.NO_PACKAGE)


@pytest.mark.parametrize("row", json.loads(text("main_ability_spellings.json")), ids=lambda row: row["bundle"])
def test_the_ability_to_start_is_found_in_either_spelling(row: dict[str, str]) -> None:
    wanted = row["abilityInfos.name"]
    assert bundles.matching(row["mainAbility"], ["Other", wanted]) == wanted
    assert bundles.matching(wanted, ["Other", row["mainAbility"]]) == row["mainAbility"]


def test_an_ability_whose_name_merely_ends_alike_is_another_one() -> None:
    assert bundles.matching("MainAbility", ["NotMainAbility"]) == ""
    assert bundles.matching("", ["EntryAbility"]) == ""  # no entry in the launcher: nothing to start


def test_installed_apps_and_what_is_told_of_one() -> None:
    names = bundles.listed(text("bm_dump_a.txt"))
    assert len(names) == 8 and "com.huawei.hmos.AutoRegService" in names
    shop = bundles.parse_bundle(text("bm_dump_n.txt"))
    assert shop == bundles.Bundle("com.example.shop", "entry", "EntryAbility", False, "1.0.0")
    assert bundles.parse_bundle("error: failed to get information and the parameters may be wrong.\n") is None


# --- hdc ---


def test_an_install_that_failed_says_finish_as_well() -> None:
    assert app_verdict(part("file_and_install.txt", "hdc install ok")).ok
    refused = app_verdict(part("file_and_install.txt", "hdc install refused"))
    assert (refused.ok, refused.code) == (False, "9568320")
    removed = part("file_and_install.txt", "hdc uninstall ok")
    assert app_verdict(removed).ok
    assert app_verdict(removed.replace("path: msg:", "path:, queuesize:0, msg:")).ok
    assert not app_verdict("AppMod finish\n").ok
    assert not app_verdict("").ok


def test_a_copy_is_whole_when_it_is_said_to_be() -> None:
    sent = file_verdict(part("file_and_install.txt", "hdc file send"))
    assert (sent.ok, sent.size, sent.count) == (True, 71792, 1)
    old = file_verdict(
        "[I][2026-01-01 10:00:00] HdcFile::TransferSummary success, FileTransfer finish, Size:5, time:1ms"
    )
    assert (old.ok, old.size) == (True, 5)
    lost = part("file_and_install.txt", "hdc file recv of a missing path")
    assert not file_verdict(lost).ok
    found = refusal(lost)
    assert found is not None and error_of(found, path="nope").code == "path_not_found"


def test_a_refusal_is_one_at_the_first_column_only() -> None:
    assert refusal("[Fail]Connect failed\r\n") is not None
    assert refusal("the log says [Fail]Connect failed") is None
    assert refusal("line\n[Fail]Connect failed") is None


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("[Fail]Not match target founded, check connect-key please", "device_offline"),
        ("[Fail]ExecuteCommand need connect-key? please confirm a device by help info", "device_offline"),
        ("[Fail][E001005] Device not found or connected", "device_offline"),
        ("[Fail]Bind tartget session is dead", "device_offline"),
        ("[Fail][E002106] Failed to communicate with daemon", "device_offline"),
        ("[Fail][E000004]:The communication channel is being established.", "device_not_ready"),
        ("[Fail][E000002]:Device Unauthorized.", "device_unauthorized"),
        ("Unknown operation command...", "upstream_unavailable"),
        ("[Fail]Something nobody knows", "upstream_unavailable"),
    ],
)
def test_refusals_are_told_apart(said: str, code: str) -> None:
    found = refusal(said)
    assert found is not None
    error = error_of(found)
    assert error.code == code
    assert found.said not in error.message  # the server's words go into details alone


def test_every_refusal_of_the_real_program_is_one_though_its_status_is_zero() -> None:
    said = [line.partition("[stdout] ")[2] for line in text("hdc_cli_real_3.2.0f.txt").splitlines() if "[Fail]" in line]
    assert len(said) == 5
    assert all(refusal(one) is not None for one in said)


def test_the_lists_of_all_versions() -> None:
    verbose = parse_rows(text("list_targets_v.txt"))
    assert verbose == [
        Row("127.0.0.1:5555", "TCP", "Connected", "localhost"),
        Row("FMR0000000000001", "USB", "Connected", "unknown..."),
    ]
    assert [row.key for row in parse_rows(text("list_targets.txt"))] == ["127.0.0.1:5555", "FMR0000000000001"]
    assert parse_rows("[Empty]\r\thdc\n") == [] == parse_rows("[Empty]\r\n")
    assert parse_rows("ABC\tUnauthorized\r\n")[0].state == "Unauthorized"
    old = parse_rows("ABC\t\tUSB\tOffline\n/dev/ttyS0\t\tUART\tReady\n")
    assert [(row.key, row.state, row.noise) for row in old] == [
        ("ABC", "Offline", False),
        ("/dev/ttyS0", "Ready", True),
    ]


# --- who, what, when ---


def test_who_a_device_says_it_is() -> None:
    told = json.loads(text("param_get.json"))
    phone = identity(parse_params("".join(f"{name}={value} \n" for name, value in told.items())))
    assert (phone.name, phone.model, phone.device_class, phone.api, phone.emulator) == (
        "HUAWEI Mate 60 Pro", "ALN-AL00", "phone", 12, False,
    )  # fmt: skip
    emulator = identity(parse_params(f"const.product.name={told['(emulator) const.product.name']}\n"))
    assert emulator.emulator
    assert identity(parse_params("const.build.characteristics=tv\n")).device_class == "tv"
    assert (
        identity(parse_params('const.product.name=Get parameter "const.product.name" fail! errNum is:106!\n')).name
        == ""
    )


def test_virtual_devices_between_remarks() -> None:
    (found,) = emulators.parse_list("Config file not found: [C:/x]\n" + text("emulator_list_details.txt") + "\nbye\n")
    assert (found.name, found.device_class, found.running, found.width) == ("Pura 90", "phone", False, 1320)
    assert emulators.parse_list("[Empty]\n") == []


def test_lines_of_the_log() -> None:
    first, second, third = text("hilog_lines.txt").splitlines()
    assert hilog.parse_line(first) is None and hilog.parse_line(second) is None  # another format than we ask for
    found = hilog.parse_line(third)
    assert found is not None
    assert (found.time, found.pid, found.level, found.text) == (1723709632.267, 2571, "info", "page shown")


@pytest.mark.parametrize(
    ("title", "status", "ok", "why"),
    [
        ("click/swipe/... ok", 0, True, ""),
        ("click 0 100", 1, False, "coordinates"),
        ("keyEvent Recent", 1, False, "parameters"),
        ("swipe with velocity 50", 0, True, ""),
        ("text with two unquoted words", 1, False, "count"),
    ],
)
def test_input_is_judged_by_its_words_and_its_status(title: str, status: int, ok: bool, why: str) -> None:
    verdict = inputs.verdict(part("uiinput_results.txt", title), status)
    assert (verdict.ok, verdict.why) == (ok, why)
    assert verdict.other_speed is ("velocity" in title)


def test_memory_and_processor_time() -> None:
    status = "Name:\tx\nVmHWM:\t  2000 kB\nVmRSS:\t  1500 kB\n"
    assert measures.memory(status) == {"residentKb": 1500, "peakResidentKb": 2000}
    stat = "cpu  10 0 10 80 0 0 0 0 0 0\ncpu0 5 0 5 40 0 0\ncpu1 5 0 5 40 0 0\n"
    mine = "42 (a) b) S 1 1 1 0 -1 0 0 0 0 0 7 3 0 0 20 0\n"
    assert measures.ticks(stat + mine) == {42: 10}


def test_processor_time_as_the_devices_own_program_tells_it() -> None:
    told = (
        "-------------------------------[cpuusage]-------------------------------\n\n"
        "Load average: 12.1 / 12.2 / 12.1; the cpu load average in 1 min, 5 min and 15 min\n"
        "CPU usage from 2024-11-06 11:59:33 to 2024-11-06 11:59:38\n"
        "Total: 6.38%; User Space: 2.57%; Kernel Space: 3.81%; iowait: 0.02%; irq: 0.14%; idle: 93.46%\n"
        "Details of Processes:\n"
        "    PID   Total Usage      User Space    Kernel Space    Page Fault Minor    Page Fault Major    Name\n"
        "    105      109.01%           0.00%        109.01%             1                   0    com.example\n"
    )
    assert measures.usage(told, 105) == (109.01, 5.0)
    assert measures.usage(told, 106) is None
    assert measures.usage("", 105) is None


def test_the_part_inside_an_element_and_nothing_else() -> None:
    row = node("ListItem", "[0,0][100,50]", node("Text", text="Inner", accessibilityId="3"), accessibilityId="2")
    read = layout.parse_layout(
        json.dumps(node("", "[0,0][1260,2720]", app(row, node("Text", text="Beside", accessibilityId="4"))))
    )
    tree = build(read, PHONE, TreeScope(root="9:2"))
    assert tree_faults(tree.nodes) == []
    assert [one.role for one in tree.nodes] == ["application", "listitem", "text"]
    assert build(read, PHONE, TreeScope(root="9:2", max_nodes=2)).omitted == {"nodes": 1}
    assert build(read, PHONE, TreeScope(root="9:2", max_depth=2)).omitted == {"depth": 1}
    with pytest.raises(StaleRef):
        build(read, PHONE, TreeScope(root="9:77"))


def test_the_window_that_has_the_focus_comes_first_in_a_layout_and_last_in_a_tree() -> None:
    bar = node("WindowScene", "[0,0][1260,123]", node("Text", text="6:14"), bundleName="com.ohos.sceneboard")
    tree = tree_of(app(node("Text", text="page")), bar)
    assert [one.name for one in tree.nodes if one.role == "text"] == ["6:14", "page"]
