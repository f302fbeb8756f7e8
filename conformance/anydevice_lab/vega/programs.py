"""The guest's own programs: how they are started is the same on every guest (`anydevice_lab.guest.programs`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ..guest import programs

if TYPE_CHECKING:
    from .device import VegaDevice  # noqa: F401 - named in a text below

Invocation = programs.Invocation["VegaDevice"]
"""One start of a program of a Vega device."""
Program = Callable[[Invocation], Awaitable[int]]
"""Runs a program; returns its exit status."""
