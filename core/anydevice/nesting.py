"""How deep the arguments of a call may go: what is nested deeper could be neither written down nor compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anydevice_schemas.errors import InvalidArgument

DEEPEST = 64


def is_deep(value: Any, most: int = DEEPEST) -> bool:
    """Whether objects and lists are inside each other more than `most` times. Never recurses itself."""
    level = [value]
    for _ in range(most + 1):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, Mapping):
                inner.extend(one.values())
            elif isinstance(one, (list, tuple)):
                inner.extend(one)
        if not inner:
            return False
        level = inner
    return any(isinstance(one, (Mapping, list, tuple)) for one in level)


def refuse_deep(arguments: Mapping[str, Any]) -> None:
    """Refuses arguments that are nested too deeply.

    Raises:
        InvalidArgument: They are.
    """
    for name, value in arguments.items():
        if isinstance(value, (Mapping, list, tuple)) and is_deep(value):
            raise InvalidArgument(
                "The argument is nested too deeply.",
                param=name[:256],
                expected=f"at most {DEEPEST} objects or lists inside each other",
            )
