"""One virtual device: started by the program Emulator, and known to be up by what the hdc server then sees."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

import anyio

from anydevice.kit import processes
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, CallTimeout, UpstreamUnavailable

from .emulating import Emulators
from .hdc import HdcDevice
from .reach import SCREEN
from .reading import display
from .reading.emulators import Virtual
from .reading.params import Identity, identity, parse_params, question

STEP: Final = 0.3
ASKING: Final = 5.0
SILENT: Final = 20.0
"""Seconds after which a program that has ended, with no new device to be seen, has not started one."""
LOST: Final = 5.0
"""Seconds after which the server is told of the addresses emulators have, which it does not always find by itself."""
ADDRESSES: Final = tuple(f"127.0.0.1:{port}" for port in range(5555, 5571, 2))
GRACE: Final = 3.0
ENDING: Final = 10.0


class Instance:
    """A virtual device that this program starts.

    Attributes:
        virtual: Which.
        key: What the hdc server calls it, while it runs.
        identity: What it said it is, once it is up.
    """

    def __init__(self, virtual: Virtual, emulators: Emulators) -> None:
        self.virtual, self.emulators = virtual, emulators
        self.key = ""
        self.identity: Identity | None = None
        self._child: processes.Child | None = None
        self._lock = anyio.Lock()
        self._starting = False
        self._before: set[str] = set()

    @property
    def running(self) -> bool:
        """Whether it was started here, and not ended since."""
        return self._starting or bool(self.key)

    @property
    def up(self) -> bool:
        """Whether it can be driven."""
        return bool(self.key) and self.identity is not None

    async def boot(self, *, deadline: float) -> bool:
        """Starts it, and returns once it is seen, says what it is and has a screen; False where it was up already.

        Raises:
            ToolMissing: There is no program Emulator.
            UpstreamUnavailable: It ended, and nothing came up.
            ActionUnverified: Something else came up.
            CallTimeout: It is not up in time; it goes on starting, and another call goes on waiting.
        """
        async with self._lock:
            if self.up:
                return False
            server = self.emulators.server
            if not self._starting:
                self._before = {row.key for row in await server.rows() if row.state == "Connected"}
                self._child = await self.emulators.start(self.virtual.name)
                self._starting = True
            try:
                with anyio.fail_after(deadline):
                    self.key, self.identity = await self._came_up(self._before)
            except TimeoutError:
                raise CallTimeout(
                    "HarmonyOS is not up yet. The emulator goes on starting.",
                    after=deadline,
                    waiting_for="a connected device with a screen",
                    hint="Call boot again: it goes on waiting. To give up, call shutdown.",
                ) from None
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await self._drop()
                raise
            self._starting = False
            return True

    async def shutdown(self, *, deadline: float) -> bool:
        """Ends it, and returns once the hdc server sees it no more; False where it did not run.

        Raises:
            ActionUnverified: It is still there.
        """
        async with self._lock:
            if not self.running:
                return False
            key = self.key
            with suppress(AnydeviceError):
                await self.emulators.stop(self.virtual.name)
            gone = not key or await vanished(self.emulators, key, deadline=max(1.0, deadline - GRACE))
            await self._drop()
            if not gone and not await vanished(self.emulators, key, deadline=GRACE):
                raise ActionUnverified("The emulator is still there.", expected="gone", actual="connected")
            return True

    def hand_over(self) -> dict[str, Any] | None:
        """What the program that replaces this one needs to go on with it, as JSON; None when it does not run."""
        if not self.up or self.identity is None:
            return None
        child = self._child if self._child is not None and self._child.code is None else None
        return {
            "virtual": asdict(self.virtual),
            "server": [self.emulators.server.host, self.emulators.server.port],
            "variables": dict(self.emulators.variables),
            "key": self.key,
            "identity": asdict(self.identity),
            "child": processes.hand_over(child) if child is not None else None,
        }

    def take_up(self, state: Mapping[str, Any]) -> None:
        """Goes on with what `hand_over` told.

        Raises:
            ChildProcessError: Its process is not there any more.
        """
        if self.up:  # it was not handed over after all
            if state["child"] is not None:
                processes.take_back(state["child"])
            return
        self._child = processes.adopt(state["child"]) if state["child"] is not None else None
        self.key, self.identity = state["key"], Identity(**state["identity"])

    async def aclose(self) -> None:
        """Ends it, if it runs."""
        with suppress(AnydeviceError):
            await self.shutdown(deadline=ENDING)

    # --- inside ---

    async def _drop(self) -> None:
        child, self._child = self._child, None
        self.key, self.identity, self._starting = "", None, False
        if child is not None:
            await processes.stop(child, grace=GRACE)

    async def _came_up(self, before: set[str]) -> tuple[str, Identity]:
        ended, told = None, anyio.current_time()
        while True:
            if anyio.current_time() - told > LOST:
                told = anyio.current_time()
                await self._tell()
            with suppress(AnydeviceError):
                rows = [row for row in await self.emulators.server.rows() if row.state == "Connected"]
                for row in rows:
                    if row.key in before:
                        continue
                    found = await self._look(row.key)
                    if found is not None:
                        return row.key, found
            child = self._child
            if child is not None and child.code is not None:
                ended = ended or anyio.current_time()
                if anyio.current_time() - ended > SILENT:
                    raise UpstreamUnavailable(
                        "The emulator program ended, and no device came up.",
                        upstream="Emulator",
                        enable_hint="Start the device in DevEco Studio once, and see what it says.",
                        exit=child.code,
                        said=child.tail[-1000:],
                    )
            await anyio.sleep(STEP)

    async def _tell(self) -> None:
        """Tells the server of the addresses that emulators have; what it does not reach stays out of its list."""
        server = self.emulators.server
        with suppress(AnydeviceError):
            there = {row.key for row in await server.rows() if row.state == "Connected"}
            for address in ADDRESSES:
                if address not in there:
                    with suppress(AnydeviceError):
                        await server.ask(f"tconn {address}")

    async def _look(self, key: str) -> Identity | None:
        """Who a new device is, once it has a screen that can be the wanted one's; else None."""
        device = HdcDevice(self.emulators.server, key)
        try:
            found = identity(parse_params((await device.shell(question(), deadline=ASKING)).text))
            panel = display.panel((await device.shell(SCREEN, deadline=ASKING)).text)
        except AnydeviceError:
            return None
        if not found.emulator or panel is None or not panel.usable:
            return None
        wanted = {self.virtual.width, self.virtual.height}
        if self.virtual.width and {panel.width, panel.height} != wanted:
            return None
        return found


async def vanished(emulators: Emulators, key: str, *, deadline: float) -> bool:
    """Waits until the hdc server lists a device as connected no more; whether it does not."""
    with anyio.move_on_after(deadline):
        while True:
            with suppress(AnydeviceError):
                if all(row.key != key or row.state != "Connected" for row in await emulators.server.rows()):
                    return True
            await anyio.sleep(STEP)
    return False
