"""WebDriverAgent of the Apple lab, by plain HTTP: sessions, errors, trees, beside captures of the real one."""

from __future__ import annotations

import http.client
import time
from collections.abc import AsyncIterator
from xml.etree import ElementTree

import pytest

from .adb import eventually
from .apple import ELEMENT, FIXTURES, PRACTICE, RUNNER, Mac, Wda, fixture, shape, walk

pytestmark = pytest.mark.anyio

ERRORS = fixture("wda_errors.json")
SAMPLES = fixture("wda_protocol_samples.json")
NEWER = {
    "placeholderValue", "minValue", "maxValue", "traits", "isNativeAccessibilityElement", "customActions",
    "nativeFrame", "isFocused", "rawIdentifier",
}  # fmt: skip
"""Keys of a node that came after the capture, or that it has no value for; the agent's source has them."""
SEEN: set[str] = set()
"""Cases of errors that were compared."""


@pytest.fixture(scope="module")
async def _one(mac: Mac) -> Wda:
    return await mac.wda((await mac.lab.start("iphone"))[0])


@pytest.fixture
async def wda(mac: Mac, _one: Wda) -> AsyncIterator[Wda]:
    """The agent of a phone, with a session that is about no app."""
    await _one.begin()
    yield _one
    await mac.lab.clear(_one.udid)


def _like(case: str, answer: tuple[int, str, str], *replace: tuple[str, str]) -> None:
    """Asserts that a refusal is the one of the fixture."""
    SEEN.add(case)
    expected = ERRORS[case]["body"]["value"]
    message = expected["message"]
    for old, new in replace:
        assert old in message
        message = message.replace(old, new)
    assert answer == (ERRORS[case]["http"], expected["error"], message)


# --- sessions and errors ---


async def test_status_has_the_shape_of_the_current_build(wda: Wda) -> None:
    status, answer = await wda.ask("GET", "/status")
    assert status == 200
    sample = fixture("wda_status.json")["current_shape_v16"]
    assert answer["value"] == sample["value"]
    assert (await wda.ask("GET", "/wda/healthcheck"))[1]["value"] is None


async def test_a_new_session_ends_the_one_before_and_the_app_it_was_about(wda: Wda) -> None:
    before = await wda.begin(bundleId=PRACTICE)
    assert (await wda.lab.state(wda.udid))["front"] == PRACTICE
    first = await wda.find("home.increment")
    await wda.begin()
    assert PRACTICE not in (await wda.lab.state(wda.udid))["running"]
    refused = await wda.refused("GET", f"/session/{before}/window/size")
    _like("session_does_not_exist", refused)
    # Elements of the old session are none of the new one.
    refused = await wda.refused("GET", f"S/element/{first}/text")
    assert refused[:2] == (404, "stale element reference") and "Try to find it again" in refused[2]
    assert (await wda.get("S")).keys() == {"sessionId", "capabilities"}
    await wda.value("DELETE", "S")
    assert (await wda.refused("GET", "S"))[1] == "invalid session id"


async def test_a_session_that_cannot_be_made_has_ended_the_one_before(wda: Wda) -> None:
    _like("capabilities_missing", await wda.refused("POST", "/session", {}))
    assert (await wda.refused("GET", "S"))[1] == "invalid session id"
    asked = {"capabilities": {"alwaysMatch": {"bundleId": "com.example.app"}}}
    _like("session_not_created", await wda.refused("POST", "/session", asked))


async def test_the_app_of_a_session_can_be_kept(wda: Wda) -> None:
    await wda.begin(bundleId=PRACTICE, shouldTerminateApp=False, arguments=["--screen", "form"])
    pid = (await wda.get("/wda/activeAppInfo"))["pid"]
    await wda.begin(bundleId=PRACTICE, forceAppLaunch=False)
    info = await wda.get("/wda/activeAppInfo")
    assert info["pid"] == pid and info["processArguments"]["args"] == ["--screen", "form"]
    assert shape(info) == shape(
        {**SAMPLES["GET /wda/activeAppInfo"]["value"], "processArguments": info["processArguments"]}
    )
    await wda.begin(bundleId=PRACTICE)
    assert (await wda.get("/wda/activeAppInfo"))["pid"] != pid


async def test_the_app_of_a_session_that_ends_without_being_told_is_an_error(mac: Mac, wda: Wda) -> None:
    await wda.begin(bundleId=PRACTICE)
    await mac.done("terminate", wda.udid, PRACTICE)
    refused = await wda.refused("GET", "S/source")
    assert refused[:2] == (400, "invalid element state") and "possibly crashed" in refused[2]
    assert (await wda.ask("GET", "/source"))[0] == 400  # the session counts even where the path names none
    await wda.post("S/wda/apps/terminate", bundleId=PRACTICE)
    assert (await wda.ask("GET", "/source"))[0] == 200  # ended by itself it is no error


async def test_refusals_have_the_words_and_the_status_of_the_agent(wda: Wda) -> None:
    await wda.open("home")
    asked = {"using": "accessibility id", "value": "login.submit"}
    _like("no_such_element", await wda.refused("POST", "S/element", asked))
    assert await wda.value("POST", "S/elements", asked) == []
    _like("no_alert", await wda.refused("GET", "/alert/text"))
    refused = await wda.refused("POST", "/alert/accept", {})
    assert refused == (404, "no such alert", "No alert is open")
    refused = await wda.refused("GET", "/wda/nope")
    _like("unknown_endpoint", refused, ("127.0.0.1:8100", f"127.0.0.1:{wda.port}"))
    _like("unknown_source_format", await wda.refused("GET", "/source?format=yaml"))
    await wda.lab.fault(wda.udid, "screen_unseen", times=1)
    _like("screenshot_failed", await wda.refused("GET", "/screenshot"))
    await wda.lab.ask_alert(wda.udid, "“Practice” Would Like to Send You Notifications")
    _like("unexpected_alert", await wda.refused("POST", "S/element", asked))
    await wda.post("/alert/dismiss")
    element = await wda.find("home.increment")
    await wda.open("form")
    refused = await wda.refused("GET", f"S/element/{element}/text")
    _like("stale_element", refused, ('\\"General\\" Cell', '"home.increment" Button'))
    await wda.tap("form.name")
    _like("invalid_element_state", await wda.refused("POST", "S/wda/keyboard/dismiss", {}))
    assert set(ERRORS) - SEEN <= {"timeout", "session_does_not_exist", "capabilities_missing", "session_not_created"}


async def test_errors_tell_the_session_there_is_and_a_traceback_where_they_are_exceptions(wda: Wda) -> None:
    _, answer = await wda.ask("GET", f"/session/{wda.session}/element/none/text")
    assert answer["sessionId"] == wda.session and "CoreFoundation" in answer["value"]["traceback"]
    _, answer = await wda.ask("GET", "/alert/text")
    assert answer["sessionId"] == wda.session and answer["value"]["traceback"] == ""


async def test_a_connection_carries_many_requests_and_a_cut_one_is_carried_out_all_the_same(wda: Wda) -> None:
    await wda.open("home")
    await wda.lab.fault(wda.udid, "wda_cut", match="POST .*/click", times=1)
    element = await wda.find("home.increment")
    with pytest.raises((OSError, http.client.HTTPException)):
        await wda.ask("POST", f"/session/{wda.session}/element/{element}/click", {})
    assert (await wda.node("home.count"))["value"] == "1"


# --- the tree ---


async def test_a_node_of_the_tree_has_the_keys_and_kinds_of_the_real_one(wda: Wda) -> None:
    await wda.open("form")
    real = walk(fixture("wda_source_settings_top.derived.json")["value"])
    kinds: dict[str, set[str]] = {}
    for node in real:
        for key, value in node.items():
            kinds.setdefault(key, set()).add(type(value).__name__)
    nodes = walk(await wda.source())
    for node in nodes:
        for key, value in node.items():
            if key in NEWER:
                continue
            assert type(value).__name__ in kinds[key] | {"NoneType"}, (key, value)
    assert {"type", "rawIdentifier", "name", "value", "label", "rect", "frame", "isEnabled", "isVisible"} <= nodes[
        0
    ].keys()
    assert {node[flag] for node in nodes for flag in ("isEnabled", "isVisible", "isAccessible", "isFocused")} == {
        "0",
        "1",
    }
    by_name = {node["name"]: node for node in nodes}
    assert by_name["form.name"]["placeholderValue"] == "Name" and "placeholderValue" not in by_name["form.signin"]
    assert (by_name["form.wifi"]["value"], by_name["form.volume"]["value"]) == ("0", "50%")
    assert (by_name["form.volume"]["minValue"], by_name["form.volume"]["maxValue"]) == ("0", "100")
    assert by_name["form.submit"]["isEnabled"] == "0" and "NotEnabled" in by_name["form.submit"]["traits"]
    assert by_name["form.password"]["type"] == "SecureTextField"
    assert by_name["Form"]["type"] == "NavigationBar" and by_name["form.row"]["rawIdentifier"] == "form.row"


async def test_attributes_are_left_out_by_their_names_and_those_of_identity_never(wda: Wda) -> None:
    await wda.open("form")
    asked = (
        "frame,nativeFrame,enabled,visible,accessible,nativeAccessibilityElement,focused,traits,placeholderValue,type"
    )
    node = walk(await wda.source(f"format=json&excluded_attributes={asked},minValue,maxValue"))[-1]
    assert node.keys() == {"type", "rawIdentifier", "name", "value", "label", "rect", "customActions"}


async def test_the_tree_in_xml_has_the_attributes_of_a_capture(wda: Wda) -> None:
    await wda.open("list")
    real = ElementTree.parse(FIXTURES / "wda_source_settings_top.xml").getroot()
    known = {name for node in real.iter() for name in node.attrib}
    tree = ElementTree.fromstring(await wda.get("/source?format=xml"))
    nodes = list(tree.iter())
    assert all(node.tag == node.get("type") and node.tag.startswith("XCUIElementType") for node in nodes)
    extra = {name for node in nodes for name in node.attrib} - known
    assert extra <= {"traits", "placeholderValue", "focused", "accessible", "index"}, extra  # those came later
    assert {node.get("visible") for node in nodes} == {"true", "false"}
    row = next(node for node in nodes if node.get("name") == "row.3")
    label, chevron = list(row)
    # One label on the row and the text in it, and an invisible part that lies on the screen, as in the capture.
    assert row.get("label") == label.get("label") == "Row 3"
    assert chevron.get("visible") == "false" and 0 < int(chevron.get("y", 0)) < 874
    assert ElementTree.fromstring(await wda.get("/source?format=xml&scope=AppiumAUT")).tag == "AppiumAUT"
    assert "Application" in await wda.get("/source?format=description")


async def test_trees_of_old_builds_and_other_shapes(wda: Wda) -> None:
    await wda.open("home")
    await wda.lab.fault(wda.udid, "source_legacy", times=1)
    old = await wda.source()
    real = fixture("wda_source_springboard_legacy.json")["value"]
    top = {key: kind for key, kind in shape(old["tree"]).items() if key != "children"}
    assert old.keys() == {"tree"} and top.keys() <= real["tree"].keys()
    assert shape(old["tree"]["rect"]) == shape(real["tree"]["rect"]) and old["tree"]["type"].startswith("UIA")
    await wda.lab.fault(wda.udid, "source_wrapped", times=1)
    assert ElementTree.fromstring(await wda.get("/source")).tag == "AppiumAUT"
    await wda.lab.fault(wda.udid, "source_sparse", times=1)
    assert len(walk(await wda.source())) == 1
    await wda.lab.fault(wda.udid, "joined_label", times=1)
    whole = [node for node in walk(await wda.source()) if node["type"] == "Other" and node["label"]]
    assert len(whole) == 1 and "Increment" in whole[0]["label"] and "Open form" in whole[0]["label"]


async def test_fields_can_carry_their_text_in_the_label(wda: Wda) -> None:
    await wda.open("form")
    await wda.tap("form.password")
    await wda.post("S/wda/keys", value=list("secret"))
    node = await wda.node("form.password")
    assert node["value"] == "••••••"
    await wda.lab.fault(wda.udid, "label_text", times=1)
    node = await wda.node("form.password")
    assert (node["label"], node["value"]) == ("secret", None)


async def test_a_tree_too_deep_for_the_system_is_told_as_a_stale_application(wda: Wda) -> None:
    await wda.open("home")
    await wda.lab.fault(wda.udid, "deep")
    assert not [node for node in walk(await wda.source()) if node["name"] == "home.count"]  # 50 levels: cut, no error
    await wda.post("S/appium/settings", settings={"snapshotMaxDepth": 60})
    assert (await wda.ask("GET", "/source?format=json"))[0] == 200
    await wda.post("S/appium/settings", settings={"snapshotMaxDepth": 70})
    for _ in range(2):
        refused = await wda.refused("GET", "/source?format=json")
        assert refused[:2] == (404, "stale element reference") and '"Practice" Application' in refused[2]
    await wda.lab.clear(wda.udid, "deep")
    assert (await wda.ask("GET", "/source?format=json"))[0] == 200


async def test_only_so_many_children_are_told_as_the_settings_say(wda: Wda) -> None:
    await wda.open("list")
    settings = await wda.post("S/appium/settings", settings={"snapshotMaxChildren": 3, "unknown": 1})
    assert settings["snapshotMaxChildren"] == 3 and "unknown" not in settings
    assert all(len(node.get("children", [])) <= 3 for node in walk(await wda.source()))
    refused = await wda.refused("POST", "S/appium/settings", {"settings": [1]})
    assert refused == (400, "invalid argument", "settings must be a dictionary")


async def test_what_a_person_without_eyes_is_told(wda: Wda) -> None:
    await wda.open("home")
    tree = await wda.get("/wda/accessibleSource")
    leaves = [node for node in walk(tree) if "children" not in node]
    assert tree.keys() == {"type", "rawIdentifier", "name", "children"}
    assert all(leaf.keys() == {"value", "label", "type", "rawIdentifier", "name"} for leaf in leaves)
    assert "home.increment" in [leaf["name"] for leaf in leaves]


async def test_a_sleepy_app_is_waited_for_unless_the_session_says_otherwise(wda: Wda) -> None:
    await wda.open("busy")
    await wda.begin(shouldWaitForQuiescence=True, waitForIdleTimeout=0.7)
    began = time.monotonic()
    await wda.source()
    assert time.monotonic() - began >= 0.7
    await wda.lab.fault(wda.udid, "source_slow", seconds=0.5, times=1)
    began = time.monotonic()
    await wda.source()
    assert time.monotonic() - began >= 0.5


# --- finding ---


async def test_elements_are_found_in_every_way_drivers_use(wda: Wda) -> None:
    await wda.open("form")
    for using, value, count in (
        ("accessibility id", "form.signin", 1), ("id", "form.signin", 1), ("name", "form.signin", 1),
        ("class name", "XCUIElementTypeTextField", 2), ("link text", "label=Sign in", 1),
        ("partial link text", "label=Sign in", 2),
        ("predicate string", "label == 'Delete' AND enabled == 1", 2),
        ("predicate string", 'label BEGINSWITH[c] "sign IN" OR name == "form.row"', 3),
        ("predicate string", "type IN {'XCUIElementTypeSwitch', 'XCUIElementTypeSlider'}", 2),
        ("class chain", "**/XCUIElementTypeButton[`label == 'Delete'`][2]", 1),
        ("class chain", "XCUIElementTypeWindow/**/XCUIElementTypeSwitch", 1),
        ("xpath", "//XCUIElementTypeButton[@name='form.delete-2']", 1), ("xpath", "//XCUIElementTypeSwitch", 1),
    ):  # fmt: skip
        found = await wda.value("POST", "S/elements", {"using": using, "value": value})
        assert len(found) == count, (using, value, len(found))
    for using, value, expected in (
        ("xpath", "//[", (400, "invalid selector")), ("class chain", "**/[[", (400, "invalid selector")),
        ("predicate string", "label =", (500, "unknown error")), ("css", "a", (400, "invalid argument")),
        ("predicate string", "colour == 'red'", (500, "unknown error")),
    ):  # fmt: skip
        refused = await wda.refused("POST", "S/element", {"using": using, "value": value})
        assert refused[:2] == expected, (using, value)
    reference = await wda.post("S/element", using="accessibility id", value="form.signin")
    assert shape(reference) == shape(SAMPLES["POST /session/:id/element"]["response"]["value"])
    assert reference["ELEMENT"] == reference[ELEMENT]
    assert (await wda.post("S/element", using="id", value="form.signin")) == reference  # always the same for the same


async def test_an_element_tells_what_it_is(wda: Wda) -> None:
    await wda.open("form")
    wifi, submit = await wda.find("form.wifi"), await wda.find("form.submit")
    assert await wda.get(f"S/element/{wifi}/name") == "XCUIElementTypeSwitch"
    assert await wda.get(f"S/element/{wifi}/text") == "0"
    assert await wda.get(f"S/element/{submit}/enabled") is False
    assert await wda.get(f"S/element/{wifi}/rect") == {"x": 8, "y": 338, "width": 386, "height": 40}
    assert await wda.get(f"S/element/{wifi}/attribute/label") == "Wi-Fi"
    assert (await wda.refused("GET", f"S/element/{wifi}/attribute/colour"))[:2] == (500, "unknown error")
    row = await wda.find("form.row")
    inner = await wda.value("POST", f"S/element/{row}/elements", {"using": "class name", "value": "XCUIElementTypeAny"})
    assert len(inner) == 1
    assert await wda.get(f"S/wda/element/{inner[0]['ELEMENT']}/accessible") is False


async def test_the_agent_has_the_routes_that_drivers_count_on_and_no_others(wda: Wda) -> None:
    await wda.open("home")
    for path in (
        "/status", "/source", "/wda/accessibleSource", "/screenshot", "/window/size", "/orientation", "/rotation",
        "/wda/deviceOrientation", "/wda/screen", "/wda/activeAppInfo", "/wda/locked", "/wda/device/info",
        "/wda/device/location", "/wda/simulatedLocation", "/wda/video",
    ):  # fmt: skip
        assert (await wda.ask("GET", path))[0] == 200, path
    assert shape(await wda.get("/wda/screen")) == shape(SAMPLES["GET /wda/screen"]["value"])
    assert await wda.get("S/window/size") == SAMPLES["GET /session/:id/window/size"]["value"]
    for method, path in (("GET", "/nothing"), ("GET", "/wda/homescreen"), ("PUT", "/status"), ("GET", "/alert")):
        assert (await wda.refused(method, path))[:2] == (404, "unknown command")
    for path in ("S/wda/apps/list", "S/wda/batteryInfo"):
        assert (await wda.ask("GET", path[1:]))[0] == 404  # these want a session


async def test_apps_are_launched_told_and_ended(wda: Wda) -> None:
    state = {"bundleId": PRACTICE}
    await wda.post("S/wda/apps/terminate", bundleId=PRACTICE)
    await wda.post("S/wda/apps/launch", bundleId=PRACTICE, arguments=["--screen", "list"], environment={"A": "b"})
    assert await wda.value("POST", "S/wda/apps/state", state) == 4
    assert (await wda.get("/wda/activeAppInfo"))["processArguments"]["env"] == {"A": "b"}
    await wda.post("/wda/homescreen")
    assert await wda.value("POST", "S/wda/apps/state", state) == 2
    await wda.post("S/wda/apps/activate", bundleId=PRACTICE)
    assert [row["bundleId"] for row in await wda.get("S/wda/apps/list")] == [PRACTICE]
    assert await wda.post("S/wda/apps/terminate", bundleId=PRACTICE) is True
    assert await wda.post("S/wda/apps/terminate", bundleId=PRACTICE) is False
    assert await wda.value("POST", "S/wda/apps/state", state) == 1
    refused = await wda.refused("POST", "S/wda/apps/launch", {"bundleId": "com.example.none"})
    assert refused[:2] == (400, "invalid argument") and "is not installed" in refused[2]
    assert (await wda.refused("POST", "/wda/apps/launchUnattached", {"bundleId": "com.example.none"}))[0] == 500
    await wda.post("S/url", url="practice://item/1")
    assert await wda.value("POST", "S/wda/apps/state", state) == 4
    assert (await wda.refused("POST", "S/url", {"url": "nobody://x"}))[:2] == (500, "unknown error")


async def test_an_agent_ends_with_its_runner_and_serves_again(mac: Mac) -> None:
    one = (await mac.lab.start("iphone"))[0]
    said = await mac.done("launch", one, RUNNER, SIMCTL_CHILD_USE_PORT="0")
    assert said.startswith(f"{RUNNER}: ")
    entry = (await eventually(lambda: mac.lab.journal(one, "wda")))[0]
    wda = Wda(mac.lab, one, entry["port"])
    await wda.begin()
    await mac.done("terminate", one, RUNNER)
    with pytest.raises((OSError, http.client.HTTPException)):
        await wda.ask("GET", "/status")
    await mac.done("launch", one, RUNNER, SIMCTL_CHILD_USE_PORT=str(wda.port))

    async def up() -> bool:
        try:
            return (await wda.ask("GET", "/status"))[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    await eventually(up)
    assert (await wda.refused("GET", "S"))[1] == "invalid session id"
    await mac.lab.stop(one)


async def test_a_runner_whose_port_is_taken_ends(mac: Mac, wda: Wda) -> None:
    one = (await mac.lab.start("iphone"))[0]
    await mac.done("launch", one, RUNNER, SIMCTL_CHILD_USE_PORT=str(wda.port))

    async def ended() -> bool:
        return RUNNER not in (await mac.lab.state(one))["running"]

    await eventually(ended)
    assert "Last attempt to start web server failed" in await mac.done("spawn", one, "log", "show")
    await mac.lab.stop(one)
