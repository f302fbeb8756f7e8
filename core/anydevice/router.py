"""The one path every call takes, from every facade, on every platform.

parse     catalogue.py     name and arguments -> command, inputs, selectors
bind      choosing.py      what the caller's session is already bound to (sessions.py)
resolve   choosing.py      selectors + inventory -> exactly one device, or a refusal (resolution/)
admit     choosing.py      is this caller the one who drives it (leases/desk.py)
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
from contextvars import ContextVar
from typing import Any

import anyio
import pluggy
import structlog

from anydevice_schemas import Answer, Call, Device, DeviceRef, Lease, Plan
from anydevice_schemas.errors import (
    AnydeviceError,
    AppNotFound,
    ArgumentError,
    BackendBroken,
    CallCancelled,
    CallTimeout,
    ConnectionLost,
    DeviceUnhealthy,
    Internal,
    PolicyError,
    Unsupported,
)

from . import plans, reply
from .catalogue import Parsed
from .choosing import Choosing
from .context import Context, Outcome, Progress
from .discovery import describe
from .driver import Driver, Environment
from .janitor import Janitor
from .leases.refusals import same_holder
from .reply import Trail
from .returning import Returning
from .services import Services
from .sessions import Session

log = structlog.get_logger("anydevice.router")

LOOK_DEADLINE = 5.0
"""Seconds a call may take that only looks at a device somebody else drives."""

_inside: ContextVar[str | None] = ContextVar("device of the running command", default=None)

LANE_WAIT = 60.0
"""Seconds a call waits for its device's lane before it says so."""


class Router:
    """Takes calls and answers them. Every answer is an `Answer`; only cancellation comes out as an exception."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.returning = Returning(services)
        self.choosing = Choosing(services, self.returning)
        self.plugins: pluggy.PluginManager | None = None
        self.janitor = Janitor(services)
        services.sessions.ended.append(self._session_ended)
        services.desk.over.append(self._over)
        services.desk.again.append(self._again)

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
            self.returning.tell_lost(trail)
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
        bound = await self.choosing.bind(trail, parsed, env)
        resolution = await self.choosing.resolve(trail, parsed, bound, env)
        device, trail.selection = resolution.device, resolution.selection
        for notice in resolution.notices:
            trail.tell(dict(notice))
        trail.device = device
        session = trail.session = self.choosing.seat(trail.caller, parsed, device, bound)
        made_now = session.new
        await self.choosing.admit(trail, parsed, device, session)
        try:
            self._permit(trail, parsed, device)
        except AnydeviceError:
            if made_now:  # what policy refuses must not keep the device from others
                self.services.sessions.end(session, "refused by policy")
            raise
        came = time.perf_counter()
        looks = trail.admission is None  # beside the one who drives
        deadline = min(parsed.deadline, LOOK_DEADLINE) if looks else parsed.deadline
        inside = _inside.set(device.key)
        try:
            async with self.services.lanes.enter(device, wait=LANE_WAIT, deadline=deadline):
                trail.lane_wait = time.perf_counter() - came
                if trail.admission is not None:
                    trail.admission = self.services.desk.begin(trail.admission, pin=parsed.deadline)
                driver = await self.services.connections.get(device, env)
                if trail.admission is not None and self.services.desk.owes(device.key):
                    await self.janitor.clean(device, driver, trail.admission.lease)
                if not looks:  # what was lost is told to whoever drives
                    self._tell_losses(trail, driver)
                await self.returning.look(trail, session, driver)
                plan = self._plan(parsed, device, driver)
                context = trail.context = self._context(
                    trail, parsed, progress, session=session, device=device, driver=driver, plan=plan
                )
                try:
                    outcome = await self._run(context)
                    trail.acted = await self._verify(driver, device)
                    return outcome
                finally:
                    if not looks:
                        self._tell_losses(trail, driver)
                    if parsed.spec.command.boots:
                        self.services.backends.forget(device.backend)
        except TimeoutError:
            if trail.context is None:
                raise CallTimeout("The device did not answer.", after=parsed.deadline, device=device.key) from None
            raise trail.context.out_of_time(parsed.deadline) from None
        except DeviceUnhealthy:
            if made_now:
                self.services.sessions.end(session, "the device is not in order")
            raise
        except (ArgumentError, PolicyError, AppNotFound):
            if made_now and parsed.spec.command.opens_session:
                self.services.sessions.end(session, "nothing was opened")
            raise
        except ConnectionLost:
            await self.services.connections.drop(device.key)
            self.services.backends.forget(device.backend)
            raise
        finally:
            _inside.reset(inside)
            if made_now and trail.caller.sessionless and not parsed.spec.command.opens_session:
                self.services.sessions.end(session, "nothing ties another call to it")

    def _permit(self, trail: Trail, parsed: Parsed, device: Device | None) -> None:
        """Step 5: profile, scope, confirmation. No person is asked about what the device cannot do at all."""
        if device is not None and parsed.spec.command.confirm:
            manifest = self.services.backends.manifest(device.backend)
            plans.refuse_undeclared(parsed.spec.command, parsed.arguments, manifest, device)
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

    def _session_ended(self, session: Session, reason: str) -> None:
        self.services.desk.release(session, reason=reason)

    def _over(self, lease: Lease, error: AnydeviceError) -> None:
        """A lease ended under a command: what runs on the device ends now, and says why."""
        if _inside.get() != lease.device:  # else it is this very command that ends it: close, shutdown
            self.services.lanes.interrupt(lease.device, error)

    def _again(self, lease: Lease) -> None:
        """A lease was given back: its session sits in it again."""
        for session in self.services.sessions.of_device(lease.device):
            if same_holder(session.holder, lease.holder):
                self.services.desk.sit(session, lease)
                self.services.sessions.save(session)

    # --- the answer and the record ---

    def _refusal(self, trail: Trail, error: AnydeviceError) -> Answer:
        if not isinstance(error, ConnectionLost):
            self.returning.tell_lost(trail)
        driver = self.services.connections.existing(error.device) if error.device is not None else None
        if driver is not None:
            self._tell_losses(trail, driver)
        return reply.refusal(trail, error)

    def _record(self, trail: Trail, answer: Answer) -> None:
        """Step 9: one line, whichever way the call ended; and what it changed of its session is kept."""
        self.services.sessions.save(trail.session)
        try:
            self.services.journal.record(reply.record(trail, answer, self.services.journal.key))
        except Exception as error:  # an observer must not fail the call it observes
            log.error("journal_failed", reason=describe(error))
