"""Libraries that other people's scripts use, against a lab device: it is not shaped to our own client."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import anyio
import pytest

from anydevice.kit import processes
from anydevice_lab.android import write_apk

from .adb import Adb, Reports

pytestmark = pytest.mark.anyio
SCRIPTS = Path(__file__).parent / "scripts"


async def run(phone: Adb, script: str, *words: str) -> None:
    """Runs a script as its author would, with the lab's server in its environment; it must end well."""
    env = {**os.environ, **phone.lab.environment, "ADBUTILS_ADB_PATH": phone.lab.adb}
    argv = [sys.executable, str(SCRIPTS / script), phone.serial, *words]
    result = await processes.run(argv, deadline=90, env=env)
    assert result.code == 0, result.text + result.complaint


def jar() -> Path:
    """The jar that uiautomator2 brings."""
    spec = importlib.util.find_spec("uiautomator2")
    if spec is None or spec.origin is None:
        pytest.skip("uiautomator2 is not installed")
    return Path(spec.origin).parent / "assets" / "u2.jar"


async def test_adbutils_works_with_a_lab_device(phone: Adb, tmp_path: Path) -> None:
    await phone.open("form")
    await run(phone, "adbutils_calls.py", str(write_apk(tmp_path / "p.apk", "com.example.adbutils")))


async def test_uiautomator2_works_with_a_lab_device(phone: Adb, reports: Reports) -> None:
    """Its server is started from the jar it brings, and is stopped in the end."""
    jar()
    await phone.open("form", reports.url)
    await run(phone, "uiautomator2_calls.py")
    assert (await reports.heard("fill"))["value"] == "Ada Lövelace 👍"
    await reports.heard("press", 2)
    assert [report["id"] for report in reports.of("press")][:2] == ["form.signin", "form.signin-apple"]
    assert (await reports.heard("hold"))["value"] >= 0.7
    assert (await reports.heard("pinch"))["value"] > 1.5
    assert (await reports.heard("drag"))["value"] == ["gestures.source", "gestures.zone"]
    await phone.run("shell", "pkill app_process")
    await freed(phone)


async def freed(phone: Adb) -> None:
    """Waits until a dump works: nobody holds the slot for automation any more."""
    with anyio.fail_after(20):
        while (await phone.run("shell", "uiautomator dump /dev/tty")).code == 137:
            await anyio.sleep(0.05)
    assert "<hierarchy" in await phone.shell("uiautomator dump /dev/tty")


async def test_the_server_holds_the_slot_and_the_end_of_its_stream_frees_it(phone: Adb) -> None:
    assert (await phone.run("push", str(jar()), "/data/local/tmp/u2.jar")).code == 0
    await phone.lab.journal(phone.serial, clear=True)
    line = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9123"
    async with anyio.create_task_group() as group:
        group.start_soon(phone.run, "shell", line)
        with anyio.fail_after(20):
            while not await phone.lab.journal(phone.serial, "u2"):
                await anyio.sleep(0.05)
        assert (await phone.run("shell", "uiautomator dump /dev/tty")).code == 137
        second = await phone.run("shell", line)
        assert (second.code, "already registered!" in second.text) == (1, True)
        assert "com.wetest.uia2" in await phone.shell("dumpsys accessibility")
        group.cancel_scope.cancel()
    await freed(phone)


async def test_the_server_needs_its_jar(phone: Adb) -> None:
    result = await phone.run("shell", "CLASSPATH=/data/local/tmp/none.jar app_process / com.wetest.uia2.Main")
    assert result.code == 134
