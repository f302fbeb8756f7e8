"""One device as its driver reaches it: its programs, its engine, and what several capabilities have to know."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from anydevice.driver import TreeScope
from anydevice_schemas import Device, Tree
from anydevice_schemas.errors import AnydeviceError, DeviceOffline, OutcomeUnknown, Unsupported, UpstreamUnavailable

from .agents import Agent
from .answers import WdaError, element_id, typed
from .bundles import Bundles
from .devicectl import Devicectl
from .driving import WdaEngine
from .engine import Engine, Front, missing
from .programs import DIALECTS, Either, ProgramEngine
from .reading.elements import Box, box_of
from .simctl import Simctl
from .tree import View, build, size_of
from .wda import Wda

SCREEN: Final = 20.0
"""Seconds a look at the screen may take."""
PICTURE_MOST: Final = 64 << 20


class Reach:
    """What the capabilities of one device share.

    Attributes:
        simctl: Of a simulator; None of a physical device.
        devicectl: Of a physical device; None of a simulator.
        acted: How often something was done that may have changed the screen.
    """

    def __init__(
        self,
        device: Device,
        agent: Agent,
        *,
        simctl: Simctl | None = None,
        devicectl: Devicectl | None = None,
        engine: str = "auto",
    ) -> None:
        self.device, self.agent = device, agent
        self.simctl, self.devicectl = simctl, devicectl
        self.bundles = Bundles(simctl, devicectl)
        self.tv = device.device_class == "tv"
        self.acted = 0
        self.opened: str | None = None
        """The app that was opened last by this driver."""
        self.left = False
        """Whether that app was left on purpose since, for the home screen."""
        agent.driven = lambda: None if self.left else self.opened
        self.pid: int | None = None
        others = [engine] if engine in DIALECTS else list(DIALECTS) if simctl is not None and engine == "auto" else []
        self._either = Either(agent.wda, others)
        if engine in DIALECTS and simctl is not None:
            self._either.chosen = engine
        self._engine: Engine | None = None

    async def engine(self) -> Engine:
        """What drives the screen, chosen once for this connection.

        Raises:
            ToolMissing, UpstreamUnavailable, CallTimeout: There is none.
        """
        if self._engine is None:
            name = await self._either.choose()
            if name == "wda":
                self._engine = WdaEngine(self.agent)
            else:
                self._engine = ProgramEngine(DIALECTS[name], self.device.id, self.picture_by_simctl)
        return self._engine

    @property
    def sim(self) -> Simctl:
        """The simulator's programs.

        Raises:
            Unsupported: It is a physical device.
        """
        if self.simctl is None:
            raise Unsupported("Only simulators can do that.", operation="simctl", alternatives=[])
        return self.simctl

    async def ready(self) -> Engine:
        """As `engine`, with its agent up: one that is started comes up in front of everything else."""
        engine = await self.engine()
        if isinstance(engine, WdaEngine):
            running = self.agent.running
            try:
                if running is not None:
                    await running.status()
            except AnydeviceError:
                self.agent.lost()
            await self.agent.wda()
        return engine

    async def front(self) -> Front | None:
        """The app in front."""
        return await (await self.engine()).front()

    async def came(self, wanted: Callable[[Front | None], bool], *, within: float, step: float = 0.1) -> Front | None:
        """Waits until the app in front is as wanted; returns what was in front last, None where nobody says."""
        end = anyio.current_time() + within
        while True:
            front = await self.front()
            if wanted(front) or anyio.current_time() >= end:
                return front
            await anyio.sleep(step)

    async def tree(self) -> Tree:
        """The whole screen as a tree.

        Raises:
            DialogOpen: A dialog is in the way.
            AnydeviceError: As `Engine.look`.
        """
        engine = await self.engine()
        look = await engine.look(deadline=SCREEN)
        size = size_of(look.source) or await engine.size()
        return build(look.source, View(*size), TreeScope(mode="full", max_nodes=20_000, max_text=100_000), look.quality)

    async def picture_by_simctl(self) -> bytes:
        """A PNG of a simulator's screen, as its frame buffer holds it: never turned.

        Raises:
            UpstreamUnavailable: There is none.
        """
        with tempfile.TemporaryDirectory(prefix="anydevice-picture-") as folder:
            path = Path(folder) / "screen.png"  # a dash for stdout leaves a file of that name in some Xcodes
            done = await self.sim.do("io", "screenshot", "--type=png", "--", str(path), deadline=20.0)
            data = await anyio.to_thread.run_sync(_read, path)
        if not data:
            raise UpstreamUnavailable(
                "Xcode gave no picture of the screen.",
                upstream="simctl io",
                enable_hint="Call screenshot again; boot the simulator anew where that does not help.",
                said=done.complaint[-500:],
            )
        return data

    async def hide_keyboard(self) -> None:
        """Asks for the keyboard on the screen to go.

        Raises:
            UpstreamUnavailable: The app leaves no way to take it away.
            AnydeviceError: As the engine.
        """
        async with self._wda("keys.dismiss") as wda:
            await wda.act("/wda/keyboard/dismiss")

    async def active_rect(self) -> Box | None:
        """Where the element is that has the keyboard; None where nobody says."""
        engine = await self.engine()
        if not isinstance(engine, WdaEngine):
            return None
        wda = await self.agent.wda()
        try:
            found = element_id(await wda.look("/element/active"))
            return box_of(await wda.look(f"/element/{found}/rect")) if found is not None else None
        except WdaError:
            return None

    @asynccontextmanager
    async def _wda(self, operation: str) -> AsyncIterator[Wda]:
        """The agent, for what only it can do.

        Raises:
            Unsupported: Another engine drives this screen.
            AnydeviceError: As the agent, by type.
        """
        engine = await self.engine()
        if not isinstance(engine, WdaEngine):
            raise missing(engine.name, operation)
        wda = await self.agent.wda()
        try:
            yield wda
        except WdaError as error:
            raise typed(error, operation) from None
        except (UpstreamUnavailable, OutcomeUnknown):
            self.agent.lost()
            raise

    async def ask(self, operation: str, path: str, *, deadline: float = 10.0) -> object:
        """Reads something of the agent that needs no session.

        Raises:
            AnydeviceError: As `Unsupported` of other engines, and the agent's errors by type.
        """
        async with self._wda(operation) as wda:
            return await wda.get(path, deadline=deadline)

    async def tell(self, operation: str, path: str, body: Mapping[str, object], *, session: bool = False) -> object:
        """Tells the agent something; errors as `ask`."""
        async with self._wda(operation) as wda:
            return await (wda.act(path, body) if session else wda.post(path, body))

    async def drop(self, operation: str, path: str) -> object:
        """Deletes something of the agent; errors as `ask`."""
        async with self._wda(operation) as wda:
            return await wda.delete(path)

    def offline(self, state: str = "offline") -> DeviceOffline:
        """The error of a device that went away."""
        return DeviceOffline("The device is gone.", state=state, fix="Call devices.")


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(PICTURE_MOST)
    except FileNotFoundError:
        return b""
