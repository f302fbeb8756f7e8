"""The device's programs, by name. Each is an async function of an `Invocation` that returns an exit status."""

from __future__ import annotations

from ..programs import Program
from . import abilities, bundles, hidumper, hilog, looking, media, system, tokens, uinput, uitest

PROGRAMS: dict[str, Program] = {
    **system.PROGRAMS,
    **abilities.PROGRAMS,
    **bundles.PROGRAMS,
    **hidumper.PROGRAMS,
    **hilog.PROGRAMS,
    **looking.PROGRAMS,
    **media.PROGRAMS,
    **tokens.PROGRAMS,
    **uinput.PROGRAMS,
    **uitest.PROGRAMS,
}
"""Every program that is the device's own; all others are this host's."""
