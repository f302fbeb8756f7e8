"""A lease store that lives as long as its process."""

from __future__ import annotations

from .events import Step
from .state import LeaseState, Rules
from .store import StateStore


class MemoryStore(StateStore):
    """`LeaseStore` in memory. `epoch` must rise whenever a new store takes over from an earlier one."""

    offers = ("threads",)

    def __init__(self, *, epoch: int = 1, rules: Rules | None = None) -> None:
        super().__init__(LeaseState(epoch=epoch, rules=rules or Rules()))

    def _keep(self, step: Step) -> None:
        """Nothing but the state itself."""
