"""Windows and the clipboard by every door, on a virtual desktop; judged by the X server and by who pastes."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from anydevice_linux.practicing import runs_here
from anydevice_schemas.practice import APP_ID

from ..linux.desktop import SYSTEM_PYTHON, end, missing
from ..support.daemons import Home, eventually, only
from .doors import DOORS, Door, Said, opened
from .processes import below, needs_proc

PROGRAMS = ("xwininfo", "xprop")
LACKS = (
    missing()
    or next((f"not installed: {name}" for name in PROGRAMS if shutil.which(name) is None), None)
    or (None if runs_here() else "the system's Python has no GTK")
)
pytestmark = [pytest.mark.daemon, needs_proc, pytest.mark.skipif(LACKS is not None, reason=LACKS or "")]
CONFIG = only("linux", "mcp")
DEVICE, KEY = "virtual", "linux:virtual"
PASTE = Path(__file__).parents[1] / "linux" / "programs" / "paste_gtk.py"
TEXT = "Grüße 世界 🙂"


@dataclass
class Desk:
    """A virtual desktop with the practice app on it, and one caller's way to it."""

    door: Door
    home: Home
    cwd: Path
    display: str = ""

    def do(self, command: str, **arguments: object) -> Said:
        said = self.door.do(command, device=DEVICE, **arguments)
        assert said.device == KEY
        return said

    def refused(self, code: str, command: str, **arguments: object) -> Said:
        return self.door.refused(code, command, device=DEVICE, **arguments)

    @property
    def env(self) -> dict[str, str]:
        """How another program reaches the display: as the X server's own command line says."""
        (line,) = [one.line for one in below(self.home.pid) if one.line.split(" ")[0].endswith("Xvfb")]
        authority = re.search(r"-auth (\S+)", line)
        assert authority is not None, line
        return {"DISPLAY": self.display, "XAUTHORITY": authority[1], "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}

    def asked(self, *argv: str) -> str:
        return subprocess.run(argv, env=self.env, capture_output=True, text=True, timeout=20, check=False).stdout

    def active(self) -> str:
        """Number of the window that has the keyboard."""
        found = re.search(r"0x[0-9a-f]+", self.asked("xprop", "-root", "_NET_ACTIVE_WINDOW"))
        return found[0] if found else ""

    def corner(self, number: str) -> tuple[int, int]:
        """Where a window's frame is."""
        said = self.asked("xwininfo", "-id", number)
        x, y = (re.search(rf"Absolute upper-left {way}:\s+(-?\d+)", said) for way in "XY")
        border = re.search(r"= (\d+), \d+, (\d+), \d+", self.asked("xprop", "-id", number, "_NET_FRAME_EXTENTS"))
        assert x is not None and y is not None and border is not None, said
        return int(x[1]) - int(border[1]), int(y[1]) - int(border[2])

    def pasted(self) -> str:
        """What another program gets when it pastes."""
        got = self.cwd / "got"
        got.unlink(missing_ok=True)
        program = subprocess.Popen(
            [SYSTEM_PYTHON, PASTE, "read", "text", got],
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            assert program.stdout is not None
            program.stdout.readline()
            return got.read_text("utf-8") if got.exists() else ""
        finally:
            end(program)
            program.stdout.close()


@pytest.fixture(scope="module")
def served() -> Iterator[Home]:
    with Home.made(CONFIG) as home:
        home.serve()
        yield home


@pytest.fixture(scope="module", params=DOORS)
def desk(request: pytest.FixtureRequest, served: Home) -> Iterator[Desk]:
    folder = served.path.parent / f"project-{request.param}"
    with opened(request.param, served, folder) as door:
        made = Desk(door, served, folder)
        made.display = made.do("boot").data["display"]
        made.do("open", app=APP_ID)
        yield made
        made.do("shutdown")


def test_window_tells_moves_and_hides_the_window_of_the_app(desk: Desk) -> None:
    (row,) = desk.do("window", app=APP_ID).data["windows"]
    assert "active" in row["states"]
    number = desk.active()
    said = desk.do("window", action="move", window=row["id"], x=70, y=50)
    assert said.verified is True and said.data["window"]["rect"][:2] == [70, 50]
    assert desk.corner(number) == (70, 50)
    desk.do("window", action="minimize", window=row["id"])
    assert desk.active() != number
    desk.do("window", action="raise", window=row["id"])
    eventually(lambda: desk.active() == number, "the window is active again")
    desk.refused("app_not_found", "window", action="raise", window="No such window")
    desk.refused("invalid_argument", "window", action="move", window=row["id"], x=1)


def test_clipboard_is_what_another_program_pastes(desk: Desk) -> None:
    said = desk.do("clipboard", action="write", text=TEXT)
    assert (said.verified, said.data) == (True, {"kind": "text"})
    assert desk.pasted() == TEXT
    read = desk.do("clipboard")
    assert (read.data["kinds"], read.data["text"]) == (["text"], TEXT)


def test_focus_takes_the_keyboard_to_a_field_and_what_was_copied_is_pasted_there(desk: Desk) -> None:
    desk.do("open", app=APP_ID, arguments=["--screen", "form"])
    desk.do("clipboard", action="write", text=TEXT)
    said = desk.do("focus", target="label=Name role=textbox")
    assert said.verified is True and "focused" in said.data["element"]["states"]
    desk.do("key", chord="primary+v")
    desk.do("wait", target=f'value="{TEXT}" role=textbox', timeoutMs=10_000)
    desk.do("open", app=APP_ID, arguments=["--screen", "home"])


def test_a_picture_goes_to_the_clipboard_and_back(desk: Desk) -> None:
    shot = desk.do("screenshot", window="Practice", maxDimension=120)
    uri = shot.wire["artefacts"][0]["uri"]
    assert desk.do("clipboard", action="write", image=uri).verified is True
    read = desk.do("clipboard", kind="image")
    assert (read.data["width"], read.data["height"]) == (shot.data["width"], shot.data["height"])


def test_looking_knows_windows_and_apps(desk: Desk) -> None:
    assert desk.do("wait", window="Practice", timeoutMs=5000).data["window"]["app"] == APP_ID
    assert desk.do("is", predicate="running", app=APP_ID).data["result"] is True
    assert desk.do("snapshot", surface="window").data["title"] == "Practice"
    desk.refused("timeout", "wait", windowGone="Practice", timeoutMs=100)


def test_window_closes_the_app(desk: Desk) -> None:
    desk.do("open", app=APP_ID)
    number = desk.active()
    said = desk.do("window", action="close", app=APP_ID)
    assert (said.verified, said.data["closed"]) == (True, True)
    assert "Absolute" not in desk.asked("xwininfo", "-id", number)
    assert desk.do("is", predicate="gone", app=APP_ID).data["result"] is True
