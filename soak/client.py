"""A client of the storm: one process that waits for a device, drives it, gives it back, again and again."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from pathlib import Path

from anydevice_schemas.errors import AnydeviceError

from .door import Door, Grant
from .journals import Journal

QUEUE = 20.0
"""Seconds a client waits in the queue before it asks again."""

LOST = frozenset({"lease_expired", "lease_lost", "lease_stale", "lease_held", "session_not_found"})
"""Refusals after which the device is somebody else's, or nobody's."""


@dataclass(frozen=True)
class Orders:
    """What a client is told.

    Attributes:
        number, tenant: Who it is.
        incarnation: How often it was started before.
        until: CLOCK_MONOTONIC seconds after which it asks for no more devices.
        walk_away: How often of a hundred it forgets to give a device back.
    """

    home: str
    journals: Path
    seed: str
    number: int
    tenant: str
    incarnation: int
    until: float
    walk_away: float = 3.0
    most: int = 8


def run(orders: Orders) -> None:
    """The client's life."""
    dice = random.Random(f"{orders.seed}/{orders.number}/{orders.incarnation}")
    journal = Journal(orders.journals / f"c{orders.number:02}.jsonl")
    journal.note("start", incarnation=orders.incarnation, tenant=orders.tenant)
    door: Door | None = None
    turn = 0
    again = False
    while time.monotonic() < orders.until:
        turn += not again  # who asks again under the same name keeps its place in the queue
        again = False
        name = f"c{orders.number:02}.{orders.incarnation}.{turn}"
        try:
            if door is None:
                door = Door(orders.home)
            journal.note("want", grant=name)
            grant = door.acquire(name, orders.tenant, wait=QUEUE)
        except AnydeviceError as error:
            journal.note("refused", grant=name, code=error.code, message=str(error)[:200])
            again = error.code in ("connection_lost", "lease_held")
            time.sleep(dice.uniform(0.01, 0.2))
            continue
        journal.note("granted", grant=name, device=grant.device, lease=grant.lease, fence=grant.fence)
        if drive(door, grant, journal, dice, orders.most) and dice.uniform(0, 100) >= orders.walk_away:
            release(door, grant, journal)
        else:
            journal.note("left", grant=name)
    journal.note("bye")


def drive(door: Door, grant: Grant, journal: Journal, dice: random.Random, most: int) -> bool:
    """Some commands under one lease; whether it is still ours as far as we know."""
    for _ in range(dice.randint(2, most)):
        time.sleep(dice.choice((0.0, 0.0, 0.01, 0.05)))
        try:
            journal.note("act", grant=grant.name)
            door.act(grant)
            journal.note("did", grant=grant.name)
        except AnydeviceError as error:
            journal.note("failed", grant=grant.name, code=error.code, message=str(error)[:200])
            if error.code in LOST:
                return False
    return True


def release(door: Door, grant: Grant, journal: Journal) -> None:
    """Gives a device back, and says what came of it."""
    journal.note("releasing", grant=grant.name)
    try:
        door.release(grant)
        journal.note("released", grant=grant.name)
    except AnydeviceError as error:
        journal.note("unreleased", grant=grant.name, code=error.code, message=str(error)[:200])
