"""Starting, stopping and erasing a simulator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
import structlog

from anydevice.driver import Acted, Power
from anydevice.kit import processes
from anydevice_schemas.errors import (
    ActionUnverified,
    AnydeviceError,
    CallTimeout,
    DeviceNotReady,
    OutcomeUnknown,
    ToolMissing,
)

from .reading.simulators import BOOTED, SHUTDOWN
from .simctl import Simctl, SimctlFailed, typed

log = structlog.get_logger("anydevice.apple")

STEP: Final = 0.5
GOING: Final = 45.0
"""Seconds a simulator may take to go down before it can be booted."""


class SimulatorPower(Power):
    """See `Power`."""

    def __init__(self, simctl: Simctl, release: Callable[[], Awaitable[None]], fit: Callable[[], None]) -> None:
        """`release` lets go of what drives the simulator, before it goes down; `fit` takes it on when it is up."""
        self._simctl, self._release, self._fit = simctl, release, fit

    async def boot(self, *, headless: bool | None, deadline: float) -> Acted:
        """See `Power.boot`: booted, and started up whole. With `headless` false its window is shown, too.

        Raises:
            CallTimeout: It does not come up in time.
            DeviceNotReady: It is in a state from which it cannot be booted.
        """
        end = anyio.current_time() + deadline
        going = min(end, anyio.current_time() + GOING)
        already = False
        while True:
            try:
                await self._simctl.run("boot", deadline=max(1.0, end - anyio.current_time()))
                break
            except SimctlFailed as error:
                state = error.failure.state
                if error.failure.kind != "wrong_state":
                    raise typed(error) from None
                if state in (BOOTED, "Booting"):
                    already = state == BOOTED
                    break
                if anyio.current_time() + STEP >= going:
                    raise typed(error) from None
            await anyio.sleep(STEP)
        left = max(1.0, end - anyio.current_time())
        try:
            await self._simctl.run("bootstatus", "-b", deadline=left)
        except SimctlFailed as error:
            raise typed(error) from None
        except CallTimeout as error:
            error.hint = "Call boot again and raise timeoutMs; the first start of a simulator takes minutes."
            raise
        self._fit()
        data: dict[str, Any] = {"alreadyRunning": True} if already else {}
        if headless is False:
            data |= await self._show()
        return Acted("simctl", verified=True, data=data)

    async def _show(self) -> dict[str, Any]:
        """Opens the program that shows simulators; without it they run all the same."""
        try:
            argv = [processes.find("open"), "-a", "Simulator", "--args", "-CurrentDeviceUDID", self._simctl.udid]
            done = await processes.run(argv, deadline=15.0)
        except (ToolMissing, CallTimeout) as error:
            return {"window": "not shown", "why": error.message}
        return {"window": "shown"} if done.code == 0 else {"window": "not shown"}

    async def shutdown(self, *, deadline: float) -> Acted:
        """See `Power.shutdown`.

        Raises:
            ActionUnverified: It is still up.
            OutcomeUnknown: Its state cannot be read.
        """
        end = anyio.current_time() + deadline
        await self._release()
        already = False
        try:
            await self._simctl.run("shutdown", deadline=deadline)
        except SimctlFailed as error:
            if error.failure.kind != "wrong_state" or error.failure.state not in (SHUTDOWN, "Shutting Down"):
                raise typed(error) from None
            already = error.failure.state == SHUTDOWN
        while True:
            state = await self._state()
            if state == SHUTDOWN:
                return Acted("simctl", verified=True, data={"already_down": True} if already else {})
            if anyio.current_time() >= end:
                if state is None:
                    raise OutcomeUnknown(
                        "The simulator was shut down, and its state cannot be read.",
                        sent="power.shutdown",
                        reason="state not told",
                    )
                raise ActionUnverified("The simulator is still there.", expected=SHUTDOWN, actual=state)
            await anyio.sleep(min(STEP, 0.2))

    async def erase(self, *, deadline: float) -> Acted:
        """See `Power.erase`. It is never shut down for it.

        Raises:
            DeviceNotReady: It is not shut down.
            ActionUnverified: It is not shut down afterwards.
        """
        state = await self._state()
        if state is not None and state != SHUTDOWN:
            raise _up(state)
        try:
            await self._simctl.run("erase", deadline=deadline)
        except SimctlFailed as error:
            if error.failure.kind == "wrong_state":
                raise _up(error.failure.state) from None
            raise typed(error) from None
        return Acted("simctl", verified=None)

    async def _state(self) -> str | None:
        """Its state; None where it cannot be told now, which means nothing about it."""
        try:
            row = await self._simctl.state()
        except AnydeviceError as error:
            log.info("state_not_told", error=error.code)
            return None
        return row.state if row is not None else None


def _up(state: str) -> DeviceNotReady:
    return DeviceNotReady(
        "Only a simulator that is shut down can be erased; nothing was erased.",
        hint="Call shutdown with this device first, then erase.",
        state=state,
        fix="shut it down first",
    )
