"""A desktop's windows, and the clipboard of any device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from anydevice_schemas import Point, Rect

from ._base import Capability, undeclared
from ._data import Acted


@dataclass(slots=True, frozen=True)
class Window:
    """A top-level window.

    Attributes:
        id: Names it for as long as it is there; never given to another window while a session lasts.
        title: Untrusted text.
        app: Id or name of its app. Untrusted text.
        pid: Process it belongs to; None where nobody says.
        rect: What a person sees as the window, in points: with the border, without a shadow.
        states: `active`, `minimized`, `maximized`, `fullscreen`, `modal`, `hidden`.
        kind: `normal`, `dialog`, `utility`, `panel`.
        owner: Id of the window it belongs to (a dialog's parent).
    """

    id: str
    title: str
    app: str
    rect: Rect
    states: frozenset[str] = field(default_factory=frozenset)
    kind: str = "normal"
    pid: int | None = None
    owner: str | None = None


WindowList = Sequence[Window]


class Windows(Capability):
    """Windows of a desktop. Each verb returns the window as it was read back afterwards.

    What did not become what was asked is `ActionUnverified` with expected and actual; a window that is gone is
    `AppNotFound`.
    """

    name = "windows"

    async def list(self) -> WindowList:
        """Every window a person could work with, the topmost first."""
        raise undeclared("windows", "list")

    async def move(self, id: str, to: Point) -> Window:
        """Moves the upper left corner of its `rect` to a point."""
        raise undeclared("windows", "move")

    async def resize(self, id: str, width: float, height: float) -> Window:
        """Gives its `rect` a size, in points."""
        raise undeclared("windows", "resize")

    async def minimize(self, id: str) -> Window:
        """Takes it off the screen, without closing it."""
        raise undeclared("windows", "minimize")

    async def unminimize(self, id: str) -> Window:
        """Brings a minimized window back."""
        raise undeclared("windows", "unminimize")

    async def maximize(self, id: str) -> Window:
        """Makes it as large as the desktop allows."""
        raise undeclared("windows", "maximize")

    async def unmaximize(self, id: str) -> Window:
        """Gives it back the size it had before it was maximized."""
        raise undeclared("windows", "unmaximize")

    async def bring_up(self, id: str) -> Window:
        """Puts it in front of all others and gives it the keyboard."""
        raise undeclared("windows", "bring_up")

    async def close(self, id: str) -> Acted:
        """Asks it to close, as its close button does; `Acted.verified` says whether it is gone.

        A question it asks instead (to save changes) is a happening of kind `dialog`; nothing is answered for it.
        """
        raise undeclared("windows", "close")


ClipKind = Literal["text", "image", "files"]


@dataclass(slots=True, frozen=True)
class Clip:
    """What is on a clipboard. All of it is untrusted, and none of it is ever logged.

    Attributes:
        kinds: What it could be read as; empty when the clipboard is empty.
        text: The text, when it was read as text.
        image: A PNG file, when it was read as a picture.
        files: Paths on the device, when it was read as files.
    """

    kinds: frozenset[ClipKind] = frozenset()
    text: str | None = None
    image: bytes | None = None
    files: Sequence[str] | None = None


class Clipboard(Capability):
    """The clipboard. What the platform forbids to read is `PermissionMissing`, never an empty success."""

    name = "clipboard"

    async def read(self, kind: ClipKind | None = None) -> Clip:
        """What is on it, as `kind`, or as the first of text, files, image that it offers."""
        raise undeclared("clipboard", "read")

    async def write_text(self, text: str) -> Acted:
        """Puts text on it; `Acted.verified` says whether it was read back."""
        raise undeclared("clipboard", "write_text")

    async def write_image(self, png: bytes) -> Acted:
        """Puts a picture on it, given as a PNG file."""
        raise undeclared("clipboard", "write_image")

    async def write_files(self, paths: Sequence[str]) -> Acted:
        """Puts files of the device on it, as a file manager copies them."""
        raise undeclared("clipboard", "write_files")
