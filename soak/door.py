"""How a client of the soak drives: it waits in the queue for any device, acts under the lease, gives it back.

All that is known of the wire's words is here.
"""

from __future__ import annotations

from dataclasses import dataclass

from anydevice.client import Client

from .claims import Standing
from .journals import read_fence, text_of
from .sizes import TTL

ACT_DEADLINE = 1.5
"""Seconds a client gives a command; a device that hangs takes longer."""


@dataclass(frozen=True)
class Grant:
    """What a client believes to hold."""

    name: str
    device: str
    lease: str
    fence: str
    tenant: str | None


class Door:
    """A client's connection and the few things it asks for."""

    def __init__(self, home: str, *, start: bool = True) -> None:
        self.client = Client(home=home, cwd="/", environ={}, start=start)

    def acquire(self, name: str, tenant: str | None, *, wait: float, ttl: float = TTL) -> Grant:
        """Waits for any device of the soak.

        Raises:
            AnydeviceError: There was none in time, or the daemon went away.
        """
        answer = self.client.call(
            "lease",
            {
                "action": "acquire",
                "platform": "soak",
                "session": name,
                "tenant": tenant,
                "runId": name,
                "timeoutMs": int(wait * 1000),
                "ttlMs": int(ttl * 1000),
            },
        )
        lease = answer.data["lease"]
        return Grant(name, _device(lease["device"]), lease["leaseId"], str(lease["fence"]), tenant)

    def act(self, grant: Grant) -> None:
        """One command on the device.

        Raises:
            AnydeviceError: Whatever it was refused with.
        """
        self.client.call(
            "type",
            {
                "text": text_of(grant.name, grant.fence),
                "session": grant.name,
                "tenant": grant.tenant,
                "leaseId": grant.lease,
            },
            deadline=ACT_DEADLINE,
        )

    def release(self, grant: Grant) -> None:
        """Gives the device back.

        Raises:
            AnydeviceError: Whatever it was refused with.
        """
        self.client.call(
            "lease", {"action": "release", "session": grant.name, "tenant": grant.tenant, "leaseId": grant.lease}
        )


def standing(client: Client) -> list[Standing]:
    """Every lease that stands, as the daemon says."""
    rows = client.call("lease", {"action": "status"}).data["leases"]
    return [
        Standing(_device(row["device"]), row["leaseId"], read_fence(row["fence"]) or (0, 0), row["session"])
        for row in rows
        if "leaseId" in row
    ]


def _device(key: str) -> str:
    return key.partition(":")[2]
