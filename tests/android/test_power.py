"""Virtual devices: listed while they do not run, booted and shut down, by a stand-in for Android's emulator program."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.driver import Environment, HostServices, TreeScope
from anydevice_android import avds
from anydevice_android.avds import environment, program
from anydevice_android.backend import AndroidBackend
from anydevice_lab.android import Lab
from anydevice_lab.android.emulator import make_tools
from anydevice_schemas.errors import CallTimeout, DeviceNotReady, DeviceOffline

from .rig import PORTS, PRACTICE, Rig, eventually, rig

pytestmark = pytest.mark.anyio
AVDS: dict[str, dict[str, Any]] = {
    "Pixel_8_API_35": {},
    "Other_TV": {"kind": "tv-emulator"},
    "Changeling": {"says": "Another"},
    "Dead": {"dies": "ERROR   | x86_64 emulation currently requires hardware acceleration!\nCPU: /dev/kvm\n"},
}
NAME = "avd:Pixel_8_API_35"


@pytest.fixture
def tools(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment with the emulator program; the token of consoles is in the home folder, as it is for people."""
    monkeypatch.setenv("HOME", lab.home)
    folder = tmp_path / "tools"
    folder.mkdir()
    avds = tmp_path / "avds"
    (avds / "Other_TV.avd").mkdir(parents=True)
    (avds / "Other_TV.ini").write_text("target=android-31\n")
    (avds / "Other_TV.avd" / "config.ini").write_text("tag.id=android-tv\nhw.lcd.width = 1920\n")
    return {**make_tools(folder, AVDS, home=lab.home), "ANDROID_AVD_HOME": str(avds)}


@pytest.fixture
async def host(lab: Lab, tmp_path: Path, tools: dict[str, str]) -> AsyncIterator[Rig]:
    env = {"ANDROID_ADB_SERVER_PORT": str(lab.port), **tools}
    async with rig(lab, tmp_path / "home", environment=env) as running:
        yield running


def started(tools: dict[str, str]) -> list[dict[str, Any]]:
    """The starts of emulators there were: process ids and words."""
    journal = Path(tools["ANDROID_HOME"]) / "started.jsonl"
    return [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_virtual_devices_that_do_not_run_are_listed_with_what_to_do(host: Rig) -> None:
    rows = {row["id"]: row for row in await host.devices() if row["id"].startswith("avd:")}
    assert sorted(rows) == ["avd:Changeling", "avd:Dead", "avd:Other_TV", NAME]
    row = rows[NAME]
    assert (row["name"], row["state"], row["kind"], row["class"]) == ("Pixel 8 API 35", "shutdown", "emulator", "phone")
    assert row["fix"] == "Call boot with this device."
    assert rows["avd:Other_TV"]["class"] == "tv"


async def test_a_virtual_device_is_booted_driven_and_shut_down_under_one_id(
    lab: Lab, host: Rig, tools: dict[str, str]
) -> None:
    answer = await host.do("boot", device="Pixel 8 API 35", headless=True)
    assert answer.data["state"] == "ready"
    (process,) = started(tools)
    words = process["words"]
    port = int(words[words.index("-port") + 1])
    assert port % 2 == 0 and port >= 21_000 and "-no-window" in words
    assert answer.data["serial"] == f"emulator-{port}"
    rows = [row for row in await host.devices() if row["name"] == "Pixel 8 API 35"]
    assert [(row["id"], row["state"]) for row in rows] == [(NAME, "ready")]
    await host.do("open", device=NAME, app=PRACTICE, arguments=["--screen", "home"])
    await host.do("press", target="Increment")
    assert (await host.do("get", target="Count", what="text")).data["text"] == "1"
    assert (await host.do("boot", device=NAME)).data["alreadyRunning"] is True
    assert (await host.do("shutdown", device=NAME)).data["state"] == "shutdown"
    assert not alive(process["pid"])
    assert (await host.device(NAME))["state"] == "shutdown"
    assert (await host.do("shutdown", device=NAME)).data["alreadyDown"] is True


async def test_open_with_boot_starts_what_does_not_run_and_opens_the_app_in_one_call(
    host: Rig, tools: dict[str, str]
) -> None:
    refused = await host.do("open", device=NAME, app=PRACTICE, expect="device_not_ready")
    assert refused.error is not None and not started(tools)
    answer = await host.do("open", device=NAME, app=PRACTICE, arguments=["--screen", "home"], boot=True)
    assert answer.data["booted"] is True and answer.verified
    assert answer.device is not None and answer.device.id == NAME and len(started(tools)) == 1
    await host.do("press", target="Increment")
    assert (await host.do("get", target="Count", what="text")).data["text"] == "1"
    await host.do("shutdown", device=NAME)
    assert not alive(started(tools)[0]["pid"])


async def test_a_television_that_does_not_run_has_its_remote_control_once_it_is_opened(host: Rig) -> None:
    tv = await host.do("open", device="avd:Other_TV", app=PRACTICE, boot=True, session="tv")
    assert tv.data["booted"] is True
    await host.do("tv-remote", session="tv", button="down")
    await host.do("shutdown", device="avd:Other_TV", session="tv")


async def test_an_address_opens_on_a_virtual_device_that_did_not_run(host: Rig, tools: dict[str, str]) -> None:
    answer = await host.do("open", device=NAME, url="practice://event/hello", boot=True)
    assert answer.data["booted"] is True and len(started(tools)) == 1


@pytest.mark.parametrize("name", ["snapshot", "appstate", "press", "logs", "screenshot"])
async def test_what_is_asked_of_a_virtual_device_that_does_not_run_says_that_it_does_not(
    host: Rig, tools: dict[str, str], name: str
) -> None:
    words = {"target": "Increment"} if name == "press" else {}
    answer = await host.do(name, device=NAME, expect="device_not_ready", **words)
    assert answer.error is not None and answer.error.details["state"] == "shutdown"
    assert not started(tools)


async def test_a_virtual_device_that_ended_by_itself_is_booted_anew(host: Rig, tools: dict[str, str]) -> None:
    await host.do("open", device=NAME, app=PRACTICE, boot=True)
    (process,) = started(tools)
    os.kill(process["pid"], 9)

    async def down() -> bool:
        return (NAME, "shutdown") in [(row["id"], row["state"]) for row in await host.devices()]

    await eventually(down)  # the server lists it for a moment longer
    answer = await host.do("open", device=NAME, app=PRACTICE, boot=True)
    assert answer.data["booted"] is True and len(started(tools)) == 2
    await host.do("press", target="Increment")


async def test_a_virtual_device_that_runs_is_chosen_by_its_serial_as_well(
    lab: Lab, host: Rig, tools: dict[str, str]
) -> None:
    (phone,) = await lab.start("phone")
    try:
        serial = (await host.do("boot", device=NAME)).data["serial"]
        assert (await host.device(NAME))["aliases"] == [serial]
        assert serial not in [row["id"] for row in await host.devices()]
        assert [row["id"] for row in await listed(host, androidDeviceAllowlist=serial)] == [NAME]
        opened = await host.do("open", serial=serial, app=PRACTICE)
        assert opened.device is not None and opened.device.id == NAME
        (session,) = (await host.do("session")).data["sessions"]
        await host.do("session", action="end", name=session["name"])
        host.environment["ANDROID_SERIAL"] = serial
        opened = await host.do("open", app=PRACTICE, session="two")
        assert opened.device is not None and opened.device.id == NAME
        await host.do(
            "open",
            device=phone,
            app=PRACTICE,
            androidDeviceAllowlist=serial,
            session="three",
            expect="selector_conflict",
        )
        await host.do("shutdown", serial=serial, session="two")
        assert "aliases" not in await host.device(NAME)
        await host.do("open", serial=serial, app=PRACTICE, session="three", expect="device_not_found")
    finally:
        await lab.stop(phone)


async def listed(host: Rig, **arguments: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await host.do("devices", **arguments)).data["devices"]
    return found


async def test_a_window_is_shown_where_one_is_asked_for(host: Rig, tools: dict[str, str]) -> None:
    await host.do("boot", device=NAME, headless=False)
    assert "-no-window" not in started(tools)[0]["words"]


async def test_emulators_end_with_who_started_them(lab: Lab, tmp_path: Path, tools: dict[str, str]) -> None:
    env = {"ANDROID_ADB_SERVER_PORT": str(lab.port), **tools}
    async with rig(lab, tmp_path / "home", environment=env) as host:
        await host.do("boot", device=NAME)
        (process,) = started(tools)
        assert alive(process["pid"])

    async def gone() -> bool:
        return not alive(process["pid"])

    await eventually(gone)


async def test_an_emulator_is_handed_over_and_goes_on(lab: Lab, tmp_path: Path, tools: dict[str, str]) -> None:
    settings = {"server": f"127.0.0.1:{lab.port}", "emulator_ports": list(PORTS)}
    first, second = (AndroidBackend(HostServices(str(tmp_path), str(tmp_path), settings)) for _ in range(2))
    env = Environment(variables=tools)
    try:
        (row,) = [device for device in await first.devices(env) if device.id == NAME]
        await (await first.connect(row, env)).power.boot(headless=True, deadline=60.0)  # type: ignore[attr-defined]
        state = json.loads(json.dumps(await first.hand_over()))
        await second.take_up(state)
        (row,) = [device for device in await second.devices(env) if device.id == NAME]
        assert row.state == "ready"
        driver = await second.connect(row, env)
        assert (await driver.identify()).id == NAME
        assert (await driver.screen.geometry()).viewport.width > 300  # type: ignore[attr-defined]
    finally:
        await second.aclose()
        await first.aclose()
    assert not alive(started(tools)[0]["pid"])


async def test_one_that_turns_out_to_be_another_is_ended_and_said(host: Rig, tools: dict[str, str]) -> None:
    answer = await host.do("boot", device="avd:Changeling", expect="action_unverified")
    assert answer.error is not None
    assert (answer.error.details["expected"], answer.error.details["actual"]) == ("Changeling", "Another")
    assert not alive(started(tools)[0]["pid"])


async def test_two_who_start_the_same_one_get_one(lab: Lab, tmp_path: Path, tools: dict[str, str]) -> None:
    settings = {"server": f"127.0.0.1:{lab.port}", "emulator_ports": list(PORTS)}
    first, second = (AndroidBackend(HostServices(str(tmp_path), str(tmp_path), settings)) for _ in range(2))
    env = Environment(variables=tools)
    try:
        drivers = []
        for backend in (first, second):
            (row,) = [device for device in await backend.devices(env) if device.id == NAME]
            drivers.append(await backend.connect(row, env))
        await drivers[0].power.boot(headless=True, deadline=60.0)  # type: ignore[attr-defined]
        with pytest.raises(DeviceNotReady) as caught:
            await drivers[1].power.boot(headless=True, deadline=60.0)  # type: ignore[attr-defined]
        assert caught.value.details["state"] == "conflict"
        assert len(started(tools)) == 1 and alive(started(tools)[0]["pid"])
    finally:
        await second.aclose()
        await first.aclose()


async def test_one_that_dies_at_once_says_why_and_what_to_do(host: Rig, tools: dict[str, str]) -> None:
    answer = await host.do("boot", device="avd:Dead", expect="upstream_unavailable")
    assert answer.error is not None
    assert "/dev/kvm" in answer.error.details["enable_hint"]
    assert "hardware acceleration" in answer.error.details["said"] and "acceleration" not in answer.error.message
    assert (await host.device("avd:Dead"))["state"] == "shutdown"


async def test_tools_that_do_not_answer_in_time_take_no_virtual_device_away(
    host: Rig, tools: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await host.device(NAME)
    monkeypatch.setattr(avds, "KEPT", 0.0)
    monkeypatch.setattr(avds, "LISTING", 0.2)
    Path(tools["ANDROID_HOME"], "emulator", "emulator").write_text("#!/bin/sh\nexec sleep 30\n")
    assert (await host.device(NAME))["state"] == "shutdown"


async def test_one_that_is_gone_from_the_tools_is_said(host: Rig, tools: dict[str, str]) -> None:
    await host.devices()
    settings = Path(tools["ANDROID_HOME"]) / "avds.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "avds": {}}))
    answer = await host.do("boot", device=NAME, expect="upstream_unavailable")
    assert answer.error is not None and "not there any more" in answer.error.details["enable_hint"]


async def test_one_that_runs_by_other_hands_is_listed_once_and_never_started_twice(
    lab: Lab, host: Rig, tmp_path: Path, tools: dict[str, str]
) -> None:
    env = {"ANDROID_ADB_SERVER_PORT": str(lab.port), **tools}
    async with rig(lab, tmp_path / "other", environment=env) as other:
        await host.devices()
        serial = (await other.do("boot", device=NAME)).data["serial"]
        rows = [row for row in await host.devices() if row["name"] == "Pixel 8 API 35"]
        assert [(row["id"], row["state"]) for row in rows] == [(serial, "ready")]
        answer = await host.do("boot", device=NAME, expect="device_not_found")
        assert answer.error is not None
        await host.do("shutdown", device=serial)
        (process,) = started(tools)
        with anyio.fail_after(20):  # it is gone from the list before its process has ended
            while alive(process["pid"]):
                await anyio.sleep(0.05)
        assert serial not in [row["id"] for row in await host.devices()]


async def test_one_that_takes_long_goes_on_starting_after_the_call(
    lab: Lab, tmp_path: Path, tools: dict[str, str]
) -> None:
    settings = Path(tools["ANDROID_HOME"]) / "avds.json"
    held = json.loads(settings.read_text())
    held["avds"]["Pixel_8_API_35"] = {"boot_seconds": 4.0}
    settings.write_text(json.dumps(held))
    backend = AndroidBackend(
        HostServices(str(tmp_path), str(tmp_path), {"server": f"127.0.0.1:{lab.port}", "emulator_ports": list(PORTS)})
    )
    env = Environment(variables=tools)
    try:
        (row,) = [device for device in await backend.devices(env) if device.id == NAME]
        driver = await backend.connect(row, env)
        with pytest.raises(CallTimeout):
            await driver.power.boot(headless=True, deadline=1.0)  # type: ignore[attr-defined]
        (row,) = [device for device in await backend.devices(env) if device.id == NAME]
        assert row.state == "booting"
        with pytest.raises(DeviceOffline):
            await driver.screen.tree(TreeScope())  # type: ignore[attr-defined]
        acted = await driver.power.boot(headless=True, deadline=60.0)  # type: ignore[attr-defined]
        assert acted.verified and len(started(tools)) == 1
        assert (await driver.screen.tree(TreeScope())).nodes  # type: ignore[attr-defined]
        assert (await driver.identify()).id == NAME
        await driver.power.shutdown(deadline=30.0)  # type: ignore[attr-defined]
        with pytest.raises(DeviceOffline):
            await driver.screen.tree(TreeScope())  # type: ignore[attr-defined]
    finally:
        await backend.aclose()


def test_the_program_is_the_one_of_the_callers_tools(tools: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert program(tools) == f"{tools['ANDROID_HOME']}/emulator/emulator"
    assert program({"ANDROID_SDK_ROOT": tools["ANDROID_HOME"]}) == f"{tools['ANDROID_HOME']}/emulator/emulator"
    assert program({"ANDROID_HOME": "/nonexistent"}) is None
    assert program({"ANDROID_HOME": "relative"}) is None
    assert environment(tools)["ANDROID_AVD_HOME"] == tools["ANDROID_AVD_HOME"]
