"""A case of the catalogue: what must be true, what has to be declared for it, and the function that tries it."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anydevice.plans import declared as operation_declared
from anydevice.policy import applies
from anydevice_schemas import Command, Device, Manifest

if TYPE_CHECKING:
    from .trial import Trial

EVERY_CLASS = frozenset({"phone", "tablet", "tv", "wearable", "desktop", "browser", "board"})

CORE = "core"
"""The bundle that every backend must pass for any level at all."""

Trying = Callable[["Trial"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    Attributes:
        id: Stable: `area.what-must-be-true`. Never reused for something else.
        must: The sentence a backend is held to, with MUST in it.
        command: The command that has to be offered; None when core alone is asked.
        sample: Arguments of a typical call of it; they choose the plan, and are what is called when the command is
            not declared and must be refused.
        needs: Operations that have to be declared besides.
        sees: What trees have to tell for it (a word of `Unseen`); where the platform does not, it is honestly absent.
        classes: Device classes it concerns.
        bundle: `core`, or the extended bundle it belongs to.
        since: Contract version it entered in.
        optional: Honest absence is as good as presence (a case of the truth table itself).
        mutates: The other device is checked to be untouched afterwards.
        screen: Practice screen the device shows when the case begins; None = nothing is opened.
        seconds: Deadline.
    """

    id: str
    must: str
    run: Trying = field(compare=False)
    command: str | None = None
    sample: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    sees: str = ""
    classes: frozenset[str] = EVERY_CLASS
    bundle: str = CORE
    since: str = "1.0"
    optional: bool = False
    mutates: bool = False
    screen: str | None = "home"
    seconds: float = 40.0

    def declared(self, manifest: Manifest, device: Device, command: Command | None) -> bool:
        """Whether the backend declares everything the case needs, for this device."""
        if any(not operation_declared(manifest, device, op) for op in self.needs):
            return False
        if command is None or not command.plans:
            return True
        return any(
            applies(plan.when, self.sample) and all(operation_declared(manifest, device, op) for op in plan.operations)
            for plan in command.plans
        )

    def unseen(self, manifest: Manifest) -> bool:
        """Whether it is about something that the platform's trees do not tell."""
        return bool(self.sees) and self.sees in manifest.unseen

    def experimental(self, manifest: Manifest, device: Device, command: Command | None) -> bool:
        """Whether an operation it needs, or of the plan that carries its command out, is declared as experimental."""
        wanted = set(self.needs)
        for plan in command.plans if command is not None else ():
            if applies(plan.when, self.sample) and all(
                operation_declared(manifest, device, op) for op in plan.operations
            ):
                wanted.update(plan.operations)
                break
        return any(op in manifest.operations and manifest.operations[op].experimental for op in wanted)


_CASES: dict[str, Case] = {}


def case(id: str, must: str, **more: Any) -> Callable[[Trying], Trying]:
    """Enters the function below into the catalogue; see `Case` for what the arguments mean."""

    def enter(run: Trying) -> Trying:
        add(Case(id=id, must=must, run=run, **more))
        return run

    return enter


def add(new: Case) -> None:
    """Enters a case.

    Raises:
        ValueError: Its id is taken, or its sentence has no MUST.
    """
    if new.id in _CASES:
        raise ValueError(f"case {new.id} is there already")
    if "MUST" not in new.must:
        raise ValueError(f"case {new.id}: the sentence says no MUST")
    _CASES[new.id] = new


def catalogue() -> list[Case]:
    """Every case, in the order it is run: by id."""
    from . import catalogue as rooms

    rooms.load()
    return [_CASES[name] for name in sorted(_CASES)]


def catalogue_hash(cases: list[Case]) -> str:
    """A hash over what every case says and does; two runs with one hash judged by the same rules."""
    digest = hashlib.sha256()
    for one in cases:
        words = [one.id, one.must, one.command or "", one.bundle, one.since, *sorted(one.classes), *one.needs, one.sees]
        digest.update("\0".join(words).encode())
        digest.update(inspect.getsource(one.run).encode())
    return digest.hexdigest()[:16]
