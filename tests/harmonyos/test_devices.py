"""The list of devices: every state with its reason and what to do, one row for each thing there is, and the doctor."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from anydevice_harmonyos.hdc import HdcServer, Row
from anydevice_harmonyos.inventory import STATES, Known, devices
from anydevice_harmonyos.reading.params import Identity
from anydevice_lab.harmonyos import Lab
from anydevice_schemas.errors import AnydeviceError

from .rig import PRACTICE, Rig, eventually, rig

pytestmark = pytest.mark.anyio


async def test_every_state_of_the_server_has_a_reason_and_what_to_do(lab: Lab, router: Rig, phone: str) -> None:
    kinds = ["unauthorized", "offline", "ready"]
    keys = await lab.start(*kinds)
    rows = {device["id"]: device for device in await router.devices()}
    assert rows[phone]["state"] == "ready" and rows[phone]["name"] == "HUAWEI Mate 60 Pro"
    for kind, key in zip(kinds, keys, strict=True):
        wanted = STATES[kind.capitalize()][0]
        assert rows[key]["state"] == wanted != "ready", kind
        assert rows[key]["reason"] and rows[key]["fix"], kind
        await router.do(
            "snapshot", device=key, expect={"unauthorized": "device_unauthorized"}.get(kind, "device_offline")
        )
    for key in keys:
        await lab.stop(key)


async def test_serial_ports_of_this_host_are_no_devices(lab: Lab, router: Rig, phone: str) -> None:
    (port,) = await lab.start("serial-port")
    assert port not in [device["id"] for device in await router.devices()]
    await lab.stop(port)


async def test_what_a_device_is_comes_from_the_device(lab: Lab, router: Rig) -> None:
    keys = await lab.start("tablet", "tv", "emulator")
    rows = {device["id"]: device for device in await router.devices()}
    told = [(rows[key]["class"], rows[key]["kind"]) for key in keys]
    assert told == [("tablet", "device"), ("tv", "device"), ("phone", "emulator")]
    for key in keys:
        await lab.stop(key)


async def test_a_device_that_does_not_answer_is_a_row_and_hides_no_other(lab: Lab, router: Rig, phone: str) -> None:
    (silent,) = await lab.start("phone")
    await lab.fault(silent, "hang", match="param get")
    rows = {device["id"]: device for device in await router.devices()}
    assert rows[phone]["state"] == "ready"
    assert (rows[silent]["state"], bool(rows[silent]["fix"])) == ("unknown", True)
    await lab.stop(silent)


async def test_nobody_is_listed_where_no_server_runs_and_that_is_said(lab: Lab, tmp_path: Path) -> None:
    async with rig(lab, tmp_path / "home", environment={"OHOS_HDC_SERVER_PORT": "1"}) as host:
        answer = await host.do("devices")
    assert answer.data["devices"] == []
    assert "hdc" in str(answer.data) + str(answer.notices)


async def test_where_none_runs_the_callers_own_hdc_starts_one(tmp_path: Path) -> None:
    async with Lab(serving=False) as lab, rig(lab, tmp_path / "home", start_server=True) as host:
        await lab.start("phone")
        assert len(await host.devices()) == 1
        assert (await lab.server())["up"]


async def test_the_doctor_says_where_hdc_is_and_what_the_server_is(lab: Lab, router: Rig, tmp_path: Path) -> None:
    lines = await checks(router)
    assert lines["hdc"]["ok"] and lab.hdc in lines["hdc"]["detail"]
    assert lines["hdc server"]["ok"] and "3.2.0f" in lines["hdc server"]["detail"]
    assert lines["Emulator"]["ok"] and lab.emulator in lines["Emulator"]["detail"]


async def test_the_doctor_says_what_to_do_where_something_is_missing(lab: Lab, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        env = {"OHOS_HDC_SERVER_PORT": "1"}
        async with rig(lab, tmp_path / "home", environment=env, hdc="", emulator="") as host:
            lines = await checks(host)
    wanted = {"hdc": "HDC_SDK_PATH", "hdc server": "hdc start", "Emulator": "DevEco Studio"}
    for name, fix in wanted.items():
        assert not lines[name]["ok"] and fix in lines[name]["fix"], name
        assert lines[name]["optional"], "who has no HarmonyOS needs none of it"


async def checks(host: Rig) -> dict[str, dict[str, Any]]:
    """What the doctor says of this backend, by the name of each line."""
    data = (await host.do("doctor")).data
    return {row["name"].removeprefix("harmonyos: "): row for row in data["checks"]}


# --- one row for each ---


def known(key: str, road: str, serial: str, state: str = "Connected", *, emulator: bool = False) -> Known:
    asked = Identity("HUAWEI Mate 60 Pro", emulator=emulator, serial=serial) if state == "Connected" else None
    return Known(Row(key, road, state), asked)


def test_a_device_that_is_attached_in_two_ways_is_one_row_over_the_cable() -> None:
    usb, network = known("FMR0001", "USB", "AA"), known("192.0.2.7:10178", "TCP", "AA")
    assert [device.id for device in devices([network, usb])] == ["FMR0001"]
    assert [device.id for device in devices([network])] == ["192.0.2.7:10178"]


def test_the_way_that_works_is_taken_before_the_better_one_that_does_not() -> None:
    rows = devices([known("FMR0001", "USB", "AA", "Offline"), known("192.0.2.7:10178", "TCP", "AA")])
    assert [(device.id, device.state) for device in rows] == [("192.0.2.7:10178", "ready"), ("FMR0001", "offline")]


def test_emulators_that_share_a_number_are_two() -> None:
    rows = devices([known(f"127.0.0.1:{port}", "TCP", "AA", emulator=True) for port in (5555, 5557)])
    assert sorted(device.id for device in rows) == ["127.0.0.1:5555", "127.0.0.1:5557"]


async def test_a_phone_attached_a_second_time_is_listed_once_and_driven(tmp_path: Path) -> None:
    async with Lab() as lab, rig(lab, tmp_path / "home") as host:
        (cable,) = await lab.start("phone")
        server = HdcServer("127.0.0.1", lab.port)
        await server.ask("tmode port 10178", key=cable)

        async def joined() -> bool:
            with suppress(AnydeviceError):  # its daemon begins anew first
                return "Connect OK" in await server.ask("tconn 192.0.2.1:10178")
            return False

        await eventually(joined)
        assert len(await server.rows()) == 2
        assert [device["id"] for device in await host.devices()] == [cable]
        await host.open(cable)


# --- choosing ---


async def test_one_of_two_of_a_name_is_never_guessed(lab: Lab, router: Rig) -> None:
    one, two = await lab.start({"name": "phone", "product": "Twin"}, {"name": "phone", "product": "Twin"})
    answer = await router.do("open", device="Twin", app=PRACTICE, expect="ambiguous_device")
    assert answer.error is not None
    assert {one, two} == {row["key"].removeprefix("harmonyos:") for row in answer.error.details["candidates"]}
    await router.open(two)
    assert PRACTICE in str((await lab.state(two))["front"])
    assert PRACTICE not in str((await lab.state(one))["front"])
    for key in (one, two):
        await lab.stop(key)


async def test_another_device_under_the_same_key_is_noticed(lab: Lab, router: Rig) -> None:
    (key,) = await lab.start({"name": "phone", "key": "192.0.2.200:10178", "connection": "TCP"})
    await router.open(key)
    await lab.stop(key)
    (again,) = await lab.start({"name": "phone", "key": "192.0.2.200:10178", "connection": "TCP"})
    assert again == key
    answer = await router.do("snapshot", device=key, expect="device_offline")
    assert answer.error is not None and "Another device" in answer.error.message
    await lab.stop(again)
