"""A virtual device of this machine: started by the SDK's program, found in the process table, ended for certain.

The program loses track of what it started: whether a virtual device runs is what the process table says.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from anydevice.kit import pids, processes
from anydevice_adb import AdbDevice, AdbServer
from anydevice_adb.virtual import Virtual, virtual_devices
from anydevice_schemas.errors import ActionUnverified, AnydeviceError, CallTimeout, UpstreamUnavailable

from . import sdk
from .sdk import Image, Sdk

STEP: Final = 0.2
STOPPING: Final = 15.0
"""Seconds the program may take to stop one."""
GRACE: Final = 5.0
"""Seconds a virtual device may take to end by a signal."""
FOUND: Final = "command -v vpm"
"""What a guest that is up answers with success."""
_START = 'log=$1; shift; exec "$@" >"$log" 2>&1'


class VirtualDevice:
    """A virtual device that this program starts.

    Attributes:
        image: Which.
        serial: What the adb server calls it, while it runs.
        starting: It is being started here.
        ours: It was started here, and ends with the backend.
    """

    def __init__(self, image: Image, tools: Sdk, server: AdbServer, variables: Mapping[str, str], folder: Path) -> None:
        """`folder` is for what the program says while it starts."""
        self.image, self.server, self.variables = image, server, dict(variables)
        self._sdk, self._folder = tools, folder
        self._lock = anyio.Lock()
        self._running: tuple[Virtual, str | None] | None = None
        self.starting, self.ours = False, False

    @property
    def serial(self) -> str:
        """What the adb server calls it; empty where it does not run."""
        return self._running[0].serial if self._running is not None else ""

    async def process(self) -> Virtual | None:
        """Its row of the process table, as long as it is that very process."""
        if self._running is None or not await _same(*self._running):
            return None
        return self._running[0]

    async def adopt(self, row: Virtual, *, ours: bool) -> None:
        """Takes one that runs for this one; `ours`: it was started here."""
        self.ours = ours
        self._running = row, await pids.started_at(row.pid)

    async def boot(self, *, headless: bool | None, deadline: float, several: bool) -> bool:
        """Starts it, and returns once its guest answers; False where it runs already.

        Args:
            headless: Without a window; None = as the host allows.
            deadline: Seconds for all of it.
            several: Other images are installed as well, so this one has to be named.

        Raises:
            ToolMissing: There is no SDK.
            UpstreamUnavailable: It does not start; the program's words are in details.
            CallTimeout: It is not up in time; what was started was ended.
        """
        async with self._lock:
            if await self.process() is not None:
                return False
            self.starting = True
            try:
                with anyio.fail_after(deadline):
                    await self._start(headless, deadline, several)
                    await self._up()
            except TimeoutError:
                await self._end(None)
                raise CallTimeout(
                    "The virtual device did not come up in time, and was ended.", after=deadline, waiting_for="vega"
                ) from None
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await self._end(None)
                raise
            finally:
                self.starting = False
            return True

    async def shutdown(self, *, deadline: float) -> bool:
        """Ends it, and returns once its process is gone and adb lists it no more; False where it did not run.

        Raises:
            ActionUnverified: It is still there.
        """
        async with self._lock:
            row = await self.process()
            if row is None:
                self._running = None
                return False
            await self._end(row)
            self._running = None
            await gone(self.server, row.serial, deadline=min(deadline, 8.0))
            return True

    async def _start(self, headless: bool | None, deadline: float, several: bool) -> None:
        path = await self._sdk.program()
        if path is None:
            raise sdk.missing()
        before = {row.pid for row in await virtual_devices()}
        await anyio.to_thread.run_sync(lambda: self._folder.mkdir(parents=True, exist_ok=True))
        said = self._folder / f"{self.image.name}.log"
        words = ["virtual-device", "start", "--timeout", str(max(1, round(deadline)))]
        words += ["-p", self.image.path] if several else []
        words += ["--no-gui" if (headless if headless is not None else _no_display()) else "--gui"]
        # Its output goes into a file: the virtual device that it leaves running holds it open.
        child = await processes.start(
            ["/bin/sh", "-c", _START, "sh", str(said), path, *words],
            env=sdk.environment(self.variables),
            stderr=False,
        )
        try:
            code = await child.wait()
        except BaseException:
            await processes.stop(child, grace=1.0)
            raise
        finally:
            with anyio.CancelScope(shield=True):
                await self._note(before, await virtual_devices())
        if code != 0 or self._running is None:
            text = await anyio.to_thread.run_sync(_tail, said)
            raise UpstreamUnavailable(
                "The virtual device does not start.",
                upstream="vega virtual-device",
                enable_hint="Run vega platform doctor, then vega virtual-device start, and read what they say.",
                exit=code,
                said=text,
            )

    async def _note(self, before: set[int], rows: list[Virtual]) -> None:
        mine = [row for row in rows if row.pid not in before and row.image in ("", self.image.name)]
        below = str(Path(self.image.path).parent) + os.sep
        ours = [row for row in mine if row.program.startswith(below)] or mine
        if ours:
            await self.adopt(ours[0], ours=True)

    async def _up(self) -> None:
        """Waits until its guest answers."""
        adb = AdbDevice(self.server, self.serial)
        while True:
            with suppress(AnydeviceError):
                if (await adb.shell(FOUND, deadline=5.0)).status == 0:
                    return
            if await self.process() is None:
                raise UpstreamUnavailable(
                    "The virtual device ended before it was up.",
                    upstream="vega virtual-device",
                    enable_hint="Run vega platform doctor, and read what it says.",
                )
            await anyio.sleep(STEP)

    async def _end(self, row: Virtual | None) -> None:
        row = row or await self.process()
        if row is not None:
            await end(self._sdk, row, self.variables)
        self._running = None


async def end(tools: Sdk, row: Virtual, variables: Mapping[str, str]) -> None:
    """Ends a virtual device: by the program where it is the only one there, else, or if that does not help, by signal.

    Raises:
        ActionUnverified: It is still there.
    """
    since = await pids.started_at(row.pid)
    if len(await virtual_devices()) == 1:
        with suppress(AnydeviceError):  # it says "not running" of what runs: what counts is the process table
            await tools.run("virtual-device", "stop", deadline=STOPPING, variables=variables)
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not await _same(row, since):
            return
        with suppress(ProcessLookupError):
            os.kill(row.pid, number)
        with anyio.move_on_after(GRACE):
            while await _same(row, since):  # noqa: ASYNC110 - it is no child of ours
                await anyio.sleep(0.05)
            return
    raise ActionUnverified("The virtual device is still there.", expected="gone", actual="running", pid=row.pid)


async def gone(server: AdbServer, serial: str, *, deadline: float) -> bool:
    """Waits until the server lists a device no more; whether it does not."""
    with anyio.move_on_after(deadline):
        while True:
            with suppress(AnydeviceError):
                if all(row.serial != serial for row in await server.devices()):
                    return True
            await anyio.sleep(STEP)
    return False


async def _same(row: Virtual, since: str | None) -> bool:
    """Whether a process is still the one that was seen: an id may be given to another."""
    now = await pids.started_at(row.pid)
    return now is not None and (since is None or now == since)


def _tail(path: Path) -> str:
    try:
        return path.read_text(errors="replace")[-2000:]
    except OSError:
        return ""


def _no_display() -> bool:
    return sys.platform != "darwin" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
