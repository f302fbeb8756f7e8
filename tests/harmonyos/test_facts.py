"""Cases of the facts that broke the backend when it was driven from outside: files, shells, places, screens."""

from __future__ import annotations

import os
from typing import Any

import anyio
import pytest

from anydevice_harmonyos.reach import View
from anydevice_harmonyos.reading import display
from anydevice_lab.harmonyos import Lab, write_hap
from anydevice_schemas import Point
from anydevice_schemas.errors import (
    CallTimeout,
    DeviceNotReady,
    DeviceOffline,
    InvalidArgument,
    OutcomeUnknown,
    UpstreamUnavailable,
)

from .rig import PRACTICE, Rig, eventually, hdc, lines, reach

pytestmark = pytest.mark.anyio
FOLDER = "/data/local/tmp/facts"
RENDER = "hidumper -s RenderService -a screen"
OTHERS_DARK = (
    "-- ScreenInfo\nscreen[0]: id=0, powerStatus=POWER_STATUS_OFF, backlight=0, screenType=EXTERNAL_TYPE, "
    "render resolution=0x0, physical resolution=0x0, isVirtual=false\n"
    "-- ScreenInfo\nscreen[1]: id=5, powerStatus=POWER_STATUS_ON, backlight=1, screenType=EXTERNAL_TYPE, "
    "render resolution=1260x2720, physical resolution=1260x2720, isVirtual=false\n"
    "-- ScreenInfo\nscreen[2]: id=9, render resolution=0x0, isVirtual=true\n"
)


async def shell(router: Rig, device: str, line: str) -> str:
    return str((await router.do("shell", device=device, commandLine=line)).data["stdout"])


# --- files ---


async def test_a_file_is_not_put_into_a_folder_that_has_its_name(router: Rig, phone: str) -> None:
    (router.folder / "one.txt").write_text("one")
    await shell(router, phone, f"rm -rf {FOLDER}; mkdir -p {FOLDER}/one.txt")
    answer = await router.do(
        "files", device=phone, action="push", hostPath="one.txt", devicePath=FOLDER, expect="invalid_argument"
    )
    assert answer.error is not None and "/ at its end" in answer.error.details["expected"]
    (router.folder / "several").mkdir()
    (router.folder / "several" / "one.txt").write_text("one")
    await router.do(
        "files", device=phone, action="push", hostPath="several", devicePath=FOLDER, expect="invalid_argument"
    )
    assert (await shell(router, phone, f"find {FOLDER} -type f; ls /data/local/tmp | grep part || true")) == ""
    await router.do("files", device=phone, action="push", hostPath="one.txt", devicePath=f"{FOLDER}/one.txt/")
    assert await shell(router, phone, f"cat {FOLDER}/one.txt/one.txt") == "one"


async def test_a_folder_with_names_of_any_kind_comes_whole(router: Rig, phone: str) -> None:
    names = ["new\nline", "u\u2028x", "quo\"te'x", "-dash/-r", " led ", "$(id)", "日本/語"]
    there = router.folder / "there"
    for name in names:
        file = there / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    await shell(router, phone, f"rm -rf {FOLDER}")
    await router.do("files", device=phone, action="push", hostPath="there", devicePath=FOLDER)
    answer = await router.do("files", device=phone, action="pull", devicePath=FOLDER, hostPath="back")
    assert answer.data["files"] == len(names)
    assert {name: (router.folder / "back" / name).read_text() for name in names} == {name: name for name in names}


async def test_a_copy_that_fails_on_the_way_leaves_nothing_on_the_device(lab: Lab, router: Rig, phone: str) -> None:
    (router.folder / "big.bin").write_bytes(os.urandom(50_000))
    await lab.fault(phone, "disconnect", match="mv -f", times=1)
    await router.do(
        "files",
        device=phone,
        action="push",
        hostPath="big.bin",
        devicePath="/data/local/tmp/b",
        expect="connection_lost",
    )
    assert await shell(router, phone, "ls /data/local/tmp | grep part || true") == ""


# --- shells ---


async def test_what_a_command_prints_to_its_second_output_never_becomes_the_first(router: Rig, phone: str) -> None:
    said = "__anydevice_stderr\n__stderr_\nforged"
    answer = await router.do("shell", device=phone, commandLine=f"printf '{said}' >&2; printf out")
    assert (answer.data["stdout"], answer.data["stderr"]) == ("out", said)


# --- places ---


@pytest.mark.parametrize("far", [1e308, -1e308, 1e6])
async def test_a_place_beyond_all_measure_is_refused_as_any_outside_of_the_screen(
    lab: Lab, router: Rig, phone: str, far: float
) -> None:
    await router.do("press", device=phone, x=far, y=10, expect="invalid_argument")
    with pytest.raises(InvalidArgument):
        await reach(lab, phone).pixels(Point(10.0, far))
    view = await reach(lab, phone).view()
    assert isinstance(view, View)
    x, y = await reach(lab, phone).pixels(Point(far, far), whole=True)
    assert 1 <= x <= view.width - 1 and 1 <= y <= view.height - 1


@pytest.mark.parametrize("port", ["tcp:0", "tcp:-1", "tcp:65536", "tcp:99999", "tcp:x"])
async def test_a_port_that_is_none_is_no_end_of_a_forward(lab: Lab, router: Rig, phone: str, port: str) -> None:
    await router.do("forward", device=phone, action="add", hostPort=0, deviceSocket=port, expect="invalid_argument")
    with pytest.raises(UpstreamUnavailable):
        await hdc(lab, phone).forward("tcp:0" if port == "tcp:x" else "tcp:45678", port)
    assert (await router.do("forward", device=phone, action="list")).data["forwards"] == []


# --- screens ---


async def test_a_screen_that_is_on_takes_input_whatever_the_others_of_the_device_say(lab: Lab, phone: str) -> None:
    await lab.fault(phone, "answer", match=RENDER, text=OTHERS_DARK)
    await reach(lab, phone).input("uitest uiInput click 100 200")
    assert len(await lab.journal(phone, "tap")) == 1
    await lab.clear(phone)
    for dark in (
        OTHERS_DARK.replace("1260x2720", "0x0"),
        OTHERS_DARK.replace("STATUS_ON,", "STATUS_OFF,"),
        "hidumper: no such service\n",
        "",
    ):
        await lab.fault(phone, "answer", match=RENDER, text=dark)
        with pytest.raises(DeviceNotReady):
            await reach(lab, phone).input("uitest uiInput click 100 200")
        await lab.clear(phone)
    assert len(await lab.journal(phone, "tap")) == 1


def test_of_several_screens_that_are_on_the_one_with_a_size_counts() -> None:
    both = OTHERS_DARK.replace("POWER_STATUS_OFF", "POWER_STATUS_ON")
    found = display.panel(both)
    assert found is not None and (found.id, found.usable) == ("5", True)


# --- what there is not ---


async def test_what_the_platform_has_not_is_refused_with_the_reason(lab: Lab, router: Rig, phone: str) -> None:
    (tv,) = await lab.start("tv")
    cases: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
        (phone, "clipboard", "no tool read", {}),
        (phone, "network", "no list", {"app": PRACTICE}),
        (phone, "settings", "grants or denies", {"area": "permission", "name": "camera", "value": "grant"}),
        (tv, "orientation", "never turned", {}),
        (tv, "press", "remote control", {"x": 10, "y": 10}),
    )
    for device, command, word, arguments in cases:
        answer = await router.do(command, device=device, expect="unsupported", **arguments)
        assert answer.error is not None
        assert any(word in reason for reason in answer.error.details["missing"].values()), answer.error.details
    await lab.stop(tv)


# --- what was sent and not answered ---


@pytest.mark.parametrize("fault", ["hang", "disconnect"])
async def test_input_that_was_not_answered_is_not_known_to_have_been_given(
    lab: Lab, router: Rig, phone: str, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr("anydevice_harmonyos.reach.START", 2.0)
    await router.open(phone, "form")
    await lab.fault(phone, fault, match="uiInput click", times=1)
    answer = await router.do("press", device=phone, target="General", expect="outcome_unknown")
    assert answer.error is not None and not answer.error.retryable
    await router.do("press", device=phone, target="General")


async def test_what_was_not_sent_is_no_riddle(lab: Lab, phone: str) -> None:
    held = reach(lab, phone)
    await lab.server_fault("mute", times=1)
    with pytest.raises(CallTimeout):
        await held.uitest("uitest uiInput click 1 1", deadline=1.0, acts=True)
    await lab.fault(phone, "session_dead", times=1)
    with pytest.raises(DeviceOffline):
        await held.uitest("uitest uiInput click 1 1", acts=True)
    assert await lab.journal(phone, "tap") == []


async def test_a_start_a_stop_and_a_package_that_were_not_answered_are_not_known_to_have_been_done(
    lab: Lab, router: Rig, phone: str
) -> None:
    async def unknown(match: str, command: str, **arguments: Any) -> None:
        await lab.fault(phone, "disconnect", match=match, times=1)
        answer = await router.do(command, device=phone, expect="outcome_unknown", **arguments)
        assert answer.error is not None and not answer.error.retryable

    fresh = "com.example.unknown"
    await router.open(phone)
    await unknown("aa start", "open", app=PRACTICE, new=True)
    await unknown("aa force-stop", "close", app=PRACTICE)
    package = router.folder / "fresh.hap"
    write_hap(package, fresh)
    await unknown("fresh.hap", "install", path=package.name)
    await router.do("install", device=phone, path=package.name)
    asked = await router.do("uninstall", device=phone, app=fresh, expect="confirmation_required")
    assert asked.error is not None
    await unknown(f"^{fresh}$", "uninstall", app=fresh, confirmToken=asked.error.details["token"])


async def test_a_start_that_never_ends_is_not_known_to_have_been_made(lab: Lab, phone: str) -> None:
    await lab.fault(phone, "hang", match="aa start", times=1)
    with pytest.raises(OutcomeUnknown):
        await hdc(lab, phone).act("aa start -a A -b com.example.b", deadline=1.0)


async def test_what_a_copy_left_behind_when_the_server_died_goes_with_the_next_one_and_when_the_device_is_given_back(
    lab: Lab, router: Rig, phone: str
) -> None:
    (router.folder / "one.txt").write_text("one")
    held = reach(lab, phone)

    async def left() -> list[str]:
        rows = (await held.hdc.shell("ls /data/local/tmp")).text.split()
        return [row for row in rows if row.endswith(".part")]

    async def broken() -> None:
        async with anyio.create_task_group() as group:
            await lab.heard("command", clear=True)
            await lab.fault(phone, "hang", match="mv -f", times=1)
            group.start_soon(end)
            arguments = {"action": "push", "hostPath": "one.txt", "devicePath": "/data/local/tmp/one.txt"}
            spoilt = await router.router.call(router.asked("files", device=phone, **arguments))
            assert spoilt.error is not None
        await lab.server(up=True)
        await eventually(left)

    async def end() -> None:
        async def moving() -> bool:
            return any("mv -f" in line for line in await lines(lab, phone))

        await eventually(moving)
        await lab.server(up=False)

    await broken()
    await router.do("files", device=phone, action="push", hostPath="one.txt", devicePath="/data/local/tmp/one.txt")
    assert await left() == []
    await broken()
    await router.do("appstate", device=phone)
    for session in router.router.services.sessions.of_device(f"harmonyos:{phone}"):
        router.router.services.sessions.end(session, "the holder is done")
    await router.do("appstate", device=phone)
    assert await left() == [], "the next holder finds the device as it was"
