"""Every operation of the contract, one case each: declared must be there, undeclared must be refused by type."""

from __future__ import annotations

import inspect

from anydevice.driver import CAPABILITIES

from ..case import Case, add
from ..trial import Trial


def _case(operation: str) -> Case:
    async def is_there(t: Trial) -> None:
        driver = await t.driver()
        down = driver.unavailable()
        capability, _, method = operation.partition(".")
        reason = down.get(operation) or down.get(capability)
        found = getattr(getattr(driver, capability, None), method, None)
        t.require(callable(found), f"{operation} is declared and the driver has no such method")
        base = next(kind for kind in CAPABILITIES if kind.name == capability)
        own = getattr(type(getattr(driver, capability)), method, None)
        t.require(own is not getattr(base, method), f"{operation} is declared and not implemented")
        t.require(reason is None, f"{operation} is declared and down: {reason}")

    return Case(
        id=f"operation.{operation}",
        must=f"{operation} MUST be offered by the driver where it is declared, and refused by type where it is not.",
        run=is_there,
        needs=(operation,),
        optional=True,
        screen=None,
        seconds=20.0,
    )


for _capability in CAPABILITIES:
    for _name, _member in inspect.getmembers(_capability, inspect.iscoroutinefunction):
        add(_case(f"{_capability.name}.{_name}"))
