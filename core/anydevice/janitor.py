"""What is put in order without being asked: leases that ran out, turns in the queue, devices after their users."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial

import anyio
import anyio.to_thread
import structlog
from anyio.abc import TaskGroup

from anydevice_schemas import Device, Lease
from anydevice_schemas.errors import AnydeviceError, DeviceUnhealthy

from .database import StoreBusy
from .discovery import describe
from .driver import Driver, Environment
from .leases.desk import CLEAN_DEADLINE
from .ownership import patiently
from .services import Services

log = structlog.get_logger("anydevice.janitor")

TICK = 0.5
"""Seconds between looks at what has run out."""

SWEEP = 5.0
"""Seconds between looks at idle sessions."""

CHECKPOINT = 30.0
"""Seconds between checkpoints of the database."""

RETRY_FIRST, RETRY_MOST = 30.0, 900.0
"""Seconds until a device whose clean-up failed is tried again."""


def cleans(driver: Driver | None) -> bool:
    """Whether a driver has a clean-up of its own."""
    return driver is not None and type(driver).clean is not Driver.clean


class Janitor:
    """Keeps the house of one router.

    Args:
        services: What it keeps in order.
    """

    def __init__(self, services: Services) -> None:
        self.services = services
        self._group: TaskGroup | None = None
        self._retries: dict[str, tuple[float, float]] = {}
        services.desk.cleans = lambda key: self._group is not None and cleans(services.connections.existing(key))
        services.desk.released = self._released

    async def run(self, group: TaskGroup) -> None:
        """Works until it is cancelled; devices are cleaned up in tasks of `group`."""
        self._group = group
        self._unpin()
        swept = checked = time.monotonic()
        while True:
            await anyio.sleep(TICK)
            now = time.monotonic()
            self._tick()
            if now - swept >= SWEEP:
                swept = now
                try:
                    await self._sweep()
                    self._reconcile()
                    self._retry(now)
                except Exception as error:  # nothing else ends because the house could not be kept
                    log.error("sweep_failed", reason=describe(error))
            if now - checked >= CHECKPOINT and self.services.database is not None:
                checked = now
                try:
                    await anyio.to_thread.run_sync(self.services.database.checkpoint)
                except Exception as error:
                    log.warning("checkpoint_failed", reason=describe(error))

    def _unpin(self) -> None:
        """Commands of an earlier daemon have ended with it: what they needed their leases for does not count."""
        room, now = self.services.desk.room, self.services.clock.now()
        if room is None:
            return
        try:
            for lease in room.leases(now):
                earlier = lease.fence.epoch != room.state.epoch and lease.kind in ("implicit", "run")
                if earlier and lease.expires_at > now + lease.ttl:
                    room.renew(lease.lease_id, now)
        except Exception as error:
            log.warning("not_unpinned", reason=describe(error))

    def _tick(self) -> None:
        room = self.services.desk.room
        if room is None:
            return
        desk, now = self.services.desk, self.services.clock.now()
        try:
            desk.settle_releases()
            room.tick(now)
        except StoreBusy:
            return  # the next tick is soon
        except Exception as error:
            log.error("tick_failed", reason=describe(error))

    async def _sweep(self) -> None:
        """Ends idle sessions, and lets go of devices that nobody has a session on any more."""
        services = self.services
        for session in services.sessions.all():
            if services.desk.in_use(session):
                session.used = services.clock.monotonic()
        for session in services.sessions.sweep():
            key = session.device_key
            log.info("session_idle", session=session.name, device=key)
            if (
                not services.sessions.of_device(key)
                and not services.lanes.busy(key)
                and not services.desk.cleaning(key)
            ):
                await services.connections.drop(key)

    def _reconcile(self) -> None:
        """Ends leases of ours that no session sits in any more: none is kept for ever by nobody.

        Leases of an earlier daemon wait for their holders until they run out; those of another process are its own.
        """
        room = self.services.desk.room
        if room is None:
            return
        sessions = self.services.sessions.all()
        seated = {session.lease_id for session in sessions}
        known = {(session.principal, session.tenant, session.name, session.device_key) for session in sessions}
        for lease in list(room.state.leases.values()):
            ours = lease.fence.epoch == room.state.epoch and lease.kind in ("implicit", "run", "human")
            holder = (lease.holder.principal, lease.holder.tenant, lease.holder.session, lease.device)
            if ours and lease.lease_id not in seated and holder not in known:
                log.warning("lease_without_session", device=lease.device, session=lease.holder.session)
                self.services.desk.unreleased[lease.lease_id] = "its session is gone"

    # --- clean-up ---

    async def clean(self, device: Device, driver: Driver, lease: Lease) -> None:
        """Cleans a device up after an earlier holder, on the lane of whoever comes next and under its lease.

        Raises:
            DeviceUnhealthy: It could not be cleaned up; it is suspect from now on.
        """
        room = self.services.desk.room
        assert room is not None, "only a store with marks owes a clean-up"
        reason = await self._clean(driver)
        now = self.services.clock.now()
        if reason is None:
            await patiently(self.services, lambda: room.cleaned(device.key, now), device=device.key)
            return

        def suspect() -> None:
            room.set_health(device.key, "suspect", reason, now)
            room.release(lease.lease_id, now, reason="the device is not in order")

        await patiently(self.services, suspect, device=device.key)
        raise DeviceUnhealthy(
            "The device could not be put in order after its last user.",
            health="suspect",
            reason=reason,
            device=device.key,
            hint=f"Choose another device, or have a person look at it and run: anydevice mark {device.key} good",
        )

    @staticmethod
    async def _clean(driver: Driver) -> str | None:
        """Runs the driver's own clean-up; what was wrong, or None."""
        try:
            with anyio.fail_after(CLEAN_DEADLINE):
                await driver.clean()
        except TimeoutError:
            return f"the clean-up did not end within {CLEAN_DEADLINE:g} s"
        except AnydeviceError as error:
            return f"{error.code}: {error.message}"
        except Exception as error:
            return describe(error)
        return None

    def _released(self, device_key: str) -> None:
        """A holder gave a device back and it is kept for its clean-up."""
        assert self._group is not None
        self._group.start_soon(self._guarded, self._after_release, device_key)

    async def _guarded(self, work: Callable[[str], Awaitable[None]], device_key: str) -> None:
        """Housekeeping that fails is told; nothing else ends for it."""
        try:
            await work(device_key)
        except Exception as error:
            log.warning("housekeeping_failed", device=device_key, reason=describe(error))

    async def _after_release(self, device_key: str) -> None:
        services, room = self.services, self.services.desk.room
        driver = services.connections.existing(device_key)
        if room is None:
            return
        if driver is None:  # closed meanwhile: the next holder's first command cleans up, and need not wait for it
            kept = room.state.of_device(device_key)
            if kept is not None and kept.kind == "cleanup":
                release = partial(room.release, kept.lease_id, services.clock.now(), reason="its driver is closed")
                await patiently(services, release, device=device_key)
            return
        reason: str | None = "the device was busy"
        try:
            async with services.lanes.enter(driver.device, wait=CLEAN_DEADLINE, deadline=CLEAN_DEADLINE + 1):
                reason = await self._clean(driver)
        except (AnydeviceError, TimeoutError) as error:
            reason = describe(error)
        now = services.clock.now()
        if reason is not None:
            log.warning("clean_up_failed", device=device_key, reason=reason)
            verb = partial(room.set_health, device_key, "suspect", reason, now)
        else:
            verb = partial(room.cleaned, device_key, now)
        # Where it cannot be written the lease of the clean-up runs out, and the next holder's first command cleans up.
        await patiently(services, verb, device=device_key)

    def _retry(self, now: float) -> None:
        """Devices that could not be cleaned up are tried again after a while, unless somebody has them."""
        room = self.services.desk.room
        if room is None or self._group is None:
            return
        for mark in list(room.state.marks.values()):
            if mark.health != "suspect" or mark.said or not (mark.used or mark.owed):
                self._retries.pop(mark.device, None)
                continue
            due, pause = self._retries.setdefault(mark.device, (now + RETRY_FIRST, RETRY_FIRST))
            if now < due or room.state.of_device(mark.device) is not None:
                continue
            self._retries[mark.device] = (now + pause * 2, min(RETRY_MOST, pause * 2))
            self._group.start_soon(self._guarded, self._try_again, mark.device)

    async def _try_again(self, device_key: str) -> None:
        services, room = self.services, self.services.desk.room
        device = services.backends.known(device_key)
        if device is None or room is None:
            return
        try:
            driver = await services.connections.get(device, Environment(None, {}))
            async with services.lanes.enter(device, wait=1.0, deadline=CLEAN_DEADLINE + 1):
                reason = await self._clean(driver)
        except (AnydeviceError, TimeoutError):
            return
        if reason is not None:
            return
        now = services.clock.now()
        await patiently(services, lambda: room.cleaned(device_key, now), device=device_key)
        if room.mark(device_key).health == "suspect":  # a person may have said something else meanwhile
            back = partial(room.set_health, device_key, "good", "cleaned up at a later try", now)
            await patiently(services, back, device=device_key)
            log.info("cleaned_up_later", device=device_key)
