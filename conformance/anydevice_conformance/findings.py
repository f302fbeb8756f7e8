"""What a sealed run told, and what the parent makes of it: the rows of the report and the level of each class.

Nothing the run says about itself is taken on trust where the parent can know better: sentence and bundle of a case come
from the parent's own catalogue, levels are judged here, and what is missing, unknown, said twice or cut off is noticed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import ValidationError

from anydevice_schemas.report import CaseResult, ClassResult, Ended, Level, Verdict

from .case import CORE
from .verdict import judge_class

LEAVES_NOTHING = "run.leaves-nothing-behind"
LEAVES_NOTHING_MUST = (
    "When a run is over and everything was closed, the backend MUST have left no process behind and MUST let the "
    "run's own process end."
)
LEVELS: tuple[Level, ...] = ("none", "partial", "core", "extended")
"""From the lowest to the highest."""


class Judged(Protocol):
    """What findings have to know of a case; cases of backends and of stores alike have it."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def must(self) -> str:
        """Its sentence."""
        ...

    @property
    def bundle(self) -> str:
        """Its bundle."""
        ...

    @property
    def optional(self) -> bool:
        """Whether honest absence is as good as presence."""
        ...

    @property
    def classes(self) -> frozenset[str]:
        """What it concerns."""
        ...

    @property
    def seconds(self) -> float:
        """Its deadline."""
        ...


@dataclass
class Findings:
    """Everything a run told so far.

    Attributes:
        cases: What was to be run, in order: the parent's own copy.
        classes: Device classes that are to be judged, in order.
        hash, size: Of the whole catalogue, as the parent has it.
        partial: Something of the catalogue was left out on purpose.
        stopped: Why the parent ended the run; empty when it did not.
    """

    cases: Sequence[Judged]
    classes: list[str]
    hash: str
    size: int
    partial: bool = False
    run_pid: int | None = None
    loaded: dict[str, Any] | None = None
    pairs: dict[str, dict[str, Any]] = field(default_factory=dict)
    trying: tuple[str, str] | None = None
    rows: dict[tuple[str, str], CaseResult] = field(default_factory=dict)
    finished: bool = False
    error: str = ""
    status: int | None = None
    ended: bool = False
    survivors: list[dict[str, Any]] | None = None
    saw_everything: bool = True
    lingered: bool = False
    stopped: str = ""
    oddities: list[str] = field(default_factory=list)

    # --- listening ---

    def take(self, line: bytes) -> str:
        """Takes one line of the run's events; returns the event's word, empty for what is none."""
        try:
            event = json.loads(line)
            word = str(event["event"])
            handler = getattr(self, f"_on_{word}")
            handler(event)
        except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
            self._odd(f"something that is no event was told: {type(error).__name__}")
            return ""
        return word

    def _odd(self, what: str) -> None:
        if what not in self.oddities and len(self.oddities) < 20:
            self.oddities.append(what)

    def _on_started(self, event: dict[str, Any]) -> None:
        self.run_pid = int(event["pid"])

    def _on_catalogue(self, event: dict[str, Any]) -> None:
        if (event["hash"], event["size"]) != (self.hash, self.size):
            self._odd(f"the run's catalogue was another one: {str(event['hash'])[:16]}, {event['size']} cases")

    def _on_loaded(self, event: dict[str, Any]) -> None:
        self.loaded = dict(event["record"])

    def _on_pairs(self, event: dict[str, Any]) -> None:
        self.pairs = {str(pair["class"]): dict(pair) for pair in event["pairs"]}

    def _on_starting(self, event: dict[str, Any]) -> None:
        self.trying = (str(event["class"]), str(event["case"]))

    def _on_row(self, event: dict[str, Any]) -> None:
        row = CaseResult.model_validate(event["row"])
        key = (row.device_class, row.id)
        case = next((case for case in self.cases if case.id == row.id), None)
        if case is None or row.device_class not in case.classes:
            self._odd(f"a result was told for a case that was not asked for: {row.id[:80]}")
        elif key in self.rows:
            self._odd(f"two results were told for {row.id}")
        elif key != self.trying:
            self._odd(f"a result was told for {row.id}, which had not begun")
        else:
            self.rows[key] = row.model_copy(
                update={"must": case.must, "bundle": case.bundle, "optional": case.optional}
            )
        self.trying = None

    def _on_error(self, event: dict[str, Any]) -> None:
        self.error = str(event["reason"])[:1000]

    def _on_finished(self, event: dict[str, Any]) -> None:
        self.finished = True

    def _on_ended(self, event: dict[str, Any]) -> None:
        self.ended, self.status = True, event["status"]

    def _on_survivors(self, event: dict[str, Any]) -> None:
        self.survivors = [dict(process) for process in event["processes"]]
        self.saw_everything = bool(event["complete"])

    # --- judging ---

    @property
    def how(self) -> Ended:
        """How the run ended."""
        if self.stopped:
            return "stopped"
        if self.loaded is not None and self.loaded["state"] != "ready":
            return "not_loaded"
        return "died" if self.cut else "finished"

    @property
    def cut(self) -> str:
        """Why the run did not come to its end; empty when it did."""
        where = f" in the middle of {self.trying[1]} on {self.trying[0]}" if self.trying else ""
        if self.stopped:
            return self.stopped
        if self.loaded is not None and self.loaded["state"] != "ready":
            record = self.loaded
            return f"the backend cannot be loaded ({record['state']}): {record.get('reason', '')}"
        if not self.ended and not self.lingered:
            return f"the process that keeps the run was ended{where or self.stage}"
        if self.finished:
            return ""
        if self.error:
            return f"the run ended early{where or self.stage}: {self.error}"
        status = self.status or 0
        how = f"by signal {-status}" if status < 0 else f"with exit status {status}"
        return f"the process of the run ended {how}{where or self.stage}"

    @property
    def stage(self) -> str:
        """What the run was about while no case was being tried, as the end of a sentence."""
        if self.loaded is None:
            return " while the backend was loaded"
        if not self.pairs:
            return " while its devices were listed and made ready"
        return " after the last case" if len(self.rows) else ""

    def judge(self) -> tuple[list[ClassResult], list[CaseResult]]:
        """The verdict on every class, and every row of the report."""
        left_out = sum((name, case.id) not in self.rows for name, case in self._expected())
        if left_out and not self.cut:
            self._odd(f"it said that it was finished and left {left_out} cases out")
        verdicts, rows = [], []
        for name in self.classes:
            mine = [self._row(case, name) for case in self.cases if name in case.classes]
            mine.append(self._leaves_nothing(name))
            pair = self.pairs.get(name, {})
            expected = [row.id for row in mine]
            verdict = judge_class(name, pair.get("devices", []), mine, expected, partial=self.partial)
            update: dict[str, Any] = {"facts": pair.get("facts", {})}
            if pair.get("blocked"):
                update |= {"level": "none", "why": str(pair["blocked"])[:1000]}
            if self.cut or self.oddities:
                update |= {"level": "none", "why": self.cut or f"the run cannot be trusted: {self.oddities[0]}"}
            verdicts.append(verdict.model_copy(update=update))
            rows += mine
        return verdicts, rows

    def _expected(self) -> list[tuple[str, Judged]]:
        return [(name, case) for name in self.classes for case in self.cases if name in case.classes]

    def _row(self, case: Judged, device_class: str) -> CaseResult:
        told = self.rows.get((device_class, case.id))
        if told is not None:
            return told
        verdict: Verdict = "failed" if self.cut and self.trying == (device_class, case.id) else "not_run"
        return CaseResult(
            id=case.id,
            must=case.must,
            device_class=device_class,
            bundle=case.bundle,
            optional=case.optional,
            declared=False,
            verdict=verdict,
            reason=self.cut[:1000],
        )

    def _leaves_nothing(self, device_class: str) -> CaseResult:
        verdict: Verdict = "passed"
        reason = ""
        if self.lingered:
            verdict, reason = "failed", "the run was over, yet its process did not end: a thread keeps it alive"
        elif not self.ended or self.stopped or self.survivors is None:
            verdict, reason = "not_run", "the run did not come to its end by itself"
        elif self.survivors:
            names = ", ".join(f"{process['program']} ({process['pid']})" for process in self.survivors[:5])
            verdict, reason = "failed", f"{len(self.survivors)} processes outlived the run and were ended: {names}"
        return CaseResult(
            id=LEAVES_NOTHING,
            must=LEAVES_NOTHING_MUST,
            device_class=device_class,
            bundle=CORE,
            declared=True,
            verdict=verdict,
            reason=reason[:1000],
        )

    def overall(self, verdicts: Sequence[ClassResult], not_judged: Sequence[str]) -> tuple[Level, str]:
        """The level of everything that was asked for, and why it is this one."""
        if self.cut:
            return "none", self.cut
        if not verdicts:
            return "none", "no device class was judged"
        lowest = min(verdicts, key=lambda verdict: LEVELS.index(verdict.level))
        rest = f"; not judged: {', '.join(not_judged)}" if not_judged else ""
        if all(verdict.level == lowest.level for verdict in verdicts) and len(verdicts) > 1:
            says = f"on all {len(verdicts)} classes"
            return lowest.level, (
                f"{lowest.level} {says}" if lowest.level in ("core", "extended") else lowest.why
            ) + rest
        return lowest.level, f"{lowest.device_class}: {lowest.why}{rest}"
