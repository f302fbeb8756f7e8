"""The list of devices: sticks and virtual devices, each once, never as Android, and known again while offline."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.kit import processes
from anydevice_lab.vega import Lab
from anydevice_schemas.errors import DeviceOffline

from .rig import OTHERS, PRACTICE, Rig, eventually, rig

pytestmark = pytest.mark.anyio
VVD = "vvd:tv"


@pytest.fixture(scope="module")
async def both(lab: Lab) -> list[str]:
    """A virtual device that somebody started, and a stick."""
    return await lab.start("vvd", "stick")


@pytest.fixture
async def two(lab: Lab, tmp_path: Path) -> AsyncIterator[Rig]:
    """A router with the Android backend as well, led to the same adb server."""
    async with rig(lab, tmp_path / "home", others=OTHERS - {"android"}) as running:
        yield running


def platforms(rows: list[dict[str, Any]]) -> dict[str, str]:
    return {row["id"]: row["platform"] for row in rows}


async def adb(lab: Lab, *words: str) -> None:
    await processes.run([lab.adb, *words], deadline=20, env={**os.environ, **lab.environment})


async def test_a_stick_and_a_virtual_device_are_told_apart(lab: Lab, router: Rig, both: list[str]) -> None:
    vvd, stick = both
    dsn = {row["serial"]: row["dsn"] for row in await lab.devices()}
    rows = {row["id"]: row for row in await router.devices()}
    assert set(rows) == {VVD, stick}
    assert (rows[VVD]["kind"], rows[VVD]["aliases"], rows[VVD]["state"]) == ("emulator", [vvd, dsn[vvd]], "ready")
    assert rows[stick]["aliases"] == [dsn[stick]]  # what the SDK's program calls it by
    assert (rows[stick]["kind"], rows[stick]["class"], rows[stick]["model"]) == ("device", "tv", "callisto")
    assert all(row["platform"] == "vega" for row in rows.values())


async def test_no_vega_is_ever_an_android(lab: Lab, two: Rig, both: list[str]) -> None:
    wanted = {VVD: "vega", both[1]: "vega"}
    assert platforms(await two.devices()) == wanted
    for serial in both:
        await lab.offline(serial, 1.5)
        rows = await two.devices()
        assert platforms(rows) == wanted
        (row,) = [row for row in rows if serial in (row["id"], *row.get("aliases", []))]
        assert row["state"] == "offline" and row["reason"] and row["fix"]

        async def back(serial: str = serial) -> bool:
            states = {
                name: row["state"] for row in await two.devices() for name in (row["id"], *row.get("aliases", []))
            }
            return states.get(serial) == "ready"

        await eventually(back)


async def test_a_virtual_device_that_was_never_asked_is_known_by_its_process(
    lab: Lab, two: Rig, both: list[str]
) -> None:
    await lab.offline(both[0], 2.0)
    rows = [row for row in await two.devices() if row["kind"] == "emulator"]
    assert [(row["id"], row["platform"], row["state"]) for row in rows] == [(VVD, "vega", "offline")]

    async def back() -> bool:
        return (await two.device(VVD))["state"] == "ready"

    await eventually(back)


async def test_a_stray_connection_to_a_virtual_device_adds_no_row(lab: Lab, two: Rig, both: list[str]) -> None:
    address = f"127.0.0.1:{int(both[0].partition('-')[2]) + 1}"
    await adb(lab, "connect", address)
    try:
        listed = (await processes.run([lab.adb, "devices"], deadline=20, env={**os.environ, **lab.environment})).text
        assert address in listed and both[0] in listed
        assert platforms(await two.devices()) == {VVD: "vega", both[1]: "vega"}
        await two.open(VVD)  # and no call is ambiguous by it
        assert (await two.do("appstate", device=VVD)).data["app"] == PRACTICE
    finally:
        await adb(lab, "disconnect", address)


async def test_the_serial_of_a_virtual_device_leads_to_it(router: Rig, both: list[str]) -> None:
    answer = await router.do("appstate", device=both[0], expect="ok")
    assert answer.device is not None and answer.device.id == VVD


async def test_a_device_that_does_not_answer_hides_no_other(lab: Lab, router: Rig, both: list[str]) -> None:
    third = (await lab.start("stick"))[0]
    await lab.fault(third, "hang")
    rows = {row["id"]: row["state"] for row in await router.devices()}
    assert rows[both[1]] == "ready"
    await lab.stop(third)


async def test_another_device_under_the_same_serial_is_noticed(lab: Lab, router: Rig, both: list[str]) -> None:
    driver = await router.driver(both[1])
    assert (await driver.identify()).id == both[1]
    await lab.fault(both[1], "answer", match="^uname", text="amazon-another\n", times=1)
    with pytest.raises(DeviceOffline) as refused:
        await driver.identify()
    assert refused.value.details["fix"]
    await lab.clear(both[1])


async def test_without_the_sdk_devices_are_listed_all_the_same(lab: Lab, tmp_path: Path, both: list[str]) -> None:
    async with rig(lab, tmp_path / "home", program=str(tmp_path / "none")) as host:
        rows = {row["id"]: row for row in await host.devices()}
        assert set(rows) == set(both) and all(row["state"] == "ready" for row in rows.values())
        checks = (await host.do("doctor")).data
        assert "vega" in json.dumps(checks)


async def test_doctor_tells_of_the_server_and_the_program(lab: Lab, router: Rig) -> None:
    told = json.dumps((await router.do("doctor")).data)
    assert "0.24.12112" in told and f"127.0.0.1:{lab.port}" in told


async def test_where_nothing_is_there_is_nothing_to_list(lab: Lab, tmp_path: Path) -> None:
    with anyio.fail_after(20):
        nobody = {"ANDROID_ADB_SERVER_PORT": "1"}
        async with rig(lab, tmp_path / "home", environment=nobody, program=str(tmp_path / "none")) as host:
            assert await host.devices() == []


async def test_the_allow_list_and_the_variable_of_the_sdk_choose(lab: Lab, tmp_path: Path, both: list[str]) -> None:
    env = {"ANDROID_ADB_SERVER_PORT": str(lab.port), "VEGA_SERIAL": both[1]}
    async with rig(lab, tmp_path / "home", environment=env) as host:
        answer = await host.do("appstate")
        assert answer.device is not None and answer.device.id == both[1]


async def test_a_virtual_device_that_ended_is_listed_as_one_to_boot(lab: Lab, router: Rig, both: list[str]) -> None:
    (row,) = [row for row in await lab.devices() if row["serial"] == both[0]]
    os.kill(row["pid"], signal.SIGTERM)

    async def down() -> bool:
        return (await router.device(VVD))["state"] == "shutdown"

    await eventually(down)
    found = await router.device(VVD)
    assert found["fix"] == "Call boot with this device." and "aliases" not in found
    await lab.start("vvd")
