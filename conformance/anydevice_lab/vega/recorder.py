"""Films of the display as the toolkit records them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio.to_thread

from ..handset.film import Picture, film
from ..handset.picture import Drawing, draw, jpeg

if TYPE_CHECKING:
    from .machine import VegaMachine

LOOKS = 0.2
"""Seconds between looks at whether the display has changed."""
QUALITY = 60


class Recorder:
    """The pictures of one recording: one whenever the display has changed.

    Args:
        seconds: After which it takes no more.
    """

    def __init__(self, machine: VegaMachine, seconds: float) -> None:
        self._machine, self._limit = machine, seconds
        self._last: Drawing | None = None
        self._looked = 0.0
        self._began = time.monotonic()
        self.pictures: list[Picture] = []

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return min(self._limit, time.monotonic() - self._began)

    async def look(self) -> None:
        """Takes a picture, if it is time and there is anything new to see."""
        now = time.monotonic()
        if now - self._looked < LOOKS or now - self._began > self._limit:
            return
        self._looked = now
        shown = drawing(self._machine)
        if shown != self._last:
            self._last = shown
            self.pictures.append((now - self._began, await anyio.to_thread.run_sync(jpeg, shown, QUALITY)))

    async def finish(self) -> bytes:
        """The whole film."""
        if not self.pictures:
            self._looked = 0.0
            await self.look()
        return film(self._machine.geometry.size, self.pictures, self.seconds)


def drawing(machine: VegaMachine) -> Drawing:
    """What is on the display now."""
    shown = machine.windows() if machine.awake else []
    return draw(shown, machine.geometry.size, dark=not machine.awake)
