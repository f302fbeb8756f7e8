"""Steps 2 to 4 of a call: which session it belongs to, which device it means, and whether it may drive it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from anydevice_schemas import Caller, Device, DeviceSelector, Held
from anydevice_schemas.errors import AmbiguousDevice, AnydeviceError, InvalidArgument, SelectorConflict

from . import ownership
from .catalogue import Parsed
from .driver import Environment
from .hearing import concerned, resolved
from .inventory import defaults_from
from .leases.refusals import PERSON, iso
from .reply import Trail
from .resolution import Holdings, Request, Resolution, pin
from .returning import Returning
from .services import Services
from .sessions import HANDLE, Session


class Choosing:
    """Finds the session and the device of a call.

    Args:
        services: Of this host.
        returning: Tells callers who come back after a restart what was kept.
    """

    def __init__(self, services: Services, returning: Returning) -> None:
        self.services = services
        self.returning = returning

    async def bind(self, trail: Trail, parsed: Parsed, env: Environment) -> Session | None:
        """Step 2: the session this call belongs to, if it has one already."""
        selector, caller = parsed.selector, trail.caller
        sessions = self.services.sessions
        opens = parsed.spec.command.opens_session
        bound = ownership.by_lease(self.services, caller, selector)
        if bound is not None:
            await self.returning.judge([bound], env)
        elif selector.session is not None:
            bound = sessions.find(caller, selector.session, selector.tenant)
            await self.returning.judge([bound] if bound is not None else [], env)
            find = sessions.find if opens else sessions.named
            bound = find(caller, selector.session, selector.tenant)
        elif caller.sessionless and not (opens or parsed.spec.command.explicit_device):
            raise InvalidArgument(
                "Nothing ties this call to an earlier one: name its session.",
                param="session",
                expected="the session that open returned",
                hint="Call open first, and give the session of its answer in each call.",
            )
        elif selector.names_a_device() or parsed.spec.command.explicit_device:
            return None  # a session the caller never named is no naming of a device
        elif taken := self._taken_over(caller):
            raise self._ambiguous_session([*taken, *sessions.implicit(caller, selector.tenant)], caller)
        elif implicit := sessions.implicit(caller, selector.tenant):
            await self.returning.judge(implicit, env)
            if not opens and any(session.ended for session in implicit):
                self.returning.refuse_lost(trail)
            fitting = self._in_scope([session for session in implicit if not session.ended], selector, caller)
            if len(fitting) > 1:
                raise self._ambiguous_session(fitting, caller)
            bound = fitting[0] if fitting else None
        self.returning.tell(trail, bound)
        return bound

    def _taken_over(self, caller: Caller) -> list[Session]:
        """Sessions in which a person drives who took a device over in this directory: it is not guessed around them."""
        if "admin" not in caller.scopes:
            return []
        return [
            session
            for session in self.services.sessions.visible(caller)
            if session.name.startswith(PERSON) and session.cwd == caller.cwd
        ]

    def _in_scope(self, implicit: list[Session], selector: DeviceSelector, caller: Caller) -> list[Session]:
        if selector.platform is None and selector.device_target is None:
            return implicit
        inventory = self.services.backends.cached(Environment(caller.cwd, caller.env))
        return [s for s in implicit if inventory.fits(s.device_key, selector)]

    def _ambiguous_session(self, fitting: list[Session], caller: Caller) -> AmbiguousDevice:
        inventory = self.services.backends.cached(Environment(caller.cwd, caller.env))
        candidates = []
        for session in sorted(fitting, key=lambda s: (not s.name.startswith(PERSON), s.device_key)):
            row = inventory.by_key(session.device_key)
            selectors = pin(row, inventory) if row is not None else None
            candidates.append(
                {
                    "key": session.device_key,
                    "name": session.device_name,
                    "session": session.name,
                    "selectors": {"session": session.name}
                    if session.name.startswith(PERSON)
                    else selectors or {"session": session.name},
                }
            )
        persons = fitting[0].name.startswith(PERSON)
        return AmbiguousDevice(
            "You have taken a device over; say which one you mean."
            if persons
            else f"You work with {len(fitting)} devices; say which one.",
            candidates=candidates[:10],
            matches=len(fitting),
        )

    async def resolve(self, trail: Trail, parsed: Parsed, bound: Session | None, env: Environment) -> Resolution:
        """Step 3: exactly one device, or a typed refusal."""
        services = self.services
        descriptor = parsed.spec.command
        only: frozenset[str] | None
        connected = False
        if bound is not None and not parsed.selector.names_a_device():
            backend = bound.device_key.partition(":")[0]
            connected = services.connections.existing(bound.device_key) is not None
            # Listings are apart by the caller's environment: one from which nobody has asked yet knows no device.
            known = services.backends.cached(env).by_key(bound.device_key) is not None
            only = frozenset(() if connected and known else (backend,))
        else:
            key = bound.device_key if bound is not None else None
            only = concerned(parsed.selector, services.backends, key)
        fresh = descriptor.boots or parsed.boots
        inventory = await services.backends.listed(env, only=only, fresh=fresh, sick=False)
        if connected and bound is not None and inventory.by_key(bound.device_key) is None:
            # It is there for callers of another environment (a display, say), and this session has it for life.
            inventory = services.backends.beside(inventory, bound.device_key)
        unnamed = not (descriptor.boots or descriptor.opens_session or parsed.selector.names_a_device())
        if bound.ended if bound is not None else unnamed:
            self.returning.refuse_lost(trail)
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
        return (await resolved(request, inventory, only, services.backends, env))[0]

    def _held(self, caller: Caller, tenant: str | None) -> Mapping[str, Held]:
        """Leases that keep a device from being chosen without being named."""
        own = {session.device_key for session in self.services.sessions.implicit(caller, tenant)}
        leases = self.services.desk.store.leases(self.services.clock.now())
        taken = {lease.device: lease for lease in leases if lease.device not in own}
        return Holdings(taken, lambda lease: Held(until=iso(lease.expires_at)))

    def seat(self, caller: Caller, parsed: Parsed, device: Device, bound: Session | None) -> Session:
        """The session that drives: the bound one, or one made for this device."""
        selector = parsed.selector
        if bound is not None:
            session = bound
            if selector.run_id not in (None, bound.run_id) and bound.run_id is not None:
                raise SelectorConflict(
                    "This session is of another run.",
                    conflicts=[{"session": bound.name, "runId": bound.run_id, "asked": selector.run_id}],
                    hint="Leave out runId, or use a session of that run.",
                )
        else:
            handle = caller.sessionless and selector.session is None
            session = self.services.sessions.open(
                caller,
                device,
                name=HANDLE + secrets.token_urlsafe(18) if handle else selector.session,
                tenant=selector.tenant,
                run_id=selector.run_id,
                made_up=handle,
            )
        self.services.sessions.touch(session)
        return session

    async def admit(self, trail: Trail, parsed: Parsed, device: Device, session: Session) -> None:
        """Step 4: only the one who drives the device is let in; a session made for nothing goes again."""
        try:
            await ownership.admit(self.services, trail, parsed, device, session)
            session.new = False
        except AnydeviceError as error:
            self._hint_own_session(trail.caller, parsed.selector.tenant, error)
            if session.new:
                self.services.sessions.end(session, "never admitted")
            raise

    def _hint_own_session(self, caller: Caller, tenant: str | None, error: AnydeviceError) -> None:
        """A person whose own session of another directory holds the device is told how to go on in it."""
        holder = error.details.get("holder")
        name = holder.get("session") if isinstance(holder, dict) else None
        own = self.services.sessions.find(caller, name, tenant) if name else None
        if own is not None and own.implicit:
            error.hint = f"It is your own session of {own.cwd}: go on there, or repeat with session={name}."
