"""What a conformance run found, as `conformance.json` holds it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ._base import Word

Verdict = Literal[
    "passed", "failed", "honestly_absent", "blocked", "engine_error", "not_run", "not_yet_judged", "experimental"
]
Level = Literal["none", "core", "extended", "partial"]
Ended = Literal["finished", "not_loaded", "died", "stopped"]
"""How a run ended: by itself, never started, with its process, or because it was out of time."""


class Step(Word):
    """One call of a case, as it went."""

    call: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    device: str | None = None
    outcome: str = Field(description="`ok`, or the code of the error.")
    ms: float
    note: str = ""


class CaseResult(Word):
    """What came of one case on one device class."""

    id: str
    must: str
    device_class: str
    bundle: str
    optional: bool = Field(default=False, description="Honest absence is as good as presence.")
    declared: bool
    verdict: Verdict
    reason: str = ""
    seconds: float = 0.0
    steps: list[Step] = Field(default_factory=list)
    evidence: list[str] = Field(default_factory=list, description="Files beside the report.")


class ClassResult(Word):
    """The verdict on one device class."""

    device_class: str
    devices: list[str] = Field(description="Keys of the devices that took part; the first one was driven.")
    facts: dict[str, Any] = Field(default_factory=dict)
    level: Level
    why: str = Field(description="What stands between this and the next level, or what was reached.")
    bundles: dict[str, Literal["passed", "failed", "absent"]] = Field(default_factory=dict)
    totals: dict[Verdict, int] = Field(default_factory=dict)


class Subject(Word):
    """What was judged: a backend, or a lease store."""

    kind: Literal["backend", "store"] = "backend"
    backend: str = Field(description="Name of the backend; of a store, `module:factory`.")
    distribution: str
    version: str
    contract: str
    manifest_hash: str
    distribution_hash: str = Field(default="", description="Over the installed distribution's own list of its files.")
    extra_operations: list[str] = Field(
        default_factory=list, description="Operations of its own, which this catalogue does not judge."
    )


class ConformanceReport(Word):
    """A whole run. A run that left anything of the catalogue out is partial and has no level."""

    contract: str
    suite_version: str
    catalogue_hash: str
    catalogue_size: int
    subject: Subject
    sealed: bool
    partial: bool
    self_reported: bool = Field(
        default=True, description="Run by whoever ships the backend; vendor code ran in the same process."
    )
    level: Level = Field(description="The lowest level of all classes that were asked for.")
    why: str = Field(description="Why it is this one.")
    ended: Ended = "finished"
    started: str = Field(description="UTC, ISO 8601.")
    seconds: float
    host: dict[str, str] = Field(default_factory=dict)
    narrowed_to: str | None = Field(
        default=None, description="The device that was asked for; only its class is judged."
    )
    not_judged: list[str] = Field(default_factory=list, description="Declared classes that were not asked for.")
    passed_through: list[str] = Field(
        default_factory=list, description="Names of variables and settings that were let into the sealed run."
    )
    remarks: list[str] = Field(default_factory=list, description="What is odd about the run itself.")
    output: str = Field(default="", description="The end of what the run printed; untrusted.")
    classes: list[ClassResult]
    cases: list[CaseResult]
