"""Text that is read in a picture of the screen, and where it is, in points."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anydevice_schemas import Point, Rect
from anydevice_schemas.errors import ElementNotFound, InvalidArgument

from ..context import Context
from ..driver import Image, Screen
from ..elements import Query, RefQuery
from ..kit.ocr import Box, Engine, Line, Word, around
from ..text import fold_text, nearest

KEEP = 2.0
"""Seconds of a call that are kept for what comes after reading."""
TEXTS = ("label", "text")
"""Keys of a query that text in a picture can answer."""


@dataclass(slots=True, frozen=True)
class Seen:
    """A picture of the screen that was read.

    Attributes:
        lines: What is in it, in reading order; boxes in its pixels. Untrusted text.
        image: The picture.
        engine: What read it.
        cut: Lines that were left out.
    """

    lines: tuple[Line, ...]
    image: Image
    engine: Engine
    cut: int

    def rect(self, box: Box) -> Rect:
        """Where a box of the picture is on the screen, in points."""
        area = self.image.area
        across, down = area.width / self.image.width, area.height / self.image.height
        return Rect(area.x + box[0] * across, area.y + box[1] * down, box[2] * across, box[3] * down)


@dataclass(slots=True, frozen=True)
class Match:
    """Text that was looked for: the line it is in, and where in it."""

    line: Line
    box: Box
    text: str


async def read_screen(ctx: Context, area: Rect | None, engine: Engine | None = None) -> Seen:
    """Takes a picture of a part of the screen (None: all of it) and reads it.

    Raises:
        ToolMissing: No engine is installed.
        CallTimeout, UpstreamUnavailable: It could not be read.
    """
    image: Image = await ctx.use(Screen).image(area)
    deadline = max(1.0, ctx.remaining() - KEEP)
    reading = await ctx.services.reader.read(image.data, engine=engine, deadline=deadline)
    return Seen(reading.lines, image, reading.engine, reading.cut)


def told(seen: Seen, box: Box, text: str, confidence: float) -> dict[str, Any]:
    """A piece of text as answers carry it: with the point a press goes to."""
    rect = seen.rect(box)
    middle: Point = rect.center
    return {
        "text": text,
        "rect": [round(v, 1) for v in (rect.x, rect.y, rect.width, rect.height)],
        "point": [round(middle.x, 1), round(middle.y, 1)],
        "confidence": confidence,
    }


def matches(seen: Seen, query: Query | RefQuery) -> list[Match]:
    """Where the text of a query is: whole lines, or whole words in a row, where there are any; else parts of lines.

    Raises:
        InvalidArgument: The query asks for more than text in a picture can tell.
    """
    if isinstance(query, RefQuery):
        raise _no(f"{query} is a ref", "a text")
    for alternative in query.alternatives:
        for term in alternative.terms:
            if term.key not in TEXTS:
                raise _no(f"{term.key}= is not known of text in a picture", " or ".join(f"{key}=" for key in TEXTS))
    for alternative in query.alternatives:
        wanted = [fold_text(str(term.value)) for term in alternative.terms]
        found = [line for line in seen.lines if all(_in(text, line) for text in wanted)]
        hits = [hit for line in found for hit in _hits(line, wanted[0])]
        exact = [match for match, whole in hits if whole]
        picked = exact or [match for match, _ in hits]
        if alternative.index is not None:
            picked = picked[alternative.index : alternative.index + 1]
        if picked:
            return picked
    return []


def not_read(seen: Seen, query: Query | RefQuery) -> ElementNotFound:
    """The error for text that is not there, with what is."""
    lines = {fold_text(line.text): line.text for line in seen.lines}
    wanted = [] if isinstance(query, RefQuery) else [text for one in query.alternatives for text in one.texts()]
    near = [lines[text] for word in wanted for text in nearest(fold_text(word), lines)]
    return ElementNotFound(
        "No such text was read on the screen.",
        hint="Call ocr to see what can be read.",
        nearest_matches=list(dict.fromkeys(near))[:5],
        on_screen=[line.text for line in seen.lines[:20]],
    )


def _in(text: str, line: Line) -> bool:
    return text in fold_text(line.text)


def _hits(line: Line, wanted: str) -> list[tuple[Match, bool]]:
    """Every place of a text in a line, and whether it is there as whole words."""
    folded = fold_text(line.text)
    if folded == wanted:
        return [(Match(line, line.box, line.text), True)]
    runs = _runs(line.words, wanted)
    if runs:
        return [(Match(line, around([word.box for word in run]), " ".join(w.text for w in run)), True) for run in runs]
    hits = []
    for found in re.finditer(re.escape(wanted), folded):
        words = _touched(line.words, folded, found.start(), found.end())
        box = around([word.box for word in words]) if words else _share(line.box, found, len(folded))
        hits.append((Match(line, box, line.text), False))
    return hits


def _runs(words: Sequence[Word], wanted: str) -> list[list[Word]]:
    """Words in a row that say a text together."""
    folded = [fold_text(word.text) for word in words]
    bare = wanted.replace(" ", "")
    runs = []
    for begin in range(len(words)):
        said = ""
        for end in range(begin, len(words)):
            said += folded[end].replace(" ", "")
            if said == bare:
                runs.append(list(words[begin : end + 1]))
            if len(said) >= len(bare):
                break
    return runs


def _touched(words: Sequence[Word], folded: str, begin: int, end: int) -> list[Word]:
    """The words a part of a line lies in; none where the words do not make up the line."""
    at, touched = 0, []
    for word in words:
        text = fold_text(word.text)
        start = folded.find(text, at)
        if not text or start < 0:
            return []
        at = start + len(text)
        if start < end and at > begin:
            touched.append(word)
    return touched


def _share(box: Box, found: re.Match[str], length: int) -> Box:
    """The part of a line's box that a part of its text takes, as if all characters were of one width."""
    left, top, width, height = box
    return left + width * found.start() / length, top, width * (found.end() - found.start()) / length, height


def _no(problem: str, expected: str) -> InvalidArgument:
    return InvalidArgument(
        f"query: {problem}.",
        hint="With via=ocr a query is a text; without it elements are looked for.",
        param="query",
        expected=expected,
        errors=[{"param": "query", "problem": problem, "expected": expected}],
    )
