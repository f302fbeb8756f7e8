"""The hooks a plugin may implement, as pluggy specifications.

A plugin is a module or object found under the entry-point group `anydevice.plugins`. It implements any of the
functions below with `@hookimpl`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from .catalogue import CommandSpec
    from .facade import Facade

PROJECT = "anydevice"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class Hooks:
    """What core asks of its plugins."""

    @hookspec
    def anydevice_commands(self) -> Sequence[CommandSpec]:  # type: ignore[empty-body]
        """Commands the plugin adds to the catalogue. A name that is taken is refused, never replaced."""

    @hookspec
    def anydevice_facades(self) -> Sequence[Facade]:  # type: ignore[empty-body]
        """Facades the plugin adds to the daemon."""

    @hookspec
    def anydevice_recorded(self, record: dict[str, Any]) -> None:
        """Called after every call with its journal record. Must be quick; an exception is logged and dropped."""


def new_manager() -> pluggy.PluginManager:
    """A plugin manager that knows the hooks above and nothing else."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Hooks)
    return manager
