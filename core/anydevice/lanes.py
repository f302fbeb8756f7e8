"""One lane a device: commands run in the order they came, and devices that share something share the lane.

A lane is taken by key: the device's own and one for each thing it shares with others. Keys are locked in sorted
order, so two groups that overlap can never wait for each other in a circle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType

import anyio

from anydevice_schemas import Device
from anydevice_schemas.errors import AnydeviceError, CallCancelled, CallTimeout


@dataclass(slots=True, eq=False)
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

    def enter(self, device: Device, *, wait: float, deadline: float) -> LaneTurn:
        """One turn on a device's lane, as an async context manager.

        Args:
            device: The device to drive.
            wait: Seconds to wait for the lane before giving up.
            deadline: Seconds the turn may take once it has begun.

        Raises:
            CallTimeout: On entering, the lane was not free in time; nothing was sent.
            TimeoutError: On leaving, the turn used up its deadline.
            AnydeviceError: On leaving, the command was ended from outside (see `interrupt`).
        """
        return LaneTurn(self, device, lane_keys(device), wait, deadline)

    def interrupt(self, device_key: str, why: AnydeviceError | None = None) -> bool:
        """Ends the command that runs on a device now; it answers with `why`. False when none runs."""
        lane = self._lanes.get(device_key)
        if lane is None or lane.running is None:
            return False
        lane.why = why or CallCancelled("The command was ended from outside.", by="host")
        lane.running.cancel()
        return True

    def busy(self, device_key: str) -> bool:
        """Whether a command runs on the device now."""
        lane = self._lanes.get(device_key)
        return lane is not None and lane.running is not None

    def join(self, key: str) -> _Lane:
        """The lane of a key, with one more user."""
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _Lane()
        lane.users += 1
        return lane

    def leave(self, key: str, lane: _Lane) -> None:
        """One user less; a lane nobody uses is forgotten."""
        lane.users -= 1
        if not lane.users and self._lanes.get(key) is lane:
            del self._lanes[key]


class LaneTurn:
    """One command's turn on its lane. Written out as a class because every command on a device takes one."""

    __slots__ = ("_deadline", "_device", "_held", "_keys", "_lanes", "_owner", "_scope", "_wait")

    def __init__(self, owner: Lanes, device: Device, keys: tuple[str, ...], wait: float, deadline: float) -> None:
        self._owner = owner
        self._device = device
        self._keys = keys
        self._wait = wait
        self._deadline = deadline
        self._lanes: list[_Lane] = []
        self._held = 0

    async def __aenter__(self) -> LaneTurn:
        self._lanes = [self._owner.join(key) for key in self._keys]
        try:
            for lane in self._lanes:
                await self._lock(lane)
                self._held += 1
        except BaseException:
            self._release()
            raise
        self._scope = anyio.CancelScope(deadline=anyio.current_time() + self._deadline)
        self._scope.__enter__()
        for lane in self._lanes:
            lane.running, lane.why = self._scope, None
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        why = next((lane.why for lane in self._lanes if lane.why is not None), None)
        for lane in self._lanes:
            lane.running = None
        try:
            self._scope.__exit__(kind, error, trace)
        finally:
            self._release()
        if self._scope.cancelled_caught:
            raise why or TimeoutError()

    async def _lock(self, lane: _Lane) -> None:
        try:
            lane.lock.acquire_nowait()
        except anyio.WouldBlock:
            with anyio.move_on_after(self._wait) as scope:
                await lane.lock.acquire()
            if scope.cancelled_caught:
                raise CallTimeout(
                    "Another command is still running on this device.",
                    after=self._wait,
                    waiting_for="lane",
                    device=self._device.key,
                    hint="Wait for it to end, or call appstate later.",
                ) from None

    def _release(self) -> None:
        for lane in self._lanes[: self._held]:
            lane.lock.release()
        for key, lane in zip(self._keys, self._lanes, strict=True):
            self._owner.leave(key, lane)
