"""A case of the store catalogue."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .trial import StoreTrial

CLASS = "store"
"""The one class of things this catalogue judges."""

Offer = Literal["durable", "threads", "processes"]
StoreTrying = Callable[["StoreTrial"], None]


@dataclass(frozen=True, slots=True)
class StoreCase:
    """One case.

    Attributes:
        id: Stable: `store.what-must-be-true`.
        must: The sentence a store is held to.
        needs: What the store has to offer for it; also its bundle. None = every store (core).
        seconds: What it may take.
    """

    id: str
    must: str
    run: StoreTrying = field(compare=False)
    needs: Offer | None = None
    seconds: float = 30.0
    optional: bool = False
    classes: frozenset[str] = frozenset({CLASS})

    @property
    def bundle(self) -> str:
        """`core`, or the bundle that the store may honestly lack."""
        return self.needs or "core"


_CASES: dict[str, StoreCase] = {}


def case(
    name: str, must: str, *, needs: Offer | None = None, seconds: float = 30.0
) -> Callable[[StoreTrying], StoreTrying]:
    """Enters the function below into the catalogue as `store.<name>`."""

    def enter(run: StoreTrying) -> StoreTrying:
        new = StoreCase(f"store.{name}", must, run, needs, seconds)
        if new.id in _CASES or "MUST" not in must:
            raise ValueError(f"{new.id} is there already, or its sentence says no MUST")
        _CASES[new.id] = new
        return run

    return enter


def store_cases() -> list[StoreCase]:
    """Every case, in the order it is run."""
    from . import fire, many, story, verbs

    assert fire and many and story and verbs
    return [_CASES[name] for name in sorted(_CASES)]


def store_catalogue_hash(cases: Sequence[StoreCase]) -> str:
    """A hash over what every case says and does."""
    digest = hashlib.sha256()
    for one in cases:
        digest.update("\0".join([one.id, one.must, one.bundle]).encode())
        digest.update(inspect.getsource(one.run).encode())
    return digest.hexdigest()[:16]
