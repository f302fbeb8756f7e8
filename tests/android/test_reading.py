"""What Android's programs print is read right, whatever their exit status says."""

from __future__ import annotations

from pathlib import Path

import pytest

from anydevice.driver import TreeScope
from anydevice_android.reading import keyboard, screens
from anydevice_android.reading.classes import role_of
from anydevice_android.reading.dump import Dump, NoDump, parse_dump
from anydevice_android.reading.focus import Focus, focus, locked
from anydevice_android.reading.props import identity, parse_props
from anydevice_android.reading.verdicts import package_verdict, resolved, started
from anydevice_android.tree import View, build
from anydevice_schemas import ROLES, Node, tree_faults

FIXTURES = Path(__file__).parent.parent / "fixtures" / "android"
PHONE = View(1080, 2400, 2.625, "com.example.app", "com.example.app.Main")
DUMPS = sorted(path.name for path in FIXTURES.glob("dump_*") if "_err_" not in path.name)


def text(name: str) -> str:
    return (FIXTURES / name).read_text("utf-8", "replace")


def dumped(name: str) -> Dump:
    return parse_dump(text(name))


def named(dump: Dump, name: str, view: View = PHONE) -> Node:
    found = [node for node in build(dump, view, TreeScope(max_nodes=9999)).nodes if node.name == name]
    assert len(found) == 1, [node.name for node in found]
    return found[0]


def test_every_captured_output_is_held_by_a_test() -> None:
    files = [*Path(__file__).parent.glob("test_*.py"), *(Path(__file__).parent.parent / "adb").glob("test_*.py")]
    tests = "".join(path.read_text("utf-8") for path in files)
    kept = {path.name for path in FIXTURES.iterdir()} - {"README.md", "SOURCES.tsv"}
    assert len(kept) > 30 and [name for name in sorted(kept) if f'"{name}"' not in tests] == []


# --- dumps ---


@pytest.mark.parametrize("name", DUMPS)
def test_every_captured_dump_becomes_a_sound_tree(name: str) -> None:
    dump = dumped(name)
    tree = build(dump, PHONE, TreeScope(max_nodes=9999))
    assert tree_faults(tree.nodes) == []
    shown = [w for w in dump.windows if w.display in ("", dump.windows[0].display)]
    assert len(tree.nodes) == 1 + len(shown) + sum(len(w.parents) for w in shown)
    assert all(node.role in ROLES for node in tree.nodes)


@pytest.mark.parametrize(
    ("name", "why"),
    [("dump_err_idle.txt", "busy"), ("dump_err_null_root.txt", "null_root"),
     ("dump_err_already_registered.txt", "slot_taken")],
)  # fmt: skip
def test_what_is_printed_in_place_of_a_dump_is_told_by_its_reason(name: str, why: str) -> None:
    with pytest.raises(NoDump) as none:
        parse_dump(text(name), 0)
    assert none.value.why == why


def test_a_dump_that_the_system_ended_says_so_though_it_printed_nothing() -> None:
    with pytest.raises(NoDump) as none:
        parse_dump("", 137)
    assert none.value.why == "killed"


@pytest.mark.parametrize(
    "said", ["", "UI hierchary dumped to: /dev/tty", "<hierarchy rotation=", "<hierarchy><node></hierarchy>"]
)
def test_half_a_dump_is_no_dump(said: str) -> None:
    with pytest.raises(NoDump) as none:
        parse_dump(said)
    assert none.value.why == "garbage"


def test_the_trailer_and_a_tag_broken_by_a_terminal_do_not_matter() -> None:
    dump = dumped("dump_dev_tty_with_trailer.txt")
    assert (dump.count, dump.packages()) == (1, {"com.example.debug"})


def test_characters_that_xml_does_not_know_do_not_lose_the_screen() -> None:
    dump = parse_dump(
        '<hierarchy rotation="0"><node text="a&#8;b\x01c" class="x.TextView" bounds="[0,0][9,9]"/></hierarchy>'
    )
    assert build(dump, PHONE, TreeScope()).nodes[-1].name == "a\ufffdb\ufffdc"


def test_windows_of_several_displays_are_told_apart_and_the_topmost_comes_last() -> None:
    dump = dumped("dump_windows_multi_display.xml")
    assert dump.whole and [(w.display, w.kind) for w in dump.windows] == [
        ("0", "TYPE_SYSTEM"), ("0", "TYPE_APPLICATION"), ("7", "TYPE_SYSTEM"),
    ]  # fmt: skip
    tree = build(dump, PHONE, TreeScope())
    assert [node.native_role for node in tree.nodes if node.role == "window"] == ["TYPE_APPLICATION", "TYPE_SYSTEM"]
    assert not any(node.window == "7" for node in tree.nodes)


def test_an_element_says_role_states_and_place_in_points() -> None:
    dump = dumped("dump_webview_dom_nodes.xml")
    switch = next(node for node in build(dump, PHONE, TreeScope()).nodes if node.role == "switch")
    assert switch.states == {"checked"} and "press" in switch.actions
    off = named(dump, "Increment")
    assert off.role == "button" and "disabled" in off.states
    on = named(dump, "OK")
    assert "disabled" not in on.states  # where enabled is absent it is true
    assert on.rect is not None and round(on.rect.x * 2.625) == 53 and round(on.rect.width * 2.625) == 975


def test_a_label_of_several_lines_stays_one_name() -> None:
    assert named(dumped("dump_webview_dom_nodes.xml"), "You have pushed the button\n0").role == "generic"


def test_each_half_of_an_emoji_is_a_dot_and_the_element_can_still_be_pressed() -> None:
    assert named(dumped("dump_emoji_as_dots.xml"), "..").actions == ("press",)


def test_a_dump_of_an_old_release_has_no_ids_and_all_else() -> None:
    dump = dumped("dump_generic_api18.xml")
    assert {node.identifier for node in build(dump, PHONE, TreeScope()).nodes} == {""}
    tab = named(dump, "Apps")
    assert (tab.role, tab.states, tab.actions, tab.app) == ("tab", {"selected"}, ("press",), "com.android.launcher")


def test_a_pretty_printed_dump_is_read_whatever_its_lines() -> None:
    dump = dumped("dump_launcher_api27_pretty.xml")
    clock = named(dump, "Sunday, May 19")
    assert clock.identifier == "com.google.android.apps.nexuslauncher:id/clock"
    assert clock.actions == ("press", "longpress")
    assert named(dump, "Apps list").role == "button"


def test_what_is_drawn_by_an_app_itself_is_called_by_the_label_inside_it() -> None:
    nodes = build(dumped("dump_compose_surfaceview_drawing_order_hint.xml"), PHONE, TreeScope()).nodes
    pressed = [node.name for node in nodes if "press" in node.actions]
    assert pressed == ["Back", "Show player controls"]


def test_what_has_no_label_at_all_is_not_called_by_its_neighbours() -> None:
    nodes = build(dumped("dump_flutter_naf.xml"), PHONE, TreeScope()).nodes
    assert [node.name for node in nodes if "press" in node.actions] == [
        "", "", "Save", "AI Assistant", "Explorer\nTab 1 of 3", "Terminal\nTab 2 of 3", "Search\nTab 3 of 3",
    ]  # fmt: skip
    cover = named(dumped("dump_flutter_naf.xml"), "No files open\nNo file selected")
    assert cover.actions == () and all(node.hittable for node in nodes if node.actions)


def test_a_secure_field_has_no_value_though_the_dump_has_one() -> None:
    field = '<node text="••••" password="true" class="android.widget.EditText" content-desc="PIN" bounds="[0,0][9,9]"/>'
    node = build(parse_dump(f"<hierarchy>{field}</hierarchy>"), PHONE, TreeScope()).nodes[-1]
    assert (node.secure, node.value, node.name) == (True, None, "PIN")


def test_a_hint_is_a_name_and_never_a_value() -> None:
    field = '<node text="Search" hint="Search" class="android.widget.EditText" bounds="[0,0][9,9]"/>'
    node = build(parse_dump(f"<hierarchy>{field}</hierarchy>"), PHONE, TreeScope()).nodes[-1]
    assert (node.name, node.value, "editable" in node.states) == ("Search", "", True)


def test_what_is_clickable_is_called_by_the_label_inside_it() -> None:
    inner = '<node text="Row 3" class="android.widget.TextView" bounds="[0,0][100,50]"/>'
    row = f'<node clickable="true" class="android.view.ViewGroup" bounds="[0,0][1080,100]">{inner}</node>'
    rows = f'<node class="androidx.recyclerview.widget.RecyclerView" bounds="[0,0][1080,2000]">{row}</node>'
    nodes = build(parse_dump(f"<hierarchy>{rows}</hierarchy>"), PHONE, TreeScope()).nodes
    assert [(node.role, node.name) for node in nodes[-3:]] == [("list", ""), ("listitem", "Row 3"), ("text", "Row 3")]


def test_what_lies_under_something_that_takes_input_gets_none() -> None:
    under = '<node text="Pay" clickable="true" class="android.widget.Button" bounds="[0,100][200,200]"/>'
    over = '<node clickable="true" class="android.widget.ImageView" bounds="[0,0][1080,400]"/>'
    clear = '<node class="android.widget.ImageView" bounds="[0,0][1080,400]"/>'
    covered = build(parse_dump(f"<hierarchy>{under}{over}</hierarchy>"), PHONE, TreeScope()).nodes
    assert [node.hittable for node in covered if node.name == "Pay"] == [False]
    seen = build(parse_dump(f"<hierarchy>{under}{clear}</hierarchy>"), PHONE, TreeScope()).nodes
    assert [node.hittable for node in seen if node.name == "Pay"] == [True]


KEYBOARD = (
    '<window index="0" title="" bounds="[0,0][1080,2400]" focused="false" layer="9" type="TYPE_INPUT_METHOD">'
    "<hierarchy>"
    '<node class="android.widget.FrameLayout" bounds="[0,0][1080,2400]"><node resource-id="android:id/inputArea" '
    'class="android.widget.FrameLayout" bounds="[0,1500][1080,2400]"/></node></hierarchy></window>'
)


def test_the_keyboard_is_where_its_keys_are_and_covers_what_is_beneath() -> None:
    app = (
        '<window index="1" bounds="[0,0][1080,2400]" active="true" focused="true" layer="1" type="TYPE_APPLICATION">'
        '<hierarchy><node text="High" clickable="true" class="android.widget.Button" bounds="[0,100][1080,200]"/>'
        '<node text="Low" clickable="true" class="android.widget.Button" bounds="[0,1600][1080,1700]"/>'
        "</hierarchy></window>"
    )
    tree = build(parse_dump(f'<displays><display id="0">{KEYBOARD}{app}</display></displays>'), PHONE, TreeScope())
    assert {node.name: node.hittable for node in tree.nodes if node.role == "button"} == {"High": True, "Low": False}
    keyboards = [node for node in tree.nodes if node.role == "keyboard"]
    assert len(keyboards) == 1 and keyboards[0].rect is not None and round(keyboards[0].rect.y * 2.625) == 1500


def test_caps_are_kept_at_the_source_and_told() -> None:
    dump = dumped("dump_messages_low_res.xml")
    tree = build(dump, PHONE, TreeScope(max_nodes=20))
    assert len(tree.nodes) == 20 and tree.omitted["nodes"] == dump.count - 18 and tree.quality == "truncated"
    short = build(dump, PHONE, TreeScope(max_text=3))
    assert max(len(node.name) for node in short.nodes[1:]) == 3 and short.omitted["text"] > 0


def test_an_interactive_tree_holds_what_one_can_act_on() -> None:
    tree = build(dumped("dump_messages_low_res.xml"), PHONE, TreeScope(mode="interactive"))
    full = build(dumped("dump_messages_low_res.xml"), PHONE, TreeScope(max_nodes=9999))
    assert 3 < len(tree.nodes) < len(full.nodes)
    acting = [node.name for node in full.nodes if node.actions]
    assert [node.name for node in tree.nodes if node.actions] == acting
    assert tree_faults(tree.nodes) == []


def test_own_classes_of_an_app_have_the_role_of_what_they_extend_by_name() -> None:
    assert [role_of(name) for name in ("com.x.FancyEditText", "a.b.RoundImageButton", "c.Cell", "x.y$Tab")] == [
        "textbox", "button", "generic", "tab",
    ]  # fmt: skip


# --- what is in front ---


@pytest.mark.parametrize(
    ("name", "app", "activity"),
    [
        ("focus_api31_fold_multi_display.txt", "com.example.android", "com.example.android.activity.main.MainActivity"),
        ("focus_activities_topresumed.txt", "com.example.short", "com.yxc.example.HomeActivity"),
        ("focus_tv_launcher.txt", "com.google.android.tvlauncher", "com.google.android.tvlauncher.MainActivity"),
        ("focus_with_lock_flag.txt", "com.example.shop", "com.example.shop.MainActivity"),
    ],
)
def test_the_app_in_front_is_found_on_every_release(name: str, app: str, activity: str) -> None:
    assert focus(text(name)) == Focus(app, activity)


def test_a_dump_without_a_focus_says_nothing_rather_than_something() -> None:
    assert focus(text("focus_api34_windows_has_no_mCurrentFocus.txt")) is None
    assert focus("  mCurrentFocus=null\n  mFocusedApp=null\n") is None


def test_a_window_without_an_activity_is_an_overlay_of_the_app_beneath() -> None:
    said = "mCurrentFocus=Window{1a u0 com.chat.bubble}\nmFocusedApp=ActivityRecord{2b u0 com.example.app/.Main t9}"
    assert focus(said) == Focus("com.example.app", "com.example.app.Main", "com.chat.bubble")


def test_old_forms_of_the_focus_are_read() -> None:
    assert focus("  mCurrentFocus=Window{41 com.x.y/com.x.y.A paused=false}") == Focus("com.x.y", "com.x.y.A")


def test_the_lock_screen_is_told() -> None:
    assert not locked(text("focus_with_lock_flag.txt"))
    assert locked("mDreamingLockscreen=true\nmCurrentFocus=Window{a u0 com.example.shop/.Main}")


# --- verdicts ---


def test_an_activity_that_was_there_already_is_success_though_it_says_not_started() -> None:
    for said in text("am_start_warnings.txt").split("---"):
        assert (started(said).outcome, started(said).ok) == ("front", True)


@pytest.mark.parametrize(
    ("name", "outcome"), [("am_start_not_found.txt", "missing"), ("am_start_unresolved.txt", "unresolved")]
)
def test_a_start_that_failed_is_told_why_whatever_the_status(name: str, outcome: str) -> None:
    assert (started(text(name)).outcome, started(text(name)).ok) == (outcome, False)


@pytest.mark.parametrize("name", ["monkey_no_launcher.txt", "broadcast_airplane_denied.txt"])
def test_what_was_not_started_or_sent_is_no_start(name: str) -> None:
    assert not started(text(name)).ok


def test_a_start_says_what_came_up_and_how_long_it_took() -> None:
    said = (
        "Starting: Intent { cmp=a.b/.C }\nStatus: ok\nLaunchState: COLD\nActivity: a.b/.C\nTotalTime: 312\nComplete\n"
    )
    found = started(said)
    assert (found.outcome, found.app, found.activity, found.ms) == ("started", "a.b", "a.b.C", 312)


@pytest.mark.parametrize(
    "said",
    ["", "cmd: Can't find service: activity", "java.lang.NullPointerException: x", "Error: Bad component name: x"],
)
def test_what_is_not_understood_is_no_success(said: str) -> None:
    assert not started(said).ok and not package_verdict(said).ok


def test_every_install_failure_keeps_its_code() -> None:
    codes = [package_verdict(row).code for row in text("install_failures.txt").splitlines() if row.strip()]
    assert codes == [
        "INSTALL_FAILED_ALREADY_EXISTS", "INSTALL_FAILED_UPDATE_INCOMPATIBLE", "INSTALL_FAILED_VERSION_DOWNGRADE",
        "INSTALL_FAILED_TEST_ONLY", "INSTALL_FAILED_ABORTED", "INSTALL_FAILED_USER_RESTRICTED",
        "INSTALL_PARSE_FAILED_NOT_APK",
    ]  # fmt: skip
    full = package_verdict(text("install_insufficient_storage.txt"))
    assert (full.ok, full.code) == (False, "INSTALL_FAILED_INSUFFICIENT_STORAGE")
    assert package_verdict("Success\n").ok
    assert not package_verdict("Performing Streamed Install\ncmd: Failure calling service package: Broken pipe (32)").ok


def test_a_component_is_the_last_line_or_there_is_none() -> None:
    assert resolved("priority=0 preferredOrder=0 match=0x108000\ncom.x/.Main\n") == "com.x/.Main"
    assert resolved("No activity found\n") == ""


# --- keyboard, screen, identity ---


def test_the_keyboard_is_judged_by_its_window_first() -> None:
    rows = [row.split("\t") for row in text("ime_states.tsv").splitlines()[1:]]
    assert len(rows) == 5
    for said, visible in rows[:4]:  # the last one is two of these, one after the other
        assert keyboard.shown(said.replace("\\n", "\n")) is visible.startswith("true"), said
    assert keyboard.shown("mInputShown=true mIsInputViewShown=true") is True
    assert keyboard.shown("nothing of the kind") is None


def test_an_override_of_the_size_is_what_is_drawn() -> None:
    assert screens.size(text("wm_size_override.txt")) == (720, 1600)
    assert screens.density("Physical density: 420\nOverride density: 320\n") == 320
    assert screens.size("Error: nope") is None


def test_ids_of_displays_need_all_their_digits() -> None:
    assert screens.displays(text("surfaceflinger_display_id_fold.txt")) == [
        "4619827677550801152",
        "4619827677550801153",
    ]


def test_a_warning_before_a_picture_is_cut_off_and_half_a_picture_is_none() -> None:
    raw = (FIXTURES / "screencap_multi_display_prefix.bin").read_bytes()
    assert screens.png(raw) is None and "Multiple displays" in screens.said_before(raw)
    whole = screens.SIGNATURE + b"....IEND\xaeB`\x82"
    assert screens.png(b"[Warning] x\n" + whole + b"\n") == whole


def test_a_device_is_what_its_product_says_not_its_system_image() -> None:
    found = identity(parse_props(text("getprop_pixel8_api36_excerpt.txt")))
    assert (found.model, found.sdk, found.emulator, found.device_class) == ("Pixel 8", 36, False, "phone")


def test_traits_make_the_class_of_a_device() -> None:
    base = {"ro.build.version.sdk": "30"}
    classes = [
        identity(base | {"ro.build.characteristics": word}).device_class
        for word in ("tv,nosdcard", "tablet", "watch", "default")
    ]
    assert classes == ["tv", "tablet", "wearable", "phone"]
