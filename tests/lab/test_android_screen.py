"""What a lab device shows and does: the practice app through the programs of the device, judged by its witness."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from anydevice_lab.android import Lab

from .adb import PRACTICE, Adb, Reports, eventually, middle

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def tv(lab: Lab) -> Adb:
    return Adb(lab, (await lab.start("tv"))[0])


async def focus(device: Adb) -> str:
    """The window in front, as dumpsys tells it."""
    text = await device.shell("dumpsys window displays")
    return re.findall(r"mCurrentFocus=(.*)", text)[-1]


async def test_a_tap_is_felt_by_the_app_and_shown(phone: Adb, reports: Reports) -> None:
    await phone.open("home", reports.url)
    assert (await reports.heard("ready"))["value"] == "home"
    await phone.tap("home.increment")
    assert (await reports.heard("press"))["id"] == "home.increment"
    assert (await reports.heard("count"))["value"] == 1
    node = await phone.node("home.count")
    assert (node["text"], node["content-desc"]) == ("1", "Count")


async def test_points_are_pixels_times_the_density(phone: Adb) -> None:
    await phone.open("home")
    node = await phone.node("home.increment")
    left, top, right, bottom = map(int, re.findall(r"\d+", node["bounds"]))
    assert (bottom - top, left, right) == (105, 21, 1059)  # 40 and 8 points at 420 dpi
    assert await phone.shell("wm size; wm density") == "Physical size: 1080x2400\nPhysical density: 420\n"


async def test_typing_fills_the_field_that_has_the_focus(phone: Adb, reports: Reports) -> None:
    await phone.open("form", reports.url)
    assert (await phone.node("form.submit"))["enabled"] == "false"
    await phone.tap("form.name")
    assert "mInputShown=true" in await phone.shell("dumpsys input_method")
    await phone.shell("input text 'Ada%sL'")
    await reports.becomes("fill", "Ada L")
    node = await phone.node("form.name")
    assert (node["text"], node["focused"]) == ("Ada L", "true")
    await phone.shell("input keyevent BACK")
    assert (await phone.node("form.submit"))["enabled"] == "true"
    await phone.shell("input keyevent KEYCODE_DEL 67")
    await reports.becomes("fill", "Ada")


async def test_what_a_secure_field_holds_is_dots(phone: Adb, reports: Reports) -> None:
    await phone.open("form", reports.url)
    await phone.tap("form.password")
    await phone.shell("input text secret")
    assert (await reports.heard("fill"))["value"] == 6
    node = await phone.node("form.password")
    assert (node["text"], node["password"]) == ("••••••", "true")


async def test_back_closes_the_keyboard_first(phone: Adb, reports: Reports) -> None:
    await phone.open("home", reports.url)
    await phone.tap("home.form")
    await reports.heard("ready", 2)
    await phone.tap("form.name")
    await phone.shell("input keyevent BACK")
    assert "mInputShown=false" in await phone.shell("dumpsys input_method")
    assert await phone.node("form.name")
    await phone.shell("input keyevent 4")
    assert (await reports.heard("ready", 3))["value"] == "home"
    await phone.shell("input keyevent 4")
    assert "launcher" in await focus(phone)


async def test_the_keyboard_takes_room_and_its_keys_type(phone: Adb) -> None:
    await phone.open("form")
    await phone.tap("form.name")
    text = await phone.shell("uiautomator dump --windows /dev/tty")
    tree = ElementTree.fromstring(text[: text.rindex(">") + 1])
    kinds = {window.get("type") for window in tree.iter("window")}
    assert kinds == {"TYPE_SYSTEM", "TYPE_APPLICATION", "TYPE_INPUT_METHOD"}
    keys = next(window for window in tree.iter("window") if window.get("type") == "TYPE_INPUT_METHOD")
    key = next(dict(node.attrib) for node in keys.iter("node") if node.get("text") == "q")
    await phone.shell("input tap {} {}".format(*middle(key)))
    assert (await phone.node("form.name"))["text"] == "q"
    top = int(re.findall(r"\d+", keys.get("bounds", ""))[1])
    nodes = [node for node in await phone.nodes() if node["resource-id"]]
    assert all(int(re.findall(r"\d+", node["bounds"])[3]) <= top for node in nodes if "form." in node["resource-id"])


async def test_a_select_drops_its_list_down(phone: Adb, reports: Reports) -> None:
    await phone.open("form", reports.url)
    await phone.tap("form.colour")
    green = next(node for node in await phone.nodes() if node["text"] == "Green")
    assert green["class"] == "android.widget.CheckedTextView"
    await phone.shell("input tap {} {}".format(*middle(green)))
    assert (await reports.heard("select"))["value"] == "Green"


async def test_a_switch_is_toggled(phone: Adb, reports: Reports) -> None:
    await phone.open("form", reports.url)
    await phone.tap("form.wifi")
    assert (await reports.heard("toggle"))["value"] is True
    assert (await phone.node("form.wifi"))["checked"] == "true"


@pytest.mark.parametrize(
    ("button", "press", "answer"),
    [
        ("alerts.alert", "android:id/button1", "accept"),
        ("alerts.confirm", "android:id/button2", "dismiss"),
        ("alerts.confirm", "BACK", "dismiss"),
    ],
)
async def test_a_dialog_is_a_window_of_its_own(
    phone: Adb, reports: Reports, button: str, press: str, answer: str
) -> None:
    await phone.open("alerts", reports.url)
    await phone.tap(button)
    text = {"alerts.alert": "Something happened", "alerts.confirm": "Are you sure?"}[button]
    assert (await phone.node("android:id/message"))["text"] == text
    assert not [node for node in await phone.nodes() if node["resource-id"] == button]
    if press == "BACK":
        await phone.shell("input keyevent BACK")
    else:
        await phone.tap(press)
    assert (await reports.heard("dialog"))["value"] == answer
    assert await phone.node(button)


async def test_a_prompt_takes_a_text(phone: Adb, reports: Reports) -> None:
    await phone.open("alerts", reports.url)
    await phone.tap("alerts.prompt")
    await phone.shell("input text Ada")
    assert (await phone.node("android:id/edit"))["text"] == "Ada"
    await phone.tap("android:id/button1")
    assert (await reports.heard("dialog"))["value"] == "Ada"


async def test_only_what_is_on_screen_is_told_and_a_swipe_moves_it(phone: Adb) -> None:
    await phone.open("list")
    rows = [node["resource-id"] for node in await phone.nodes() if node["resource-id"].startswith("row.")]
    assert rows[0] == "row.0" and len(rows) < 40
    await phone.shell("input swipe 540 2000 540 800 100")
    after = [node["resource-id"] for node in await phone.nodes() if node["resource-id"].startswith("row.")]
    assert int(after[0][4:]) > 5


async def test_gestures_are_felt(phone: Adb, reports: Reports) -> None:
    await phone.open("gestures", reports.url)
    x, y = middle(await phone.node("gestures.hold"))
    await phone.shell(f"input swipe {x} {y} {x} {y} 600")
    assert (await reports.heard("hold"))["value"] >= 0.6
    x, y = middle(await phone.node("gestures.pad"))
    await phone.shell(f"input swipe {x} {y} {x - 200} {y} 80")
    assert (await reports.heard("swipe"))["value"] == "left"
    (x1, y1), (x2, y2) = middle(await phone.node("gestures.source")), middle(await phone.node("gestures.zone"))
    await phone.shell(f"input draganddrop {x1} {y1} {x2} {y2} 100")
    assert (await reports.heard("drag"))["value"] == ["gestures.source", "gestures.zone"]
    for event in (f"DOWN {x} {y}", f"MOVE {x} {y + 90}", f"UP {x} {y + 200}"):
        await phone.shell(f"input motionevent {event}")
    assert (await reports.heard("swipe", 2))["value"] == "down"


async def test_a_deep_link_arrives_at_the_running_app(phone: Adb, reports: Reports) -> None:
    await phone.open("echo", reports.url)
    url = "practice://event?event=ack.done&payload=%7B%22n%22%3A1%7D"
    said = await phone.shell(f"am start -W -a android.intent.action.VIEW -d '{url}'")
    assert "Warning: Activity not started" in said and "Status: ok" in said
    assert (await reports.heard("link"))["value"] == url
    assert (await reports.heard("event"))["value"] == {"name": "ack.done", "payload": {"n": 1}}
    assert "unable to resolve Intent" in (await phone.run("shell", "am start -d foo://bar/x")).complaint


async def test_whole_argument_lists_go_in_one_extra(phone: Adb, reports: Reports) -> None:
    words = f"--screen,echo,--witness,{reports.url},one\\,two"
    await phone.shell(f"am start -W -n {PRACTICE}/.MainActivity --esa arguments '{words}'")
    assert (await reports.heard("ready"))["value"] == "echo"
    assert (await phone.node("echo.arguments"))["text"].endswith("one,two")


async def test_an_app_that_crashes_is_gone_and_logged(phone: Adb, reports: Reports) -> None:
    await phone.open("busy", reports.url)
    assert (await phone.shell(f"pidof {PRACTICE}")).strip().isdigit()
    # The tree of a screen that never rests cannot be dumped; Crash is the fifth thing on it, of 48 points each.
    await phone.shell(f"input tap 540 {63 + round((8 + 4 * 48 + 20) * 2.625)}")
    assert (await reports.heard("press"))["id"] == "busy.crash"

    async def gone() -> bool:
        return (await phone.run("shell", f"pidof {PRACTICE}")).code == 1

    await eventually(gone)
    assert "FATAL EXCEPTION" in await phone.shell("logcat -d -b crash")
    assert "launcher" in await focus(phone)
    assert "reason=4 (APP CRASH(EXCEPTION))" in await phone.shell(f"dumpsys activity exit-info {PRACTICE}")


async def test_the_display_turns(phone: Adb) -> None:
    await phone.open("home")
    await phone.shell("settings put system accelerometer_rotation 0; settings put system user_rotation 1")
    assert "orientation=1" in await phone.shell("dumpsys display")
    data = (await phone.run("exec-out", "screencap -p")).stdout
    assert (int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")) == (2400, 1080)
    node = await phone.node("home.increment")
    assert int(re.findall(r"\d+", node["bounds"])[2]) == 2400 - 21
    await phone.shell("settings put system accelerometer_rotation 1")  # it lies as it is held again
    assert int(re.findall(r"\d+", (await phone.node("home.increment"))["bounds"])[2]) == 1080 - 21


async def test_an_override_of_the_size_changes_what_is_shown(phone: Adb) -> None:
    await phone.open("home")
    await phone.shell("wm size 720x1600; wm density 280")
    try:
        assert await phone.shell("wm size") == "Physical size: 1080x2400\nOverride size: 720x1600\n"
        assert (await phone.nodes())[0]["bounds"] == "[0,0][720,1600]"
    finally:
        await phone.shell("wm size reset; wm density reset")
    assert (await phone.nodes())[0]["bounds"] == "[0,0][1080,2400]"


async def test_home_and_recents(phone: Adb) -> None:
    await phone.open("home")
    await phone.shell("input keyevent HOME")
    assert "Practice" in [node["text"] for node in await phone.nodes()]
    await phone.shell("input keyevent APP_SWITCH")
    card = next(node for node in await phone.nodes() if node["text"] == "Practice")
    await phone.shell("input tap {} {}".format(*middle(card)))
    assert PRACTICE in await focus(phone)


async def test_the_system_asks_for_a_permission(phone: Adb) -> None:
    await phone.open("home")
    await phone.lab.ask("permission", serial=phone.serial, package=PRACTICE, permission="android.permission.CAMERA")
    assert "GrantPermissionsActivity" in await focus(phone)
    await phone.tap("com.google.android.permissioncontroller:id/permission_allow_foreground_only_button")
    assert "android.permission.CAMERA: granted=true" in await phone.shell(f"dumpsys package {PRACTICE}")
    assert PRACTICE in await focus(phone)


async def test_arrow_keys_move_the_focus_of_a_television(tv: Adb, reports: Reports) -> None:
    assert "true" in await tv.shell("cmd package has-feature android.software.leanback")
    await tv.open("home", reports.url)
    for _ in range(2):
        await tv.shell("input keyevent DPAD_DOWN")
    await tv.shell("input keyevent DPAD_UP DPAD_UP")
    focused = [node["resource-id"] for node in await tv.nodes() if node["focused"] == "true"]
    assert focused == ["home.increment"]
    await tv.shell("input keyevent DPAD_CENTER")
    assert (await reports.heard("count"))["value"] == 1
    assert [report["value"] for report in reports.of("key")] == ["down", "down", "up", "up"]


async def test_two_devices_share_nothing(lab: Lab, phone: Adb, reports: Reports) -> None:
    other = Adb(lab, (await lab.start("phone"))[0])
    await phone.open("home", reports.url)
    await other.open("home")
    await phone.tap("home.increment")
    await reports.heard("count")
    assert (await other.node("home.count"))["text"] == "0"
    await other.shell("echo x > /sdcard/only-here")
    assert (await phone.run("shell", "ls /sdcard/only-here")).code != 0
    await lab.stop(other.serial)
