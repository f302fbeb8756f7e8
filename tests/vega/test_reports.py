"""Failures that users of other tools reported, each with the right answer; judged by what the lab's device saw."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pictures

from anydevice_lab.vega import Lab, write_vpkg
from anydevice_schemas import Answer

from .rig import FLAG, PRACTICE, Rig, asked, keys, programs

pytestmark = pytest.mark.anyio
MAIN = f"{PRACTICE}.main"


def reason(answer: Answer) -> Any:
    assert answer.error is not None
    return answer.error.details.get("reason")


async def closed(router: Rig, device: str) -> None:
    await router.shell(device, f"vlcm terminate-app --pkg-id {PRACTICE} --force 2>/dev/null; true")


# --- launching ---


async def test_the_toolkits_flag_is_there_before_the_app_is_launched(lab: Lab, router: Rig) -> None:
    fresh = (await lab.start("stick"))[0]
    await router.open(fresh)
    sent = [entry["line"] for entry in await lab.journal(fresh, "shell") if "vmsgr send" in entry["line"]]
    assert sent and all(line.index(FLAG) < line.index("vmsgr") for line in sent)
    assert PRACTICE in (await lab.state(fresh))["told"]
    await lab.stop(fresh)


async def test_an_app_that_runs_without_the_toolkit_is_started_again_with_it(lab: Lab, router: Rig, stick: str) -> None:
    await closed(router, stick)
    await router.shell(stick, f"rm -f {FLAG}; vmsgr send 'pkg://{MAIN}?screen=home'")
    assert PRACTICE not in (await lab.state(stick))["told"]
    answer = await router.do("snapshot", device=stick, expect="device_not_ready")
    assert reason(answer) == "toolkit_off" and answer.error is not None and "open" in answer.error.hint
    await router.do("open", device=stick, app=PRACTICE)
    assert PRACTICE in (await lab.state(stick))["told"]
    await router.do("snapshot", device=stick)


async def test_the_home_screen_is_never_taken_for_an_app_that_cannot_be_seen(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)  # so the toolkit listens
    await closed(router, stick)
    await router.shell(stick, f"rm -f {FLAG}; vmsgr send 'pkg://{MAIN}?screen=home'")
    await router.do("snapshot", device=stick, expect="device_not_ready")
    assert (await router.do("appstate", device=stick)).data["app"] == PRACTICE
    await closed(router, stick)
    assert "Kepler" in (await router.do("snapshot", device=stick)).data["text"]


@pytest.mark.parametrize("seconds", [0.0, 0.5])
async def test_a_launch_that_crashes_is_no_success(lab: Lab, router: Rig, stick: str, seconds: float) -> None:
    await closed(router, stick)
    await lab.fault(stick, "crash_launch", match=PRACTICE, seconds=seconds, times=1)
    await router.do("open", device=stick, app=PRACTICE, expect="app_crashed")
    await router.open(stick)


async def test_an_app_that_crashes_while_it_loads_is_no_success(lab: Lab, router: Rig, stick: str) -> None:
    """Reported: the crash comes with the app's code, seconds after its empty window."""
    await closed(router, stick)
    await lab.fault(stick, "blank_launch", match=PRACTICE, seconds=30.0, times=1)
    await lab.fault(stick, "crash_launch", match=PRACTICE, seconds=2.5, times=1)
    await router.do("open", device=stick, app=PRACTICE, expect="app_crashed")
    await lab.fault(stick, "blank_launch", match=PRACTICE, seconds=1.5, times=1)
    await router.do("open", device=stick, app=PRACTICE)
    assert "Increment" in (await router.do("snapshot", device=stick)).data["text"]


async def test_a_crash_that_comes_later_is_told_with_the_next_look(lab: Lab, router: Rig, stick: str) -> None:
    await closed(router, stick)
    await lab.fault(stick, "crash_launch", match=PRACTICE, seconds=3.0, times=1)
    await router.do("open", device=stick, app=PRACTICE)
    answer = await router.do("wait", device=stick, target="No such thing", timeoutMs=15_000, expect="app_crashed")
    assert answer.error is not None and answer.error.hint
    await router.open(stick)


async def test_a_link_that_nobody_takes_is_told(lab: Lab, router: Rig, stick: str) -> None:
    await router.do("open", device=stick, url="nobody://takes/this", expect="app_not_found")
    await router.do("open", device=stick, app="com.example.absent", expect="app_not_found")


async def test_a_deep_link_arrives_and_the_app_still_runs(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick, "echo")
    answer = await router.do("open", device=stick, url="practice:///?screen=form")
    assert answer.verified and answer.data["app"] == PRACTICE
    assert "Password" in (await router.do("snapshot", device=stick)).data["text"]


# --- the transport ---


async def test_a_moment_offline_is_waited_for_and_asked_once_more(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await lab.offline(stick, 1.5)
    driver = await router.driver(stick)
    assert "Increment" in [node.name for node in (await driver.elements._reach.tree()).nodes]  # type: ignore[attr-defined]


async def test_a_device_that_stays_away_is_told_to_be_offline(lab: Lab, router: Rig) -> None:
    away = (await lab.start("stick"))[0]
    await router.open(away)
    await lab.stop(away)
    answer = await router.do("snapshot", device=away, expect="device_offline")
    assert answer.error is not None and answer.error.details["fix"]


# --- pictures ---


async def picture(router: Rig, device: str) -> bytes:
    answer = await router.do("screenshot", device=device)
    return Path(answer.artefacts[0].path).read_bytes()


async def test_a_picture_comes_by_another_way_where_the_toolkit_gives_none(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    with Pictures.open(io.BytesIO(await picture(router, stick))) as found:
        assert found.size == (1920, 1080)
    await lab.fault(stick, "toolkit_cut", match="takeScreenshot")
    with Pictures.open(io.BytesIO(await picture(router, stick))) as found:
        assert found.size == (1920, 1080)
    assert [words[0] for words in await programs(lab, stick, "gwsi-tool-screenshooter")] == ["gwsi-tool-screenshooter"]


async def test_an_empty_picture_is_no_picture(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await lab.fault(stick, "screenshot_empty")
    answer = await router.do("screenshot", device=stick, expect="upstream_unavailable")
    assert answer.error is not None and answer.error.details["said"].keys() == {"toolkit", "tool"}
    assert not await router.shell(stick, "ls /tmp | grep anydevice || true")


async def test_a_picture_of_a_virtual_device_comes_from_its_console(
    lab: Lab, router: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", lab.home)  # where the console's token is
    vvd = (await lab.start("vvd"))[0]
    await router.open("vvd:tv")
    await lab.fault(vvd, "toolkit_cut", match="takeScreenshot")
    with Pictures.open(io.BytesIO(await picture(router, "vvd:tv"))) as found:
        assert found.size == (1920, 1080)
    assert not await programs(lab, vvd, "gwsi-tool-screenshooter")  # there it only hangs
    await lab.stop(vvd)


# --- the toolkit ---


async def test_a_toolkit_that_never_answers_is_given_up_in_time(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await lab.fault(stick, "toolkit_hang", match="getPageSource", times=1)
    await router.do("snapshot", device=stick, expect="timeout")
    await router.do("snapshot", device=stick)


@pytest.mark.parametrize("fault", ["toolkit_cut", "ids_wrong"])
async def test_half_an_answer_is_not_called_success(lab: Lab, router: Rig, stick: str, fault: str) -> None:
    await router.open(stick)
    match = {"match": "click"} if fault == "toolkit_cut" else {}
    await lab.fault(stick, fault, **match)
    answer = await router.do("press", device=stick, target="Increment", expect=None)
    assert not answer.ok
    await lab.clear(stick)
    assert await router.text(stick, "Count") in ("0", "1")


async def test_a_cursor_that_is_told_by_selection_only_is_followed(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await lab.fault(stick, "focus_by_selected")
    assert (await router.do("tv-remote", device=stick, button="down")).verified


async def test_a_page_source_without_a_declaration_is_read(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await lab.fault(stick, "undeclared")
    assert "Increment" in (await router.do("snapshot", device=stick)).data["text"]


# --- installing ---


async def test_an_install_that_fails_in_its_second_phase_failed(
    lab: Lab, router: Rig, stick: str, tmp_path: Path
) -> None:
    write_vpkg(tmp_path / "app.vpkg", "com.example.app")
    await lab.fault(stick, "install", match="com.example.app", times=1)
    answer = await router.do("install", device=stick, path=str(tmp_path / "app.vpkg"), expect="refused")
    assert answer.error is not None and "failed" in answer.error.details["said"]
    done = await router.do("install", device=stick, path=str(tmp_path / "app.vpkg"))
    assert done.verified and done.data["app"] == "com.example.app"
    again = await router.do("install", device=stick, path=str(tmp_path / "app.vpkg"))
    assert (again.data["app"], again.data["updated"]) == ("com.example.app", True)
    assert not await router.shell(stick, "ls /tmp/*.vpkg 2>/dev/null || true")


# --- words ---

NASTY = "x'; touch /tmp/pwned; echo $(touch /tmp/pwned) `touch /tmp/pwned` \"; rm -rf /tmp/keep; '"


async def test_no_word_is_read_by_a_shell(lab: Lab, router: Rig, stick: str, tmp_path: Path) -> None:
    """Reported: `vega exec` expands quotes and variables once more, on the host."""
    await router.open(stick, "form")
    await router.do("fill", device=stick, target="Name", text=NASTY)
    assert await router.text(stick, "Name") == NASTY
    for call, arguments in (
        ("open", {"app": f"com.example.{NASTY}"}), ("open", {"app": PRACTICE, "arguments": ["--screen", NASTY]}),
        ("uninstall", {"app": NASTY}), ("close", {"app": NASTY}),
        ("vega-config", {"name": f"system/{NASTY}"}), ("vega-config", {"name": "system/locale", "value": NASTY}),
    ):  # fmt: skip
        await router.do(call, device=stick, expect=None, **arguments)
    (row,) = [row for row in await lab.devices() if row["serial"] == stick]
    assert not Path(row["root"], "tmp", "pwned").exists() and not Path("/tmp/pwned").exists()
    assert not [entry for entry in await lab.calls() if entry["args"][:1] == ["exec"]]


# --- steps that need not be slow ---


async def test_no_step_calls_the_sdks_program(lab: Lab, router: Rig, stick: str) -> None:
    """Reported: every call of `vega` takes 1.6 to 1.8 s; a step has to need none."""
    await router.devices()
    await lab.calls(clear=True)
    await router.open(stick)
    await router.do("press", device=stick, target="Increment")
    await router.do("tv-remote", device=stick, button="down")
    await router.do("appstate", device=stick)
    await router.do("screenshot", device=stick)
    assert await lab.calls() == [] and await keys(lab, stick) and "click" in await asked(lab, stick)
