"""apps: what is installed on a device, and what of it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from anydevice_schemas import Example, Plan

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import App, Apps
from ..text import fold_text


class AppsInput(Input):
    """Inputs of `apps`."""

    name: str | None = Field(default=None, min_length=1, max_length=256, description="Part of an id or name.")
    running: bool | None = Field(default=None, description="Only what runs (true), or what does not (false).")
    limit: int = Field(default=100, ge=1, le=1000, description="How many to return.")


@command(
    name="apps",
    toolset="apps",
    summary="Lists the apps of a device (in a browser: its tabs) with the ids that open, close and uninstall take, and "
    "whether they run and are in front. Use appstate for what is in front now.",
    effect="read",
    idempotent=True,
    observe=True,
    input=AppsInput,
    plans=[Plan(name="list", operations=["apps.list"])],
    output={
        "apps": {"type": "array", "description": "id, name, running, foreground; untrusted."},
        "count": {"type": "integer", "description": "How many fit."},
    },
    examples=[
        Example(why="What runs", arguments={"running": True}),
        Example(why="The id of an app", arguments={"name": "calculator"}),
    ],
)
async def apps(ctx: Context, args: AppsInput) -> Outcome:
    """Lists apps."""
    listed: Sequence[App] = await ctx.use(Apps).list()
    found = [app for app in listed if _fits(app, args)]
    found.sort(key=lambda app: (not app.foreground, not app.running, fold_text(app.name or app.id), app.id))
    rows = [_row(app, ctx.level) for app in found[: args.limit]]
    cut = [f"{len(found) - len(rows)} apps (limit {args.limit})"] if len(rows) < len(found) else []
    return Outcome(data={"apps": rows, "count": len(found)}, truncated=cut)


def _fits(app: App, args: AppsInput) -> bool:
    if args.running is not None and bool(app.running) is not args.running:
        return False
    return args.name is None or any(fold_text(args.name) in fold_text(word) for word in (app.id, app.name))


def _row(app: App, level: str) -> dict[str, Any]:
    row: dict[str, Any] = {"id": app.id}
    if app.name and app.name != app.id:
        row["name"] = app.name
    states = {"running": app.running, "foreground": app.foreground}
    row |= {word: value for word, value in states.items() if value is not None}
    if app.data and level != "digest":
        row |= {name: value for name, value in app.data.items() if name not in row}
    return row
