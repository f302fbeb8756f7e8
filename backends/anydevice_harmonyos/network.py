"""What apps sent over the network, where they write it into the log themselves.

A shell sees no requests of others, and the system's own lines about them leave the address out. What many apps built
for testing do is log each request as OkHttp's interceptor does (its port to HarmonyOS among them); that is read here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from anydevice.driver import Network
from anydevice.kit import exchanges
from anydevice_schemas.errors import UpstreamUnavailable

from .logs import DEADLINE, MOST, processes_of
from .packages import Packages
from .reach import Reach
from .reading.hilog import parse_said

ENABLE: Final = (
    "Build the app with an HTTP client that logs its requests by hilog (as OkHttp's HttpLoggingInterceptor does, level "
    "BASIC), or use a proxy of your own."
)


class HarmonyosNetwork(Network):
    """See `Network`. An app's requests are those of its processes that live now."""

    def __init__(self, reach: Reach, packages: Packages) -> None:
        self._reach, self._packages = reach, packages

    async def requests(self, *, app: str | None = None, most: int = 100) -> Sequence[Mapping[str, Any]]:
        """See `Network.requests`.

        Raises:
            AppNotFound: The app is not installed, or does not run: its lines cannot be told from others.
            UpstreamUnavailable: No request is in the log: whether none was sent cannot be known.
        """
        pids = await processes_of(self._reach, self._packages, app) if app is not None else None
        words = f"hilog -x -v epoch | grep -E -e '{exchanges.PATTERN}'"
        done = await self._reach.hdc.shell(words, deadline=DEADLINE, most=MOST)
        lines = [said for row in done.text.split("\n") if (said := parse_said(row.rstrip("\r"))) is not None]
        found = exchanges.requests(line for line in lines if pids is None or line.pid in pids)
        if not found:
            raise UpstreamUnavailable(
                "No request is in the device's log: none was sent, or it is not logged.",
                upstream="log",
                enable_hint=ENABLE,
                reason="not_logged",
            )
        return found[-most:]
