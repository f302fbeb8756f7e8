"""Ownership: one driver at a time.

state, events   what is known, and what can happen
machine         who may drive, as a pure function; `draft` is one step of it
fairness        whose turn it is; `refusals` says why somebody may not drive
store           the five verbs over a state; `memory` and `sqlite` keep it
desk            admission: every command on a device passes it, not only the first one
"""

from .desk import Admission, Desk
from .events import LeaseEvent, Request, Step
from .machine import advance, live, step
from .memory import MemoryStore
from .state import LeaseState, Mark, Rules, Ticket, Wish
from .store import LeaseStore, StateStore

__all__ = [
    "Admission",
    "Desk",
    "LeaseEvent",
    "LeaseState",
    "LeaseStore",
    "Mark",
    "MemoryStore",
    "Request",
    "Rules",
    "StateStore",
    "Step",
    "Ticket",
    "Wish",
    "advance",
    "live",
    "step",
]
