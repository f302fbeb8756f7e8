"""Input by hand: touch, pointer, keys, and the ways back and home."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from anydevice_schemas import Node, Point

from ._base import Capability, undeclared
from ._data import Acted


class Touch(Capability):
    """Fingers on glass, in points."""

    name = "touch"

    async def tap(self, point: Point, *, count: int = 1) -> Acted:
        """Taps `count` times."""
        raise undeclared("touch", "tap")

    async def hold(self, point: Point, *, seconds: float) -> Acted:
        """Presses, stays down for `seconds`, lifts."""
        raise undeclared("touch", "hold")

    async def swipe(self, start: Point, end: Point, *, seconds: float) -> Acted:
        """Moves one finger from `start` to `end` in `seconds` without resting first."""
        raise undeclared("touch", "swipe")

    async def drag(self, start: Point, end: Point, *, hold: float, seconds: float) -> Acted:
        """Rests on `start` for `hold` seconds, moves to `end` in `seconds`, lifts."""
        raise undeclared("touch", "drag")

    async def multi_touch(self, fingers: Sequence[Sequence[Point]], *, seconds: float) -> Acted:
        """Moves several fingers along their paths at once (pinch, rotate)."""
        raise undeclared("touch", "multi_touch")


Button = Literal["primary", "secondary", "middle"]


class Pointer(Capability):
    """A mouse, in points."""

    name = "pointer"

    async def move(self, point: Point) -> Acted:
        """Moves the pointer and leaves it there."""
        raise undeclared("pointer", "move")

    async def click(self, point: Point, *, button: Button = "primary", count: int = 1, hold: float = 0.0) -> Acted:
        """Moves to the point and clicks `count` times, holding each press for `hold` seconds."""
        raise undeclared("pointer", "click")

    async def drag(self, start: Point, end: Point, *, seconds: float, button: Button = "primary") -> Acted:
        """Presses at `start`, moves to `end` in `seconds`, releases."""
        raise undeclared("pointer", "drag")

    async def wheel(self, point: Point, *, dx: float = 0.0, dy: float = 0.0) -> Acted:
        """Turns the wheel over `point`; positive `dy` shows what lies further down, in points.

        `Acted.verified` says whether what scrolls there was seen to scroll, `Acted.data["moved"]` how far: [x, y].
        """
        raise undeclared("pointer", "wheel")


class Keys(Capability):
    """A keyboard."""

    name = "keys"

    async def press(self, chord: str) -> Acted:
        """Presses a chord such as `ctrl+shift+p`, `enter` or `f5` once."""
        raise undeclared("keys", "press")

    async def type_text(self, text: str, *, delay: float = 0.0) -> Acted:
        """Types text into whatever has the focus, `delay` seconds between characters.

        Refuses with `InvalidArgument`, before typing anything, text it cannot type whole.
        """
        raise undeclared("keys", "type_text")

    async def paste(self, text: str) -> Acted:
        """Puts text into the field that has the focus by way of the clipboard, as its user would; the clipboard then
        holds what it held before, where it can be read (`data` says so with `clipboard`: restored or replaced).

        Refuses with `Unsupported` where the field offers no such thing; nothing was put into it then.
        """
        raise undeclared("keys", "paste")

    async def dismiss(self) -> Acted:
        """Takes an on-screen keyboard away; `Acted.verified` says whether it is gone."""
        raise undeclared("keys", "dismiss")

    async def keyboard_state(self) -> Mapping[str, Any]:
        """Whether an on-screen keyboard is shown, and its rect."""
        raise undeclared("keys", "keyboard_state")

    async def focused(self) -> Node | None:
        """The element that has the keyboard focus, with its key and value, or None."""
        raise undeclared("keys", "focused")


class Navigation(Capability):
    """Going back and home, by whatever means the platform has."""

    name = "navigation"

    async def back(self) -> Acted:
        """One step back; `Acted.verified` says whether anything moved."""
        raise undeclared("navigation", "back")

    async def home(self) -> Acted:
        """To the home screen."""
        raise undeclared("navigation", "home")

    async def app_switcher(self) -> Acted:
        """To the list of recent apps."""
        raise undeclared("navigation", "app_switcher")
