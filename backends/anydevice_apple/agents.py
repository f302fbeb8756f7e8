"""Where the WebDriverAgent of a device is, and starting one where none runs: one port for each device.

Simulators share the loopback of the Mac they run on, so the port is all that tells their agents apart: it is chosen
here, free at that moment, and handed to the runner as it is launched. An agent somebody else started is used only where
the configuration names it for that very device.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

import anyio
import anyio.to_thread
import structlog

from anydevice.kit import processes
from anydevice_schemas.errors import AnydeviceError, CallTimeout, ToolMissing, UpstreamUnavailable

from .answers import WdaError, another
from .answers import typed as refused
from .devicectl import Devicectl
from .ports import Ports, free
from .reading.propertylist import NoPropertyList, parse
from .simctl import Simctl, SimctlFailed, typed
from .wda import Prove, Wda

log = structlog.get_logger("anydevice.apple")

RUNNER: Final = "com.facebook.WebDriverAgentRunner.xctrunner"
TESTED: Final = 27
"""The first iOS where a runner serves in a test session only (appium#22636)."""
XCTEST: Final = "WebDriverAgentRunner.xctest"
DEVICE_PORT: Final = 8100
"""Port of an agent on a physical device."""
UP: Final = 60.0
"""Seconds an agent may take until it answers."""
_PID: Final = re.compile(r":\s*(\d+)\s*$", re.M)
BEHIND: Final = (2, 3)
"""States of an app that runs and is not in front: suspended, in the background."""
INSTALLING: Final = 120.0
TRIES: Final = 3
"""Ports that are tried for one runner."""
STEP: Final = 0.1
HELP: Final = (
    "Download WebDriverAgentRunner-Build-Sim (iOS or tvOS) from the releases of appium/WebDriverAgent, unpack it, and "
    'put its path into the configuration: [apple] wda = "/path/WebDriverAgentRunner-Runner.app"'
)
TUNNELS: Final[Mapping[str, Callable[[str, int], Sequence[str]]]] = {
    "ios": lambda udid, port: ("forward", f"--udid={udid}", str(port), str(DEVICE_PORT)),
    "pymobiledevice3": lambda udid, port: ("usbmux", "forward", "--serial", udid, str(port), str(DEVICE_PORT)),
    "iproxy": lambda udid, port: ("-u", udid, f"{port}:{DEVICE_PORT}"),
}
"""Programs that forward a port of a physical device, and their words. They are run, never imported."""


class Agent:
    """The agent of one device. `wda()` gives it, started where need be; what it needs is found out when it is used.

    Attributes:
        driven: Says which app is driven; it is in front again after an agent was started.
    """

    def __init__(
        self,
        start: Callable[[], Awaitable[Wda]] | None,
        url: str = "",
        end: Callable[[], Awaitable[None]] | None = None,
        prove: Prove | None = None,
        *,
        fixed: bool = True,
    ) -> None:
        """`url` is where one runs already (`fixed`: and no other is started); `start` starts one, `end` ends it, and
        `prove` says whether it is still the one that was started.
        """
        self._start, self._end = start, end
        self._fixed = fixed and bool(url)
        self._wda = Wda(url, prove, fixed=self._fixed) if url else None
        self.driven: Callable[[], str | None] | None = None
        self._lock = anyio.Lock()
        self._up = False

    @property
    def running(self) -> Wda | None:
        """The agent, where it was reached before."""
        return self._wda if self._up else None

    async def wda(self) -> Wda:
        """The agent, ready, with the session of ours.

        Raises:
            ToolMissing: There is none on the device.
            UpstreamUnavailable, CallTimeout: It does not come up.
            AnydeviceError: As the programs that start it.
        """
        async with self._lock:
            if self._up and self._wda is not None:
                return self._wda
            if self._wda is not None and await _answers(self._wda):
                if await self._still(self._wda):
                    self._up = True
                    return self._wda
                if self._fixed:
                    raise another(fixed=True)
            if self._fixed or self._start is None:
                raise UpstreamUnavailable(
                    "No WebDriverAgent answers at the address that is configured for this device.",
                    upstream="WebDriverAgent",
                    enable_hint="Start it there, or take the device out of [apple.agents].",
                    reason="not_running",
                    retryable=True,
                )
            if self._wda is not None:
                await self._wda.aclose()
            self._wda = await self._start()
            await _ours(self._wda)
            await self._return(self._wda)
            self._up = True
            return self._wda

    async def _return(self, wda: Wda) -> None:
        """The runner came up in front of the app that is driven. One that ended meanwhile is not started anew."""
        app = self.driven() if self.driven is not None else None
        if app is None:
            return
        try:
            if await wda.act("/wda/apps/state", {"bundleId": app}, reads=True) in BEHIND:
                await wda.act("/wda/apps/activate", {"bundleId": app})
        except (WdaError, AnydeviceError) as error:
            log.info("app_stays_behind", error=type(error).__name__)

    async def _still(self, wda: Wda) -> bool:
        """Whether what answers there is the agent of this device; its session is made where it is."""
        try:
            await wda.proved()
        except UpstreamUnavailable:
            log.info("port_taken_over", url=wda.url)
            return False
        await _ours(wda)
        return True

    def lost(self) -> None:
        """It did not answer: the next use looks whether it is there, and starts one anew."""
        self._up = False

    async def aclose(self, *, end: bool = True) -> None:
        """Lets go of it, and ends it where it was started here and `end` says so."""
        wda, self._wda = self._wda, None
        self._up = False
        if wda is not None:
            await wda.aclose()
        if end and self._end is not None:
            with anyio.move_on_after(10.0, shield=True):
                await self._end()


async def _ours(wda: Wda) -> None:
    """Makes the session, whose settings make it answer at once.

    Raises:
        AnydeviceError: There can be none.
    """
    try:
        await wda.ready()
    except WdaError as error:
        raise refused(error, "session") from None


async def _answers(wda: Wda) -> bool:
    try:
        return bool(await wda.status())
    except AnydeviceError:
        return False


class SimulatorRunner:
    """Starts and ends the runner on one simulator."""

    def __init__(self, simctl: Simctl, ports: Ports, bundle: str, app: str) -> None:
        """`bundle` is the runner's id, `app` the path of one to install where it is not there; may be empty."""
        self._simctl, self._ports, self._bundle, self._app = simctl, ports, bundle, app
        self.port = self.pid = 0

    async def start(self) -> Wda:
        """Launches it and returns once it answers.

        Raises:
            ToolMissing: It is not there, and none is to be installed.
            UpstreamUnavailable, CallTimeout: It does not come up.
        """
        try:
            await self._there()
            for _ in range(TRIES):
                if self.port and not await anyio.to_thread.run_sync(free, self.port):
                    self._ports.give(self.port)  # the old one hangs, or another agent serves there by now
                    self.port = 0
                if not self.port:
                    self.port = await anyio.to_thread.run_sync(self._ports.take)
                done = await self._simctl.words(
                    "launch", "--terminate-running-process", self._simctl.udid, self._bundle,
                    deadline=60.0, variables={"SIMCTL_CHILD_USE_PORT": str(self.port)},
                )  # fmt: skip
                pid = _PID.search(done.text)
                self.pid = int(pid[1]) if pid else 0
                wda = Wda(f"http://127.0.0.1:{self.port}", self.serves)
                await _await(wda, "Look at the simulator: the runner may ask something; or install another one.")
                # A runner whose port somebody else took ends by itself, and what answers there is not ours.
                if await wda.sure():
                    await self._aside(wda)
                    return wda
                await wda.aclose()
                self.port = 0  # it stays locked: nobody else of ours is to try it
        except SimctlFailed as error:
            raise typed(error) from None
        raise UpstreamUnavailable(
            "WebDriverAgent ended while it started: another program took its port.",
            upstream="WebDriverAgent",
            enable_hint="Set [apple] ports to a range that nothing else uses.",
            reason="port_taken",
        )

    async def serves(self, _: Wda) -> bool:
        """Whether the runner that was started still runs, and so still has its port. Simulators share the host's."""
        try:
            done = await self._simctl.run("spawn", "launchctl", "list")
        except SimctlFailed as error:
            raise typed(error) from None
        pids = [
            int(row[1])
            for row in re.finditer(rf"^(\d+)\s.*UIKitApplication:{re.escape(self._bundle)}\[", done.text, re.M)
        ]
        return self.pid in pids if self.pid else bool(pids)

    async def _there(self) -> None:
        done = await self._simctl.run("listapps")
        try:
            apps = parse(done.stdout)
        except NoPropertyList:
            apps = {}
        if isinstance(apps, Mapping) and self._bundle in apps:
            return
        if not self._app:
            raise ToolMissing(
                "WebDriverAgent is not on this simulator, and what is on a screen is only told by it.",
                hint="Do what details.install says, then call doctor.",
                tools=["WebDriverAgent"],
                install=HELP,
            )
        await self._simctl.run("install", self._app, deadline=INSTALLING)

    async def _aside(self, wda: Wda) -> None:
        """The runner comes up in front of everything else; nobody asked for that."""
        try:
            front = await wda.get("/wda/activeAppInfo")
            if isinstance(front, Mapping) and front.get("bundleId") == self._bundle:
                await wda.post("/wda/homescreen")
        except (WdaError, AnydeviceError) as error:
            log.info("runner_stays_in_front", error=type(error).__name__)

    async def end(self) -> None:
        """Ends it."""
        if not self.port:
            return
        self._ports.give(self.port)
        self.port = 0
        try:
            await self._simctl.run("terminate", self._bundle)
        except (SimctlFailed, AnydeviceError) as error:
            log.info("runner_not_ended", error=type(error).__name__)


class DeviceRunner:
    """Starts the runner of a physical device, and the program that forwards its port."""

    def __init__(
        self, devicectl: Devicectl, udid: str, ports: Ports, bundle: str, tunnel: str, *, version: str = ""
    ) -> None:
        """`version` is that of the device's system: from iOS 27 on only a test session makes a runner serve."""
        self._devicectl, self._udid, self._ports = devicectl, udid, ports
        self._bundle, self._tunnel = bundle, tunnel
        major = version.partition(".")[0]
        self._tested = major.isdecimal() and int(major) >= TESTED
        self._child: processes.Child | None = None
        self._session: processes.Child | None = None
        self._port = 0

    async def start(self) -> Wda:
        """Launches it and returns once it answers through the tunnel.

        Raises:
            ToolMissing: No tunnel is configured, or its program is not there.
            UpstreamUnavailable, CallTimeout: It does not come up.
        """
        if self._tunnel not in TUNNELS:
            raise ToolMissing(
                "Nothing is configured that leads to the WebDriverAgent of a physical device.",
                hint="Do what details.install says, then call doctor.",
                tools=list(TUNNELS),
                install='Name a program: [apple] tunnel = "ios" (go-ios), "iproxy" or "pymobiledevice3"; or name the '
                "address of an agent that runs: [apple.agents]",
            )
        program = processes.find(self._tunnel, install=f"Install {self._tunnel}, or name another tunnel.")
        if self._child is None or self._child.code is not None:
            self._port = self._port or await anyio.to_thread.run_sync(self._ports.take)
            self._child = await processes.start([program, *TUNNELS[self._tunnel](self._udid, self._port)])
        wda = Wda(f"http://127.0.0.1:{self._port}", self.serves)
        if not await _answers(wda):
            if self._tested:
                await self._test_session(program)
            else:
                await self._devicectl.do("process", "launch", after=("--terminate-existing", self._bundle))
            await _await(wda, "Unlock the device; look whether it asks something, such as whom to trust.")
        return wda

    async def _test_session(self, program: str) -> None:
        """Starts the runner in a test session, which lasts as long as the program that holds it.

        Raises:
            UpstreamUnavailable: The program that is named as tunnel holds none.
        """
        if self._tunnel != "ios":
            raise UpstreamUnavailable(
                f"From iOS {TESTED} on a WebDriverAgent that is launched as an app never listens.",
                upstream="WebDriverAgent",
                enable_hint='Name go-ios: [apple] tunnel = "ios", which holds a test session; or start the runner '
                "yourself (xcodebuild test-without-building), then repeat the call.",
                reason="needs_test_session",
            )
        if self._session is not None:
            await processes.stop(self._session)
        self._session = await processes.start([
            program, "runwda", f"--bundleid={self._bundle}", f"--testrunnerbundleid={self._bundle}",
            f"--xctestconfig={XCTEST}", f"--udid={self._udid}",
        ])  # fmt: skip

    async def serves(self, _: Wda) -> bool:
        """Whether the tunnel still runs, and so still has its port."""
        return self._child is not None and self._child.code is None

    async def end(self) -> None:
        """Ends the tunnel, and the test session where one was made; a runner that was launched stays."""
        children, self._child, self._session = (self._session, self._child), None, None
        for child in children:
            if child is not None:
                await processes.stop(child)
        if self._port:
            self._ports.give(self._port)
            self._port = 0


async def _await(wda: Wda, hint: str) -> None:
    """Waits until an agent answers.

    Raises:
        UpstreamUnavailable: It does not.
    """
    with anyio.move_on_after(UP):
        while not await _answers_soon(wda):  # noqa: ASYNC110 - nothing tells when it is up
            await anyio.sleep(STEP)
        return
    await wda.aclose()
    raise UpstreamUnavailable(
        f"WebDriverAgent was launched and did not answer in {UP:g} s.",
        upstream="WebDriverAgent",
        enable_hint=hint,
        reason="not_up",
    )


async def _answers_soon(wda: Wda) -> bool:
    try:
        return bool(await wda.status(deadline=2.0))
    except (UpstreamUnavailable, CallTimeout):
        return False
    except AnydeviceError:
        return False
