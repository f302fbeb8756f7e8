"""Devices as errors describe them, each with selectors that were checked to mean it and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from anydevice_schemas import Device

from .index import Index, Row
from .request import Asked, Request, Term
from .select import means

CANDIDATES = 10
"""How many devices an error describes at most; how many there are is told beside."""

_SIDE = 3


def facts(row: Row) -> dict[str, Any]:
    """What tells a device from others, for people and programs. The name is untrusted text."""
    device = row.device
    wire: dict[str, Any] = {
        "key": row.key,
        "id": device.id,
        "name": device.name,
        "platform": device.platform,
        "device_target": device.device_target,
        "kind": device.kind,
        "state": device.state,
    }
    if device.os_version:
        wire["os_version"] = device.os_version
    if device.model:
        wire["model"] = device.model
    return wire


def _ways(row: Row) -> Iterator[dict[str, str]]:
    """Selectors that may mean a row, the handiest first."""
    device = row.device
    kind = {} if device.id_kind == "id" else {device.id_kind: device.id}
    platform, target = {"platform": device.platform}, {"deviceTarget": device.device_target}
    yield {"device": device.id}
    if kind:
        yield platform | kind
    yield {"device": row.key}
    yield platform | {"device": device.id}
    yield platform | {"device": row.key} | kind
    yield platform | target | {"device": device.id} | kind
    yield platform | target | {"device": row.key} | kind


def pin(device: Device, inventory: Index) -> dict[str, str] | None:
    """Selectors (wire names) that mean this device, tried on the inventory; None when no selectors do."""
    row = next(iter(inventory.with_key(device.key)), None)
    return (pin_row(row, inventory) if row is not None else None) or None


def pin_row(
    row: Row,
    inventory: Index,
    allow: Mapping[str, frozenset[str]] | None = None,
    beside: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Selectors (wire names) that mean this row.

    They were tried: by themselves, within the allowlists that hold (`allow`), and merged over the selectors the
    caller gave (`beside`). Empty for a row that can never be chosen, or in the rare case that no selectors
    whatever tell a row from one whose id is spelled like its key.
    """
    for way in _ways(row):
        if (
            means(way, inventory) is row
            and (not allow or means(way, inventory, allow) is row)
            and (not beside or means({**beside, **way}, inventory, allow) is row)
        ):
            return way
    return {}


def candidate(row: Row, request: Request, asked: Asked, inventory: Index) -> dict[str, Any]:
    """One device that fits, with selectors that pin it."""
    beside = request.selector.model_dump(by_alias=True, exclude_none=True)
    wire = facts(row) | {"selectors": pin_row(row, inventory, asked.allow, beside)}
    held = request.held_by_others(row.key)
    if held is not None:
        wire |= {"held": True, "until": held.until}
    return wire


def candidates(rows: Iterable[Row], request: Request, asked: Asked, inventory: Index) -> list[dict[str, Any]]:
    """The first devices that fit, ready ones first."""
    first: list[Row] = []
    later: list[Row] = []
    for row in rows:
        if row.ready:
            first.append(row)
            if len(first) == CANDIDATES:
                break
        elif len(later) < CANDIDATES:
            later.append(row)
    return [candidate(row, request, asked, inventory) for row in (first + later)[:CANDIDATES]]


def unusable(row: Row, inventory: Index, request: Request | None = None) -> dict[str, Any]:
    """A device that exists and cannot be chosen: why, and what to do; of a lease only its end."""
    wire = facts(row)
    selectors = pin_row(row, inventory) if row.candidate else {}
    if selectors:
        wire["selectors"] = selectors
    held = request.held_by_others(row.key) if request is not None else None
    if held is not None:
        return wire | {"held": True, "until": held.until}
    if not row.healthy:
        wire["health"] = row.device.health
    return wire | {"reason": row.device.reason, "fix": row.device.fix}


def side(term: Term, rows: Iterable[Row], matches: int) -> dict[str, Any]:
    """One side of a contradiction: a term, and what it matched by itself."""
    wire: dict[str, Any] = {"selector": term.selector, "value": term.value[:256]}
    if term.origin:
        wire["origin"] = term.origin
    return wire | {
        "matched": [facts(row) for row, _ in zip(rows, range(_SIDE), strict=False)],
        "matches": matches,
    }


def scope_side(term: Term, asked: Asked, inventory: Index) -> dict[str, Any]:
    """The side of a term that only narrows."""
    root, targets, allow = asked.root, None, {}
    if term == asked.platform and asked.narrowing is not None:
        targets = asked.narrowing.targets
    elif term == asked.target:
        root, targets = None, frozenset({term.value})
    else:
        root = term.root
        allow = {r: ids for r, ids in asked.allow.items() if r == root}
    parts = [inventory.within(root, targets, allow, ready=ready) for ready in (True, False)]
    return side(term, (row for part in parts for row in part), sum(map(len, parts)))


def near(terms: Iterable[Term], asked: Asked, inventory: Index) -> list[dict[str, Any]]:
    """Devices whose id or name is most like what was asked for, each with selectors that mean it."""
    out: dict[str, dict[str, Any]] = {}
    for term in terms:
        for row in inventory.near(term.value):
            selectors = pin_row(row, inventory, asked.allow)
            if selectors and row.key not in out:
                out[row.key] = facts(row) | {"selectors": selectors}
    return list(out.values())[:5]


def missing_backends(root: str | None, inventory: Index) -> list[dict[str, str]]:
    """Backends that did not answer and might list devices of a platform (None = of any)."""
    return [
        {"backend": m.backend, "reason": m.reason, "fix": m.fix}
        for m in inventory.missing
        if root is None or not m.platforms or root in map(inventory.root_of, m.platforms)
    ]
