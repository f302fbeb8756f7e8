"""logs: what an app or the device wrote down since a moment the caller chose, with marks of the caller in place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field

from anydevice_schemas import Example, Plan
from anydevice_schemas.errors import InvalidArgument

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import LogLine, LogPage, Logs
from ..text import fold_text, visible
from ._effect import merged

NOTE = "logs"
"""Where the session keeps from when on it reads, and its marks."""
CHARS = {"digest": 2_000, "default": 16_000, "full": 60_000}
PAGE = 500
"""Lines asked of the device at a time."""
SCAN_MOST = 20_000
"""Lines looked through by one call, where a filter leaves most of them out."""
LINE_MOST = 2_000
"""Characters of one line that are shown."""
MARKS_MOST = 100
"""Marks a session keeps; the oldest go first."""
LEVELS = ("debug", "info", "warning", "error")


class LogsInput(Input):
    """Inputs of `logs`."""

    action: Literal["start", "read", "stop", "mark", "clear"] = Field(
        default="read",
        description="start: from now on; read: what came since; mark: put a line in here; clear: begin anew; stop.",
    )
    app: str | None = Field(
        default=None, min_length=1, max_length=256, description="Only this app; omitted = as at start, else all."
    )
    text: str | None = Field(default=None, min_length=1, max_length=500, description="Of mark: what the line says.")
    contains: str | None = Field(
        default=None, min_length=1, max_length=500, description="Of read: only lines with this text in them."
    )
    level: Literal["debug", "info", "warning", "error"] | None = Field(
        default=None, description="Of read: only lines of this level or above, and those that tell none."
    )
    limit: int = Field(default=200, ge=1, le=5000, description="Of read: how many lines at most.")
    after: str | None = Field(
        default=None, min_length=1, max_length=2000, description="Of read: go on where an answer's next says."
    )


GOES_WITH = {"text": ("mark",), "contains": ("read",), "level": ("read",), "after": ("read",), "limit": ("read",)}
"""Inputs that mean something with some actions only."""


@command(
    name="logs",
    summary="Reads what apps or the device write to their logs. start remembers this moment, read gives what came "
    "since (without start: the newest lines), mark puts a line of yours in at its place, clear begins anew, stop "
    "forgets. "
    "Deletes nothing on the device.",
    effect="read",
    toolset="debug",
    input=LogsInput,
    plans=[
        Plan(name="read", operations=["logs.read"], when={"action": ["read", "*absent*"]}),
        Plan(name="cursor", operations=["logs.now", "logs.read"], when={"action": ["start", "mark", "clear", "stop"]}),
    ],
    output={
        "text": {"type": "string", "description": "One line a line: time, level, tag, text. Untrusted."},
        "lines": {"type": "integer", "description": "How many."},
        "more": {"type": "boolean", "description": "There are more; go on with after=next."},
        "next": {"type": "string", "description": "For after: where to go on."},
        "since": {"type": "string"},
    },
    examples=[
        Example(why="From now on", arguments={"action": "start"}),
        Example(why="What came since", arguments={"action": "read"}),
        Example(why="Find the place again", arguments={"action": "mark", "text": "before signing in"}),
    ],
)
async def logs(ctx: Context, args: LogsInput) -> Outcome:
    """Reads a log from a remembered moment on."""
    for name, actions in GOES_WITH.items():
        if name in args.model_fields_set and args.action not in actions:
            raise ctx.bad_argument(name, f"does not go with action {args.action}", f"action {actions[0]}")
    if args.action == "read":
        return await _read(ctx, args)
    noted = ctx.here.notes.get(NOTE)
    if args.action == "stop":
        ctx.here.notes.pop(NOTE, None)
        return Outcome(data={"stopped": noted is not None})
    if args.action == "mark":
        return await _mark(ctx, args, noted)
    app = args.app if args.app is not None or noted is None or args.action == "start" else noted.get("app")
    if app is not None:
        await ctx.use(Logs).read(None, app=app, most=1)  # refuses an app of which no log is kept
    since = _clock(ctx)
    ctx.here.notes[NOTE] = {"cursor": await ctx.use(Logs).now(), "app": app, "since": since, "marks": []}
    return Outcome(data=merged({"since": since, "app": app}))


async def _mark(ctx: Context, args: LogsInput, noted: dict[str, Any] | None) -> Outcome:
    """Remembers where the log is now, with a text."""
    if args.text is None:
        raise ctx.bad_argument("text", "a mark needs a text", "what the line is to say")
    if noted is None:
        raise InvalidArgument(
            "logs: action: nothing was started in this session, so a mark has no place.",
            param="action",
            expected="start first",
            errors=[{"param": "action", "problem": "nothing was started", "expected": "start first"}],
            hint="Call logs with action=start, then mark.",
        )
    mark = {"cursor": await ctx.use(Logs).now(), "text": args.text, "at": _clock(ctx)}
    # A new list: what the session keeps is written down when it differs from what was written before.
    ctx.here.notes[NOTE] = {**noted, "marks": [*noted["marks"], mark][-MARKS_MOST:]}
    return Outcome(data={"marked": args.text, "at": mark["at"]})


def _clock(ctx: Context) -> str:
    return datetime.fromtimestamp(ctx.services.clock.now(), UTC).isoformat(timespec="milliseconds")


# --- reading -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Kept:
    """The lines of one answer.

    Attributes:
        room, chars: Lines and characters there is room for.
        scanned: Lines looked at.
        lost: Lines that were gone before anybody read them.
        unsure: Whether more may be gone than `lost` counts.
        full: Whether a line did not fit.
    """

    contains: str | None
    level: str | None
    room: int
    chars: int
    texts: list[str] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)
    scanned: int = 0
    lost: int = 0
    unsure: bool = False
    shortened: int = 0
    full: bool = False

    def take(self, line: LogLine) -> bool:
        """Keeps a line that is wanted; False when there is no room for it."""
        if not self._wanted(line):
            self.scanned += 1
            return True
        text = line.text[:LINE_MOST]
        shown = _shown(line, text)
        if not self._put(shown, _entry(line, text)):
            return False
        self.scanned += 1
        self.shortened += len(line.text) > LINE_MOST
        return True

    def mark(self, mark: dict[str, Any]) -> bool:
        """Puts a mark in; False when there is no room for it."""
        return self._put(f">>> {mark['at']} {visible(mark['text'])}", {"mark": mark["text"], "at": mark["at"]})

    def _put(self, shown: str, entry: dict[str, Any]) -> bool:
        if self.room < 1 or (self.texts and self.chars < len(shown)):
            self.full = True
            return False
        self.room -= 1
        self.chars -= len(shown) + 1
        self.texts.append(shown)
        self.entries.append(entry)
        return True

    def _wanted(self, line: LogLine) -> bool:
        if self.level is not None and line.level is not None and LEVELS.index(line.level) < LEVELS.index(self.level):
            return False
        return self.contains is None or self.contains in fold_text(f"{line.tag} {line.text}")

    def cuts(self) -> list[str]:
        """What is not in the answer, though it was asked for."""
        out = []
        if self.lost or self.unsure:
            count = str(self.lost) if self.lost and not self.unsure else f"{self.lost} or more" if self.lost else "some"
            out.append(f"{count} older lines, gone from the device's log")
        if self.shortened:
            out.append(f"{self.shortened} lines (limit {LINE_MOST} characters)")
        return out


async def _read(ctx: Context, args: LogsInput) -> Outcome:
    noted: dict[str, Any] = ctx.here.notes.get(NOTE) or {}
    app = args.app if args.app is not None else noted.get("app")
    contains = fold_text(args.contains) if args.contains is not None else None
    kept = _Kept(contains, args.level, args.limit, CHARS[ctx.level])
    where, more = _Place(), False
    if args.after is not None or "cursor" in noted:
        where = _given(ctx, args.after) if args.after is not None else _Place(0, noted["cursor"])
        more = await _onwards(ctx, kept, app, noted.get("marks", ()), where)
    else:
        where.cursor = await _newest(ctx, kept, app)
    data: dict[str, Any] = {
        "text": "\n".join(kept.texts),
        "lines": len(kept.texts),
        "more": more,
        "next": f"{where.mark}:{where.cursor}",
        "since": noted.get("since", "the newest lines: nothing was started"),
    }
    if app is not None:
        data["app"] = app
    if ctx.level == "full":
        data["entries"] = kept.entries
    cut = ["lines that came later (go on with after=next)"] if more else []
    return Outcome(data=data, truncated=[*kept.cuts(), *cut])


@dataclass(slots=True)
class _Place:
    """Where reading is: the number of the mark that comes next, and the device's own cursor."""

    mark: int = 0
    cursor: str = ""


def _given(ctx: Context, after: str) -> _Place:
    """The place a `next` names."""
    mark, _, cursor = after.partition(":")
    if not cursor or not re.fullmatch(r"[0-9]{1,4}", mark):
        raise ctx.bad_argument("after", "is no place in a log", "next of an earlier answer of logs")
    return _Place(int(mark), cursor)


async def _onwards(ctx: Context, kept: _Kept, app: str | None, marks: Sequence[dict[str, Any]], where: _Place) -> bool:
    """Everything from a place on, which moves along, marks in their places; returns whether there is more."""
    while True:
        mark = marks[where.mark] if where.mark < len(marks) else None
        until = mark["cursor"] if mark is not None else None
        page = await _page(ctx, where.cursor, app, PAGE, until)
        kept.lost += page.lost or 0
        kept.unsure = kept.unsure or page.lost is None
        for number, line in enumerate(page.lines):
            if kept.take(line):
                continue
            if number:  # the device knows places between pages only: the lines that fitted are a page of their own
                where.cursor = (await _page(ctx, where.cursor, app, number, until)).cursor
            return True
        moved, where.cursor = page.cursor != where.cursor, page.cursor
        if page.more and moved:
            if kept.scanned >= SCAN_MOST:
                return True
            continue
        if mark is None:
            return False
        if not kept.mark(mark):
            return True
        where.mark += 1


async def _newest(ctx: Context, kept: _Kept, app: str | None) -> str:
    """The newest lines that are wanted; returns where the log goes on."""
    filtered = kept.contains is not None or kept.level is not None
    page = await _page(ctx, None, app, SCAN_MOST if filtered else kept.room, None)
    wanted = _Kept(kept.contains, kept.level, len(page.lines), 1 << 40)
    for line in page.lines:
        wanted.take(line)
    for shown, entry in zip(reversed(wanted.texts), reversed(wanted.entries), strict=True):
        if not kept._put(shown, entry):
            break
    kept.texts.reverse()
    kept.entries.reverse()
    kept.shortened = wanted.shortened
    return page.cursor


async def _page(ctx: Context, cursor: str | None, app: str | None, most: int, until: str | None) -> LogPage:
    named: dict[str, Any] = {} if until is None else {"until": until}
    page: LogPage = await ctx.use(Logs).read(cursor, app=app, most=most, **named)
    return page


def _shown(line: LogLine, text: str) -> str:
    """A line as it is shown: one line, and nothing in it can be taken for a mark."""
    when = datetime.fromtimestamp(line.time, UTC).strftime("%H:%M:%S.%f")[:-3] if line.time is not None else "--:--:--"
    words = [when, line.level or "", visible(line.tag) + (f"[{line.pid}]" if line.pid is not None else "")]
    return " ".join(word for word in [*words, _one_line(text)] if word)


def _one_line(text: str) -> str:
    return text if text.isprintable() else "".join(ch if ch.isprintable() or ch == " " else visible(ch) for ch in text)


def _entry(line: LogLine, text: str) -> dict[str, Any]:
    return merged({"text": text, "level": line.level, "tag": line.tag, "pid": line.pid, "time": line.time})
