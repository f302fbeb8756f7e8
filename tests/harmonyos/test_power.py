"""Virtual devices: up once they can be driven, whatever the program's exit status says, and down once they are gone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from anydevice_lab.harmonyos import Lab

from .rig import Rig, rig

pytestmark = pytest.mark.anyio
NAME = "Pura 90"
DEVICE = f"emulator:{NAME}"


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Rig]:
    """A router, and a lab with nothing in it yet."""
    async with Lab() as lab, rig(lab, tmp_path / "home") as running:
        yield running


async def test_one_that_does_not_run_is_listed_by_name_boots_turns_and_shuts_down(host: Rig) -> None:
    await host.lab.emulators({"name": NAME, "exit": 1})
    row = await host.device(DEVICE)
    assert (row["state"], row["kind"], row["class"]) == ("shutdown", "emulator", "phone")
    answer = await host.do("open", device=DEVICE, app="com.huawei.hmos.settings", expect="device_not_ready")
    assert answer.error is not None and "boot" in answer.error.hint
    answer = await host.do("boot", device=DEVICE)
    assert answer.verified and answer.data["state"] == "ready"
    assert [(row["id"], row["state"]) for row in await host.devices()] == [(DEVICE, "ready")], "once, by its name"
    assert (await host.do("boot", device=DEVICE)).data["alreadyRunning"]
    await host.open(DEVICE, "form")
    answer = await host.do("orientation", device=DEVICE, value="landscape-left")
    assert answer.verified
    answer = await host.do("shutdown", device=DEVICE)
    assert answer.verified
    assert (await host.device(DEVICE))["state"] == "shutdown"


async def test_opening_an_app_boots_it_when_asked(host: Rig) -> None:
    await host.lab.emulators({"name": NAME})
    for _ in range(2):
        answer = await host.do("open", device=DEVICE, app="com.huawei.hmos.settings", boot=True)
        assert answer.data["booted"] and answer.data["location"].startswith("com.huawei.hmos.settings/")
        await host.do("shutdown", device=DEVICE)


async def test_one_that_never_comes_up_is_told_though_the_program_ended_well(
    host: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice_harmonyos.instance.SILENT", 0.5)
    await host.lab.emulators({"name": NAME, "silent": True})
    answer = await host.do("boot", device=DEVICE, expect="upstream_unavailable")
    assert answer.error is not None and answer.error.details["exit"] == 0
    assert (await host.device(DEVICE))["state"] == "shutdown"


async def test_one_the_server_does_not_find_by_itself_is_connected(host: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anydevice_harmonyos.instance.LOST", 0.5)
    await host.lab.emulators({"name": NAME, "connects": False})
    assert (await host.do("boot", device=DEVICE)).verified
    await host.do("shutdown", device=DEVICE)


async def test_one_that_somebody_else_started_is_ended_but_not_started(host: Rig) -> None:
    (key,) = await host.lab.start("emulator")
    rows = {row["id"]: row["state"] for row in await host.devices()}
    assert rows == {key: "ready"}
    await host.do("boot", device=key)  # it runs already, and nothing is to be done
    await host.do("shutdown", device=key, expect="unsupported")  # which of the program's it is cannot be told
