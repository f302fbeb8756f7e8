"""Screens that are turned, measured anew, locked, dark, or never at rest.

Judged by what the lab's device saw and has, not by our own answers.
"""

from __future__ import annotations

import pytest

from anydevice_android.reading import screens
from anydevice_lab.android import Lab

from .rig import PRACTICE, Rig

pytestmark = pytest.mark.anyio


def test_measures_of_the_display_go_by_what_is_drawn_now() -> None:
    plain = "  Display: mDisplayId=0\n    init=1080x2400 420dpi cur=2400x1080 app=2400x1080 rng=1x2-3x4\n"
    assert screens.current(plain) == screens.ScreenSize(1080, 2400, 420)
    other = "    init=1080x2400 420dpi base=720x1280 320dpi cur=720x1280 app=720x1200\n"
    assert screens.current(other) == screens.ScreenSize(720, 1280, 320)
    newer = "    init=1080x2400 420dpi mMinSizeOfResizeableTaskDp=220 cur=1080x2400 app=1080x2400\n"
    assert screens.current(newer) == screens.ScreenSize(1080, 2400, 420)
    assert screens.current("mCurrentFocus=null") is None


async def test_points_go_by_the_density_and_size_there_are_now(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await router.do("snapshot", device=phone)
    for line, width, scale in (
        ("wm density 560", 1080, 3.5), ("wm size 720x1280", 720, 3.5), ("wm size reset; wm density reset", 1080, 2.625)
    ):  # fmt: skip
        await router.do("shell", device=phone, commandLine=line)
        taken = await router.do("snapshot", device=phone)
        assert f"{width / scale:g}" in taken.data["text"].partition("\n")[0]
        picture = (await router.do("screenshot", device=phone)).data
        assert (picture["width"], picture["scale"]) == (width, scale)
        before = (await router.do("get", device=phone, target="Count", what="attrs")).data["element"]["value"]
        await router.do("press", device=phone, target="Increment")
        after = (await router.do("get", device=phone, target="Count", what="attrs")).data["element"]["value"]
        assert int(after) == int(before) + 1


async def test_a_press_hits_however_the_device_is_turned(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    for turn in (1, 2, 3, 0):
        await router.do("snapshot", device=phone)
        await lab.set(phone, rotation=turn)
        before = (await router.do("get", device=phone, target="Count", what="attrs")).data["element"]["value"]
        await router.do("press", device=phone, target="Increment")
        after = (await router.do("get", device=phone, target="Count", what="attrs")).data["element"]["value"]
        assert int(after) == int(before) + 1


async def test_a_screen_that_never_rests_can_be_left(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await lab.fault(phone, "idle", seconds=0.1)
    await lab.journal(phone, clear=True)
    answer = await router.do("back", device=phone)
    assert answer.verified is True
    assert len(await lab.journal(phone, "key")) == 1
    assert not (await lab.state(phone))["front"].startswith(PRACTICE)


async def test_an_app_behind_the_lock_screen_is_not_called_open(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    assert (await router.do("appstate", device=phone)).data["locked"] is False
    await lab.set(phone, locked=True)
    try:
        assert (await router.do("appstate", device=phone)).data["locked"] is True
        await router.do("open", device=phone, app=PRACTICE, expect="device_not_ready")
    finally:
        await lab.set(phone, locked=False)
    await router.do("open", device=phone, app=PRACTICE)


async def test_an_app_on_a_dark_screen_is_not_called_open_and_the_hint_works(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    await lab.set(phone, awake=False)
    try:
        refused = await router.do("open", device=phone, app=PRACTICE, expect="device_not_ready")
        assert refused.error is not None and "key chord=wakeup" in refused.error.hint
        await router.do("key", device=phone, chord="wakeup")
        assert (await lab.state(phone))["awake"] is True
    finally:
        await lab.set(phone, awake=True)
    assert (await router.do("open", device=phone, app=PRACTICE)).verified is True


async def test_the_app_switcher_is_seen_from_the_home_screen_too(router: Rig, phone: str) -> None:
    await router.do("home", device=phone)
    assert (await router.do("app-switcher", device=phone)).verified is True


@pytest.mark.parametrize("kind", ["old-phone", "ancient-phone"])
async def test_a_field_is_filled_where_no_chord_can_be_pressed(lab: Lab, router: Rig, kind: str) -> None:
    (serial,) = await lab.start(kind)
    await router.devices()
    await router.do("open", device=serial, app=f"{PRACTICE}/.MainActivity", arguments=["--screen", "form"], new=True)
    for target, text in (("Name", "Ada Lovelace"), ("Name", "Bob"), ("Name", ""), ("Notes", "a\nbc"), ("Notes", "d")):
        await router.do("fill", device=serial, target=target, text=text)
        told = await router.do("get", device=serial, target=target, what="attrs")
        assert told.data["element"].get("value", "") == text
    await router.do("fill", device=serial, target="Password", text="first")
    await router.do("fill", device=serial, target="Password", text="second")
    seen = await router.do("shell", device=serial, commandLine="uiautomator dump /sdcard/x.xml; cat /sdcard/x.xml")
    assert f'"{"•" * 6}"' in seen.data["stdout"]
    await router.do("key", device=serial, chord="ctrl+c", expect="unsupported")


async def test_a_question_which_app_takes_a_link_is_not_called_open(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone)
    asks = "com.android.intentresolver/com.android.intentresolver.ResolverActivity"
    said = f"Starting: Intent {{ act=x }}\nStatus: ok\nActivity: {asks}\n"
    await lab.fault(phone, "answer", match="am start", text=said)
    await lab.fault(phone, "answer", match="dumpsys window displays", text=f"mCurrentFocus=Window{{1 u0 {asks}}}\n")
    answer = await router.do("open", device=phone, url="practice:///?screen=home", expect="action_unverified")
    assert answer.error is not None and answer.error.details["chooser"] is True


async def test_home_is_seen_on_an_android_that_does_not_name_its_launcher(lab: Lab, router: Rig) -> None:
    (old,) = await lab.start("ancient-phone")
    await router.devices()
    await router.do("open", device=old, app=f"{PRACTICE}/.MainActivity")
    assert (await router.do("home", device=old)).verified is True
    await router.do("clipboard", device=old, action="read", expect="unsupported")
