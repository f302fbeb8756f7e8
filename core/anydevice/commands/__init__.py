"""The commands every platform has, written once over small driver capabilities.

Each module registers its commands by the same door a plugin uses; `all_commands` only collects them.
"""

from __future__ import annotations

from ..catalogue import CommandSpec


def all_commands() -> list[CommandSpec]:
    """Every command core brings."""
    from . import act, events, lifecycle, look, move, observe, script, text, waiting

    modules = (act, events, lifecycle, look, move, observe, script, text, waiting)
    return [value for module in modules for value in vars(module).values() if isinstance(value, CommandSpec)]
