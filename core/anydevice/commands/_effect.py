"""What an action did: what the driver saw happen, and how the screen differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from anydevice_schemas import Tree
from anydevice_schemas.errors import (
    AppNotRunning,
    CallTimeout,
    DeviceNotReady,
    DialogOpen,
    OutcomeUnknown,
    Unsupported,
    UpstreamUnavailable,
)

from ..context import Context
from ..driver import Acted, TreeScope
from ..elements import diff
from ._scopes import VISIBLE

LINES = {"digest": 0, "default": 10, "full": 60}
LOOK_MOST = 3.0
"""Seconds the screen is given to be read after an action; the action is done, whatever the screen does then."""

UNREADABLE = frozenset({"snapshot_busy", "slot_taken", "null_root", "toolkit_off"})
"""Reasons for which a screen cannot be read though input reaches it: a bare point can be pressed all the same, and a
key turns a dark screen on."""

BLOCKING = frozenset({"dialog", "crashed", "closed"})
"""After these the screen cannot be read; they are change enough."""


@dataclass(slots=True)
class Watch:
    """The screen before an action, so that the answer can say what changed.

    Attributes:
        dialog: The dialog that the screen was found to show after the action.
    """

    ctx: Context
    before: Tree | None
    scope: TreeScope = VISIBLE
    waited: float = 0.0
    notes: list[str] = field(default_factory=list)
    unread: bool = False
    dialog: dict[str, Any] | None = None

    @staticmethod
    async def start(ctx: Context) -> Watch:
        """Looks at the screen once, where it can be looked at.

        Raises:
            DialogOpen: A dialog has to be answered first.
        """
        try:
            return Watch(ctx, await _look(ctx, VISIBLE))
        except (DeviceNotReady, UpstreamUnavailable) as error:
            if error.details.get("reason") not in UNREADABLE:
                raise
            ctx.notice("not_read", "The screen cannot be read now; what the action changes is not known.")
            return Watch(ctx, None, unread=True)

    async def report(self, acted: Acted, *, settle: float = 0.0) -> dict[str, Any]:
        """What happened, for the answer: `changed`, `changes` (capped lines) and `happened`.

        Args:
            acted: What the driver said.
            settle: Seconds to give the screen to come to rest; 0 looks once.
        """
        data: dict[str, Any] = {}
        if acted.happenings:
            data["happened"] = [{"kind": h.kind, **dict(h.data)} for h in acted.happenings]
        kinds = {h.kind for h in acted.happenings}
        if kinds & BLOCKING:
            data["changed"] = True
            return data
        after = await (self._settled(settle) if settle else self._once())
        if self.dialog is not None:
            data["happened"] = [*data.get("happened", ()), {"kind": "dialog", **self.dialog}]
            data["changed"] = True
            return data
        if self.before is None or after is None:
            data["changed"] = True if kinds else None
            return data
        difference = diff(self.before, after)
        data["changed"] = difference.changed or bool(kinds)
        limit = LINES[self.ctx.level]
        if difference.changed and limit:
            lines, more = difference.lines(limit)
            data["changes"] = lines
            if more:
                data["moreChanges"] = more
        elif difference.changed:
            data["changes"] = difference.summary()
        self.ctx.here.tree = after
        return data

    async def _once(self) -> Tree | None:
        """One look; a screen that has not changed yet is given one short chance more."""
        after = await self._look()
        if after is None or self.before is None or diff(self.before, after).changed:
            return after
        await self.ctx.pause(0.03)
        again = await self._look()
        return again if again is not None else after

    async def _settled(self, seconds: float) -> Tree | None:
        """Looks until two looks in a row are the same for half a second, or the time is up."""
        quiet = 0.5
        until = anyio.current_time() + seconds
        last = await self._look()
        same_since = anyio.current_time()
        while anyio.current_time() < until and last is not None:
            await self.ctx.pause(0.1)
            now = await self._look()
            if now is None or diff(last, now).changed:
                last, same_since = now, anyio.current_time()
            elif anyio.current_time() - same_since >= quiet:
                return now
        self.ctx.notice("not_settled", f"The screen was still changing after {seconds:g} s.")
        return last

    async def _look(self) -> Tree | None:
        """A look after the action. A screen that does not answer takes nothing from what was done; it is told."""
        if self.unread:
            return None
        limit = min(LOOK_MOST, max(0.1, self.ctx.remaining() - 0.5))
        try:
            with anyio.fail_after(limit):
                return await _look(self.ctx, self.scope)
        except DialogOpen as error:
            said = error.details
            self.dialog = {"dialog": said.get("kind"), "text": said.get("text"), "buttons": said.get("buttons")}
            return None
        except (TimeoutError, CallTimeout, OutcomeUnknown, DeviceNotReady, UpstreamUnavailable):
            self.unread = True
            self.ctx.notice("not_read", "The screen did not answer after the action; what changed is not known.")
            return None


async def _look(ctx: Context, scope: TreeScope) -> Tree | None:
    """A look that may fail without failing the action around it.

    Raises:
        DialogOpen: A dialog has to be answered.
    """
    if ctx.driver is None or not ctx.driver.has("screen.tree"):
        return None
    try:
        return await ctx.tree(scope)
    except (Unsupported, AppNotRunning):
        return None


async def happened(ctx: Context, acted: Acted) -> dict[str, Any]:
    """Only what the driver said happened, for actions whose effect is told otherwise."""
    if not acted.happenings:
        return {}
    return {"happened": [{"kind": h.kind, **dict(h.data)} for h in acted.happenings]}


def merged(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """One dict of several, later ones winning, empty values left out."""
    out: dict[str, Any] = {}
    for part in parts:
        out.update({key: value for key, value in part.items() if value not in (None, [], {}, "")})
    return out
