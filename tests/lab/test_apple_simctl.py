"""`xcrun simctl` of the Apple lab: lists, states, and what it says when it fails, beside captures of the real one."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice_lab.apple import KINDS, write_bundle

from .adb import eventually
from .apple import PRACTICE, RUNNER, Mac, fixture, shape

pytestmark = pytest.mark.anyio

ERRORS = {entry["case"]: entry for entry in fixture("simctl_errors.json")}
OUTPUTS = fixture("simctl_outputs.json")
ABSENT = "7ACBD2BD-877C-47F5-888D-2D8FD737B83A"


@pytest.fixture(scope="module")
async def off(mac: Mac) -> str:
    """A simulator that is shut down."""
    return (await mac.lab.start("iphone-off"))[0]


async def _fails(mac: Mac, case: str, *words: str, replace: tuple[str, str] = ("", "")) -> None:
    """Asserts that a call fails as the fixture has it."""
    entry = ERRORS[case]
    expected = entry["stderr"].replace(*replace) if replace[0] else entry["stderr"]
    result = await mac.sim(*words)
    assert (result.code, result.complaint, result.text) == (entry["exit"], expected, ""), (case, words)


async def _rows(mac: Mac, *words: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(await mac.done("list", "-j", *words))["devices"]
    return found


# --- lists ---


async def test_devices_are_listed_in_the_shape_of_a_capture(mac: Mac, udid: str, off: str) -> None:
    gone, lost, kinds = await mac.lab.start("iphone-unavailable", "iphone-lost-runtime", "ipad")
    text = await mac.done("list", "-j", "devices")
    assert "CoreSimulator\\/Devices\\/" in text and '"devices" : {' in text
    rows = {row["udid"]: (runtime, row) for runtime, listed in json.loads(text)["devices"].items() for row in listed}
    sample = fixture("simctl_list_devices_states_xcode26.json")["devices"]
    known = {key: value for listed in sample.values() for row in listed for key, value in row.items()}
    for runtime, row in rows.values():
        assert re.fullmatch(r"com\.apple\.CoreSimulator\.SimRuntime\.\w+-\d+-\d+", runtime)
        assert {key: type(value) for key, value in row.items()} == {key: type(known[key]) for key in row}
        assert {"udid", "name", "state", "isAvailable", "deviceTypeIdentifier", "dataPath"} <= row.keys()
    booted = rows[udid][1]
    assert booted["state"] == "Booted" and "lastBootedAt" in booted and "availabilityError" not in booted
    assert "lastBootedAt" not in rows[off][1] and "logPathSize" not in rows[off][1]
    assert rows[gone][1]["isAvailable"] is False
    assert rows[gone][1]["availabilityError"] == 'runtime profile not found using "System" match policy'
    # Seen on a real Mac: a device that is up although its runtime is gone.
    assert (rows[lost][1]["state"], rows[lost][1]["isAvailable"]) == ("Booted", False)
    for one in (gone, lost, kinds):
        await mac.lab.stop(one)


async def test_old_xcode_lists_by_names_of_runtimes_and_says_what_is_available_in_words(mac: Mac, off: str) -> None:
    gone = (await mac.lab.start("iphone-unavailable"))[0]
    await mac.lab.mac(xcode="10.1")
    try:
        sample = fixture("simctl_list_devices_xcode10_display_keys.json")["devices"]
        real = next(row for listed in sample.values() for row in listed)
        found = await _rows(mac, "devices")
        assert list(found) == ["iOS 26.5", "iOS 17.5"]
        rows = {row["udid"]: row for listed in found.values() for row in listed}
        assert all(shape(row) == shape(real) for row in rows.values())
        assert rows[off]["availability"] == real["availability"] == "(available)"
        assert rows[gone]["availability"].startswith("(unavailable, ")
    finally:
        await mac.lab.mac(xcode="26.5")
        await mac.lab.stop(gone)


async def test_the_text_of_the_list_has_the_lines_of_a_capture(mac: Mac, udid: str) -> None:
    tv, gone = await mac.lab.start("appletv", "iphone-unavailable")
    lines = (await mac.done("list", "devices")).splitlines()
    row = re.compile(r"    (?P<name>.+) \((?P<udid>[0-9A-F-]{36})\) \((?P<state>[\w ]+)\) (?:\(unavailable, .+\))?")
    heading = re.compile(r"-- (?:\w+ \d+\.\d+|Unavailable: com\.apple\.CoreSimulator\.SimRuntime\.[\w-]+) --")
    for text in (lines, (_capture("simctl_list_devices_xcode15.txt")).splitlines()):
        assert text[0] == "== Devices =="
        assert all(row.fullmatch(line) or heading.fullmatch(line) for line in text[1:])
    # A name has brackets of its own, and the id is still the second last.
    found = next(match for line in lines if (match := row.fullmatch(line)) and match["udid"] == tv)
    assert found["name"] == "Apple TV 4K (3rd generation) (at 1080p)"
    assert "-- Unavailable: com.apple.CoreSimulator.SimRuntime.iOS-17-5 --" in lines
    for one in (tv, gone):
        await mac.lab.stop(one)


def _capture(name: str) -> str:
    return (Path(__file__).parents[1] / "fixtures" / "apple" / name).read_text()


async def test_types_and_runtimes_have_the_fields_of_captures_and_tell_no_size(mac: Mac) -> None:
    other = (await mac.lab.start({"name": "iphone-off", "os": "26.5.1", "build": "23F90"}))[0]
    types = json.loads(await mac.done("list", "-j", "devicetypes"))["devicetypes"]
    sample = fixture("simctl_list_devicetypes_xcode26.json")["devicetypes"][0]
    assert all(shape(row) == shape(sample) for row in types)
    assert not any(re.search("width|height|scale", key, re.IGNORECASE) for row in types for key in row)
    runtimes = json.loads(await mac.done("list", "-j", "runtimes"))["runtimes"]
    real = fixture("simctl_list_runtimes_xcode15.json")["runtimes"][0]
    assert all(row.keys() == real.keys() for row in runtimes)
    # One identifier can be there twice: it has no third number.
    twice = [row["buildversion"] for row in runtimes if row["identifier"].endswith("iOS-26-5")]
    assert sorted(twice) == ["23F77", "23F90"]
    await mac.lab.stop(other)


async def test_one_name_on_two_runtimes_and_a_watch_with_its_phone(mac: Mac, udid: str) -> None:
    older, watch = await mac.lab.start("iphone-ios18", "watch")
    found = await _rows(mac, "devices", "iPhone 17")
    assert {runtime.rpartition(".")[2] for runtime, rows in found.items() if rows} == {"iOS-26-5", "iOS-18-5"}
    assert [] in found.values()  # runtimes without devices are there as well
    pairs = json.loads(await mac.done("list", "-j", "pairs"))["pairs"]
    pair = next(iter(pairs.values()))
    assert pair["watch"]["udid"] == watch and pair["phone"].keys() == {"name", "udid", "state"}
    assert json.loads(await mac.done("list", "-j")).keys() == {"devicetypes", "runtimes", "devices", "pairs"}
    available = await _rows(mac, "devices", "available")
    assert all(row["isAvailable"] for listed in available.values() for row in listed)
    for one in (older, watch):
        await mac.lab.stop(one)


# --- states ---


async def test_a_boot_is_waited_for_and_states_between_are_seen(mac: Mac) -> None:
    one = (await mac.lab.start("iphone-off"))[0]
    await mac.lab.set(one, boot_seconds=0.6, shutdown_seconds=0.6)
    await mac.done("boot", one)
    assert await mac.state(one) == "Booting"
    said = await mac.done("bootstatus", one, "-b")
    sample = OUTPUTS[3]["stdout"]
    pattern = re.escape(sample).replace("17\\ \\(F778EB21\\-A6C7\\-497A\\-83A0\\-61E7AC81F87A\\)", rf"17\ \({one}\)")
    pattern = re.sub(r"2026.*?0000", r"[-\\d: +]+", pattern, count=1).replace("00:04", r"\d\d:\d\d")
    assert re.fullmatch(pattern, said), said
    assert await mac.state(one) == "Booted"
    assert (await mac.done("bootstatus", one, "-b")).endswith("Device already booted, nothing to do.\n\n")
    async with anyio.create_task_group() as group:
        group.start_soon(mac.done, "shutdown", one)

        async def leaving() -> bool:
            return await mac.state(one) == "Shutting Down"

        await eventually(leaving)
        # Whoever boots it now is told to wait.
        await _fails(mac, "boot while shutting down", "boot", one)
    assert await mac.state(one) == "Shutdown"
    states = [entry["state"] for entry in await mac.lab.journal(one, "state")]
    assert states == ["Booting", "Booted", "Shutting Down", "Shutdown"]
    await mac.lab.stop(one)


async def test_bootstatus_without_a_boot_waits_until_somebody_boots(mac: Mac) -> None:
    one = (await mac.lab.start("iphone-off"))[0]
    async with mac.running("xcrun", "simctl", "bootstatus", one) as (child, _):
        await eventually(lambda: _asked(mac, one, "bootstatus"))
        assert child.code is None and await mac.state(one) == "Shutdown"
        await mac.done("boot", one)
        with anyio.fail_after(20):
            assert await child.wait() == 0
    await mac.lab.stop(one)


async def _asked(mac: Mac, udid: str, word: str) -> bool:
    return any(word in entry["args"] for entry in await mac.lab.journal(udid, "program"))


async def test_a_device_is_created_renamed_cloned_erased_and_deleted(mac: Mac) -> None:
    kind = "com.apple.CoreSimulator.SimDeviceType.iPhone-17"
    made = (await mac.done("create", "Mine (1)", kind, "com.apple.CoreSimulator.SimRuntime.iOS-26-5")).strip()
    assert re.fullmatch(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", made)

    async def ready() -> bool:
        return await mac.state(made) == "Shutdown"

    await eventually(ready)
    assert [entry["state"] for entry in await mac.lab.journal(made, "state")] == ["Creating", "Shutdown"]
    await mac.done("rename", made, "Ours")
    copy = (await mac.done("clone", made, "Copy")).strip()
    listed = {row["name"] for rows in (await _rows(mac, "devices")).values() for row in rows}
    assert {"Ours", "Copy"} <= listed
    await mac.done("bootstatus", made, "-b")
    await _fails(mac, "erase while booted", "erase", made)
    write_bundle(Path(mac.lab.home, "Other.app"), "com.example.other", "Other")
    await mac.done("install", made, str(Path(mac.lab.home, "Other.app")))
    await mac.done("shutdown", made)
    await mac.done("erase", made)
    await mac.done("bootstatus", made, "-b")
    assert "com.example.other" not in await mac.done("listapps", made)
    await mac.done("delete", made)
    await mac.done("delete", copy)
    assert not {"Ours", "Copy"} & {row["name"] for rows in (await _rows(mac, "devices")).values() for row in rows}


async def test_a_device_set_is_a_world_of_its_own(mac: Mac, udid: str, tmp_path: Path) -> None:
    there = ("--set", str(tmp_path))
    made = (await mac.done(*there, "create", "Apart", "iPhone 17", "iOS 26.5")).strip()
    listed = json.loads(await mac.done(*there, "list", "-j", "devices"))["devices"]
    assert [row["udid"] for rows in listed.values() for row in rows] == [made]
    assert made not in await mac.done("list", "devices")
    await _fails(mac, "any, unknown device", *there, "boot", udid, replace=(ABSENT, udid))
    await mac.done(*there, "delete", made)


async def test_the_word_booted_takes_one_of_those_that_are(mac: Mac, udid: str) -> None:
    other = (await mac.lab.start("ipad"))[0]
    await mac.done("pbcopy", "booted", stdin=b"who got it")
    clipboards = [(await mac.lab.state(one))["clipboard"] for one in (udid, other)]
    assert sorted(clipboards) == ["", "who got it"]
    await mac.lab.stop(other)


# --- failures ---


async def test_refusals_have_the_words_and_the_status_of_captures(mac: Mac, udid: str, off: str) -> None:
    await _fails(mac, "boot, already booted", "boot", udid)
    await _fails(mac, "shutdown, already off", "shutdown", off)
    lookup = "launch/get_app_container/ui/status_bar on a shut-down device"
    for words in (
        ("launch", off, PRACTICE), ("get_app_container", off, PRACTICE), ("ui", off, "appearance"),
        ("status_bar", off, "clear"), ("io", off, "screenshot", "x.png"), ("listapps", off),
    ):  # fmt: skip
        await _fails(mac, lookup, *words)
    await _fails(mac, "spawn on a shut-down device", "spawn", off, "log", "show")
    await _fails(mac, "create, incompatible device", "create", "x", "iPhone 17", "tvOS 26.4")
    await _fails(mac, "any, unknown device", "boot", ABSENT)
    missing = ("com.example.app",)
    await _fails(mac, "launch, app not installed", "launch", udid, *missing)
    await _fails(mac, "terminate, not running", "terminate", udid, *missing)
    await _fails(mac, "get_app_container, not installed", "get_app_container", udid, *missing)
    await _fails(mac, "install, no bundle at path", "install", udid, mac.lab.bin)
    await _fails(mac, "privacy grant of a service the runtime lacks", "privacy", udid, "grant", "camera", PRACTICE)
    assert (await mac.sim("uninstall", udid, *missing)).code == 0  # no error at all
    assert len(ERRORS) == 16


async def test_refusals_of_a_launch_that_happens_or_does_not(mac: Mac, udid: str) -> None:
    named = ("com.example.app", PRACTICE)
    await mac.lab.fault(udid, "launch_denied", times=1)
    await _fails(mac, "launch, denied", "launch", udid, PRACTICE, replace=named)
    assert PRACTICE not in (await mac.lab.state(udid))["running"]
    await mac.lab.fault(udid, "launch_no_handle", times=1)
    await _fails(mac, "launch, no process handle", "launch", udid, PRACTICE, replace=named)
    assert PRACTICE in (await mac.lab.state(udid))["running"]  # it runs all the same
    await mac.done("terminate", udid, PRACTICE)


@pytest.mark.parametrize(("xcode", "status"), [("6.4", 146), ("7.3", 159), ("9.4", 164), ("15.4", 149), ("26.5", 149)])
async def test_the_status_of_a_wrong_state_depends_on_the_xcode_and_its_sentence_does_not(
    mac: Mac, udid: str, xcode: str, status: int
) -> None:
    await mac.lab.mac(xcode=xcode)
    try:
        result = await mac.sim("boot", udid)
        misfit = await mac.sim("create", "x", "iPhone 17", "tvOS 26.4")
    finally:
        await mac.lab.mac(xcode="26.5")
    assert result.code == status
    assert misfit.code == (147 if status == 149 else 163) and misfit.complaint.endswith("\nIncompatible device\n")
    assert result.complaint.splitlines()[1] == "Unable to boot device in current state: Booted"


async def test_a_mac_with_the_command_line_tools_alone(mac: Mac) -> None:
    entry = ERRORS["simctl missing (CLT only)"]
    await mac.lab.mac(xcode="clt")
    try:
        for words in (("xcrun", "simctl", "list"), ("xcrun", "--find", "simctl")):
            result = await mac.run(*words)
            assert (result.code, result.complaint) == (entry["exit"], entry["stderr"])
        assert "requires Xcode" in (await mac.run("xcodebuild", "-version")).complaint
        assert (await mac.run("xcode-select", "-p")).text == "/Library/Developer/CommandLineTools\n"
    finally:
        await mac.lab.mac(xcode="26.5")
    assert (await mac.run("xcodebuild", "-version")).text.startswith("Xcode 26.5\nBuild version ")
    assert (await mac.run("xcrun", "--find", "simctl")).text.endswith("/usr/bin/simctl\n")


async def test_usage_errors_leave_with_another_status(mac: Mac, udid: str) -> None:
    assert (await mac.run("xcrun")).code == 64
    unknown = await mac.sim("frobnicate")
    assert unknown.code == 22 and unknown.complaint.startswith("Unrecognized subcommand: frobnicate\n")
    assert "bootstatus" in await mac.done("help")
    assert (await mac.sim("ui", udid, "colour")).code == 22


async def test_every_kind_there_is_can_be_started(mac: Mac) -> None:
    started = await mac.lab.start(*KINDS)
    rows = {row["serial"]: row for row in await mac.lab.devices()}
    assert {rows[one]["kind"] for one in started} == set(KINDS)
    simulators = {one for one in started if not rows[one]["physical"]}
    listed = {row["udid"] for found in (await _rows(mac, "devices")).values() for row in found}
    assert simulators <= listed and not listed & (set(started) - simulators)
    for one in started:
        await mac.lab.stop(one)


async def test_calls_run_side_by_side_and_are_all_in_the_journal(mac: Mac, udid: str) -> None:
    await mac.lab.fault("mac", "slow", match="simctl ui", seconds=0.4)
    began = time.monotonic()
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(mac.done, "ui", udid, "appearance")
    assert time.monotonic() - began >= 0.4
    await mac.lab.clear("mac")
    calls = [entry for entry in await mac.lab.journal("mac", "program") if entry["args"][:2] == ["simctl", "ui"]]
    assert len(calls) >= 4 and RUNNER not in str(calls)
