"""The list of devices: every state with its reason and what to do, one row for each thing there is, and choosing."""

from __future__ import annotations

from pathlib import Path

import pytest

from anydevice_adb import AdbServer, Row
from anydevice_android.inventory import STATES, Known, devices
from anydevice_android.reading.props import Identity
from anydevice_lab.android import Lab

from .rig import PRACTICE, Rig, rig

pytestmark = pytest.mark.anyio
PERMISSIONS = "no permissions (user in plugdev group; are your udev rules wrong?); see [http://developer.android.com/x]"


def pixel(serial: str, *, avd: str = "") -> Identity:
    return Identity(serial, "Pixel 8", "16", 36, True, bool(avd), avd, "phone")


def row(serial: str, state: str = "device", **facts: str) -> Row:
    return Row(serial, state, "", facts)


# --- what is listed ---


async def test_every_state_of_the_server_has_a_reason_and_what_to_do(lab: Lab, tmp_path: Path) -> None:
    states = ["offline", "unauthorized", "authorizing", "connecting", "recovery", "sideload", "rescue", "bootloader"]
    assert {*states, "device", "no permissions"} == set(STATES)
    rows = "".join(
        f"SERIAL{number}  {state} usb:1-{number} transport_id:{number}\n" for number, state in enumerate(states)
    )
    rows += f"????????????           {PERMISSIONS} usb:1-20 transport_id:20\n"
    rows += f"????????????           {PERMISSIONS} usb:1-21 transport_id:21\n"
    rows += "NEW1                   hovering transport_id:30\n"
    env = {"ANDROID_ADB_SERVER_PORT": str(await lab.fake_server(rows))}
    async with rig(lab, tmp_path / "home", environment=env) as host:
        found = {device["id"]: device for device in await host.devices()}
    assert len(found) == len(states) + 3
    for number, state in enumerate(states):
        device = found[f"SERIAL{number}"]
        assert device["state"] == STATES[state][0] != "ready", state
        assert device["reason"] and device["fix"], state
    ghosts = [device for id, device in found.items() if id.startswith("????????????")]
    assert len({device["id"] for device in ghosts}) == 2
    assert {device["state"] for device in ghosts} == {"unavailable"} and all("plugdev" in d["fix"] for d in ghosts)
    assert found["NEW1"]["state"] == "unknown" and found["NEW1"]["fix"]


async def test_what_a_device_is_comes_from_the_device(lab: Lab, router: Rig) -> None:
    tablet, tv, emulator = await lab.start("tablet", "tv", "emulator")
    rows = {device["id"]: device for device in await router.devices()}
    assert (rows[tablet]["class"], rows[tablet]["name"]) == ("tablet", "Pixel Tablet")
    assert (rows[tv]["class"], rows[tv]["name"], rows[tv]["osVersion"]) == ("tv", "ADT-3", "12")
    assert (rows[emulator]["kind"], rows[emulator]["name"]) == ("emulator", "Pixel 8 API 35")


async def test_a_device_that_is_still_starting_is_not_ready(lab: Lab, router: Rig) -> None:
    serial = (await lab.start("phone"))[0]
    await lab.set(serial, props={"sys.boot_completed": "", "dev.bootcomplete": ""})
    found = await router.device(serial)
    assert (found["state"], bool(found["reason"]), bool(found["fix"])) == ("booting", True, True)
    await router.do("snapshot", device=serial, expect="device_not_ready")
    await lab.set(serial, props={"sys.boot_completed": "1"})
    assert (await router.device(serial))["state"] == "ready"


async def test_a_device_that_does_not_answer_is_a_row_and_hides_no_other(lab: Lab, router: Rig, phone: str) -> None:
    silent = (await lab.start("phone"))[0]
    await lab.fault(silent, "hang", match="^getprop")
    rows = {device["id"]: device for device in await router.devices()}
    assert rows[phone]["state"] == "ready"
    assert (rows[silent]["state"], bool(rows[silent]["fix"])) == ("unknown", True)
    await lab.stop(silent)


async def test_what_is_no_android_is_left_to_others(lab: Lab, router: Rig, phone: str) -> None:
    other = (await lab.start("emulator"))[0]
    await lab.fault(other, "answer", match="getprop", stderr="sh: getprop: not found\n", code=127)
    listed = [device["id"] for device in await router.devices()]
    assert other not in listed and phone in listed


async def test_no_server_is_told_and_starts_none_where_that_is_not_wanted(lab: Lab, tmp_path: Path) -> None:
    async with rig(lab, tmp_path / "home", environment={"ANDROID_ADB_SERVER_PORT": "1"}) as host:
        answer = await host.do("devices")
    assert answer.data["devices"] == []
    assert "adb" in str(answer.data) + str(answer.notices)


@pytest.mark.parametrize("port", ["", "no such value \u2603", "\u00b2", "0", "70000", "-1", "1e3"])
def test_a_port_that_cannot_be_one_leads_to_the_server_of_the_settings_and_to_no_other(port: str) -> None:
    server = AdbServer.of({"ANDROID_ADB_SERVER_PORT": port}, "127.0.0.1:41234")
    assert (server.host, server.port) == ("127.0.0.1", 41234)
    assert AdbServer.of({"ANDROID_ADB_SERVER_PORT": "41235"}, "127.0.0.1:41234").port == 41235


# --- one row for each ---


def test_a_device_that_is_attached_in_two_ways_is_one_row_over_the_cable() -> None:
    usb, mdns = row("39201FDJ", usb="1-1"), row("adb-39201FDJ-vWgJpq._adb-tls-connect._tcp")
    network = row("192.168.1.20:5555")
    known = [Known(one, pixel("39201FDJ")) for one in (mdns, network, usb)]
    assert [device.id for device in devices(known)] == ["39201FDJ"]
    assert [device.id for device in devices(known[:2])] == ["192.168.1.20:5555"]
    unasked = [Known(row(usb.serial, "unauthorized"), None), Known(row(mdns.serial, "offline"), None)]
    assert [device.id for device in devices(unasked)] == ["39201FDJ"]


def test_the_way_that_works_is_taken_before_the_better_one_that_does_not() -> None:
    known = [Known(row("39201FDJ", "unauthorized"), None), Known(row("192.168.1.20:5555"), pixel("39201FDJ"))]
    assert [(device.id, device.state) for device in devices(known)] == [("192.168.1.20:5555", "ready")]


def test_emulators_that_share_a_serial_number_are_two() -> None:
    known = [Known(row(f"emulator-{port}"), pixel("EMULATOR35X1", avd=f"A{port}")) for port in (5554, 5556)]
    assert sorted(device.id for device in devices(known)) == ["emulator-5554", "emulator-5556"]


def test_two_phones_of_one_model_are_two() -> None:
    known = [Known(row(serial), pixel(serial)) for serial in ("AAA", "BBB")]
    assert [device.id for device in devices(known)] == ["AAA", "BBB"]


# --- choosing ---


async def test_one_of_two_of_a_name_is_never_guessed(lab: Lab, router: Rig) -> None:
    one, two = await lab.start({"name": "phone", "model": "Twin"}, {"name": "phone", "model": "Twin"})
    answer = await router.do("open", device="Twin", app=PRACTICE, expect="ambiguous_device")
    assert answer.error is not None
    assert {one, two} == {row["key"].removeprefix("android:") for row in answer.error.details["candidates"]}
    await router.open(two)
    assert PRACTICE in str((await lab.state(two))["front"])
    assert PRACTICE not in str((await lab.state(one))["front"])


async def test_the_callers_android_serial_chooses(lab: Lab, router: Rig, phone: str) -> None:
    other = (await lab.start("phone"))[0]
    router.environment["ANDROID_SERIAL"] = other
    answer = await router.do("open", app=PRACTICE)
    assert answer.device is not None and answer.device.id == other
    assert PRACTICE in str((await lab.state(other))["front"])


async def test_an_allowlist_hides_all_others(lab: Lab, router: Rig, phone: str) -> None:
    other = (await lab.start("phone"))[0]
    answer = await router.do("devices", androidDeviceAllowlist=other)
    android = [device["id"] for device in answer.data["devices"] if device["platform"] == "android"]
    assert android == [other]
    await router.do("open", device=phone, app=PRACTICE, androidDeviceAllowlist=other, expect="selector_conflict")


async def test_each_caller_has_the_adb_server_its_environment_names(lab: Lab, router: Rig, phone: str) -> None:
    router.environment["ANDROID_ADB_SERVER_PORT"] = str(
        await lab.fake_server("OTHER1  recovery usb:1-4 transport_id:3\n")
    )
    assert [device["id"] for device in await router.devices()] == ["OTHER1"]
    router.environment["ANDROID_ADB_SERVER_PORT"] = str(lab.port)
    assert phone in [device["id"] for device in await router.devices()]
