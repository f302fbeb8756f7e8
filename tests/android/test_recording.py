"""Recording a lab device: whole files of the time they ran, in as many runs of the recorder as it takes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from anydevice.driver import Environment, HostServices, RecordRequest
from anydevice.kit.movies import inspect
from anydevice_android.backend import AndroidBackend
from anydevice_android.driver import AndroidDriver
from anydevice_android.recording import AndroidRecording, even
from anydevice_lab.android import Lab
from anydevice_schemas import Rect
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, ConnectionLost, ToolMissing, Unsupported

from .rig import Rig, eventually

pytestmark = pytest.mark.anyio
FIX = "pip install 'anydevice[video]', or install ffmpeg from the system's packages"


@asynccontextmanager
async def driving(lab: Lab, serial: str, folder: Path) -> AsyncIterator[AndroidDriver]:
    """A driver of a lab device."""
    backend = AndroidBackend(HostServices(str(folder), str(folder), {"server": f"127.0.0.1:{lab.port}"}))
    rows = {device.id: device for device in await backend.devices(Environment())}
    driver = await backend.connect(rows[serial], Environment())
    assert isinstance(driver, AndroidDriver)
    try:
        yield driver
    finally:
        await driver.aclose()


def recorder(driver: AndroidDriver, segment: float = 1.5) -> AndroidRecording:
    """The device's recording, by runs so short that a test can wait for several."""
    return AndroidRecording(driver._reach, driver.screen.display, segment=segment)


async def left(driver: AndroidDriver) -> list[str]:
    """Films that are still on the device."""
    return [entry.name for entry in await driver._reach.adb.list("/data/local/tmp") if entry.name.endswith(".mp4")]


async def test_a_recording_is_whole_and_nothing_stays_on_the_device(lab: Lab, phone: str, tmp_path: Path) -> None:
    async with driving(lab, phone, tmp_path) as driver:
        acted = await driver.recording.start(RecordRequest(str(tmp_path / "film")))
        assert acted.method == "screenrecord"
        with pytest.raises(ActionUnverified):
            await driver.recording.start(RecordRequest(str(tmp_path / "second")))
        await anyio.sleep(1.0)
        status = await driver.recording.status()
        assert status is not None and status["seconds"] >= 0.9 and "ended" not in status
        recorded = await driver.recording.stop()
        assert (recorded.ended, recorded.mime, recorded.width, recorded.height) == ("stopped", "video/mp4", 1080, 2400)
        movie = inspect(Path(recorded.path))
        assert movie.seconds is not None and movie.seconds >= 0.9
        assert sorted(os.listdir(tmp_path)) == ["film.mp4"]
        assert await left(driver) == []
        assert await driver.recording.status() is None
        with pytest.raises(ActionUnverified):
            await driver.recording.stop()


async def test_a_long_recording_is_several_runs_in_one_file(lab: Lab, phone: str, tmp_path: Path) -> None:
    async with driving(lab, phone, tmp_path) as driver:
        recording = recorder(driver)
        await recording.start(RecordRequest(str(tmp_path / "film"), longest=5.0))

        async def over() -> bool:
            return bool((await recording.status() or {}).get("ended"))

        await eventually(over)
        recorded = await recording.stop()
        assert recorded.ended == "longest"
        assert recorded.data["segments"] >= 2 and "missing" not in recorded.data
        assert recorded.seconds == inspect(Path(recorded.path)).seconds
        assert recorded.seconds >= 4.5
        assert sorted(os.listdir(tmp_path)) == ["film.mp4"]
        assert await left(driver) == []


async def test_no_run_of_the_recorder_is_asked_for_more_than_android_allows(
    lab: Lab, phone: str, tmp_path: Path
) -> None:
    async with driving(lab, phone, tmp_path) as driver:
        await driver.recording.start(RecordRequest(str(tmp_path / "film"), longest=3600))
        await driver.recording.stop()
    (started,) = [e for e in await lab.journal(phone, "program") if e["name"] == "screenrecord"]
    assert started["args"][started["args"].index("--time-limit") + 1] == "180"


async def test_without_a_program_that_joins_videos_one_run_is_all_and_start_says_so(
    lab: Lab, phone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice.kit.encoders.candidates", list)  # as on a machine without ffmpeg
    async with driving(lab, phone, tmp_path) as driver:
        recording = recorder(driver)
        acted = await recording.start(RecordRequest(str(tmp_path / "film"), longest=60))
        assert (acted.data["longest"], acted.data["fix"]) == (1.5, FIX)

        async def over() -> bool:
            return bool((await recording.status() or {}).get("ended"))

        await eventually(over)
        recorded = await recording.stop()
        assert (recorded.ended, recorded.data["segments"]) == ("longest", 1)


async def test_an_encoder_that_refuses_the_size_is_asked_once_more(lab: Lab, tmp_path: Path) -> None:
    serial = (await lab.start({"name": "phone", "width": 1081, "height": 2401}))[0]
    async with driving(lab, serial, tmp_path) as driver:
        await driver.recording.start(RecordRequest(str(tmp_path / "film")))
        recorded = await driver.recording.stop()
        assert (recorded.width, recorded.height) == (1080, 2400)
        await lab.fault(serial, "recorder_fails")
        with pytest.raises(Unsupported):
            await driver.recording.start(RecordRequest(str(tmp_path / "none")))
        assert await driver.recording.status() is None
        assert sorted(os.listdir(tmp_path)) == ["film.mp4"]


def test_the_second_size_is_even_and_smaller_where_the_first_was_even() -> None:
    assert even((1081, 2401)) == (1080, 2400)
    assert even((1080, 2400)) == (540, 1200)


async def test_a_part_of_the_screen_is_refused(lab: Lab, phone: str, tmp_path: Path) -> None:
    async with driving(lab, phone, tmp_path) as driver:
        with pytest.raises(Unsupported):
            await driver.recording.start(RecordRequest(str(tmp_path / "film"), area=Rect(0, 0, 10, 10)))


async def test_of_several_panels_the_one_that_is_on_is_recorded(lab: Lab, tmp_path: Path) -> None:
    serial = (await lab.start("foldable"))[0]
    async with driving(lab, serial, tmp_path) as driver:
        await driver.recording.start(RecordRequest(str(tmp_path / "film")))
        await driver.recording.stop()
    (started,) = [e for e in await lab.journal(serial, "program") if e["name"] == "screenrecord"]
    assert started["args"][started["args"].index("--display-id") + 1] == "4619827677550801152"


async def test_a_device_that_goes_away_leaves_what_was_fetched(lab: Lab, tmp_path: Path) -> None:
    serial = (await lab.start("phone"))[0]
    async with driving(lab, serial, tmp_path) as driver:
        recording = recorder(driver, segment=1.2)
        await recording.start(RecordRequest(str(tmp_path / "film")))

        async def second() -> bool:
            return recording._film is not None and bool(recording._film._parts)

        await eventually(second)
        await lab.stop(serial)

        async def over() -> bool:
            return bool((await recording.status() or {}).get("ended"))

        await eventually(over)
        recorded = await recording.stop()
        assert recorded.ended == "device"
        assert (inspect(Path(recorded.path)).seconds or 0) >= 1.0


async def test_a_device_that_takes_everything_with_it_is_said(lab: Lab, tmp_path: Path) -> None:
    serial = (await lab.start("phone"))[0]
    async with driving(lab, serial, tmp_path) as driver:
        await driver.recording.start(RecordRequest(str(tmp_path / "film")))
        await lab.stop(serial)

        async def over() -> bool:
            return bool((await driver.recording.status() or {}).get("ended"))

        await eventually(over)
        with pytest.raises(ConnectionLost):
            await driver.recording.stop()
        assert os.listdir(tmp_path) == []


async def test_whoever_leaves_leaves_a_whole_file(lab: Lab, phone: str, tmp_path: Path) -> None:
    async with driving(lab, phone, tmp_path) as driver:
        await driver.recording.start(RecordRequest(str(tmp_path / "clean")))
        await anyio.sleep(0.3)
        await driver.clean()
        assert inspect(tmp_path / "clean.mp4").width == 1080
        await driver.recording.start(RecordRequest(str(tmp_path / "closed")))
        await anyio.sleep(0.3)
    assert inspect(tmp_path / "closed.mp4").width == 1080


async def test_a_device_without_a_recorder_says_so(lab: Lab, phone: str, tmp_path: Path) -> None:
    await lab.fault(
        phone,
        "answer",
        match="screenrecord",
        stderr="/system/bin/sh: screenrecord: inaccessible or not found\n",
        code=127,
    )
    async with driving(lab, phone, tmp_path) as driver:
        with pytest.raises(AnydeviceError) as caught:
            await driver.recording.start(RecordRequest(str(tmp_path / "film")))
        assert isinstance(caught.value, ToolMissing)


async def test_record_gives_an_artefact_through_the_router(router: Rig, phone: str) -> None:
    await router.open(phone)
    started = await router.do("record", action="start")
    await router.do("press", target="Increment")
    assert (await router.do("record")).data["recording"] is True
    answer = await router.do("record", action="stop")
    assert answer.data["name"] == started.data["name"]
    assert (answer.artefacts[0].mime, answer.verified) == ("video/mp4", True)
    assert inspect(Path(answer.artefacts[0].path or "")).frames
