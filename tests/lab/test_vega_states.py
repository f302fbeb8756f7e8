"""States of Vega lab devices: offline for a while, rebooted, a virtual device beside a stick, the lab's command."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from anydevice.kit import processes
from anydevice_lab.vega import KINDS, Lab

from .adb import eventually
from .vega import FLAG, PRACTICE, Tv, vega

pytestmark = pytest.mark.anyio

PROGRAM = str(Path(sys.executable).parent / "anydevice")


@pytest.fixture(scope="module")
async def vegas() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture(scope="module")
async def both(vegas: Lab) -> list[Tv]:
    """A virtual device and a stick."""
    return [Tv(vegas, serial) for serial in await vegas.start("vvd", "stick")]


async def test_a_device_is_offline_for_a_while_and_comes_back_as_it_was(both: list[Tv]) -> None:
    for tv in both:
        await tv.open("form")
        await tv.lab.offline(tv.serial, 1.0)
        refused = await tv.adb("shell", "uname")
        assert refused.code != 0 and "offline" in refused.complaint

        async def back(tv: Tv = tv) -> bool:
            return (await tv.adb("shell", "uname")).code == 0

        await eventually(back)
        assert (await tv.lab.state(tv.serial))["front"] == f"{PRACTICE}.main"


async def test_a_reboot_ends_apps_and_takes_the_flag_away(both: list[Tv]) -> None:
    tv = both[1]
    await tv.open("home")
    await tv.lab.set(tv.serial, reboot_seconds=0.2)
    await tv.adb("reboot")

    async def fresh() -> bool:
        return (await tv.adb("shell", f"test ! -e {FLAG}")).code == 0

    await tv.lab.ask("connect", serial=tv.serial)
    await eventually(fresh)
    assert PRACTICE not in await tv.shell("vlcm list")
    tv.forwarded = ""
    with pytest.raises(OSError):
        await tv.rpc("getPageSource")


async def test_two_devices_are_two_and_have_nothing_in_common(both: list[Tv]) -> None:
    vvd, stick = both
    rows = (await vega(vvd.lab, "device", "list")).text.splitlines()
    facts = {row["serial"]: row for row in await vvd.lab.devices()}
    assert rows[0] == "Found the following devices:"
    assert {row.split(" : ")[0] for row in rows[1:]} == {"VirtualDevice", facts[stick.serial]["dsn"]}
    assert "Too many devices connected" in (await vega(vvd.lab, "device", "running-apps")).complaint
    await vvd.open("form")
    await stick.open("list")
    assert {node.get("test_id") for node in (await vvd.source()).iter("child")} >= {"form.name"}
    assert {node.get("test_id") for node in (await stick.source()).iter("child")} >= {"list.refresh"}
    assert (await vvd.shell("uname -n")) != (await stick.shell("uname -n"))


async def test_the_compositors_picture_hangs_on_a_virtual_device_and_leaves_an_empty_file(both: list[Tv]) -> None:
    vvd = both[0]
    with anyio.move_on_after(1.0):
        await vvd.shell("gwsi-tool-screenshooter /tmp/empty.png")
        raise AssertionError("it ended")
    assert (await vvd.shell("wc -c < /tmp/empty.png")).strip() == "0"


async def test_the_command_tells_how_to_reach_its_devices() -> None:
    argv = [PROGRAM, "lab", "vega", "vvd", "stick", "--json"]
    async with await anyio.open_process(argv, start_new_session=True) as running:
        assert running.stdout is not None
        said = b""
        with anyio.fail_after(60):
            while b"\n" not in said:
                said += await running.stdout.receive()
        data = json.loads(said)["data"]
        assert [row["kind"] for row in data["devices"]] == ["vvd", "stick"]
        listed = await processes.run([data["program"], "device", "list"], deadline=30)
        assert "VirtualDevice" in listed.text and data["devices"][1]["dsn"] in listed.text
        running.terminate()
        with anyio.fail_after(30):
            await running.wait()
    listed = await processes.run([PROGRAM, "lab", "vega", "--list"], deadline=60)
    assert {line.split()[0] for line in listed.text.splitlines()} == set(KINDS)
