"""Recordings, logs, measures, files, ports, and the device's own configuration."""

from __future__ import annotations

import socket
from pathlib import Path

import anyio
import pytest

from anydevice.driver import RecordRequest
from anydevice_lab.vega import Lab
from anydevice_schemas.errors import ActionUnverified, UpstreamUnavailable

from .rig import PRACTICE, Rig

pytestmark = pytest.mark.anyio
VOICE = "system/accessibility/VoiceViewEnabled"


# --- recordings ---


async def test_a_recording_is_whole_and_leaves_nothing_on_the_device(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await router.do("record", device=stick, action="start")
    assert (await lab.state(stick))["recording"] is True
    await router.do("tv-remote", device=stick, button="down")
    answer = await router.do("record", device=stick, action="stop")
    assert answer.verified and (await lab.state(stick))["recording"] is False
    film = Path(answer.artefacts[0].path)
    assert film.read_bytes()[4:8] == b"ftyp" and answer.artefacts[0].mime == "video/mp4"
    assert not await router.shell(stick, "ls /tmp/*automation*/tmp/*.mp4 2>/dev/null || true")


async def test_an_empty_film_is_no_recording(lab: Lab, router: Rig, stick: str, tmp_path: Path) -> None:
    await router.open(stick)
    driver = await router.driver(stick)
    recording = driver.recording  # type: ignore[attr-defined]
    await recording.start(RecordRequest(path=str(tmp_path / "film"), longest=30.0))
    with pytest.raises(ActionUnverified):
        await recording.start(RecordRequest(path=str(tmp_path / "other"), longest=30.0))
    await lab.fault(stick, "film_empty")
    with pytest.raises(Exception) as refused:
        await recording.stop()
    assert getattr(refused.value, "code", "") in ("connection_lost", "upstream_unavailable")
    assert await recording.status() is None


async def test_a_recording_that_runs_already_is_the_toolkits_to_refuse(
    lab: Lab, router: Rig, stick: str, tmp_path: Path
) -> None:
    await router.open(stick)
    driver = await router.driver(stick)
    await driver.recording._reach.ask("startRecordingScreen", {"timeLimitInSeconds": 60})  # type: ignore[attr-defined]
    with pytest.raises(UpstreamUnavailable):
        await driver.recording.start(RecordRequest(path=str(tmp_path / "film"), longest=30.0))  # type: ignore[attr-defined]
    await driver.recording._reach.ask("stopRecordingScreen")  # type: ignore[attr-defined]


async def test_a_recording_ends_when_the_device_is_given_back(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await router.do("record", device=stick, action="start")
    await (await router.driver(stick)).clean()
    assert (await lab.state(stick))["recording"] is False


# --- logs and measures ---


async def test_the_log_of_an_app_is_its_own(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    logs = (await router.driver(stick)).logs  # type: ignore[attr-defined]
    before = await logs.now()
    await lab.ask("log", serial=stick, text="of the app", package=PRACTICE)
    await lab.ask("log", serial=stick, text="of another", package="com.example.other")
    mine = await logs.read(before, app=PRACTICE)
    assert [line.text for line in mine.lines] == ["of the app"]
    everything = await logs.read(before)
    assert {"of the app", "of another"} <= {line.text for line in everything.lines}
    assert not (await logs.read(everything.cursor)).lines


async def test_an_app_is_measured_by_its_own_processes(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    perf = (await router.driver(stick)).perf  # type: ignore[attr-defined]
    told = await perf.memory(PRACTICE)
    assert told["app"] == PRACTICE and told["residentKb"] > 0
    assert (await perf.cpu(None, seconds=0.2))["app"] == PRACTICE
    await router.do("perf", device=stick, kind="memory", app="com.example.none", expect="app_not_found")
    await router.do("perf", device=stick, kind="memory", app="com.amazondeveloper.test", expect="app_not_running")


# --- files and ports ---


async def test_files_are_where_the_shell_sees_them(lab: Lab, router: Rig, stick: str) -> None:
    """What adb copies elsewhere than into /tmp is in a place the shell does not see."""
    (router.folder / "there.txt").write_text("words\n")
    await router.do("files", device=stick, action="push", hostPath="there.txt", devicePath="/scratch/there.txt")
    assert await router.shell(stick, "cat /scratch/there.txt") == "words\n"
    await router.do("files", device=stick, action="pull", hostPath="back.txt", devicePath="/scratch/there.txt")
    assert (router.folder / "back.txt").read_text() == "words\n"
    assert not await router.shell(stick, "ls -d /tmp/anydevice-* 2>/dev/null || true")


async def test_a_forwarded_port_leads_there_and_goes_with_the_device(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    driver = await router.driver(stick)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    await router.do("forward", device=stick, action="add", hostPort=port, devicePort=8383)
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await stream.receive()).startswith(b"HTTP/1.1 404")
    await driver.clean()
    with pytest.raises(OSError):
        await anyio.connect_tcp("127.0.0.1", port)


# --- configuration ---


async def test_a_value_is_changed_read_back_and_put_back(lab: Lab, router: Rig, stick: str) -> None:
    assert (await router.do("vega-config", device=stick, name=VOICE)).data["value"] == "false"
    answer = await router.do("vega-config", device=stick, name=VOICE, value="true")
    assert answer.verified and answer.data == {"name": VOICE, "before": "false", "value": "true"}
    assert "true" in await router.shell(stick, f"vdcm get com.amazon.devconf/{VOICE}")
    await (await router.driver(stick)).clean()
    assert "false" in await router.shell(stick, f"vdcm get com.amazon.devconf/{VOICE}")


async def test_a_value_that_did_not_change_is_no_success(lab: Lab, router: Rig, stick: str) -> None:
    await lab.fault(stick, "settings_ignored")
    await router.do("vega-config", device=stick, name=VOICE, value="true", expect="action_unverified")
    await router.do("vega-config", device=stick, name="system/none", expect="invalid_argument")
