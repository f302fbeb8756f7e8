"""What agents and CI do to a device and to each other: hostile words, lost connections, calls that end in the middle.

Judged by what the lab's device saw and has, not by our own answers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.driver import Driver, Environment, Forward
from anydevice_adb import AdbServer
from anydevice_android.automation import Automation, AutomationWriter
from anydevice_android.reach import Reach
from anydevice_android.reading import screens
from anydevice_android.reading.verdicts import started
from anydevice_lab.android import Lab
from anydevice_lab.android.apk import write_apk
from anydevice_schemas.errors import AnydeviceError, ConnectionLost, InvalidArgument

from .rig import PRACTICE, WITHIN, Rig, eventually

pytestmark = pytest.mark.anyio
HOSTILE = "x'; touch /sdcard/pwned; echo $(touch /sdcard/pwned) `touch /sdcard/pwned` \"; '"


async def root(lab: Lab, serial: str) -> Path:
    """The device's files."""
    (found,) = [device["root"] for device in await lab.devices() if device["serial"] == serial]
    return Path(found)


async def driver_of(rig: Rig, serial: str) -> Driver:
    """The driver the router uses."""
    await rig.devices()
    env = Environment(variables=rig.environment)
    listed = await rig.router.services.backends.listed(env)
    return await rig.router.services.connections.get(listed.by_key(f"android:{serial}"), env)


async def given_back(rig: Rig, serial: str) -> None:
    """What happens when the device is given back."""
    await (await driver_of(rig, serial)).clean()


async def setting(lab: Lab, rig: Rig, serial: str, space: str, name: str) -> str:
    """A setting as the device has it."""
    told = await rig.do("shell", device=serial, commandLine=f"settings get {space} {name}")
    return str(told.data["stdout"]).strip()


# --- words of callers ---


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


# --- connections that are lost, calls that end in the middle ---


async def test_settings_are_put_back_though_the_connection_was_lost_meanwhile(
    lab: Lab, router: Rig, phone: str
) -> None:
    await router.open(phone)
    before = await setting(lab, router, phone, "global", "animator_duration_scale")
    await router.do("settings", device=phone, area="animations", value="off")
    await router.do("settings", device=phone, area="appearance", value="dark")
    first = await driver_of(router, phone)
    await lab.fault(phone, "disconnect", match="uiautomator", times=1)
    await router.do("snapshot", device=phone, expect="connection_lost")
    await lab.ask("connect", serial=phone)

    async def again() -> bool:
        return [row["state"] for row in await router.devices() if row["id"] == phone] == ["ready"]

    await eventually(again)
    assert await driver_of(router, phone) is not first
    await given_back(router, phone)
    assert await setting(lab, router, phone, "global", "animator_duration_scale") == before
    assert (await router.do("settings", device=phone, area="appearance")).data["value"] == "light"


async def test_one_setting_that_cannot_be_put_back_keeps_no_other(lab: Lab, router: Rig, phone: str) -> None:
    await router.do("settings", device=phone, area="appearance", value="dark")
    await router.do("settings", device=phone, area="text_size", value="1.3")
    await lab.fault(phone, "answer", match="settings (put|delete) system font_scale", stderr="Error: no\n", code=1)
    with pytest.raises(AnydeviceError):
        await given_back(router, phone)
    assert (await router.do("settings", device=phone, area="appearance")).data["value"] == "light"
    await lab.clear(phone)
    await given_back(router, phone)
    assert await setting(lab, router, phone, "system", "font_scale") in ("null", "1.0")


async def test_a_permission_is_taken_back(lab: Lab, router: Rig, phone: str) -> None:
    answer = await router.do("settings", device=phone, area="permission", app=PRACTICE, name="camera", value="grant")
    assert answer.verified is True
    await given_back(router, phone)
    told = await router.do("settings", device=phone, area="permission", app=PRACTICE, name="CAMERA")
    assert told.data.get("value") != "grant"


async def test_a_push_that_is_cancelled_leaves_no_part_of_the_file(
    lab: Lab, router: Rig, phone: str, tmp_path: Path
) -> None:
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(1 << 30)
    driver = await driver_of(router, phone)
    there = await root(lab, phone) / "sdcard" / "big"
    async with anyio.create_task_group() as group:

        async def push() -> None:
            await driver.files.push(str(big), "/sdcard/big", deadline=WITHIN)  # type: ignore[attr-defined]

        async def begun() -> bool:
            return there.exists() and there.stat().st_size > 0

        group.start_soon(push)
        await eventually(begun)
        group.cancel_scope.cancel()

    async def gone() -> bool:
        return not there.exists()

    assert await eventually(gone)


async def test_a_long_command_that_is_cancelled_leaves_no_script(lab: Lab, router: Rig, phone: str) -> None:
    driver = await driver_of(router, phone)
    folder = await root(lab, phone) / "data" / "local" / "tmp"
    for wait in (0.0, 0.001, 0.002, 0.004, 0.008, 0.016, 0.05, 0.2):
        with anyio.move_on_after(wait):
            await driver.shell.run(f"echo {'x' * 300_000} >/dev/null; sleep 30")  # type: ignore[attr-defined]

    async def clean() -> bool:
        return list(folder.glob("anydevice-*")) == [] and await lab.ask("process", serial=phone) == []

    assert await eventually(clean)


async def test_a_script_is_for_nobody_elses_eyes(lab: Lab, router: Rig, phone: str) -> None:
    driver = await driver_of(router, phone)
    done = await driver.shell.run(f'stat -c %a "$0"; : {"x" * 80_000}')  # type: ignore[attr-defined]
    assert done.stdout.strip() in ("600", "")
    folder = await root(lab, phone) / "data" / "local" / "tmp"
    seen: list[int] = []
    async with anyio.create_task_group() as group:

        async def run() -> None:
            await driver.shell.run(f"sleep 30; : {'x' * 80_000}")  # type: ignore[attr-defined]

        async def there() -> bool:
            seen.extend(file.stat().st_mode & 0o777 for file in folder.glob("anydevice-*.sh"))
            return await lab.ask("process", serial=phone) != [] and bool(seen)

        group.start_soon(run)
        await eventually(there)
        group.cancel_scope.cancel()
    assert seen[-1] == 0o600


async def test_an_adb_server_that_is_ended_and_started_again_is_used_again(
    lab: Lab, router: Rig, tmp_path: Path
) -> None:
    async with Lab() as own:
        (serial,) = await own.start("phone")
        router.environment["ANDROID_ADB_SERVER_PORT"] = str(own.port)
        await router.open(serial)
        ended: list[str] = []

        async def runs() -> None:
            answer = await router.do("shell", device=serial, commandLine="sleep 60", expect="connection_lost")
            ended.append(answer.error.code if answer.error else "")

        async with anyio.create_task_group() as group:
            group.start_soon(runs)

            async def begun() -> bool:
                return await own.ask("process", serial=serial) != []

            await eventually(begun)
            with pytest.raises(AnydeviceError):  # it closes without an answer to be read
                await AdbServer("127.0.0.1", own.port).ask("host:kill")
                raise ConnectionLost("It answered.", restarted=False, lost="adb server")
        assert ended == ["connection_lost"]
        started = await anyio.run_process(
            [own.adb, "-P", str(own.port), "start-server"], env={**os.environ, **own.environment}, check=False
        )
        assert started.returncode == 0
        await own.ask("connect", serial=serial)

        async def again() -> bool:
            return [row["state"] for row in await router.devices() if row["id"] == serial] == ["ready"]

        await eventually(again)
        await router.open(serial)
        await router.do("press", device=serial, target="Increment")
        assert len(await own.journal(serial, "tap")) == 1


async def test_two_devices_of_one_name_are_never_taken_for_each_other(lab: Lab, router: Rig) -> None:
    one, other = await lab.start({"name": "phone", "model": "Twin"}, {"name": "phone", "model": "Twin"})
    await router.do("open", device="Twin", app=PRACTICE, expect="ambiguous_device")
    await router.open(other)
    await router.do("press", device=other, target="Increment")
    assert (await lab.journal(one, "tap"), len(await lab.journal(other, "tap"))) == ([], 1)


# --- the automation server ---


async def test_a_server_that_hangs_is_ended_and_the_other_source_used(lab: Lab, quick: Rig, phone: str) -> None:
    await quick.open(phone)
    await quick.do("snapshot", device=phone)
    await lab.fault(phone, "u2_hang", match="dumpWindowHierarchy")
    answer = await quick.do("snapshot", device=phone)
    assert answer.data["quality"] == "complete"
    assert (await lab.journal(phone, "u2"))[-1]["running"] is False


async def test_fingers_are_not_moved_twice_where_the_answer_is_lost(lab: Lab, quick: Rig, phone: str) -> None:
    await quick.open(phone, "gestures")
    driver = await driver_of(quick, phone)
    automation: Automation = driver._automation  # type: ignore[attr-defined]
    await automation.ask("deviceInfo")
    await lab.fault(phone, "u2_cut", match="gesture", times=1)
    places = [{"x": x, "y": 900} for x in (300, 700, 400, 600)]
    with pytest.raises(ConnectionLost):
        await automation.ask("gesture", {"mask": 0x8000, "enabled": True}, *places, 2)
    assert len(await lab.journal(phone, "fingers")) == 1


async def test_a_close_that_is_cancelled_leaves_no_server_behind(lab: Lab, quick: Rig, phone: str) -> None:
    await quick.open(phone)
    driver = await driver_of(quick, phone)
    automation: Automation = driver._automation  # type: ignore[attr-defined]
    for wait in (0.0, 0.0001, 0.001, 0.01):
        await automation.ask("deviceInfo")
        with anyio.move_on_after(wait):
            await automation.aclose()
        await automation.aclose()

        async def free() -> bool:
            return await lab.ask("process", serial=phone) == []

        assert await eventually(free)
    assert (await lab.journal(phone, "u2"))[-1]["running"] is False


async def test_a_hint_is_not_typed_and_a_secret_not_garbled(lab: Lab, quick: Rig, phone: str) -> None:
    await quick.open(phone, "form")
    await quick.do("type", device=phone, target="Name", text="Grüße")
    told = await quick.do("get", device=phone, target="Name", what="attrs")
    assert told.data["element"]["value"] == "Grüße"
    await quick.do("type", device=phone, target="Name", text=" äö")
    told = await quick.do("get", device=phone, target="Name", what="attrs")
    assert told.data["element"]["value"] == "Grüße äö"
    driver = await driver_of(quick, phone)
    writer = AutomationWriter(driver._automation, driver._reach)  # type: ignore[attr-defined]
    await quick.do("fill", device=phone, target="Password", text="first")
    assert await writer.write("ä", replace=False) is None


# --- the screen ---


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


# --- answers ---


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
    secret = "s3cret pass-word"
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
    for number in range(60):
        driver = type(base)(base.device, reach.adb, base._automation._file)  # type: ignore[attr-defined,call-arg]
        with anyio.move_on_after(0.004 * (number % 12)):
            await driver.screen.geometry()  # type: ignore[attr-defined]
            await driver._automation.hierarchy()  # type: ignore[attr-defined]
        await driver.aclose()

    async def even() -> bool:
        return len(os.listdir("/proc/self/fd")) <= before and await lab.ask("process", serial=phone) == []

    assert await eventually(even)
