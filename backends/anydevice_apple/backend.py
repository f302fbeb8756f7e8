"""The Apple backend: what Xcode lists, simulators and devices, and drivers for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio
import structlog

from anydevice.driver import Backend, Check, Driver, Environment, HostServices
from anydevice_schemas import Device
from anydevice_schemas.errors import AnydeviceError, ToolMissing

from . import devicectl, simctl
from .agents import RUNNER, TUNNELS, Agent, DeviceRunner, SimulatorRunner
from .bundles import Bundles
from .devicectl import Devicectl
from .driver import ENGINES, AppleDriver
from .inventory import physical, simulator
from .ports import PORTS, Ports
from .programs import DIALECTS, found
from .proving import Named
from .settings import Undo
from .simctl import Simctl
from .xcrun import FIRST_RUN, INSTALL, NO_TOOL, PROGRAM, Program, Xcrun

log = structlog.get_logger("anydevice.apple")

HELP_WITHIN: Final = 5.0
LIST_WITHIN: Final = 15.0
"""Seconds of the questions whether simctl answers, and lists: where Xcode waits for somebody, it never does."""


class AppleBackend(Backend):
    """Finds and drives iPhones, iPads and Apple TVs, and their simulators. Where there is no xcrun, it has no devices.

    Settings (the backend's table of the configuration file): `xcrun` (default `xcrun`): the program, or its path.
    `wda`: path of a `WebDriverAgentRunner-Runner.app` to install on simulators that have none; `wda_bundle`: id of the
    runner. `agents`: addresses of agents that run already, by UDID. `ports` (default `[8101, 8199]`): ports of agents
    that are started here. `engine`: `auto` (WebDriverAgent, else `axe` or `idb` where one is here), or one by name.
    `tunnel`: `ios`, `iproxy` or `pymobiledevice3`: the program that leads to agents on physical devices.
    `devices` (default true): list physical devices, too.
    """

    def __init__(self, host: HostServices) -> None:
        super().__init__(host)
        settings = host.settings
        self._program = str(settings.get("xcrun", PROGRAM))
        self._wda, self._bundle = str(settings.get("wda", "")), str(settings.get("wda_bundle", RUNNER))
        engine = str(settings.get("engine", "auto"))
        self._engine = engine if engine in ENGINES else "auto"
        self._tunnel = str(settings.get("tunnel", ""))
        self._physical = bool(settings.get("devices", True))
        agents = settings.get("agents", {})
        self._addresses = {str(udid).casefold(): str(url) for udid, url in dict(agents).items()}
        first, last = settings.get("ports", PORTS)
        self._ports = Ports(int(first), int(last))
        self._agents: dict[str, Agent] = {}
        self._runners: dict[str, SimulatorRunner | DeviceRunner] = {}
        self._simctls: dict[str, Simctl] = {}
        self._undo: dict[str, dict[str, Undo]] = {}
        self._adopted: dict[str, tuple[int, int]] = {}

    def xcrun(self, env: Environment) -> Program:
        """Xcode's programs, of the Xcode that the caller chooses."""
        return Program(self._program, env.variables)

    async def devices(self, env: Environment) -> Sequence[Device]:
        """See `Backend.devices`.

        Raises:
            CallTimeout, UpstreamUnavailable: Xcode is here, and does not list its simulators.
        """
        xcrun = self.xcrun(env)
        if not xcrun.found():
            return []  # no Xcode here, so no devices of it; doctor says what is missing
        rows: list[Device] = []
        others: list[Device] = []
        wrong: list[AnydeviceError] = []
        async with anyio.create_task_group() as group:
            group.start_soon(self._simulators, xcrun, rows, wrong)
            if self._physical:
                group.start_soon(self._devices, xcrun, others)
        if wrong:
            if not isinstance(wrong[0], ToolMissing):
                raise wrong[0]
            log.info("no_simulators", reason=wrong[0].message)
        return [*rows, *others]

    async def _simulators(self, xcrun: Xcrun, rows: list[Device], wrong: list[AnydeviceError]) -> None:
        try:
            found = await simctl.listing(xcrun)
        except AnydeviceError as error:
            wrong.append(error)
            return
        rows += [row for one in found if (row := simulator(one)) is not None]

    async def _devices(self, xcrun: Xcrun, rows: list[Device]) -> None:
        try:
            found = await devicectl.listing(xcrun)
        except AnydeviceError as error:
            log.info("no_physical_devices", reason=error.message)  # an old Xcode, or none attached; simulators remain
            return
        rows += [row for one in found if (row := physical(one)) is not None]

    async def connect(self, device: Device, env: Environment) -> Driver:
        """See `Backend.connect`."""
        xcrun = self.xcrun(env)
        undo = self._undo.setdefault(device.id, {})
        if device.kind == "simulator":
            own = self._simctls.setdefault(device.id, Simctl(xcrun, device.id))
            return AppleDriver(device, self._agent(device, own, None), simctl=own, engine=self._engine, undo=undo)
        control = Devicectl(xcrun, str(device.facts.get("coreDevice") or device.id))
        return AppleDriver(device, self._agent(device, None, control), devicectl=control, engine="wda", undo=undo)

    def _agent(self, device: Device, own: Simctl | None, control: Devicectl | None) -> Agent:
        agent = self._agents.get(device.id)
        if agent is not None:
            return agent
        address = self._addresses.get(device.id.casefold(), "")
        runner: SimulatorRunner | DeviceRunner | None = None
        if address:
            prove = Named(device, Bundles(own, control))
            agent = Agent(None, address, prove=prove)
        else:
            if own is not None:
                runner = SimulatorRunner(own, self._ports, self._bundle, self._wda)
                runner.port, runner.pid = self._adopted.pop(device.id, (0, 0))
            else:
                assert control is not None
                runner = DeviceRunner(
                    control, device.id, self._ports, self._bundle, self._tunnel, version=device.os_version
                )
            known = f"http://127.0.0.1:{runner.port}" if isinstance(runner, SimulatorRunner) and runner.port else ""
            agent = Agent(runner.start, known, runner.end, runner.serves, fixed=False)
            self._runners[device.id] = runner
        self._agents[device.id] = agent
        return agent

    async def check(self, env: Environment) -> Sequence[Check]:
        """See `Backend.check`."""
        xcrun = self.xcrun(env)
        if not xcrun.found():
            detail = "There is no xcrun: no simulators and no devices of Apple's."
            return [Check("Xcode", False, detail, INSTALL, optional=True)]
        checks = [await _answers(xcrun, "simctl", "help"), await _answers(xcrun, "devicectl", "--version")]
        if checks[0].ok:
            checks.append(await _lists(xcrun))
        if self._wda:
            there = await anyio.Path(self._wda).is_dir()
            fix = "" if there else "Set [apple] wda to the path of WebDriverAgentRunner-Runner.app."
            checks.append(Check("WebDriverAgent", there, self._wda if there else "It is not there.", fix))
        here = [name for name in DIALECTS if found(name)]
        if here:
            checks.append(Check("other engines", True, ", ".join(here)))
        if self._tunnel:
            known = self._tunnel in TUNNELS and found(self._tunnel)
            checks.append(Check("tunnel", known, self._tunnel, "" if known else f"Install {self._tunnel}."))
        return checks

    async def hand_over(self) -> Mapping[str, Any] | None:
        """See `Backend.hand_over`: agents on simulators go on running."""
        running = {
            udid: runner
            for udid, runner in self._runners.items()
            if isinstance(runner, SimulatorRunner) and runner.port
        }
        if not running:
            return None
        return {
            "ports": {udid: runner.port for udid, runner in running.items()},
            "pids": {udid: runner.pid for udid, runner in running.items()},
        }

    async def take_up(self, state: Mapping[str, Any]) -> None:
        """See `Backend.take_up`: an agent that does not answer any more is started anew when it is needed."""
        pids = state.get("pids", {})
        for udid, port in state["ports"].items():
            if udid not in self._runners:
                self._adopted[str(udid)] = int(port), int(pids.get(udid, 0))
                self._ports.keep(int(port))

    async def aclose(self) -> None:
        """See `Backend.aclose`: the agents that were started end."""
        async with anyio.create_task_group() as group:
            for agent in self._agents.values():
                group.start_soon(agent.aclose)


async def _lists(xcrun: Program) -> Check:
    """Whether simulators are listed: Xcode may wait for somebody though its programs answer."""
    try:
        found = await simctl.listing(xcrun, deadline=LIST_WITHIN)
    except AnydeviceError as error:
        return Check("simulators", False, error.message, f"Run {FIRST_RUN} in a terminal, then call doctor again.")
    booted = sum(row.state == "Booted" for row in found)
    return Check("simulators", True, f"{len(found)} listed, {booted} booted")


async def _answers(xcrun: Program, *words: str) -> Check:
    """Whether one of Xcode's programs answers."""
    name = words[0]
    try:
        done = await xcrun.run(*words, deadline=HELP_WITHIN)
    except AnydeviceError as error:
        return Check(name, False, error.message, f"Run {FIRST_RUN} in a terminal, then call doctor again.")
    if done.code != 0 and NO_TOOL in done.complaint:
        return Check(name, False, "This Xcode has none.", INSTALL)
    return Check(name, True)
