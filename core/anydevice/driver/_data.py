"""What passes between core and a driver: requests, results, and what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from anydevice_schemas import Node, Point, Rect
from anydevice_schemas.errors import DialogOpen


@dataclass(slots=True, frozen=True)
class TreeScope:
    """How much of a screen to read.

    Attributes:
        mode: `viewport` (what is on screen), `full` (all of it), `interactive` (full, but only nodes a person
            can act on or read as headings).
        root: Key of the node to start from; None for the whole screen.
        reach: `app` (the app in front), `desktop` (the windows of all apps). Only devices that have `windows.list` are
            asked for more than the app in front, or for a window.
        window: Id of a window (`Windows.list`): only what is in it, whichever app it belongs to.
        max_nodes, max_depth, max_text: Caps, applied at the source; every cut is counted in `Tree.omitted`.
    """

    mode: Literal["viewport", "full", "interactive"] = "viewport"
    root: str | None = None
    reach: Literal["app", "desktop"] = "app"
    window: str | None = None
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
        in_points: Callers of this platform expect a pixel a point: it is handed out so unless they ask for pixels.
    """

    data: bytes
    mime: str
    width: int
    height: int
    scale: float
    area: Rect
    in_points: bool = False


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
        settled: The app itself has answered after it: it has taken the input and done what it does with it at once.
            What is seen then needs no waiting for a change of mind.
    """

    method: str
    happenings: Sequence[Happening] = ()
    verified: bool | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    settled: bool = False


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

    def refusal(self, message: str = "A dialog is open and blocks the app.") -> DialogOpen:
        """The error of whoever has to answer it first."""
        return DialogOpen(
            message, kind=self.kind, text=self.text, buttons=list(self.buttons), takes_text=self.takes_text
        )
