"""Settings of a desktop: judged by GTK programs, by the bus and by the X server, not by our own answers."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from hypothesis import given
from hypothesis import strategies as st
from Xlib import X

from anydevice.commands import settings as commands
from anydevice.driver import Environment, HostServices
from anydevice.testing import call, caller
from anydevice_linux.backend import LinuxBackend
from anydevice_linux.practicing import SYSTEM_PYTHON, runs_here
from anydevice_linux.preferences.xsettings import decode, encode
from anydevice_linux.seats import Seat
from anydevice_linux.x11 import XDisplay

from .desktop import missing
from .through import Seated, eventually, seated

ABSENT = missing() or (None if runs_here() else "the system's Python has no GTK")
needs_a_desktop = pytest.mark.skipif(ABSENT is not None, reason=ABSENT or "")
pytestmark = pytest.mark.anyio
PROGRAM = Path(__file__).parent / "programs" / "looks_gtk.py"
PAGE = """<title>Page</title><script>
const dark = matchMedia("(prefers-color-scheme: dark)");
setInterval(() => { document.title = `${dark.matches ? "dark" : "light"}, ${devicePixelRatio}`; }, 50);
</script>"""
PORTAL = ["--dest=org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def booted(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Seated]:
    async with seated(tmp_path_factory.mktemp("settings")) as made:
        yield made


@pytest.fixture
async def desk(booted: Seated) -> AsyncIterator[Seated]:
    """The desktop, held by nobody and as nobody has set it."""
    yield booted
    release(booted)
    await (await connected(booted)).clean()


def release(desk: Seated) -> None:
    """Whoever has the desktop gives it back."""
    for session in desk.router.services.sessions.of_device("linux:virtual"):
        desk.router.services.sessions.end(session, "done")


async def connected(desk: Seated) -> Any:
    row = next(row for row in await desk.backend.devices(Environment()) if row.id == "virtual")
    return await desk.router.services.connections.get(row, Environment())


def seat_of(desk: Seated) -> Seat:
    desktop = desk.backend.desktop("virtual")
    assert desktop is not None
    return desktop.running()


class Looks:
    """A GTK program that writes down how it is told to look."""

    def __init__(self, told: Path) -> None:
        self._told = told

    @property
    def now(self) -> dict[str, Any]:
        lines = self._told.read_text("utf-8").splitlines() if self._told.exists() else []
        return json.loads(lines[-1]) if lines else {}

    async def until(self, **wanted: Any) -> dict[str, Any]:
        await eventually(lambda: wanted.items() <= self.now.items(), lambda: (wanted, self.now))
        return self.now


@pytest.fixture(params=["3.0", "4.0"])
async def looks(desk: Seated, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Looks]:
    """A program of GTK 3 and of GTK 4 that was running before anything is set."""
    app = f"dev.anydevice.test.looks{request.param[0]}"
    told = tmp_path / "told"
    desk.install(app, [SYSTEM_PYTHON, PROGRAM, request.param, told])
    await desk.do("open", app=app)
    made = Looks(told)
    await made.until(dark=False, animations=True)
    yield made
    await desk.do("close", app=app, force=True)


def ask_portal(seat: Seat, *words: str) -> str:
    """What another program hears from the settings portal."""
    done = subprocess.run(
        ["dbus-send", f"--bus={seat.bus}", "--print-reply", "--reply-timeout=5000", *PORTAL, *words],
        env=dict(seat.env), capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


async def colour_scheme(desk: Seated) -> str:
    words = ["org.freedesktop.portal.Settings.Read", "string:org.freedesktop.appearance", "string:color-scheme"]
    said = await anyio.to_thread.run_sync(ask_portal, seat_of(desk), *words)
    return said.split("uint32")[-1].strip()


# --- what programs make of it ---


@needs_a_desktop
async def test_a_running_program_turns_dark_and_light_again(desk: Seated, looks: Looks) -> None:
    answer = await desk.do("settings", area="appearance", value="dark")
    assert (answer.verified, answer.data["value"], answer.data["before"]) == (True, "dark", "light")
    await looks.until(dark=True, theme="Adwaita-dark")
    assert await colour_scheme(desk) == "1"
    await desk.do("settings", area="appearance", value="light")
    await looks.until(dark=False)
    assert await colour_scheme(desk) == "2"


@needs_a_desktop
async def test_animations_and_size_of_text_reach_a_running_program(desk: Seated, looks: Looks) -> None:
    small = looks.now["height"]
    await desk.do("settings", area="animations", value="off")
    await desk.do("settings", area="text-size", value="1.5")
    now = await looks.until(animations=False, dpi=144.0)
    await eventually(lambda: looks.now["height"] > small, lambda: (small, looks.now))
    assert now["dark"] is False


@needs_a_desktop
async def test_what_a_holder_set_is_gone_for_the_next_one(desk: Seated, looks: Looks) -> None:
    for area, value in (("appearance", "dark"), ("animations", "off"), ("text-size", "2")):
        await desk.do("settings", area=area, value=value)
    await looks.until(dark=True, animations=False, dpi=192.0)
    release(desk)
    answer = await desk.router.call(call("settings", by=caller("next"), device="virtual"))
    assert {area: one["value"] for area, one in answer.data["settings"].items()} == {
        "appearance": "light", "animations": "on", "text-size": "1",
    }  # fmt: skip
    await looks.until(dark=False, animations=True, dpi=96.0)
    assert await colour_scheme(desk) == "0"
    release(desk)


@needs_a_desktop
@pytest.mark.skipif(shutil.which("chromium") is None, reason="not installed: chromium")
async def test_a_page_in_a_browser_that_starts_afterwards_follows(desk: Seated, tmp_path: Path) -> None:
    # Chromium 156.0.8078.114 asks the portal when it starts, and no longer looks at changes while it runs.
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    flags = ("--no-sandbox", "--no-first-run", "--disable-gpu", "--password-store=basic")
    desk.install("dev.anydevice.test.page", ["chromium", *flags, f"--user-data-dir={tmp_path / 'profile'}", page])
    await desk.do("settings", area="appearance", value="dark")
    await desk.do("open", app="dev.anydevice.test.page", timeoutMs=60_000)
    assert await desk.shown("dark, 1")
    await desk.do("close", app="dev.anydevice.test.page", force=True)
    await (await connected(desk)).clean()


@needs_a_desktop
async def test_a_program_that_starts_later_is_dark_from_the_start(desk: Seated, tmp_path: Path) -> None:
    await desk.do("settings", area="appearance", value="dark")
    told = tmp_path / "later"
    desk.install("dev.anydevice.test.later", [SYSTEM_PYTHON, PROGRAM, "3.0", told])
    await desk.do("open", app="dev.anydevice.test.later")
    await Looks(told).until(dark=True)
    assert len({json.loads(line)["dark"] for line in told.read_text().splitlines()}) == 1
    await desk.do("close", app="dev.anydevice.test.later", force=True)


# --- what there is, and what there is not ---


@needs_a_desktop
async def test_what_a_desktop_has_not_is_refused_with_what_it_has(desk: Seated) -> None:
    answer = await desk.do("settings", area="wifi", value="off", expect="unsupported")
    assert answer.error is not None
    assert {"area=appearance", "area=animations", "area=text-size"} <= set(answer.error.details["alternatives"])
    for command, arguments in (
        ("orientation", {}), ("push", {"app": "x", "payload": {}}), ("network", {}), ("tv-remote", {"button": "up"}),
        ("keyboard", {"action": "dismiss"}), ("perf", {"kind": "frames"}),
    ):  # fmt: skip
        await desk.do(command, expect="unsupported", **arguments)
    assert (await desk.do("keyboard")).data["shown"] is False


@needs_a_desktop
async def test_the_portal_answers_what_is_asked_of_it_and_nothing_else(desk: Seated) -> None:
    def ask(*words: str) -> str:
        return ask_portal(seat_of(desk), *words)

    settings, properties = "org.freedesktop.portal.Settings", "org.freedesktop.DBus.Properties"
    run = anyio.to_thread.run_sync
    assert "uint32 2" in await run(ask, f"{properties}.Get", f"string:{settings}", "string:version")
    assert "uint32 0" in await run(
        ask, f"{settings}.ReadOne", "string:org.freedesktop.appearance", "string:color-scheme"
    )
    everything = await run(ask, f"{settings}.ReadAll", "array:string:org.freedesktop.*")
    assert "color-scheme" in everything and "org.gnome" not in everything
    assert "org.gnome.desktop.interface" in await run(ask, f"{settings}.ReadAll", "array:string:")
    assert "NotFound" in await run(ask, f"{settings}.Read", "string:org.freedesktop.appearance", "string:nothing")
    assert "NotFound" in await run(ask, f"{settings}.Read", "string:odd")
    assert "UnknownMethod" in await run(ask, "org.freedesktop.portal.FileChooser.OpenFile", "string:", "string:")
    assert "UnknownMethod" in await run(ask, f"{settings}.Write", "string:", "string:")
    assert "Error" in await run(ask, f"{properties}.Get", f"string:{settings}", "string:other")


@needs_a_desktop
async def test_another_settings_manager_on_the_display_is_told_and_not_lied_about(
    desk: Seated, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "SETTLE", 0.3)
    await desk.do("settings", area="appearance", value="dark")
    seat = seat_of(desk)

    def take(connection: Any) -> None:
        window = connection.screen().root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        name = connection.intern_atom("_XSETTINGS_SETTINGS")
        window.change_property(name, name, 8, encode({"Net/ThemeName": "Somebody's"}, 1))
        window.set_selection_owner(connection.intern_atom("_XSETTINGS_S0"), X.CurrentTime)
        connection.sync()

    other = await XDisplay.open(seat.display, seat.xauthority)
    try:
        await other.do(take)
        answer = await desk.do("settings", area="animations", value="off", expect="action_unverified")
        assert answer.error is not None
        assert (answer.error.details["expected"], answer.error.details["actual"]) == ("off", "on")
        assert (await desk.do("settings", area="appearance")).data["value"] is None, "bus and display disagree"
    finally:
        await other.aclose()
    assert (await desk.do("settings", area="animations", value="off")).verified is True


@needs_a_desktop
async def test_a_hand_over_keeps_what_was_set(tmp_path: Path) -> None:
    data, run = str(tmp_path / "data"), str(tmp_path / "run")
    first, second = LinuxBackend(HostServices(data, run)), LinuxBackend(HostServices(data, run))
    try:
        (row,) = [row for row in await first.devices(Environment()) if row.kind == "virtual"]
        driver = await first.connect(row, Environment())
        await driver.power.boot(headless=None, deadline=30)
        await driver.settings.appearance("dark")
        state = json.loads(json.dumps(await first.hand_over()))
        desktop = first.desktop("virtual")
        assert desktop is not None
        await desktop.preferences().aclose()  # as the end of the first program does
        await second.take_up(state)
        taken = await second.connect(row, Environment())
        assert (await taken.settings.read("appearance")).value == "dark"
        await taken.clean()
        assert (await taken.settings.read("appearance")).value == "light"
        await taken.aclose()
    finally:
        await second.aclose()
        await first.aclose()


# --- the property ---

NAMES = st.text(st.sampled_from("ABCxyz/_09"), min_size=1, max_size=40)
TEXTS = st.text(max_size=80).filter(str.isprintable)
VALUES = st.dictionaries(NAMES, st.integers(-(2**31), 2**31 - 1) | TEXTS, max_size=8)


@given(VALUES, st.integers(0, 2**32 - 1))
def test_what_is_encoded_is_decoded(values: dict[str, int | str], serial: int) -> None:
    data = encode(values, serial)
    assert decode(data) == values
    assert len(data) % 4 == 0


@given(st.binary(max_size=200))
def test_noise_is_decoded_to_something_without_a_fault(data: bytes) -> None:
    assert isinstance(decode(data), dict)


@given(VALUES, st.data())
def test_a_property_that_is_cut_gives_what_was_whole(values: dict[str, int | str], data: st.DataObject) -> None:
    whole = encode(values, 1)
    cut = decode(whole[: data.draw(st.integers(0, len(whole)))])
    assert set(cut) <= set(values)


def test_big_endian_and_colours_are_read() -> None:
    data = struct.pack(">BxxxII", 1, 1, 2)
    data += struct.pack(">BxH", 2, 4) + b"Gtk/" + struct.pack(">IHHHH", 1, 1, 2, 3, 4)
    data += struct.pack(">BxH", 0, 4) + b"Xft/" + struct.pack(">Ii", 1, 96)
    assert decode(data) == {"Xft/": 96}
