"""Applications on a desktop: found, opened until really up, told, closed without losing work, links handed over."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from anydevice.driver import Environment, HostServices, OpenRequest, TreeScope
from anydevice.kit import pids
from anydevice_linux.backend import LinuxBackend
from anydevice_linux.driver import LinuxDriver
from anydevice_linux.entries import Entries, Entry, parse, split
from anydevice_linux.opening import find
from anydevice_linux.practicing import runs_here
from anydevice_schemas.errors import (
    AmbiguousElement,
    AppCrashed,
    AppNotFound,
    AppNotRunning,
    CallTimeout,
    DialogOpen,
    Refused,
    ToolMissing,
    Unsupported,
)
from anydevice_schemas.practice import APP_ID

from .desktop import missing

ABSENT = missing() or (None if runs_here() else "the system's Python has no GTK")
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(ABSENT is not None, reason=ABSENT or "")]
PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def backend(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LinuxBackend]:
    folder = tmp_path_factory.mktemp("apps")
    made = LinuxBackend(HostServices(str(folder / "data"), str(folder / "run")))
    yield made
    await made.aclose()


@pytest.fixture
async def driver(backend: LinuxBackend) -> AsyncIterator[LinuxDriver]:
    """A driver of a desktop that runs, with nothing open on it."""
    (row,) = [row for row in await backend.devices(Environment()) if row.kind == "virtual"]
    made = await backend.connect(row, Environment())
    await made.power.boot(headless=None, deadline=20)
    yield made
    for app in await made.apps.list():
        if app.running:
            await made.apps.close(app.id, force=True)
    await made.aclose()


def home_of(backend: LinuxBackend) -> Path:
    desktop = backend.desktop("virtual")
    assert desktop is not None
    return Path(desktop.running().cwd)


def install(backend: LinuxBackend, id: str, text: str) -> None:
    folder = home_of(backend) / ".local" / "share" / "applications"
    (folder / f"{id}.desktop").write_text(f"[Desktop Entry]\nType=Application\nName={id}\n{text}\n")


# --- .desktop files ---


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("gedit %U", ["gedit", "%U"]),
        ('"/a b/c" --x=%%  y', ["/a b/c", "--x=%%", "y"]),
        (r'"a\\"b" "\\$HOME" "\\\\"', ['a"b', "$HOME", "\\"]),
        (r"a\sb", ["a", "b"]),
        ('""', [""]),
    ],
)
async def test_exec_lines_are_split_as_they_are_quoted(line: str, words: list[str]) -> None:
    assert split(line) == words


async def test_an_open_quote_is_no_command_line() -> None:
    with pytest.raises(ValueError):
        split('"a b')


async def test_field_codes_are_filled_in() -> None:
    entry = Entry("org.x.App", "The App", "/x.desktop", ("run", "%i", "--name=%c", "%k", "100%%", "%U", "%m"))
    assert entry.command(["a:1", "b:2"], ["--last"]) == [
        "run", "--name=The App", "/x.desktop", "100%", "a:1", "b:2", "", "--last",
    ]  # fmt: skip
    assert Entry("x", "x", "", ("run", "%u")).command(["a:1", "b:2"]) == ["run", "a:1"]
    assert Entry("x", "x", "", ("run",)).command(["a:1"]) == ["run", "a:1"]


async def test_what_cannot_be_started_is_not_installed(tmp_path: Path) -> None:
    for name, text in (
        ("link", "Type=Link\nURL=http://x"),
        ("hidden", "Type=Application\nName=x\nExec=true\nHidden=true"),
        ("tried", "Type=Application\nName=x\nExec=true\nTryExec=/no/such/program"),
        ("broken", 'Type=Application\nName=x\nExec="true'),
        ("empty", "Type=Application\nName=x"),
    ):
        path = tmp_path / f"{name}.desktop"
        path.write_text(f"[Desktop Entry]\n{text}\n")
        assert parse(name, path) is None, name
    (tmp_path / "noise.desktop").write_bytes(b"\xff\xfe\x00 no ini file")
    assert parse("noise", tmp_path / "noise.desktop") is None


async def test_a_name_that_several_apps_have_is_refused_with_all_of_them(tmp_path: Path) -> None:
    applications = tmp_path / "applications"
    applications.mkdir()
    for id, name in (("one", "Twin"), ("two", "Twin"), ("three", "Single")):
        (applications / f"{id}.desktop").write_text(f"[Desktop Entry]\nType=Application\nName={name}\nExec=true\n")
    entries = Entries({"XDG_DATA_HOME": str(tmp_path), "XDG_DATA_DIRS": "/none", "HOME": "/none"}).read()
    with pytest.raises(AmbiguousElement) as caught:
        find("twin", entries)
    assert [row["app"] for row in caught.value.details["candidates"]] == ["one", "two"]
    assert [find(word, entries).id for word in ("two", "Single")] == ["two", "three"]
    with pytest.raises(AmbiguousElement):  # all three are this program
        find(str(shutil.which("true")), entries)


async def test_a_program_is_the_app_that_adds_no_words_of_its_own(tmp_path: Path) -> None:
    applications = tmp_path / "applications"
    applications.mkdir()
    for id, line in (("aaa", "true --preferences"), ("bbb", "true %U"), ("ccc", "true --new")):
        (applications / f"{id}.desktop").write_text(f"[Desktop Entry]\nType=Application\nName={id}\nExec={line}\n")
    entries = Entries({"XDG_DATA_HOME": str(tmp_path), "XDG_DATA_DIRS": "/none", "HOME": "/none"}).read()
    assert find(str(shutil.which("true")), entries).id == "bbb"


async def test_a_persons_choice_of_a_handler_counts(tmp_path: Path) -> None:
    applications = tmp_path / "data" / "applications"
    applications.mkdir(parents=True)
    for id in ("aaa", "bbb"):
        (applications / f"{id}.desktop").write_text(
            f"[Desktop Entry]\nType=Application\nName={id}\nExec=true\nMimeType=x-scheme-handler/odd;\n"
        )
    entries = Entries({"XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CONFIG_HOME": str(tmp_path), "HOME": "/none"})
    known = entries.read()
    assert entries.handler("odd", known) == known["aaa"]
    (tmp_path / "mimeapps.list").write_text("[Default Applications]\nx-scheme-handler/odd=gone.desktop;bbb.desktop\n")
    assert entries.handler("ODD", known) == known["bbb"]
    assert entries.handler("other", known) is None


# --- opening ---


async def test_an_app_opens_by_id_name_and_path(driver: LinuxDriver, backend: LinuxBackend) -> None:
    path = home_of(backend) / ".local" / "share" / "applications" / f"{APP_ID}.desktop"
    for word in (APP_ID, f"{APP_ID}.desktop", "practice", "PRACTICE", str(path)):
        acted = await driver.apps.open(OpenRequest(app=word, arguments=("--screen", "form")))
        assert (acted.verified, acted.data["app"], acted.data["title"]) == (True, APP_ID, "Form")
        assert acted.data["accessible"] is True
        state = await driver.apps.state()
        assert (state["app"], state["title"], state["pid"]) == (APP_ID, "Form", acted.data["pid"])


async def test_it_is_up_when_open_returns(driver: LinuxDriver) -> None:
    await driver.apps.open(OpenRequest(app=APP_ID, arguments=("--screen", "form")))
    tree = await driver.screen.tree(TreeScope())
    assert "Sign in" in [node.name for node in tree.nodes]


async def test_a_second_start_reaches_the_instance_that_runs(driver: LinuxDriver) -> None:
    first = await driver.apps.open(OpenRequest(app=APP_ID))
    second = await driver.apps.open(OpenRequest(app=APP_ID, arguments=("--screen", "form")))
    assert (second.data["pid"], second.data["already_running"]) == (first.data["pid"], True)
    assert "already_running" not in first.data


async def test_a_program_that_is_no_installed_app_is_not_started_by_its_path(
    driver: LinuxDriver, tmp_path: Path
) -> None:
    told = tmp_path / "started"
    script = tmp_path / "own-window"
    script.write_text(f"#!/bin/sh\ntouch {told}\n")
    script.chmod(0o755)
    with pytest.raises(Refused):  # it would be as good as a shell
        await driver.apps.open(OpenRequest(app=str(script)))
    assert not told.exists()


@pytest.mark.skipif(not Path("/usr/bin/mousepad").exists(), reason="not installed: mousepad")
async def test_an_installed_app_opens_by_the_path_of_its_program(driver: LinuxDriver) -> None:
    acted = await driver.apps.open(OpenRequest(app="/usr/bin/mousepad"))
    assert "mousepad" in str(acted.data["app"]).casefold()
    assert (await driver.apps.close(str(acted.data["app"]))).verified


async def test_what_is_not_there_is_told_with_what_is_near(driver: LinuxDriver) -> None:
    with pytest.raises(AppNotFound) as caught:
        await driver.apps.open(OpenRequest(app="practise"))
    assert {"app": APP_ID, "name": "Practice"} in caught.value.details["nearest_matches"]
    with pytest.raises(AppNotFound):
        await driver.apps.open(OpenRequest(app="/no/such/program"))
    with pytest.raises(AppNotFound):
        await driver.apps.open(OpenRequest(url="nobody-opens-this://x"))


async def test_an_app_that_ends_while_starting_is_told_with_what_it_said(
    driver: LinuxDriver, backend: LinuxBackend
) -> None:
    install(backend, "fails", 'Exec=sh -c "echo no licence >\\\\&2; exit 3"'.replace("\\\\&", "&"))
    with pytest.raises(AppCrashed) as caught:
        await driver.apps.open(OpenRequest(app="fails"))
    assert caught.value.details["reason"] == "ended with status 3"
    assert "no licence" in caught.value.details["stderr"]


async def test_an_app_that_shows_nothing_ends_in_time(driver: LinuxDriver, backend: LinuxBackend) -> None:
    install(backend, "silent", "Exec=sleep 30")
    began = anyio.current_time()
    with pytest.raises(CallTimeout):
        await driver.apps.open(OpenRequest(app="silent", deadline=1.0))
    assert anyio.current_time() - began < 15


async def test_an_app_of_a_terminal_and_one_whose_program_is_gone_are_refused(
    driver: LinuxDriver, backend: LinuxBackend
) -> None:
    install(backend, "in-terminal", "Exec=true\nTerminal=true")
    install(backend, "no-program", "Exec=/no/such/program")
    with pytest.raises(Unsupported):
        await driver.apps.open(OpenRequest(app="in-terminal"))
    with pytest.raises(ToolMissing):
        await driver.apps.open(OpenRequest(app="no-program"))


# --- telling and closing ---


async def test_apps_are_listed_installed_and_running(driver: LinuxDriver) -> None:
    apps = {app.id: app for app in await driver.apps.list()}
    assert (apps[APP_ID].running, apps[APP_ID].name) == (False, "Practice")
    await driver.apps.open(OpenRequest(app=APP_ID))
    listed = list(await driver.apps.list())
    assert [(app.id, app.running) for app in listed if app.foreground] == [(APP_ID, True)]
    assert len({app.id for app in listed}) == len(listed)


async def test_nothing_open_is_told(driver: LinuxDriver) -> None:
    with pytest.raises(AppNotRunning):
        await driver.apps.state()
    assert (await driver.apps.close(None)).data == {"already_closed": True}


async def test_close_sees_it_gone(driver: LinuxDriver) -> None:
    opened = await driver.apps.open(OpenRequest(app=APP_ID))
    acted = await driver.apps.close(None)
    assert acted.verified
    assert not pids.alive(opened.data["pid"])


async def test_a_crash_is_told_until_the_app_is_opened_again(driver: LinuxDriver) -> None:
    opened = await driver.apps.open(OpenRequest(app=APP_ID))
    os.kill(opened.data["pid"], signal.SIGSEGV)
    with anyio.fail_after(20):
        while pids.alive(opened.data["pid"]) or [app for app in await driver.apps.list() if app.running]:
            await anyio.sleep(0.02)
    for _ in range(2):
        with pytest.raises(AppCrashed) as caught:
            await driver.screen.tree(TreeScope())
        assert caught.value.details["reason"] == "ended by signal 11"
    await driver.apps.open(OpenRequest(app=APP_ID))
    await driver.screen.tree(TreeScope())


async def test_an_app_that_was_closed_by_hand_is_not_running(driver: LinuxDriver) -> None:
    opened = await driver.apps.open(OpenRequest(app=APP_ID))
    os.kill(opened.data["pid"], signal.SIGSTOP)
    os.kill(opened.data["pid"], signal.SIGCONT)
    live = await driver._lives.get()
    await live.arranging.close(await driver.windows.number(opened.data["window"]))
    with anyio.fail_after(20):
        while pids.alive(opened.data["pid"]):
            await anyio.sleep(0.02)
    with pytest.raises(AppNotRunning):
        await driver.apps.state()


@pytest.mark.skipif(not Path("/usr/bin/mousepad").exists(), reason="not installed: mousepad")
async def test_unsaved_work_is_told_and_kept(driver: LinuxDriver) -> None:
    opened = await driver.apps.open(OpenRequest(app="mousepad"))
    await driver.keys.type_text("not saved")
    with pytest.raises(DialogOpen) as caught:
        await driver.apps.close("mousepad")
    assert caught.value.details["buttons"]
    assert pids.alive(opened.data["pid"])
    with pytest.raises(DialogOpen):
        await driver.apps.close("mousepad")
    acted = await driver.apps.close("mousepad", force=True)
    assert (acted.method, acted.verified) == ("kill", True)
    assert not pids.alive(opened.data["pid"])


async def test_a_frozen_app_is_closed_by_force(driver: LinuxDriver) -> None:
    opened = await driver.apps.open(OpenRequest(app=APP_ID))
    os.kill(opened.data["pid"], signal.SIGSTOP)
    acted = await driver.apps.close(None, force=True)
    assert acted.verified
    assert not pids.alive(opened.data["pid"])


# --- links ---


async def test_a_link_goes_to_the_app_that_is_installed_for_it(driver: LinuxDriver) -> None:
    acted = await driver.links.open_url("practice://echo?link=1")
    assert (acted.data["app"], acted.verified) == (APP_ID, True)
    again = await driver.links.open_url("practice://echo?link=2", app=APP_ID)
    assert (again.data["app"], again.verified) == (APP_ID, True)
    with pytest.raises(AppNotFound):
        await driver.links.open_url("nobody-opens-this://x")


async def test_programs_get_nothing_of_the_environment_of_the_daemon(
    driver: LinuxDriver, backend: LinuxBackend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_DAEMON", "x")
    desktop = backend.desktop("virtual")
    assert desktop is not None
    told = tmp_path / "told"
    child = await desktop.launch(
        [sys.executable, "-c", f"import os; open({str(told)!r}, 'w').write(repr(dict(os.environ)))"]
    )
    await child.wait()
    assert "SECRET_OF_THE_DAEMON" not in told.read_text()
    assert "XDG_RUNTIME_DIR" in told.read_text()
