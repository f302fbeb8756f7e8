"""Ownership: one driver at a time.

`machine` decides (pure functions), a `LeaseStore` keeps, and the `Desk` admits: every command on a device passes
it, not only the first one.
"""

from .desk import Admission, Desk
from .machine import Decision, Granted, Refusal, Request, decide
from .memory import MemoryStore
from .store import LeaseEvent, LeaseStore

__all__ = [
    "Admission",
    "Decision",
    "Desk",
    "Granted",
    "LeaseEvent",
    "LeaseStore",
    "MemoryStore",
    "Refusal",
    "Request",
    "decide",
]
