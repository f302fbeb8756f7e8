"""What the programs of a Vega guest print: packages, components, what runs, verdicts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ID = re.compile(r"[A-Za-z][\w-]*(?:\.[\w-]+)+")
_PHASE = re.compile(r".*\.\.\.\s*(?:failed|success)\.?", re.I)
_TITLE = re.compile(r"^title:(?P<title>.*)$", re.M)
_COLUMN = re.compile(r"\S+(?: \S+)*")
FRONT = re.compile(r"foreground|active|resumed|visible", re.I)
BEHIND = re.compile(r"background|inactive|suspended|stopped|paused", re.I)
_BAD = re.compile(r"\bfail(?:ed|ure)?\b|\berror\b", re.I)
_GOOD = re.compile(r"\bsuccess(?:ful|fully)?\b", re.I)
_NO_PACKAGE = re.compile(r"invalid package|not a (?:valid )?package|bad package|corrupt|parse", re.I)
_UNREACHED = re.compile(r"send error|failed to send|not found|no such|unknown|cannot", re.I)


@dataclass(slots=True, frozen=True)
class Running:
    """A component that runs: its id, process, and state in the device's own words."""

    component: str
    pid: int | None = None
    state: str = ""

    @property
    def front(self) -> bool:
        """Whether it is told to be in front."""
        return FRONT.search(self.state) is not None and BEHIND.search(self.state) is None


def ids(text: str) -> list[str]:
    """The ids of a listing: one a line, under a heading or without."""
    found = []
    for row in text.splitlines():
        word = row.strip()
        if _ID.fullmatch(word) and word not in found:
            found.append(word)
    return found


def title(text: str) -> str:
    """The title in what `vpm info` prints of a package; empty where there is none."""
    found = _TITLE.search(text)
    return found["title"].strip() if found else ""


def running(text: str) -> list[Running]:
    """The rows of `vlcm list`, or of a plain list of ids; columns are parted by two spaces or more.

    Which column is which the heading says; where there is none, the first is the component.
    """
    rows = [row for row in text.splitlines() if row.strip()]
    heading: list[str] = []
    found: list[Running] = []
    for row in rows:
        cells = _COLUMN.findall(row.strip())
        words = [cell.casefold() for cell in cells]
        if not heading and len(cells) > 2 and not any(_component(cell) for cell in cells):
            heading = words
            continue
        if heading:
            named = dict(zip(heading, cells, strict=False))
            component = next((_component(named[word]) for word in heading if "app" in word and word in named), "")
            component = component or next((name for cell in cells if (name := _component(cell))), "")
            pid = next((cell for word, cell in named.items() if "pid" in word and cell.isdigit()), "")
            state = next((cell for word, cell in named.items() if "state" in word), "")
        else:
            component, pid, state = _component(cells[0]) if len(cells) == 1 else "", "", ""
        if component:
            found.append(Running(component, int(pid) if pid else None, state))
    return found


def of_app(app: str, rows: Sequence[Running]) -> list[Running]:
    """The rows of an app: its components have its id before their own."""
    return [row for row in rows if row.component == app or row.component.startswith(app + ".")]


def app_of(component: str, packages: Sequence[str]) -> str:
    """The app a component is of: the longest id of a package that it begins with, else all but its last word."""
    fits = [name for name in packages if component == name or component.startswith(name + ".")]
    return max(fits, key=len) if fits else component.rpartition(".")[0] or component


def crashes(text: str, app: str) -> int:
    """How many lines of `vlcm crash-history` are about an app."""
    return sum(1 for row in text.splitlines() if re.search(rf"(?<![\w.]){re.escape(app)}(?!\w)", row))


def installed_well(text: str) -> bool:
    """Whether an installation went well: some phase says so, and none says otherwise."""
    return _GOOD.search(text) is not None and _BAD.search(text) is None


def says_no_more(text: str) -> bool:
    """Whether nothing but the end of phases is told (`Installing/Updating 'x' ...failed`), and no reason."""
    return all(_PHASE.fullmatch(row.strip()) for row in text.splitlines() if row.strip())


def no_package(text: str) -> bool:
    """Whether it went wrong because the file is no package."""
    return _NO_PACKAGE.search(text) is not None


def unreached(text: str) -> bool:
    """Whether a message found nobody who takes it."""
    return _UNREACHED.search(text) is not None


def _component(cell: str) -> str:
    """The id in a cell: bare, or in an address `pkg://ID`."""
    word = cell.removeprefix("pkg://").partition("?")[0].strip()
    return word if _ID.fullmatch(word) else ""
