"""The base of all capabilities, and the refusal of what a driver does not have."""

from __future__ import annotations

from typing import ClassVar

from anydevice_schemas.errors import Unsupported


def undeclared(capability: str, method: str) -> Unsupported:
    """The refusal of an operation that a driver does not have."""
    return Unsupported(
        f"This device has no operation {capability}.{method}.",
        operation=f"{capability}.{method}",
        alternatives=[],
    )


class Capability:
    """Base of all capabilities. `name` is the attribute of the driver it hangs on.

    Implement the methods your platform has and declare exactly those in the manifest; the others keep these
    bodies, which refuse by type.
    """

    name: ClassVar[str]
