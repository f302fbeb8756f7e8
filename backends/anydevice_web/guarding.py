"""Input that is meant for one element reaches no other.

Between the look at an element and the input for it, a page may move it away or put something else there. So the
documents of the page are told which element the next input is meant for; what would begin on anything else is kept
from the page by the documents themselves, and said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anydevice_schemas import Point
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, ElementCovered, FocusUnavailable

from .cdp import Gone, ProtocolError
from .frames import Frame, WorldLost, stale
from .page import Page
from .walker import locate

DEADLINE = 2.0
"""Seconds a document may take to be told, and to tell."""
MEMORY = 8.0
"""Seconds beyond the input's own time after which a document forgets what it was told, should nobody ask."""


@dataclass(frozen=True, slots=True, eq=False)
class Spot(Point):
    """The point where input for an element lands; it remembers for which element.

    Attributes:
        key: The element.
    """

    key: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self) -> int:
        return hash((self.x, self.y))


class Guard:
    """The documents of a page, told for which element the next input is."""

    def __init__(self, page: Page, frame: Frame, key: str, others: list[Frame], keys: bool) -> None:
        self._page = page
        self._frame = frame
        self._key = key
        self._others = others
        self._keys = keys

    @classmethod
    async def on(cls, page: Page, key: str, *, count: int = 1, seconds: float = 0.0, keys: bool = False) -> Guard:
        """Tells the documents.

        Args:
            page: The page.
            key: The element meant.
            count: How many presses there will be.
            seconds: How long the input takes.
            keys: The input is text for it, not a press on it.

        Raises:
            StaleRef: The element is gone.
            AnydeviceError: As `Page.guard`.
        """
        frame, document, number = locate(page, key)
        options: dict[str, Any] = {"n": number, "count": count, "ms": (seconds + MEMORY) * 1000, "keys": keys}
        told = await frame.ask("guard", options, document=document, deadline=DEADLINE)
        if "stale" in told:
            raise stale(key, told["stale"])
        others = [one for one in page.frames.values() if one is not frame and one.world is not None]
        for other in others:
            try:
                await other.ask("guard", {**options, "n": 0}, deadline=DEADLINE)
            except (WorldLost, Gone, ProtocolError):
                continue  # it is being replaced
        return cls(page, frame, key, others, keys)

    async def judge(self) -> None:
        """Asks what became of the input. Documents that are gone or busy took it.

        Raises:
            FocusUnavailable: Text was on its way to something else.
            ElementCovered: Something else was there; it was not given the input.
            ActionUnverified: The same, after some presses had landed.
        """
        kept: dict[str, Any] | None = None
        landed = 0
        holder = ""
        for frame in [self._frame, *self._others]:
            if self._page.dialog is not None or self._page.session.gone is not None or frame.world is None:
                continue
            document = frame.world.document
            if frame is self._frame and document != self._key.rpartition(":")[0]:
                continue
            try:
                seen = await frame.ask("guarded", document=document, deadline=DEADLINE)
            except (AnydeviceError, WorldLost, Gone, ProtocolError):
                continue
            if seen is not None:
                landed += seen["landed"]
                if seen["kept"] is not None and kept is None:
                    kept, holder = seen["kept"], document
        if kept is None:
            return
        if self._keys:
            raise FocusUnavailable(
                "The page gives the focus to something else; that was not given the text.",
                hint="Look again (snapshot); a field that cannot hold the focus takes no text.",
                holder=kept["text"],
                fix="Fill what the page gives the focus to, or do what it asks for first.",
                landed=landed > 0,
            )
        if landed:
            raise ActionUnverified(
                "Not every press landed: then something else was in the element's place, and was not given the input.",
                expected="every press on the element",
                actual=f"{landed} on it",
                cover=kept["text"],
            )
        raise ElementCovered(
            "Something else was in the element's place when the input arrived; it was not given the input.",
            hint="Wait until the page is at rest (wait), look again (snapshot), then repeat the call.",
            element=self._key,
            cover=kept["text"],
            cover_key=f"{holder}:{kept['key']}",
            kept=True,
        )
