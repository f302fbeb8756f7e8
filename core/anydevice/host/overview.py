"""Who drives what and who waits for it: every device of this host in one answer, as far as the caller may know."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import anyio

from anydevice.driver import Environment
from anydevice.leases import Ticket
from anydevice.leases.refusals import iso
from anydevice.resolution import Inventory
from anydevice.services import Services
from anydevice.session import Session
from anydevice_schemas import Caller, Device, Holder, Lease

LIST_DEADLINE = 2.0
"""Seconds backends have to list their devices; whoever takes longer is shown as it was listed last."""


async def overview(services: Services, caller: Caller, *, ask: bool) -> dict[str, Any]:
    """Devices with their holders, the queue, and what could not be found out.

    Args:
        ask: Have backends list their devices anew where the last listing is old; False = what is known already.

    Returns:
        `devices`, those held or marked among them even where they are not listed; `queue`, the next one first;
        `missing`, the backends that did not answer.
    """
    env = Environment(caller.cwd, caller.env)
    late = await _listed(services, env) if ask else []
    inventory = services.backends.cached(env)
    known = {gone.backend for gone in inventory.missing}
    missing = [{"backend": gone.backend, "reason": gone.reason, "fix": gone.fix} for gone in inventory.missing]
    missing += [
        {
            "backend": name,
            "reason": f"did not answer within {LIST_DEADLINE:g} s; its devices are shown as they were listed last",
            "fix": "Call doctor.",
        }
        for name in late
        if name not in known
    ]
    now = services.clock.now()
    leases = services.desk.store.leases(now)
    room = services.desk.room
    queue = room.queue(now) if room is not None else []
    return {
        "devices": _devices(services, caller, inventory, leases, queue, now),
        "queue": [_waits(ticket, number, caller, now) for number, ticket in enumerate(queue, 1)],
        "missing": missing,
    }


def session_row(session: Session, now: float) -> dict[str, Any]:
    """A session as status shows it.

    Args:
        now: A reading of the monotonic clock.
    """
    row = {
        "name": session.name,
        "device": session.device_key,
        "implicit": session.implicit,
        "idle": round(now - session.used, 1),
        "cwd": session.cwd,
        "app": session.app,
        "tenant": session.tenant,
        "attached": session.attached,
    }
    return row | ({"runId": session.run_id} if session.run_id is not None else {})


def knows(caller: Caller, principal: str, tenant: str) -> bool:
    """Whether a caller may know the names of somebody's sessions: its own, and with admin scope everybody's."""
    return "admin" in caller.scopes or (principal, tenant) == (caller.principal, "default")


async def _listed(services: Services, env: Environment) -> list[str]:
    """Has every backend list its devices; the names of those that took too long."""
    late = []

    async def one(name: str) -> None:
        with anyio.move_on_after(LIST_DEADLINE) as scope:
            await services.backends.listed(env, only=[name], sick=False)
        if scope.cancelled_caught:
            late.append(name)

    async with anyio.create_task_group() as group:
        for name in list(services.backends.entries):
            group.start_soon(one, name)
    return sorted(late)


def _devices(  # noqa: PLR0917 - private, called once
    services: Services, caller: Caller, inventory: Inventory, leases: list[Lease], queue: list[Ticket], now: float
) -> list[dict[str, Any]]:
    by_device = {lease.device: lease for lease in leases}
    rows = []
    for device in inventory.devices:
        health, reason = services.desk.health(device)
        row = {"device": device.key, "id": device.id, "name": device.name, "platform": device.platform}
        row |= {"state": device.state, "reason": device.reason, "health": health, "healthReason": reason}
        rows.append(row | _use(caller, device, by_device.get(device.key) or _sharing(device, leases), queue, now))
    listed = {row["device"] for row in rows}
    marks = services.desk.room.state.marks if services.desk.room is not None else {}
    unlisted = {*by_device, *(key for key, mark in marks.items() if mark.health not in ("good", "unknown"))} - listed
    for key in sorted(unlisted):
        mark = marks.get(key)
        row = {"device": key, "id": key.partition(":")[2], "name": "", "platform": "", "state": "not listed"}
        row |= {"reason": "", "health": mark.health if mark else "unknown", "healthReason": mark.reason if mark else ""}
        rows.append(row | _use(caller, key, by_device.get(key), queue, now))
    return rows


def _sharing(device: Device, leases: Iterable[Lease]) -> Lease | None:
    """The lease on another device that keeps this one from being driven, as they share something."""
    shares = set(device.shares)
    return next((lease for lease in leases if shares.intersection(lease.group)), None) if shares else None


def _use(
    caller: Caller, device: Device | str, lease: Lease | None, queue: Iterable[Ticket], now: float
) -> dict[str, Any]:
    """Who has a device, and how many wait for it."""
    key = device if isinstance(device, str) else device.key
    row: dict[str, Any] = {"waiting": sum(any(wish.device == key for wish in ticket.wishes) for ticket in queue)}
    if lease is not None:
        row["lease"] = {
            "until": iso(lease.expires_at),
            "leftSeconds": max(0.0, round(lease.expires_at - now, 1)),
            "kind": lease.kind,
            **_names(caller, lease.holder),
        }
        if lease.device != key:
            row["lease"]["through"] = lease.device
    return row


def _names(caller: Caller, holder: Holder) -> dict[str, Any]:
    """A holder as far as the caller may know it."""
    if not knows(caller, holder.principal, holder.tenant):
        return {"held": True}
    names: dict[str, Any] = {"session": holder.session, "tenant": holder.tenant}
    return names | ({"runId": holder.run_id} if holder.run_id is not None else {})


def _waits(ticket: Ticket, position: int, caller: Caller, now: float) -> dict[str, Any]:
    """A place in the queue; what somebody else waits for is not told."""
    row: dict[str, Any] = {"position": position, "waitedSeconds": max(0.0, round(now - ticket.joined_at, 1))}
    if not knows(caller, ticket.holder.principal, ticket.holder.tenant):
        return row
    row |= {"tenant": ticket.holder.tenant, "priority": ticket.priority, "asked": _asked(ticket.asked)}
    row["devices"] = [wish.device for wish in ticket.wishes]
    if ticket.holder.run_id is not None:
        row["runId"] = ticket.holder.run_id
    if ticket.offered is not None:
        row |= {"offered": ticket.offered, "offerUntil": iso(ticket.offer_until)}
    return row


def _asked(words: str) -> dict[str, Any]:
    """The selectors of a request; whatever else a request was named by is one word."""
    try:
        asked = json.loads(words)
    except ValueError:
        asked = None
    return asked if isinstance(asked, dict) else {"words": words[:200]}
