"""Virtual devices booted and shut down by a program that loses track, hangs, and leaves children behind."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from anydevice.driver import Environment, HostServices
from anydevice.kit import processes
from anydevice_lab.vega import Lab
from anydevice_schemas.errors import CallTimeout, ToolMissing, UpstreamUnavailable
from anydevice_vega.backend import VegaBackend
from anydevice_vega.sdk import Sdk

from .rig import PRACTICE, Rig, eventually

pytestmark = pytest.mark.anyio
VVD = "vvd:tv"
Made = Callable[[], VegaBackend]
SWITCHES = ("delay", "hang", "leak", "noise", "stray", "lost", "offline", "boot")


@pytest.fixture
async def host(lab: Lab, router: Rig) -> AsyncIterator[Rig]:
    """A router; afterwards no virtual device runs, and the program does what it should."""
    yield router
    await lab.tool(**dict.fromkeys(SWITCHES))
    for row in await lab.devices():
        await lab.stop(row["serial"])


@pytest.fixture
def backends(lab: Lab, tmp_path: Path) -> Made:
    """Makes backends, each as a program of its own would have it."""

    def make() -> VegaBackend:
        settings: Mapping[str, Any] = {"start_server": False, "program": lab.program}
        return VegaBackend(HostServices(str(tmp_path / "data"), str(tmp_path / "run"), settings))

    return make


def there(lab: Lab) -> Environment:
    return Environment(variables={"ANDROID_ADB_SERVER_PORT": str(lab.port)})


async def running(lab: Lab) -> list[int]:
    """Process ids of virtual devices of this lab, from the process table."""
    table = (await processes.run(["ps", "-A", "-ww", "-o", "pid=,command="], deadline=10)).text
    return [int(row.split()[0]) for row in table.splitlines() if lab.home in row and "/vega-virtual-device " in row]


def children(lab: Lab) -> dict[str, int]:
    """What the program left behind: the last process of each name."""
    place = Path(lab.home, "vega", ".lab", "children")
    rows = [row.split() for row in place.read_text().splitlines()] if place.exists() else []
    return {name: int(pid) for pid, name in rows}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


async def test_an_image_is_booted_driven_and_shut_down_under_one_id(lab: Lab, host: Rig) -> None:
    row = await host.device(VVD)
    assert (row["state"], row["fix"], row["kind"]) == ("shutdown", "Call boot with this device.", "emulator")
    booted = await host.do("boot", device=VVD)
    assert booted.data["state"] == "ready" and booted.data["serial"].startswith("emulator-")
    assert len(await running(lab)) == 1
    assert [one["id"] for one in await host.devices()] == [VVD]
    await host.open(VVD)
    await host.do("press", device=VVD, target="Increment")
    assert await host.text(VVD, "Count") == "1"
    assert (await host.do("boot", device=VVD)).data["alreadyRunning"] is True
    await host.do("shutdown", device=VVD)
    assert await running(lab) == []
    assert (await host.device(VVD))["state"] == "shutdown"
    assert (await host.do("shutdown", device=VVD)).data["alreadyDown"] is True


async def test_open_boots_where_it_is_asked_to(lab: Lab, host: Rig) -> None:
    refused = await host.do("open", device=VVD, app=PRACTICE, expect="device_not_ready")
    assert refused.error is not None and "boot" in refused.error.hint
    answer = await host.do("open", device=VVD, app=PRACTICE, arguments=["--screen", "home"], boot=True)
    assert answer.data["booted"] is True and answer.data["app"] == PRACTICE


async def test_noise_and_a_slow_program_change_nothing(lab: Lab, host: Rig) -> None:
    await lab.tool(noise=True, delay=0.5, boot=0.5)
    assert (await host.do("boot", device=VVD)).data["state"] == "ready"
    await host.do("shutdown", device=VVD)
    assert await running(lab) == []


async def test_what_the_program_lost_track_of_is_ended_by_its_process(lab: Lab, host: Rig) -> None:
    """Reported: stop says "not running" of what runs."""
    await host.do("boot", device=VVD)
    (pid,) = await running(lab)
    await lab.tool(lost=True)
    assert (await host.do("boot", device=VVD)).data["alreadyRunning"] is True
    answer = await host.do("shutdown", device=VVD)
    assert answer.verified and await running(lab) == [] and not alive(pid)


async def test_a_program_that_hangs_ends_with_all_it_left_behind(lab: Lab, host: Rig) -> None:
    """Reported: a wedged CLI leaves python, node and vda children."""
    await lab.tool(hang=["virtual-device start"])
    driver = await host.driver(VVD)
    with pytest.raises(CallTimeout):
        await driver.power.boot(headless=True, deadline=2.5)  # type: ignore[attr-defined]
    left = children(lab)
    assert set(left) == {"python", "node", "vda"}

    async def gone() -> bool:
        return not any(alive(pid) for pid in left.values())

    await eventually(gone)
    await lab.tool(hang=None)
    assert (await host.do("boot", device=VVD)).data["state"] == "ready"


async def test_a_question_to_a_program_that_hangs_has_an_end(lab: Lab, tmp_path: Path) -> None:
    await lab.tool(hang=["--version"])
    tools = Sdk(lab.program)
    with pytest.raises(CallTimeout):
        await tools.run("--version", deadline=0.7)
    left = children(lab)

    async def gone() -> bool:
        return not any(alive(pid) for pid in left.values())

    await eventually(gone)
    await lab.tool(hang=None)
    assert "0.24.12112" in (await tools.run("--version")).text


async def test_a_device_whose_description_hangs_is_listed_without_it(lab: Lab, host: Rig) -> None:
    await lab.tool(hang=["device info"])
    stick = (await lab.start("stick"))[0]
    row = await host.device(stick)
    assert (row["state"], row.get("model", "")) == ("ready", "")


async def test_a_boot_that_takes_too_long_is_given_up_and_leaves_nothing(lab: Lab, host: Rig) -> None:
    await lab.tool(boot=60)
    driver = await host.driver(VVD)
    with pytest.raises((CallTimeout, UpstreamUnavailable)):  # whichever of both gives up first
        await driver.power.boot(headless=True, deadline=2.5)  # type: ignore[attr-defined]
    assert await running(lab) == []
    assert (await host.device(VVD))["state"] == "shutdown"


async def test_without_the_program_a_boot_says_what_to_install(lab: Lab, backends: Made) -> None:
    one = backends()
    (row,) = await one.devices(there(lab))
    driver = await one.connect(row, there(lab))
    program = Path(lab.program)
    away = program.rename(program.with_name("vega-away"))
    try:
        with pytest.raises(ToolMissing) as refused:
            await driver.power.boot(headless=True, deadline=5.0)  # type: ignore[attr-defined]
        assert "SDK" in refused.value.details["install"]
    finally:
        away.rename(program)


async def test_what_others_started_goes_on_and_what_we_started_ends_with_us(lab: Lab, backends: Made) -> None:
    env = there(lab)
    one = backends()
    (row,) = await one.devices(env)
    driver = await one.connect(row, env)
    await driver.power.boot(headless=True, deadline=30.0)  # type: ignore[attr-defined]
    other = backends()
    assert [device.state for device in await other.devices(env)] == ["ready"]
    await other.aclose()
    assert len(await running(lab)) == 1
    handed = await one.hand_over()
    assert handed is not None
    heir = backends()
    await heir.take_up(handed)
    assert [device.state for device in await heir.devices(env)] == ["ready"]
    await heir.aclose()
    assert await running(lab) == []


async def test_a_process_that_is_none_of_ours_any_more_is_not_ended(lab: Lab, host: Rig) -> None:
    """An id that was given to another process is not signalled."""
    await host.do("boot", device=VVD)
    (pid,) = await running(lab)
    os.kill(pid, 9)

    async def gone() -> bool:
        return not await lab.devices()

    await eventually(gone)
    assert (await host.do("shutdown", device=VVD)).data["alreadyDown"] is True
