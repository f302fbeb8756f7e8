"""The automation server: hung, cut off, cancelled; and what it is told to type.

Judged by what the lab's device saw and has, not by our own answers.
"""

from __future__ import annotations

import anyio
import pytest

from anydevice_android.automation import Automation, AutomationWriter
from anydevice_lab.android import Lab
from anydevice_schemas.errors import ConnectionLost

from .asking import driver_of
from .rig import Rig, eventually

pytestmark = pytest.mark.anyio


async def test_a_server_that_hangs_is_ended_and_the_other_source_used(
    lab: Lab, quick: Rig, phone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice_android.automation.DUMPING", 1.0)
    await quick.open(phone)
    await quick.do("snapshot", device=phone)
    await lab.fault(phone, "u2_hang", match="dumpWindowHierarchy")
    answer = await quick.do("snapshot", device=phone)
    assert answer.data["quality"] == "complete"
    assert (await lab.journal(phone, "u2"))[-1]["running"] is False


async def test_fingers_are_not_moved_twice_where_the_answer_is_lost(lab: Lab, quick: Rig, phone: str) -> None:
    await quick.open(phone, "gestures")
    driver = await driver_of(quick, phone)
    automation: Automation = driver._automation  # type: ignore[attr-defined]
    await automation.ask("deviceInfo")
    await lab.fault(phone, "u2_cut", match="gesture", times=1)
    places = [{"x": x, "y": 900} for x in (300, 700, 400, 600)]
    with pytest.raises(ConnectionLost):
        await automation.ask("gesture", {"mask": 0x8000, "enabled": True}, *places, 2)
    assert len(await lab.journal(phone, "fingers")) == 1


async def test_a_close_that_is_cancelled_leaves_no_server_behind(lab: Lab, quick: Rig, phone: str) -> None:
    await quick.open(phone)
    driver = await driver_of(quick, phone)
    automation: Automation = driver._automation  # type: ignore[attr-defined]
    for wait in (0.0, 0.0001, 0.001, 0.01):
        await automation.ask("deviceInfo")
        with anyio.move_on_after(wait):
            await automation.aclose()
        await automation.aclose()

        async def free() -> bool:
            return await lab.ask("process", serial=phone) == []

        assert await eventually(free)
    assert (await lab.journal(phone, "u2"))[-1]["running"] is False


async def test_a_hint_is_not_typed_and_a_secret_not_garbled(lab: Lab, quick: Rig, phone: str) -> None:
    await quick.open(phone, "form")
    await quick.do("type", device=phone, target="Name", text="Grüße")
    told = await quick.do("get", device=phone, target="Name", what="attrs")
    assert told.data["element"]["value"] == "Grüße"
    await quick.do("type", device=phone, target="Name", text=" äö")
    told = await quick.do("get", device=phone, target="Name", what="attrs")
    assert told.data["element"]["value"] == "Grüße äö"
    driver = await driver_of(quick, phone)
    writer = AutomationWriter(driver._automation, driver._reach)  # type: ignore[attr-defined]
    await quick.do("fill", device=phone, target="Password", text="first")
    assert await writer.write("ä", replace=False) is None
