"""Connections that are lost, and calls that end in the middle.

Judged by what the lab's device saw and has, not by our own answers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice_adb import AdbServer
from anydevice_lab.android import Lab
from anydevice_schemas.errors import AnydeviceError, ConnectionLost

from .asking import driver_of, given_back, root, setting
from .rig import PRACTICE, WITHIN, Rig, eventually

pytestmark = pytest.mark.anyio


async def test_settings_are_put_back_though_the_connection_was_lost_meanwhile(
    lab: Lab, router: Rig, phone: str
) -> None:
    await router.open(phone)
    before = await setting(lab, router, phone, "global", "animator_duration_scale")
    await router.do("settings", device=phone, area="animations", value="off")
    await router.do("settings", device=phone, area="appearance", value="dark")
    first = await driver_of(router, phone)
    await lab.fault(phone, "disconnect", match="uiautomator", times=1)
    await router.do("snapshot", device=phone, expect="connection_lost")
    await lab.ask("connect", serial=phone)

    async def again() -> bool:
        return [row["state"] for row in await router.devices() if row["id"] == phone] == ["ready"]

    await eventually(again)
    assert await driver_of(router, phone) is not first
    await given_back(router, phone)
    assert await setting(lab, router, phone, "global", "animator_duration_scale") == before
    assert (await router.do("settings", device=phone, area="appearance")).data["value"] == "light"


async def test_one_setting_that_cannot_be_put_back_keeps_no_other(lab: Lab, router: Rig, phone: str) -> None:
    before = await setting(lab, router, phone, "global", "animator_duration_scale")
    await router.do("settings", device=phone, area="animations", value="off")
    await router.do("settings", device=phone, area="appearance", value="dark")
    await lab.fault(phone, "answer", match="settings (put|delete) global", stderr="Error: no\n", code=1)
    with pytest.raises(AnydeviceError):
        await given_back(router, phone)
    assert (await router.do("settings", device=phone, area="appearance")).data["value"] == "light"
    await lab.clear(phone)
    await given_back(router, phone)
    assert await setting(lab, router, phone, "global", "animator_duration_scale") == before


async def test_a_permission_is_taken_back(lab: Lab, router: Rig, phone: str) -> None:
    answer = await router.do("settings", device=phone, area="permission", app=PRACTICE, name="camera", value="grant")
    assert answer.verified is True
    await given_back(router, phone)
    told = await router.do("settings", device=phone, area="permission", app=PRACTICE, name="CAMERA")
    assert told.data.get("value") != "grant"


async def test_a_push_that_is_cancelled_leaves_no_part_of_the_file(
    lab: Lab, router: Rig, phone: str, tmp_path: Path
) -> None:
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(1 << 30)
    driver = await driver_of(router, phone)
    there = await root(lab, phone) / "sdcard" / "big"
    async with anyio.create_task_group() as group:

        async def push() -> None:
            await driver.files.push(str(big), "/sdcard/big", deadline=WITHIN)  # type: ignore[attr-defined]

        async def begun() -> bool:
            return there.exists() and there.stat().st_size > 0

        group.start_soon(push)
        await eventually(begun)
        group.cancel_scope.cancel()

    async def gone() -> bool:
        return not there.exists()

    assert await eventually(gone)


async def test_a_long_command_that_is_cancelled_leaves_no_script(lab: Lab, router: Rig, phone: str) -> None:
    driver = await driver_of(router, phone)
    folder = await root(lab, phone) / "data" / "local" / "tmp"
    for wait in (0.0, 0.001, 0.002, 0.004, 0.008, 0.016, 0.05, 0.2):
        with anyio.move_on_after(wait):
            await driver.shell.run(f"echo {'x' * 300_000} >/dev/null; sleep 30")  # type: ignore[attr-defined]

    async def clean() -> bool:
        return list(folder.glob("anydevice-*")) == [] and await lab.ask("process", serial=phone) == []

    assert await eventually(clean)


async def test_a_script_is_for_nobody_elses_eyes(lab: Lab, router: Rig, phone: str) -> None:
    driver = await driver_of(router, phone)
    done = await driver.shell.run(f'stat -c %a "$0"; : {"x" * 80_000}')  # type: ignore[attr-defined]
    assert done.stdout.strip() in ("600", "")
    folder = await root(lab, phone) / "data" / "local" / "tmp"
    seen: list[int] = []
    async with anyio.create_task_group() as group:

        async def run() -> None:
            await driver.shell.run(f"sleep 30; : {'x' * 80_000}")  # type: ignore[attr-defined]

        async def there() -> bool:
            seen.extend(file.stat().st_mode & 0o777 for file in folder.glob("anydevice-*.sh"))
            return await lab.ask("process", serial=phone) != [] and bool(seen)

        group.start_soon(run)
        await eventually(there)
        group.cancel_scope.cancel()
    assert seen[-1] == 0o600


async def test_an_adb_server_that_is_ended_and_started_again_is_used_again(
    lab: Lab, router: Rig, tmp_path: Path
) -> None:
    async with Lab() as own:
        (serial,) = await own.start("phone")
        router.environment["ANDROID_ADB_SERVER_PORT"] = str(own.port)
        await router.open(serial)
        ended: list[str] = []

        async def runs() -> None:
            answer = await router.do("shell", device=serial, commandLine="sleep 60", expect="connection_lost")
            ended.append(answer.error.code if answer.error else "")

        async with anyio.create_task_group() as group:
            group.start_soon(runs)

            async def begun() -> bool:
                return await own.ask("process", serial=serial) != []

            await eventually(begun)
            with pytest.raises(AnydeviceError):  # it closes without an answer to be read
                await AdbServer("127.0.0.1", own.port).ask("host:kill")
                raise ConnectionLost("It answered.", restarted=False, lost="adb server")
        assert ended == ["connection_lost"]
        started = await anyio.run_process(
            [own.adb, "-P", str(own.port), "start-server"], env={**os.environ, **own.environment}, check=False
        )
        try:
            assert started.returncode == 0
            await own.ask("connect", serial=serial)

            async def again() -> bool:
                return [row["state"] for row in await router.devices() if row["id"] == serial] == ["ready"]

            await eventually(again)
            await router.open(serial)
            await router.do("press", device=serial, target="Increment")
            assert len(await own.journal(serial, "tap")) == 1
        finally:  # the lab ends the server it started, which is the first of the two
            with anyio.CancelScope(shield=True):
                await anyio.run_process(
                    [own.adb, "-P", str(own.port), "kill-server"], env={**os.environ, **own.environment}, check=False
                )


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("press", {"x": 50, "y": 300}), ("type", {"text": "abc"}), ("key", {"chord": "enter"}), ("back", {}),
        ("push", {"app": PRACTICE, "payload": {}}), ("open", {"url": "practice:///?screen=form"}),
    ],
)  # fmt: skip
async def test_input_that_was_sent_and_not_answered_is_neither_done_nor_to_be_repeated(
    lab: Lab, router: Rig, phone: str, command: str, arguments: dict[str, Any]
) -> None:
    await router.open(phone, "form")
    await lab.fault(phone, "cut", match="^(input|am broadcast|am start -W -a) ")
    answer = await router.do(command, device=phone, **arguments, expect="outcome_unknown")
    assert answer.error is not None and answer.error.retryable is False
    assert answer.error.details["reason"] == "connection_lost"
    assert "abc" not in str(answer.error)


async def test_two_devices_of_one_name_are_never_taken_for_each_other(lab: Lab, router: Rig) -> None:
    one, other = await lab.start({"name": "phone", "model": "Twin"}, {"name": "phone", "model": "Twin"})
    await router.do("open", device="Twin", app=PRACTICE, expect="ambiguous_device")
    await router.open(other)
    await router.do("press", device=other, target="Increment")
    assert (await lab.journal(one, "tap"), len(await lab.journal(other, "tap"))) == ([], 1)
