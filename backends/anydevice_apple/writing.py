"""Long texts are typed in pieces: each has its deadline, and where the time is up it is known how far it came."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator
from typing import Final

import anyio
import structlog

from anydevice_schemas.errors import ActionUnverified, AnydeviceError, FocusUnavailable

from .engine import Engine

log = structlog.get_logger("anydevice.apple")

PIECE: Final = 200
"""Characters of one request: some seconds at the rate that is asked for."""
BACK: Final = 40
"""Characters a piece may be shorter, to end behind a space."""
RATE: Final = 60.0
"""Characters a second that a field is given (`maxTypingFrequency`)."""
AFTER: Final = 2.0
"""Seconds that are left for reading back what was typed."""
_JOINED: Final = frozenset({"\u200d", "\ufe0e", "\ufe0f"})


def left() -> float:
    """Seconds until the call's deadline, less what reading back takes; infinite where there is none."""
    end = anyio.current_effective_deadline()
    return end - anyio.current_time() - AFTER if math.isfinite(end) else math.inf


def long(text: str) -> bool:
    """Whether typing a text takes longer than there is time."""
    return len(text) > PIECE and len(text) / RATE > left()


async def write(engine: Engine, text: str) -> None:
    """Types a text into what has the focus.

    Raises:
        ActionUnverified: The time is up, and a part of it was typed: `typed` characters.
        FocusUnavailable: Nothing has the focus; `typed` tells what was typed before it was lost.
        AnydeviceError: As `Engine.write`, with `typed` where a part had been typed before.
    """
    typed, took = 0, 0.0
    for piece in pieces(text):
        if typed and took * 1.2 > left():
            raise _partly(text, typed)
        began = anyio.current_time()
        try:
            await engine.write(piece)
        except AnydeviceError as error:
            if not typed:
                raise
            log.info("typed_in_part", typed=typed, of=len(text))
            if isinstance(error, FocusUnavailable):
                raise FocusUnavailable(
                    "The field lost the focus; only a part of the text was typed.",
                    hint="Look at the screen; then type the rest, from the character after details.typed on.",
                    holder=error.details.get("holder", "nothing"),
                    fix="Press the text field again.",
                    typed=typed,
                    length=len(text),
                ) from None
            error.details |= {"typed": typed, "length": len(text)}
            raise
        took = anyio.current_time() - began
        typed += len(piece)


def pieces(text: str) -> Iterator[str]:
    """A text in pieces: each ends behind a space where one is near, and never inside of one visible character."""
    at = 0
    while at < len(text):
        end = min(len(text), at + PIECE)
        if end < len(text):
            end = next(
                (cut for cut in range(end, end - BACK, -1) if text[cut - 1].isspace() and not text[cut].isspace()), end
            )
            end = next((cut for cut in range(end, at, -1) if _apart(text, cut)), end)
        yield text[at:end]
        at = end


def _apart(text: str, cut: int) -> bool:
    """Whether the characters before and behind a place are two to a reader."""
    before, behind = text[cut - 1], text[cut]
    if before == "\u200d" or behind in _JOINED or unicodedata.category(behind)[0] == "M":
        return False
    if "\U0001f3fb" <= behind <= "\U0001f3ff" or "\U000e0020" <= behind <= "\U000e007f":
        return False
    flags = 0
    while flags < cut and "\U0001f1e6" <= text[cut - 1 - flags] <= "\U0001f1ff":
        flags += 1
    return flags % 2 == 0 or not "\U0001f1e6" <= behind <= "\U0001f1ff"


def _partly(text: str, typed: int) -> ActionUnverified:
    return ActionUnverified(
        "The time was up before the whole text was typed.",
        hint="Type the rest, from the character after details.typed on, or raise timeoutMs; fill with method=paste "
        "puts a long text in at once.",
        expected=f"{len(text)} characters",
        actual=f"{typed} characters",
        typed=typed,
        length=len(text),
    )
