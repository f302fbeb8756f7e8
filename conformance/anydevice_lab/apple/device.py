"""One device of the lab: a simulator, or a device at the end of a cable."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from ..handset.journal import Journal
from .faults import Faults
from .kinds import Kind
from .model.apps import RUNNER, App, new_id
from .model.machine import Machine

if TYPE_CHECKING:
    from .wda.server import Server
    from .world import World

BOOT_SECONDS, SHUTDOWN_SECONDS, CREATE_SECONDS = 0.3, 0.2, 0.1
WDA_SECONDS = 0.2
"""How long the runner takes until it serves."""
MUTE_FROM = 27
"""From this iOS on the runner of a device serves only in a test session (appium/appium#22636)."""
FIRST_WDA, LAST_WDA = 8100, 8199
"""Ports the runner looks through when it is not told one."""


class LabDevice:
    """A simulated device.

    Args:
        world: The Mac it belongs to.
        kind: What it is.
        folder: Where its files go.
        title: Its name; the kind's, unless told otherwise.

    Attributes:
        udid: As simctl and devicectl know it; `identifier` is CoreDevice's own id of a device at a cable.
        state: `Shutdown`, `Booting`, `Booted`, `Shutting Down` or `Creating`.
        machine: What it is and shows.
        server: WebDriverAgent, while it serves.
        recorder: Whether a recorder runs.
        booted_at: Time of the latest boot; 0 = never.
        forwards: Ports of this host by ports of the device, where it is no simulator.
    """

    def __init__(self, world: World, kind: Kind, folder: Path, title: str = "", number: int = 1) -> None:
        self.world, self.kind, self.folder = world, kind, folder
        self.title = title or kind.title
        self.udid = f"{0x00008140:08X}-{number:04X}4B8A{0x1D01C000 + number:08X}" if kind.physical else new_id()
        self.identifier = new_id()
        self.journal, self.faults = Journal(), Faults()
        self.state = "Booted" if kind.physical else kind.state
        self.booted_at = time.time() if self.state == "Booted" else 0.0
        self.machine = Machine(self)
        if self.state != "Booted":
            self.machine.end()
        self.server: Server | None = None
        self.recorder = False
        self.boot_seconds, self.shutdown_seconds = BOOT_SECONDS, SHUTDOWN_SECONDS
        self.forwards: dict[int, int] = {}
        self.changed = anyio.Event()

    @property
    def root(self) -> Path:
        """Folder of its data, as the simulator has it."""
        return self.folder / "data"

    @property
    def reachable(self) -> bool:
        """Whether a device at a cable or in the network answers."""
        return self.kind.state in ("connected", "disconnected", "Booted", "Shutdown")

    def _now(self, state: str) -> None:
        self.state = state
        self.journal.add("state", state=state)
        before, self.changed = self.changed, anyio.Event()
        before.set()

    async def boot(self) -> None:
        """It boots; returns when that has begun."""
        self._now("Booting")
        self.world.tasks.start_soon(self._boot)

    async def _boot(self) -> None:
        if self.faults.active("boot_stuck"):
            await anyio.sleep_forever()
        slow = self.faults.active("boot_slow")
        await anyio.sleep(self.boot_seconds + (slow.seconds if slow is not None else 0))
        self.machine.end()
        self.machine.begin()
        self.machine.turned = 0
        self.machine.bring(self.machine.launcher)
        self.booted_at = time.time()
        self._now("Booted")

    async def shutdown(self) -> None:
        """It shuts down; returns when it is off."""
        self._now("Shutting Down")
        self.end_server()
        slow = self.faults.active("shutdown_slow")
        await anyio.sleep(self.shutdown_seconds + (slow.seconds if slow is not None else 0))
        self.machine.end()
        self._now("Shutdown")

    def erase(self) -> None:
        """It is as new."""
        self.machine.end()
        self.machine = Machine(self)
        self.journal.add("erase")

    async def create(self) -> None:
        """It comes into being."""
        self._now("Creating")

        async def later() -> None:
            await anyio.sleep(CREATE_SECONDS)
            self._now("Shutdown")

        self.world.tasks.start_soon(later)

    async def live(self) -> None:
        """Lets time pass on it."""
        while True:
            if self.state == "Booted":
                self.machine.settle()
            await anyio.sleep(0.05)

    # --- apps ---

    def launch(
        self, bundle: str, arguments: tuple[str, ...], environment: dict[str, str], *, fresh: bool, tested: bool = False
    ) -> int:
        """An app is launched by a tool; the runner begins to serve by that. Returns its process id.

        Args:
            fresh: One that runs is ended first.
            tested: A test session starts it, not a mere launch: only so it serves from iOS 27 on.
        """
        machine = self.machine
        app = machine.apps[bundle]
        if fresh and app.running:
            self.terminate(app)
        was = app.running
        pid = machine.start(bundle, arguments, environment)
        if bundle == RUNNER and not was:
            self.world.tasks.start_soon(self._serve, environment, tested)
        return pid

    def terminate(self, app: App) -> None:
        """An app is ended."""
        self.machine.stop(app)
        self.journal.add("terminate", bundle=app.id)
        if app.id == RUNNER:
            self.end_server()

    def end_server(self) -> None:
        """WebDriverAgent ends with its runner."""
        if self.server is not None:
            self.server.end()
            self.server = None

    async def _serve(self, environment: dict[str, str], tested: bool) -> None:
        from .wda.server import Server

        mute = self.kind.physical and int(self.kind.os.split(".")[0]) >= MUTE_FROM and not tested
        if mute or self.faults.active("wda_silent"):
            return
        slow = self.faults.active("wda_slow_start")
        await anyio.sleep(WDA_SECONDS + (slow.seconds if slow is not None else 0))
        app = self.machine.apps.get(RUNNER)
        if app is None or not app.running or self.state != "Booted":
            return
        given = environment.get("USE_PORT", "")
        wanted = [int(given)] if given.isdigit() else list(range(FIRST_WDA, LAST_WDA + 1))
        server = Server(self)
        # A device has ports of its own; those of a simulator are the Mac's.
        if await server.listen([0] if self.kind.physical else wanted):
            server.inner_port = wanted[0]
            self.server = server
            self.journal.add("wda", port=server.port, running=True)
            await server.run()
            self.journal.add("wda", port=server.port, running=False)
        else:
            self.machine.stop(app)
            self.machine.log(app.executable, f"Last attempt to start web server failed: port {wanted[0]} in use")
