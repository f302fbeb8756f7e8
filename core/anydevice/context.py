"""What a command's handler works with: its device, its session, its deadline, and the services around it."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

import anyio
import anyio.to_thread

from anydevice_schemas import Answer, Artefact, Caller, Device, Plan, Tree, tree_faults
from anydevice_schemas.errors import (
    AnydeviceError,
    BackendBroken,
    CallTimeout,
    InvalidArgument,
    OutcomeUnknown,
    UpstreamUnavailable,
)

from .catalogue import CommandSpec, Parsed
from .discovery import describe
from .driver import READ_ONLY, Backend, Capability, Driver, Environment, Image, Screen, TreeScope
from .services import Services
from .sessions import Session

C = TypeVar("C", bound=Capability)

PREPARING = frozenset({"elements.reveal", "elements.focus", "keys.dismiss"})
"""Operations that only make ready for what was asked for; a call that ends after one of them may be made again."""

Progress = Callable[[float | None, str], Awaitable[None]]
Runner = Callable[[str, Mapping[str, Any]], Awaitable[Answer]]


@dataclass(slots=True)
class Outcome:
    """What a handler returns.

    Attributes:
        data: The command's own result; text that came from the device is data.
        verified: True = read back and seen, False = could not be read back with certainty, None = only reads.
        method: How it acted.
        truncated: Everything that was cut.
        artefacts: Files made.
        instead: Another command's answer that is to be passed on as it is.
    """

    data: dict[str, Any] = field(default_factory=dict)
    verified: bool | None = None
    method: str | None = None
    truncated: list[str] = field(default_factory=list)
    artefacts: list[Artefact] = field(default_factory=list)
    instead: Answer | None = None


class _Recorded(Generic[C]):
    """A capability whose calls are counted, timed and translated: only typed errors come out of a driver."""

    __slots__ = ("_capability", "_context", "_name")

    def __init__(self, context: Context, capability: C) -> None:
        self._context = context
        self._capability = capability
        self._name = type(capability).name

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        operation = f"{self._name}.{method}"
        call = getattr(self._capability, method)
        return lambda *args, **kwargs: self._context._operate(operation, call, args, kwargs)


class Context:
    """One running command.

    Attributes:
        parsed: The command, its typed inputs, selectors and switches.
        caller: Who called, set by the transport.
        services: Everything core has (inventory, sessions, policy, …).
        session, device, driver, plan: Set for commands on a device; a host command has none of them.
        backend: For a host command that a backend brings: that backend.
        notices: What the answer must tell besides.
        sent: Operation that changes something and has not been answered.
        done: Operation that changed something and was answered; what may be lost after it is only the read-back.
    """

    def __init__(
        self,
        *,
        parsed: Parsed,
        caller: Caller,
        services: Services,
        runner: Runner,
        deadline: float,
        progress: Progress | None = None,
        session: Session | None = None,
        device: Device | None = None,
        driver: Driver | None = None,
        plan: Plan | None = None,
        backend: Backend | None = None,
    ) -> None:
        self.parsed = parsed
        self.caller = caller
        self.services = services
        self.run = runner
        self.deadline_at = anyio.current_time() + deadline
        self.session = session
        self.device = device
        self.driver = driver
        self.plan = plan
        self.backend = backend
        self.notices: list[dict[str, Any]] = []
        self.sent: str | None = None
        self.done: str | None = None
        self.trips = 0
        self.waited = 0.0
        self.trace: list[dict[str, Any]] | None = [] if parsed.switches.debug else None
        self._progress = progress

    # --- what was asked ---

    @property
    def spec(self) -> CommandSpec:
        """The command that runs."""
        return self.parsed.spec

    @property
    def level(self) -> str:
        """How much the answer should say: digest, default or full."""
        return self.parsed.switches.response_level

    @property
    def environment(self) -> Environment:
        """The caller's working directory and allow-listed variables."""
        return Environment(self.caller.cwd, self.caller.env)

    @property
    def here(self) -> Session:
        """The session; only commands on a device have one."""
        assert self.session is not None, "a host command has no session"
        return self.session

    @property
    def device_key(self) -> str | None:
        """Key of the device, for errors."""
        return self.device.key if self.device is not None else None

    # --- time ---

    def remaining(self) -> float:
        """Seconds until the call's deadline."""
        return max(0.0, self.deadline_at - anyio.current_time())

    async def pause(self, seconds: float) -> None:
        """Waits, and counts it as waiting."""
        self.waited += seconds
        await anyio.sleep(seconds)

    async def progress(self, done: float | None, message: str) -> None:
        """Tells the caller how far it is (`done` from 0 to 1, or None); cheap when nobody listens."""
        if self._progress is not None:
            await self._progress(done, message)

    def notice(self, kind: str, message: str, **more: Any) -> None:
        """Adds something the answer must tell."""
        self.notices.append({"kind": kind, "message": message, **more})

    # --- the device ---

    def use(self, kind: type[C]) -> C:
        """The driver's capability, with calls counted and only typed errors coming out.

        Raises:
            Unsupported: The driver has none.
        """
        assert self.driver is not None, "a host command has no driver"
        return cast(C, _Recorded(self, self.driver.capability(kind)))

    async def _operate(self, operation: str, call: Callable[..., Awaitable[Any]], args: Any, kwargs: Any) -> Any:
        self.trips += 1
        changes = operation not in READ_ONLY
        if changes:
            self.sent = operation
        started = time.perf_counter() if self.trace is not None else 0.0
        try:
            result = await call(*args, **kwargs)
        except AnydeviceError as error:
            if error.device is None:
                error.device = self.device_key
            if isinstance(error, CallTimeout) and self.done is not None and not changes:
                raise self.out_of_time() from error
            raise
        except TimeoutError:
            raise self.out_of_time() from None
        except Exception as error:
            raise BackendBroken(
                f"The operation {operation} failed in the backend.",
                backend=self.device.backend if self.device is not None else "unknown",
                reason=describe(error),
                sent=changes,
                device=self.device_key,
            ) from error
        finally:
            if self.trace is not None:
                took = (time.perf_counter() - started) * 1000
                self.trace.append({"operation": operation, "ms": round(took, 2)})
        if changes and result is not None:  # who returns nothing has not said that it is done
            self.sent = None
            if operation not in PREPARING:
                self.done = operation
        return result

    def out_of_time(self, after: float | None = None) -> AnydeviceError:
        """The error for a call that ran out of time here and now: nothing that may have taken effect is forgotten."""
        if self.sent is None and self.done is not None:
            return OutcomeUnknown(
                "The device did it, and then did not answer in time; what came of it is not known.",
                sent=self.done,
                reason="no reply in time after it",
                device=self.device_key,
            )
        return self.timed_out(self.sent, after)

    def timed_out(self, sent: str | None, after: float | None = None) -> AnydeviceError:
        """The error for a call that ran out of time, depending on whether something was on its way."""
        if sent is not None:
            return OutcomeUnknown(
                "The device did not say whether it did it.",
                sent=sent,
                reason="no reply in time",
                device=self.device_key,
            )
        return CallTimeout(
            f"{self.spec.command.name} did not end in time.",
            after=round(after if after is not None else self.spec.command.deadline, 3),
            device=self.device_key,
        )

    async def tree(self, scope: TreeScope | None = None) -> Tree:
        """A fresh look at the screen, checked, with refs of this session.

        Raises:
            BackendBroken: The driver returned something that is no tree.
        """
        tree = await self.use(Screen).tree(scope or TreeScope())
        faults = tree_faults(tree.nodes) if isinstance(tree, Tree) else [f"a {type(tree).__name__}"]
        if faults:
            raise BackendBroken(
                "The backend returned a tree that is not sound.",
                backend=self.device.backend if self.device is not None else "unknown",
                reason="; ".join(faults),
                device=self.device_key,
            )
        return self.here.refs.stamp(tree)

    async def save_image(self, image: Image, stem: str) -> Artefact:
        """Stores a picture as an artefact.

        Raises:
            UpstreamUnavailable: It cannot be stored: the disk is full, or the folder cannot be written.
        """
        try:
            return await anyio.to_thread.run_sync(
                lambda: self.services.artefacts.save(image.data, image.mime, stem=stem)
            )
        except OSError as error:
            raise UpstreamUnavailable(
                f"The picture was taken and cannot be stored: {os.strerror(error.errno or errno.EIO)}.",
                upstream="artefacts",
                enable_hint="Make room on the disk, or let the daemon's user write the folder artefacts of its home.",
                device=self.device_key,
            ) from error

    def bad_argument(self, param: str, problem: str, expected: str) -> InvalidArgument:
        """The error for an argument that the schema alone could not judge."""
        name = self.spec.command.name
        return InvalidArgument(
            f"{name}: {param}: {problem}.",
            param=param,
            expected=expected,
            errors=[{"param": param, "problem": problem, "expected": expected}],
        )
