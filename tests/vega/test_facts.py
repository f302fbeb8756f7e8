"""Cases of the facts that broke the backend when it was driven from outside: pictures, films, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.driver import RecordRequest
from anydevice_adb import AdbDevice, AdbServer
from anydevice_lab.vega import Lab
from anydevice_schemas.errors import AnydeviceError, OutcomeUnknown
from anydevice_vega.reach import Reach

from .rig import Rig

pytestmark = pytest.mark.anyio
OTHER = "/tmp/old-automation-toolkit.service-old/tmp"
FILMS = "/tmp/*automation-toolkit.service*/tmp/atk_screen_capture.mp4"
LEFT = "ls -d /tmp/anydevice-* 2>/dev/null || true"


# --- pictures ---


async def test_a_picture_of_before_is_never_the_picture_of_now(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await lab.fault(stick, "toolkit_cut", match="takeScreenshot")
    await lab.fault(stick, "hang", match="rm -f", times=1)
    await router.do("screenshot", device=stick)
    assert await router.shell(stick, LEFT) != "", "the picture of this call stayed behind"
    await lab.fault(stick, "answer", match="gwsi-tool-screenshooter", code=1)
    await router.do("screenshot", device=stick, expect="upstream_unavailable")
    await lab.clear(stick)
    await router.shell(stick, "rm -f /tmp/anydevice-*")


async def test_two_pictures_at_once_are_both_whole(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await lab.fault(stick, "toolkit_cut", match="takeScreenshot")
    screen: Any = (await router.driver(stick)).screen  # type: ignore[attr-defined]
    found: list[Any] = []

    async def take() -> None:
        found.append(await screen.image())

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(take)
    assert [(one.width, one.height) for one in found] == [(1920, 1080)] * 3
    assert await router.shell(stick, LEFT) == ""


# --- films ---


async def test_a_film_is_of_this_recording_and_of_no_other(lab: Lab, router: Rig, stick: str, tmp_path: Path) -> None:
    await router.open(stick)
    recording: Any = (await router.driver(stick)).recording  # type: ignore[attr-defined]
    await recording._reach.ask("startRecordingScreen", {"timeLimitInSeconds": 60})  # somebody else's
    await recording._reach.ask("stopRecordingScreen")
    await router.shell(stick, f"mkdir -p {OTHER}; cp {FILMS} {OTHER}/; touch -t 202001010000 {FILMS}")
    await recording.start(RecordRequest(path=str(tmp_path / "film"), longest=30.0))
    done = await recording.stop()
    whole = Path(done.path).read_bytes()
    assert whole.count(b"ftyp") == 1 and whole[4:8] == b"ftyp", "one film, not one behind the other"
    await router.shell(stick, f"mkdir -p {OTHER}; printf x > {OTHER}/atk_screen_capture.mp4")
    await router.shell(stick, f"touch -t 202001010000 {OTHER}/atk_screen_capture.mp4")
    await lab.fault(stick, "film_empty")
    await recording.start(RecordRequest(path=str(tmp_path / "none"), longest=30.0))
    with pytest.raises(AnydeviceError) as refused:
        await recording.stop()
    assert refused.value.code in ("connection_lost", "upstream_unavailable")
    assert not (tmp_path / "none.mp4").exists()
    assert await router.shell(stick, LEFT) == ""
    await router.shell(stick, f"rm -rf {OTHER}")


# --- files ---


async def test_a_file_is_not_put_into_a_folder_that_has_its_name(router: Rig, stick: str) -> None:
    (router.folder / "one.txt").write_text("one")
    await router.shell(stick, "rm -rf /tmp/facts; mkdir -p /tmp/facts")
    answer = await router.do(
        "files", device=stick, action="push", hostPath="one.txt", devicePath="/tmp/facts", expect="invalid_argument"
    )
    assert answer.error is not None and "/ at its end" in answer.error.details["expected"]
    assert await router.shell(stick, "ls /tmp/facts; ls -d /tmp/anydevice-* 2>/dev/null || true") == ""
    await router.do("files", device=stick, action="push", hostPath="one.txt", devicePath="/tmp/facts/")
    assert await router.shell(stick, "cat /tmp/facts/one.txt") == "one"


async def test_a_folder_with_names_of_any_kind_goes_and_comes_whole(router: Rig, stick: str) -> None:
    names = ["new\nline", "u\u2028x", "quo\"te'x", "-dash/-r", " led ", "$(id)", "日本/語"]
    for name in names:
        file = router.folder / "there" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    await router.shell(stick, "rm -rf /tmp/facts")
    await router.do("files", device=stick, action="push", hostPath="there", devicePath="/tmp/facts")
    answer = await router.do("files", device=stick, action="pull", devicePath="/tmp/facts", hostPath="back")
    assert answer.data["files"] == len(names)
    assert {name: (router.folder / "back" / name).read_text() for name in names} == {name: name for name in names}


# --- what there is not ---


async def test_what_the_platform_has_not_is_refused_with_the_reason(router: Rig, stick: str) -> None:
    cases: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("clipboard", "no tool that reads", {}),
        ("orientation", "never turned", {}),
        ("press", "ignore touch", {"x": 10, "y": 10}),
    )
    for command, word, arguments in cases:
        answer = await router.do(command, device=stick, expect="unsupported", **arguments)
        assert answer.error is not None
        assert any(word in reason for reason in answer.error.details["missing"].values()), answer.error.details


# --- what was sent and not answered ---


@pytest.mark.parametrize("fault", ["toolkit_cut", "toolkit_hang"])
async def test_what_the_toolkit_did_not_answer_is_not_known_to_have_been_done(
    lab: Lab, router: Rig, stick: str, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(Reach.ask, "__kwdefaults__", {"deadline": 2.0})
    await router.open(stick, "form")
    await lab.fault(stick, fault, match="click", times=1)
    answer = await router.do("press", device=stick, target="General", expect="outcome_unknown")
    assert answer.error is not None and not answer.error.retryable


async def test_a_key_that_was_not_answered_is_not_known_to_have_been_pressed(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await lab.fault(stick, "toolkit_cut", match="injectInputKeyEvent", times=1)
    await router.do("tv-remote", device=stick, button="select", expect="outcome_unknown")


async def test_a_program_that_was_not_answered_is_not_known_to_have_acted(lab: Lab, stick: str) -> None:
    held = Reach(AdbDevice(AdbServer("127.0.0.1", lab.port), stick))
    words = (("vmsgr", "send", "pkg://x"), ("vpm", "install", "/tmp/x"), ("vlcm", "terminate-app", "--pkg-id", "x"))
    for name, *rest in words:
        await lab.fault(stick, "hang", match=name, times=1)
        with pytest.raises(OutcomeUnknown) as caught:
            await held.act(name, *rest, deadline=1.0)
        assert caught.value.details["sent"] == name


async def test_what_could_not_be_removed_is_removed_with_the_next_copy(lab: Lab, router: Rig, stick: str) -> None:
    (router.folder / "one.txt").write_text("one")
    given = {"device": stick, "action": "push", "hostPath": "one.txt", "devicePath": "/tmp/one.txt"}
    await lab.fault(stick, "hang", match="rm -rf /tmp/anydevice-", times=1)
    await router.do("files", **given)
    assert await router.shell(stick, LEFT) != "", "it stayed behind"
    await router.do("files", **given)
    assert await router.shell(stick, LEFT) == ""
