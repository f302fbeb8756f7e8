"""Inside the sealed run: opens what is judged, runs the cases, and tells what comes of each as events.

The verdict is not made here. The parent puts it together from the results and its own copy of the catalogue; whatever
is printed here is output and nothing else.

Events: `catalogue` (hash and size, before and after), `loaded`, `pairs`, `starting`, `row`, `error`, `finished`; the
keeper adds `started`, `ended` and `survivors`.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from anydevice.assembly import open_router
from anydevice.discovery import describe
from anydevice.inventory import Backends
from anydevice.settings import Settings
from anydevice_schemas import DeviceSelector
from anydevice_schemas.errors import BackendBroken
from anydevice_schemas.report import CaseResult

from .case import Case, catalogue, catalogue_hash
from .engine import Engine
from .job import Job
from .keeper import Tell
from .subject import Pair, Subject
from .witness import Witness


def work(line: bytes, tell: Tell) -> int:
    """Does the job; returns the exit status of the run."""
    job = Job.from_line(line)
    try:
        if job.kind == "store":
            from .stores import judge_store

            judge_store(job, tell)
        else:
            anyio.run(judge_backend, job, tell)
    except BaseException as error:
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        tell({"event": "error", "reason": describe(error)})
        traceback.print_exception(error)
        return 1
    tell({"event": "finished"})
    return 0


async def judge_backend(job: Job, tell: Tell) -> None:
    """Opens a router with one backend only, and runs the cases on its devices."""
    cases = [case for case in _catalogue(tell) if job.cases is None or case.id in job.cases]
    settings = Settings(
        home=Path(job.home),
        disabled=frozenset(job.disabled),
        prefer=job.prefer,
        tables={job.name: dict(job.settings)},
    )
    witness = Witness()
    try:
        async with open_router(settings) as router:
            if not await _loaded(router.services.backends, job.name, tell):
                return
            selector = DeviceSelector(device=job.device) if job.device is not None else None
            subject = _ToldSubject(router, job.name, selector, tell=tell)
            engine = Engine(
                router,
                subject,
                witness,
                cases,
                partial=job.cases is not None,
                evidence=Path(job.evidence),
                progress=lambda row, _done, _total: tell_row(row, tell),
                starting=lambda case, device_class: tell_start(case.id, device_class, tell),
            )
            try:
                await engine.run()
            finally:
                await subject.aclose()
    finally:
        witness.close()
    _catalogue(tell)  # again, now that vendor code has run: the rules must still be those it began with


def tell_start(case_id: str, device_class: str, tell: Tell) -> None:
    """Tells that a case begins."""
    tell({"event": "starting", "case": case_id, "class": device_class})


def tell_row(row: CaseResult, tell: Tell) -> None:
    """Tells what came of a case."""
    tell({"event": "row", "row": row.model_dump(mode="json", by_alias=True)})


def _catalogue(tell: Tell) -> list[Case]:
    cases = catalogue()
    tell({"event": "catalogue", "hash": catalogue_hash(cases), "size": len(cases)})
    return cases


async def _loaded(backends: Backends, name: str, tell: Tell) -> bool:
    """Imports and constructs the backend; tells its plugin record either way."""
    try:
        await backends.instance(name)
        ready = True
    except BackendBroken:
        ready = False
    record = next((record for record in backends.records if record.name == name), None)
    wire = record.to_wire() if record is not None else {"state": "broken", "reason": "there is no such backend"}
    tell({"event": "loaded", "record": wire})
    return ready


@dataclass
class _ToldSubject(Subject):
    """A subject whose devices are told once they are found."""

    tell: Tell = field(default=lambda event: None)

    async def pairs(self) -> list[Pair]:
        """As `Subject.pairs`."""
        pairs = await super().pairs()
        self.tell({"event": "pairs", "pairs": [_pair(pair) for pair in pairs]})
        return pairs


def _pair(pair: Pair) -> dict[str, object]:
    devices = [device for device in (pair.device, pair.other) if device is not None]
    facts = {}
    if pair.device is not None:
        row = pair.device
        facts = {"name": row.name, "kind": row.kind, "os": row.os_version, "model": row.model}
    return {
        "class": pair.device_class,
        "devices": [device.key for device in devices],
        "facts": {name: value for name, value in facts.items() if value},
        "blocked": pair.blocked,
    }
