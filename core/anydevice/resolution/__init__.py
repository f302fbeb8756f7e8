"""Which device: selectors and an inventory in, exactly one device or a typed refusal out. Pure.

    resolve(Request(selector=..., bound=..., held=...), Inventory(devices, platforms, missing)) -> Resolution

All selectors must agree on one device. A `device` is a full id or `backend:id`, else a name; a name that
several devices share means the only ready one among them. Without a naming selector the session's device
acts, else the only usable one in scope. Whatever remains open is an error whose suggestions were tried.
Nothing depends on the order in which devices were discovered.
"""

from __future__ import annotations

from .candidates import pin
from .index import Missing
from .inventory import Inventory
from .request import Binding, Default, Holdings, LockMode, Request
from .resolve import Resolution, resolve

__all__ = [
    "Binding",
    "Default",
    "Holdings",
    "Inventory",
    "LockMode",
    "Missing",
    "Request",
    "Resolution",
    "pin",
    "resolve",
]
