"""What every store must do: the five verbs, one caller after another."""

from __future__ import annotations

from anydevice_schemas import TTL_MAX, TTL_MIN

from ..racer import fence
from .case import case
from .trial import StoreTrial

GONE = ("lease_expired", "lease_lost")


@case(
    "a-grant-is-whole",
    "A grant MUST carry device, group, holder, kind, TTL and expiry as asked, under an id nobody can guess.",
)
def a_grant_is_whole(t: StoreTrial) -> None:
    lease = t.grant("a", "d1", ttl=30.0, group=["focus"], kind="run")
    t.equal((lease.device, lease.holder.session, lease.kind), ("b:d1", "a", "run"), "what was granted")
    t.equal(list(lease.group), ["focus"], "group")
    t.equal((lease.granted_at, lease.ttl, lease.expires_at), (t.now, 30.0, t.now + 30.0), "times")
    other = t.grant("a", "d2")
    t.require(len(lease.lease_id) >= 16 and lease.lease_id != other.lease_id, "ids must be long and differ")
    t.require(lease.lease_id[:8] != other.lease_id[:8], "ids must not be counted up")


@case(
    "a-second-holder-is-refused",
    "While a lease stands, a grant to another session MUST be refused as lease_held with the expiry.",
)
def a_second_holder_is_refused(t: StoreTrial) -> None:
    mine = t.grant("a", "d1")
    t.wait(59.9)
    error = t.refused("lease_held", lambda: t.grant("b", "d1"))
    t.require(str(error.details.get("expires", "")).endswith("Z") and error.retryable, "it must say until when")
    t.equal(error.details.get("holder", {}).get("session"), "a", "the holder, told within one principal")
    t.equal(t.standing()["d1"].lease_id, mine.lease_id, "the lease that stands")


@case("a-stranger-learns-nothing", "A refusal MUST NOT tell another principal who holds the device.")
def a_stranger_learns_nothing(t: StoreTrial) -> None:
    t.grant("alice/secret-session", "d1")
    error = t.refused("lease_held", lambda: t.grant("bob/b", "d1"))
    t.require(
        "secret-session" not in str(error.to_wire()) and "alice" not in str(error.to_wire()), "the holder is told"
    )


@case(
    "use-renews", "A grant to the session that holds already MUST be its own lease, lengthened, under the same fence."
)
def use_renews(t: StoreTrial) -> None:
    first = t.grant("a", "d1")
    t.wait(40)
    again, regranted = t.granted("a", "d1", lease_id=first.lease_id, fence=fence(first))
    t.equal((again.lease_id, fence(again), regranted), (first.lease_id, fence(first), False), "the lease")
    t.equal(again.expires_at, t.now + 60, "expiry")
    t.wait(59)
    t.refused("lease_held", lambda: t.grant("b", "d1"))


@case("renewing-lengthens", "A renewal MUST keep the fence and let the lease live for its TTL from now.")
def renewing_lengthens(t: StoreTrial) -> None:
    lease = t.grant("a", "d1")
    for _ in range(5):
        t.wait(50)
        longer = t.renew(lease)
        t.equal((longer.lease_id, fence(longer)), (lease.lease_id, fence(lease)), "the lease")
        t.equal(longer.expires_at, t.now + 60, "expiry")
    t.equal(t.standing()["d1"].expires_at, t.now + 60, "expiry of what stands")


@case("a-pin-holds", "A lease MUST stand at least until the time that a running command needs it to.")
def a_pin_holds(t: StoreTrial) -> None:
    lease = t.grant("a", "d1", until=t.now + 300)
    t.wait(299)
    t.require("d1" in t.standing(), "a grant until a later time must stand until then")
    t.renew(lease, until=t.now + 200)
    t.wait(199)
    t.refused("lease_held", lambda: t.grant("b", "d1"))
    t.renew(lease)
    t.wait(60)
    t.grant("b", "d1")


@case("what-is-gone-is-not-renewed", "Renewing a lease that ran out, was released, taken or never was MUST be refused.")
def what_is_gone_is_not_renewed(t: StoreTrial) -> None:
    lease = t.grant("a", "d1")
    t.release(lease)
    t.refused(GONE, lambda: t.renew(lease))
    lease = t.grant("a", "d1")
    t.wait(60)
    t.refused(GONE, lambda: t.renew(lease))
    lease = t.grant("a", "d1")
    t.take_over("human", "d1")
    t.refused(GONE, lambda: t.renew(lease))
    t.refused(GONE, lambda: t.store.renew("0" * 32, t.now))
    t.equal(t.standing()["d1"].holder.session, "human", "who holds")


@case("a-release-frees", "A released device MUST be free at once; releasing again MUST be no error and change nothing.")
def a_release_frees(t: StoreTrial) -> None:
    lease = t.grant("a", "d1")
    released = t.release(lease)
    t.require(released is not None and released.lease_id == lease.lease_id, "the lease that was released is answered")
    t.equal(t.standing(), {}, "what stands")
    other = t.grant("b", "d1")
    t.equal(t.release(lease), None, "releasing what is gone")
    t.equal(t.standing()["d1"].lease_id, other.lease_id, "what stands")


@case("expiry-frees", "A lease MUST stand until just before its expiry and MUST NOT stand from then on.")
def expiry_frees(t: StoreTrial) -> None:
    lease = t.grant("a", "d1", ttl=30.0)
    t.wait(29.999)
    t.equal(t.standing()["d1"].lease_id, lease.lease_id, "just before expiry")
    t.now = lease.expires_at
    t.equal(t.standing(), {}, "at expiry")
    t.equal(t.grant("b", "d1").holder.session, "b", "the next holder")


@case(
    "a-lapsed-lease-is-granted-anew",
    "A lease that ran out untaken MUST be granted again as a new one, with a new fence, and said to be.",
)
def a_lapsed_lease_is_granted_anew(t: StoreTrial) -> None:
    old = t.grant("a", "d1")
    t.wait(61)
    new, regranted = t.granted("a", "d1", lease_id=old.lease_id, fence=fence(old))
    t.require(regranted, "it must be said that the earlier lease had run out")
    t.require(new.lease_id != old.lease_id, "it must be another lease")
    t.rise([old, new])


@case(
    "a-lost-lease-is-told", "Who comes back after another session was granted the device MUST be refused as lease_lost."
)
def a_lost_lease_is_told(t: StoreTrial) -> None:
    old = t.grant("a", "d1")
    t.wait(61)
    t.grant("b", "d1")
    error = t.refused("lease_lost", lambda: t.grant("a", "d1", lease_id=old.lease_id, fence=fence(old)))
    t.require("by" in error.details and "reason" in error.details, "lease_lost must say by whom and why")


@case(
    "a-lost-lease-stays-lost",
    "Who comes back with a lease after another session had it MUST be refused as lease_lost even when it is free.",
)
def a_lost_lease_stays_lost(t: StoreTrial) -> None:
    old = t.grant("a", "d1")
    t.wait(61)
    t.release(t.grant("b", "d1"))
    for _ in range(2):
        error = t.refused("lease_lost", lambda: t.grant("a", "d1", lease_id=old.lease_id, fence=fence(old)))
        t.require("by" in error.details and "reason" in error.details, "lease_lost must say by whom and why")
    t.equal(t.standing(), {}, "what stands")
    t.equal(t.granted("a", "d1")[1], False, "whether it is told of an earlier lease when it names none")


@case("an-old-fence-is-stale", "A request under another fence than the current one MUST be refused as lease_stale.")
def an_old_fence_is_stale(t: StoreTrial) -> None:
    old = t.grant("a", "d1")
    t.release(old)
    new = t.grant("a", "d1")
    for wrong in (fence(old), (new.fence.epoch, new.fence.counter + 1), (new.fence.epoch + 1, 0)):
        error = t.refused("lease_stale", lambda wrong=wrong: t.grant("a", "d1", lease_id=new.lease_id, fence=wrong))  # type: ignore[misc]
        t.equal(error.details.get("current"), str(new.fence), "the current fence")
    t.grant("a", "d1", lease_id=new.lease_id, fence=fence(new))


@case("fences-rise", "Every grant and every takeover MUST have a higher fence than any before, on whatever device.")
def fences_rise(t: StoreTrial) -> None:
    leases = [t.grant("a", "d1"), t.grant("b", "d2")]
    t.release(leases[0])
    leases.append(t.grant("a", "d1"))
    leases.append(t.take_over("human", "d2"))
    t.release(leases[-1])
    t.wait(61)
    leases.append(t.grant("c", "d1"))
    leases.append(t.grant("c", "d2"))
    t.rise(leases)


@case("a-takeover-is-at-once", "After a takeover the old lease MUST NOT stand, and its holder MUST be refused.")
def a_takeover_is_at_once(t: StoreTrial) -> None:
    old = t.grant("a", "d1")
    new = t.take_over("human", "d1")
    t.equal((new.holder.session, new.kind), ("human", "human"), "who holds now")
    t.equal({lease.lease_id for lease in t.standing().values()}, {new.lease_id}, "what stands")
    t.refused("lease_lost", lambda: t.grant("a", "d1", lease_id=old.lease_id, fence=fence(old)))
    t.refused("lease_held", lambda: t.grant("b", "d1"))
    t.equal(t.release(old), None, "the old holder's release")
    t.equal(t.standing()["d1"].lease_id, new.lease_id, "what stands")


@case(
    "a-takeover-says-why",
    "A takeover MUST tell watchers and the holder it ended who did it and why, and no other principal who.",
)
def a_takeover_says_why(t: StoreTrial) -> None:
    old, strange = t.grant("a", "d1"), t.grant("bob/b", "d2")
    heard = t.listen()
    hands = [t.take_over("secret-hands", device) for device in ("d1", "d2")]
    taken = [event for event in heard if event.kind == "taken"]
    t.equal(
        [(event.lease and event.lease.lease_id, event.reason) for event in taken],
        [(old.lease_id, "test"), (strange.lease_id, "test")],
        "the leases that watchers are told of, and why",
    )
    t.equal([event.by and event.by.session for event in taken], ["secret-hands"] * 2, "by whom, for watchers")
    for _ in range(2):  # while the person has it, and when it is free again
        error = t.refused("lease_lost", lambda: t.grant("a", "d1", lease_id=old.lease_id, fence=fence(old)))
        t.equal(error.details.get("reason"), "test", "why, for the holder")
        t.equal(error.details.get("by", {}).get("session"), "secret-hands", "by whom, for the holder")
        error = t.refused("lease_lost", lambda: t.grant("bob/b", "d2", lease_id=strange.lease_id))
        t.equal(error.details.get("reason"), "test", "why, for a holder of another principal")
        t.require("secret-hands" not in str(error.to_wire()), "another principal is told who took over")
        for lease in hands:
            t.release(lease)
    error = t.refused("lease_lost", lambda: t.renew(old))
    t.equal(error.details.get("reason"), "test", "why, for who renews")


@case(
    "a-takeover-that-runs-out-is-given-back",
    "When a takeover runs out, who was interrupted MUST have the lease again, under a new fence, and nobody else one.",
)
def a_takeover_that_runs_out_is_given_back(t: StoreTrial) -> None:
    for number, first in enumerate(("b", "a", "human")):
        device = f"d{number}"
        old = t.grant("a", device)
        heard = t.listen()
        human = t.take_over("human", device)
        t.wait(61)
        # Whoever comes first, and also who took over before, finds that the device is a's again.
        code = "lease_stale" if first == "a" else "lease_lost" if first == "human" else "lease_held"
        knows = {"b": {}, "a": {"lease_id": old.lease_id, "fence": fence(old)}, "human": {"lease_id": human.lease_id}}
        t.refused(code, lambda device=device, first=first, knows=knows: t.grant(first, device, **knows[first]))  # type: ignore[misc]
        t.equal(
            [event.kind for event in heard], ["taken", "granted", "expired", "given_back"], "what watchers are told"
        )
        back = heard[-1].lease
        assert back is not None
        standing = t.standing()[device]
        t.equal((standing.lease_id, fence(standing)), (old.lease_id, fence(back)), "what stands")
        t.rise([old, human, back])
        again, _ = t.granted("a", device, lease_id=back.lease_id, fence=fence(back))
        t.equal((again.lease_id, fence(again)), (back.lease_id, fence(back)), "the lease that is used on")


@case(
    "a-group-is-one",
    "Devices that share something MUST be driven by one holder at a time, and others MUST NOT be affected.",
)
def a_group_is_one(t: StoreTrial) -> None:
    lease = t.grant("a", "d1", group=["focus", "slot"])
    error = t.refused("lease_held", lambda: t.grant("b", "d2", group=["focus"]))
    t.equal(error.details.get("shared"), ["focus"], "what is shared")
    t.refused("lease_held", lambda: t.grant("b", "d3", group=["other", "slot"]))
    t.grant("b", "d4", group=["other"])
    t.grant("b", "d5")
    t.grant("a", "d2", group=["focus"])
    t.release(lease)
    t.refused("lease_held", lambda: t.grant("b", "d6", group=["focus"]))
    t.grant("b", "d3", group=["slot"])


@case(
    "a-takeover-takes-the-group", "A takeover MUST end every lease on the device and on what it shares, and no other."
)
def a_takeover_takes_the_group(t: StoreTrial) -> None:
    t.grant("a", "d1", group=["focus"])
    t.grant("a", "d2", group=["focus", "slot"])
    bystander = t.grant("b", "d3", group=["other"])
    new = t.take_over("human", "d1", group=["focus"])
    standing = {lease.lease_id for lease in t.standing().values()}
    t.equal(standing, {bystander.lease_id, new.lease_id}, "what stands")


@case(
    "ttl-is-bounded",
    "A TTL outside 5 to 600 seconds MUST be refused as invalid_argument; the bounds themselves are good.",
)
def ttl_is_bounded(t: StoreTrial) -> None:
    for ttl in (TTL_MIN - 0.01, TTL_MAX + 0.01, 0.0, -1.0, float("inf")):
        error = t.refused("invalid_argument", lambda ttl=ttl: t.grant("a", "d1", ttl=ttl))  # type: ignore[misc]
        t.equal(error.details.get("param"), "ttl", "the argument")
    t.equal(t.standing(), {}, "what stands")
    for ttl, device in ((TTL_MIN, "d1"), (TTL_MAX, "d2")):
        t.equal(t.grant("a", device, ttl=ttl).expires_at, t.now + ttl, "expiry")


@case(
    "events-in-order",
    "Watchers MUST be told of grants, releases, expiries and takeovers in the order they happen, and of no renewal.",
)
def events_in_order(t: StoreTrial) -> None:
    heard = t.listen()
    first = t.grant("a", "d1")
    t.wait(30)
    t.renew(first)
    t.release(first, reason="done")
    second = t.grant("b", "d1")
    t.wait(61)
    third = t.grant("c", "d1")
    fourth = t.take_over("human", "d1")
    told = [(event.kind, event.lease and event.lease.lease_id) for event in heard]
    expected = [
        ("granted", first.lease_id), ("released", first.lease_id), ("granted", second.lease_id),
        ("expired", second.lease_id), ("granted", third.lease_id), ("taken", third.lease_id),
        ("granted", fourth.lease_id),
    ]  # fmt: skip
    t.equal([kind for kind, _ in told], [kind for kind, _ in expected], "what was told")
    t.equal(told, expected, "of which leases")
    t.equal((heard[1].reason, heard[5].reason), ("done", "test"), "the reasons")


@case(
    "watching-ends", "A watcher MUST be told nothing any more once it has ended its watch, and others MUST be told on."
)
def watching_ends(t: StoreTrial) -> None:
    heard: list[object] = []
    stop = t.store.watch(heard.append)
    others = t.listen()
    t.grant("a", "d1")
    stop()
    stop()
    t.grant("a", "d2")
    t.equal((len(heard), len(others)), (1, 2), "what the two were told")


@case("a-refusal-changes-nothing", "What is refused MUST change no lease, use up no fence and be told to no watcher.")
def a_refusal_changes_nothing(t: StoreTrial) -> None:
    t.grant("a", "d1")
    before, heard = t.standing(), t.listen()
    t.wait(1)
    for _ in range(3):
        t.refused("lease_held", lambda: t.grant("b", "d1"))
        t.refused("invalid_argument", lambda: t.grant("b", "d2", ttl=1.0))
    t.equal(
        {d: lease.expires_at for d, lease in t.standing().items()},
        {d: lease.expires_at for d, lease in before.items()},
        "what stands",
    )
    t.equal([event.kind for event in heard], [], "what was told")
