"""The two ends of a call: what is known of it on the way (`Trail`), and the answer and record made of that."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anydevice_schemas import Answer, Caller, Cost, Device, DeviceRef, ErrorBody, Selection
from anydevice_schemas.errors import AnydeviceError, LeaseExpired, LeaseLost

from .catalogue import Parsed
from .context import Context, Outcome
from .journal import digest, redacted
from .leases.desk import Admission
from .sessions import Session


@dataclass(slots=True)
class Trail:
    """What is known of a call so far, whichever way it ends.

    Attributes:
        started: Reading of `time.perf_counter` when it came in.
        acted: Who acted, read back from the device.
        admission: The leave to drive it runs under.
        lane_wait: Seconds it waited for its lane.
    """

    name: str
    caller: Caller
    arguments: Mapping[str, Any]
    call_id: str
    started: float
    parsed: Parsed | None = None
    session: Session | None = None
    device: Device | None = None
    acted: DeviceRef | None = None
    selection: Selection | None = None
    admission: Admission | None = None
    context: Context | None = None
    told: list[dict[str, Any]] | None = None
    lane_wait: float = 0.0

    def tell(self, notice: dict[str, Any]) -> None:
        """Adds something the answer must say."""
        if self.told is None:
            self.told = []
        self.told.append(notice)

    @property
    def command(self) -> str:
        """The command's own name, or what was asked for."""
        return self.parsed.spec.command.name if self.parsed is not None else self.name[:60]

    def notices(self) -> list[dict[str, Any]]:
        """Everything the answer must tell besides."""
        own = self.told or []
        return [*own, *self.context.notices] if self.context is not None else own

    def cost(self) -> Cost | None:
        """What it took, where that was asked for."""
        if self.parsed is None or not self.parsed.switches.include_cost:
            return None
        context = self.context
        return Cost(
            wall_clock_ms=round((time.perf_counter() - self.started) * 1000, 2),
            waited_ms=round((self.lane_wait + (context.waited if context is not None else 0.0)) * 1000, 2),
            round_trips=context.trips if context is not None else 0,
        )

    def debug(self) -> dict[str, Any] | None:
        """How it went, where that was asked for."""
        if self.parsed is None or not self.parsed.switches.debug:
            return None
        context = self.context
        return {
            "callId": self.call_id,
            "plan": context.plan.name if context is not None and context.plan is not None else None,
            "operations": context.trace if context is not None else [],
            "laneWaitMs": round(self.lane_wait * 1000, 2),
            "fence": str(self.admission.lease.fence) if self.admission is not None else None,
        }


def answer(trail: Trail, outcome: Outcome) -> Answer:
    """The answer of a call that worked. Built without validation: every part of it is made by core."""
    if outcome.instead is not None:
        return outcome.instead
    return Answer.model_construct(
        ok=True,
        command=trail.command,
        device=trail.acted,
        session=trail.session.name if trail.session is not None else None,
        selection=trail.selection,
        data=outcome.data,
        verified=outcome.verified,
        method=outcome.method,
        truncated=outcome.truncated,
        notices=trail.notices(),
        artefacts=outcome.artefacts,
        cost=trail.cost(),
        debug=trail.debug(),
        error=None,
    )


def refusal(trail: Trail, error: AnydeviceError) -> Answer:
    """The answer of a call that did not work."""
    device = trail.acted or (trail.device.ref() if trail.device is not None else None)
    if isinstance(error, (LeaseExpired, LeaseLost)) and trail.context is not None:
        # It was taken while the command ran: what had been sent may have been done.
        error.details["may_have_acted"] = bool(trail.context.sent or trail.context.done)
    if error.device is None and device is not None:
        error.device = device.key
    return Answer(
        ok=False,
        command=trail.command,
        device=device,
        session=trail.session.name if trail.session is not None else None,
        selection=trail.selection,
        notices=trail.notices(),
        cost=trail.cost(),
        debug=trail.debug(),
        error=ErrorBody(**error.to_wire()),
    )


def record(trail: Trail, given: Answer, key: bytes) -> dict[str, Any]:
    """The journal's record of a call: audit, and a replay line where one is wanted. `key` is for the digest."""
    entry: dict[str, Any] = {
        "call": trail.call_id,
        "command": given.command,
        "principal": trail.caller.principal,
        "transport": trail.caller.transport,
        "session": given.session,
        "device": given.device.key if given.device is not None else None,
        "arguments": digest(trail.arguments, key),
        "outcome": "ok" if given.ok else (given.error.code if given.error is not None else "error"),
        "verified": given.verified,
        "ms": round((time.perf_counter() - trail.started) * 1000, 2),
    }
    if trail.admission is not None:
        entry["fence"] = str(trail.admission.lease.fence)
    parsed = trail.parsed
    wanted = parsed is not None and given.ok and not parsed.switches.no_record
    if wanted and parsed is not None and parsed.spec.command.effect != "read":
        entry["replay"] = {"command": given.command, "arguments": redacted(parsed.arguments)}
    return entry
