"""A Wayland session as a device: found, told apart, driven as far as its compositor goes, and lost."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from anydevice.driver import Environment, HostServices, OpenRequest, TreeScope
from anydevice_linux.backend import LinuxBackend
from anydevice_linux.driver import LinuxDriver
from anydevice_linux.practicing import install, runs_here
from anydevice_linux.running import Running
from anydevice_linux.wayland.sight import look
from anydevice_schemas import Device, Point
from anydevice_schemas.errors import (
    CallTimeout,
    ConnectionLost,
    DeviceOffline,
    DialogOpen,
    OutcomeUnknown,
    Unsupported,
)
from anydevice_schemas.practice import APP_ID

from .a11y import await_, eventually
from .desktop import Seat, bare_server, end, until
from .session import ask, running_session, views
from .wayland import FULL, driving, shows, variables

pytestmark = pytest.mark.anyio


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[LinuxBackend]:
    made = LinuxBackend(HostServices(str(tmp_path / "data"), str(tmp_path / "run")))
    yield made
    await made.aclose()


async def row_of(backend: LinuxBackend, told: dict[str, str]) -> Device:
    """The row of the session that an environment names."""
    rows = await backend.devices(Environment(None, told))
    return next(row for row in rows if row.id.startswith("wayland-"))


async def test_a_session_is_a_device_beside_the_others(backend: LinuxBackend, wayland: Seat) -> None:
    told = dict(variables(wayland))
    rows = await backend.devices(Environment(None, told))
    assert {row.id for row in rows} == {"virtual", wayland.env["WAYLAND_DISPLAY"]}
    row = await row_of(backend, told)
    assert (row.state, row.kind, row.device_class, row.device_target) == ("ready", "host", "desktop", "desktop")
    driver = await backend.connect(row, Environment(None, told))
    assert (await driver.identify()).id == row.id
    assert "power" in driver.unavailable()
    await driver.aclose()
    assert [row.kind for row in await backend.devices(Environment())] == ["virtual"]
    checks = {check.name: check for check in await backend.check(Environment(None, told))}
    assert checks[row.name].ok and checks[f"accessibility of {row.name}"].ok


async def test_a_session_that_cannot_be_reached_says_why(backend: LinuxBackend, wayland: Seat, tmp_path: Path) -> None:
    for change, reason, fix in (
        ({"WAYLAND_DISPLAY": "wayland-77"}, "cannot be reached", "WAYLAND_DISPLAY"),
        ({"XDG_RUNTIME_DIR": str(tmp_path)}, "cannot be reached", "XDG_RUNTIME_DIR"),
        ({"DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path}/bus"}, "does not answer", "DBUS_SESSION_BUS_ADDRESS"),
    ):
        row = await row_of(backend, {**variables(wayland), **change})
        assert (row.state, reason in row.reason, fix in row.fix) == ("offline", True, True), row
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(tmp_path / "wayland-3"))
        mute.listen()
        row = await row_of(backend, {**variables(wayland), "WAYLAND_DISPLAY": str(tmp_path / "wayland-3")})
        assert row.state == "offline" and "did not answer" in row.reason
        driver = await backend.connect(row, Environment())
        with pytest.raises(DeviceOffline):
            await driver.screen.image()


async def test_sway_is_found_without_being_told_and_another_one_is_not_taken_for_it(
    wayland: Seat, tmp_path: Path
) -> None:
    known = await look(variables(wayland, SWAYSOCK=""))
    assert known is not None and known.seat is not None and known.seat.ipc == wayland.env["SWAYSOCK"]
    with running_session(tmp_path / "other", (400, 300)) as other:
        mixed = await look(variables(wayland, SWAYSOCK=other.env["SWAYSOCK"]))
        assert mixed is not None and mixed.seat is not None and mixed.seat.ipc == wayland.env["SWAYSOCK"]
        async with driving(wayland, tmp_path / "one") as one, driving(other, tmp_path / "two") as two:
            assert (await one.screen.geometry()).viewport.width == 1280
            assert (await two.screen.geometry()).viewport.width == 400
            await two.clipboard.write_text("of the other")
            assert (await one.clipboard.read()).text != "of the other"


@pytest.mark.skipif(shutil.which("Xwayland") is None, reason="not installed: Xwayland")
async def test_the_x_display_of_a_session_is_no_desktop_of_its_own(backend: LinuxBackend, tmp_path: Path) -> None:
    with running_session(tmp_path / "both", (400, 300), xwayland=True) as seat:
        told = Path(seat.env["XDG_RUNTIME_DIR"]) / "display"
        ask(seat, f"exec sh -c 'printf %s \"$DISPLAY\" > {told}.new && mv {told}.new {told}'")
        await eventually(told.exists, "sway does not say its display")
        display = told.read_text()
        assert display.startswith(":")
        both = {**variables(seat), "DISPLAY": display}
        rows = await backend.devices(Environment(None, both))
        assert {row.id for row in rows if row.kind == "host"} == {seat.env["WAYLAND_DISPLAY"]}
        with bare_server() as (other, _):
            rows = await backend.devices(Environment(None, {**both, "DISPLAY": other}))
            assert {row.id for row in rows if row.kind == "host"} == {
                seat.env["WAYLAND_DISPLAY"],
                f"display-{other.lstrip(':')}",
            }


@pytest.fixture
def weston(wayland: Seat) -> Iterator[dict[str, str]]:
    """What a caller says of a session whose compositor offers programs nothing but to show windows."""
    if shutil.which("weston") is None:
        pytest.skip("not installed: weston")
    runtime = Path(tempfile.mkdtemp(prefix="desk."))
    env = {**wayland.env, "XDG_RUNTIME_DIR": str(runtime), "WAYLAND_DISPLAY": "wayland-5"}
    argv = ["weston", "--backend=headless-backend.so", "--socket=wayland-5", "--idle-time=0"]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(argv, env=env, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    try:
        until((runtime / "wayland-5").is_socket, "no weston")
        yield {name: env[name] for name in variables(wayland)} | {"SWAYSOCK": wayland.env["SWAYSOCK"]}
    finally:
        end(process)
        shutil.rmtree(runtime, ignore_errors=True)


async def test_what_a_compositor_does_not_offer_is_absent_by_reason(
    backend: LinuxBackend, wayland: Seat, weston: dict[str, str]
) -> None:
    row = await row_of(backend, weston)
    assert (row.id, row.state) == ("wayland-5", "ready")
    driver = await backend.connect(row, Environment(None, weston))
    absent = driver.unavailable()
    assert {"screen.image", "pointer", "keys.press", "keys.type_text", "clipboard", "windows"} <= set(absent)
    assert "zwlr_screencopy_manager_v1" in absent["screen.image"] and "SWAYSOCK" in absent["windows"]
    assert not driver.has("pointer.click") and not driver.has("elements.activate") and driver.has("screen.tree")
    for call in (
        driver.screen.image(),
        driver.pointer.click(Point(5, 5)),
        driver.keys.press("a"),
        driver.keys.type_text("a"),
        driver.clipboard.write_text("a"),
    ):
        with pytest.raises(Unsupported):
            await call
    program = wayland.launch(
        ["/usr/bin/python3", Path(__file__).parent / "programs" / "a11y_gtk3.py", "--title", "Read"],
        env={name: weston[name] for name in ("WAYLAND_DISPLAY", "XDG_RUNTIME_DIR")},
    )
    try:
        node = await shows(driver, "Increment", "button", FULL)
        assert node.rect is None and node.key is not None  # it is read, and nobody knows where it is
        assert (await driver.elements.probe(node.key)).point is None
    finally:
        await anyio.to_thread.run_sync(wayland.end, program)
        await driver.aclose()


@pytest.fixture
async def furnished(wayland: Seat, tmp_path: Path) -> AsyncIterator[LinuxDriver]:
    """A driver of the session whose programs have a home of their own, with the practice app in it."""
    sight = await look(variables(wayland))
    assert sight is not None and sight.seat is not None
    install(Path(wayland.env["XDG_DATA_HOME"]))
    seat = replace(sight.seat, env={**sight.seat.env, **wayland.env}, cwd=wayland.env["HOME"])
    driver = LinuxDriver(sight.device(), Running(), seat=seat)
    yield driver
    for app in await driver.apps.list():
        if app.running:
            await driver.apps.close(app.id, force=True)
    await driver.aclose()


@pytest.mark.skipif(not runs_here(), reason="the system's Python has no GTK")
async def test_an_app_is_opened_driven_and_closed(furnished: LinuxDriver, wayland: Seat) -> None:
    opened = await furnished.apps.open(OpenRequest(APP_ID, deadline=30))
    assert opened.verified and opened.data["accessible"]
    assert any(view["pid"] == opened.data["pid"] and view["focused"] for view in views(wayland))
    state = await furnished.apps.state()
    assert (state["app"], state["pid"]) == (APP_ID, opened.data["pid"])
    assert len((await furnished.screen.tree(TreeScope())).nodes) > 5
    assert (await furnished.apps.close(APP_ID)).verified
    assert views(wayland) == []


@pytest.mark.skipif(shutil.which("mousepad") is None, reason="not installed: mousepad")
async def test_unsaved_work_is_asked_about_before_an_app_closes(furnished: LinuxDriver, wayland: Seat) -> None:
    opened = await furnished.apps.open(OpenRequest("org.xfce.mousepad", deadline=30))
    await furnished.keys.type_text("Not saved")

    async def text() -> list[str | None]:
        return [node.value for node in (await furnished.screen.tree(TreeScope())).nodes]

    await await_(text, lambda values: "Not saved" in values)
    with pytest.raises(DialogOpen) as caught:
        await furnished.apps.close(None)
    assert len(caught.value.details["buttons"]) >= 2
    assert any(view["pid"] == opened.data["pid"] for view in views(wayland))
    assert (await furnished.apps.close(None, force=True)).verified
    await eventually(lambda: views(wayland) == [], "it goes on")


async def test_a_compositor_that_hangs_costs_its_deadline_and_comes_back(tmp_path: Path) -> None:
    with running_session(tmp_path / "hangs", (400, 300)) as seat:
        async with driving(seat, tmp_path) as driver:
            await driver.screen.image()
            os.kill(seat.xserver.pid, signal.SIGSTOP)
            try:
                for call in (driver.screen.image, driver.windows.list):
                    with anyio.fail_after(20), pytest.raises((CallTimeout, ConnectionLost, DeviceOffline)):
                        await call()
                with anyio.fail_after(20), pytest.raises((CallTimeout, OutcomeUnknown, ConnectionLost, DeviceOffline)):
                    await driver.pointer.click(Point(5, 5))
            finally:
                os.kill(seat.xserver.pid, signal.SIGCONT)

            async def again() -> bool:
                try:
                    return (await driver.screen.image()).width == 400
                except (CallTimeout, ConnectionLost, DeviceOffline):
                    return False

            await await_(again, lambda came: came)
            assert any(loss["kind"] == "display-connection" for loss in driver.losses())


async def test_a_session_that_ended_is_offline_by_type(tmp_path: Path) -> None:
    with running_session(tmp_path / "ends", (400, 300)) as seat:
        async with driving(seat, tmp_path) as driver:
            await driver.screen.image()
            await driver.windows.list()
            await anyio.to_thread.run_sync(end, seat.xserver)
            for call in (driver.screen.image, driver.windows.list, driver.clipboard.read):
                with anyio.fail_after(20), pytest.raises((ConnectionLost, DeviceOffline)):
                    await call()


async def test_many_calls_leave_nothing_behind_in_the_compositor(wayland: Seat, tmp_path: Path) -> None:
    async with driving(wayland, tmp_path) as driver:
        await driver.screen.geometry()
        open_files = len(os.listdir("/proc/self/fd"))
        for number in range(25):
            await driver.pointer.move(Point(number, number))
            await driver.screen.image()
        assert len(os.listdir("/proc/self/fd")) <= open_files + 3
        live = driver._lives.existing
        assert live is not None
        session = live.display._session  # type: ignore[attr-defined]
        assert len(session.connection._things) < 40  # ids are given again once the compositor let go of them
