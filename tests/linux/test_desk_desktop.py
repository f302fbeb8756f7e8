"""Virtual desktops: started and seen ready, ended with everything on them, also when who started them died."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

import anydevice_linux
from anydevice.driver import CAPABILITIES, Environment, HostServices, TreeScope
from anydevice.kit import pids, processes
from anydevice.testing import call, fake_router
from anydevice_linux.backend import LinuxBackend, configured, size_of
from anydevice_linux.desktop import Desktop, Plan
from anydevice_linux.driver import LinuxDriver
from anydevice_linux.record import Record, processes_of, read_all
from anydevice_linux.running import Running
from anydevice_schemas import Answer, Manifest, Point, contract_accepts
from anydevice_schemas.errors import (
    AnydeviceError,
    CallTimeout,
    ConnectionLost,
    DeviceNotReady,
    DeviceOffline,
    InvalidArgument,
    ToolMissing,
    UpstreamUnavailable,
)

from .desktop import missing

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(missing() is not None, reason=missing() or ""),
]
PLAN = Plan("one", "One", (640, 480))


@pytest.fixture
async def desktop(tmp_path: Path) -> AsyncIterator[Desktop]:
    made = Desktop(PLAN, str(tmp_path / "data"), str(tmp_path / "run"))
    yield made
    await made.shutdown()


def runtime_of(desktop: Desktop) -> str:
    return desktop.running().mark


async def until(ready: object, seconds: float = 20.0) -> bool:
    end = anyio.current_time() + seconds
    while not ready():  # type: ignore[operator]
        if anyio.current_time() > end:
            return False
        await anyio.sleep(0.02)
    return True


async def test_boot_starts_it_and_a_second_boot_does_nothing(desktop: Desktop) -> None:
    assert (desktop.device().state, desktop.device().fix) == ("shutdown", "Call boot.")
    assert await desktop.boot(deadline=20)
    assert desktop.device().state == "ready"
    assert not await desktop.boot(deadline=20)
    seat = desktop.running()
    assert Path(seat.env["XAUTHORITY"]).stat().st_mode & 0o077 == 0
    assert seat.env["HOME"].startswith(str(Path(seat.cwd)))


async def test_shutdown_leaves_no_process_and_no_folder(desktop: Desktop, tmp_path: Path) -> None:
    await desktop.boot(deadline=20)
    runtime = runtime_of(desktop)
    # One that left its group and its parent, and takes no TERM.
    await desktop.launch([sys.executable, "-c", STRAY])
    assert await until(lambda: len(processes_of(runtime)) >= 7)
    assert await desktop.shutdown()
    assert processes_of(runtime) == {}
    assert not Path(runtime).exists()
    assert list((tmp_path / "run" / "desktops").iterdir()) == []
    assert not await desktop.shutdown()
    with pytest.raises(DeviceNotReady):
        desktop.running()


async def test_a_display_that_dies_is_told_and_started_anew(desktop: Desktop) -> None:
    await desktop.boot(deadline=20)
    first = runtime_of(desktop)
    xserver = desktop._children["X server"].pid
    os.kill(xserver, signal.SIGKILL)
    assert await until(lambda: "X server ended" in desktop.device().reason)  # its window manager may be seen first
    assert desktop.device().state == "shutdown"
    with pytest.raises(DeviceNotReady):
        desktop.running()
    assert await desktop.boot(deadline=20)
    assert desktop.running().env["XDG_RUNTIME_DIR"] != first
    assert processes_of(first) == {}


@pytest.mark.parametrize("part", ["window manager", "session bus"])
async def test_half_a_desktop_ends_with_all_that_runs_on_it(desktop: Desktop, part: str) -> None:
    await desktop.boot(deadline=20)
    first = runtime_of(desktop)
    program = await desktop.launch(["sleep", "1000"])
    os.kill(desktop._children[part].pid, signal.SIGKILL)
    assert await until(lambda: processes_of(first) == {} and not Path(first).exists())
    assert program.code is not None
    assert (desktop.device().state, desktop.device().reason) == ("shutdown", f"Its {part} ended.")
    assert not await desktop.shutdown(), "nothing of it is left"
    assert await desktop.boot(deadline=20) and desktop.device().reason == ""


async def test_what_does_not_get_ready_leaves_nothing(desktop: Desktop, tmp_path: Path, monkeypatch: object) -> None:
    stuck = tmp_path / "bin"
    stuck.mkdir()
    (stuck / "dbus-daemon").write_text("#!/bin/sh\nexec sleep 60\n")
    (stuck / "dbus-daemon").chmod(0o755)
    monkeypatch.setenv("PATH", f"{stuck}:{os.environ['PATH']}")  # type: ignore[attr-defined]
    began = time.monotonic()
    with pytest.raises(CallTimeout):
        await desktop.boot(deadline=1.0)
    assert time.monotonic() - began < 30
    assert desktop._record is None
    assert desktop.device().state == "shutdown"


async def test_a_part_that_ends_at_once_is_told_with_what_it_said(
    desktop: Desktop, tmp_path: Path, monkeypatch: object
) -> None:
    broken = tmp_path / "bin"
    broken.mkdir()
    (broken / "Xvfb").write_text("#!/bin/sh\necho no screens found >&2\nexit 3\n")
    (broken / "Xvfb").chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken}:{os.environ['PATH']}")  # type: ignore[attr-defined]
    with pytest.raises(DeviceNotReady) as caught:
        await desktop.boot(deadline=10)
    assert "no screens found" in caught.value.details["stderr"]


async def test_what_is_not_installed_is_named(desktop: Desktop, tmp_path: Path, monkeypatch: object) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # type: ignore[attr-defined]
    with pytest.raises(ToolMissing) as caught:
        await desktop.boot(deadline=10)
    assert {"Xvfb", "dbus-daemon", "openbox"} <= set(caught.value.details["tools"])
    assert "Not installed: Xvfb" in desktop.device().reason


async def test_a_desktop_outlives_its_driver_and_ends_with_its_backend(tmp_path: Path) -> None:
    backend = LinuxBackend(HostServices(str(tmp_path / "data"), str(tmp_path / "run")))
    try:
        rows = await backend.devices(Environment())
        assert [(row.id, row.state, row.kind) for row in rows] == [("virtual", "shutdown", "virtual")]
        driver = await backend.connect(rows[0], Environment())
        await driver.power.boot(headless=None, deadline=20)
        assert (await driver.identify()).key == "linux:virtual"
        runtime = backend.desktop("virtual").running().mark  # type: ignore[union-attr]
        await driver.aclose()
        assert [row.state for row in await backend.devices(Environment())] == ["ready"]
    finally:
        await backend.aclose()
    assert processes_of(runtime) == {}


STRAY = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork() and os._exit(0)
os.setsid()
time.sleep(60)
"""


async def test_a_display_lost_in_the_middle_of_a_call_is_told_in_time(tmp_path: Path) -> None:
    backend = LinuxBackend(HostServices(str(tmp_path / "data"), str(tmp_path / "run")))
    try:
        rows = await backend.devices(Environment())
        driver = await backend.connect(rows[0], Environment())
        await driver.power.boot(headless=None, deadline=20)
        desktop = backend.desktop("virtual")
        assert desktop is not None
        raised: list[AnydeviceError] = []

        async def drag_on() -> None:
            try:
                await driver.pointer.drag(Point(5, 5), Point(600, 600), seconds=4)
            except AnydeviceError as error:
                raised.append(error)

        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(drag_on)
                await anyio.sleep(0.5)
                os.kill(desktop._children["X server"].pid, signal.SIGKILL)
        assert raised and raised[0].code in ("outcome_unknown", "connection_lost", "device_offline")
        for call in (driver.screen.image, driver.apps.state, driver.identify):
            began = anyio.current_time()
            with suppress(AnydeviceError):
                await call()
            assert anyio.current_time() - began < 15
        assert await until(lambda: desktop.device().state == "shutdown")
        with pytest.raises(DeviceNotReady):
            await driver.screen.tree(TreeScope())
        await driver.power.boot(headless=None, deadline=20)
        assert (await driver.screen.image()).width == 1280
        assert (await driver.identify()).id == "virtual"
    finally:
        await backend.aclose()


async def test_a_frozen_display_costs_a_call_its_deadline_only(tmp_path: Path) -> None:
    backend = LinuxBackend(HostServices(str(tmp_path / "data"), str(tmp_path / "run")))
    try:
        rows = await backend.devices(Environment())
        driver = await backend.connect(rows[0], Environment())
        await driver.power.boot(headless=None, deadline=20)
        desktop = backend.desktop("virtual")
        assert desktop is not None
        await driver.screen.image()
        os.kill(desktop._children["X server"].pid, signal.SIGSTOP)
        began = anyio.current_time()
        with pytest.raises((CallTimeout, ConnectionLost, DeviceOffline)):
            await driver.screen.image()
        assert anyio.current_time() - began < 15
        began = anyio.current_time()
        await driver.power.shutdown(deadline=20)
        assert anyio.current_time() - began < 20
        assert desktop.device().state == "shutdown"
    finally:
        await backend.aclose()


OWNER = """
import sys, anyio
from anydevice.driver import CAPABILITIES, Environment, HostServices, TreeScope
from anydevice_linux.backend import LinuxBackend

async def main():
    backend = LinuxBackend(HostServices(sys.argv[1], sys.argv[2]))
    rows = await backend.devices(Environment())
    driver = await backend.connect(rows[0], Environment())
    await driver.power.boot(headless=None, deadline=20)
    print(backend.desktop("virtual").running().mark, flush=True)
    await anyio.sleep(60)

anyio.run(main)
"""


async def test_what_a_killed_daemon_left_is_ended_by_the_next(tmp_path: Path) -> None:
    data, run = str(tmp_path / "data"), str(tmp_path / "run")
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, data, run], stdout=subprocess.PIPE, start_new_session=True, text=True
    )
    try:
        assert owner.stdout is not None
        lines = [await anyio.to_thread.run_sync(owner.stdout.readline)]
        while "/" not in lines[-1] or "anydevice-desktop-" not in lines[-1]:
            lines.append(await anyio.to_thread.run_sync(owner.stdout.readline))
        runtime = lines[-1].strip()
    finally:
        owner.kill()
        owner.wait()
    assert processes_of(runtime)
    backend = LinuxBackend(HostServices(data, run))
    try:
        rows = await backend.devices(Environment())
        assert [row.state for row in rows] == ["shutdown"]
        assert processes_of(runtime) == {}
        assert not Path(runtime).exists()
        assert read_all(Path(run) / "desktops") == []
    finally:
        await backend.aclose()


async def test_what_belongs_to_a_living_daemon_is_left_alone(tmp_path: Path) -> None:
    run = tmp_path / "run"
    Record("other", (os.getppid(), pids.started(os.getppid()) or ""), "/tmp/anydevice-desktop-none").write(
        run / "desktops"
    )
    backend = LinuxBackend(HostServices(str(tmp_path / "data"), str(run)))
    await backend.devices(Environment())
    assert [record.id for record in read_all(run / "desktops")] == ["other"]


async def test_a_desktop_is_handed_over_with_its_programs(tmp_path: Path) -> None:
    data, run = str(tmp_path / "data"), str(tmp_path / "run")
    first = LinuxBackend(HostServices(data, run))
    second = LinuxBackend(HostServices(data, run))
    try:
        rows = await first.devices(Environment())
        driver = await first.connect(rows[0], Environment())
        await driver.power.boot(headless=None, deadline=20)
        desktop = first.desktop("virtual")
        assert desktop is not None
        program = await desktop.launch(["sleep", "60"])
        runtime = runtime_of(desktop)
        state = await first.hand_over()
        assert state is not None
        await second.take_up(state)
        assert [row.state for row in await second.devices(Environment())] == ["ready"]
        taken = await second.connect(rows[0], Environment())
        assert (await taken.identify()).id == "virtual"
        assert pids.alive(program.pid)
        await taken.aclose()
    finally:
        await second.aclose()
        await first.aclose()
    assert processes_of(runtime) == {}


async def test_desktops_are_configured_and_added(tmp_path: Path) -> None:
    settings = {"desktops": {"small": "640x480", "wide": {"name": "Wide", "size": "1920x1080"}, "bad one": "1x1"}}
    assert configured(settings) == [Plan("small", "small", (640, 480)), Plan("wide", "Wide", (1920, 1080))]
    assert (size_of("1280x800"), size_of("100x100"), size_of("x")) == ((1280, 800), None, None)
    backend = LinuxBackend(HostServices(str(tmp_path / "data"), str(tmp_path / "run"), settings))
    backend.defined.add(Plan("added", "Added", (800, 600)))
    assert [row.id for row in await backend.devices(Environment())] == ["small", "wide", "added"]
    backend.defined.remove("added")
    assert [row.id for row in await backend.devices(Environment())] == ["small", "wide"]
    with pytest.raises(InvalidArgument):
        backend.defined.remove("added")
    with pytest.raises(InvalidArgument):
        backend.defined.add(Plan("display-1", "x"))


async def test_the_display_of_a_caller_is_listed_and_driven(desktop: Desktop, tmp_path: Path) -> None:
    await desktop.boot(deadline=20)
    seat = desktop.running()
    number = seat.display.lstrip(":")
    names = {"DISPLAY": seat.display, "XAUTHORITY": seat.env["XAUTHORITY"], "DBUS_SESSION_BUS_ADDRESS": seat.bus}
    backend = LinuxBackend(HostServices(str(tmp_path / "other"), str(tmp_path / "other-run")))
    row = {row.id: row for row in await backend.devices(Environment(None, names))}[f"display-{number}"]
    assert (row.state, row.kind) == ("ready", "host")
    driver = await backend.connect(row, Environment(None, names))
    assert isinstance(driver, LinuxDriver)
    assert (await driver.screen.geometry()).viewport.width == 640
    assert "power" in driver.unavailable()
    await driver.aclose()
    assert all(row.kind == "virtual" for row in await backend.devices(Environment()))


async def test_a_display_that_cannot_be_driven_says_why_and_what_to_do(desktop: Desktop, tmp_path: Path) -> None:
    await desktop.boot(deadline=20)
    seat = desktop.running()
    backend = LinuxBackend(HostServices(str(tmp_path / "other"), str(tmp_path / "other-run")))
    good = {"DISPLAY": seat.display, "XAUTHORITY": seat.env["XAUTHORITY"], "DBUS_SESSION_BUS_ADDRESS": seat.bus}
    for change, reason, fix in (
        ({"XAUTHORITY": str(tmp_path / "none")}, "cannot be reached", "XAUTHORITY"),
        ({"DISPLAY": ":971"}, "cannot be reached", "Start the display"),
        ({"DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path}/bus"}, "does not answer", "DBUS_SESSION_BUS_ADDRESS"),
    ):
        rows = await backend.devices(Environment(None, {**good, **change}))
        row = next(row for row in rows if row.kind == "host")
        assert (row.state, reason in row.reason, fix in row.fix) == ("offline", True, True), (change, row)


async def test_a_desktop_without_accessibility_says_so_and_does_the_rest(desktop: Desktop, tmp_path: Path) -> None:
    await desktop.boot(deadline=20)
    seat = desktop.running()
    empty = tmp_path / "bus.conf"
    empty.write_text(
        f"<busconfig><type>session</type><listen>unix:path={seat.mark}/bare</listen><auth>EXTERNAL</auth>"
        '<policy context="default"><allow send_destination="*" eavesdrop="true"/>'
        '<allow eavesdrop="true"/><allow own="*"/></policy></busconfig>'
    )
    await desktop.launch(["dbus-daemon", f"--config-file={empty}", "--nofork", "--nopidfile", "--nosyslog"])
    assert await until((Path(seat.mark) / "bare").exists)
    bus = f"unix:path={seat.mark}/bare"
    names = {"DISPLAY": seat.display, "XAUTHORITY": seat.env["XAUTHORITY"], "DBUS_SESSION_BUS_ADDRESS": bus}
    backend = LinuxBackend(HostServices(str(tmp_path / "other"), str(tmp_path / "other-run")))
    row = next(row for row in await backend.devices(Environment(None, names)) if row.kind == "host")
    driver = await backend.connect(row, Environment(None, names))
    assert (await driver.screen.image()).width == 640
    assert (await driver.pointer.move(Point(5, 5))).verified
    with pytest.raises(UpstreamUnavailable) as caught:
        await driver.screen.tree(TreeScope())
    assert "at-spi2-core" in caught.value.details["enable_hint"]
    assert {"screen.tree", "elements", "alerts"} <= set(driver.unavailable())
    assert not driver.has("elements.activate") and driver.has("pointer.click")
    checks = {check.name: check for check in await backend.check(Environment(None, names))}
    assert not checks[f"accessibility of {row.name}"].ok
    await driver.aclose()


async def test_a_display_elsewhere_is_not_ours_to_list(tmp_path: Path) -> None:
    backend = LinuxBackend(HostServices(str(tmp_path / "data"), str(tmp_path / "run")))
    for name in ("far.example:0", "localhost:10.0", "", "nonsense"):
        rows = await backend.devices(Environment(None, {"DISPLAY": name}))
        assert all(row.kind == "virtual" for row in rows)


async def test_desktops_come_and_go_by_command(tmp_path: Path) -> None:
    manifest = Manifest.from_toml((Path(anydevice_linux.__file__).parent / "backend.toml").read_text("utf-8"))
    backend = LinuxBackend(HostServices(str(tmp_path / "data"), str(tmp_path / "run")))
    async with fake_router() as (router, _):
        router.services.backends.add(manifest, backend)
        for command in manifest.commands:
            router.services.catalogue.register_manifest(command, backend="linux", origin="test")

        async def do(command: str, **arguments: object) -> Answer:
            return await router.call(call(command, **arguments))

        added = await do("virtual-desktop", action="add", name="second", size="640x480")
        assert added.error is None
        assert (added.verified, added.data["device"]) == (True, "second")
        assert added.data["desktops"] == [{"device": "second", "size": "640x480"}]
        assert (await do("boot", device="second")).ok
        refused = await do("virtual-desktop", action="remove", name="second")
        assert refused.error is not None and refused.error.code == "refused"
        assert (await do("shutdown", device="second")).ok
        for taken in ("virtual", "Virtual", "SECOND"):  # of the configuration, and one that differs in case alone
            answer = await do("virtual-desktop", action="add", name=taken)
            assert answer.error is not None and answer.error.code == "invalid_argument", taken
        assert (await do("virtual-desktop", action="add", name="second", size="800x600")).ok, "its size may change"
        assert (await do("virtual-desktop", action="remove", name="second")).verified
        for wrong in ({"action": "add"}, {"action": "add", "name": "x", "size": "100x100"}, {"name": "x"}):
            answer = await do("virtual-desktop", **wrong)
            assert answer.error is not None and answer.error.code == "invalid_argument", wrong
        assert (await do("virtual-desktop")).data == {"desktops": []}
    await backend.aclose()


def test_the_manifest_declares_exactly_what_the_driver_implements() -> None:
    manifest = Manifest.from_toml((Path(anydevice_linux.__file__).parent / "backend.toml").read_text("utf-8"))
    assert contract_accepts(manifest.contract)
    row = Desktop(PLAN, "/none", "/none").device()
    driver = LinuxDriver(row, Running(), desktop=Desktop(PLAN, "/none", "/none"))
    implemented = set()
    for kind in CAPABILITIES:
        own = type(getattr(driver, kind.name, None))
        for name, refuses in vars(kind).items():
            if inspect.iscoroutinefunction(refuses) and getattr(own, name, refuses) is not refuses:
                implemented.add(f"{kind.name}.{name}")
    assert implemented == set(manifest.operations)


WITHOUT = """
import sys, anyio
sys.modules["dbus_fast"] = None
from anydevice.driver import Environment, HostServices
from anydevice_linux import LinuxBackend

async def main():
    backend = LinuxBackend(HostServices("/none", "/none"))
    (row,) = await backend.devices(Environment())
    print(row.state, row.reason, row.fix, sep="|")
    try:
        await backend.connect(row, Environment())
    except Exception as error:
        print(error.code)

anyio.run(main)
"""


async def test_without_its_libraries_the_backend_says_how_to_get_them() -> None:
    done = await processes.run([sys.executable, "-c", WITHOUT], deadline=20)
    assert done.text.splitlines() == [
        "unavailable|The library dbus-fast is not installed.|pip install 'anydevice[linux]' && anydevice stop",
        "tool_missing",
    ]
