"""What `aa` says: an ability started or not, and which mission is in front. Its exit status is 0 either way."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

NO_ABILITY, NO_PACKAGE, NO_MATCH, LOCKED = 10104001, 10104002, 10103101, 10106102
"""Codes of a start that failed: no such ability, no such app, nothing takes it, the screen is locked."""
_CODE = re.compile(r"Error Code:\s*(\d+)\s+Error Message:\s*(.*)")
_MISSION = re.compile(r"^[ \t]*Mission ID #(\d+)\s+mission name #\[(.*?)\]", re.M)
_STATE = re.compile(r"^[ \t]*state #(\w+)", re.M)
_TYPE = re.compile(r"^[ \t]*ability type \[(\w+)\]", re.M)
_BUNDLE = re.compile(r"^[ \t]*bundle name \[(.*?)\]", re.M)
_MAIN = re.compile(r"^[ \t]*main name \[(.*?)\]", re.M)
_TOTAL = re.compile(r"^TotalTime:\s*(\d+)", re.M)
STARTED: Final = "start ability successfully."
STOPPED: Final = "force stop process successfully."


@dataclass(slots=True, frozen=True)
class Started:
    """What came of a start: done, or the code it failed with (0: none was told); milliseconds where they are told."""

    ok: bool
    code: int = 0
    ms: int | None = None
    said: str = ""


@dataclass(slots=True, frozen=True)
class Mission:
    """A mission: its app, its ability, and whether it is in front."""

    app: str
    ability: str
    front: bool


def started(text: str) -> Started:
    """Judges `aa start`: done is what says so on a line of its own."""
    lines = [line.strip() for line in text.splitlines()]
    failed = _CODE.search(text)
    if failed is not None or any(line.startswith("error:") for line in lines):
        return Started(False, int(failed[1]) if failed else 0, said=text.strip()[:1000])
    ms = _TOTAL.search(text)
    return Started(STARTED in lines, 0, int(ms[1]) if ms else None, text.strip()[:1000])


def stopped(text: str) -> Started:
    """Judges `aa force-stop`, which says the same whether the app ran or not."""
    failed = _CODE.search(text)
    done = STOPPED in [line.strip() for line in text.splitlines()]
    return Started(done and failed is None, int(failed[1]) if failed else 0, said=text.strip()[:1000])


def missions(text: str) -> list[Mission]:
    """Reads `aa dump -l`. In front is what says `state #FOREGROUND` itself; that its app's process is, says nothing."""
    found = []
    starts = list(_MISSION.finditer(text))
    for place, start in enumerate(starts):
        end = starts[place + 1].start() if place + 1 < len(starts) else len(text)
        block = text[start.start() : end]
        state, kind = _STATE.search(block), _TYPE.search(block)
        bundle, main = _BUNDLE.search(block), _MAIN.search(block)
        named = start[2].lstrip("#").split(":")
        app = bundle[1] if bundle else named[0]
        ability = main[1] if main else named[-1]
        page = kind is None or kind[1] == "PAGE"
        found.append(Mission(app, ability, page and state is not None and state[1] == "FOREGROUND"))
    return found


def front(text: str) -> Mission | None:
    """The mission in front; None where none is (the home screen is)."""
    return next((one for one in missions(text) if one.front), None)
