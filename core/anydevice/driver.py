"""What a backend promises: the one file a backend author reads.

A **backend** lists devices and connects to them. A **driver** is one live connection to one device. It offers
**capabilities**: small objects hung on it as attributes (`driver.touch`, `driver.screen`), each with a few
methods. One method of one capability is an **operation** and is named `capability.method` (`touch.swipe`); the
backend's manifest (`backend.toml`, package data) declares which operations exist.

    backend = Backend(host)  ->  await backend.devices(env)       rows for the inventory
                                 await backend.connect(device)    Driver
    driver.touch             ->  await driver.touch.tap(Point(10, 20))
    driver.identify()        ->  who this really is, read back from the device

Rules that hold for every method here:

* Coordinates and sizes are **points**, from the top left corner of the device's coordinate space; durations
  are **seconds**.
* Everything is async on anyio; nothing blocks the loop; a cancelled call stops its work on the device.
* What cannot be done raises an error of `anydevice_schemas.errors`. An operation the manifest does not declare
  raises `Unsupported` (the base classes below do it for you).
* An action says how it acted (`Acted.method`) and what it saw happen; it never claims an effect it did not see.
* Waiting, matching, refs, ambiguity, read-back, diffing: all of it is core's work, never a driver's.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeVar

from anydevice_schemas import Device, DeviceRef, Node, Point, Rect, Tree
from anydevice_schemas.errors import Unsupported

# --- data that passes between core and a driver ------------------------------------------------------


@dataclass(slots=True, frozen=True)
class TreeScope:
    """How much of a screen to read.

    Attributes:
        mode: `viewport` (what is on screen), `full` (all of it), `interactive` (full, but only nodes a person
            can act on or read as headings).
        root: Key of the node to start from; None for the whole screen.
        max_nodes, max_depth, max_text: Caps, applied at the source; every cut is counted in `Tree.omitted`.
    """

    mode: Literal["viewport", "full", "interactive"] = "viewport"
    root: str | None = None
    max_nodes: int = 2000
    max_depth: int = 64
    max_text: int = 512


@dataclass(slots=True, frozen=True)
class Image:
    """A picture of a screen or a part of it.

    Attributes:
        data: The encoded file.
        mime: What it really is (`image/png`, `image/jpeg`).
        width, height: Pixels.
        scale: Pixels per point.
        area: The part shown, in points.
    """

    data: bytes
    mime: str
    width: int
    height: int
    scale: float
    area: Rect


@dataclass(slots=True, frozen=True)
class Geometry:
    """The coordinate space: its size on screen, pixels per point, and how far it is scrolled."""

    viewport: Rect
    scale: float
    content: Rect | None = None


@dataclass(slots=True, frozen=True)
class Probe:
    """A fresh look at one element, taken at the source.

    Attributes:
        node: The element as it is now (value, states, rect).
        point: Where input for it should go: the middle of its visible part; None when no part is visible.
            Pointer and touch are handed this very object, so a driver may let it remember the element and keep
            input from anything that has taken its place (`ElementCovered` with `kept` in details: nothing was done).
        cover: What lies over `point`, described by role and name, when the element is covered there. Untrusted.
        cover_key: Key of the covering element, where it has one.
        cover_outside: The cover belongs to another window; accessibility actions work behind it.
    """

    node: Node
    point: Point | None
    cover: str | None = None
    cover_key: str | None = None
    cover_outside: bool = False


@dataclass(slots=True, frozen=True)
class Happening:
    """Something a driver saw happen while it acted: navigated, dialog, tab_opened, download, crashed, closed.

    `data` is machine-usable; text in it is untrusted.
    """

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, frozen=True)
class Acted:
    """What came of an action: how it was done and what was seen to happen.

    Attributes:
        method: The road taken, e.g. `mouse`, `accessibility`, `insert-text`.
        happenings: What the driver saw, in order.
        verified: True or False only where the driver itself read the effect back; None where nobody can know.
        data: More facts of the operation (an app's pid, the final URL).
    """

    method: str
    happenings: Sequence[Happening] = ()
    verified: bool | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, frozen=True)
class App:
    """An installed or running app (on the web: an open tab)."""

    id: str
    name: str = ""
    running: bool | None = None
    foreground: bool | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, frozen=True)
class OpenRequest:
    """What to open.

    Attributes:
        app: App id or name; None when only a URL is given.
        url: Address to open, already checked by core (no `file:`, no `javascript:`).
        arguments: Launch arguments.
        new: Ask for a new window, tab or instance.
        deadline: Seconds until the app must be up or the page loaded.
    """

    app: str | None = None
    url: str | None = None
    arguments: Sequence[str] = ()
    new: bool = False
    deadline: float = 30.0


@dataclass(slots=True, frozen=True)
class AppEvent:
    """An app-defined event on its way into an app: its URL, and its parts for apps that take them directly."""

    name: str
    payload: Mapping[str, Any] | None
    url: str
    app: str | None = None


@dataclass(slots=True, frozen=True)
class Dialog:
    """A dialog that blocks the app. `text` and `buttons` are untrusted."""

    kind: str
    text: str
    buttons: Sequence[str]
    takes_text: bool = False


# --- capabilities ------------------------------------------------------------------------------------


def _undeclared(capability: str, method: str) -> Unsupported:
    return Unsupported(
        f"This device has no operation {capability}.{method}.",
        operation=f"{capability}.{method}",
        alternatives=[],
    )


class Capability:
    """Base of all capabilities. `name` is the attribute of the driver it hangs on.

    Implement the methods your platform has and declare exactly those in the manifest; the others keep these
    bodies, which refuse by type.
    """

    name: ClassVar[str]


class Screen(Capability):
    """Reading what is on the screen."""

    name = "screen"

    async def tree(self, scope: TreeScope) -> Tree:
        """All nodes of the screen within `scope`, parents before children."""
        raise _undeclared("screen", "tree")

    async def image(self, area: Rect | None = None, *, full: bool = False) -> Image:
        """A picture of `area` (points), of the viewport, or of the whole content when `full`."""
        raise _undeclared("screen", "image")

    async def geometry(self) -> Geometry:
        """Size, scale and scroll position of the coordinate space."""
        raise _undeclared("screen", "geometry")


class Elements(Capability):
    """Acting on one element by its key, through the platform's own idea of elements.

    A key that no longer names a living element raises `StaleRef`; it never acts on something else.
    """

    name = "elements"

    async def probe(self, key: str, *, at: Point | None = None) -> Probe:
        """A fresh look at the element, hit-tested at its visible middle (or at `at`)."""
        raise _undeclared("elements", "probe")

    async def at(self, point: Point) -> Node | None:
        """The deepest element at a point, with its key, or None."""
        raise _undeclared("elements", "at")

    async def activate(self, key: str) -> Acted:
        """Does what a press would do, through accessibility: no pointer moves, no window is raised."""
        raise _undeclared("elements", "activate")

    async def set_text(self, key: str, text: str) -> Acted:
        """Replaces the whole value. `Acted.verified` says whether the source was seen to hold `text`."""
        raise _undeclared("elements", "set_text")

    async def focus(self, key: str) -> Acted:
        """Gives the element the keyboard focus."""
        raise _undeclared("elements", "focus")

    async def reveal(self, key: str) -> Acted:
        """Scrolls the element into view."""
        raise _undeclared("elements", "reveal")


class Touch(Capability):
    """Fingers on glass, in points."""

    name = "touch"

    async def tap(self, point: Point, *, count: int = 1) -> Acted:
        """Taps `count` times."""
        raise _undeclared("touch", "tap")

    async def hold(self, point: Point, *, seconds: float) -> Acted:
        """Presses, stays down for `seconds`, lifts."""
        raise _undeclared("touch", "hold")

    async def swipe(self, start: Point, end: Point, *, seconds: float) -> Acted:
        """Moves one finger from `start` to `end` in `seconds` without resting first."""
        raise _undeclared("touch", "swipe")

    async def drag(self, start: Point, end: Point, *, hold: float, seconds: float) -> Acted:
        """Rests on `start` for `hold` seconds, moves to `end` in `seconds`, lifts."""
        raise _undeclared("touch", "drag")

    async def multi_touch(self, fingers: Sequence[Sequence[Point]], *, seconds: float) -> Acted:
        """Moves several fingers along their paths at once (pinch, rotate)."""
        raise _undeclared("touch", "multi_touch")


Button = Literal["primary", "secondary", "middle"]


class Pointer(Capability):
    """A mouse, in points."""

    name = "pointer"

    async def move(self, point: Point) -> Acted:
        """Moves the pointer and leaves it there."""
        raise _undeclared("pointer", "move")

    async def click(self, point: Point, *, button: Button = "primary", count: int = 1, hold: float = 0.0) -> Acted:
        """Moves to the point and clicks `count` times, holding each press for `hold` seconds."""
        raise _undeclared("pointer", "click")

    async def drag(self, start: Point, end: Point, *, seconds: float, button: Button = "primary") -> Acted:
        """Presses at `start`, moves to `end` in `seconds`, releases."""
        raise _undeclared("pointer", "drag")

    async def wheel(self, point: Point, *, dx: float = 0.0, dy: float = 0.0) -> Acted:
        """Turns the wheel over `point`; positive `dy` shows what lies further down, in points.

        `Acted.verified` says whether what scrolls there was seen to scroll, `Acted.data["moved"]` how far: [x, y].
        """
        raise _undeclared("pointer", "wheel")


class Keys(Capability):
    """A keyboard."""

    name = "keys"

    async def press(self, chord: str) -> Acted:
        """Presses a chord such as `ctrl+shift+p`, `enter` or `f5` once."""
        raise _undeclared("keys", "press")

    async def type_text(self, text: str, *, delay: float = 0.0) -> Acted:
        """Types text into whatever has the focus, `delay` seconds between characters.

        Refuses with `InvalidArgument`, before typing anything, text it cannot type whole.
        """
        raise _undeclared("keys", "type_text")

    async def keyboard_state(self) -> Mapping[str, Any]:
        """Whether an on-screen keyboard is shown, and its rect."""
        raise _undeclared("keys", "keyboard_state")

    async def focused(self) -> Node | None:
        """The element that has the keyboard focus, with its key and value, or None."""
        raise _undeclared("keys", "focused")


class Apps(Capability):
    """Apps (on the web: tabs and pages)."""

    name = "apps"

    async def list(self) -> Sequence[App]:
        """Installed and running apps."""
        raise _undeclared("apps", "list")

    async def open(self, request: OpenRequest) -> Acted:
        """Opens an app or a URL and waits until it is up; says where it really ended up in `Acted.data`."""
        raise _undeclared("apps", "open")

    async def close(self, app: str | None, *, force: bool = False) -> Acted:
        """Closes an app (None = the session's) and sees it gone."""
        raise _undeclared("apps", "close")

    async def state(self) -> Mapping[str, Any]:
        """What is in the foreground: app, title, location; untrusted text."""
        raise _undeclared("apps", "state")

    async def install(self, path: str, *, deadline: float) -> Acted:
        """Installs a package from a file of the host."""
        raise _undeclared("apps", "install")

    async def uninstall(self, app: str) -> Acted:
        """Removes an app and its data."""
        raise _undeclared("apps", "uninstall")


class Links(Capability):
    """Deep links and app events."""

    name = "links"

    async def open_url(self, url: str, *, app: str | None = None) -> Acted:
        """Hands a URL to the system or to one app."""
        raise _undeclared("links", "open_url")

    async def deliver_event(self, event: AppEvent) -> Acted:
        """Delivers an app event. `Acted.data["acknowledged"]` only where the app itself said so."""
        raise _undeclared("links", "deliver_event")


class Navigation(Capability):
    """Going back and home, by whatever means the platform has."""

    name = "navigation"

    async def back(self) -> Acted:
        """One step back; `Acted.verified` says whether anything moved."""
        raise _undeclared("navigation", "back")

    async def home(self) -> Acted:
        """To the home screen."""
        raise _undeclared("navigation", "home")

    async def app_switcher(self) -> Acted:
        """To the list of recent apps."""
        raise _undeclared("navigation", "app_switcher")


class Power(Capability):
    """Starting and stopping the device itself. These work on devices that are not ready."""

    name = "power"

    async def boot(self, *, headless: bool | None, deadline: float) -> Acted:
        """Starts the device and returns once it can be driven."""
        raise _undeclared("power", "boot")

    async def shutdown(self, *, deadline: float) -> Acted:
        """Stops the device and returns once it is down, with every process of it gone."""
        raise _undeclared("power", "shutdown")

    async def erase(self, *, deadline: float) -> Acted:
        """Deletes everything on a device that is shut down."""
        raise _undeclared("power", "erase")


class Alerts(Capability):
    """Dialogs that block the app."""

    name = "alerts"

    async def get(self) -> Dialog | None:
        """The dialog that is open now, or None."""
        raise _undeclared("alerts", "get")

    async def accept(self, text: str | None = None) -> Acted:
        """Answers yes, with `text` where the dialog takes one."""
        raise _undeclared("alerts", "accept")

    async def dismiss(self) -> Acted:
        """Answers no."""
        raise _undeclared("alerts", "dismiss")


CAPABILITIES: tuple[type[Capability], ...] = (
    Screen, Elements, Touch, Pointer, Keys, Apps, Links, Navigation, Power, Alerts,
)  # fmt: skip
"""The capabilities core's own commands use. A vendor's package may define more; they need no entry here."""

READ_ONLY: frozenset[str] = frozenset(
    {
        "screen.tree", "screen.image", "screen.geometry", "elements.probe", "elements.at", "keys.keyboard_state",
        "keys.focused", "apps.list", "apps.state", "alerts.get",
    }
)  # fmt: skip
"""Operations that change nothing; every other one counts as sent once it was called."""


# --- drivers and backends ----------------------------------------------------------------------------

C = TypeVar("C", bound=Capability)


class Driver(abc.ABC):
    """One live connection to one device.

    A subclass sets its capabilities as attributes named after them. It may be created for a device that is not
    ready; then only `power` has to work.
    """

    device: Device

    @abc.abstractmethod
    async def identify(self) -> DeviceRef:
        """Who this really is, as the device itself says (not a copy of what was asked for).

        Called after every command; answer from what the connection established, and re-read it whenever the
        connection was made anew.
        """

    def unavailable(self) -> Mapping[str, str]:
        """Declared operations (or whole capabilities) that do not work right now, with the reason and the fix."""
        return {}

    def losses(self) -> Sequence[Mapping[str, Any]]:
        """What was lost since the last call (a browser that died, a connection made anew); handed out once."""
        return ()

    async def clean(self) -> None:
        """Puts the device in order after a holder: ends recordings, takes port forwards, orientation, keyboards back.

        Called on the device's lane when somebody gave it back, or before the first command of the next holder, and
        given 10 s. Raise whatever is wrong: the device is then suspect and not given out. Core calls it only where a
        driver has its own; one that leaves nothing behind needs none.
        """
        return None

    @abc.abstractmethod
    async def aclose(self) -> None:
        """Lets go of the device. Leaves no process and no change behind that the driver itself made."""

    def capability(self, kind: type[C]) -> C:
        """The driver's capability of this kind.

        Raises:
            Unsupported: The driver has none.
        """
        found = getattr(self, kind.name, None)
        if found is None:
            raise Unsupported(f"This device has no capability {kind.name}.", operation=kind.name, alternatives=[])
        return found  # type: ignore[no-any-return]

    def has(self, operation: str) -> bool:
        """Whether the driver offers an operation by itself (implemented, and not unavailable right now)."""
        capability, _, method = operation.partition(".")
        found = getattr(self, capability, None)
        if found is None or not callable(getattr(found, method, None)):
            return False
        home = next((kind for kind in type(found).__mro__ if method in kind.__dict__), None)
        if home in CAPABILITIES and method not in getattr(found, "__dict__", ()):
            return False  # the body that only refuses
        out = self.unavailable()
        return operation not in out and capability not in out


@dataclass(slots=True, frozen=True)
class Environment:
    """What a caller lets a backend see: its working directory and allow-listed variables. Never the daemon's own."""

    cwd: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, frozen=True)
class Check:
    """One finding of a backend about its surroundings, for `doctor`."""

    name: str
    ok: bool
    detail: str = ""
    fix: str = ""


@dataclass(slots=True, frozen=True)
class HostServices:
    """What core lends a backend.

    Attributes:
        data_dir: Folder for what must survive a restart (profiles, settings). The backend's own.
        run_dir: Folder for what must not. The backend's own.
        settings: The backend's table of the configuration file.
    """

    data_dir: str
    run_dir: str
    settings: Mapping[str, Any] = field(default_factory=dict)


class Backend(abc.ABC):
    """A backend: found by entry point, constructed once with `HostServices`, on first use."""

    def __init__(self, host: HostServices) -> None:
        self.host = host

    @abc.abstractmethod
    async def devices(self, env: Environment) -> Sequence[Device]:
        """Every device this backend knows of, usable or not, each with state, reason and fix.

        Tolerant per device: one sick device is a row in a sick state, never an exception.
        """

    @abc.abstractmethod
    async def connect(self, device: Device, env: Environment) -> Driver:
        """A driver for one row of `devices()`. Must be quick for rows that are not ready."""

    async def check(self, env: Environment) -> Sequence[Check]:
        """What `doctor` should know: tools found or missing, permissions, versions."""
        return ()

    async def hand_over(self) -> Mapping[str, Any] | None:
        """What a newer version of this backend, in this very process, needs to go on with the devices that run.

        Called when the daemon is about to be replaced, with nothing running on any device. What is returned is held
        to JSON; descriptors in it must be inheritable. From then on the backend leaves its devices alone, until
        `aclose`, or until it is given the same state back because the daemon was not replaced after all.

        Returns:
            The state; None when there is nothing to hand over: the backend is closed then.
        """
        return None

    async def take_up(self, state: Mapping[str, Any]) -> None:
        """Goes on with the devices of a state that `hand_over` made. What cannot be taken up is ended, and logged."""
        return None

    async def aclose(self) -> None:
        """Ends everything the backend started."""
        return None
