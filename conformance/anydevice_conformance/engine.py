"""Runs the catalogue against the devices of one backend and puts a verdict on every case.

Truth table: declared and works = passed; declared and does not = failed; not declared and refused by type (by the
router and on the driver itself) = honestly absent; not declared and anything else = failed. There is no skip.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from anydevice.plans import declared as operation_declared
from anydevice.router import Router
from anydevice_schemas import CONTRACT_VERSION, Command, Device
from anydevice_schemas.errors import AnydeviceError
from anydevice_schemas.report import CaseResult, ClassResult, Verdict

from .case import Case
from .samples import SAMPLES
from .subject import Subject
from .trial import CaseBlocked, CaseFailed, Trial
from .verdict import judge_class
from .witness import Witness

Progress = Callable[[CaseResult, int, int], None]
Starting = Callable[[Case, str], None]
PICTURES_MOST = 60


@dataclass
class Engine:
    """One run.

    Attributes:
        router: With the backend under test.
        subject: The backend and its devices.
        witness: What the practice app reports to.
        cases: What to run, in order.
        partial: Something of the catalogue was left out on purpose.
        evidence: Folder for pictures; None = none are taken.
        progress: Told of every case that is over.
        starting: Told of every case, and the device class it is tried on, before it begins.
    """

    router: Router
    subject: Subject
    witness: Witness
    cases: list[Case]
    partial: bool = False
    evidence: Path | None = None
    progress: Progress | None = None
    starting: Starting | None = None
    results: list[CaseResult] = field(default_factory=list)
    pictures: int = 0

    async def run(self) -> list[ClassResult]:
        """Runs every case on every device class of the backend; returns the verdict on each class."""
        verdicts = []
        pairs = await self.subject.pairs()
        total = sum(len(self.expected(pair.device_class)) for pair in pairs)
        for pair in pairs:
            rows: list[CaseResult] = []
            expected = self.expected(pair.device_class)
            for case in expected:
                if self.starting is not None:
                    self.starting(case, pair.device_class)
                if pair.blocked:
                    row = self._row(case, pair.device_class, False, "blocked", pair.blocked, 0.0, None)
                else:
                    assert pair.device is not None and pair.other is not None
                    row = await self.try_case(case, pair.device, pair.other)
                rows.append(row)
                self.results.append(row)
                if self.progress is not None:
                    self.progress(row, len(self.results), total)
            keys = [device.key for device in (pair.device, pair.other) if device is not None]
            names = [case.id for case in expected]
            verdict = judge_class(pair.device_class, keys, rows, names, partial=self.partial)
            verdicts.append(verdict)
        return verdicts

    def expected(self, device_class: str) -> list[Case]:
        """The cases that concern a device class."""
        return [case for case in self.cases if device_class in case.classes]

    async def try_case(self, case: Case, device: Device, other: Device) -> CaseResult:
        """Tries one case and puts a verdict on it."""
        manifest = self.subject.manifest
        trial = Trial(self.router, self.witness, manifest, device, other, f"case-{case.id}")
        command = self._command(case)
        declared = case.declared(manifest, device, command)
        started = time.monotonic()
        verdict, reason = await self._verdict(case, trial, declared)
        evidence = await self._picture(case, trial, verdict)
        await self._clean(trial)
        seconds = time.monotonic() - started
        row = self._row(case, device.device_class, declared, verdict, reason, seconds, trial)
        return row.model_copy(update={"evidence": evidence})

    def _command(self, case: Case) -> Command | None:
        return self.router.services.catalogue.get(case.command).command if case.command is not None else None

    async def _verdict(self, case: Case, trial: Trial, declared: bool) -> tuple[Verdict, str]:
        if _version(case.since) > _version(CONTRACT_VERSION):
            return "not_yet_judged", f"entered in contract {case.since}"
        if case.unseen(trial.manifest):
            return "honestly_absent", f"the platform's trees do not tell it ({case.sees})"
        try:
            with anyio.fail_after(case.seconds):
                if declared:
                    if case.screen is not None:
                        await trial.open(case.screen)
                        await self._still_other(trial)
                    await case.run(trial)
                    if case.mutates:
                        await self._other_untouched(trial)
                else:
                    await self._refused(case, trial)
        except CaseFailed as failure:
            return ("experimental" if self._experimental(case, trial) else "failed"), str(failure)
        except CaseBlocked as block:
            return "blocked", str(block)
        except TimeoutError:
            return "failed", f"not done within {case.seconds:g} s"
        except AnydeviceError as error:
            return "failed", f"{error.code}: {error.message}"
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            return "engine_error", f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        if not declared:
            return "honestly_absent", "not declared, and refused by type"
        return ("experimental" if self._experimental(case, trial) else "passed"), ""

    def _experimental(self, case: Case, trial: Trial) -> bool:
        return case.experimental(trial.manifest, trial.device, self._command(case))

    async def _refused(self, case: Case, trial: Trial) -> None:
        """What is not declared must be refused by type, asked through the router and on the driver itself."""
        command = self._command(case)
        if command is not None and command.plans and not self._other_plan(command, trial):
            await trial.call(command.name, expect="unsupported", **case.sample)
        for operation in self._undeclared(case, command, trial):
            if operation in SAMPLES:
                positional, named = SAMPLES[operation]
                await trial.refuses_on_the_driver(operation, *positional, **named)

    def _other_plan(self, command: Command, trial: Trial) -> bool:
        """Whether some plan of the command is declared although the case's own needs are not."""
        return any(
            all(operation_declared(trial.manifest, trial.device, op) for op in plan.operations)
            for plan in command.plans
        )

    def _undeclared(self, case: Case, command: Command | None, trial: Trial) -> Iterable[str]:
        wanted = set(case.needs)
        if command is not None:
            wanted |= {op for plan in command.plans for op in plan.operations}
        return sorted(op for op in wanted if not operation_declared(trial.manifest, trial.device, op))

    async def _still_other(self, trial: Trial) -> None:
        """The other device runs the practice app too, once; it is opened again only when something disturbed it."""
        key = trial.other.key
        token = self.subject.bystanders.get(key)
        if token is not None and not _disturbed(self.witness.reports(token)):
            trial.tokens[key] = token
            return
        by = trial.new_caller("bystander")
        await trial.open("home", on=trial.other, by=by)
        self.subject.bystanders[key] = trial.tokens[key]
        # The bystander lets go of the device, so that cases which drive it find it free.
        for session in self.router.services.sessions.of_device(key):
            self.router.services.sessions.end(session, "the suite only opened the app")

    async def _other_untouched(self, trial: Trial) -> None:
        token = self.subject.bystanders.get(trial.other.key)
        if token is None:
            return
        await anyio.sleep(0.05)
        seen = [report for report in self.witness.reports(token) if report.get("what") != "ready"]
        if seen:
            raise CaseFailed(f"the other device changed: its app reported {str(seen[:3])[:300]}")

    async def _clean(self, trial: Trial) -> None:
        """Ends what the case left open, so that the next one starts from nothing."""
        sessions = self.router.services.sessions
        driver = self.router.services.connections.existing(trial.device.key)
        if driver is not None and operation_declared(trial.manifest, trial.device, "alerts.dismiss"):
            try:
                with anyio.move_on_after(3):
                    if await driver.alerts.get() is not None:  # type: ignore[attr-defined]
                        await driver.alerts.dismiss()  # type: ignore[attr-defined]
            except Exception:  # noqa: S110 - the next case's own opening tells if the device is unusable
                pass
        for session in sessions.all():
            if session.device_key in (trial.device.key, trial.other.key):
                sessions.end(session, "the case is over")
        if trial.tokens.get(trial.other.key) != self.subject.bystanders.get(trial.other.key):
            self.subject.bystanders.pop(trial.other.key, None)

    async def _picture(self, case: Case, trial: Trial, verdict: Verdict) -> list[str]:
        """A picture of the device after the case, where it shows something."""
        wanted = verdict == "failed" or (case.mutates and self.pictures < PICTURES_MOST)
        if self.evidence is None or not wanted or not operation_declared(trial.manifest, trial.device, "screen.image"):
            return []
        try:
            with anyio.fail_after(5):
                driver = await trial.driver()
                image = await driver.screen.image()  # type: ignore[attr-defined]
        except Exception:
            return []
        self.pictures += 1
        suffix = "jpg" if image.mime == "image/jpeg" else "png"
        name = f"{trial.device.device_class}-{case.id}.{suffix}"
        await anyio.Path(self.evidence / name).write_bytes(image.data)
        return [name]

    def _row(  # noqa: PLR0917 - private, one call a verdict
        self,
        case: Case,
        device_class: str,
        declared: bool,
        verdict: Verdict,
        reason: str,
        seconds: float,
        trial: Trial | None,
    ) -> CaseResult:
        return CaseResult(
            id=case.id,
            must=case.must,
            device_class=device_class,
            bundle=case.bundle,
            optional=case.optional or case.unseen(self.subject.manifest),
            declared=declared,
            verdict=verdict,
            reason=reason[:1000],
            seconds=round(seconds, 3),
            steps=trial.steps if trial is not None else [],
        )


def _disturbed(reports: list[dict[str, object]]) -> bool:
    return any(report.get("what") != "ready" for report in reports) or len(reports) != 1


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
