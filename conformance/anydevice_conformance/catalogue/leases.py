"""One driver at a time: who is refused, what he is told, and when a device is free again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import anyio

from anydevice.leases import LeaseStore, Request
from anydevice_schemas import TTL_DEFAULT, Answer, Holder, LeaseKind

from ..case import case
from ..trial import Trial


def store(t: Trial) -> LeaseStore:
    """Where the leases are kept."""
    return t.router.services.desk.store


def now(t: Trial) -> float:
    """UTC seconds on the owner's clock."""
    return t.router.services.clock.now()


def of_kind(t: Trial, kind: LeaseKind) -> Request:
    """Somebody else's request for the device under test."""
    holder = Holder(principal="uid:somebody-else", session="night-run", tenant="nightly", run_id="run-7")
    group = frozenset(t.device.shares)
    return Request(device=t.device.key, holder=holder, ttl=TTL_DEFAULT, group=group, kind=kind)


def lapse(t: Trial) -> None:
    """The caller's lease on the device runs out, as it does when nothing is asked for long enough."""
    for session in t.router.services.sessions.implicit(t.caller):
        if session.device_key == t.device.key and session.lease_id is not None:
            store(t).release(session.lease_id, now(t), reason="expired")


def refused(t: Trial, answer: Answer) -> dict[str, Any]:
    """A lease_held that says until when, in UTC and in the future, and that asking again may help."""
    details = dict(t.detail(answer, "holder", "expires"))
    assert answer.error is not None
    until = datetime.fromisoformat(details["expires"])
    t.require(until.utcoffset() is not None and until > datetime.fromtimestamp(now(t), UTC), "expires lies in the past")
    t.require(answer.error.retryable, "a device that is held will be free again: the refusal is retryable")
    return details


@case(
    "leases.a-second-caller-is-refused",
    "While one caller drives a device, another's command MUST be refused as lease_held with holder and expiry, and "
    "MUST NOT reach the app.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def second_caller(t: Trial) -> None:
    second = t.new_caller("second-caller")
    refused(t, await t.call("press", by=second, target="Increment", expect="lease_held"))
    refused(t, await t.call("open", by=second, expect="lease_held"))
    await t.first_press()


@case(
    "leases.reads-are-refused-as-well",
    "While one caller drives a device, another MUST NOT read its screen.",
)
async def reads(t: Trial) -> None:
    second = t.new_caller("second-reader")
    calls: tuple[tuple[str, dict[str, Any]], ...]
    calls = (("snapshot", {}), ("get", {"target": "Count"}), ("find", {"query": "Count"}))
    for command, arguments in calls:
        answer = await t.call(command, by=second, expect="lease_held", **arguments)
        refused(t, answer)
        t.require(not answer.data, f"{command} was refused and yet answered with data")


@case(
    "leases.strangers-learn-only-that-it-is-held",
    "Another user MUST be told that a device is held and until when, in refusals and listings, and nothing of by whom.",
)
async def strangers(t: Trial) -> None:
    mine = (await t.call("appstate")).session or ""
    stranger = t.new_caller("stranger", principal="uid:somebody-else")
    answer = await t.call("snapshot", by=stranger, expect="lease_held")
    refused(t, answer)
    listed = await t.call("devices", named=False, by=stranger, device=t.device.key)
    rows = listed.data["devices"]
    t.require(rows and rows[0].get("lease", {}).get("until"), "the listing does not say until when it is held")
    t.equal(rows[0]["lease"].get("yours"), False, "whether the stranger holds it")
    for told in (answer, listed):
        text = told.model_dump_json()
        t.require(mine not in text and t.caller.principal not in text, "a stranger is told whose session holds it")


async def in_order(t: Trial) -> None:
    """Waits until the device was put in order after its last holder."""
    with anyio.move_on_after(10):
        while t.router.services.desk.cleaning(t.device.key):  # noqa: ASYNC110 - nothing tells when it is in order
            await anyio.sleep(0.02)


@case(
    "leases.listings-tell-the-holder-and-the-end",
    "A listing MUST say which devices the caller holds, in which session and until when, and MUST NOT say so any more "
    "once the session has ended. It needs no lease itself.",
)
async def listings(t: Trial) -> None:
    mine = (await t.call("appstate")).session
    for by, yours in ((t.caller, True), (t.new_caller("onlooker", principal="uid:somebody-else"), False)):
        rows = (await t.call("devices", named=False, by=by, device=t.device.key)).data["devices"]
        lease: dict[str, Any] = rows[0].get("lease", {}) if rows else {}
        t.require(lease.get("until"), "the listing does not say until when it is held")
        t.equal((lease.get("yours"), lease.get("session")), (yours, mine if yours else None), "what the listing tells")
    await t.call("session", named=False, action="end", name=mine)
    await in_order(t)
    rows = (await t.call("devices", named=False, device=t.device.key)).data["devices"]
    t.require("lease" not in rows[0], "a device whose session has ended is still listed as held")


@case(
    "leases.a-lapsed-lease-is-renewed-and-told",
    "A lease that ran out while nobody took the device MUST be granted again under a new fence, and the answer MUST "
    "say so once.",
)
async def lapsed(t: Trial) -> None:
    before = await t.call("appstate", debug=True)
    lapse(t)
    after = await t.call("appstate", debug=True)
    told = [notice for notice in after.notices if notice.get("kind") == "lease_renewed"]
    t.require(told, "the answer does not say that the lease had run out")
    old, new = (_fence(t, answer) for answer in (before, after))
    t.require(new > old, f"the fence was {old} and is {new}: a new grant has a new one")
    t.equal(str(told[0].get("fence")), ".".join(map(str, new)), "the fence that is told")
    again = await t.call("appstate", debug=True)
    t.require(not again.notices, "it is told a second time")
    t.equal(_fence(t, again), new, "the fence of the next command")


@case(
    "leases.a-lost-lease-is-told",
    "A caller whose lease ran out and whose device another took MUST be refused as lease_lost, with what it may know "
    "of the taker and the reason.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def lost(t: Trial) -> None:
    lapse(t)
    taker = t.new_caller("taker")
    await t.call("appstate", by=taker)
    answer = await t.call("press", target="Increment", expect="lease_lost")
    t.detail(answer, "by", "reason")
    await t.first_press(by=taker)


@case(
    "leases.a-foreign-lease-id-is-stale",
    "A call that names a lease which is not its session's MUST be refused as lease_stale and MUST NOT reach the app.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def foreign_lease(t: Trial) -> None:
    answer = await t.call("press", leaseId="0" * 32, target="Increment", expect="lease_stale")
    t.detail(answer, "fence", "current")
    await t.first_press()


@case(
    "leases.a-run-keeps-sessions-out",
    "A device leased to a run MUST be refused to sessions, reads included, until the run releases it.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def run_lease(t: Trial) -> None:
    for session in t.router.services.sessions.implicit(t.caller):
        t.router.services.sessions.end(session, "the case begins")
    await in_order(t)
    lease, _ = store(t).grant(of_kind(t, "run"), now(t))
    try:
        answer = await t.call("press", target="Increment", expect="lease_held")
        t.equal(refused(t, answer)["holder"], {"held": True}, "what may be known of the holder")
        await t.call("snapshot", expect="lease_held")
    finally:
        store(t).release(lease.lease_id, now(t), reason="the run is over")
    await t.first_press()


@case(
    "leases.a-takeover-is-told",
    "When a person takes a device over, the session that drove it MUST be refused as lease_lost, and as lease_held "
    "from then on, and its old lease MUST NOT stand beside the new one.",
    command="press",
    sample={"target": "Increment"},
    mutates=True,
)
async def takeover(t: Trial) -> None:
    lease = store(t).take_over(of_kind(t, "human"), now(t), reason="a person needs it")
    try:
        t.detail(await t.call("press", target="Increment", expect="lease_lost"), "by", "reason")
        refused(t, await t.call("snapshot", expect="lease_held"))
        mine = [one for one in store(t).leases(now(t)) if one.device == t.device.key]
        t.equal([one.lease_id for one in mine], [lease.lease_id], "the leases on the device")
    finally:
        store(t).release(lease.lease_id, now(t), reason="the person is done")
    await t.first_press(by=t.new_caller("afterwards"))


def _fence(t: Trial, answer: Answer) -> tuple[int, ...]:
    fence = (answer.debug or {}).get("fence")
    t.require(fence, "debug does not tell the fence")
    return tuple(int(part) for part in str(fence).split("."))
