"""Touches, keys, alerts, orientation and the remote, as WebDriverAgent of the Apple lab carries them out."""

from __future__ import annotations

import base64
import http.client
import io
import time
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from PIL import Image

from .adb import Reports, eventually
from .apple import PRACTICE, Mac, Wda, fixture, shape, walk

pytestmark = pytest.mark.anyio

SAMPLES = fixture("wda_protocol_samples.json")


@pytest.fixture(scope="module")
async def _phone(mac: Mac) -> Wda:
    return await mac.wda((await mac.lab.start("iphone"))[0])


@pytest.fixture(scope="module")
async def _pad(mac: Mac) -> Wda:
    return await mac.wda((await mac.lab.start("ipad"))[0])


@pytest.fixture(scope="module")
async def _tv(mac: Mac) -> Wda:
    return await mac.wda((await mac.lab.start("appletv"))[0])


async def _fresh(wda: Wda) -> AsyncIterator[Wda]:
    await wda.begin()
    yield wda
    await wda.lab.clear(wda.udid)


@pytest.fixture
async def phone(_phone: Wda) -> AsyncIterator[Wda]:
    """The agent of a phone, with a session, upright."""
    async for wda in _fresh(_phone):
        yield wda
        await wda.lab.set(wda.udid, rotation=0)


@pytest.fixture
async def pad(_pad: Wda) -> AsyncIterator[Wda]:
    """The agent of a tablet, with a session."""
    async for wda in _fresh(_pad):
        yield wda


@pytest.fixture
async def tv(_tv: Wda) -> AsyncIterator[Wda]:
    """The agent of a television, with a session."""
    async for wda in _fresh(_tv):
        yield wda


def _middle(node: dict[str, Any]) -> tuple[float, float]:
    rect = node["rect"]
    return rect["x"] + rect["width"] / 2, rect["y"] + rect["height"] / 2


async def _keyboard(wda: Wda) -> dict[str, Any] | None:
    return next((node for node in walk(await wda.source()) if node["type"] == "Keyboard"), None)


# --- touches ---


async def test_a_tap_lands_where_it_is_told_in_points(phone: Wda, reports: Reports) -> None:
    await phone.open("home", reports.url)
    x, y = _middle(await phone.node("home.increment"))
    await phone.post("S/wda/tap", x=x, y=y)
    assert (await reports.heard("press"))["id"] == "home.increment"
    # The same place in pixels is another place, and the answer says nothing of it.
    await phone.post("S/wda/tap", x=x * 3, y=y * 3)
    await phone.post("S/wda/tap", x=-5, y=9999)
    await phone.post("S/wda/doubleTap", x=x, y=y)
    await reports.heard("press", 3)
    assert [report["id"] for report in reports.of("press")] == ["home.increment"] * 3
    refused = await phone.refused("POST", "S/wda/tap", {"x": 5})
    assert refused == (400, "invalid argument", "Both x and y coordinates must be provided")


async def test_a_click_scrolls_to_its_element_and_presses_it(phone: Wda, reports: Reports) -> None:
    await phone.open("list", reports.url)
    element = await phone.find("row.39")
    assert await phone.get(f"S/element/{element}/displayed") is False
    await phone.post(f"S/element/{element}/click")
    assert (await reports.heard("press"))["id"] == "row.39"
    assert await phone.get(f"S/element/{element}/displayed") is True


async def test_a_finger_holds_drags_swipes_and_two_pinch_and_turn(phone: Wda, reports: Reports) -> None:
    await phone.open("gestures", reports.url)
    x, y = _middle(await phone.node("gestures.hold"))
    await phone.post("S/wda/touchAndHold", x=x, y=y, duration=0.8)
    assert (await reports.heard("hold"))["value"] >= 0.7
    start, end = _middle(await phone.node("gestures.source")), _middle(await phone.node("gestures.zone"))
    await phone.post(
        "S/wda/dragfromtoforduration", fromX=start[0], fromY=start[1], toX=end[0], toY=end[1], duration=0.6
    )
    assert (await reports.heard("drag"))["value"] == ["gestures.source", "gestures.zone"]
    pad = await phone.find("gestures.pad")
    for way in ("left", "up"):
        await phone.post(f"S/wda/element/{pad}/swipe", direction=way)
    await reports.heard("swipe", 2)
    assert [report["value"] for report in reports.of("swipe")] == ["left", "up"]
    pinch = await phone.find("gestures.pinch")
    await phone.post(f"S/wda/element/{pinch}/pinch", scale=2, velocity=1)
    assert (await reports.heard("pinch"))["value"] > 1.5
    await phone.post(f"S/wda/element/{pinch}/pinch", scale=0.5, velocity=-1)
    assert (await reports.heard("pinch", 2))["value"] < 0.7
    await phone.post(f"S/wda/element/{pinch}/rotate", rotation=1.57, velocity=1)
    assert 60 <= abs((await reports.heard("rotate"))["value"]) <= 120
    assert (await phone.refused("POST", "S/wda/pinch", {"scale": 2, "velocity": -1}))[:2] == (500, "unknown error")
    assert (await phone.refused("POST", "S/wda/swipe", {"direction": "north"}))[:2] == (400, "invalid argument")


async def test_actions_of_the_protocol_move_fingers_and_keys(phone: Wda, reports: Reports) -> None:
    await phone.open("gestures", reports.url)
    x, y = _middle(await phone.node("gestures.hold"))

    def finger(*steps: dict[str, Any]) -> dict[str, Any]:
        return {"type": "pointer", "id": "f", "parameters": {"pointerType": "touch"}, "actions": list(steps)}

    down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
    move = {"type": "pointerMove", "duration": 0, "x": x, "y": y}
    await phone.post("S/actions", actions=[finger(move, down, {"type": "pause", "duration": 800}, up)])
    assert (await reports.heard("hold"))["value"] >= 0.7
    for wrong in ([], [finger(move, up)], [finger(move, down)], [{"type": "wheel", "actions": []}]):
        assert (await phone.ask("POST", f"/session/{phone.session}/actions", {"actions": wrong}))[0] in (400, 500)
    await phone.open("form", reports.url)
    await phone.tap("form.name")
    keys = [{"type": kind, "value": key} for key in "aB" for kind in ("keyDown", "keyUp")]
    await phone.post("S/actions", actions=[{"type": "key", "id": "k", "actions": keys}])
    assert (await phone.node("form.name"))["value"] == "aB"


async def test_lists_are_scrolled_by_direction_by_name_and_by_predicate(phone: Wda) -> None:
    await phone.open("list")
    table = (await phone.post("S/element", using="class name", value="XCUIElementTypeTable"))["ELEMENT"]
    await phone.post(f"S/wda/element/{table}/scroll", direction="down", distance=0.5)
    assert (await phone.node("row.0"))["rect"]["y"] < 186
    await phone.post(f"S/wda/element/{table}/scroll", direction="sideways")  # a direction it does not know is no error
    await phone.post(f"S/wda/element/{table}/scroll", name="row.30")
    assert (await phone.node("row.30"))["isVisible"] == "1"
    await phone.post(f"S/wda/element/{table}/scroll", predicateString="name == 'row.38'")
    assert (await phone.node("row.38"))["isVisible"] == "1"
    row = await phone.find("row.36")
    await phone.post(f"S/wda/element/{row}/scrollTo")
    assert (await phone.node("row.36"))["isVisible"] == "1"
    # Rows that were left behind are recycled: they are not in the tree.
    assert "row.0" not in [node["name"] for node in walk(await phone.source())]
    assert (await phone.refused("POST", f"S/wda/element/{table}/scroll", {"name": "no"}))[:2] == (
        404,
        "no such element",
    )
    assert (await phone.refused("POST", f"S/wda/element/{table}/scroll", {}))[2] == "Unsupported scroll type"


async def test_touches_can_be_taken_without_effect_or_fail(phone: Wda) -> None:
    await phone.open("home")
    element = await phone.find("home.increment")
    await phone.lab.fault(phone.udid, "touch_ignored", times=1)
    await phone.post(f"S/element/{element}/click")
    assert (await phone.node("home.count"))["value"] == "0"
    assert await phone.lab.journal(phone.udid, "touch_ignored")
    await phone.lab.fault(phone.udid, "touch_infinity", times=1)
    refused = await phone.refused("POST", f"S/element/{element}/click", {})
    assert refused[:2] == (500, "unknown error") and "point.x != INFINITY" in refused[2]
    await phone.post(f"S/element/{element}/click")
    assert (await phone.node("home.count"))["value"] == "1"


# --- text and the keyboard ---


async def test_keys_go_to_what_has_the_focus_and_to_nothing_else(phone: Wda, reports: Reports) -> None:
    await phone.open("form", reports.url)
    refused = await phone.refused("POST", "S/wda/keys", {"value": list("x")})
    assert refused[:2] == (400, "invalid element state")
    await phone.tap("form.name")
    await phone.post("S/wda/keys", value=list("Ada 💥"))
    assert (await phone.node("form.name"))["value"] == "Ada 💥"
    active = (await phone.get("S/element/active"))["ELEMENT"]
    assert active == await phone.find("form.name")
    await phone.post(f"S/element/{active}/clear")
    assert (await phone.node("form.name"))["value"] == "Name"  # an empty field tells its placeholder
    await phone.post("S/wda/keys", value=["ab", "\b", "c", "\n"])
    assert (await phone.node("form.name"))["value"] == "ac"
    assert await _keyboard(phone) is None  # return ends a field of one line
    assert (await phone.refused("GET", "S/element/active"))[:2] == (404, "no such element")
    # A field of several lines takes a line end as a character, all of it as one change.
    await phone.tap("form.notes")
    await phone.post("S/wda/keys", value=list("a\nb\n"))
    assert (await phone.node("form.notes"))["value"] == "a\nb\n"

    async def notes() -> list[Any]:
        return [report["value"] for report in reports.of("fill") if report["id"] == "form.notes"]

    assert (await eventually(notes))[0] == "a\nb\n"


async def test_a_value_is_typed_into_its_element(phone: Wda, reports: Reports) -> None:
    await phone.open("form", reports.url)
    name = await phone.find("form.name")
    await phone.post(f"S/element/{name}/value", value=list("Ada"))
    await phone.post(f"S/element/{name}/value", text=" L.")
    assert await phone.get(f"S/element/{name}/text") == "Ada L."
    await phone.open("form", reports.url)
    slider = await phone.find("form.volume")
    await phone.post(f"S/element/{slider}/value", value="0.25")
    assert (await phone.node("form.volume"))["value"] == "25%"
    assert (await phone.refused("POST", f"S/element/{slider}/value", {"value": "2"}))[:2] == (400, "invalid argument")
    wheel = await phone.find("form.colour")
    await phone.post(f"S/element/{wheel}/value", value="Green")
    await phone.post(f"S/wda/pickerwheel/{wheel}/select", order="previous")
    assert (await phone.node("form.colour"))["value"] == "Red"
    assert (await phone.refused("POST", f"S/wda/pickerwheel/{wheel}/select", {"order": "previous"}))[0] == 400
    assert (await phone.refused("POST", f"S/element/{wheel}/value", {"value": "Mauve"}))[0] == 500
    assert (await phone.refused("POST", f"S/element/{slider}/value", {}))[:2] == (400, "invalid argument")


async def test_text_can_get_lost_or_take_long(phone: Wda) -> None:
    await phone.open("form")
    await phone.tap("form.name")
    await phone.lab.fault(phone.udid, "text_lost", times=1)
    await phone.post("S/wda/keys", value=list("abcdef"))
    assert (await phone.node("form.name"))["value"] == "ace"
    await phone.lab.fault(phone.udid, "text_slow", seconds=0.5, times=1)
    began = time.monotonic()
    await phone.post("S/wda/keys", value=["x"])
    assert time.monotonic() - began >= 0.5


async def test_the_keyboard_covers_what_is_below_it_and_gets_the_taps(phone: Wda, reports: Reports) -> None:
    await phone.open("form", reports.url)
    await phone.tap("form.name")
    board = await _keyboard(phone)
    assert board is not None
    keys = [child["label"] for child in board["children"]]
    assert {"q", "space", "delete", "return"} <= set(keys)
    covered = await phone.node("form.delete-2")
    x, y = _middle(covered)
    assert board["rect"]["y"] <= y
    # It says that it is visible and can be hit, and it is not.
    assert covered["isVisible"] == "1"
    assert await phone.get(f"S/element/{await phone.find('form.delete-2')}/attribute/hittable") is True
    await phone.post("S/wda/tap", x=x, y=y)
    assert not reports.of("press") and (await phone.node("form.name"))["value"] != "Name"


async def test_the_keyboard_goes_by_a_drag_and_on_a_phone_by_no_key_but_return(phone: Wda, pad: Wda) -> None:
    await phone.open("form")
    await phone.tap("form.notes")
    assert (await phone.refused("POST", "S/wda/keyboard/dismiss", {}))[:2] == (400, "invalid element state")
    board = await _keyboard(phone)
    assert board is not None
    top = board["rect"]["y"]
    await phone.lab.fault(phone.udid, "keyboard_stays")
    drag = {"fromX": 200, "fromY": top - 60, "toX": 200, "toY": top + 120, "duration": 0}
    await phone.value("POST", "S/wda/dragfromtoforduration", drag)
    assert await _keyboard(phone) is not None
    await phone.lab.clear(phone.udid)
    await phone.value("POST", "S/wda/dragfromtoforduration", drag)
    assert await _keyboard(phone) is None
    await phone.open("form")
    await phone.tap("form.name")
    refused = await phone.refused("POST", "S/wda/keyboard/dismiss", {"keyNames": ["RETURN", "Done"]})
    assert refused[:2] == (400, "invalid element state")  # names are taken as they are
    await phone.post("S/wda/keyboard/dismiss", keyNames=["Return"])
    assert await _keyboard(phone) is None
    # A tablet has a key for it.
    await pad.open("form")
    await pad.tap("form.name")
    assert await _keyboard(pad) is not None
    await pad.post("S/wda/keyboard/dismiss")
    assert await _keyboard(pad) is None


async def test_the_keyboard_of_a_television_goes_by_the_menu_button(tv: Wda) -> None:
    await tv.open("form")
    await tv.post(f"S/element/{await tv.find('form.name')}/click")
    assert await _keyboard(tv) is not None
    await tv.post("S/wda/keyboard/dismiss")
    assert await _keyboard(tv) is None
    assert [entry["name"] for entry in await tv.lab.journal(tv.udid, "button")][-1] == "menu"


# --- alerts ---


async def test_alerts_of_the_app_are_read_and_answered(phone: Wda, reports: Reports) -> None:
    await phone.open("alerts", reports.url)
    await phone.tap("alerts.confirm")
    assert await phone.get("/alert/text") and len(await phone.get("S/wda/alert/buttons")) == 2
    await phone.post("/alert/dismiss")
    assert (await reports.heard("dialog"))["value"] == "dismiss"
    await phone.tap("alerts.prompt")
    alert = next(node for node in walk(await phone.source()) if node["type"] == "Alert")
    assert [child["type"] for child in alert["children"]] == ["StaticText", "TextField", "Button", "Button"]
    text = await phone.get("/alert/text")
    await phone.post("S/alert/text", value=list("first"))
    await phone.post("S/alert/text", value="second")
    assert await phone.get("/alert/text") == text  # what is in the field is no text of the alert
    await phone.post("/alert/accept")
    assert (await reports.heard("dialog", 2))["value"] == "second"  # in place of the first
    await phone.tap("alerts.alert")
    assert (await phone.refused("POST", "S/alert/text", {"value": "x"}))[:2] == (500, "unsupported operation")
    refused = await phone.refused("POST", "/alert/accept", {"name": "Nope"})
    assert refused[:2] == (400, "invalid element state") and "Failed to find button with label 'Nope'" in refused[2]
    await phone.post("/alert/accept")


async def test_an_alert_of_the_system_blocks_elements_and_slows_the_tree(phone: Wda) -> None:
    await phone.open("home")
    element = await phone.find("home.increment")
    asked = SAMPLES["GET /session/:id/alert/text"]["value"]
    await phone.lab.ask_alert(phone.udid, asked, "Allow", "Don’t Allow")
    assert await phone.get("S/alert/text") == asked
    assert await phone.get("S/wda/alert/buttons") == SAMPLES["GET /session/:id/wda/alert/buttons"]["value"]
    refused = await phone.refused("POST", f"S/element/{element}/click", {})
    assert refused[:2] == (500, "unexpected alert open")
    # The tree is the app's, as if nothing was in the way, unless the session minds the system.
    assert (await phone.source())["label"] == "Practice"
    await phone.post("S/appium/settings", settings={"respectSystemAlerts": True})
    assert [node["type"] for node in walk(await phone.source())][:3] == ["Application", "Window", "Alert"]
    assert (await phone.get("S/wda/activeAppInfo"))["bundleId"] == "com.apple.springboard"
    await phone.lab.fault(phone.udid, "alert_stall", seconds=0.8)
    began = time.monotonic()
    await phone.source()
    assert time.monotonic() - began >= 0.8
    await phone.post("/alert/accept", name="Don’t Allow")
    answered = (await phone.lab.journal(phone.udid, "alert"))[-1]
    assert (answered["text"], answered["answer"]) == (asked, "dismiss")
    await phone.post(f"S/element/{element}/click")


async def test_a_session_can_answer_alerts_by_itself(phone: Wda) -> None:
    await phone.open("home")
    await phone.begin(defaultAlertAction="accept")
    await phone.lab.ask_alert(phone.udid, "Allow this?")
    await phone.source()
    assert (await phone.lab.journal(phone.udid, "alert"))[-1]["answer"] == "accept"


# --- orientation, screen, system ---


async def test_the_device_and_what_it_shows_are_turned_apart(phone: Wda) -> None:
    await phone.open("home")
    await phone.post("/orientation", orientation="LANDSCAPE")
    assert await phone.get("/orientation") == "LANDSCAPE" == await phone.get("/wda/deviceOrientation")
    assert await phone.get("/window/size") == {"width": 874, "height": 402}
    assert (await phone.get("/wda/screen"))["screenSize"] == {"width": 874, "height": 402}
    assert (await phone.source())["rect"] == {"x": 0, "y": 0, "width": 874, "height": 402}
    picture = Image.open(io.BytesIO(base64.b64decode(await phone.get("/screenshot"))))
    assert picture.size == (874 * 3, 402 * 3)
    await phone.tap("home.increment")
    assert (await phone.node("home.count"))["value"] == "1"
    # The home screen of a phone stays upright, and the device is still held as it was.
    await phone.post("/wda/homescreen")
    assert await phone.get("/orientation") == "PORTRAIT"
    assert await phone.get("/wda/deviceOrientation") == "LANDSCAPE"
    await phone.open("home")
    await phone.post("/rotation", x=0, y=0, z=0)
    assert await phone.get("/rotation") == {"x": 0, "y": 0, "z": 0}
    for wrong in ({"z": 0}, {"x": 0, "y": 0, "z": 45}):
        assert (await phone.refused("POST", "/rotation", wrong))[:2] == (400, "invalid argument")
    upside = {"orientation": "UIA_DEVICE_ORIENTATION_PORTRAIT_UPSIDEDOWN"}
    for body in (upside, {"orientation": "SIDEWAYS"}):
        assert await phone.refused("POST", "/orientation", body) == (500, "unknown error", "Unable To Rotate Device")
    await phone.lab.fault(phone.udid, "rotation_fails", times=1)
    assert (await phone.refused("POST", "/orientation", {"orientation": "LANDSCAPE"}))[0] == 500


async def test_home_the_app_switcher_and_the_way_back_are_swipes(phone: Wda) -> None:
    await phone.open("home")
    await phone.tap("home.form")
    assert (await phone.node("BackButton"))["type"] == "Button"
    swipe = {"fromX": 2, "fromY": 400, "toX": 300, "toY": 400, "duration": 0}
    await phone.value("POST", "S/wda/dragfromtoforduration", swipe)
    assert (await phone.node("home.count"))["value"] == "0"
    up = {"fromX": 200, "fromY": 872, "toX": 200, "toY": 400, "velocity": 2000}
    await phone.value("POST", "S/wda/pressAndDragWithVelocity", {**up, "holdDuration": 0.5})
    cards = [node for node in walk(await phone.source()) if str(node["name"]).startswith(f"card:{PRACTICE}")]
    assert len(cards) == 1
    await phone.post("S/wda/tap", **dict(zip("xy", _middle(cards[0]), strict=True)))
    assert (await phone.lab.state(phone.udid))["front"] == PRACTICE
    await phone.value("POST", "S/wda/pressAndDragWithVelocity", up)
    assert (await phone.lab.state(phone.udid))["front"] == "com.apple.springboard"
    icon = await phone.post(
        "S/element", using="predicate string", value="type == 'XCUIElementTypeIcon' AND label == 'Practice'"
    )
    await phone.post(f"S/element/{icon['ELEMENT']}/click")
    assert (await phone.lab.state(phone.udid))["front"] == PRACTICE


async def test_a_device_with_a_home_button_has_no_swipe_for_it(mac: Mac) -> None:
    one = (await mac.lab.start("iphone-se"))[0]
    wda = await mac.wda(one)
    await wda.begin()
    await wda.open("home")
    up = {"fromX": 180, "fromY": 665, "toX": 180, "toY": 300, "duration": 0}
    await wda.value("POST", "S/wda/dragfromtoforduration", up)
    assert (await mac.lab.state(one))["front"] == PRACTICE
    await wda.post("S/wda/pressButton", name="home")
    assert (await mac.lab.state(one))["front"] == "com.apple.springboard"
    assert (await wda.get("/wda/screen"))["scale"] == 2
    await mac.lab.stop(one)


async def test_buttons_depend_on_what_the_device_is(mac: Mac, phone: Wda, tv: Wda) -> None:
    refused = await phone.refused("POST", "S/wda/pressButton", {"name": "volumeUp"})
    assert refused[:2] == (500, "unknown error") and "only supports the following buttons: home" in refused[2]
    assert "playpause" in (await tv.refused("POST", "S/wda/pressButton", {"name": "volumeUp"}))[2]
    real = (await mac.lab.start("iphone-device"))[0]
    wda = await mac.wda(real)
    await wda.begin()
    await wda.post("S/wda/pressButton", name="volumeUp", duration=0.1)
    assert [entry["name"] for entry in await mac.lab.journal(real, "button")] == ["volumeup"]
    assert (await wda.get("S/wda/batteryInfo"))["level"] > 0 > (await phone.get("S/wda/batteryInfo"))["level"]
    # A device tells its clipboard only to the app in front.
    await wda.post("/wda/setPasteboard", content=base64.b64encode(b"text").decode())
    assert await wda.post("/wda/getPasteboard") == ""
    await mac.lab.stop(real)


async def test_the_device_is_locked_dark_placed_and_told_about(phone: Wda) -> None:
    await phone.post("/wda/lock")
    assert await phone.get("/wda/locked") is True and (await phone.lab.state(phone.udid))["awake"] is False
    await phone.post("/wda/unlock")
    assert await phone.get("/wda/locked") is False
    await phone.post("/wda/device/appearance", name="dark")
    assert (await phone.get("/wda/device/info"))["userInterfaceStyle"] == "dark"
    assert (await phone.refused("POST", "/wda/device/appearance", {"name": "pink"}))[:2] == (400, "invalid argument")
    await phone.post("/wda/simulatedLocation", latitude=1.5, longitude=-2)
    assert (await phone.get("/wda/simulatedLocation"))["latitude"] == 1.5
    await phone.value("DELETE", "/wda/simulatedLocation")
    assert await phone.get("/wda/simulatedLocation") == {"latitude": None, "longitude": None, "altitude": None}
    await phone.post("/wda/setPasteboard", content=base64.b64encode("Grüße".encode()).decode())
    assert base64.b64decode(await phone.post("/wda/getPasteboard")).decode() == "Grüße"
    started = await phone.post("/wda/video/start")
    assert await phone.get("/wda/video") == started and await phone.post("/wda/video/stop") == started
    assert await phone.get("/wda/video") is None


async def test_keys_of_a_keyboard_that_is_connected_are_usages(phone: Wda) -> None:
    await phone.open("form")
    await phone.tap("form.name")
    for usage in (0x04, 0x05, 0x2A):
        await phone.post("S/wda/performIoHidEvent", page=7, usage=usage, duration=0.05)
    assert (await phone.node("form.name"))["value"] == "a"
    assert [entry["seconds"] for entry in await phone.lab.journal(phone.udid, "hid")][-3:] == [0.05] * 3


# --- a television ---


async def test_a_television_has_a_focus_that_the_remote_moves(tv: Wda, reports: Reports) -> None:
    await tv.open("home", reports.url)

    async def focused() -> str:
        return str(next(node["name"] for node in walk(await tv.source()) if node["isFocused"] == "1"))

    await tv.post("S/wda/pressButton", name="down")
    assert await focused() == "home.increment"
    await tv.post("S/wda/pressButton", name="select")
    assert (await reports.heard("press"))["id"] == "home.increment"
    form = await tv.find("home.form")
    assert (await tv.post(f"S/wda/element/{form}/focuse"))["ELEMENT"] == form
    assert await focused() == "home.form"
    assert await tv.get(f"S/element/{form}/attribute/focused") is True
    await tv.post(f"S/element/{form}/click")
    assert await tv.find("form.name")
    await tv.post("S/wda/pressButton", name="menu")
    assert await tv.find("home.form")
    await tv.post("S/wda/pressButton", name="home")
    assert (await tv.lab.state(tv.udid))["front"] == "com.apple.HeadBoard"


async def test_a_button_of_the_remote_can_be_held(tv: Wda, reports: Reports) -> None:
    await tv.open("gestures", reports.url)
    await tv.post(f"S/wda/element/{await tv.find('gestures.hold')}/focuse")
    await tv.post("S/wda/pressButton", name="select", duration=0.7)
    assert (await reports.heard("hold"))["value"] >= 0.7 and not reports.of("press")


async def test_the_agent_of_a_television_lacks_what_a_television_lacks(tv: Wda, phone: Wda) -> None:
    for method, path in (
        ("POST", "S/wda/tap"), ("POST", "S/wda/swipe"), ("GET", "/orientation"), ("POST", "/wda/setPasteboard"),
        ("GET", "S/wda/batteryInfo"), ("GET", "/wda/simulatedLocation"),
    ):  # fmt: skip
        assert (await tv.refused(method, path, {} if method == "POST" else None))[:2] == (404, "unknown command")
    assert (await tv.refused("GET", "/wda/device/location"))[:2] == (500, "unsupported operation")
    assert (await tv.get("/status"))["device"] == "apple tv"
    await phone.open("home")
    element = await phone.find("home.form")
    assert (await phone.refused("POST", f"S/wda/element/{element}/focuse", {}))[:2] == (404, "unknown command")


async def test_text_on_a_television_goes_through_a_field_that_was_selected(tv: Wda) -> None:
    await tv.open("form")
    name = await tv.find("form.name")
    await tv.post(f"S/element/{name}/value", value=list("Ada"))
    assert (await tv.node("form.name"))["value"] == "Ada"
    await tv.post(f"S/element/{name}/clear")
    assert (await tv.node("form.name"))["value"] == "Name"


# --- what goes wrong with the agent itself ---


async def test_a_request_that_hangs_blocks_all_others(phone: Wda) -> None:
    await phone.lab.fault(phone.udid, "wda_hang", match="/wda/locked", times=1)
    other = Wda(phone.lab, phone.udid, phone.port)
    with pytest.raises((OSError, http.client.HTTPException)):
        await phone.ask("GET", "/wda/locked", within=0.5)
    with pytest.raises((OSError, http.client.HTTPException)):
        await other.ask("GET", "/status", within=0.5)
    await Mac(phone.lab).done("terminate", phone.udid, "com.facebook.WebDriverAgentRunner.xctrunner")
    phone.drop()
    phone.port = await phone.lab.agent(phone.udid)
    assert (await phone.ask("GET", "/status"))[0] == 200


async def test_answers_can_be_slow_given_or_the_end_of_the_agent(phone: Wda) -> None:
    await phone.lab.fault(phone.udid, "wda_slow", match="GET /status", seconds=0.4, times=1)
    began = time.monotonic()
    await phone.get("/status")
    assert time.monotonic() - began >= 0.4
    await phone.lab.fault(phone.udid, "wda_answer", match="GET /status", code=503, text='"busy"', times=1)
    assert await phone.ask("GET", "/status") == (503, "busy")
    await phone.lab.fault(phone.udid, "session_lost", times=1)
    assert (await phone.refused("GET", "S/window/size"))[1] == "invalid session id"
    await phone.lab.fault(phone.udid, "wda_dies", match="/wda/locked", times=1)
    with pytest.raises((OSError, http.client.HTTPException)):
        await phone.ask("GET", "/wda/locked")
    phone.port = await phone.lab.agent(phone.udid)
    assert (await phone.ask("GET", "/status"))[0] == 200


async def test_an_agent_can_be_slow_to_serve_or_never_serve(mac: Mac) -> None:
    one = (await mac.lab.start("iphone"))[0]
    await mac.lab.fault(one, "wda_silent", times=1)
    await mac.done("launch", one, "com.facebook.WebDriverAgentRunner.xctrunner", SIMCTL_CHILD_USE_PORT="0")
    await anyio.sleep(0.5)  # longer than the agent of the lab takes
    assert not await mac.lab.journal(one, "wda")
    await mac.lab.fault(one, "wda_slow_start", seconds=0.3, times=1)
    await mac.done(
        "launch", "--terminate-running-process", one, "com.facebook.WebDriverAgentRunner.xctrunner",
        SIMCTL_CHILD_USE_PORT="0",
    )  # fmt: skip
    assert await eventually(lambda: mac.lab.journal(one, "wda"))
    assert shape((await mac.lab.devices())[-1]["agent"]) == "str"
    await mac.lab.stop(one)
