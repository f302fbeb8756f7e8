"""trash, tags, file-search: putting files of the device away, marking them, finding them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from anydevice_schemas import Confirm, Example, Plan
from anydevice_schemas.errors import ActionUnverified

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import FileList, Files
from ..leases.refusals import iso
from ._device_paths import DevicePaths

Tag = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class TrashInput(Input):
    """Inputs of `trash`."""

    path: str = Field(min_length=1, max_length=4096, description="File or folder of the device.")


@command(
    name="trash",
    toolset="desktop",
    summary="Moves a file or folder into the trash of its disk, from where a person can restore it. It never deletes, "
    "and refuses where there is no trash. A person approves it first.",
    effect="destroy",
    leaves_device=True,
    input=TrashInput,
    plans=[Plan(name="trash", operations=["files.trash"])],
    confirm=[Confirm(because="moves a file away")],
    output={
        "path": {"type": "string", "description": "What was moved."},
        "trashed": {"type": "string", "description": "Where it lies now; untrusted."},
    },
    examples=[Example(why="Put a file away", arguments={"path": "old-notes.txt"})],
)
async def trash(ctx: Context, args: TrashInput) -> Outcome:
    """Moves something into the trash."""
    device = await DevicePaths.of(ctx)
    path = await device.movable(args.path)
    acted = await ctx.use(Files).trash(path)
    where = str(acted.data.get("trashed", ""))
    if acted.verified is False:
        raise ActionUnverified(
            "The file was to be moved into the trash and is not there.",
            expected="in the trash, and gone from where it was",
            actual="something else",
            hint="Call file-search to see where it is.",
        )
    data: dict[str, Any] = {"path": await device.told(path)}
    if where:
        data["trashed"] = await device.told(where)
    return Outcome(data=data, verified=acted.verified is True, method=acted.method)


class TagsInput(Input):
    """Inputs of `tags`."""

    action: Literal["get", "set", "add", "remove"] = Field(
        default="get", description="set replaces all tags; none given: takes them all away."
    )
    path: str = Field(min_length=1, max_length=4096, description="File or folder of the device.")
    tags: list[Tag] | None = Field(default=None, max_length=100, description="Tags; not with get.")


@command(
    name="tags",
    toolset="desktop",
    summary="Reads, sets, adds or removes the tags of a file as file managers show them, and reads them back. It is "
    "unsupported where the disk keeps none.",
    effect="mutate",
    reads_when={"action": ["get", "*absent*"]},
    idempotent=True,
    input=TagsInput,
    plans=[
        Plan(name="tags", operations=["files.tags"], when={"action": ["get", "*absent*"]}),
        Plan(name="tags", operations=["files.tags", "files.set_tags"], when={"action": ["set", "add", "remove"]}),
    ],
    output={"tags": {"type": "array", "description": "The tags it has now; untrusted."}},
    examples=[
        Example(why="What it has", arguments={"path": "report.pdf"}),
        Example(why="One more", arguments={"action": "add", "path": "report.pdf", "tags": ["urgent"]}),
    ],
)
async def tags(ctx: Context, args: TagsInput) -> Outcome:
    """Reads or changes the tags of a file."""
    if args.action == "get" and args.tags is not None:
        raise ctx.bad_argument("tags", "goes with set, add and remove only", "no tags")
    if args.action in ("add", "remove") and not args.tags:
        raise ctx.bad_argument("tags", f"action {args.action} needs tags", "at least one")
    given = list(dict.fromkeys(_tag(ctx, tag) for tag in args.tags or ()))
    device = await DevicePaths.of(ctx)
    path = await device.there(args.path)
    files = ctx.use(Files)
    before = list(await files.tags(path))
    if args.action == "get":
        return Outcome(data={"tags": before})
    wanted = {
        "set": given,
        "add": list(dict.fromkeys([*before, *given])),
        "remove": [tag for tag in before if tag not in given],
    }[args.action]
    if wanted == before:
        return Outcome(data={"tags": before, "changed": False}, verified=True)
    acted = await files.set_tags(path, wanted)
    now = list(await files.tags(path))
    if set(now) != set(wanted):
        raise ActionUnverified("The tags are not what they were set to.", expected=wanted, actual=now)
    return Outcome(data={"tags": now, "changed": True}, verified=True, method=acted.method)


def _tag(ctx: Context, text: str) -> str:
    tag = text.strip()
    if not tag or "," in tag or any(ord(ch) < 32 or ch == "\x7f" or "\ud800" <= ch <= "\udfff" for ch in tag):
        raise ctx.bad_argument("tags", "one of them is no tag", "words without commas and control characters")
    return tag


class FileSearchInput(Input):
    """Inputs of `file-search`."""

    name: str = Field(
        min_length=1, max_length=255, description="Part of a file's name in any case, or a pattern such as *.png."
    )
    under: str | None = Field(
        default=None, min_length=1, max_length=4096, description="Folder; omitted: the device's own, else yours."
    )
    hidden: bool = Field(default=False, description="Also what begins with a dot, and what is inside of it.")
    limit: int = Field(default=50, ge=1, le=500, description="How many to return.")
    timeout_ms: int = Field(default=10_000, ge=100, le=120_000, description="When to answer with what was found.")


@command(
    name="file-search",
    toolset="desktop",
    summary="Finds files and folders of the device by name, newest first. Links are not followed. What was not looked "
    "at is told in truncated.",
    effect="read",
    idempotent=True,
    deadline=15.0,
    input=FileSearchInput,
    plans=[Plan(name="search", operations=["files.search"])],
    output={
        "files": {"type": "array", "description": "path, size in bytes, changed, folder; untrusted."},
        "count": {"type": "integer"},
    },
    examples=[Example(why="Pictures of the working directory", arguments={"name": "*.png", "under": "."})],
)
async def file_search(ctx: Context, args: FileSearchInput) -> Outcome:
    """Finds files."""
    if "/" in args.name or "\0" in args.name:
        raise ctx.bad_argument("name", "is no name of a file", "a name without slashes; its folder goes into under")
    device = await DevicePaths.of(ctx)
    under = args.under
    if device.of_host:
        under = await device.there(under or ("~" if device.home is not None else "."), kind="folder")
    found: FileList = await ctx.use(Files).search(
        args.name, under=under, most=args.limit, hidden=args.hidden, deadline=args.timeout_ms / 1000
    )
    rows: list[dict[str, Any]] = []
    for one, path in zip(found.files, await device.told_all([one.path for one in found.files]), strict=True):
        row: dict[str, Any] = {"path": path}
        if one.folder:
            row["folder"] = True
        elif one.size is not None:
            row["size"] = one.size
        if one.changed is not None:
            row["changed"] = iso(max(0.0, one.changed))
        if one.tags:
            row["tags"] = list(one.tags)
        rows.append(row)
    return Outcome(data={"files": rows, "count": len(rows)}, truncated=[found.cut] if found.cut else [])
