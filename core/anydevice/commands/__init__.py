"""The commands every platform has, written once over small driver capabilities.

Each module registers its commands by the same door a plugin uses; `all_commands` only collects them.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from ..catalogue import CommandSpec

MODULES = (
    "act", "apps", "asking", "audio", "clipboard", "comparing", "containers", "erasing", "events", "filing", "focusing",
    "forward", "gestures", "install", "lease", "lifecycle", "logs", "look", "move", "navigate", "observe", "ocr",
    "perf", "picture", "record", "remote", "script", "settings", "shell", "text", "transfer", "waiting", "window",
)  # fmt: skip
"""The modules that hold them."""


def all_commands() -> list[CommandSpec]:
    """Every command core brings, each call with specs of its own: what one catalogue changes stays in it."""
    modules = [import_module(f".{name}", __name__) for name in MODULES]
    return [replace(value) for module in modules for value in vars(module).values() if isinstance(value, CommandSpec)]
