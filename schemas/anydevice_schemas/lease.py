"""The words of ownership: who drives a device, under which fence, until when."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ._base import Word

LeaseKind = Literal["implicit", "run", "human", "cleanup"]

TTL_DEFAULT = 60.0
TTL_MIN = 5.0
TTL_MAX = 600.0
"""Seconds a lease lives without being renewed: default and bounds."""


class Fence(Word):
    """A number pair that is new at every grant; a command is accepted only under the current one."""

    epoch: int = Field(ge=0, description="Rises whenever the store is opened.")
    counter: int = Field(ge=0, description="Rises at every grant within an epoch.")

    def __str__(self) -> str:
        return f"{self.epoch}.{self.counter}"


class Holder(Word):
    """Who drives: set by the authenticating transport, narrowed by the call."""

    principal: str
    session: str
    tenant: str = "default"
    run_id: str | None = None


class Lease(Word):
    """The right to drive one device (or one group of devices that share input)."""

    lease_id: str
    device: str = Field(description="Key of the device, `backend:id`.")
    group: list[str] = Field(default_factory=list, description="Shared things it covers as well.")
    holder: Holder
    fence: Fence
    kind: LeaseKind = "implicit"
    granted_at: float = Field(description="UTC, seconds since the epoch.")
    ttl: float = Field(ge=0, description="Seconds it lives without being renewed.")
    expires_at: float = Field(description="UTC, seconds since the epoch.")
    max_until: float | None = Field(default=None, description="Hard end of renewal, UTC seconds.")


class Held(Word):
    """What a caller may know of somebody else's lease: held, and until when."""

    held: bool = True
    until: str = Field(description="UTC, ISO 8601.")
    yours: bool = False
    session: str | None = None
