"""What a connection has taken of the compositor's offers: seat, outputs, managers. In blocking code for one thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from anydevice_schemas import Rect
from anydevice_schemas.errors import Unsupported

from .connection import Connection, Thing
from .protocol import OUTPUT, SEAT, XDG_OUTPUT, XDG_OUTPUT_MANAGER, Interface

CURRENT_MODE: Final = 1
MOUSE, KEYBOARD = 1, 2
"""What a seat may have."""
TURNED: Final = frozenset({1, 3, 5, 7})
"""Numbers of the transforms that swap width and height."""


@dataclass(slots=True)
class Output:
    """A screen, as the compositor tells it.

    Attributes:
        thing: The object.
        name: E.g. `HEADLESS-1`; empty where it is not told.
        corner, size: Place and size in points, where the compositor tells them itself.
        position, mode, scale, transform: What they follow from otherwise; the mode in pixels.
    """

    thing: Thing
    name: str = ""
    corner: tuple[int, int] | None = None
    size: tuple[int, int] | None = None
    position: tuple[int, int] = (0, 0)
    mode: tuple[int, int] = (0, 0)
    scale: int = 1
    transform: int = 0

    @property
    def rect(self) -> Rect:
        """Its place in the layout of all screens, in points."""
        x, y = self.corner or self.position
        width, height = self.mode if self.transform not in TURNED else self.mode[::-1]
        if self.size is not None:
            width, height = self.size
        else:
            width, height = width // self.scale, height // self.scale
        return Rect(x, y, width, height)

    @property
    def density(self) -> float:
        """Pixels per point, which need not be a whole number."""
        width = self.mode[1] if self.transform in TURNED else self.mode[0]
        rect = self.rect
        return round(width / rect.width, 4) if rect.width else 1.0

    def hear(self) -> None:
        """Listens to what the compositor tells of it."""

        def geometry(x: int, y: int, _w: int, _h: int, _s: int, _make: str, _model: str, transform: int) -> None:
            self.position, self.transform = (x, y), transform

        def mode(flags: int, width: int, height: int, _refresh: int) -> None:
            if flags & CURRENT_MODE:
                self.mode = (width, height)

        def scale(factor: int) -> None:
            self.scale = factor

        def name(word: str) -> None:
            self.name = word

        self.thing.hears = {"geometry": geometry, "mode": mode, "scale": scale, "name": name}

    def hear_place(self, thing: Thing) -> None:
        """Listens to where the compositor says it is."""

        def corner(x: int, y: int) -> None:
            self.corner = (x, y)

        def size(width: int, height: int) -> None:
            self.size = (width, height)

        def name(word: str) -> None:
            self.name = self.name or word

        thing.hears = {"logical_position": corner, "logical_size": size, "name": name}


class Session:
    """A connection and what was taken on it."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._taken: dict[str, tuple[Thing, int]] = {}
        self._outputs: dict[int, Output] = {}
        self._abilities = 0

    def offers(self, interface: Interface, version: int = 1) -> bool:
        """Whether the compositor offers something, in a version at least."""
        return any(offer.version >= version for offer in self.connection.offered.get(interface.name, ()))

    def take(self, interface: Interface, operation: str, version: int = 1) -> Thing:
        """Something the compositor offers; the same object each time.

        Args:
            interface: What.
            operation: What it is wanted for, as the error names it.
            version: The least that will do.

        Raises:
            Unsupported: The compositor does not offer it.
            Broken: The connection ended.
        """
        taken = self._taken.get(interface.name)
        if taken is None:
            offer = next((one for one in self.connection.offered.get(interface.name, ())), None)
            if offer is None or offer.version < version:
                raise lacking(interface, operation)
            spoken = min(offer.version, interface.version)
            taken = self._taken[interface.name] = (self.connection.bind(interface, offer.number, spoken), spoken)
        return taken[0]

    def can(self, capability: int) -> bool:
        """Whether the seat has a mouse or a keyboard now, by the bit of `wl_seat.capabilities`. Raises as `take`."""
        self.seat("seat")
        self.connection.settle()
        return bool(self._abilities & capability)

    def version(self, interface: Interface) -> int:
        """The version in which something was taken."""
        return self._taken[interface.name][1]

    def seat(self, operation: str) -> Thing:
        """The seat: the first where there are several. Raises as `take`."""
        seat = self.take(SEAT, operation)
        seat.hears.setdefault("capabilities", self._on_abilities)
        return seat

    def _on_abilities(self, bits: int) -> None:
        self._abilities = bits

    def outputs(self) -> list[Output]:
        """The screens that are on, as they are now.

        Raises:
            Broken: The connection ended.
        """
        offered = self.connection.offered.get(OUTPUT.name, [])
        numbers = {offer.number for offer in offered}
        for number in [number for number in self._outputs if number not in numbers]:
            del self._outputs[number]
        for offer in offered:
            if offer.number not in self._outputs:
                thing = self.connection.bind(OUTPUT, offer.number, min(offer.version, OUTPUT.version))
                output = self._outputs[offer.number] = Output(thing)
                output.hear()
                if self.offers(XDG_OUTPUT_MANAGER):
                    manager = self.take(XDG_OUTPUT_MANAGER, "screen.geometry")
                    output.hear_place(self.connection.ask(manager, "get_xdg_output", XDG_OUTPUT, thing))
        self.connection.settle()
        return [output for output in self._outputs.values() if output.rect.width > 0 and output.rect.height > 0]


def around(outputs: list[Output]) -> Rect:
    """The smallest rectangle that holds all screens, in points; an empty one where there is none."""
    if not outputs:
        return Rect(0, 0, 0, 0)
    rects = [output.rect for output in outputs]
    left, top = min(rect.x for rect in rects), min(rect.y for rect in rects)
    right = max(rect.x + rect.width for rect in rects)
    bottom = max(rect.y + rect.height for rect in rects)
    return Rect(left, top, right - left, bottom - top)


def lacking(interface: Interface, operation: str) -> Unsupported:
    """The error for what a compositor does not offer."""
    return Unsupported(
        "The compositor of this session does not offer it to programs.",
        hint="Call capabilities for what this session offers; compositors built on wlroots (sway) offer all of it.",
        operation=operation,
        alternatives=[],
        protocol=interface.name,
    )
