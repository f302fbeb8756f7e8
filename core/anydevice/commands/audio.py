"""audio: how loud a device plays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from anydevice_schemas import Example, Plan
from anydevice_schemas.errors import BackendBroken

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Audio

LOUDEST = 6.0
"""dBFS nothing can be above; inter-sample peaks may lie a little over 0."""


class AudioInput(Input):
    """Inputs of `audio`."""

    action: Literal["start", "status", "stop"] = Field(
        default="status", description="start to listen; status: how loud since then; stop: the same, and the end."
    )


@command(
    name="audio",
    toolset="media",
    summary="Tells how loud the device plays, and whether it is silent: start, make it play, then status or stop. "
    "Levels in dBFS (0 is the loudest there is), of the time since start. The sound itself is not kept.",
    effect="mutate",
    reads_when={"action": ["status", "*absent*"]},
    input=AudioInput,
    plans=[
        Plan(name="level", operations=["audio.start"], when={"action": ["start"]}),
        Plan(name="level", operations=["audio.level"], when={"action": ["status", "*absent*"]}),
        Plan(name="level", operations=["audio.stop"], when={"action": ["stop"]}),
    ],
    output={
        "listening": {"type": "boolean"},
        "seconds": {"type": "number", "description": "How long was listened."},
        "rmsDbfs": {"type": "number", "description": "Mean level."},
        "peakDbfs": {"type": "number", "description": "Loudest sample."},
        "silent": {"type": "boolean"},
    },
    examples=[
        Example(why="Begin to listen", arguments={"action": "start"}),
        Example(why="Did it make a sound", arguments={"action": "stop"}),
    ],
)
async def audio(ctx: Context, args: AudioInput) -> Outcome:
    """Listens to the device."""
    ear = ctx.use(Audio)
    if args.action == "start":
        acted = await ear.start()
        level = await ear.level()
        return Outcome(data={**acted.data, "listening": True, **_level(ctx, level)}, verified=True, method=acted.method)
    if args.action == "stop":
        return Outcome(data={"listening": False, **_level(ctx, await ear.stop())}, verified=True)
    return Outcome(data={"listening": True, **_level(ctx, await ear.level())})


def _level(ctx: Context, told: Mapping[str, Any]) -> dict[str, Any]:
    """What a driver measured, checked and rounded.

    Raises:
        BackendBroken: It is no level.
    """
    level = dict(told)
    for name in ("seconds", "rmsDbfs", "peakDbfs"):
        value = level.get(name)
        if not isinstance(value, int | float) or not math.isfinite(value) or (value > LOUDEST and name != "seconds"):
            raise BackendBroken(
                "The backend measured something that is no level.",
                backend=ctx.device.backend if ctx.device is not None else "unknown",
                reason=f"{name} is out of range",
            )
        level[name] = round(float(value), 2)
    level["silent"] = bool(level.get("silent"))
    return level
