"""What a case of the store catalogue works with: a new empty store, a clock that moves when told, what must hold."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from anydevice.leases import LeaseEvent, LeaseStore, Request
from anydevice_schemas import Holder, Lease
from anydevice_schemas.errors import AnydeviceError
from anydevice_schemas.report import Step

from ..racer import Factory, fence, open_store
from ..trial import CaseFailed

T = TypeVar("T")


class StoreTrial:
    """One attempt of one case.

    Attributes:
        store: New and empty.
        now: UTC seconds, moved by `wait`.
    """

    def __init__(self, factory: Factory, name: str, folder: Path) -> None:
        self.name = name
        self.factory = factory
        self.folder = folder
        self.now = 1_800_000_000.0
        self.steps: list[Step] = []
        self._opened: list[LeaseStore] = []
        self.store = self.open()

    def open(self) -> LeaseStore:
        """The store, opened (again)."""
        store = open_store(self.factory, self.folder)
        self._opened.append(store)
        return store

    def close(self) -> None:
        """Closes everything that was opened and can be closed."""
        for store in self._opened:
            closing = getattr(store, "close", None)
            if callable(closing):
                closing()
        self._opened.clear()

    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.now += seconds

    # --- the verbs, each kept as a step ---

    def request(self, who: str, device: str, **fields: Any) -> Request:
        """What somebody asks for: `who` is a session, or `principal/session`."""
        principal, _, session = who.rpartition("/")
        holder = Holder(principal=principal or "p", session=session)
        fields.setdefault("ttl", 60.0)
        fields["group"] = frozenset(fields.get("group", ()))
        return Request(device=f"b:{device}", holder=holder, **fields)

    def grant(self, who: str, device: str, *, on: LeaseStore | None = None, **fields: Any) -> Lease:
        """A grant that must be given."""
        return self.granted(who, device, on=on, **fields)[0]

    def granted(self, who: str, device: str, *, on: LeaseStore | None = None, **fields: Any) -> tuple[Lease, bool]:
        """As `grant`, with whether an earlier lease had run out."""
        store = on or self.store
        request = self.request(who, device, **fields)
        return self._done("grant", f"{who} {device}", lambda: store.grant(request, self.now))

    def renew(self, lease: Lease, **fields: Any) -> Lease:
        """A renewal that must be given."""
        return self._done("renew", lease.device, lambda: self.store.renew(lease.lease_id, self.now, **fields))

    def release(self, lease: Lease, **fields: Any) -> Lease | None:
        """A release."""
        return self._done("release", lease.device, lambda: self.store.release(lease.lease_id, self.now, **fields))

    def take_over(self, who: str, device: str, **fields: Any) -> Lease:
        """A takeover."""
        request = self.request(who, device, kind="human", **fields)
        return self._done(
            "take over", f"{who} {device}", lambda: self.store.take_over(request, self.now, reason="test")
        )

    def standing(self, on: LeaseStore | None = None) -> dict[str, Lease]:
        """The leases that stand, by device."""
        leases = self._done("leases", "", lambda: (on or self.store).leases(self.now))
        by_device = {lease.device.removeprefix("b:"): lease for lease in leases}
        self.equal(len(by_device), len(leases), "one lease a device")
        return by_device

    def listen(self) -> list[LeaseEvent]:
        """A list that every event from now on is added to."""
        heard: list[LeaseEvent] = []
        self.store.watch(heard.append)
        return heard

    def refused(self, code: str | Iterable[str], call: Callable[[], object]) -> AnydeviceError:
        """Something that must be refused, with one of these codes.

        Raises:
            CaseFailed: It is done, or refused otherwise.
        """
        codes = [code] if isinstance(code, str) else list(code)
        try:
            call()
        except AnydeviceError as error:
            if error.code in codes:
                return error
            raise CaseFailed(f"refused as {error.code} where {' or '.join(codes)} was due: {error.message}") from None
        except CaseFailed as failed:
            cause = failed.__cause__
            if isinstance(cause, AnydeviceError) and cause.code in codes:
                return cause
            raise
        raise CaseFailed(f"it was done where {' or '.join(codes)} was due")

    def _done(self, verb: str, what: str, call: Callable[[], T]) -> T:
        began = time.perf_counter()
        outcome = "ok"
        try:
            return call()
        except AnydeviceError as error:
            outcome = error.code
            raise CaseFailed(f"{verb} {what} was refused: {error.code}: {error.message}") from error
        finally:
            ms = round((time.perf_counter() - began) * 1000, 2)
            arguments = {"of": what} if what else {}
            self.steps.append(Step(call=verb, arguments=arguments, outcome=outcome, ms=ms))

    # --- what must hold ---

    def require(self, holds: object, reason: str) -> None:
        """Something must hold.

        Raises:
            CaseFailed: It does not.
        """
        if not holds:
            raise CaseFailed(reason)

    def equal(self, actual: object, expected: object, what: str) -> None:
        """Two things must be equal.

        Raises:
            CaseFailed: They are not.
        """
        self.require(actual == expected, f"{what}: expected {str(expected)[:200]!r}, got {str(actual)[:200]!r}")

    def rise(self, leases: Iterable[Lease]) -> None:
        """Every fence is higher than the one before.

        Raises:
            CaseFailed: One is not.
        """
        fences = [fence(lease) for lease in leases]
        for one, other in itertools.pairwise(fences):
            self.require(other > one, f"fence {other} came after {one}")
