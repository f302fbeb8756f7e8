"""Long stories that a store and the lease rules live through side by side: both must say the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from anydevice.leases import LeaseEvent, LeaseState, Request, Step, live, step
from anydevice.leases.events import Event, Release, Renew, TakeOver
from anydevice.leases.refusals import same_holder
from anydevice_schemas import Lease
from anydevice_schemas.errors import AnydeviceError

from ..racer import fence
from ..trial import CaseFailed
from .case import case
from .trial import StoreTrial

STEPS = 600
PEOPLE = ("a", "b", "c", "another/a")
SHARES = {"d1": ["focus"], "d2": ["focus", "slot"], "d3": ["slot"], "d4": []}


@case(
    "any-story-ends-well",
    "Whatever happens in whatever order, a store MUST decide as the lease rules do: never two holders, rising fences.",
)
def any_story_ends_well(t: StoreTrial) -> None:
    _story(t, random.Random(1), STEPS, reopens=0)


@case(
    "any-story-goes-on-after-reopening",
    "A store that is opened again and again MUST decide as if it had been open all the time, but for the fences.",
    needs="durable",
    seconds=60.0,
)
def any_story_goes_on_after_reopening(t: StoreTrial) -> None:
    _story(t, random.Random(2), STEPS // 2, reopens=1)


def _story(t: StoreTrial, chance: random.Random, steps: int, *, reopens: int) -> None:
    both = _Both(t)
    known: dict[tuple[str, str], Lease] = {}
    for _ in range(steps):
        who, device = chance.choice(PEOPLE), chance.choice(list(SHARES))
        mine = known.get((who, device))
        what = chance.choices(["use", "renew", "release", "take over", "wait", "reopen"], [7, 1, 3, 1, 2, reopens])[0]
        if what == "reopen":
            both.reopen()
        elif what == "wait":
            t.wait(chance.randrange(0, 90, 10))  # a store may leave out, or forget, renewals by a few seconds
            both.notice()
        elif what == "use":
            asked = t.request(
                who,
                device,
                group=chance.sample(SHARES[device], chance.randint(0, len(SHARES[device]))),
                ttl=chance.choice([30.0, 60.0, 120.0]),
                kind=chance.choice(["implicit", "implicit", "run"]),
                until=chance.choice([0.0, 0.0, t.now + 100]),
            )
            if mine is not None and chance.random() < 0.85:
                asked = replace(asked, lease_id=mine.lease_id, fence=fence(mine))
            got = both.grant(asked)
            if got is not None:
                known[who, device] = got
            elif chance.random() < 0.5:
                known.pop((who, device), None)
        elif what == "take over":
            asked = t.request(who, device, group=SHARES[device], kind="human")
            known[who, device] = both.take_over(asked)
        elif what == "renew" and mine is not None:
            both.renew(mine.lease_id, chance.choice([None, t.now + 100]))
        elif what == "release" and mine is not None:
            both.release(mine.lease_id)
        both.compare()
    both.compare_told()


class _Both:
    """The store, and the rules as its model; what one calls by an id or a fence, the other may call otherwise."""

    def __init__(self, t: StoreTrial) -> None:
        self.t = t
        self.model = LeaseState()
        self.ids: dict[str, str] = {}
        self.fences: dict[tuple[int, int], tuple[int, int]] = {}
        self.highest = (0, 0)
        self.count = 0
        self.heard = t.listen()
        self.due: list[LeaseEvent] = []

    # --- the verbs: done by the store, judged by the rules ---

    def grant(self, asked: Request) -> Lease | None:
        """A grant, or None where both refuse."""
        given, due = self.do(asked, lambda: self.t.store.grant(asked, self.t.now))
        if due.error is not None:
            return None
        self.t.equal(given[1], due.result[1], "whether an earlier lease had run out")
        return self.pair(given[0], due.result[0])

    def take_over(self, asked: Request) -> Lease:
        """A takeover."""
        given, due = self.do(TakeOver(asked, "test"), lambda: self.t.store.take_over(asked, self.t.now, reason="test"))
        return self.pair(given, due.result)

    def renew(self, lease_id: str, until: float | None = None) -> None:
        """A renewal."""
        given, due = self.do(Renew(lease_id, until), lambda: self.t.store.renew(lease_id, self.t.now, until=until))
        if due.error is None:
            self.pair(given, due.result)

    def release(self, lease_id: str) -> None:
        """A release."""
        given, due = self.do(Release(lease_id), lambda: self.t.store.release(lease_id, self.t.now))
        self.t.equal(given and self.ids[given.lease_id], due.result and due.result.lease_id, "what was released")

    def reopen(self) -> None:
        """Both are opened again, under a higher epoch."""
        self.t.close()
        self.t.store = self.t.open()
        self.t.store.watch(self.heard.append)
        self.model = self.model.copy()
        self.model.epoch += 1

    def notice(self) -> None:
        """Has both see takeovers that ran out at the same time: leases are given back from when it is seen."""
        ended = {id for id, lease in self.model.leases.items() if lease.kind == "human" and not live(lease, self.t.now)}
        for name, modelled in list(self.ids.items()):
            if modelled in ended:
                self.renew(name)

    def do(self, event: Event, verb: Callable[[], Any]) -> tuple[Any, Step]:
        """What the store answered and what the rules say; that one refuses and the other does not is the end."""
        self.count += 1
        self.model, due = step(self.model, self.modelled(event), self.t.now, f"model-{self.count}")
        self.due += due.told
        given, code = None, "ok"
        try:
            given = verb()
        except AnydeviceError as error:
            code = error.code
        expected = due.error.code if due.error is not None else "ok"
        self.t.equal(code, expected, f"answer {self.count}, to {type(event).__name__.lower()}")
        return given, due

    # --- the one in terms of the other ---

    def modelled(self, event: Any) -> Any:
        """The event with ids and fences as the model knows them."""
        if isinstance(event, TakeOver):
            return replace(event, request=self.modelled(event.request))
        if event.lease_id is not None:
            event = replace(event, lease_id=self.ids[event.lease_id])
        if isinstance(event, Request) and event.fence is not None:
            event = replace(event, fence=self.fences[event.fence])
        return event

    def pair(self, lease: Lease, due: Lease) -> Lease:
        """Remembers that two leases are the same one; a new one has a new id and a fence above all before it."""
        if lease.lease_id not in self.ids:
            self.t.require(due.lease_id not in self.ids.values(), "a lease was given out under another id")
            self.ids[lease.lease_id] = due.lease_id
        if fence(lease) not in self.fences:
            self.t.require(fence(lease) > self.highest, f"fence {fence(lease)} came after {self.highest}")
            self.highest = fence(lease)
            self.fences[self.highest] = fence(due)
        self.t.equal(self.seen(lease), _row(due, due.lease_id, fence(due)), "the lease that was answered")
        return lease

    def seen(self, lease: Lease) -> tuple[object, ...]:
        """A lease of the store as the model would show it."""
        return _row(lease, self.ids[lease.lease_id], self.fences[fence(lease)])

    def compare(self) -> None:
        """What stands is the same in both, and nothing has two holders."""
        standing = self.t.store.leases(self.t.now)
        for lease in sorted(standing, key=fence):
            modelled = self.model.leases.get(self.ids.get(lease.lease_id, ""))
            if modelled is None:
                raise CaseFailed(f"a lease of {lease.holder.session} stands that should not")
            self.pair(lease, modelled)  # what was given back has a fence that nobody was answered yet
        due = [lease for lease in self.model.leases.values() if live(lease, self.t.now)]
        self.t.equal(
            sorted(map(self.seen, standing), key=repr),
            sorted((_row(lease, lease.lease_id, fence(lease)) for lease in due), key=repr),
            "what stands",
        )
        for one in standing:
            for other in standing:
                if not same_holder(one.holder, other.holder):
                    apart = one.device != other.device and set(one.group).isdisjoint(other.group)
                    self.t.require(apart, f"two holders: {one.holder.session} and {other.holder.session}")

    def compare_told(self) -> None:
        """Watchers were told the same, and nothing twice. Plain expiries may be noticed, and so told, at any time."""
        told = [_told(event, self.fences[fence(event.lease)]) for event in self.heard if event.lease is not None]
        due = [_told(event, fence(event.lease)) for event in self.due if event.lease is not None]
        self.t.equal(_most(told), 1, "how often a thing is told at most")
        self.t.equal(_most(due), 1, "how often a thing is told at most by the rules")
        for kind in ("granted", "taken", "released", "given_back"):
            self.t.equal(
                sorted(event for event in told if event[0] == kind),
                sorted(event for event in due if event[0] == kind),
                f"what was told as {kind}",
            )


def _told(event: LeaseEvent, its_fence: tuple[int, int]) -> tuple[str, tuple[int, int], str, str]:
    return (event.kind, its_fence, event.reason, event.by.session if event.by is not None else "")


def _most(told: list[tuple[str, tuple[int, int], str, str]]) -> int:
    return max(Counter((kind, its_fence) for kind, its_fence, _, _ in told).values(), default=0)


def _row(lease: Lease, lease_id: str, its_fence: tuple[int, int]) -> tuple[object, ...]:
    holder = f"{lease.holder.principal}/{lease.holder.session}"
    return (lease.device, holder, lease_id, its_fence, lease.kind, lease.ttl, lease.expires_at, sorted(lease.group))
