"""Settings, logs and measures of a real desktop, and what only phones and TVs have, by every door.

The desktop is judged by the kernel and by its X server; a phone of the fake backend by what it tells another caller.
"""

from __future__ import annotations

import functools
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice_linux.practicing import runs_here
from anydevice_linux.preferences.xsettings import told
from anydevice_schemas.practice import APP_ID

from ..support.daemons import Home, only
from .doors import DOORS, Door, Said, opened

CONFIG = only("linux", "mcp")
PHONE, DESKTOP = "fake-1", "virtual"
PATIENCE = 20.0
LACKING = [program for program in ("Xvfb", "openbox", "dbus-daemon") if shutil.which(program) is None]
needs_a_desktop = pytest.mark.skipif(bool(LACKING) or not runs_here(), reason="not installed: Xvfb, openbox, GTK")
pytestmark = pytest.mark.daemon


@pytest.fixture(scope="module")
def served() -> Iterator[Home]:
    with Home.made(CONFIG) as home:
        home.serve()
        yield home


@pytest.fixture(scope="module", params=DOORS)
def door(request: pytest.FixtureRequest, served: Home) -> Iterator[Door]:
    with opened(request.param, served, served.path.parent / f"project-{request.param}") as made:
        yield made
        for row in made.do("session").data["sessions"]:
            made.call("session", action="end", name=row["name"])


class App:
    """The practice app on a virtual desktop, and one caller's way to it."""

    def __init__(self, door: Door) -> None:
        self.door = door
        door.do("boot", device=DESKTOP)
        self.pid: int = self.do("open", app=APP_ID).data["pid"]

    def do(self, command: str, **arguments: Any) -> Said:
        said = self.door.do(command, device=DESKTOP, **arguments)
        assert said.device == f"linux:{DESKTOP}"
        return said

    def settings(self) -> dict[str, int | str]:
        """What the X server says that programs are told."""
        environment = Path(f"/proc/{self.pid}/environ").read_bytes().split(b"\0")
        names = dict(word.decode().partition("=")[::2] for word in environment)
        return anyio.run(functools.partial(told, names["DISPLAY"], names["XAUTHORITY"])) or {}


@pytest.fixture
def app(door: Door) -> Iterator[App]:
    made = App(door)
    yield made
    made.do("close")


@needs_a_desktop
def test_settings_are_what_programs_are_told_and_put_back_afterwards(app: App) -> None:
    said = app.do("settings", area="appearance", value="dark")
    assert (said.verified, said.data["value"]) == (True, "dark")
    assert app.settings()["Net/ThemeName"] == "Adwaita-dark"
    assert app.do("settings").data["settings"]["appearance"]["value"] == "dark"
    app.door.do("session", action="end", name=said.session)
    assert app.do("settings", area="appearance").data["value"] == "light"
    assert app.settings()["Net/ThemeName"] == "Adwaita"


@needs_a_desktop
def test_logs_hold_what_the_program_wrote_and_a_mark_in_its_place(app: App) -> None:
    app.do("logs", action="start")
    app.do("logs", action="mark", text="now it runs")
    line = f"written by {app.door.name}"
    with Path(f"/proc/{app.pid}/fd/1").open("w") as stdout:
        stdout.write(f"{line}\n")
    end = time.monotonic() + PATIENCE
    while line not in app.do("logs").data["text"]:
        assert time.monotonic() < end, "the line never came"
        time.sleep(0.05)
    said = app.do("logs", action="read")
    first, second = said.data["text"].splitlines()
    assert first.startswith(">>> ") and first.endswith("now it runs")
    assert second.endswith(line) and APP_ID in second
    if app.door.name == "mcp":
        result = app.door.raw("command-run", {"name": "logs"})  # type: ignore[attr-defined]
        text = "\n".join(block.text for block in result.content if block.type == "text")
        before, _, inside = text.partition("<untrusted-")
        assert line not in before and line in inside, text
    assert app.do("logs", action="stop").data["stopped"] is True


@needs_a_desktop
def test_perf_is_what_the_kernel_says(app: App) -> None:
    data = app.do("perf").data
    lines = Path(f"/proc/{app.pid}/status").read_text().splitlines()
    resident = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    assert app.pid in data["pids"] and data["residentKb"] >= 0.8 * resident
    assert app.do("perf", kind="cpu", durationMs=200).data["cpuPercent"] >= 0
    app.door.refused("unsupported", "perf", kind="frames", device=DESKTOP)


@needs_a_desktop
def test_what_a_desktop_has_not_is_refused_by_type(app: App) -> None:
    for command, arguments in (
        ("orientation", {}), ("network", {}), ("push", {"payload": {}}), ("tv-remote", {"button": "up"}),
        ("settings", {"area": "wifi"}), ("keyboard", {"action": "dismiss"}),
    ):  # fmt: skip
        app.door.refused("unsupported", command, device=DESKTOP, **arguments)
    assert app.do("keyboard").data["shown"] is False


# --- what phones and TVs have ---


@pytest.fixture
def phone(door: Door) -> Iterator[Door]:
    door.do("open", device=PHONE, app="practice")
    yield door
    door.do("close", device=PHONE)


def test_orientation_turns_the_screen(phone: Door) -> None:
    width, height = (phone.do("screenshot", device=PHONE).data[side] for side in ("width", "height"))
    assert phone.do("orientation", device=PHONE, value="landscape-left").verified is True
    shot = phone.do("screenshot", device=PHONE).data
    assert (shot["width"], shot["height"]) == (height, width)
    assert phone.do("orientation", device=PHONE, value="portrait").data["before"] == "landscape-left"


def test_keyboard_comes_with_a_field_and_goes(phone: Door) -> None:
    phone.do("press", device=PHONE, target="Name")
    assert phone.do("keyboard", device=PHONE).data["shown"] is True
    said = phone.do("keyboard", device=PHONE, action="dismiss")
    assert (said.verified, said.data["shown"]) == (True, False)
    assert phone.do("is", device=PHONE, predicate="focused", target="Name").data["result"] is False


def test_tv_remote_presses_what_has_the_focus(phone: Door) -> None:
    before = int(phone.do("get", device=PHONE, target="role=text label=Count").data["text"])
    phone.do("tv-remote", device=PHONE, button="up", count=50)  # to the first that can be pressed
    phone.do("tv-remote", device=PHONE, button="select")
    assert int(phone.do("get", device=PHONE, target="role=text label=Count").data["text"]) == before + 1


def test_home_and_app_switcher_are_refused_by_a_device_that_has_none(phone: Door) -> None:
    phone.refused("unsupported", "home", device=PHONE)
    phone.refused("unsupported", "app-switcher", device=PHONE)


@needs_a_desktop
def test_erase_and_app_container_are_refused_by_what_has_neither(app: App) -> None:
    app.door.refused("unsupported", "erase", device=DESKTOP)
    app.door.refused("unsupported", "app-container", device=DESKTOP, app=APP_ID)


def test_push_is_delivered_and_never_said_to_be_seen(phone: Door) -> None:
    said = phone.do("push", device=PHONE, payload={"aps": {"alert": "Grüße"}})
    assert (said.verified, said.data["app"]) == (False, "practice")
    phone.refused("app_not_found", "push", device=PHONE, app="nobody", payload={})
    phone.refused("invalid_argument", "push", device=PHONE, payload={"x": "y" * 5000})


def test_network_lists_nothing_of_an_app_that_sent_nothing(phone: Door) -> None:
    assert phone.do("network", device=PHONE).data == {"requests": [], "count": 0}
    phone.refused("app_not_found", "network", device=PHONE, app="nobody")
