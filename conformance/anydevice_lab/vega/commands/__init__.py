"""The guest's programs, by name. Each is an async function of an `Invocation` that returns an exit status."""

from __future__ import annotations

from ..programs import Program
from . import inputs, lifecycle, logs, packages, processes, system

PROGRAMS: dict[str, Program] = {
    **packages.PROGRAMS,
    **lifecycle.PROGRAMS,
    **inputs.PROGRAMS,
    **logs.PROGRAMS,
    **processes.PROGRAMS,
    **system.PROGRAMS,
}
"""Every program that is the guest's own; all others are this host's."""
