"""The command this backend brings: `virtual-desktop`."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.to_thread

from anydevice.context import Context, Outcome
from anydevice_schemas.errors import Refused

from .backend import LinuxBackend, configured, size_of
from .desktop import LIMIT, SIZE, Plan


async def virtual_desktop(ctx: Context, args: Any) -> Outcome:
    """Lists, adds or removes virtual desktops.

    Raises:
        InvalidArgument: The name is missing, cannot be used or names nothing; the size is none.
        Refused: The desktop is running.
    """
    assert isinstance(ctx.backend, LinuxBackend)
    backend, action = ctx.backend, args.action or "list"
    if action == "list":
        if args.name is not None or args.size is not None:
            raise ctx.bad_argument("name", "goes with action add or remove only", "nothing")
        return Outcome(data=await _listed(backend))
    if args.name is None:
        raise ctx.bad_argument("name", f"action {action} needs a name", "letters, digits, . _ -")
    if action == "add":
        size = size_of(args.size) if args.size is not None else SIZE
        if size is None:
            raise ctx.bad_argument("size", "is no size of a screen", f"WIDTHxHEIGHT, {LIMIT[0]} to {LIMIT[1]} each")
        if await anyio.to_thread.run_sync(_is_taken, backend, args.name):
            raise ctx.bad_argument("name", "is that of another desktop", "a name that is free yet, in any case")
        await anyio.to_thread.run_sync(backend.defined.add, Plan(args.name, f"Virtual desktop {args.name}", size))
    else:
        if args.size is not None:
            raise ctx.bad_argument("size", "goes with action add only", "nothing")
        desktop = backend.desktop(args.name)
        if desktop is not None and desktop.alive:
            raise Refused(
                "The desktop is running.",
                hint=f"Call shutdown with device={args.name} first.",
                reason="in use",
                alternative="shutdown",
            )
        await anyio.to_thread.run_sync(backend.defined.remove, args.name)
    data = await _listed(backend)
    there = any(row["device"] == args.name for row in data["desktops"])
    return Outcome(data={**data, "device": args.name}, verified=there == (action == "add"), method="desktops-file")


def _is_taken(backend: LinuxBackend, name: str) -> bool:
    """Whether a name is one of the configuration's, which counts more than what is added, or differs in case alone."""
    fixed = {plan.id for plan in configured(backend.host.settings)}
    added = {plan.id for plan in backend.defined.read()} - {name}
    return name.casefold() in {id.casefold() for id in fixed | added}


async def _listed(backend: LinuxBackend) -> dict[str, Any]:
    plans = await anyio.to_thread.run_sync(backend.defined.read)
    return {"desktops": [{"device": plan.id, "size": f"{plan.size[0]}x{plan.size[1]}"} for plan in plans]}
