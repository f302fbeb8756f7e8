"""What a HarmonyOS lab device shows and what it makes of input: layouts beside a capture, `uitest`, `uinput`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from anydevice_lab.harmonyos import Lab

from .adb import Reports, eventually
from .harmony import PRACTICE, Attributes, Device, box, sample, walk

pytestmark = pytest.mark.anyio

CHOOSER = "com.ohos.amsdialog"


@pytest.fixture(scope="module")
async def harmony() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture(scope="module")
async def all_devices(harmony: Lab) -> dict[str, Device]:
    kinds = ("phone", "old-phone", "tv", "emulator")
    return {kind: Device(harmony, key) for kind, key in zip(kinds, await harmony.start(*kinds), strict=True)}


@pytest.fixture
async def devices(all_devices: dict[str, Device]) -> AsyncIterator[dict[str, Device]]:
    """Devices without faults, awake; they are the same for all tests of a module."""
    yield all_devices
    for device in all_devices.values():
        await device.lab.clear(device.serial)
        await device.lab.set(device.serial, awake=True, locked=False, rotation=0)


@pytest.fixture
async def phone(devices: dict[str, Device]) -> Device:
    return devices["phone"]


def first(tree: dict[str, Any], kind: str) -> Attributes:
    return next(node["attributes"] for node in walk(tree) if node["attributes"]["type"] == kind)


# --- layouts ---


async def test_a_layout_has_the_captured_attributes_each_a_text(devices: dict[str, Device]) -> None:
    captured = json.loads(sample("layout_dump_5.0_phone.json"))
    await devices["old-phone"].open("form")
    told = await devices["old-phone"].layout()
    assert told["attributes"].keys() == captured["attributes"].keys()
    assert {name for name, value in told["attributes"].items() if value} == {"bounds"}
    for kind in ("root", "WindowScene", "Text"):
        assert first(told, kind).keys() == first(captured, kind).keys(), kind
    for node in walk(told):
        assert node.keys() == {"attributes", "children"}
        assert all(isinstance(value, str) for value in node["attributes"].values())


async def test_newer_builds_tell_more_and_unique_ids_when_asked(devices: dict[str, Device]) -> None:
    old = set((await devices["old-phone"].node("form.name")) if await opened(devices, "old-phone") else ())
    emulator = devices["emulator"]
    await emulator.open("form")
    assert set(await emulator.node("form.name")) - old == {"clip", "displayId", "originalText"}
    assert "uniqueId" in first(await emulator.layout("-e", "uniqueId"), "root")
    status, said = await emulator.run("uitest dumpLayout -e colour")
    assert status == 1 and said.startswith("Invalid attribute name")


async def opened(devices: dict[str, Device], kind: str) -> bool:
    await devices[kind].open("form")
    return True


async def test_the_window_with_the_focus_comes_first_and_the_bar_cuts_the_app(phone: Device) -> None:
    await phone.open("form")
    tree = await phone.layout()
    roots = [child["attributes"] for child in tree["children"]]
    assert [(root["type"], root["bundleName"]) for root in roots] == [
        ("root", PRACTICE), ("WindowScene", "com.ohos.sceneboard"),
    ]  # fmt: skip
    bar = box(roots[1]["bounds"])
    assert box(roots[0]["origBounds"]) == (0, 0, 1260, 2720) and box(roots[0]["bounds"]) == (0, bar[3], 1260, 2720)
    assert (roots[0]["abilityName"], roots[0]["focused"]) == ("EntryAbility", "true")
    inner = [node["attributes"] for root in tree["children"] for node in walk(root) if node is not root]
    assert not any("bundleName" in node for node in inner), "only windows say whose they are"


async def test_what_is_scrolled_away_or_covered_is_not_told(phone: Device) -> None:
    await phone.open("list")
    rows = [node["id"] for node in await phone.nodes() if node["id"].startswith("row.")]
    assert "row.0" in rows and "row.320" not in rows and len(rows) < 60
    await phone.open("form")
    await phone.tap("form.name")
    shown = await phone.nodes()
    keyboard = next(node for node in shown if node["bounds"] and node.get("bundleName", "").endswith("inputmethod"))
    top = box(keyboard["bounds"])[1]
    app = next(node for node in shown if node.get("bundleName") == PRACTICE)
    assert box(app["bounds"])[3] == top and box(app["origBounds"])[3] == 2720
    await phone.shell("uitest uiInput keyEvent Back")


async def test_a_raw_layout_is_a_list_in_which_nothing_is_cut(phone: Device) -> None:
    await phone.open("tall")
    raw, merged = await phone.layout("-i"), await phone.layout()
    assert isinstance(raw, list) and len(raw) == len(merged["children"])
    everything = [node["attributes"] for root in raw for node in walk(root)]
    assert max(box(node["bounds"])[3] for node in everything) > 2720
    assert len(everything) > len(list(walk(merged))) - 1, "what cannot be seen is told, too"
    assert all(node["bounds"] == node["origBounds"] for node in everything)
    status, said = await phone.run("uitest dumpLayout -i -a")
    assert (status, said) == (1, "The -a and -i options cannot be used together.\n")


async def test_one_window_can_be_asked_for_and_fonts_stand_beside_attributes(phone: Device) -> None:
    await phone.open("form")
    tree = await phone.layout("-b", PRACTICE, "-a")
    assert [child["attributes"]["bundleName"] for child in tree["children"]] == [PRACTICE]
    assert any("FontSize" in node.get("extraAttrs", {}) for node in walk(tree))
    assert (await phone.layout("-b", "com.none"))["children"] == []


async def test_ids_stay_as_long_as_the_thing_is_there(phone: Device) -> None:
    await phone.open("form")
    one, two = await phone.nodes(), await phone.nodes()
    assert [node["accessibilityId"] for node in one] == [node["accessibilityId"] for node in two]
    numbers = [node["accessibilityId"] for node in one if node["accessibilityId"]]
    assert len(set(numbers)) == len(numbers)


async def test_a_layout_that_fails_says_so_in_the_captured_words(phone: Device) -> None:
    good, bad, picture = sample("uiinput_results.txt", "dumpLayout / screenCap").splitlines()
    said = await phone.shell("uitest dumpLayout -p /data/local/tmp/layout_407568854.json")
    assert said.strip() == good
    assert await phone.run("uitest dumpLayout -p /nope/x.json") == (1, bad + "\n")
    assert (await phone.shell("uitest screenCap -p /data/local/tmp/screenCap_1.png")).strip() == picture
    await phone.lab.fault(phone.serial, "dump_fails", times=1)
    assert await phone.run("uitest dumpLayout") == (1, "DumpLayout failed:Get window nodes failed\n")
    await phone.lab.fault(phone.serial, "dump_cut", times=1)
    with pytest.raises(json.JSONDecodeError):
        await phone.layout()


async def test_a_stale_layout_is_that_of_before(phone: Device) -> None:
    await phone.open("form")
    await phone.lab.fault(phone.serial, "stale", times=1)
    await phone.open("home")
    assert any(node["id"] == "form.name" for node in await phone.nodes())
    assert not any(node["id"] == "form.name" for node in await phone.nodes())


# --- uitest uiInput ---


async def test_a_click_arrives_and_far_outside_nothing_does(phone: Device, reports: Reports) -> None:
    await phone.open("home", reports.url)
    await phone.tap("home.increment")
    assert (await reports.heard("press"))["id"] == "home.increment"
    assert await phone.shell("uitest uiInput click 9000 9000") == "No Error\n"
    await phone.tap("home.increment")
    await reports.heard("press", 2)
    assert len(reports.of("press")) == 2


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("click 0 100", "click 0 100"),
        ("click -5 100", "click 0 100"),
        ("click x 100", "click 0 100"),
        ("swipe 1 1 0 5", "click 0 100"),
        ("keyEvent Recent", "keyEvent Recent"),
        ("keyEvent Enter", "keyEvent Recent"),
        ("wipe 1 2", "keyEvent Recent"),
        ("text one two three", "text with two"),
        ("click 10", "text with two"),
    ],
)
async def test_a_refusal_begins_with_the_captured_line_and_goes_on_with_usage(
    phone: Device, words: str, title: str
) -> None:
    status, said = await phone.run(f"uitest uiInput {words}")
    assert status == 1
    assert said.startswith(sample("uiinput_results.txt", title).splitlines()[0] + "\n\n")
    assert len(said.splitlines()) > 5


async def test_a_speed_out_of_range_is_told_and_replaced(phone: Device) -> None:
    await phone.open("list")
    await phone.journal("swipe")
    said = await phone.shell("uitest uiInput swipe 600 1500 600 900 50")
    assert said.strip() == sample("uiinput_results.txt", "swipe with velocity 50").strip()
    assert (await phone.journal("swipe"))[-1]["seconds"] == 1.0, "600 pixels at 600 a second"


async def test_the_last_number_is_a_speed(phone: Device, reports: Reports) -> None:
    await phone.open("gestures", reports.url)
    left, top, right, bottom = box((await phone.node("gestures.pad"))["bounds"])
    y = (top + bottom) // 2
    await phone.shell(f"uitest uiInput swipe {right - 30} {y} {left + 30} {y} {(right - left - 60) * 4}")
    assert (await reports.heard("swipe"))["value"] == "left"
    assert (await phone.journal("swipe"))[-1]["seconds"] == 0.25


async def test_input_on_a_dark_or_locked_screen_is_no_error_and_nothing(phone: Device, reports: Reports) -> None:
    await phone.open("home", reports.url)
    x, y = await phone.middle("home.increment")
    for state in ({"awake": False}, {"awake": True, "locked": True}):
        await phone.lab.set(phone.serial, **state)
        assert await phone.shell(f"uitest uiInput click {x} {y}") == "No Error\n"
        assert await phone.shell("uitest uiInput text hello") == "No Error\n"
    await phone.lab.set(phone.serial, awake=True, locked=False)
    await phone.tap("home.increment")
    await reports.heard("press")
    assert len(reports.of("press")) == 1


async def test_text_is_added_at_the_field_and_ends_at_a_line(phone: Device) -> None:
    await phone.open("form")
    x, y = await phone.middle("form.name")
    assert await phone.shell(f"uitest uiInput inputText {x} {y} 'Ada Löve'") == "No Error\n"
    assert await phone.shell("uitest uiInput text 'lace\nand more'") == "No Error\n"
    assert (await phone.node("form.name"))["text"] == "Ada Lövelace"
    assert (await phone.lab.state(phone.serial))["clipboard"] == "Ada Löve", "what keys cannot type is pasted"
    await phone.shell("uitest uiInput keyEvent 2072 2017; uitest uiInput keyEvent 2055")
    assert (await phone.node("form.name"))["text"] == ""


async def test_a_second_word_of_a_text_is_lost_on_newer_builds_and_refused_on_older(devices: dict[str, Device]) -> None:
    phone, old = devices["phone"], devices["old-phone"]
    for device in (phone, old):
        await device.open("form")
        await device.tap("form.name")
    assert await phone.run("uitest uiInput text one two") == (0, "No Error\n")
    assert (await phone.node("form.name"))["text"] == "one"
    x, y = await old.middle("form.name")
    status, said = await old.run(f"uitest uiInput inputText {x} {y} one two")
    assert status == 1 and said.startswith(sample("uiinput_results.txt", "text with two").splitlines()[0])
    status, said = await old.run("uitest uiInput text one")
    assert status == 1 and said.startswith("Invalid parameters. ")


async def test_a_display_there_is_not_is_told_and_ends_well(phone: Device) -> None:
    assert await phone.run("uitest uiInput click 100 300 7") == (0, "Invalid display id.\n")


async def test_keys_leave_go_home_and_go_together(phone: Device) -> None:
    await phone.open("form")
    await phone.shell("uitest uiInput keyEvent Back")
    assert (await phone.lab.state(phone.serial))["front"].startswith(("dev.anydevice.practice", "com.ohos.sceneboard"))
    await phone.shell("uitest uiInput keyEvent Home")
    assert (await phone.lab.state(phone.serial))["front"].startswith("com.ohos.sceneboard")
    await phone.shell("uitest uiInput keyEvent 2072 2017 2019")
    held = [(entry["code"], entry["held"]) for entry in (await phone.journal("key"))[-2:]]
    assert held == [(2017, ["ctrl"]), (2019, ["ctrl"])]


async def test_calls_that_overlap_block_each_other(phone: Device) -> None:
    await phone.lab.fault(phone.serial, "dump_slow", seconds=0.3)
    await phone.lab.set(phone.serial, overlap_seconds=0.3)
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(phone.shell, "uitest dumpLayout -p /data/local/tmp/overlap.json")
    assert await phone.journal("overlap")
    await phone.lab.set(phone.serial, overlap_seconds=5.0)


# --- uinput ---


async def test_a_finger_stays_as_long_as_it_is_told(phone: Device, reports: Reports) -> None:
    await phone.open("gestures", reports.url)
    x, y = await phone.middle("gestures.hold")
    await phone.shell(f"uinput -T -d {x} {y} -i 700 -u {x} {y}")
    assert 0.65 <= (await reports.heard("hold"))["value"] < 1.5


async def test_two_fingers_pinch(phone: Device, reports: Reports) -> None:
    await phone.open("gestures", reports.url)
    x, y = await phone.middle("gestures.pinch")
    await phone.shell(f"uinput -T -m {x - 50} {y} {x - 100} {y} {x + 50} {y} {x + 100} {y} 200")
    assert (await reports.heard("pinch"))["value"] == 2.0


async def test_a_drag_rests_first(phone: Device, reports: Reports) -> None:
    await phone.open("gestures", reports.url)
    (x1, y1), (x2, y2) = await phone.middle("gestures.source"), await phone.middle("gestures.zone")
    await phone.shell(f"uinput -T -g {x1} {y1} {x2} {y2} 500 1000")
    assert (await reports.heard("drag"))["value"] == ["gestures.source", "gestures.zone"]
    assert (await phone.journal("swipe"))[-1]["hold"] == 0.5


async def test_a_mouse_hovers_and_drags_and_content_does_not_follow_it(phone: Device, reports: Reports) -> None:
    await phone.open("gestures", reports.url)
    x, y = await phone.middle("gestures.hover")
    await phone.shell(f"uinput -M -m {x} {y}")
    assert (await reports.heard("hover"))["id"] == "gestures.hover"
    await phone.open("list")
    before = [node["id"] for node in await phone.nodes()]
    await phone.shell("uinput -M -g 600 1500 600 700 100")
    assert [node["id"] for node in await phone.nodes()] == before


async def test_moves_take_all_words_to_the_end_of_the_line(phone: Device) -> None:
    """So a rest after a move has an option of its own, and single events cannot follow."""
    before = len(await phone.journal("swipe"))
    status, said = await phone.run("uinput -T -d 600 1500 -m 600 1500 600 900 300 -i 100 -u 600 900")
    assert (status, "invalid coordinate value" in said) == (2, True)
    assert len(await phone.journal("swipe")) == before


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("-T -m 1 2 3 4 0", 2),
        ("-T -m 1 2 3 4 15001", 2),
        ("-T -m 1 2 3 -k 10", 2),
        ("-T -d -5 10 -u -5 10", 255),
        ("-T -d 5 10 -i 15001 -u 5 10", 2),
        ("-T -c 10 10 500", 255),
        ("-T -g 1 2 3 4 100 1000", 255),
        ("-K -u 2055", 2),
        ("-K -l 2055 100", 255),
        ("-K -t a -d 2055", 255),
        ("-P -p 600 600 150%", 255),
        ("-Q", 2),
        ("", 2),
    ],
)
async def test_wrong_numbers_are_told_by_the_status_alone(phone: Device, words: str, expected: int) -> None:
    assert (await phone.run(f"uinput {words}"))[0] == expected


async def test_keys_type_ascii_alone_and_what_stood_before(phone: Device) -> None:
    await phone.open("form")
    await phone.tap("form.name")
    assert (await phone.run("uinput -K -t 'naïve'"))[0] == 255
    assert (await phone.node("form.name"))["text"] == "na"


async def test_old_builds_move_one_finger_and_chain(devices: dict[str, Device]) -> None:
    old = devices["old-phone"]
    await old.open("list")
    before = len(await old.journal("swipe"))
    assert (await old.run("uinput -T -m 600 1500 600 900 100 -i 50"))[0] == 0
    assert (await old.run("uinput -K -t text"))[0] == 2
    assert len(await old.journal("swipe")) == before + 1


# --- ways of the system ---


async def test_a_finger_that_rests_on_its_way_up_shows_the_missions_and_one_that_does_not_leads_home(
    phone: Device,
) -> None:
    await phone.open("form")
    await phone.shell("uinput -T -m 630 2710 756 2040 -k 600 200")
    titles = [node["text"] for node in await phone.nodes()]
    assert "Practice" in titles and "Recents" in titles
    await phone.open("form")
    await phone.shell("uinput -T -m 630 2710 630 1900 150")
    assert (await phone.lab.state(phone.serial))["front"].startswith("com.ohos.sceneboard")
    assert [entry["what"] for entry in (await phone.journal("gesture"))[-2:]] == ["missions", "home"]


async def test_a_start_without_an_ability_leaves_a_chooser_which_covers_what_is_under_it(phone: Device) -> None:
    await phone.open("form")
    said = await phone.shell(f"aa start -b {PRACTICE}")
    assert said.strip() == sample("aa_results.txt", "aa start -b com.example.shop (implicit)").strip()
    roots = [child["attributes"] for child in (await phone.layout())["children"]]
    chooser = next(root for root in roots if root["bundleName"] == CHOOSER)
    app = next(root for root in roots if root["bundleName"] == PRACTICE)
    over, under = box(chooser["bounds"]), box(app["bounds"])
    assert under[1] >= over[3] or under[3] <= over[1], "the app's window is told where nothing lies over it"
    await phone.shell("uitest uiInput keyEvent Back")
    assert not (await phone.lab.state(phone.serial))["chooser"]


async def test_a_television_is_steered_by_keys_and_has_no_bars(devices: dict[str, Device], reports: Reports) -> None:
    tv = devices["tv"]
    await tv.open("home", reports.url)
    assert len((await tv.layout())["children"]) == 1

    async def there() -> bool:
        await tv.shell("uitest uiInput keyEvent 2013")
        return (await tv.node("home.increment"))["focused"] == "true"

    await eventually(there)
    await tv.shell("uitest uiInput keyEvent 2016")
    assert (await reports.heard("press"))["id"] == "home.increment"


async def test_a_display_turns_with_its_posture_and_an_emulator_has_none(devices: dict[str, Device]) -> None:
    for kind, turned in (("phone", "1"), ("emulator", "0")):
        device = devices[kind]
        await device.shell("hidumper -s 4607 -a -motion,1")
        told = await device.shell("hidumper -s DisplayManagerService -a -a")
        assert f"DisplayOrientation: {turned}" in told
    assert "Bounds<L,T,W,H>: 0 0 2720 1260" in await devices["phone"].shell("hidumper -s 4607 -a -a")
    assert box((await devices["phone"].layout())["attributes"]["bounds"]) == (0, 0, 2720, 1260)
