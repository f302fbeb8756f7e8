"""What apps sent over the network, as far as a simulator's log tells it.

Addresses are inside TLS, and the system keeps them out of its log. Apps that log their requests themselves are read;
of the others CFNetwork writes status, time and sizes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from anydevice.driver import Network
from anydevice_schemas.errors import UpstreamUnavailable

from .logs import BACK, AppleLogs
from .reading.requests import PREDICATE, requests

ENABLE = "Let the app log its requests (method, address, status), or use a proxy of your own."


class AppleNetwork(Network):
    """See `Network`. An app's requests are those of its program, of the last five minutes."""

    def __init__(self, logs: AppleLogs) -> None:
        self._logs = logs

    async def requests(self, *, app: str | None = None, most: int = 100) -> Sequence[Mapping[str, Any]]:
        """See `Network.requests`.

        Raises:
            AppNotFound: The app is not installed.
            UpstreamUnavailable: No request is in the log: whether none was sent cannot be known.
        """
        program = await self._logs.program(app) if app is not None else None
        lines = await self._logs.lines(time.time() - BACK, PREDICATE)
        found = requests(line for line in lines if program is None or line.program == program)
        if not found:
            raise UpstreamUnavailable(
                "No request of the last five minutes is in the device's log: none was sent, or it is not logged.",
                upstream="log",
                enable_hint=ENABLE,
                reason="not_logged",
            )
        return found[-most:]
