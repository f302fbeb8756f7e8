"""What is in front: on each display, and with a dialog that waits in an app behind it."""

from __future__ import annotations

import pytest

from anydevice_android.reading.focus import displays
from anydevice_android.reading.windows import waiting
from anydevice_lab.android import Lab

from .rig import PRACTICE, Rig

pytestmark = pytest.mark.anyio
SETTINGS = "com.android.settings"


async def test_a_foldable_tells_what_is_in_front_on_each_display(lab: Lab, router: Rig) -> None:
    (fold,) = await lab.start("foldable")
    try:
        await router.open(fold)
        state = (await router.do("appstate", device=fold)).data
        assert state["app"] == PRACTICE
        assert [(row["display"], row["app"]) for row in state["displays"]] == [
            (0, "com.android.systemui"), (2, PRACTICE),
        ]  # fmt: skip
    finally:
        await lab.stop(fold)


async def test_a_device_with_one_display_does_not_list_it(router: Rig, phone: str) -> None:
    await router.open(phone)
    assert "displays" not in (await router.do("appstate", device=phone)).data


async def test_a_dialog_behind_another_app_is_told_and_answered_once_its_app_is_in_front(
    router: Rig, phone: str
) -> None:
    await router.open(phone, "alerts")
    assert "dialogsBehind" not in (await router.do("appstate", device=phone)).data
    await router.do("press", device=phone, target="Show confirm")
    state = (await router.do("appstate", device=phone)).data
    assert state["dialog"]["kind"] == "confirm" and "dialogsBehind" not in state
    await router.do("shell", device=phone, commandLine=f"am start -n {SETTINGS}/.Settings")
    state = (await router.do("appstate", device=phone)).data
    assert (state["app"], state.get("dialog"), state["dialogsBehind"]) == (SETTINGS, None, [PRACTICE])
    assert (await router.do("alert", device=phone)).data == {"open": False}
    await router.do("alert", device=phone, action="accept", expect="action_unverified")
    await router.do("snapshot", device=phone)
    await router.do("shell", device=phone, commandLine=f"am start -n {PRACTICE}/.MainActivity")
    answer = await router.do("alert", device=phone, action="accept")
    assert answer.verified and answer.data["open"] is False
    assert "dialogsBehind" not in (await router.do("appstate", device=phone)).data


def test_windows_that_are_seen_or_no_dialogs_or_of_the_app_in_front_wait_for_nobody() -> None:
    def window(number: int, package: str, kind: str, *rest: str) -> str:
        lines = [
            f"  Window #{number} Window{{c838db{number} u0 {package}/{package}.Main}}:",
            f"    mOwnerUid=10178 showForAllUsers=false package={package} appop=NONE",
            f"    mAttrs={{(0,0)(fillxfill) sim={{adjust=nothing}} ty={kind} wanim=0x10302fd", *rest,
        ]  # fmt: skip
        return "\n".join(lines) + "\n"

    text = (
        window(1, "a.front", "APPLICATION", "    isVisible=true")
        + window(2, "a.front", "APPLICATION", "    isVisible=false")
        + window(3, "b.behind", "BASE_APPLICATION", "    isVisible=false")
        + window(4, "c.waits", "APPLICATION", "    mViewVisibility=0x8 mHaveFrame=true", "    isVisible=false")
        + window(5, "c.waits", "APPLICATION", "    isVisible=false")
        + window(6, "d.old", "APPLICATION", "    mViewVisibility=0x8 mHaveFrame=true")
        + window(7, "e.seen", "APPLICATION", "    mViewVisibility=0x0 mHaveFrame=true")
    )
    assert waiting(text, "a.front") == ["c.waits", "d.old"]
    assert waiting("", "a.front") == []


def test_focus_is_told_for_each_display_by_its_own_lines() -> None:
    text = (
        "  Display: mDisplayId=0 rootTasks=3\n    mCurrentFocus=null\n    mFocusedApp=null\n"
        "  Display: mDisplayId=4 (organized)\n    mCurrentFocus=Window{5e9b13b u0 a.b/a.b.Main}\n"
        "    mFocusedApp=ActivityRecord{a646676 u0 a.b/.Main t285}\n"
    )
    found = displays(text)
    assert found[0] is None and found[4] is not None and (found[4].app, found[4].activity) == ("a.b", "a.b.Main")
    assert displays("mCurrentFocus=Window{5e9b13b u0 a.b/a.b.Main}\n") == {}
