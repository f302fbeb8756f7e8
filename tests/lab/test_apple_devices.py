"""Physical devices of the lab: what `xcrun devicectl` writes into its file, and programs that forward their ports."""

from __future__ import annotations

import http.client
import json
import signal
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice_lab.apple import Lab, write_bundle

from .adb import eventually
from .apple import PRACTICE, RUNNER, Mac, Wda, fixture, shape

pytestmark = pytest.mark.anyio
NO_ANSWER = (OSError, http.client.HTTPException)


@pytest.fixture(scope="module")
async def _one(mac: Mac) -> str:
    return (await mac.lab.start("iphone-device"))[0]


@pytest.fixture
async def udid(mac: Mac, _one: str) -> AsyncIterator[str]:
    """A phone at a cable, without faults."""
    yield _one
    await mac.lab.clear(_one)
    await mac.lab.clear("mac")


def _covers(ours: Any, real: Any, where: str = "") -> None:
    """Asserts that every key of ours is one of the real thing, of the same kind, whatever the values are."""
    if isinstance(ours, dict) and isinstance(real, dict):
        assert ours.keys() <= real.keys(), (where, ours.keys() - real.keys())
        for key, value in ours.items():
            _covers(value, real[key], f"{where}.{key}")
    elif isinstance(ours, list) and isinstance(real, list):
        for item in ours:
            if real:
                _covers(item, real[0], f"{where}[]")
    else:
        assert shape(ours) == shape(real), (where, ours, real)


async def test_no_devices_means_no_key_for_them(tmp_path: Path) -> None:
    async with Lab() as lab:
        result, answer = await Mac(lab).core(tmp_path, "list", "devices")
    assert result.code == 0 and answer["info"]["outcome"] == "success"
    assert answer["result"] == {}


async def test_devices_are_listed_in_the_shape_of_captures(mac: Mac, udid: str, tmp_path: Path) -> None:
    wifi, away, unpaired, watch, tv = await mac.lab.start(
        "iphone-device-wifi", "iphone-device-away", "iphone-device-unpaired", "watch-device", "appletv-device"
    )
    result, answer = await mac.core(tmp_path, "list", "devices")
    real = fixture("devicectl_device_list_success.json")
    assert answer["info"].keys() == real["info"].keys() and answer["info"]["jsonVersion"] == 2
    assert answer["info"]["arguments"][:3] == ["devicectl", "list", "devices"]
    rows = {row["identifier"]: row for row in answer["result"]["devices"]}
    known = {row["serial"]: rows[row["identifier"]] for row in await mac.lab.devices()}
    everything = {**real["result"]["devices"][0]}
    for row in fixture("devicectl_device_list_with_unreachable.json")["result"]["devices"]:
        for block, value in row.items():
            everything[block] = {**everything[block], **value} if isinstance(value, dict) else value
    for row in known.values():
        _covers(row, everything)
    assert known[udid]["hardwareProperties"]["udid"] == udid != known[udid]["identifier"]
    transports = {one: known[one]["connectionProperties"].get("transportType") for one in (udid, wifi, away)}
    assert transports == {udid: "wired", wifi: "localNetwork", away: None}
    tunnels = {known[one]["connectionProperties"]["tunnelState"] for one in (udid, wifi, away)}
    assert tunnels == {"connected", "disconnected", "unavailable"}
    assert known[unpaired]["hardwareProperties"] == {} and known[unpaired]["deviceProperties"] == {}
    assert [known[one]["hardwareProperties"]["platform"] for one in (udid, watch, tv)] == ["iOS", "watchOS", "tvOS"]
    # What is printed is for people, and no JSON.
    assert "Lab iPhone" in result.text and not result.text.startswith("{")
    # They are no simulators, and simctl knows none of them.
    simulators = await mac.done("list", "devices")
    assert not any(one in simulators for one in known)
    for one in (wifi, away, unpaired, watch, tv):
        await mac.lab.stop(one)


async def test_a_list_that_fails_says_so_in_the_file(mac: Mac, udid: str, tmp_path: Path) -> None:
    await mac.lab.fault("mac", "inventory_fails", times=1)
    result, answer = await mac.core(tmp_path, "list", "devices")
    real = fixture("devicectl_device_list_failure.json")
    assert result.code == 1 and "Failed to list devices" in result.complaint
    assert answer["info"]["outcome"] == "failed" and "result" not in answer
    del real["error"]["userInfo"]["BundleIdentifier"]
    assert answer["error"] == real["error"]


async def test_an_app_is_installed_launched_signalled_and_taken_away(mac: Mac, udid: str, tmp_path: Path) -> None:
    app = write_bundle(tmp_path / "Runner.app", "dev.shorebird.ios-test", "Runner")
    _, installed = await mac.core(tmp_path, "device", "install", "app", "--device", udid, str(app))
    real = fixture("devicectl_install_success.json")
    assert shape(installed["result"]) == shape(real["result"])
    assert installed["info"]["commandType"] == real["info"]["commandType"]
    assert installed["result"]["installedApplications"][0]["bundleID"] == "dev.shorebird.ios-test"
    launch = ("device", "process", "launch", "--device", udid)
    _, launched = await mac.core(tmp_path, *launch, "dev.shorebird.ios-test", "-x", "y", DEVICECTL_CHILD_MODE="1")
    real = fixture("devicectl_launch_success.json")["result"]
    assert launched["result"]["process"].keys() | {"auditToken"} == real["process"].keys()
    assert launched["result"]["launchOptions"].keys() == real["launchOptions"].keys()
    assert launched["result"]["launchOptions"]["environmentVariables"]["MODE"] == "1"
    pid = str(launched["result"]["process"]["processIdentifier"])
    _, listed = await mac.core(tmp_path, "device", "info", "processes", "--device", udid)
    executables = {str(row["processIdentifier"]): row["executable"] for row in listed["result"]["runningProcesses"]}
    assert executables[pid].endswith("/Runner.app/Runner")
    signalled = ("device", "process", "signal", "--device", udid, "--signal", "SIGTERM", "--pid", pid)
    assert (await mac.core(tmp_path, *signalled))[0].code == 0
    gone, answer = await mac.core(tmp_path, *signalled)
    assert gone.code == 1 and answer["error"]["userInfo"]["NSUnderlyingError"]["error"]["code"] == 3
    _, apps = await mac.core(tmp_path, "device", "info", "apps", "--device", udid)
    assert {"dev.shorebird.ios-test", PRACTICE} <= {row["bundleIdentifier"] for row in apps["result"]["apps"]}
    await mac.core(tmp_path, "device", "uninstall", "app", "--device", udid, "dev.shorebird.ios-test")
    _, apps = await mac.core(tmp_path, "device", "info", "apps", "--device", udid)
    assert "dev.shorebird.ios-test" not in {row["bundleIdentifier"] for row in apps["result"]["apps"]}


async def test_the_reason_of_a_refused_launch_is_two_levels_down(mac: Mac, udid: str, tmp_path: Path) -> None:
    await mac.lab.fault(udid, "locked", times=1)
    result, answer = await mac.core(tmp_path, "device", "process", "launch", "--device", udid, PRACTICE)
    real = fixture("devicectl_launch_failure.json")["error"]
    text = json.dumps(real).replace("dev.shorebird.ios-test", PRACTICE)
    expected = json.loads(text)
    del expected["userInfo"]["NSUnderlyingError"]["error"]["userInfo"]["FBSOpenApplicationRequestID"]
    assert result.code == 1 and answer["error"] == expected
    assert "Locked" not in result.complaint  # what is printed does not say it
    result, answer = await mac.core(tmp_path, "device", "process", "launch", "--device", udid, "com.example.none")
    assert answer["error"]["userInfo"]["NSUnderlyingError"]["error"]["code"] == 4


async def test_a_lost_link_and_a_device_out_of_reach(mac: Mac, udid: str, tmp_path: Path) -> None:
    away = (await mac.lab.start("iphone-device-away"))[0]
    await mac.lab.fault(udid, "lost")
    for one in (udid, away):
        result, answer = await mac.core(tmp_path, "device", "info", "details", "--device", one)
        error, chain = answer["error"], []
        while error:
            chain.append((error["domain"].rpartition(".")[2], error["code"]))
            error = error["userInfo"].get("NSUnderlyingError", {}).get("error")
        assert result.code == 1
        assert chain == [("CoreDeviceError", 4000), ("ControlChannelConnectionError", 1), ("NWError", 60)]
    _, answer = await mac.core(tmp_path, "device", "info", "details", "--device", "nobody")
    assert answer["error"]["code"] == 1000
    await mac.lab.stop(away)


async def test_old_xcodes_have_no_devicectl(mac: Mac, tmp_path: Path) -> None:
    await mac.lab.mac(xcode="14.3")
    try:
        result, answer = await mac.core(tmp_path, "list", "devices")
    finally:
        await mac.lab.mac(xcode="26.5")
    assert result.code == 72 and answer is None
    assert (await mac.run("xcrun", "devicectl", "frobnicate")).code == 64


# --- WebDriverAgent on a device, by a forward ---


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


FORWARDS: dict[str, Callable[[str, int], tuple[str, ...]]] = {
    "iproxy": lambda udid, port: ("iproxy", "-u", udid, f"{port}:8100"),
    "ios": lambda udid, port: ("ios", "forward", f"--udid={udid}", str(port), "8100"),
    "pymobiledevice3": lambda udid, port: ("pymobiledevice3", "usbmux", "forward", "--serial", udid, str(port), "8100"),
}


@pytest.mark.parametrize("program", FORWARDS)
async def test_the_agent_of_a_device_is_reached_by_a_forward(mac: Mac, udid: str, tmp_path: Path, program: str) -> None:
    await mac.core(tmp_path, "device", "process", "launch", "--terminate-existing", "--device", udid, RUNNER)
    port = _free()
    async with mac.running(*FORWARDS[program](udid, port)) as (child, _):
        wda = Wda(mac.lab, udid, port)

        async def up() -> bool:
            try:
                status, answer = await wda.ask("GET", "/status", within=2)
            except NO_ANSWER:
                return False
            return status == 200 and "simulatorVersion" not in answer["value"]["ios"]

        await eventually(up)
        await mac.lab.fault(udid, "lost")
        wda.drop()
        with pytest.raises(NO_ANSWER):
            await wda.ask("GET", "/status", within=2)
        await mac.lab.clear(udid)
        child.process.send_signal(signal.SIGINT)
        with anyio.fail_after(20):
            assert await child.wait() == 0
    taken = [entry["running"] for entry in await mac.lab.journal(udid, "forward") if entry["local"] == port]
    assert taken == [True, False]


async def test_a_forward_needs_a_device_and_a_free_port(mac: Mac, udid: str) -> None:
    for program, words in FORWARDS.items():
        assert (await mac.run(*words("00000000-0000000000000000", _free()))).code == 1, program
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = await mac.run("iproxy", "-u", udid, f"{taken.getsockname()[1]}:8100")
    assert result.code == 1 and "Address already in use" in result.complaint
    assert json.loads((await mac.run("ios", "list")).text)["deviceList"] == [udid]
    assert [row["Identifier"] for row in json.loads((await mac.run("pymobiledevice3", "usbmux", "list")).text)] == [
        udid
    ]


async def test_from_ios_27_on_only_a_test_session_makes_the_agent_serve(mac: Mac, tmp_path: Path) -> None:
    new = (await mac.lab.start("iphone-device-27"))[0]
    await mac.core(tmp_path, "device", "process", "launch", "--terminate-existing", "--device", new, RUNNER)

    async def runs() -> bool:
        return RUNNER in (await mac.lab.state(new))["running"]

    await eventually(runs)
    port = _free()
    async with mac.running("ios", "forward", f"--udid={new}", str(port), "8100"):
        wda = Wda(mac.lab, new, port)

        async def answers() -> bool:
            try:
                return (await wda.ask("GET", "/status", within=2))[0] == 200
            except Exception:
                return False

        assert not await mac.lab.journal(new, "wda") and not await answers()
        async with mac.running("ios", "runwda", f"--udid={new}"):
            await eventually(answers)

        async def silent() -> bool:
            return not await answers()

        await eventually(silent)
        run = ("xcodebuild", "test-without-building", "-xctestrun", f"{mac.lab.home}/WebDriverAgentRunner.xctestrun")
        async with mac.running(*run, "-destination", f"id={new}"):
            await eventually(answers)
    await mac.lab.stop(new)
