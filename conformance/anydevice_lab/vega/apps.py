"""The apps of a Vega device, and the packages they come in."""

from __future__ import annotations

import re
import tomllib
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from anydevice.testing.screen import FakeElement, FakeScreen
from anydevice_schemas import Rect
from anydevice_schemas.practice import APP_ID

from ..handset.apps import App, HandsetPractice, list_screen

LAUNCHER = "com.amazon.keplerlauncherapp"
SAMPLE = "com.amazondeveloper.test"
WEB = "com.amazondeveloper.web"
MAIN = "main"
"""Last word of the component that is shown, unless a package says otherwise."""


@dataclass(eq=False)
class VegaApp(App):
    """A package that is installed.

    Attributes:
        part: Last word of its interactive component.
        number: Its number among the publishers of the page source.
        run: Tells the ids of its elements in this run from those of any other.
        told: Whether the toolkit's flag was there when it was launched; else the toolkit tells nothing of it.
        web: Whether what it shows is a page in a web view.
        version: Of the package.
        dies_at: When it crashes on its own (as `time.monotonic`); 0 = it does not.
        blank_until: Until when its window is empty, because it loads (as `time.monotonic`).
    """

    part: str = MAIN
    number: int = 0
    run: int = 0
    told: bool = False
    web: bool = False
    version: str = "1.0.0"
    dies_at: float = 0.0
    blank_until: float = 0.0
    arguments: dict[str, str] = field(default_factory=dict)

    @property
    def component(self) -> str:
        """What is launched."""
        return f"{self.id}.{self.part}"


def first_apps(width: float, height: float) -> list[VegaApp]:
    """What is installed from the start."""
    return [
        VegaApp(LAUNCHER, "Kepler Launcher", launcher(width, height), launched=False, system=True, running=True,
                number=1, run=1),
        VegaApp(APP_ID, "Practice", HandsetPractice(width=width, height=height), number=9128),
        VegaApp(SAMPLE, "Test Amazon Developer Package", _plain("Test Amazon Developer Package", width, height),
                part="interactive", number=9129),
        VegaApp(WEB, "Web Sample", _page(width, height), web=True, number=9130),
    ]  # fmt: skip


def launcher(width: float, height: float) -> FakeScreen:
    """What the virtual device's launcher shows: no apps, but two buttons of its own."""
    screen = FakeScreen(width=width, height=height)
    screen.title = "Kepler Launcher"
    screen.add(FakeElement("image", "", Rect(0, 0, width, height), identifier="2"))
    for name, place, number in (
        ("Register this device\n(optional)", Rect(width - 434, 60, 314, 108), "8"),
        ("ⓘ", Rect(width - 120, 88, 50, 52), "14"),
    ):
        screen.add(FakeElement("button", name, place, identifier=number))
    for name, place, number in (
        ("Kepler Virtual Device is ready", Rect(531, 625, 858, 78), "26"),
        ("You can now launch your app and start testing with the virtual device", Rect(442, 723, 1036, 40), "30"),
    ):
        screen.add(FakeElement("text", name, place, identifier=number))
    return screen


def _plain(title: str, width: float, height: float) -> FakeScreen:
    return list_screen(title, [("First", None), ("Second", None)], width, height)


def _page(width: float, height: float) -> FakeScreen:
    screen = FakeScreen(width=width, height=height)
    screen.title = "Web Sample"
    screen.add(FakeElement("heading", "A page", Rect(40, 40, width - 80, 60), identifier="page.title"))
    screen.add(FakeElement("link", "Next page", Rect(40, 120, 300, 60), identifier="page.next"))
    screen.add(FakeElement("textbox", "Search", Rect(40, 200, 600, 60), value="", identifier="page.query"))
    return screen


@dataclass(frozen=True)
class Package:
    """What a package file says of itself: id, title, version, interactive component."""

    id: str
    title: str
    version: str
    component: str


def write_vpkg(path: Path, app: str, *, title: str = "", version: str = "1.0.0", part: str = MAIN) -> None:
    """Writes a package that the lab's devices install; nothing in it runs.

    Args:
        app: Package id.
        title: For people; the last word of the id unless given.
        part: Last word of its interactive component.
    """
    manifest = (
        f'schema-version = 1\n\n[package]\nid = "{app}"\ntitle = "{title or app.rpartition(".")[2]}"\n'
        f'version = "{version}"\n\n[[components.interactive]]\nid = "{app}.{part}"\nlaunch-type = "singleton"\n'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.toml", manifest)


def read_vpkg(path: Path) -> Package:
    """What is in a package file.

    Raises:
        ValueError: It is none.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            found = tomllib.loads(archive.read("manifest.toml").decode())
        package = found["package"]
        shown = found["components"]["interactive"][0]["id"]
    except (zipfile.BadZipFile, KeyError, IndexError, TypeError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"not a package: {error}") from None
    if not re.fullmatch(r"[\w-]+(\.[\w-]+)+", package["id"]) or not shown.startswith(package["id"] + "."):
        raise ValueError("not a package: its ids do not fit")
    return Package(package["id"], package.get("title", ""), package.get("version", ""), shown)


def installed(package: Package, number: int, width: float, height: float) -> VegaApp:
    """The app in a package."""
    if package.id == APP_ID:
        screen: FakeScreen = HandsetPractice(width=width, height=height)
    else:
        screen = _plain(package.title, width, height)
    part = package.component.removeprefix(package.id + ".")
    return VegaApp(package.id, package.title, screen, part=part, number=number, version=package.version)
