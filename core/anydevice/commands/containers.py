"""app-container: where an app of a simulated device keeps its files on this host."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from anydevice_schemas import Example, Plan

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Apps


class ContainerInput(Input):
    """Inputs of `app-container`."""

    app: str | None = Field(
        default=None, min_length=1, max_length=256, description="Id or name of the app; omitted = the session's app."
    )
    kind: Literal["app", "data", "groups"] = Field(
        default="data", description="app: its program; data: its files; groups: what it shares with other apps."
    )


@command(
    name="app-container",
    summary="Tells in which folder of this host an app of a simulated device keeps its files, its program, or what it "
    "shares with others. Only where devices are simulated on this host; to copy files of others use files.",
    effect="read",
    toolset="apps",
    idempotent=True,
    observe=True,
    input=ContainerInput,
    plans=[Plan(name="folder", operations=["apps.container"])],
    output={
        "app": {"type": "string"},
        "kind": {"type": "string"},
        "path": {"type": "string", "description": "Folder of this host, or one a line of groups; untrusted."},
    },
    examples=[Example(why="Where are its files", arguments={"app": "com.example.app"})],
)
async def app_container(ctx: Context, args: ContainerInput) -> Outcome:
    """Tells the folder of an app."""
    app = args.app or ctx.here.app
    if app is None or "://" in app:
        raise ctx.bad_argument("app", "no app is open in this session", "id of an installed app")
    path = await ctx.use(Apps).container(app, args.kind)
    return Outcome(data={"app": app, "kind": args.kind, "path": path}, method="folder")
