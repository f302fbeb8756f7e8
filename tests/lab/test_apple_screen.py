"""Pictures and films of lab simulators as `simctl io` makes them: pixels, the display's own way up, signals."""

from __future__ import annotations

import io
import signal
from pathlib import Path

import anyio
import pytest
from PIL import Image

from .adb import eventually
from .apple import Mac, fixture

pytestmark = pytest.mark.anyio

OUTPUTS = fixture("simctl_outputs.json")


def _size(data: bytes) -> tuple[int, int]:
    return Image.open(io.BytesIO(data)).size


async def test_a_picture_goes_into_a_file_and_what_is_said_to_stderr(mac: Mac, udid: str, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    result = await mac.sim("io", udid, "screenshot", str(path))
    sample = OUTPUTS[0]
    assert (result.code, result.text) == (sample["exit"], sample["stdout"])
    assert result.complaint == sample["stderr"].replace("/path/to/a.png", str(path))
    assert _size(path.read_bytes()) == (402 * 3, 874 * 3)  # pixels, not points
    await mac.done("io", udid, "screenshot", "--type=jpeg", "--", str(tmp_path / "-b"))
    assert (tmp_path / "-b").read_bytes()[:2] == b"\xff\xd8"
    assert (await mac.sim("io", udid, "screenshot", "/no/such/folder/a.png")).code != 0


async def test_a_dash_is_stdout_in_older_xcodes_and_a_file_of_that_name_in_newer(
    mac: Mac, udid: str, tmp_path: Path
) -> None:
    result = await mac.sim("io", udid, "screenshot", "-", cwd=tmp_path)
    assert (result.text, result.complaint) == (OUTPUTS[1]["stdout"], OUTPUTS[1]["stderr"])
    assert _size((tmp_path / "-").read_bytes()) == (1206, 2622)
    await mac.lab.mac(xcode="15.4")
    try:
        assert _size((await mac.sim("io", udid, "screenshot", "-", cwd=tmp_path)).stdout) == (1206, 2622)
    finally:
        await mac.lab.mac(xcode="26.5")


async def test_a_picture_can_be_empty_although_it_is_said_to_be_written(mac: Mac, udid: str, tmp_path: Path) -> None:
    await mac.lab.fault(udid, "screenshot_empty", times=1)
    result = await mac.sim("io", udid, "screenshot", str(tmp_path / "a.png"))
    assert result.code == 0 and "Wrote screenshot to" in result.complaint
    assert (tmp_path / "a.png").read_bytes() == b""


async def test_a_picture_of_a_device_on_its_side_stands_upright(mac: Mac, udid: str, tmp_path: Path) -> None:
    wda = await mac.wda(udid)
    await wda.begin()
    await wda.open("home")
    upright = tmp_path / "upright.png"
    await mac.done("io", udid, "screenshot", str(upright))
    await wda.post("/orientation", orientation="LANDSCAPE")
    await mac.done("io", udid, "screenshot", str(tmp_path / "side.png"))
    side = (tmp_path / "side.png").read_bytes()
    assert _size(side) == (1206, 2622)
    # What a person sees is that picture turned; the agent's own picture is as it is seen.
    import base64

    seen = Image.open(io.BytesIO(base64.b64decode(await wda.get("/screenshot")))).convert("RGB")
    assert seen.size == (2622, 1206)
    turned = Image.open(io.BytesIO(side)).convert("RGB").rotate(-90, expand=True)
    assert turned.tobytes() == seen.tobytes() and side != upright.read_bytes()


async def test_a_film_ends_well_by_sigint_alone(mac: Mac, udid: str, tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    async with mac.running("xcrun", "simctl", "io", udid, "recordVideo", "--codec=h264", "--force", str(path)) as (
        child, said,
    ):  # fmt: skip
        await eventually(lambda: _said(said, b"Recording started\n"))
        assert path.read_bytes() == b""  # nothing is in it until it is ended
        busy = await mac.sim("io", udid, "recordVideo", str(tmp_path / "b.mp4"))
        assert busy.code != 0 and not (tmp_path / "b.mp4").exists()
        child.process.send_signal(signal.SIGINT)
        with anyio.fail_after(20):
            assert await child.wait() == 0
            assert child.process.stdout is not None
            out = b""
            async for data in child.process.stdout:
                out += data
    assert out.decode() == OUTPUTS[2]["stdout"].replace("/path/to/a.mp4", str(path))
    assert path.read_bytes()[4:8] == b"ftyp"
    assert (await mac.sim("io", udid, "recordVideo", str(path))).code == 17  # it is there, and --force was not said


async def _said(said: bytearray, what: bytes) -> bool:
    return what in said


@pytest.mark.parametrize("early", [True, False])
async def test_a_recorder_that_is_ended_in_another_way_leaves_nothing_to_play(
    mac: Mac, udid: str, tmp_path: Path, early: bool
) -> None:
    path = tmp_path / "a.mp4"
    if early:
        await mac.lab.fault(udid, "recorder_late", seconds=30)
    async with mac.running("xcrun", "simctl", "io", udid, "recordVideo", "--force", str(path)) as (child, said):
        await eventually(lambda: _said(said, b"Note: No display specified." if early else b"Recording started\n"))
        child.process.send_signal(signal.SIGINT if early else signal.SIGTERM)
        with anyio.fail_after(20):
            assert await child.wait() != 0
    assert not path.exists() if early else path.read_bytes() == b""

    async def over() -> bool:
        entries = await mac.lab.journal(udid, "recording")
        return bool(entries) and entries[-1]["running"] is False

    await eventually(over)


async def test_a_shutdown_ends_a_film(mac: Mac, tmp_path: Path) -> None:
    one = (await mac.lab.start("iphone"))[0]
    path = tmp_path / "a.mp4"
    async with mac.running("xcrun", "simctl", "io", one, "recordVideo", "--force", str(path)) as (child, said):
        await eventually(lambda: _said(said, b"Recording started\n"))
        await mac.done("shutdown", one)
        with anyio.fail_after(20):
            assert await child.wait() == 0
    assert path.read_bytes()[4:8] == b"ftyp"
    await mac.lab.stop(one)


async def test_the_display_is_described(mac: Mac, udid: str) -> None:
    said = await mac.done("io", udid, "enumerate")
    assert "Default width: 1206" in said and "Default height: 2622" in said
    assert (await mac.sim("io", udid, "frobnicate")).code == 22
