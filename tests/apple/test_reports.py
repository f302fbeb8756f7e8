"""What was reported of other tools on Apple devices does not happen here; each test says what was reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.driver import Power
from anydevice_lab.apple import Lab
from anydevice_schemas.errors import OutcomeUnknown, UpstreamUnavailable

from .rig import PRACTICE, Rig, eventually, programs, rig

pytestmark = pytest.mark.anyio


async def test_no_call_reaches_another_device(lab: Lab, router: Rig, phone: str) -> None:
    """The first booted one was taken, and every swipe "succeeded" (ios-simulator-skill#94, Maestro#3480)."""
    (other,) = await lab.start("iphone")
    try:
        await router.open(other)
        await router.open(phone)
        await lab.journal(other, clear=True)
        answer = await router.do("press", device=phone, target="Increment")
        assert answer.device is not None and (answer.device.id, answer.device.name) == (phone, "iPhone 17")
        assert await lab.journal(phone, "tap") and not await lab.journal(other)
    finally:
        await lab.stop(other)


async def test_a_press_on_a_mini_lands_on_the_element(lab: Lab, tmp_path: Path) -> None:
    """Raw touches are measured in another space on models that are scaled down (sim-use#90, WebDriverAgent#1035)."""
    async with Lab() as own, rig(own, tmp_path / "home") as router:
        (mini,) = await own.start("iphone-mini")
        await router.open(mini)
        await router.do("press", target="Increment")
        assert await router.text("Count") == "1"
        await own.fault(mini, "touch_infinity")
        told = await router.refused("invalid_argument", "press", target="Increment")
        assert "INFINITY" in told["said"]


async def test_in_landscape_elements_are_where_they_are_seen(lab: Lab, router: Rig, phone: str) -> None:
    """Touches went elsewhere in landscape (AXe#5, sim-use#34, #38, agent-device#1511)."""
    await router.open(phone)
    await router.do("orientation", value="landscape-left")
    try:
        shot = await router.do("screenshot")
        assert (shot.data["width"], shot.data["height"]) == (874, 402)
        await router.do("press", target="Increment")
        assert await router.text("Count") == "1"
    finally:
        await router.do("orientation", value="portrait")


async def test_what_the_keyboard_hides_is_not_pressed_through_it(
    lab: Lab, router: Rig, phone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key was pressed in place of what lies under it (agent-device#2589, #2602; appium#15073)."""
    monkeypatch.setattr("anydevice_apple.keys.GONE", 0.5)  # one that stays is waited for in vain
    await router.open(phone, "form")
    await router.do("fill", target="Name", text="Ada")
    await lab.fault(phone, "keyboard_stays")
    told = await router.refused("element_covered", "press", target="Submit", timeoutMs=0)
    assert told["cover"].startswith("keyboard")
    assert await router.text("Name") == "Ada"
    told = await router.refused("action_unverified", "keyboard", action="dismiss")
    await lab.clear(phone)
    answer = await router.do("press", target="Submit")  # it is taken away, and told
    assert "keyboard_dismissed" in str(answer.notices)


async def test_a_question_of_the_system_is_told_at_once_and_never_answered_unasked(
    lab: Lab, router: Rig, phone: str
) -> None:
    """A look took 39 s behind an alert, or the alert was accepted (agent-device#38, #1244, #1248)."""
    await router.open(phone)
    await lab.fault(phone, "alert_stall", seconds=25.0)
    await lab.ask_alert(phone, "“Practice” Would Like to Use Your Current Location", "Allow", "Don’t Allow")
    try:
        with anyio.fail_after(20):
            told = await router.refused("dialog_open", "snapshot")
        assert "Location" in told["text"] and len(told["buttons"]) == 2 and told["kind"] == "permission"
        assert (await lab.state(phone))["system_alert"] is True
    finally:
        await lab.clear(phone)
        await router.do("alert", action="dismiss")
    assert (await lab.state(phone))["system_alert"] is False


async def test_one_question_after_the_other_is_told_each_time_anew(lab: Lab, router: Rig, phone: str) -> None:
    """The second alert was looked for where the first had been (auto-mobile#1163)."""
    await router.open(phone)
    for what in ("Location", "Contacts"):
        await lab.ask_alert(phone, f"“Practice” Would Like to Use Your {what}", "Allow", f"No {what}")
        told = await router.refused("dialog_open", "press", target="Increment")
        assert what in told["text"] and f"No {what}" in told["buttons"]
        await router.do("alert", action="dismiss")
    await router.do("press", target="Increment")
    assert await router.text("Count") == "1"


async def test_a_state_that_cannot_be_read_is_not_taken_for_one(lab: Lab, router: Rig, phone: str) -> None:
    """A look at the state that failed was taken for Shutdown (auto-mobile#6411)."""
    (other,) = await lab.start("iphone")
    driver = await router.driver(other)
    said = "CoreSimulatorService connection interrupted.\n"
    await lab.fault("mac", "answer", match="simctl list", stderr=said, code=1)
    with pytest.raises(UpstreamUnavailable):
        await driver.identify()
    with pytest.raises(OutcomeUnknown):
        await driver.capability(Power).shutdown(deadline=2.0)
    await lab.clear("mac")
    assert (await router.device(other))["state"] == "shutdown"
    await lab.stop(other)


async def test_a_press_that_does_nothing_is_not_called_a_success(lab: Lab, router: Rig, phone: str) -> None:
    """Touches are accepted and do nothing (claude-code#95466, XcodeBuildMCP#537, xcuitest-driver#2532)."""
    await router.open(phone, "form")
    await lab.fault(phone, "touch_ignored")
    answer = await router.do("press", target="label=Wi-Fi role=switch", expect=None)
    assert answer.verified is not True and (answer.error is not None or answer.data["changed"] is False)


async def test_text_that_arrives_otherwise_is_told(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await lab.fault(phone, "text_lost")
    told = await router.refused("action_unverified", "fill", target="Name", text="abcdef")
    assert (told["expected"], told["actual"]) == ("abcdef", "ace")


@pytest.mark.parametrize("kind", ["hang", "first_launch"])
async def test_a_program_that_never_answers_is_ended_with_all_it_started(
    lab: Lab, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """simctl hangs for ever without a terminal (slicc#3391, xctool#642); SIGTERM does not end it."""
    monkeypatch.setattr("anydevice_apple.backend.LIST_WITHIN", 1.0)
    monkeypatch.setattr("anydevice_apple.backend.HELP_WITHIN", 1.0)
    async with Lab() as own, rig(own, tmp_path / "home", devices=False) as router:
        await own.start("iphone")
        await own.fault("mac", kind, **({"match": "simctl"} if kind == "hang" else {}))
        checks = await router.do("doctor")
        said = str(checks.data)
        assert "runFirstLaunch" in said


async def test_a_child_that_was_left_behind_does_not_hold_the_answer(lab: Lab, router: Rig, phone: str) -> None:
    await lab.fault("mac", "leak", match="listapps", seconds=30.0)
    with anyio.fail_after(15):
        await router.do("apps", device=phone)


async def test_a_tree_that_is_too_deep_is_read_as_far_as_it_goes_and_said_to_be_cut(
    lab: Lab, router: Rig, phone: str
) -> None:
    """It is told as a stale application (WebDriverAgent#542, #749, appium#16336)."""
    await router.open(phone)
    await lab.fault(phone, "deep", code=70)
    answer = await router.do("snapshot", mode="full")
    assert answer.data["quality"] == "truncated"


async def test_a_tree_of_one_node_is_no_empty_screen(lab: Lab, router: Rig, phone: str) -> None:
    """describe-all gives one node (facebook/idb#964)."""
    await router.open(phone)
    await lab.fault(phone, "source_sparse")
    assert (await router.do("snapshot")).data["quality"] == "degraded"


@pytest.mark.parametrize("fault", ["source_legacy", "label_text"])
async def test_sources_of_other_builds_are_read(lab: Lab, router: Rig, phone: str, fault: str) -> None:
    await router.open(phone, "form")
    await lab.fault(phone, fault)
    assert "Sign in with Apple" in (await router.do("snapshot", mode="full")).data["text"]


async def test_what_was_typed_into_a_secure_field_is_told_nowhere(lab: Lab, router: Rig, phone: str) -> None:
    """Fields carry their text in the label, and have no value."""
    await router.open(phone, "form")
    await lab.fault(phone, "label_text")
    await router.do("fill", target="Password", text="hunter2!")
    answer = await router.do("snapshot", mode="full")
    assert "hunter2" not in str(answer.data)


async def test_a_container_that_says_all_of_what_is_in_it_is_no_target(lab: Lab, router: Rig, phone: str) -> None:
    """React Native puts the labels of all children on one node over the screen (appium#16336)."""
    await router.open(phone)
    await lab.fault(phone, "joined_label")
    answer = await router.do("press", target="Increment")
    assert answer.data["element"]["role"] == "button"
    assert await router.text("id=home.count") == "1"


async def test_a_session_that_another_program_took_is_told_and_what_acts_is_not_repeated(
    lab: Lab, router: Rig, phone: str
) -> None:
    """A new session ends the one before it, whoever made it."""
    await router.open(phone)
    await lab.fault(phone, "session_lost", match="/wda/tap", times=1)
    told = await router.refused("upstream_unavailable", "press", target="Increment")
    assert told["reason"] == "session_taken" and not await lab.journal(phone, "tap")
    await router.do("press", target="Increment")
    assert await router.text("Count") == "1"


async def test_an_answer_that_was_lost_is_an_unknown_outcome(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await lab.fault(phone, "wda_cut", match="/wda/tap", times=1)
    await router.refused("outcome_unknown", "press", target="Increment")
    assert await router.text("Count") == "1"


async def test_an_agent_that_died_is_started_anew(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await lab.fault(phone, "wda_dies", match="/source", times=1)
    await router.do("snapshot", expect=None)
    answer = await eventually(lambda: _ok(router))
    assert answer


async def _ok(router: Rig) -> bool:
    return (await router.do("snapshot", expect=None)).ok


async def test_a_screen_that_cannot_be_captured_is_told_in_the_agents_words(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await lab.fault(phone, "screen_unseen")
    told = await router.refused("upstream_unavailable", "screenshot")
    assert (told["upstream"], told["reason"]) == ("WebDriverAgent", "unable to capture screen") and told["said"]
    assert not await programs(lab, "screenshot")  # simctl's picture would not be turned as the screen is
    await lab.clear(phone)
    assert (await router.do("screenshot")).artefacts


async def test_a_file_without_a_picture_in_it_is_none(
    lab: Lab, phone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """simctl says that it was written, and leaves with 0."""
    monkeypatch.setenv("PATH", lab.environment["PATH"])
    async with rig(lab, tmp_path / "home", engine="axe") as by_axe:
        await by_axe.do("open", device=phone, app=PRACTICE)
        await lab.fault(phone, "screenshot_empty")
        told = await by_axe.refused("upstream_unavailable", "screenshot")
        assert told["upstream"] == "simctl io" and "Wrote screenshot" in told["said"]
        await lab.clear(phone)
        assert (await by_axe.do("screenshot")).artefacts


async def test_uninstalling_what_is_not_there_is_no_success(lab: Lab, router: Rig, phone: str) -> None:
    """simctl says yes either way."""
    await router.do("open", device=phone, app=PRACTICE)
    asked: dict[str, Any] = await router.refused("confirmation_required", "uninstall", app="com.example.gone")
    await router.refused("app_not_found", "uninstall", app="com.example.gone", confirmToken=asked["token"])
    assert not await programs(lab, "uninstall")


async def test_a_recording_is_ended_as_the_recorder_wants_it(lab: Lab, router: Rig, phone: str) -> None:
    """Ended by SIGTERM a file is unplayable; ended before it began there is none."""
    await router.open(phone)
    await lab.fault(phone, "recorder_late", seconds=0.7)
    await router.do("record", action="start")
    await router.do("press", target="Increment")
    done = await router.do("record", action="stop")
    assert done.artefacts and done.data["seconds"] >= 0


async def test_a_rotation_that_is_refused_is_told(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await lab.fault(phone, "rotation_fails")
    told = await router.refused("upstream_unavailable", "orientation", value="landscape-left")
    assert told["said"] == "Unable To Rotate Device"
    assert (await lab.state(phone))["orientation"] == "PORTRAIT"
    assert (await router.do("orientation")).data["value"] == "portrait"


async def test_an_app_that_died_is_told_and_not_the_home_screen_in_its_place(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "busy")
    await router.do("press", target="Crash", expect=None)
    told = await router.refused("app_crashed", "snapshot")
    assert told["app"] == PRACTICE
    await router.open(phone)
    await router.do("press", target="Increment")
