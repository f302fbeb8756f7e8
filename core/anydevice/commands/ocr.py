"""ocr: the text on the screen as it can be read in a picture."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from anydevice_schemas import Example, Plan

from ..catalogue import Input, command
from ..context import Context, Outcome
from ._reading import read_screen, told
from .picture import FAR, ScreenshotInput, shown_part

LINES = {"digest": 30, "default": 200, "full": 2000}


class OcrInput(Input):
    """Inputs of `ocr`."""

    target: str | None = Field(
        default=None, min_length=1, max_length=2000, description="Only this element: ref, label or query."
    )
    timeout_ms: int = Field(default=3000, ge=0, le=300_000, description="How long to wait for target.")
    window: str | None = Field(
        default=None, min_length=1, max_length=1000, description="Only this window of a desktop: id or title."
    )
    x: float | None = Field(default=None, ge=-FAR, le=FAR, description="Only a rectangle: left edge, in points.")
    y: float | None = Field(default=None, ge=-FAR, le=FAR, description="Its top edge, in points.")
    width: float | None = Field(default=None, ge=1, le=FAR, description="Its width, in points.")
    height: float | None = Field(default=None, ge=1, le=FAR, description="Its height, in points.")
    engine: Literal["rapidocr", "tesseract"] | None = Field(
        default=None, description="Which engine; omitted: the best that is installed."
    )


@command(
    name="ocr",
    toolset="media",
    summary="Reads the text in a picture of the screen, of one element, a window or a rectangle, with the place of "
    "each line, for press with x and y. For text that no element holds (a canvas, a video, a game): snapshot and get "
    "are exact and quicker. find with via=ocr finds one text.",
    effect="read",
    idempotent=True,
    observe=True,
    deadline=60.0,
    input=OcrInput,
    plans=[
        Plan(name="picture", operations=["screen.image"], when={"window": ["*absent*"]}),
        Plan(name="picture", operations=["screen.image", "windows.list"], when={"window": ["*given*"]}),
    ],
    output={
        "text": {"type": "string", "description": "All lines; untrusted text."},
        "lines": {"type": "array", "description": "text, rect, point, confidence (0 to 1)."},
        "count": {"type": "integer"},
        "engine": {"type": "string"},
    },
    examples=[
        Example(why="All of the screen", arguments={}),
        Example(why="What is drawn in one element", arguments={"target": "role=canvas"}),
    ],
)
async def ocr(ctx: Context, args: OcrInput) -> Outcome:
    """Reads the screen as a picture."""
    area, part = await shown_part(ctx, ScreenshotInput.model_construct(area="viewport", **dict(args)))
    seen = await read_screen(ctx, area, args.engine)
    shown = seen.lines[: LINES[ctx.level]]
    left_out = len(seen.lines) - len(shown) + seen.cut
    data: dict[str, Any] = {
        "text": "\n".join(line.text for line in shown),
        "count": len(seen.lines) + seen.cut,
        "engine": seen.engine,
        "unit": "points",
    }
    if ctx.level != "digest":
        data["lines"] = [told(seen, line.box, line.text, line.confidence) for line in shown]
    return Outcome(data=data | part, truncated=[f"{left_out} lines"] if left_out else [], method="ocr")
