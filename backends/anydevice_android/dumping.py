"""Getting a dump: which source, how often, and what is answered when there is none."""

from __future__ import annotations

import anyio
import structlog

from anydevice_schemas.errors import (
    AnydeviceError,
    CallTimeout,
    ConnectionLost,
    DeviceNotReady,
    ToolMissing,
    UpstreamUnavailable,
)
from anydevice_schemas.tree import Quality

from .automation import Automation, Refusal
from .reach import SYSTEM_UI, Reach
from .reading.dump import Dump, NoDump, in_order, parse_dump
from .reading.focus import Focus

log = structlog.get_logger("anydevice.android")

DEADLINE = 15.0
"""Seconds of a dump; a screen that never rests makes the program give up after about 11."""
BUSY = 20.0
"""Seconds for which a screen that never rests is not asked again: another try would cost as much and say the same."""
AGAIN = 0.5
"""Seconds before the one repetition where the screen was between two windows."""
LETTING_GO = 2.0
"""Seconds for which the slot may still be held by a dump of ours that was left unfinished."""
POOR = 3
"""A dump with fewer elements is looked at twice before it is believed."""
WINDOWS_SINCE = 30
"""API level from which `dump --windows` may be there; whether it is, the program says."""


class Dumping:
    """The source of a device's trees. Calls take turns: a device has one automation slot."""

    def __init__(self, reach: Reach, automation: Automation | None = None) -> None:
        self._reach, self._automation = reach, automation
        self._windows: bool | None = None if reach.sdk >= WINDOWS_SINCE or reach.sdk == 0 else False
        self._busy_until = 0.0
        self._busy_at: Focus | None = None
        self._seen: Focus | None = None
        self._keyboard: str | None = None
        self._slow_until = 0.0
        self._left = -LETTING_GO

    def acted(self) -> None:
        """Another screen was asked for: what was true of the one before need not be of it."""
        self._busy_until = 0.0

    async def take(self) -> tuple[Dump, Focus | None, Quality]:
        """A dump, the app in front, and how far the dump can be believed.

        Raises:
            DeviceNotReady: The screen never rests (`reason: snapshot_busy`), or shows nothing.
            UpstreamUnavailable: Another automation client holds the slot (`reason: slot_taken`).
            AnydeviceError: As `AdbDevice.shell`.
        """
        left = self._busy_until - anyio.current_time()
        if left > 0 and await self._reach.focus() == self._busy_at:
            raise _busy(left)
        async with self._reach.slot:
            dump, focus = await self._both()
            quality: Quality = "complete"
            if _elsewhere(dump, focus):
                dump, focus = await self._both()
                if _elsewhere(dump, focus) and await self._another_source():
                    dump, focus = await self._both()
                quality = "stale" if _elsewhere(dump, focus) else "complete"
            elif _poor(dump):
                await anyio.sleep(AGAIN)
                again, focus = await self._both()
                if _poor(again) and await self._another_source():
                    again, focus = await self._both()
                dump = again if again.count >= dump.count else dump
                if dump.count < POOR or (dump.packages() <= {SYSTEM_UI} and focus and focus.app != SYSTEM_UI):
                    quality = "degraded"
        self._reach.turned = next((w.rotation for w in dump.windows if w.focused), self._reach.turned)
        return dump, focus, quality

    async def _another_source(self) -> bool:
        """Lets the next look be by the device's own program, where the last one was by the automation server.

        What that server sees may be old, or the system's windows alone: it is begun anew after a while.
        """
        if self._automation is None or anyio.current_time() < self._slow_until:
            return False
        await self._automation.aclose()
        self._slow_until = anyio.current_time() + BUSY
        return True

    async def _quick(self) -> tuple[Dump, Focus | None] | None:
        """By the automation server, where one may be used and gives anything; its windows come in no order."""
        if self._automation is None or anyio.current_time() < self._slow_until:
            return None
        try:
            text = await self._automation.hierarchy()
            focus = await self._reach.focus()
            dump = parse_dump(text)
        except (Refusal, NoDump, UpstreamUnavailable, ToolMissing, CallTimeout, ConnectionLost) as error:
            log.info("automation_gives_no_tree", error=type(error).__name__)
            await self._automation.aclose()  # the other source needs the slot
            self._slow_until = anyio.current_time() + BUSY
            return None
        return in_order(dump, focus.app if focus else "", await self._input_method()), focus

    async def _input_method(self) -> str:
        if self._keyboard is None:
            said = await self._reach.run("settings", "get", "secure", "default_input_method")
            self._keyboard = said.text.strip().partition("/")[0]
        return self._keyboard

    async def _both(self) -> tuple[Dump, Focus | None]:
        """A dump and the focus, asked for side by side."""
        quick = await self._quick()
        if quick is not None:
            return quick
        focus: Focus | None = None

        async def look() -> None:
            nonlocal focus
            focus = self._seen = await self._reach.focus()

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(look)
                dump = await self._dump()
        except BaseExceptionGroup as errors:
            raise _first(errors) from None
        return dump, focus

    async def _dump(self) -> Dump:
        twice = False
        while True:
            try:
                return await self._once()
            except NoDump as none:
                if none.why == "null_root" and not twice:
                    twice = True
                elif none.why not in ("slot_taken", "killed") or anyio.current_time() > self._left + LETTING_GO:
                    raise self._typed(none) from none
            await anyio.sleep(AGAIN)

    async def _once(self) -> Dump:
        windows = self._windows is not False
        flag = "--windows " if windows else ""
        try:
            done = await self._reach.adb.shell(f"uiautomator dump {flag}/dev/tty", deadline=DEADLINE)
        except BaseException:
            self._left = anyio.current_time()
            raise
        try:
            dump = parse_dump(done.both, done.status)
        except NoDump as none:
            if windows and self._windows is None and none.why in ("garbage", "missing"):
                self._windows = False  # an older program takes the flag for a file, or says that it does not know it
                return await self._once()
            raise
        if self._windows is None:
            self._windows = dump.whole
        return dump

    def _typed(self, none: NoDump) -> AnydeviceError:
        if none.why == "busy":
            self._busy_until, self._busy_at = anyio.current_time() + BUSY, self._seen
            return _busy(BUSY)
        if none.why in ("slot_taken", "killed"):
            return UpstreamUnavailable(
                "Another automation client holds the device's one automation slot.",
                upstream="uiautomation",
                enable_hint="End the other client (Appium, uiautomator2, another tool), then repeat the call.",
                reason="slot_taken",
                retryable=True,
                said=none.said,
            )
        if none.why == "missing":
            return ToolMissing(
                "The device has no uiautomator.", tools=["uiautomator"], install="It is part of Android 4.1 and later."
            )
        if none.why == "null_root":
            return DeviceNotReady(
                "The device shows no window that can be read.",
                hint="Call screenshot to see what it shows; key wakeup turns the screen on.",
                state="no_window",
                fix="Turn the screen on and unlock it.",
                reason="null_root",
            )
        return UpstreamUnavailable(
            "The device's dump of its screen cannot be read.",
            upstream="uiautomator",
            enable_hint="Call screenshot to see the screen.",
            reason=none.why,
            said=none.said,
        )


def _busy(seconds: float) -> DeviceNotReady:
    return DeviceNotReady(
        "Something on the screen never stops moving, so Android gives no tree of it.",
        hint="Call screenshot to see the screen; press with x and y, type and gesture need no tree.",
        state="busy",
        fix="Leave the screen that moves, or switch animations off (settings area=animations value=off).",
        reason="snapshot_busy",
        again_in=round(seconds, 1),
    )


def _elsewhere(dump: Dump, focus: Focus | None) -> bool:
    """Whether a dump is of another app than the one in front: it is then an old one, or of a window behind."""
    if focus is None:
        return False
    packages = dump.packages()
    return bool(packages) and focus.app not in packages and focus.overlay not in packages


def _poor(dump: Dump) -> bool:
    """Whether a dump has next to nothing, or the system's own windows alone."""
    return dump.count < POOR or dump.packages() <= {SYSTEM_UI}


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = errors
    while isinstance(found, BaseExceptionGroup):
        found = next((error for error in found.exceptions if isinstance(error, AnydeviceError)), found.exceptions[0])
    return found
