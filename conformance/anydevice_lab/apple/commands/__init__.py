"""The programs of Xcode and those beside it, by the names they are called."""

from __future__ import annotations

from ..programs import Program


def _programs() -> dict[str, Program]:
    from . import atos, axe, forwards, idb, plutil, xcode

    return {**xcode.PROGRAMS, **plutil.PROGRAMS, **axe.PROGRAMS, **idb.PROGRAMS, **forwards.PROGRAMS, **atos.PROGRAMS}


PROGRAMS: dict[str, Program] = _programs()
"""Every program by its name."""
