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
import time
from collections.abc import Mapping
from typing import Any

import anyio
import pluggy
import structlog

from anydevice_schemas import Answer, Call, Caller, Device, DeviceRef, DeviceSelector, Held, Holder, Plan
from anydevice_schemas.errors import (
    AmbiguousDevice,
    AnydeviceError,
    AppNotFound,
    ArgumentError,
    BackendBroken,
    CallCancelled,
    CallTimeout,
    ConnectionLost,
    Internal,
    PolicyError,
    Unsupported,
)

from . import plans, reply
from .catalogue import Parsed
from .context import Context, Outcome, Progress
from .discovery import describe
from .driver import Driver, Environment
from .inventory import defaults_from
from .reply import Trail
from .resolution import Request, Resolution, pin, resolve
from .services import Services
from .sessions import Session

log = structlog.get_logger("anydevice.router")

LANE_WAIT = 60.0
"""Seconds a call waits for its device's lane before it says so."""


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
        call_id = call.call_id or secrets.token_hex(6)
        trail = Trail(call.name, call.caller, call.arguments, call_id, time.perf_counter())
        try:
            trail.parsed = parsed = self.services.catalogue.parse(call.name, call.arguments)
            if parsed.spec.command.scope == "host":
                outcome = await self._on_host(trail, parsed, progress)
            else:
                outcome = await self._on_device(trail, parsed, progress)
            self._tell_lost_sessions(trail)
            answer = reply.answer(trail, outcome)
        except AnydeviceError as error:
            answer = self._refusal(trail, error)
        except anyio.get_cancelled_exc_class():
            self._record(trail, reply.refusal(trail, CallCancelled("The caller went away.", by="caller")))
            raise
        except Exception as error:
            incident = secrets.token_hex(4)
            log.error("internal", incident=incident, command=call.name, exc_info=error)
            kind = type(error).__name__
            answer = reply.refusal(trail, Internal("Something in anydevice is wrong.", incident=incident, kind=kind))
        finally:
            if trail.admission is not None:
                self.services.desk.settle(trail.admission)
        self._record(trail, answer)
        return answer

    # --- commands that need no device ---

    async def _on_host(self, trail: Trail, parsed: Parsed, progress: Progress | None) -> Outcome:
        """Steps 5 and 7; the rest is about devices."""
        descriptor = parsed.spec.command
        self._permit(trail, parsed, None)
        backend = None
        if descriptor.backend is not None:
            backend = await self.services.backends.instance(descriptor.backend)
        context = trail.context = self._context(trail, parsed, progress, backend=backend)
        try:
            with anyio.fail_after(parsed.deadline):
                return await self._run(context)
        except TimeoutError:
            raise context.timed_out(None, parsed.deadline) from None

    # --- commands on a device: the nine steps ---

    async def _on_device(self, trail: Trail, parsed: Parsed, progress: Progress | None) -> Outcome:
        """All nine steps."""
        env = Environment(trail.caller.cwd, trail.caller.env)
        bound = self._bind(trail.caller, parsed)
        resolution = await self._resolve(trail, parsed, bound, env)
        device, trail.selection = resolution.device, resolution.selection
        for notice in resolution.notices:
            trail.tell(dict(notice))
        trail.device = device
        session = trail.session = self._seat(trail.caller, parsed, device, bound)
        made_now = bound is None and session.lease_id is None
        self._admit(trail, parsed, device, session)
        try:
            self._permit(trail, parsed, device)
        except AnydeviceError:
            if made_now:  # what policy refuses must not keep the device from others
                self.services.sessions.end(session, "refused by policy")
            raise
        came = time.perf_counter()
        try:
            async with self.services.lanes.enter(device, wait=LANE_WAIT, deadline=parsed.deadline):
                trail.lane_wait = time.perf_counter() - came
                driver = await self.services.connections.get(device, env)
                self._tell_losses(trail, driver)
                plan = self._plan(parsed, device, driver)
                context = trail.context = self._context(
                    trail, parsed, progress, session=session, device=device, driver=driver, plan=plan
                )
                try:
                    outcome = await self._run(context)
                    trail.acted = await self._verify(driver, device)
                    return outcome
                finally:
                    self._tell_losses(trail, driver)
                    if parsed.spec.command.boots:
                        self.services.backends.forget(device.backend)
        except TimeoutError:
            if trail.context is None:
                raise CallTimeout("The device did not answer.", after=parsed.deadline, device=device.key) from None
            raise trail.context.out_of_time(parsed.deadline) from None
        except (ArgumentError, PolicyError, AppNotFound):
            if made_now and parsed.spec.command.opens_session:
                self.services.sessions.end(session, "nothing was opened")
            raise
        except ConnectionLost:
            await self.services.connections.drop(device.key)
            self.services.backends.forget(device.backend)
            raise

    def _bind(self, caller: Caller, parsed: Parsed) -> Session | None:
        """Step 2: the session this call belongs to, if it has one already."""
        selector = parsed.selector
        sessions = self.services.sessions
        if selector.session is not None:
            if parsed.spec.command.opens_session:
                return sessions.find(caller, selector.session, selector.tenant)
            return sessions.named(caller, selector.session, selector.tenant)
        if selector.names_a_device() or parsed.spec.command.explicit_device:
            return None  # a session the caller never named is no naming of a device
        implicit = sessions.implicit(caller, selector.tenant)
        if not implicit:
            return None
        fitting = self._in_scope(implicit, selector, caller)
        if len(fitting) == 1:
            return fitting[0]
        if len(fitting) > 1:
            raise self._ambiguous_session(fitting, caller)
        return None

    def _in_scope(self, implicit: list[Session], selector: DeviceSelector, caller: Caller) -> list[Session]:
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

    async def _resolve(self, trail: Trail, parsed: Parsed, bound: Session | None, env: Environment) -> Resolution:
        """Step 3: exactly one device, or a typed refusal."""
        services = self.services
        descriptor = parsed.spec.command
        only = None
        if bound is not None and not parsed.selector.names_a_device():
            backend = bound.device_key.partition(":")[0]
            only = () if services.connections.existing(bound.device_key) is not None else (backend,)
        elif not (descriptor.boots or descriptor.opens_session or parsed.selector.names_a_device()):
            self._refuse_lost_sessions(trail)
        fresh = descriptor.boots or parsed.boots
        inventory = await services.backends.listed(env, only=only, fresh=fresh, sick=False)
        request = Request(
            selector=parsed.selector,
            bound=(bound.name, bound.device_key) if bound is not None else None,
            explicit_device=descriptor.explicit_device,
            boots=descriptor.boots or (parsed.boots and parsed.selector.names_a_device()),
            defaults=defaults_from(env, services.backends.platforms) if bound is None else [],
            held={}
            if bound is not None or parsed.selector.names_a_device()
            else self._held(trail.caller, parsed.selector.tenant),
            lock=services.settings.session_lock,
        )
        return resolve(request, inventory)

    def _held(self, caller: Caller, tenant: str | None) -> Mapping[str, Held]:
        """Leases that keep a device from being chosen without being named."""
        own = {session.device_key for session in self.services.sessions.implicit(caller)}
        viewer = Holder(principal=caller.principal, session="", tenant=tenant or "default")
        return {key: held for key, held in self.services.desk.held(viewer).items() if key not in own}

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

    def _admit(self, trail: Trail, parsed: Parsed, device: Device, session: Session) -> None:
        """Step 4: only the one who drives the device is let in."""
        fresh = session.lease_id is None and session.tree is None
        try:
            trail.admission = self.services.desk.admit(
                device, session, pin=parsed.deadline, asked_lease=parsed.selector.lease_id
            )
        except AnydeviceError as error:
            self._hint_own_session(trail.caller, error)
            if fresh and session.implicit:
                self.services.sessions.end(session, "never admitted")
            raise
        if trail.admission.notice is not None:
            trail.tell(dict(trail.admission.notice))

    def _hint_own_session(self, caller: Caller, error: AnydeviceError) -> None:
        """A person whose own session of another directory holds the device is told how to go on in it."""
        holder = error.details.get("holder")
        name = holder.get("session") if isinstance(holder, dict) else None
        own = self.services.sessions.find(caller, name) if name else None
        if own is not None and own.implicit:
            error.hint = f"It is your own session of {own.cwd}: go on there, or repeat with session={name}."

    def _permit(self, trail: Trail, parsed: Parsed, device: Device | None) -> None:
        """Step 5: profile, scope, confirmation."""
        notice = self.services.policy.permit(
            parsed.spec.command, parsed.arguments, trail.caller, device, parsed.switches.confirm_token
        )
        if notice is not None:
            trail.tell({"kind": "confirmed", "message": notice})

    def _plan(self, parsed: Parsed, device: Device, driver: Driver) -> Plan | None:
        """The plan that carries the command out here and now, chosen before anything is sent."""
        descriptor = parsed.spec.command
        if descriptor.backend is not None and descriptor.backend != device.backend:
            raise Unsupported(
                f"Only devices of {descriptor.backend} have {descriptor.name}.",
                operation=descriptor.name,
                alternatives=[],
                device=device.key,
            )
        return plans.choose(
            descriptor, parsed.arguments, self.services.backends.manifest(device.backend), device, driver
        )

    async def _run(self, context: Context) -> Outcome:
        """Step 7: the command itself."""
        outcome = await context.spec.load()(context, context.parsed.input)
        if not isinstance(outcome, Outcome):
            raise BackendBroken(
                f"The handler of {context.spec.command.name} returned no outcome.",
                backend=context.spec.command.origin,
                reason=f"a {type(outcome).__name__}",
            )
        if outcome.method is None and context.plan is not None:
            outcome.method = context.plan.name
        return outcome

    async def _verify(self, driver: Driver, device: Device) -> DeviceRef:
        """Step 8: who acted, as the device itself says; an answer for another device is never passed on."""
        try:
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
                sent=True,
                acted=acted.key if isinstance(acted, DeviceRef) else None,
                named=device.key,
                device=device.key,
            )
        return acted

    def _context(self, trail: Trail, parsed: Parsed, progress: Progress | None, **parts: Any) -> Context:
        async def run(name: str, arguments: Mapping[str, Any]) -> Answer:
            return await self.call(Call(name=name, arguments=dict(arguments), caller=trail.caller), progress=progress)

        return Context(
            parsed=parsed,
            caller=trail.caller,
            services=self.services,
            runner=run,
            deadline=parsed.deadline,
            progress=progress,
            **parts,
        )

    # --- what was lost ---

    def _tell_losses(self, trail: Trail, driver: Driver) -> None:
        for loss in driver.losses():
            trail.tell(dict(loss))

    def _tell_lost_sessions(self, trail: Trail) -> None:
        """Sessions an earlier daemon had of this caller's: told once, with the next answer."""
        lost = self.services.sessions.losses_for(trail.caller)
        if lost:
            trail.tell(
                {
                    "kind": "daemon_restarted",
                    "message": "The daemon was restarted; these sessions and what they ran on are gone.",
                    "lost": [entry.to_wire() for entry in lost],
                }
            )

    def _refuse_lost_sessions(self, trail: Trail) -> None:
        """A call that relies on a session which did not survive is told so instead of guessing a device."""
        lost = self.services.sessions.losses_for(trail.caller)
        if lost:
            raise ConnectionLost(
                "The daemon was restarted and your sessions did not survive.",
                restarted=True,
                lost=[entry.to_wire() for entry in lost],
            )

    def _session_ended(self, session: Session, reason: str) -> None:
        self.services.desk.release(session, reason=reason)

    # --- the answer and the record ---

    def _refusal(self, trail: Trail, error: AnydeviceError) -> Answer:
        if not isinstance(error, ConnectionLost):
            self._tell_lost_sessions(trail)
        driver = self.services.connections.existing(error.device) if error.device is not None else None
        if driver is not None:
            self._tell_losses(trail, driver)
        return reply.refusal(trail, error)

    def _record(self, trail: Trail, answer: Answer) -> None:
        """Step 9: one line, whichever way the call ended."""
        try:
            self.services.journal.record(reply.record(trail, answer))
        except Exception as error:  # an observer must not fail the call it observes
            log.error("journal_failed", reason=describe(error))
