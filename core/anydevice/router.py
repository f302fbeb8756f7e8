"""The one path every call takes, from every facade, on every platform.

    parse     catalogue.py     name and arguments -> command, inputs, selectors
    bind      sessions.py      what the session is already bound to
    resolve   resolution.py    selectors + inventory -> exactly one device, or a refusal
    admit     leases/desk.py   is this caller the one who drives it
    permit    policy.py        profile, scope, confirmation
    lane      lanes.py         one command at a time on a device, under a deadline
    run       commands/        by the plan chosen before acting (plans.py)
    verify    here             who acted, read back; what was lost
    record    journal.py       one line a call
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import pluggy
import structlog

from anydevice_schemas import (
    Answer,
    Call,
    Caller,
    Cost,
    Device,
    DeviceRef,
    DeviceSelector,
    ErrorBody,
    Selection,
)
from anydevice_schemas.errors import (
    AmbiguousDevice,
    AnydeviceError,
    BackendBroken,
    CallCancelled,
    ConnectionLost,
    Internal,
)

from . import plans
from .artefacts import Artefacts
from .catalogue import Catalogue, Parsed
from .clock import Clock
from .connections import Connections
from .context import Context, Outcome, Progress
from .discovery import PluginRecord, describe
from .driver import Driver, Environment
from .inventory import Backends, defaults_from
from .journal import Journal, digest, redacted
from .lanes import Lanes
from .leases import Desk
from .leases.desk import Admission
from .policy import Policy
from .resolution import Request, Resolution, pin, resolve
from .sessions import Session, Sessions
from .settings import Settings

log = structlog.get_logger("anydevice.router")

LANE_WAIT = 60.0
"""Seconds a call waits for its device's lane before it says so."""


@dataclass(slots=True)
class Services:
    """Everything core has, each part in its own file."""

    settings: Settings
    clock: Clock
    catalogue: Catalogue
    backends: Backends
    connections: Connections
    sessions: Sessions
    desk: Desk
    policy: Policy
    lanes: Lanes
    journal: Journal
    artefacts: Artefacts
    plugins: list[PluginRecord]


@dataclass(slots=True)
class _Trail:
    """What is known of a call so far, for the answer and the record, whichever way it ends."""

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
    notices: list[dict[str, Any]] | None = None
    lane_wait: float = 0.0

    def tell(self, notice: dict[str, Any]) -> None:
        """Adds something the answer must say, whichever way the call ends."""
        if self.notices is None:
            self.notices = []
        self.notices.append(notice)


class Router:
    """Takes calls and answers them. Every answer is an `Answer`; only cancellation comes out as an exception."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.plugins: pluggy.PluginManager | None = None
        services.sessions.ended.append(self._session_ended)

    async def call(self, call: Call, *, progress: Progress | None = None) -> Answer:
        """Carries one call out.

        Args:
            call: What is asked, by whom.
            progress: Told how far long commands are.

        Returns:
            The answer, also where it is an error.
        """
        trail = _Trail(
            call.name, call.caller, call.arguments, call.call_id or secrets.token_hex(6), anyio.current_time()
        )
        try:
            trail.parsed = parsed = self.services.catalogue.parse(call.name, call.arguments)
            if parsed.spec.command.scope == "host":
                outcome = await self._on_host(trail, parsed, progress)
            else:
                outcome = await self._on_device(trail, parsed, progress)
            answer = self._answer(trail, outcome)
        except AnydeviceError as error:
            answer = self._refusal(trail, error)
        except anyio.get_cancelled_exc_class():
            self._record(trail, self._refusal(trail, CallCancelled("The caller went away.", by="caller")))
            raise
        except Exception as error:  # noqa: BLE001 - a defect of ours must still be an answer
            incident = secrets.token_hex(4)
            log.error("internal", incident=incident, command=call.name, exc_info=error)
            answer = self._refusal(
                trail, Internal("Something in anydevice is wrong.", incident=incident, kind=type(error).__name__)
            )
        finally:
            if trail.admission is not None:
                self.services.desk.settle(trail.admission)
        self._record(trail, answer)
        return answer

    # --- commands that need no device ---

    async def _on_host(self, trail: _Trail, parsed: Parsed, progress: Progress | None) -> Outcome:
        descriptor = parsed.spec.command
        self._permit(trail, parsed, None)
        backend = None
        if descriptor.backend is not None:
            backend = await self.services.backends.instance(descriptor.backend)
        context = trail.context = self._context(trail, parsed, progress, backend=backend)
        return await self._run(context)

    # --- commands on a device: the nine steps ---

    async def _on_device(self, trail: _Trail, parsed: Parsed, progress: Progress | None) -> Outcome:
        env = Environment(trail.caller.cwd, trail.caller.env)
        bound = self._bind(trail.caller, parsed)
        resolution = await self._resolve(trail, parsed, bound, env)
        device, trail.selection = resolution.device, resolution.selection
        trail.device = device
        session = trail.session = self._seat(trail.caller, parsed, device, bound)
        self._admit(trail, parsed, device, session)
        self._permit(trail, parsed, device)
        before = anyio.current_time()
        async with self.services.lanes.enter(device, LANE_WAIT):
            trail.lane_wait = anyio.current_time() - before
            driver = await self.services.connections.get(device, env)
            self._tell_losses(trail, driver)
            manifest = self.services.backends.manifest(device.backend)
            plan = plans.choose(parsed.spec.command, parsed.arguments, manifest, device, driver)
            context = trail.context = self._context(
                trail, parsed, progress, session=session, device=device, driver=driver, plan=plan
            )
            try:
                outcome = await self._run(context)
                if outcome.method is None and plan is not None:
                    outcome.method = plan.name
                trail.acted = await self._verify(driver, device)
                return outcome
            except ConnectionLost:
                await self._disconnect(device)
                raise
            finally:
                self._tell_losses(trail, driver)
                if parsed.spec.command.boots:
                    self.services.backends.forget(device.backend)

    def _bind(self, caller: Caller, parsed: Parsed) -> Session | None:
        """Step 2: the session this call belongs to, if it has one already."""
        selector = parsed.selector
        sessions = self.services.sessions
        if selector.session is not None:
            if parsed.spec.command.opens_session:
                return sessions.find(caller, selector.session, selector.tenant)
            return sessions.named(caller, selector.session, selector.tenant)
        if selector.names_a_device():
            return None
        implicit = sessions.implicit(caller)
        if not implicit:
            return None
        fitting = self._in_scope(implicit, selector, caller)
        if len(fitting) == 1:
            return fitting[0]
        if len(fitting) > 1:
            raise self._ambiguous_session(fitting, caller)
        return None

    def _in_scope(
        self, implicit: list[Session], selector: DeviceSelector, caller: Caller
    ) -> list[Session]:
        if selector.platform is None and selector.device_target is None:
            return implicit
        inventory = self.services.backends.cached(Environment(caller.cwd, caller.env))
        return [s for s in implicit if inventory.fits(s.device_key, selector)]

    def _ambiguous_session(self, fitting: list[Session], caller: Caller) -> AmbiguousDevice:
        inventory = self.services.backends.cached(Environment(caller.cwd, caller.env))
        candidates = []
        for session in sorted(fitting, key=lambda s: s.device_key):
            row = inventory.by_key(session.device_key)
            selectors = pin(row, inventory) if row is not None else None
            candidates.append(
                {
                    "key": session.device_key,
                    "name": session.device_name,
                    "session": session.name,
                    "selectors": selectors or {"session": session.name},
                }
            )
        return AmbiguousDevice(
            f"You work with {len(fitting)} devices; say which one.",
            candidates=candidates[:10],
            matches=len(fitting),
        )

    async def _resolve(
        self, trail: _Trail, parsed: Parsed, bound: Session | None, env: Environment
    ) -> Resolution:
        """Step 3: exactly one device, or a typed refusal."""
        services = self.services
        descriptor = parsed.spec.command
        only = None
        if bound is not None and not parsed.selector.names_a_device():
            backend = bound.device_key.partition(":")[0]
            only = () if services.connections.existing(bound.device_key) is not None else (backend,)
        elif bound is None and not descriptor.boots and not parsed.selector.names_a_device():
            self._tell_lost_sessions(trail, raise_for=True)
        inventory = await services.backends.list(env, only=only, fresh=descriptor.boots)
        request = Request(
            selector=parsed.selector,
            bound=(bound.name, bound.device_key) if bound is not None else None,
            explicit_device=descriptor.explicit_device,
            boots=descriptor.boots or self._asks_to_boot(parsed),
            defaults=defaults_from(env, services.backends.platforms) if bound is None else [],
            held=self._held_by_others(trail.caller) if bound is None else {},
            lock=services.settings.session_lock,
        )
        return resolve(request, inventory)

    def _asks_to_boot(self, parsed: Parsed) -> bool:
        return bool(getattr(parsed.input, "boot", False)) and parsed.selector.names_a_device()

    def _held_by_others(self, caller: Caller) -> dict[str, Any]:
        own = {session.name for session in self.services.sessions.implicit(caller)}
        held = self.services.desk.held()
        return {key: h for key, h in held.items() if h.session is None or h.session not in own} if held else {}

    def _seat(self, caller: Caller, parsed: Parsed, device: Device, bound: Session | None) -> Session:
        """The session that drives: the bound one, or one made for this device."""
        if bound is not None:
            session = bound
        else:
            selector = parsed.selector
            session = self.services.sessions.open(
                caller, device, name=selector.session, tenant=selector.tenant, run_id=selector.run_id
            )
        self.services.sessions.touch(session)
        return session

    def _admit(self, trail: _Trail, parsed: Parsed, device: Device, session: Session) -> None:
        """Step 4: only the one who drives the device is let in."""
        pin_for = parsed.spec.command.deadline + self._extra_time(parsed)
        fresh = session.lease_id is None and session.tree is None
        try:
            trail.admission = self.services.desk.admit(
                device, session, pin=pin_for, asked_lease=parsed.selector.lease_id
            )
        except AnydeviceError:
            if fresh and session.implicit:
                self.services.sessions.end(session, "never admitted")
            raise
        if trail.admission.notice is not None:
            trail.tell(dict(trail.admission.notice))

    def _permit(self, trail: _Trail, parsed: Parsed, device: Device | None) -> None:
        """Step 5: profile, scope, confirmation."""
        notice = self.services.policy.permit(
            parsed.spec.command, parsed.arguments, trail.caller, device, parsed.switches.confirm_token
        )
        if notice is not None:
            trail.tell({"kind": "confirmed", "message": notice})

    async def _run(self, context: Context) -> Outcome:
        """Step 7: the command itself, under its deadline."""
        handler = context.spec.load()
        deadline = context.remaining()
        try:
            with anyio.fail_after(deadline):
                outcome = await handler(context, context.parsed.input)
        except TimeoutError:
            raise context.timed_out(context.sent, deadline) from None
        if not isinstance(outcome, Outcome):
            raise BackendBroken(
                f"The handler of {context.spec.command.name} returned no outcome.",
                backend=context.spec.command.origin,
                reason=f"a {type(outcome).__name__}",
            )
        return outcome

    async def _verify(self, driver: Driver, device: Device) -> DeviceRef:
        """Step 8: who acted, as the device itself says; an answer for another device is never passed on."""
        try:
            with anyio.fail_after(5.0):
                acted = await driver.identify()
        except AnydeviceError:
            raise
        except Exception as error:
            raise BackendBroken(
                "The device acted but did not say who it is.",
                backend=device.backend,
                reason=describe(error),
                sent=True,
                device=device.key,
            ) from error
        if not isinstance(acted, DeviceRef) or acted.key != device.key:
            raise BackendBroken(
                "Another device than the one that was named has acted.",
                backend=device.backend,
                reason="identify() names another device",
                acted=acted.key if isinstance(acted, DeviceRef) else None,
                named=device.key,
                device=device.key,
            )
        return acted

    def _context(self, trail: _Trail, parsed: Parsed, progress: Progress | None, **parts: Any) -> Context:
        async def run(name: str, arguments: Mapping[str, Any]) -> Answer:
            return await self.call(
                Call(name=name, arguments=dict(arguments), caller=trail.caller), progress=progress
            )

        deadline = parsed.spec.command.deadline + self._extra_time(parsed)
        return Context(
            parsed=parsed,
            caller=trail.caller,
            services=self.services,
            runner=run,
            deadline=deadline,
            progress=progress,
            **parts,
        )

    @staticmethod
    def _extra_time(parsed: Parsed) -> float:
        """Seconds a call's own waiting arguments add to its deadline."""
        extra = 0.0
        for name in ("timeout_ms", "duration_ms"):
            value = getattr(parsed.input, name, None)
            if value:
                extra += value / 1000
        return extra + float(getattr(parsed.input, "extra_seconds", 0.0) or 0.0)

    # --- what was lost ---

    def _tell_losses(self, trail: _Trail, driver: Driver) -> None:
        for loss in driver.losses():
            trail.tell(dict(loss))

    def _tell_lost_sessions(self, trail: _Trail, *, raise_for: bool) -> None:
        lost = self.services.sessions.losses_for(trail.caller)
        if not lost:
            return
        rows = [entry.to_wire() for entry in lost]
        if raise_for:
            raise ConnectionLost(
                "The daemon was restarted and your sessions did not survive.", restarted=True, lost=rows
            )
        trail.tell(
            {
                "kind": "daemon_restarted",
                "message": "The daemon was restarted; these sessions and their browsers or connections are gone.",
                "lost": rows,
            }
        )

    async def _disconnect(self, device: Device) -> None:
        await self.services.connections.drop(device.key)
        self.services.backends.forget(device.backend)

    def _session_ended(self, session: Session, reason: str) -> None:
        self.services.desk.release(session, reason=reason)

    # --- the answer and the record ---

    def _answer(self, trail: _Trail, outcome: Outcome) -> Answer:
        self._tell_lost_sessions(trail, raise_for=False)
        fields: dict[str, Any] = {
            "ok": True,
            "command": trail.parsed.spec.command.name if trail.parsed is not None else trail.name,
            "device": trail.acted,
            "session": trail.session.name if trail.session is not None else None,
            "selection": trail.selection,
            "data": outcome.data,
            "verified": outcome.verified,
            "method": outcome.method,
            "truncated": outcome.truncated,
            "notices": self._notices(trail),
            "artefacts": outcome.artefacts,
            "cost": self._cost(trail),
            "debug": self._debug(trail),
            "error": None,
        }
        return Answer.model_construct(**fields)

    def _refusal(self, trail: _Trail, error: AnydeviceError) -> Answer:
        if not isinstance(error, ConnectionLost):
            self._tell_lost_sessions(trail, raise_for=False)
        device = trail.acted or (trail.device.ref() if trail.device is not None else None)
        if error.device is None and device is not None:
            error.device = device.key
        wire = error.to_wire()
        return Answer(
            ok=False,
            command=trail.parsed.spec.command.name if trail.parsed is not None else trail.name[:60],
            device=device,
            session=trail.session.name if trail.session is not None else None,
            selection=trail.selection,
            notices=self._notices(trail),
            cost=self._cost(trail),
            debug=self._debug(trail),
            error=ErrorBody(**wire),
        )

    def _notices(self, trail: _Trail) -> list[dict[str, Any]]:
        own = trail.notices or []
        return [*own, *trail.context.notices] if trail.context is not None else own

    def _cost(self, trail: _Trail) -> Cost | None:
        if trail.parsed is None or not trail.parsed.switches.include_cost:
            return None
        context = trail.context
        return Cost(
            wall_clock_ms=round((anyio.current_time() - trail.started) * 1000, 2),
            waited_ms=round((trail.lane_wait + (context.waited if context is not None else 0.0)) * 1000, 2),
            round_trips=context.trips if context is not None else 0,
        )

    def _debug(self, trail: _Trail) -> dict[str, Any] | None:
        if trail.parsed is None or not trail.parsed.switches.debug:
            return None
        context = trail.context
        return {
            "callId": trail.call_id,
            "plan": context.plan.name if context is not None and context.plan is not None else None,
            "operations": context.trace if context is not None else [],
            "laneWaitMs": round(trail.lane_wait * 1000, 2),
            "fence": str(trail.admission.lease.fence) if trail.admission is not None else None,
        }

    def _record(self, trail: _Trail, answer: Answer) -> None:
        """Step 9: one line, whichever way the call ended."""
        entry: dict[str, Any] = {
            "call": trail.call_id,
            "command": answer.command,
            "principal": trail.caller.principal,
            "transport": trail.caller.transport,
            "session": answer.session,
            "device": answer.device.key if answer.device is not None else None,
            "arguments": digest(trail.arguments),
            "outcome": "ok" if answer.ok else (answer.error.code if answer.error is not None else "error"),
            "verified": answer.verified,
            "ms": round((anyio.current_time() - trail.started) * 1000, 2),
        }
        if trail.admission is not None:
            entry["fence"] = str(trail.admission.lease.fence)
        parsed = trail.parsed
        if parsed is not None and answer.ok and not parsed.switches.no_record:
            if parsed.spec.command.effect != "read":
                entry["replay"] = {"command": answer.command, "arguments": redacted(parsed.arguments)}
        try:
            self.services.journal.record(entry)
        except Exception as error:  # noqa: BLE001 - an observer must not fail the call it observes
            log.error("journal_failed", reason=describe(error))
