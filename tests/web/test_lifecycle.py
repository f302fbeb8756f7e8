"""Browsers as devices: found, started, stopped with everything they started, kept apart, swept, attached to."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from anydevice.kit import processes
from anydevice.kit.pids import alive, group_alive
from anydevice_schemas import Device
from anydevice_schemas.errors import (
    ConnectionLost,
    DeviceNotReady,
    HostAtCapacity,
    MachineUnreachable,
    ToolMissing,
    Unsupported,
)
from anydevice_web import WebBackend
from anydevice_web.endpoint import PROBE_DEADLINE
from anydevice_web.folders import make_folder, sweep
from anydevice_web.installed import find_installed

from .site import Site, send
from .web import ENV, FLAGS, Web, connect, one, running_backend

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]


@pytest.fixture
async def backend(anyio_backend: str, tmp_path: Path) -> AsyncIterator[WebBackend]:
    async with running_backend(tmp_path) as backend:
        yield backend


async def rows(backend: WebBackend) -> dict[str, Device]:
    return {row.id: row for row in await backend.devices(ENV)}


async def test_an_installed_browser_is_a_device_that_is_shut_down(backend: WebBackend) -> None:
    row = (await rows(backend))["chromium"]
    assert (row.platform, row.kind, row.state, row.device_class, row.device_target) == (
        "web", "browser", "shutdown", "browser", "desktop",
    )  # fmt: skip
    assert "boot" in row.fix
    driver = await connect(backend)
    for call in (driver.apps.list, driver.apps.state, driver.alerts.get, driver.keys.focused):
        with pytest.raises(DeviceNotReady):
            await call()  # type: ignore[operator]
    assert (await driver.identify()).key == "web:chromium"


async def test_boot_makes_it_ready_and_shutdown_leaves_nothing(backend: WebBackend, tmp_path: Path) -> None:
    driver = await connect(backend)
    booted = await driver.power.boot(headless=True, deadline=30)
    assert (booted.verified, booted.data["headless"]) == (True, True)
    again = await driver.power.boot(headless=True, deadline=30)
    assert again.data["already_running"] is True
    row = (await rows(backend))["chromium"]
    assert (row.state, row.os_version, row.facts["tabs"]) == ("ready", booted.data["version"], 1)
    running = driver.instance.running
    assert running is not None
    assert running.child is not None
    assert await driver.identify() == row.ref()
    stopped = await driver.power.shutdown(deadline=10)
    assert stopped.verified is True
    assert stopped.data["exit"] == 0
    assert not group_alive(running.child.pid)
    assert list((tmp_path / "run").iterdir()) == []
    assert (await rows(backend))["chromium"].state == "shutdown"
    assert driver.losses() == []
    with pytest.raises(DeviceNotReady):
        await driver.apps.list()
    assert (await driver.power.shutdown(deadline=10)).verified is True


async def test_two_browsers_at_once_never_mix(backend: WebBackend, shared_site: Site) -> None:
    await anyio.to_thread.run_sync(backend.profiles.add_profile, "two", "chromium")
    first, second = await connect(backend), await connect(backend, "chromium:two")
    async with anyio.create_task_group() as group:
        for driver in (first, second):
            group.start_soon(lambda d: d.power.boot(headless=True, deadline=30), driver)
    one_web, two_web = Web(backend, first, shared_site), Web(backend, second, shared_site)
    page = "<button onclick=\"tell('pressed', document.cookie)\">b</button><script>document.cookie = 'who={}'</script>"
    trees = [await one_web.show(page.format("one")), await two_web.show(page.format("two"))]
    assert not {node.key for node in trees[0].nodes} & {node.key for node in trees[1].nodes}
    shared_site.told.clear()
    await two_web.click(one(trees[1], "b"))
    assert [data for data in shared_site.data("pressed")] == ["who=two"]
    await one_web.click(one(trees[0], "b"))
    assert shared_site.data("pressed") == ["who=two", "who=one"]
    assert [(await driver.identify()).id for driver in (first, second)] == ["chromium", "chromium:two"]
    await first.power.shutdown(deadline=10)
    assert one(await two_web.tree(), "b")
    states = {row.id: row.state for row in await backend.devices(ENV)}
    assert (states["chromium"], states["chromium:two"]) == ("shutdown", "ready")


async def test_a_named_profile_keeps_its_state_a_fresh_one_does_not(backend: WebBackend, shared_site: Site) -> None:
    await anyio.to_thread.run_sync(backend.profiles.add_profile, "kept", "chromium")
    url = shared_site.page(
        "<script>tell('before', localStorage.mark || null); localStorage.mark = 'been here'</script>"
    )
    for device, expected in (("chromium:kept", [None, "been here"]), ("chromium", [None, None])):
        shared_site.told.clear()
        driver = await connect(backend, device)
        for _ in range(2):
            await driver.power.boot(headless=True, deadline=30)
            await Web(backend, driver, shared_site).open(url)
            await driver.power.shutdown(deadline=15)
        assert shared_site.data("before") == expected


async def test_a_profile_in_use_is_not_started_twice(backend: WebBackend) -> None:
    await anyio.to_thread.run_sync(backend.profiles.add_profile, "busy", "chromium")
    folder = next((Path(backend.host.data_dir) / "profiles").iterdir())
    lock = folder / "SingletonLock"
    lock.symlink_to(f"{socket.gethostname()}-{os.getpid()}")
    row = (await rows(backend))["chromium:busy"]
    assert (row.state, f"process {os.getpid()}" in row.reason) == ("offline", True)
    driver = await connect(backend, "chromium:busy")
    with pytest.raises(DeviceNotReady) as caught:
        await driver.power.boot(headless=True, deadline=30)
    assert caught.value.details["pid"] == os.getpid()
    # A lock whose owner is dead is nobody's.
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    lock.unlink()
    lock.symlink_to(f"{socket.gethostname()}-{gone.pid}")
    assert (await rows(backend))["chromium:busy"].state == "shutdown"
    assert (await driver.power.boot(headless=True, deadline=30)).verified is True


async def test_folders_whose_owner_is_dead_are_swept_and_no_others(tmp_path: Path) -> None:
    mine = await make_folder(str(tmp_path))
    dead = await make_folder(str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (dead / "owner.json").write_text(json.dumps({"pid": gone.pid, "started": "1"}))
    reused = await make_folder(str(tmp_path))  # the id lives, but as another process
    (reused / "owner.json").write_text(json.dumps({"pid": os.getpid(), "started": "another time"}))
    torn = await make_folder(str(tmp_path))
    (torn / "owner.json").write_text("{")
    other = tmp_path / "not-ours"
    other.mkdir()
    assert set(await sweep(str(tmp_path))) == {dead.name, reused.name, torn.name}
    assert {path.name for path in tmp_path.iterdir()} == {mine.name, "not-ours"}


ORPHAN = """
import sys, anyio
from anydevice.driver import Environment, HostServices
from anydevice_web import WebBackend

async def main():
    backend = WebBackend(HostServices(sys.argv[1] + "/data", sys.argv[1] + "/run", {}))
    driver = await backend.connect((await backend.devices(Environment()))[0], Environment())
    await driver.power.boot(headless=True, deadline=30)
    print(driver.instance.running.child.pid, flush=True)
    await anyio.sleep_forever()

anyio.run(main)
"""


async def test_a_browser_never_outlives_a_host_that_was_killed(tmp_path: Path) -> None:
    host = await processes.start([sys.executable, "-c", ORPHAN, str(tmp_path)], stdout=subprocess.PIPE)
    assert host.process.stdout is not None
    with anyio.fail_after(60):
        pid = int((await host.process.stdout.receive()).split()[0])
    assert alive(pid)
    os.kill(host.pid, signal.SIGKILL)
    with anyio.fail_after(30):
        while group_alive(pid):
            await anyio.sleep(0.02)
    await processes.stop(host)
    async with running_backend(tmp_path) as backend:
        await backend.devices(ENV)
    assert list((tmp_path / "run").iterdir()) == []


async def test_a_browser_that_ends_while_starting_says_what_it_wrote(tmp_path: Path) -> None:
    broken = tmp_path / "browser"
    broken.write_text("#!/bin/sh\necho 'cannot open display' >&2\nexit 7\n")
    broken.chmod(0o755)
    async with running_backend(tmp_path, executable=str(broken)) as backend:
        driver = await connect(backend)
        with pytest.raises(DeviceNotReady) as caught:
            await driver.power.boot(headless=True, deadline=10)
        assert caught.value.details["exit"] == 7
        assert "cannot open display" in caught.value.details["stderr"]
        assert list((tmp_path / "run").iterdir()) == []
        assert (await rows(backend))["chromium"].state == "shutdown"


async def test_a_browser_that_never_answers_is_ended_at_the_deadline(tmp_path: Path) -> None:
    silent = tmp_path / "browser"
    silent.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    silent.chmod(0o755)
    async with running_backend(tmp_path, executable={"chromium": str(silent)}) as backend:
        driver = await connect(backend)
        with pytest.raises(Exception, match="did not answer"):
            await driver.power.boot(headless=True, deadline=4.0)  # the script has begun by then
        assert not alive(int((tmp_path / "pid").read_text()))
        assert list((tmp_path / "run").iterdir()) == []


async def test_a_host_without_a_browser_has_no_rows_and_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("anydevice_web.installed.os.access", lambda path, mode: False)
    async with running_backend(tmp_path) as backend:
        assert await backend.devices(ENV) == []
        check = next(check for check in await backend.check(ENV) if check.name == "browser")
        assert (check.ok, "Install" in check.fix) == (False, True)


async def test_doctor_hears_of_each_browser(backend: WebBackend) -> None:
    checks = {check.name: check for check in await backend.check(ENV)}
    assert checks["browser chromium"].ok
    assert checks["browser chromium"].detail


def test_no_sandbox_is_given_up_only_as_root() -> None:
    from anydevice_web.launch import Launch, command_line

    launch = Launch("/x", Path("/p"), Path("/d"), "chromium", True, ("--extra",))
    assert ("--no-sandbox" in command_line(launch)) == (os.geteuid() == 0)
    assert command_line(launch)[-2:] == ["--extra", "about:blank"]
    assert "--headless" not in command_line(Launch("/x", Path("/p"), Path("/d"), "chromium", False))


def test_browsers_are_found_on_the_path_and_where_the_settings_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("google-chrome", "microsoft-edge-stable"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {browser.id: browser.executable for browser in find_installed({"executable": {"chromium": "/bin/sh"}})}
    assert found["chrome"] == str(tmp_path / "google-chrome")
    assert found["edge"] == str(tmp_path / "microsoft-edge-stable")
    assert found["chromium"] == "/bin/sh"


async def test_more_browsers_than_allowed_are_refused(tmp_path: Path) -> None:
    async with running_backend(tmp_path, max_browsers=1, profiles={"extra": "chromium"}) as backend:
        await (await connect(backend)).power.boot(headless=True, deadline=30)
        with pytest.raises(HostAtCapacity):
            await (await connect(backend, "chromium:extra")).power.boot(headless=True, deadline=30)


async def test_a_program_that_is_gone_by_the_time_of_boot_is_a_missing_tool(tmp_path: Path) -> None:
    program = tmp_path / "browser"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    async with running_backend(tmp_path, executable=str(program)) as backend:
        driver = await connect(backend)
        program.unlink()
        with pytest.raises((ToolMissing, DeviceNotReady)):
            await driver.power.boot(headless=True, deadline=5)


# --- endpoints -------------------------------------------------------------------------------------------


@pytest.fixture
async def running_chromium(anyio_backend: str, tmp_path: Path) -> AsyncIterator[tuple[str, processes.Child]]:
    """A browser somebody else started, with its DevTools address."""
    profile = tmp_path / "theirs"
    [browser] = [one for one in find_installed({}) if one.id == "chromium"]
    child = await processes.start(
        [browser.executable, "--headless", *(["--no-sandbox"] if os.geteuid() == 0 else []), "--disable-gpu", *FLAGS,
         "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
    )  # fmt: skip
    port = profile / "DevToolsActivePort"
    with anyio.fail_after(60):
        while not (port.exists() and port.read_text().count("\n")):
            await anyio.sleep(0.02)
    yield f"http://127.0.0.1:{port.read_text().split()[0]}", child
    await processes.stop(child)


async def test_a_running_browser_is_attached_to_and_left_running(
    running_chromium: tuple[str, processes.Child], tmp_path: Path, shared_site: Site
) -> None:
    url, child = running_chromium
    async with running_backend(tmp_path, endpoints={"theirs": url, "silent": "http://127.0.0.1:9"}) as backend:
        listed = await rows(backend)
        assert (listed["endpoint:theirs"].kind, listed["endpoint:theirs"].state) == ("endpoint", "ready")
        assert listed["endpoint:theirs"].os_version.startswith(("Chrome/", "HeadlessChrome/"))
        silent = listed["endpoint:silent"]
        assert (silent.state, bool(silent.reason), bool(silent.fix)) == ("offline", True, True)
        with pytest.raises(MachineUnreachable):
            await backend.connect(silent, ENV)
        driver = await backend.connect(listed["endpoint:theirs"], ENV)
        web = Web(backend, driver, shared_site)
        tree = await web.show("<button onclick=\"tell('theirs')\">b</button>")
        await web.click(one(tree, "b"))
        assert "theirs" in shared_site.kinds()
        assert (await driver.identify()).id == "endpoint:theirs"
        for power in (driver.power.boot(headless=True, deadline=5), driver.power.shutdown(deadline=5)):
            with pytest.raises(Unsupported):
                await power
        assert "power" in driver.unavailable()
        await driver.aclose()
        assert child.code is None
        again = await backend.connect(listed["endpoint:theirs"], ENV)
        assert again.losses() == []
        os.killpg(child.pid, signal.SIGKILL)
        with pytest.raises(ConnectionLost), anyio.fail_after(20):
            while True:
                await again.apps.state()
                await anyio.sleep(0.01)
        assert [loss["kind"] for loss in again.losses()] == ["connection_lost"]
        assert (await rows(backend))["endpoint:theirs"].state == "offline"


async def test_a_silent_endpoint_never_holds_the_listing_up(tmp_path: Path) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        async with running_backend(tmp_path, endpoints={str(n): url for n in range(5)}) as backend:
            with anyio.fail_after(4.5 * PROBE_DEADLINE):  # one after the other would take five
                listed = await rows(backend)
    assert [listed[f"endpoint:{n}"].state for n in range(5)] == ["offline"] * 5


async def test_an_endpoint_that_breaks_off_is_offline_and_the_listing_goes_on(tmp_path: Path) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()

        def reset() -> None:
            link, _ = server.accept()
            with link:
                link.recv(1000)
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        breaker = threading.Thread(target=reset)
        breaker.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        async with running_backend(tmp_path, endpoints={"broken": url}) as backend:
            row = (await rows(backend))["endpoint:broken"]
        await anyio.to_thread.run_sync(breaker.join)
    assert (row.state, "no browser answers" in row.reason) == ("offline", True)


async def test_what_answers_but_is_no_browser_is_offline(tmp_path: Path, shared_site: Site) -> None:
    shared_site.serve("/json/version", lambda r: send(r, b"<html>hello</html>"))
    async with running_backend(tmp_path, endpoints={"page": shared_site.url("")}) as backend:
        row = (await rows(backend))["endpoint:page"]
    assert (row.state, "no browser" in row.reason) == ("offline", True)
