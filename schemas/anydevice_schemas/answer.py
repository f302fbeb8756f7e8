"""Calls and answers: what goes in at a facade and what comes out."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ._base import Word
from .device import DeviceRef

Transport = Literal["stdio", "cli", "http", "python", "test"]
Scope = Literal["read", "act", "admin"]


class Caller(Word):
    """Who calls. Set by the authenticating transport, never by arguments."""

    principal: str = Field(description="The authenticated user, e.g. `uid:1000`.")
    transport: Transport
    connection: str = Field(
        description="One connection of this transport; scopes implicit sessions on stdio and HTTP. Empty over HTTP "
        "where the protocol knows no connection: such a caller has no implicit sessions."
    )
    cwd: str | None = Field(default=None, description="Working directory sent at connect; None over HTTP.")
    env: dict[str, str] = Field(default_factory=dict, description="Allow-listed variables sent at connect.")
    scopes: list[Scope] = Field(default=["read", "act"])

    @property
    def sessionless(self) -> bool:
        """Whether nothing ties two of its calls together, so that each has to name its session."""
        return self.transport == "http" and not self.connection

    @property
    def scope_key(self) -> str:
        """Where this caller's implicit sessions live, so that two callers never meet by accident."""
        if self.transport == "cli":
            return f"{self.principal}|cli|{self.cwd or ''}"
        return f"{self.principal}|{self.transport}|{self.connection}"


class RunnerUp(Word):
    """A device that was considered and not taken, and why."""

    device: DeviceRef
    why: str


class Selection(Word):
    """Why this device acted."""

    reason: Literal["session", "selectors", "only-usable", "default"]
    by: dict[str, str] = Field(default_factory=dict, description="Selectors that decided, with where each came from.")
    runners_up: list[RunnerUp] = Field(default_factory=list, description="At most 5.")
    considered: int = 0


class Cost(Word):
    """What the call took."""

    wall_clock_ms: float
    waited_ms: float = Field(default=0.0, description="Of that, time spent waiting for the lane or for an element.")
    round_trips: int = Field(default=0, description="Calls made on the driver.")


class Artefact(Word):
    """A file the call made, under a name chosen by the server."""

    name: str
    uri: str = Field(description="anydevice://artefacts/NAME")
    mime: str
    size: int = Field(description="Bytes.")
    path: str | None = Field(default=None, description="Absolute path; only for callers on the same host, never MCP.")


class ErrorBody(Word):
    """An error as it crosses every wire."""

    code: str
    message: str
    retryable: bool
    hint: str = ""
    details: dict[str, Any] = Field(default_factory=dict, description="snake_case; may hold untrusted screen text.")
    device: str | None = None


class Answer(Word):
    """The answer to one call: the device that acted, what came of it, and whether that was checked."""

    ok: bool
    command: str
    device: DeviceRef | None = Field(default=None, description="The device that acted, read back from its driver.")
    session: str | None = None
    selection: Selection | None = None
    data: dict[str, Any] = Field(default_factory=dict, description="The command's own result; screen text is data.")
    verified: bool | None = Field(default=None, description="Read back and seen; None for commands that only read.")
    method: str | None = Field(default=None, description="The operation plan that carried it out.")
    truncated: list[str] = Field(default_factory=list, description="Everything that was cut, and by how much.")
    notices: list[dict[str, Any]] = Field(
        default_factory=list,
        description="What the caller must know besides: losses, renewed leases, defaults used.",
    )
    artefacts: list[Artefact] = Field(default_factory=list)
    cost: Cost | None = None
    debug: dict[str, Any] | None = None
    error: ErrorBody | None = None


class Call(Word):
    """One call as a facade hands it to the router."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    caller: Caller
    call_id: str = ""
