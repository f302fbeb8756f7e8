"""record: a video of the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import anyio
import anyio.to_thread
from pydantic import Field

from anydevice_schemas import Artefact, Example, Plan, Rect
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, BackendBroken, PathNotFound, Refused

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Recorded, Recording, RecordRequest
from ..kit.movies import Movie, inspect
from ..leases.refusals import iso

NOTE = "recording"
"""What a session notes while its device is recorded."""
FINISHING = 8.0
"""Seconds the file of a recording that was cut off may take to become whole."""
STEP = 0.1
SLACK = 2.0
"""Seconds, and part of the whole, by which a file's own length may differ from what the driver says."""
LONGEST = 600_000
FAR = 100_000
SIDES = ("x", "y", "width", "height")


class RecordInput(Input):
    """Inputs of `record`."""

    action: Literal["start", "status", "stop"] = Field(default="status", description="stop makes the file.")
    longest_ms: int = Field(default=LONGEST, ge=1_000, le=3_600_000, description="Start: it ends by itself after this.")
    fps: float = Field(default=10.0, ge=1.0, le=60.0, description="Start: pictures a second wanted.")
    x: float | None = Field(default=None, ge=-FAR, le=FAR, description="Start: only a rectangle: left edge, in points.")
    y: float | None = Field(default=None, ge=-FAR, le=FAR, description="Its top edge, in points.")
    width: float | None = Field(default=None, ge=1, le=FAR, description="Its width, in points.")
    height: float | None = Field(default=None, ge=1, le=FAR, description="Its height, in points.")
    name: str | None = Field(
        default=None, min_length=1, max_length=100, description="Stop: one of an earlier session, as start named it."
    )


@command(
    name="record",
    toolset="media",
    summary="Records the screen as a video: start, drive the device, then stop, which gives the file. One recording a "
    "device; it also ends, whole, with its session, its lease or its device, and after longestMs. For one picture "
    "use screenshot.",
    effect="mutate",
    reads_when={"action": ["status", "*absent*"]},
    deadline=45.0,
    input=RecordInput,
    plans=[
        Plan(name="video", operations=["recording.start", "recording.status"], when={"action": ["start"]}),
        Plan(name="video", operations=["recording.stop", "recording.status"], when={"action": ["stop"]}),
        Plan(name="video", operations=["recording.status"], when={"action": ["status", "*absent*"]}),
    ],
    output={
        "recording": {"type": "boolean", "description": "Whether it runs now."},
        "name": {"type": "string", "description": "The file's name, without its suffix."},
        "seconds": {"type": "number", "description": "How long it is so far; of a file, how long it plays."},
        "ended": {"type": "string", "description": "stopped, longest, device or interrupted."},
    },
    examples=[
        Example(why="Begin", arguments={"action": "start"}),
        Example(why="End it and have the file", arguments={"action": "stop"}),
    ],
)
async def record(ctx: Context, args: RecordInput) -> Outcome:
    """Records the screen."""
    _check(ctx, args)
    if args.action == "start":
        return await _start(ctx, args)
    if args.action == "stop":
        return await _stop(ctx, args.name)
    return await _status(ctx)


def _check(ctx: Context, args: RecordInput) -> None:
    own = {"start": ("longest_ms", "fps", *SIDES), "stop": ("name",)}
    for action, names in own.items():
        for name in names:
            if action != args.action and name in args.model_fields_set:
                word = RecordInput.model_fields[name].alias or name
                raise ctx.bad_argument(word, f"goes with action {action} only", f"no {word}")
    given = [name for name in SIDES if getattr(args, name) is not None]
    if given and len(given) < len(SIDES):
        lacks = next(name for name in SIDES if name not in given)
        raise ctx.bad_argument(lacks, "a rectangle needs it", "x, y, width and height, in points")


async def _start(ctx: Context, args: RecordInput) -> Outcome:
    recording = ctx.use(Recording)
    now = await recording.status()
    if now is not None:
        over = now.get("ended") is not None
        raise Refused(
            "A recording of this device has ended and was not fetched yet."
            if over
            else "This device is being recorded already.",
            reason="one recording a device",
            alternative="record with action=stop gives the file of it.",
            hint="Call record with action=stop first.",
        )
    await _settle_left(ctx)
    place = await anyio.to_thread.run_sync(ctx.services.artefacts.reserve, "recording")
    note = {"name": place.name, "started": iso(ctx.services.clock.now()), "longestMs": args.longest_ms}
    ctx.here.notes[NOTE] = note
    try:
        area = Rect(args.x or 0.0, args.y or 0.0, args.width, args.height or 1.0) if args.width is not None else None
        acted = await recording.start(RecordRequest(str(place), args.longest_ms / 1000, args.fps, area))
        now = await recording.status()
    except AnydeviceError:
        ctx.here.notes.pop(NOTE, None)
        raise
    if now is None:
        ctx.here.notes.pop(NOTE, None)
        raise ActionUnverified("The recording did not begin.", expected="a recording that runs", actual="none")
    data = {"recording": now.get("ended") is None, "name": place.name, "longestMs": args.longest_ms}
    return Outcome(data={**acted.data, **data}, verified=now.get("ended") is None, method=acted.method)


async def _settle_left(ctx: Context) -> None:
    """A recording of this session that was cut off and never fetched becomes an artefact, and is told."""
    note = ctx.here.notes.pop(NOTE, None)
    if note is None:
        return
    try:
        artefact, _ = await _left(ctx, str(note["name"]))
    except PathNotFound:
        ctx.notice("recording_lost", "An earlier recording was cut off; nothing of it is left.", name=note["name"])
        return
    ctx.notice("recording_kept", "An earlier recording was cut off; its file is kept.", uri=artefact.uri)


async def _status(ctx: Context) -> Outcome:
    now = await ctx.use(Recording).status()
    note = ctx.here.notes.get(NOTE)
    if now is not None:
        data = {**now, "recording": now.get("ended") is None}
    elif note is not None:
        data = {"recording": False, "ended": "interrupted"}
    else:
        return Outcome(data={"recording": False})
    if note is not None:
        data |= {"name": note["name"], "started": note["started"]}
    return Outcome(data=data)


async def _stop(ctx: Context, name: str | None) -> Outcome:
    note = ctx.here.notes.get(NOTE)
    if name is not None and (note is None or name != note["name"]):
        artefact, movie = await _left(ctx, name)
        return _told(artefact, movie, "interrupted")
    recording = ctx.use(Recording)
    if await recording.status() is None:
        ctx.here.notes.pop(NOTE, None)
        if note is None:
            raise ActionUnverified(
                "Nothing is being recorded.",
                expected="a recording",
                actual="none",
                hint="Call record with action=start.",
            )
        artefact, movie = await _left(ctx, str(note["name"]))
        return _told(artefact, movie, "interrupted")
    await ctx.progress(None, "finishing the video")
    recorded = await recording.stop()
    ctx.here.notes.pop(NOTE, None)
    artefact, movie = await _adopted(ctx, recorded)
    outcome = _told(artefact, movie, recorded.ended, recorded)
    if recorded.data.get("full"):
        outcome.truncated.append("the video reached the size it may have")
    return outcome


async def _adopted(ctx: Context, recorded: Recorded) -> tuple[Artefact, Movie]:
    """The file of a recording as an artefact, and what it says of itself.

    Raises:
        BackendBroken: There is no such file, or it is not what the driver says.
    """
    path = Path(recorded.path)
    backend = ctx.device.backend if ctx.device is not None else "unknown"
    try:
        movie = await anyio.to_thread.run_sync(inspect, path)
        if movie.mime != recorded.mime:
            raise ValueError(f"it is {movie.mime}, not {recorded.mime}")
        if movie.seconds is not None and abs(movie.seconds - recorded.seconds) > max(SLACK, 0.1 * recorded.seconds):
            raise ValueError(f"it plays {movie.seconds:g} s, not {recorded.seconds:g} s")
        artefact = await anyio.to_thread.run_sync(ctx.services.artefacts.adopt, path, movie.mime)
    except (ValueError, OSError, PathNotFound) as error:
        raise BackendBroken(
            "The recording is not what the backend says it is.",
            backend=backend,
            reason=error.message if isinstance(error, AnydeviceError) else str(error) or type(error).__name__,
        ) from error
    return artefact, movie


async def _left(ctx: Context, name: str) -> tuple[Artefact, Movie]:
    """The file of a recording that was cut off, once it is whole.

    Raises:
        PathNotFound: There is none of this name, or it does not become whole.
    """
    store = ctx.services.artefacts
    until = anyio.current_time() + min(FINISHING, max(0.0, ctx.remaining() - 2.0))
    while True:
        path = await anyio.to_thread.run_sync(store.left, name)
        if path is None:
            break
        try:
            movie = await anyio.to_thread.run_sync(inspect, path)
            return await anyio.to_thread.run_sync(store.adopt, path, movie.mime), movie
        except (ValueError, OSError):  # whoever makes it may be about to finish it
            if anyio.current_time() >= until:
                break
        await ctx.pause(STEP)
    raise PathNotFound(
        "Nothing that can be played is left of this recording.",
        path=name[:100],
        hint="Call record with action=start for a new one.",
    )


def _told(artefact: Artefact, movie: Movie, ended: str, recorded: Recorded | None = None) -> Outcome:
    """The answer: what the file says of itself, and where it is silent what the driver says."""
    data: dict[str, Any] = {"recording": False, "name": Path(artefact.name).stem, "mime": artefact.mime, "ended": ended}
    if recorded is not None:
        data |= {key: value for key, value in recorded.data.items() if key != "full"}
    for key in ("seconds", "width", "height", "frames"):
        value = getattr(movie, key)
        if value is None and recorded is not None:
            value = getattr(recorded, key)
        if value is not None:
            data[key] = round(value, 3) if isinstance(value, float) else value
    seen = bool(movie.seconds) and bool(movie.width)
    return Outcome(data=data, verified=seen, artefacts=[artefact], method="video")
