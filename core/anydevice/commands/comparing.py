"""diff: how the screen differs from an earlier snapshot of the session."""

from __future__ import annotations

from typing import Any

import anyio
from pydantic import Field

from anydevice_schemas import Example, Plan
from anydevice_schemas.errors import Refused

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..elements import Look, TreeDiff, describe_node, diff
from ..elements.describe import TEXT_MOST, cut
from .look import cuts_of, taken


class DiffInput(Input):
    """Inputs of `diff`."""

    since: str | None = Field(
        default=None,
        min_length=1,
        max_length=40,
        description="Id of the earlier snapshot, as snapshot and diff tell it; omitted = the latest of this session.",
    )
    limit: int = Field(default=60, ge=1, le=500, description="How many differences to tell; cuts are told.")


@command(
    name="diff",
    summary="Tells how the screen differs from an earlier snapshot of this session: which elements changed (~), came "
    "(+) and went (-), by ref. Cheaper than another snapshot where little changed; before the first use snapshot.",
    effect="read",
    idempotent=True,
    observe=True,
    input=DiffInput,
    plans=[Plan(name="tree", operations=["screen.tree"])],
    output={
        "changed": {"type": "boolean"},
        "counts": {"type": "object", "description": "Elements added, removed, changed, moved."},
        "changes": {"type": "array", "items": {"type": "string"}, "description": "One a line; untrusted text."},
        "id": {"type": "string", "description": "Of the new snapshot."},
        "baseline": {"type": "object", "description": "The earlier one: id, secondsAgo, nodes, mode."},
    },
    examples=[
        Example(why="What is new since the last look", arguments={}),
        Example(why="Since a certain one", arguments={"since": "s3f09ab"}),
    ],
)
async def diff_(ctx: Context, args: DiffInput) -> Outcome:
    """Compares the screen with an earlier snapshot, looked at in the same way. Text beyond what trees carry of one
    element is not compared.

    Raises:
        Refused: The session has no snapshot to compare with.
        InvalidArgument: None that is still kept has the id.
    """
    before = _baseline(ctx, args.since)
    tree, asked = await taken(ctx, before.asked)
    now = anyio.current_time()
    after = ctx.here.looks.keep(tree, asked, now)
    ctx.here.tree = tree
    difference = diff(before.tree, tree)
    data: dict[str, Any] = {
        "changed": difference.changed,
        "counts": difference.counts,
        "id": after.id,
        "nodes": len(tree.nodes),
        "quality": tree.quality,
        "baseline": {
            "id": before.id,
            "secondsAgo": round(now - before.at, 1),
            "nodes": len(before.tree.nodes),
            "mode": before.asked.mode,
        },
    }
    if not _whole(before) or not _whole(after):
        ctx.notice(
            "not_whole",
            "Not all of the screen is in both snapshots; what is told as come or gone may have been there before.",
        )
    told, left = _told(ctx.level, difference, args.limit)
    return Outcome(data=data | told, truncated=[*left, *cuts_of(tree)], method="tree")


def _baseline(ctx: Context, since: str | None) -> Look:
    looks = ctx.here.looks
    last = looks.last
    if last is None:
        raise Refused(
            "This session has no earlier snapshot to compare with.",
            hint="Call snapshot first, then diff.",
            reason="no_baseline",
            alternative="snapshot",
        )
    if since is None:
        return last
    found = looks.get(since)
    if found is None:
        raise ctx.bad_argument(
            "since",
            "this session keeps no snapshot of that id",
            f"one of {', '.join(look.id for look in looks)}",
        )
    return found


def _whole(look: Look) -> bool:
    return look.tree.quality == "complete" and not cuts_of(look.tree)


def _told(level: str, difference: TreeDiff, limit: int) -> tuple[dict[str, Any], list[str]]:
    """The differences as the answer carries them, and what was left out."""
    if level == "digest":
        return {"changes": difference.summary()}, []
    lines, more = difference.lines(limit)
    data: dict[str, Any] = {"changes": lines}
    if level == "full":
        data["appeared"] = [describe_node(node) for node in difference.added[:limit]]
        data["vanished"] = [describe_node(node) for node in difference.removed[:limit]]
        data["altered"] = [
            describe_node(change.after) | {"was": {word: _short(was) for word, (was, _) in change.fields.items()}}
            for change in difference.altered[:limit]
        ]
    return data, [f"{more} differences (limit {limit})"] if more else []


def _short(value: Any) -> Any:
    return cut(value, TEXT_MOST) if isinstance(value, str) else value
