"""Words of callers are never commands, and words of devices never verdicts.

Judged by what the lab's device saw and has, not by our own answers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.driver import Forward
from anydevice_android.reach import Reach
from anydevice_android.reading.verdicts import started
from anydevice_lab.android import Lab
from anydevice_lab.android.apk import write_apk
from anydevice_schemas.errors import AnydeviceError, InvalidArgument

from .asking import driver_of, root
from .rig import PRACTICE, WITHIN, Rig, eventually

pytestmark = pytest.mark.anyio
HOSTILE = "x'; touch /sdcard/pwned; echo $(touch /sdcard/pwned) `touch /sdcard/pwned` \"; '"


async def test_no_word_of_any_command_is_run(lab: Lab, router: Rig, phone: str, tmp_path: Path) -> None:
    await router.open(phone, "form")
    files = await root(lab, phone)
    driver = await driver_of(router, phone)
    source = tmp_path / "we'ird $(touch pwned) %_.png"
    source.write_bytes(b"picture")
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("push", "app_not_found", {"app": HOSTILE, "payload": {}}),
        ("push", "ok", {"app": PRACTICE, "payload": {"action": HOSTILE, "extras": {HOSTILE: HOSTILE}}}),
        ("perf", "app_not_found", {"kind": "memory", "app": HOSTILE}),
        ("perf", "app_not_found", {"kind": "cpu", "app": "-h"}),
        ("logs", "app_not_found", {"action": "start", "app": HOSTILE}),
        ("settings", "app_not_found", {"area": "permission", "app": HOSTILE, "name": "camera", "value": "grant"}),
        ("settings", "app_not_found", {"area": "permission", "app": "-h", "name": "camera"}),
        ("settings", "invalid_argument", {"area": "permission", "app": PRACTICE, "name": "-h", "value": "grant"}),
        ("open", "ok", {"app": PRACTICE, "arguments": ["--screen=form", f"--{HOSTILE}={HOSTILE}"]}),
        ("open", "app_not_found", {"app": f"{PRACTICE}/;touch /sdcard/pwned"}),
        ("shell", "path_not_found", {"commandLine": "pwd", "cwd": HOSTILE}),
        ("key", "invalid_argument", {"chord": HOSTILE[:60]}),
        ("forward", "invalid_argument", {"action": "add", "hostPort": 0, "deviceSocket": "shell:touch/sdcard/pwned"}),
        ("forward", "invalid_argument", {"action": "add", "hostPort": 0, "deviceSocket": "tcpip:5999"}),
    ]
    for command, expected, arguments in calls:
        await router.do(command, expect=expected, device=phone, **arguments)
    added = await driver.files.add_media(str(source), deadline=WITHIN)  # type: ignore[attr-defined]
    assert added.data["path"].endswith(source.name)
    target = f"/sdcard/{HOSTILE.replace('/', '_')}"
    await driver.files.push(str(source), target, deadline=WITHIN)  # type: ignore[attr-defined]
    assert (files / target.lstrip("/")).read_bytes() == b"picture"
    assert list(files.rglob("pwned*")) == []


@pytest.mark.parametrize("device", ["shell:id", "exec:id", "root:", "reboot:", "tcp:1;tcp:2", "dev:/dev/null"])
async def test_a_forward_leads_to_sockets_and_to_no_other_service(router: Rig, phone: str, device: str) -> None:
    forwards = (await driver_of(router, phone)).forwards  # type: ignore[attr-defined]
    with pytest.raises(InvalidArgument):
        await forwards.add(Forward("tcp:0", device))
    with pytest.raises(InvalidArgument):
        await forwards.add(Forward("localfilesystem:/tmp/x", "tcp:9"))
    assert await forwards.list() == []


async def test_a_path_with_a_nul_is_refused_and_not_cut_off(lab: Lab, router: Rig, phone: str, tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.write_text("a")
    driver = await driver_of(router, phone)
    for path in ("/sdcard/short\0long", "/sdcard/half\ud800"):
        with pytest.raises(AnydeviceError):
            await driver.files.push(str(source), path, deadline=WITHIN)  # type: ignore[attr-defined]
    assert not (await root(lab, phone) / "sdcard" / "short").exists()


@pytest.mark.parametrize("kind", ["phone", "old-phone"])
async def test_words_of_an_address_are_no_verdict_on_it(lab: Lab, router: Rig, kind: str) -> None:
    (serial,) = await lab.start(kind)
    await router.open(serial)
    for words in ("SecurityException", "Error%20type%203", "Permission-Denial", "intent-has-been-delivered-to"):
        assert (await router.do("open", device=serial, url=f"practice:///?screen=form&x={words}")).verified is True


def test_what_am_repeats_of_an_intent_is_not_read() -> None:
    echo = "Starting: Intent { act=android.intent.action.VIEW dat=x:SecurityException,Error:type }\n"
    assert started(echo + "Status: ok\nActivity: com.a/.B\nTotalTime: 5\n").outcome == "started"
    failed = "Error: Activity not started, unable to resolve Intent { dat=x:SecurityException flg=0x1 }\n"
    assert started(echo + failed).outcome == "unresolved"
    assert started(echo + "java.lang.SecurityException: Permission Denial: starting Intent { x }\n").outcome == "denied"


async def test_a_folder_that_is_there_is_not_called_missing_by_a_status(router: Rig, phone: str) -> None:
    done = await router.do("shell", device=phone, commandLine="exit 97", cwd="/sdcard")
    assert done.data["exitCode" if "exitCode" in done.data else "status"] == 97
    await router.do("shell", device=phone, commandLine="pwd", cwd="-P", expect="path_not_found")


async def test_a_fill_that_reached_nothing_is_no_success(lab: Lab, router: Rig, phone: str) -> None:
    await router.open(phone, "form")
    await lab.fault(phone, "input_ignored")
    await router.do("fill", device=phone, target="Name", text="Ada", expect="action_unverified")


async def test_an_android_that_names_no_activity_says_how_to_open_one(lab: Lab, router: Rig) -> None:
    (old,) = await lab.start("ancient-phone")
    await router.devices()
    refused = await router.do("open", device=old, app=PRACTICE, expect="app_not_found")
    assert refused.error is not None
    named = refused.error.hint.partition("app=")[2].partition(",")[0]
    assert (await router.do("open", device=old, app=named)).verified is True


async def test_what_a_clipboard_holds_is_no_verdict(lab: Lab, router: Rig, phone: str) -> None:
    (old,) = await lab.start("old-phone")
    await lab.fault(old, "clipboard")
    for text in ("java.lang.SecurityException: Permission Denial", "not found", "Unknown command x", "ends\n"):
        assert (await router.do("clipboard", device=old, action="write", text=text)).verified is True
        assert (await router.do("clipboard", device=old, action="read")).data["text"] == text
    await lab.fault(old, "answer", match="clipboard set", stderr="sh: cmd: Argument list too long\n", code=126)
    secret = "s3cret-of-mine"
    answer = await router.do("clipboard", device=old, action="write", text=secret, expect="upstream_unavailable")
    assert answer.error is not None and secret not in str(answer.error)


async def test_typed_text_is_in_no_error_and_no_log(
    lab: Lab, router: Rig, phone: str, capfd: pytest.CaptureFixture[str]
) -> None:
    await router.open(phone, "form")
    secret = "s3cret pass"
    await lab.fault(
        phone,
        "answer",
        match="input text",
        stderr="Exception occurred: s3cret%spass-word, s3cret pass-word\n",
        code=255,
    )
    answer = await router.do("type", device=phone, target="Password", text=secret, expect="upstream_unavailable")
    assert answer.error is not None and "s3cret" not in answer.error.model_dump_json()
    assert "s3cret" not in "".join(capfd.readouterr())


async def test_a_set_of_parts_that_is_broken_leaves_no_session_and_no_app(
    lab: Lab, router: Rig, phone: str, tmp_path: Path
) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    for name in ("base.apk", "-split.apk"):
        write_apk(folder / name, "com.example.parts")
    driver = await driver_of(router, phone)
    await driver.apps.install(str(folder), deadline=WITHIN)  # type: ignore[attr-defined]
    await driver.apps.uninstall("com.example.parts")  # type: ignore[attr-defined]
    await lab.fault(phone, "hang", match="install-write")
    with pytest.raises(AnydeviceError):
        await driver.apps.install(str(folder), deadline=0.5)  # type: ignore[attr-defined]
    await lab.clear(phone)
    assert "com.example.parts" not in (await lab.state(phone))["packages"]
    abandoned = [e for e in await lab.journal(phone, "program") if "install-abandon" in e["args"]]
    assert len(abandoned) == 1


async def test_a_log_that_floods_is_told_to_go_on(
    lab: Lab, router: Rig, phone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice_android.logs.MOST", 4000)
    driver = await driver_of(router, phone)
    cursor = await driver.logs.now()  # type: ignore[attr-defined]
    for number in range(200):
        await lab.ask("log", serial=phone, text=f"line {number:03} {'x' * 40}")
    seen: list[str] = []
    for _ in range(400):
        page = await driver.logs.read(cursor)  # type: ignore[attr-defined]
        seen += [line.text for line in page.lines]
        if not page.more:
            break
        cursor = page.cursor
    mine = [text for text in seen if text.startswith("line ")]
    assert mine == [f"line {number:03} {'x' * 40}" for number in range(200)]
    with pytest.raises(InvalidArgument):
        await driver.logs.read("nan+1")  # type: ignore[attr-defined]


async def test_many_drivers_leave_no_socket_and_no_task(lab: Lab, quick: Rig, phone: str) -> None:
    await quick.open(phone)
    base = await driver_of(quick, phone)
    reach: Reach = base._reach  # type: ignore[attr-defined]
    await quick.router.services.connections.drop(f"android:{phone}")
    before = len(os.listdir("/proc/self/fd"))
    for number in range(24):
        driver = type(base)(base.device, reach.adb, base._automation._file)  # type: ignore[attr-defined,call-arg]
        with anyio.move_on_after(0.004 * (number % 12)):
            await driver.screen.geometry()  # type: ignore[attr-defined]
            await driver._automation.hierarchy()  # type: ignore[attr-defined]
        await driver.aclose()

    async def even() -> bool:
        return len(os.listdir("/proc/self/fd")) <= before and await lab.ask("process", serial=phone) == []

    assert await eventually(even)
