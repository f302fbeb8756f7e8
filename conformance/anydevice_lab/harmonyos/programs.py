"""The device's own programs: how they are started is the same on every guest (`anydevice_lab.guest.programs`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ..guest import programs

if TYPE_CHECKING:
    from .device import HarmonyDevice  # noqa: F401 - named in a text below

Invocation = programs.Invocation["HarmonyDevice"]
"""One start of a program of a device of this lab."""
Program = Callable[[Invocation], Awaitable[int]]
"""Runs a program; returns its exit status."""
