"""What drives a screen: the engine of one device, whichever program that is. Every answer can name it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from anydevice.driver import Dialog
from anydevice_schemas import Node, Point
from anydevice_schemas.errors import DialogOpen, FocusUnavailable, Unsupported
from anydevice_schemas.tree import Quality

from .reading.elements import Source


@dataclass(slots=True, frozen=True)
class Look:
    """One look at a screen: its source, how far that can be believed, and whether it says what is visible."""

    source: Source
    quality: Quality
    seen: bool = True


@dataclass(slots=True, frozen=True)
class Move:
    """One finger: where it comes down, how long it rests there, where it goes and in which time."""

    path: Sequence[Point]
    rest: float = 0.0
    seconds: float = 0.0
    end_rest: float = 0.0


@dataclass(slots=True, frozen=True)
class Front:
    """The app in front."""

    app: str
    pid: int | None = None
    name: str = ""


class Engine(Protocol):
    """How the screen of one device is read and touched. Points and seconds throughout.

    Every method raises `Unsupported` where the engine has no such thing, `DialogOpen` where a dialog is in the way of
    reading, and the errors of the program behind it.
    """

    name: str

    async def look(self, *, deadline: float) -> Look:
        """The screen as it is now; a dialog that blocks it is `DialogOpen`."""
        ...

    async def size(self) -> tuple[float, float]:
        """Its size as it is turned now."""
        ...

    async def scale(self) -> float:
        """Pixels a point."""
        ...

    async def front(self) -> Front | None:
        """The app in front; None where nobody says."""
        ...

    async def tap(self, point: Point, count: int) -> None:
        """Taps."""
        ...

    async def touch(self, fingers: Sequence[Move]) -> None:
        """Moves fingers, all at once."""
        ...

    async def write(self, text: str) -> None:
        """Types into what has the focus."""
        ...

    async def clear(self) -> None:
        """Empties the field that has the focus."""
        ...

    async def keys(self, held: Sequence[str], key: str) -> None:
        """Presses a key of a keyboard, by the words of chords."""
        ...

    async def button(self, name: str, seconds: float) -> None:
        """Presses a button of the device or its remote control, by Apple's word."""
        ...

    async def home(self) -> None:
        """Goes to the home screen."""
        ...

    async def hittable(self, node: Node) -> bool | None:
        """Whether a touch at the middle of an element reaches it; None where nobody says."""
        ...

    async def picture(self) -> bytes:
        """A PNG of the screen."""
        ...

    async def dialog(self) -> Dialog | None:
        """The dialog that is open."""
        ...

    async def answer(self, *, yes: bool, text: str | None = None) -> None:
        """Answers the dialog."""
        ...


def refuse(dialog: Dialog) -> DialogOpen:
    """The error of a screen that a dialog blocks."""
    return DialogOpen(
        "A dialog is open and blocks the app.",
        kind=dialog.kind,
        text=dialog.text,
        buttons=list(dialog.buttons),
        takes_text=dialog.takes_text,
    )


def missing(engine: str, operation: str, alternatives: Sequence[str] = ()) -> Unsupported:
    """The error of an engine that has no such thing."""
    return Unsupported(
        "What drives this screen cannot do that.",
        hint="Install WebDriverAgent on it (doctor tells how), which can.",
        operation=operation,
        alternatives=list(alternatives),
        engine=engine,
    )


def no_focus() -> FocusUnavailable:
    """The error of text that nothing takes."""
    return FocusUnavailable(
        "Nothing has the keyboard focus; nothing was typed.",
        hint="Press a text field first, or name it with target.",
        holder="nothing",
        fix="Press a text field first.",
    )


def named(engine: Engine, data: Mapping[str, object] | None = None) -> dict[str, object]:
    """Facts of an answer, with the name of the engine."""
    return {**(data or {}), "engine": engine.name}
