"""Keys: two roads that may say success and reach nothing, buttons held, text, and what a TV has no fingers for."""

from __future__ import annotations

import pytest

from anydevice_lab.vega import Lab

from .rig import PRACTICE, Rig, asked, keys, programs

pytestmark = pytest.mark.anyio


async def focused(router: Rig, device: str) -> str:
    """The id of what has the focus."""
    answer = await router.do("snapshot", device=device, responseLevel="full", mode="full")
    held = [node for node in answer.data["tree"] if "focused" in node.get("states", ())]
    return str(held[-1]["identifier"]) if held else ""


# --- the remote control ---


async def test_a_press_says_that_it_was_seen_to_work(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await lab.journal(stick, clear=True)
    answer = await router.do("tv-remote", device=stick, button="down")
    assert answer.verified and answer.data["changed"] is True
    assert [name for name, _ in await keys(lab, stick)] == ["KEY_DOWN"]


async def test_select_is_enter_and_home_is_the_home_page(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await router.do("focus", device=stick, target="Increment")
    await lab.journal(stick, clear=True)
    await router.do("tv-remote", device=stick, button="select")
    assert await router.text(stick, "Count") == "1"
    await router.do("home", device=stick)
    assert [name for name, _ in await keys(lab, stick)] == ["KEY_ENTER", "KEY_HOMEPAGE"]
    assert (await lab.state(stick))["front"].startswith("com.amazon.keplerlauncherapp")


async def test_a_button_is_held_for_as_long_as_it_is_told_to(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await lab.journal(stick, clear=True)
    await router.do("tv-remote", device=stick, button="down", durationMs=700)
    assert await keys(lab, stick) == [("KEY_DOWN", 0.7)]


async def test_a_press_that_does_nothing_is_not_called_seen(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    answer = await router.do("tv-remote", device=stick, button="mute")
    assert answer.verified is False


async def test_a_screen_that_moves_by_itself_is_no_evidence(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick, "busy")
    await router.do("tv-remote", device=stick, button="down")
    assert (await router.do("tv-remote", device=stick, button="mute")).verified is False


# --- roads ---


@pytest.mark.parametrize("fault", ["inject_ignored", "inputd_ignored"])
async def test_an_arrow_that_one_road_swallows_goes_by_the_other(lab: Lab, router: Rig, stick: str, fault: str) -> None:
    """Reported: inputd-cli says success and reaches no app."""
    await router.open(stick)
    await lab.fault(stick, fault)
    for _ in range(2):
        assert (await router.do("tv-remote", device=stick, button="down")).verified
    assert [name for name, _ in await keys(lab, stick)].count("KEY_DOWN") == 2


async def test_a_key_that_may_do_something_is_not_pressed_twice(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await router.do("focus", device=stick, target="Increment")
    await lab.fault(stick, "inject_ignored", match="KEY_ENTER")
    await lab.journal(stick, clear=True)
    answer = await router.do("tv-remote", device=stick, button="select")
    assert answer.verified is False
    assert (await asked(lab, stick)).count("injectInputKeyEvent") == 1 and not await programs(lab, stick, "inputd-cli")


async def test_a_home_button_without_effect_is_helped_by_the_systems_address(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await lab.fault(stick, "home_ignored")
    answer = await router.do("home", device=stick)
    assert answer.verified and ["vmsgr", "send", "os://home"] in await programs(lab, stick, "vmsgr")


async def test_keys_reach_an_app_that_was_started_without_the_toolkit(lab: Lab, router: Rig, stick: str) -> None:
    await lab.ask("set", serial=stick, awake=True)
    await router.shell(stick, f"rm -f /tmp/automation-toolkit.enable; vlcm terminate-app --pkg-id {PRACTICE} --force")
    await router.shell(stick, f"vmsgr send 'pkg://{PRACTICE}.main?screen=home'")
    await lab.journal(stick, clear=True)
    answer = await router.do("tv-remote", device=stick, button="down")
    assert answer.verified is False and answer.data.get("changed") is None
    assert [name for name, _ in await keys(lab, stick)] == ["KEY_DOWN"]
    refused = await router.do("snapshot", device=stick, expect="device_not_ready")
    assert refused.error is not None and refused.error.details["reason"] == "toolkit_off" and refused.error.hint


async def test_without_developer_mode_keys_still_go_by_the_toolkit(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick)
    await lab.set(stick, developer=False)
    try:
        assert (await router.do("tv-remote", device=stick, button="down")).verified
    finally:
        await lab.set(stick, developer=True)


async def test_where_no_road_is_left_it_says_what_to_switch_on(lab: Lab, router: Rig) -> None:
    fresh = (await lab.start("stick"))[0]  # no app was started, so the toolkit does not listen
    await lab.set(fresh, developer=False)
    answer = await router.do("tv-remote", device=fresh, button="down", expect="permission_missing")
    assert answer.error is not None and "developer" in answer.error.details["fix"]
    await lab.stop(fresh)


# --- text ---


async def test_text_of_any_kind_arrives_as_it_is(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick, "form")
    for text in ("plain", "Grüße 日本 🎉", "quo\"te \\ $HOME `x` '", " spaces  kept "):
        answer = await router.do("fill", device=stick, target="Name", text=text)
        assert answer.verified and await router.text(stick, "Name") == text


async def test_text_that_is_lost_is_not_called_written(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick, "form")
    await lab.fault(stick, "text_lost")
    await router.do("fill", device=stick, target="Name", text="x", expect="action_unverified")


async def test_enter_on_a_field_is_the_fields_own(lab: Lab, router: Rig, stick: str) -> None:
    await router.open(stick, "echo")
    await router.do("type", device=stick, target="Type here", text="x")
    await router.do("key", device=stick, chord="enter")
    assert "showKeyboard" in await asked(lab, stick) and (await lab.state(stick))["keyboard"] is False


async def test_a_slider_is_turned_arrow_by_arrow_and_stops_where_it_cannot_get(
    lab: Lab, router: Rig, stick: str
) -> None:
    await router.open(stick, "form")
    await router.do("fill", device=stick, target="Volume", text="65")
    assert await router.text(stick, "Volume") == "65"
    await router.do("fill", device=stick, target="Volume", text="67", expect="action_unverified")


# --- fingers ---


@pytest.mark.parametrize(
    ("command", "arguments"),
    [("gesture", {"kind": "swipe", "direction": "left"}), ("gesture", {"kind": "pinch", "scale": 2.0}),
     ("press", {"x": 100, "y": 100})],
)  # fmt: skip
async def test_gestures_of_fingers_are_refused_with_what_a_tv_has_instead(
    lab: Lab, router: Rig, stick: str, command: str, arguments: dict[str, object]
) -> None:
    await router.open(stick)
    await lab.journal(stick, clear=True)
    answer = await router.do(command, device=stick, expect="unsupported", **arguments)
    assert answer.error is not None and "tv-remote" in answer.error.hint
    assert not await keys(lab, stick) and "perform" not in await asked(lab, stick)
