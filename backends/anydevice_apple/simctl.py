"""One simulator through `simctl`: each verb with its deadline, each failure told by type. Always by UDID.

The alias `booted` is never used: with several booted it takes one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import anyio

from anydevice.kit import processes
from anydevice_schemas.errors import (
    AnydeviceError,
    CallTimeout,
    DeviceNotReady,
    DeviceOffline,
    ToolMissing,
    UpstreamUnavailable,
)

from .reading.failures import Failure, failure
from .reading.simulators import Simulator, parse
from .xcrun import FIRST_RUN, INSTALL, Xcrun

QUICK = 15.0
"""Seconds of a call that reads or sets one thing."""
LISTING = 15.0
FAILED = "An error was encountered processing the command"
SAID = 2000
"""Characters of a program's own words that go into details."""


class SimctlFailed(Exception):
    """A call failed in a way that its caller may know what to make of."""

    def __init__(self, failure: Failure, said: str, code: int, words: tuple[str, ...]) -> None:
        super().__init__(failure.kind)
        self.failure, self.said, self.code, self.words = failure, said, code, words


async def listing(xcrun: Xcrun, *, deadline: float = LISTING) -> list[Simulator]:
    """All simulators there are.

    Raises:
        ToolMissing, CallTimeout, UpstreamUnavailable: They cannot be listed.
    """
    try:
        done = await _run(xcrun, ("list", "-j", "devices"), deadline=deadline)
        return parse(done.text)
    except SimctlFailed as error:
        raise typed(error) from None
    except ValueError:
        raise UpstreamUnavailable(
            "The list of simulators cannot be read.",
            upstream="simctl list",
            enable_hint="Run xcrun simctl list devices in a terminal and see what it says.",
        ) from None


class Simctl:
    """The verbs of one simulator; they take turns, except for what goes on by itself."""

    def __init__(self, xcrun: Xcrun, udid: str) -> None:
        self.xcrun, self.udid = xcrun, udid
        self._turn = anyio.Lock()

    async def run(
        self,
        verb: str,
        *words: str,
        deadline: float = QUICK,
        stdin: bytes = b"",
        variables: Mapping[str, str] | None = None,
    ) -> processes.Result:
        """Runs a verb on this simulator.

        Raises:
            SimctlFailed: It failed.
            ToolMissing, CallTimeout: As `Xcrun.run`.
        """
        return await self.words(verb, self.udid, *words, deadline=deadline, stdin=stdin, variables=variables)

    async def words(
        self, *words: str, deadline: float = QUICK, stdin: bytes = b"", variables: Mapping[str, str] | None = None
    ) -> processes.Result:
        """As `run`, for verbs whose options come before the UDID: `words` hold it."""
        async with self._turn:
            return await _run(self.xcrun, words, deadline=deadline, stdin=stdin, variables=variables)

    async def do(
        self, verb: str, *words: str, deadline: float = QUICK, stdin: bytes = b"", secret: str = ""
    ) -> processes.Result:
        """As `run`, with every failure as an error of ours; `secret` is kept out of what is told.

        Raises:
            AnydeviceError: As `typed`.
        """
        try:
            return await self.run(verb, *words, deadline=deadline, stdin=stdin)
        except SimctlFailed as error:
            raise typed(error, secret=secret) from None

    async def start(self, *words: str, sink: Callable[[bytes], None]) -> processes.Child:
        """Starts what goes on by itself; `words` hold the UDID.

        Raises:
            ToolMissing: There is no xcrun.
        """
        return await self.xcrun.start("simctl", *words, sink=sink)

    async def state(self) -> Simulator | None:
        """The simulator as it is listed now; None where it is listed no more.

        Raises:
            AnydeviceError: As `listing`.
        """
        rows = await listing(self.xcrun)
        return next((row for row in rows if row.udid == self.udid), None)


async def _run(
    xcrun: Xcrun,
    words: tuple[str, ...],
    *,
    deadline: float,
    stdin: bytes = b"",
    variables: Mapping[str, str] | None = None,
) -> processes.Result:
    try:
        done = await xcrun.run("simctl", *words, deadline=deadline, stdin=stdin, variables=variables)
    except CallTimeout as error:
        error.hint = f"Run {FIRST_RUN} in a terminal once, then call doctor; or raise timeoutMs."
        raise
    # Its status is Apple's code modulo 256: some failures leave with 0.
    if done.code != 0 or FAILED in done.complaint:
        raise SimctlFailed(failure(done.complaint or done.text), done.complaint or done.text, done.code, words)
    return done


def typed(error: SimctlFailed, *, secret: str = "") -> AnydeviceError:
    """A failure as an error of ours; what the program said goes into details."""
    said = error.said[:SAID]
    if secret:
        said = said.replace(secret, "…")
    why = error.failure
    if why.kind == "wrong_state":
        down = why.state == "Shutdown"
        fix = "boot it" if down else "wait until it is at rest, then repeat the call"
        if why.state == "Booted":
            fix = "shut it down first"
        return DeviceNotReady(
            "The simulator is in a state in which this cannot be done.",
            hint="Call boot with this device." if down else "Call devices for its state.",
            state=why.state,
            fix=fix,
            said=said,
        )
    if why.kind == "no_device":
        return DeviceOffline(
            "Xcode does not know this simulator any more.", state="gone", fix="Call devices.", said=said
        )
    if why.kind == "no_tool":
        return ToolMissing("Xcode's simctl is not here.", tools=["simctl"], install=INSTALL, said=said)
    return UpstreamUnavailable(
        "simctl failed.",
        upstream=f"simctl {error.words[0]}",
        enable_hint="See details.said, which are its own words.",
        status=error.code,
        said=said,
    )
