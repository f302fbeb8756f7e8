"""Every backend on the shelf of the dishonest and the broken is judged as it deserves, and spoils nobody else."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from anydevice.kit.pids import descendants
from anydevice.settings import Settings
from anydevice_conformance import listening
from anydevice_conformance.runner import run
from anydevice_schemas.report import ConformanceReport

from ..support.daemons import Home, eventually
from ..support.distributions import environ, install_fake_backend, install_reference_backend
from .shelf import Member, everyone

SHELF = everyone()
AT_ONCE = 3
DEADLINES = {"blocks-in-the-middle": 15.0}  # it has come to the middle by then
SLACK = {"blocks-in-discovery": 3.0}


pytestmark = pytest.mark.timeout(600)  # the first test waits for all of them


@dataclass
class Judged:
    """What came of a member."""

    report: ConformanceReport
    folder: Path


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("shelf")
    for member in SHELF.values():
        member.install(folder)
    install_reference_backend(folder, name="honest", classes=("tv",))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setattr(listening, "LINGER", 2.0)
        yield folder


@pytest.fixture(scope="module")
def beside() -> set[int]:
    """Processes that this one had before: those of other areas' tests."""
    return set(descendants(os.getpid()))


def new_processes(beside: set[int]) -> set[int]:
    """Processes below this one that are neither these nor below them."""
    return set(descendants(os.getpid())) - beside - {pid for old in beside for pid in descendants(old)}


@pytest.fixture(scope="module")
def verdicts(beside: set[int], plugins: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Future[Judged]]:
    """Every member, judged beside all the others; a few at a time."""
    out = tmp_path_factory.mktemp("reports")
    settings = Settings(home=tmp_path_factory.mktemp("home"))

    def judge(member: Member) -> Judged:
        folder = out / member.name
        report = run(
            member.name,
            only=member.only,
            report=folder,
            settings=settings,
            environ=environ(plugins),
            deadline=DEADLINES.get(member.name, 100.0),
            slack=SLACK.get(member.name, 30.0),
        )
        return Judged(report, folder)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {name: pool.submit(judge, member) for name, member in SHELF.items()}


@pytest.mark.parametrize("name", sorted(SHELF))
def test_it_is_judged_as_it_deserves(name: str, verdicts: dict[str, Future[Judged]]) -> None:
    member, report = SHELF[name], verdicts[name].result().report
    assert (report.level, report.ended) == (member.level, member.ended), report.why
    assert report.level not in ("core", "extended") and report.self_reported
    assert re.search(member.why, report.why), report.why
    rows = {row.id: row for row in report.cases}
    for case_id, (verdict, reason) in member.cases.items():
        assert rows[case_id].verdict == verdict, f"{case_id}: {rows[case_id].verdict} {rows[case_id].reason}"
        assert re.search(reason, rows[case_id].reason), rows[case_id].reason


@pytest.mark.parametrize("name", sorted(SHELF))
def test_it_is_named_in_every_form_of_the_report(name: str, verdicts: dict[str, Future[Judged]]) -> None:
    judged = verdicts[name].result()
    written = (judged.folder / "conformance.json").read_text("utf-8")
    assert ConformanceReport.model_validate_json(written).subject.backend == name
    assert name in (judged.folder / "index.html").read_text("utf-8")
    assert name in (judged.folder / "junit.xml").read_text("utf-8")


def test_nothing_of_them_outlives_their_runs(beside: set[int], verdicts: dict[str, Future[Judged]]) -> None:
    for future in verdicts.values():
        future.result()
    eventually(lambda: not new_processes(beside), "every process of theirs is gone")
    eventually(lambda: b"sleep\x00613" not in b"".join(_command_lines()), "and what lost its parents, too")


def _command_lines() -> Iterator[bytes]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes()
        except OSError:
            continue


def test_output_is_kept_short_and_is_no_event(verdicts: dict[str, Future[Judged]]) -> None:
    judged = verdicts["prints-garbage"].result()
    assert len(judged.report.output) <= 4000 and "last words" in judged.report.output
    assert "\x1b" not in (judged.folder / "index.html").read_text("utf-8")


@pytest.mark.daemon
def test_with_all_of_them_installed_the_devices_of_the_honest_are_listed() -> None:
    with Home.made() as home:
        guests = [member for member in SHELF.values() if member.spares_the_daemon]
        for member in guests:
            member.install(home.plugins)
        install_fake_backend(home.plugins, name="good", ids=("good-1", "good-2"))
        began = time.monotonic()
        answer = home.json("devices")
        assert time.monotonic() - began < 60
        rows = {(row["platform"], row["id"]): row["state"] for row in answer["data"]["devices"]}
        assert rows["good", "good-1"] == rows["good", "good-2"] == rows["fake", "fake-1"] == "ready"
        assert rows["prints-garbage", "phone-1"] == rows["exits-in-the-middle", "phone-2"] == "ready"
        missing = {gone["backend"]: gone["reason"] for gone in answer["data"]["missing"]}
        unready = {
            "crashes-on-import", "exits-on-import", "is-no-backend", "of-another-contract", "has-no-manifest",
            "has-a-bad-manifest", "is-there-twice", "fails-to-list", "hangs-in-discovery",
        }  # fmt: skip
        assert set(missing) == unready
        assert all(missing.values())
        assert home.json("press", "Increment", "--device", "good-1")["ok"]
        states = {plugin["name"]: plugin["state"] for plugin in home.json("doctor", code=1)["data"]["plugins"]}
        assert states["good"] == states["hides"] == "ready"
        assert states["is-there-twice"] == "conflict" and states["of-another-contract"] == "refused"
        assert states["crashes-on-import"] == states["has-no-manifest"] == "broken"
