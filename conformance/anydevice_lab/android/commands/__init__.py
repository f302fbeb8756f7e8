"""The device's programs, by name. Each is an async function of an `Invocation` that returns an exit status."""

from __future__ import annotations

from ..programs import Program
from . import (
    activities,
    cmd,
    dumpsys,
    input,
    looking,
    network,
    packages,
    processes,
    providers,
    recording,
    system,
    uiautomator,
)

PROGRAMS: dict[str, Program] = {
    **system.PROGRAMS,
    **processes.PROGRAMS,
    **network.PROGRAMS,
    **input.PROGRAMS,
    **packages.PROGRAMS,
    **activities.PROGRAMS,
    **providers.PROGRAMS,
    **cmd.PROGRAMS,
    **dumpsys.PROGRAMS,
    **uiautomator.PROGRAMS,
    **looking.PROGRAMS,
    **recording.PROGRAMS,
}
"""Every program that is the device's own; all others are this host's."""
