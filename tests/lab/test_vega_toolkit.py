"""The automation toolkit of a Vega lab device: when it tells of an app, what it tells, what it does, how it fails."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from anydevice_lab.vega import Lab

from .adb import Reports, eventually
from .vega import FLAG, PRACTICE, Tv

pytestmark = pytest.mark.anyio

FIXTURES = Path(__file__).parents[1] / "fixtures" / "vega"
LAUNCHER = "com.amazon.keplerlauncherapp"


@pytest.fixture(scope="module")
async def vegas() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture(scope="module")
async def one(vegas: Lab) -> Tv:
    return Tv(vegas, (await vegas.start("stick"))[0])


@pytest.fixture
async def tv(one: Tv) -> AsyncIterator[Tv]:
    """A stick without faults; it is the same for all tests of a module."""
    yield one
    await one.lab.clear(one.serial)
    await one.close()


async def _apps(tv: Tv) -> list[str]:
    return [app.get("appName", "") for app in (await tv.source()).iter("app")]


async def test_nothing_answers_before_an_app_was_launched_with_the_flag_there(vegas: Lab) -> None:
    fresh = Tv(vegas, (await vegas.start("stick"))[0])
    await fresh.open("home", told=False)
    with pytest.raises(OSError):
        await fresh.rpc("getPageSource")
    await fresh.shell(f"touch {FLAG}")
    with pytest.raises(OSError):  # it is looked for at launch, and the app runs
        await fresh.rpc("getPageSource")
    await fresh.close()
    await fresh.open("home")
    assert await _apps(fresh) == [PRACTICE, LAUNCHER]
    await vegas.stop(fresh.serial)


async def test_an_app_launched_without_the_flag_is_not_told_of(tv: Tv) -> None:
    await tv.open("home")
    assert await _apps(tv) == [PRACTICE, LAUNCHER]
    await tv.close()
    await tv.open("home", told=False)
    assert await _apps(tv) == [LAUNCHER]
    assert (await tv.lab.state(tv.serial))["front"] == f"{PRACTICE}.main"


async def test_ids_have_64_bits_and_are_those_of_one_run(tv: Tv) -> None:
    await tv.open("home")
    before = await tv.node("home.increment")
    assert int(before["id"]) > 1 << 32
    assert (await tv.node("home.increment"))["id"] == before["id"]
    told = re.sub(r"<traits>.*?</traits>", "", await tv.result("getPageSource"), flags=re.DOTALL)
    ids = re.findall(r"<(?:app|window|child)[^>]* id=\"(\d+)\"", told)
    assert len(ids) == len(set(ids))
    await tv.close()
    await tv.open("home")
    after = await tv.node("home.increment")
    assert int(after["id"]) >> 32 != int(before["id"]) >> 32
    assert "error" in await tv.rpc("boundsOf", id=int(before["id"]))
    place = {name: int(after[name]) for name in ("x", "y", "width", "height")}
    assert (await tv.result("boundsOf", id=int(after["id"])))["bounds"] == place


async def test_a_page_is_an_app_inside_the_app(tv: Tv) -> None:
    await tv.open("home")  # so that the toolkit is there
    await tv.shell(f"touch {FLAG}; vmsgr send pkg://com.amazondeveloper.web.main")
    root = await tv.source()
    outer = next(app for app in root if app.get("appName") == "com.amazondeveloper.web")
    inner = [app for app in outer.iter("app") if app is not outer]
    assert [app.get("appName") for app in inner] == ["Webview"]
    assert {node.get("test_id") for node in inner[0].iter("child")} >= {"page.title", "page.next", "page.query"}
    await tv.shell("vlcm terminate-app --pkg-id com.amazondeveloper.web")


async def test_labels_are_in_children_and_much_is_told_twice(tv: Tv) -> None:
    await tv.open("form")
    source = await tv.source()
    button = next(node for node in source.iter("child") if node.get("test_id") == "form.signin")
    assert not button.findall("text")
    assert [text.text for text in button.iter("text")] == ["Sign in"]
    assert button.find("traits/focusable") is not None and button.get("focusable") == "true"
    secret = next(node for node in source.iter("child") if node.get("test_id") == "form.password")
    await tv.result("setText", id=int(secret.get("id", "0")), text="open sesame")
    assert "open sesame" not in await tv.result("getPageSource")
    await tv.open("list")
    row = next(node for node in (await tv.source()).iter("child") if node.get("test_id") == "row.3")
    assert [text.text for text in row.iter("text")] == ["Row 3", "Row 3"]


async def test_a_dialog_is_a_window_above_and_is_answered_by_its_buttons(tv: Tv, reports: Reports) -> None:
    await tv.open("alerts", reports.url)
    await tv.result("click", id=int((await tv.node("alerts.confirm"))["id"]))
    app = next(app for app in (await tv.source()).iter("app") if app.get("appName") == PRACTICE)
    over, under = app.findall("window")
    assert int(over.get("zOrder", "0")) > int(under.get("zOrder", "0")) and int(over.get("width", "0")) < 1920
    assert "Are you sure?" in [text.text for text in over.iter("text")]
    await tv.result("click", id=int((await tv.node("button1"))["id"]))
    assert (await reports.heard("dialog"))["value"] == "accept"
    assert len(app.findall("window")) == 2 and len((await tv.source()).findall("app/window")) == 2


async def test_a_key_comes_by_its_number_and_may_be_lost_without_a_word(tv: Tv) -> None:
    pairs = [json.loads(line) for line in (FIXTURES / "toolkit_rpc.jsonl").read_text().splitlines()]
    asked = next(pair for pair in pairs if pair["req"]["method"] == "injectInputKeyEvent")
    await tv.open("form")
    await tv.lab.fault(tv.serial, "inject_ignored", times=1)
    for place in ("", "form.name", "form.notes"):
        answer = await tv.rpc("injectInputKeyEvent", **(asked["req"]["params"] | {"holdDuration": 1}))
        assert answer["result"] == asked["res"]["result"]
        assert await tv.focused() == place


async def test_the_shapes_of_answers_are_those_the_public_driver_reads(tv: Tv) -> None:
    pairs = [json.loads(line) for line in (FIXTURES / "toolkit_rpc.jsonl").read_text().splitlines()]
    await tv.open("form")
    field = int((await tv.node("form.name"))["id"])
    for pair in pairs:
        params = pair["req"]["params"] | ({"id": field} if "id" in pair["req"]["params"] else {})
        answer = await tv.rpc(pair["req"]["method"], **params)
        expected = pair["res"]["result"]
        assert isinstance(answer["result"], type(expected)), (pair["req"]["method"], answer)
        if isinstance(expected, dict):
            assert answer["result"].keys() == expected.keys()
    assert (await tv.node("form.name"))["text"] == "hi"
    await tv.result("stopRecordingScreen")


async def test_the_focus_and_the_text_of_a_field_are_set_by_id(tv: Tv, reports: Reports) -> None:
    await tv.open("form", reports.url)
    field = int((await tv.node("form.notes"))["id"])
    assert await tv.result("setFocus", id=field) is True
    assert await tv.focused() == "form.notes" and await tv.result("isFocused", id=field) is True
    assert await tv.result("setText", id=field, text="設定 👩‍👩‍👧") is True
    assert (await reports.heard("fill"))["value"] == "設定 👩‍👩‍👧"
    assert await tv.result("getText", id=field) == "設定 👩‍👩‍👧"
    assert await tv.result("findObjects", args={"role": "edit", "description": "Notes"}) == [field]


async def test_a_disabled_element_has_no_handler(tv: Tv) -> None:
    await tv.open("form")
    node = await tv.node("form.submit")
    assert node["enabled"] == "false" and await tv.result("isEnabled", id=int(node["id"])) is False
    assert "error" in await tv.rpc("click", id=int(node["id"]))


async def test_a_picture_is_a_png_of_the_display_and_changes_with_it(tv: Tv) -> None:
    await tv.open("home")
    first = base64.b64decode(await tv.result("takeScreenshot"))
    assert first.startswith(b"\x89PNG\r\n") and struct.unpack(">II", first[16:24]) == (1920, 1080)
    await tv.open("form")
    assert base64.b64decode(await tv.result("takeScreenshot")) != first
    await tv.lab.fault(tv.serial, "screenshot_empty", times=1)
    assert await tv.result("takeScreenshot") == ""


async def test_a_recording_is_a_film_below_the_toolkits_own_folder(tv: Tv) -> None:
    await tv.open("home")
    assert "error" in await tv.rpc("stopRecordingScreen")
    assert "error" in await tv.rpc("startRecordingScreen", timeLimitInSeconds=181)
    await tv.result("startRecordingScreen", timeLimitInSeconds=60)
    assert "error" in await tv.rpc("startRecordingScreen", timeLimitInSeconds=60)
    await tv.open("form")

    async def two() -> bool:
        return (await tv.lab.state(tv.serial))["recording"]

    await eventually(two)
    await tv.result("stopRecordingScreen")
    line = "cat /tmp/*automation-toolkit.service*/tmp/atk_screen_capture.mp4 | head -c 12 | od -An -c"
    assert re.sub(r"\s+|\\0", "", await tv.shell(line)).endswith("ftypisom")


async def test_an_app_that_answers_nothing_holds_its_page_source_up(tv: Tv) -> None:
    await tv.open("busy")
    await tv.result("click", id=int((await tv.node("busy.freeze"))["id"]))
    with pytest.raises(OSError):
        await tv.rpc("getPageSource", 1.0)
    await tv.close()
    assert await _apps(tv) == [LAUNCHER]


async def test_methods_hang_and_lose_their_answers_on_request(tv: Tv, reports: Reports) -> None:
    await tv.open("home", reports.url)
    await tv.lab.fault(tv.serial, "toolkit_hang", match="Screenshot", times=1)
    with pytest.raises(OSError):
        await tv.rpc("takeScreenshot", 0.5)
    await tv.lab.fault(tv.serial, "toolkit_cut", match="click", times=1)
    with pytest.raises(OSError):
        await tv.rpc("click", id=int((await tv.node("home.increment"))["id"]))
    assert (await reports.heard("count"))["value"] == 1  # it was done
    await tv.lab.fault(tv.serial, "ids_wrong", times=1)
    wrong = int((await tv.node("home.increment"))["id"])
    assert "error" in await tv.rpc("click", id=wrong)
    await tv.lab.fault(tv.serial, "focus_by_selected", times=1)
    assert await tv.focused() == ""
    assert "error" in await tv.rpc("getClipboard")
