"""One lane a device: commands run in the order they came, and devices that share something share the lane.

A lane is taken by key: the device's own and one for each thing it shares with others. Keys are locked in sorted
order, so two groups that overlap can never wait for each other in a circle.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import anyio

from anydevice_schemas import Device
from anydevice_schemas.errors import AnydeviceError, CallCancelled, CallTimeout


@dataclass(slots=True)
class _Lane:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    users: int = 0
    running: anyio.CancelScope | None = None
    why: AnydeviceError | None = None


def lane_keys(device: Device) -> tuple[str, ...]:
    """The keys a command on this device must hold: its own, and one for each thing it shares."""
    if not device.shares:
        return (device.key,)
    return tuple(sorted({device.key, *(f"share:{thing}" for thing in device.shares)}))


class Lanes:
    """All lanes of this host."""

    def __init__(self) -> None:
        self._lanes: dict[str, _Lane] = {}

    @asynccontextmanager
    async def enter(self, device: Device, deadline: float) -> AsyncIterator[None]:
        """Waits for the device's lane and holds it.

        Args:
            device: The device to drive.
            deadline: Seconds to wait for the lane before giving up.

        Raises:
            CallTimeout: The lane was not free in time; nothing was sent.
            CallCancelled: The command was ended from outside while it ran (see `interrupt`).
        """
        keys = lane_keys(device)
        lanes = [self._lanes.setdefault(key, _Lane()) for key in keys]
        for lane in lanes:
            lane.users += 1
        try:
            async with AsyncExitStack() as stack:
                await self._lock_all(stack, lanes, deadline, device)
                with anyio.CancelScope() as scope:
                    for lane in lanes:
                        lane.running, lane.why = scope, None
                    try:
                        yield
                    finally:
                        for lane in lanes:
                            lane.running = None
                if scope.cancelled_caught:
                    raise lanes[0].why or CallCancelled("The command was ended from outside.", by="host")
        finally:
            for key, lane in zip(keys, lanes, strict=True):
                lane.users -= 1
                if not lane.users and self._lanes.get(key) is lane:
                    del self._lanes[key]

    async def _lock_all(
        self, stack: AsyncExitStack, lanes: list[_Lane], deadline: float, device: Device
    ) -> None:
        for lane in lanes:
            try:
                lane.lock.acquire_nowait()
            except anyio.WouldBlock:
                with anyio.move_on_after(deadline) as scope:
                    await lane.lock.acquire()
                if scope.cancelled_caught:
                    raise CallTimeout(
                        "Another command is still running on this device.",
                        after=deadline,
                        waiting_for="lane",
                        device=device.key,
                        hint="Wait for it to end, or call appstate later.",
                    ) from None
            stack.callback(lane.lock.release)

    def interrupt(self, device_key: str, why: AnydeviceError) -> bool:
        """Ends the command that runs on a device now; it answers with `why`. False when none runs."""
        lane = self._lanes.get(device_key)
        if lane is None or lane.running is None:
            return False
        lane.why = why
        lane.running.cancel()
        return True

    def busy(self, device_key: str) -> bool:
        """Whether a command runs on the device now."""
        lane = self._lanes.get(device_key)
        return lane is not None and lane.running is not None
