"""perf, network: measuring an app, and what it sent over the network."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from anydevice_schemas import Example, Plan

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Network, Perf
from ..text import fold_text
from ._effect import merged

TEXT_MOST = 2_000
"""Characters of one text of a request that are shown."""


class PerfInput(Input):
    """Inputs of `perf`."""

    kind: Literal["memory", "cpu", "frames"] = Field(
        default="memory", description="memory: what it takes now; cpu: over a while; frames: how smoothly it draws."
    )
    app: str | None = Field(
        default=None, min_length=1, max_length=256, description="App; omitted = the one opened last, else in front."
    )
    duration_ms: int = Field(default=1000, ge=100, le=60_000, description="Of cpu and frames: how long it is measured.")


@command(
    name="perf",
    summary="Measures an app: memory it takes, processor time over a while (100 percent = one core), or how smoothly "
    "it draws. Every number says its unit in its name. Measure twice before believing a change.",
    effect="read",
    toolset="debug",
    idempotent=True,
    input=PerfInput,
    plans=[
        Plan(name="memory", operations=["perf.memory"], when={"kind": ["memory", "*absent*"]}),
        Plan(name="cpu", operations=["perf.cpu"], when={"kind": ["cpu"]}),
        Plan(name="frames", operations=["perf.frames"], when={"kind": ["frames"]}),
    ],
    output={
        "app": {"type": "string"},
        "residentKb": {"type": "number"},
        "cpuPercent": {"type": "number", "description": "100 = one core."},
        "seconds": {"type": "number", "description": "How long it was measured."},
    },
    examples=[
        Example(why="Memory of the app in front", arguments={}),
        Example(why="Is it busy", arguments={"kind": "cpu", "durationMs": 2000}),
    ],
)
async def perf(ctx: Context, args: PerfInput) -> Outcome:
    """Measures an app."""
    measure = ctx.use(Perf)
    if args.kind == "memory":
        if "duration_ms" in args.model_fields_set:
            raise ctx.bad_argument("durationMs", "goes with kind cpu or frames only", "kind cpu or frames")
        return Outcome(data={"kind": "memory", **await measure.memory(args.app)})
    seconds = args.duration_ms / 1000
    told = await (measure.cpu if args.kind == "cpu" else measure.frames)(args.app, seconds=seconds)
    return Outcome(data={"kind": args.kind, **told})


class NetworkInput(Input):
    """Inputs of `network`."""

    app: str | None = Field(default=None, min_length=1, max_length=256, description="Only this app; omitted = all.")
    contains: str | None = Field(
        default=None, min_length=1, max_length=500, description="Only requests with this text in their address."
    )
    limit: int = Field(default=50, ge=1, le=500, description="How many at most, the newest.")


@command(
    name="network",
    summary="Lists the newest requests an app sent over the network, oldest first: method, address, status, time and "
    "size; where the platform lets one see them.",
    effect="read",
    toolset="debug",
    idempotent=True,
    input=NetworkInput,
    plans=[Plan(name="requests", operations=["network.requests"])],
    output={
        "requests": {"type": "array", "description": "method, url, status, ms, bytes; untrusted."},
        "count": {"type": "integer"},
    },
    examples=[Example(why="What was asked of the server", arguments={"contains": "/api/"})],
)
async def network(ctx: Context, args: NetworkInput) -> Outcome:
    """Lists requests."""
    most = args.limit if args.contains is None else 500
    found = await ctx.use(Network).requests(app=args.app, most=most)
    if args.contains is not None:
        wanted = fold_text(args.contains)
        found = [row for row in found if wanted in fold_text(str(row.get("url", "")))]
    rows: list[dict[str, Any]] = [dict(row) for row in found[-args.limit :]]
    long = 0
    for row in rows:
        for name, value in row.items():
            if isinstance(value, str) and len(value) > TEXT_MOST:
                row[name], long = value[:TEXT_MOST], long + 1
    cut = [f"{long} texts (limit {TEXT_MOST} characters)"] if long else []
    return Outcome(data=merged({"app": args.app}) | {"requests": rows, "count": len(rows)}, truncated=cut)
