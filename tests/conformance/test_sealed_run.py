"""The sealed run: what may not get in, what must get out, and that nothing is left of it however it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from anydevice.kit.pids import alive
from anydevice.settings import Settings
from anydevice_conformance.findings import LEAVES_NOTHING
from anydevice_conformance.listening import Show
from anydevice_conformance.runner import UnknownSubject, chosen_cases, run
from anydevice_schemas.report import CaseResult, ConformanceReport

from ..support.distributions import environ, install, install_backend, install_reference_backend
from .shelf import Member, lying

PROGRAM = str(Path(sys.executable).parent / "anydevice")
PRESS = "press.reaches-the-named-device"
QUICK = ("operation.screen.tree", "operation.touch.tap", PRESS)

TELLS = """
def set_up(self):
    import os, sys

    seen = [name for name in os.environ if name.startswith(("PYTEST", "ANYDEVICE", "PYTHONST", "SECRET", "AGENT"))]
    told = [*sorted(seen), os.environ["HOME"], "" in sys.path or os.getcwd() in sys.path]
    told += [os.path.basename(os.getcwd()), self.host.settings.get("word", "")]
    for row in list(self.rows):
        self.rows[row] = self.rows[row].model_copy(update={"model": " ".join(map(str, told))})
"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "plugins"
    install_reference_backend(folder, name="honest", classes=("tv",))
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def eventually(check: Callable[[], object], seconds: float = 30.0) -> bool:
    until = time.monotonic() + seconds
    while not check():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def cli(plugins: Path, *argv: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    given = environ(plugins, HOME=str(cwd), ANYDEVICE_HOME=str(cwd / "outer-home"), **more)
    return subprocess.run(
        [PROGRAM, *argv], cwd=cwd, env=given, capture_output=True, text=True, timeout=110, check=False
    )


# --- what may not get in ---


def test_what_lies_in_the_working_directory_has_no_part_in_it(plugins: Path, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    for name in ("conftest.py", "sitecustomize.py", "anyio.py", "anydevice_conformance.py", "anydevice.py", "click.py"):
        (hostile / name).write_text("raise SystemExit('hostile')\n")
    (hostile / "pytest.ini").write_text("[pytest]\naddopts = -k nothing\n")
    (hostile / "config.toml").write_text("[plugins]\ndisabled = ['honest']\n")
    done = cli(plugins, "conformance", "honest", "--only", PRESS, "--report", "out", cwd=hostile)
    assert done.returncode == 0 and "partial run" in done.stdout, done.stdout + done.stderr
    assert "nothing failed of what was run; a run with --only gives no level" in done.stdout
    report = ConformanceReport.model_validate_json((hostile / "out" / "conformance.json").read_text())
    assert [(row.id, row.verdict) for row in report.cases] == [(PRESS, "passed"), (LEAVES_NOTHING, "passed")]


def test_forged_variables_do_not_get_in_and_named_ones_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = tmp_path / "plugins"
    Member("tells", TELLS).install(plugins)
    monkeypatch.syspath_prepend(str(plugins))
    forged = {
        "PYTEST_ADDOPTS": "-k nothing", "PYTEST_PLUGINS": "evil", "PYTHONSTARTUP": "/evil.py", "SECRET_TOKEN": "s3cret",
        "ANYDEVICE_HOME": "/evil", "ANYDEVICE_CONFORMANCE": "pass", "AGENT_DEVICE_X": "1",
        "HOME": "/home/of-the-person", "SECRET_WANTED": "yes", "PYTHONHOME": "", "PYTHONINSPECT": "1",
    }  # fmt: skip
    settings = Settings(home=tmp_path, tables={"tells": {"word": "of-the-configuration"}, "other": {"word": "no"}})
    given = environ(plugins, **forged)
    report = run("tells", only=[PRESS], settings=settings, environ=given, passed=["SECRET_WANTED", "NOT_SET"])
    told = report.classes[0].facts["model"].split()
    assert told == [
        "ANYDEVICE_HOME", "SECRET_WANTED", "/home/of-the-person", "False", "cwd", "of-the-configuration"
    ], report.why  # fmt: skip
    assert report.passed_through == ["SECRET_WANTED", "tells.word"]
    assert "s3cret" not in report.model_dump_json()


def test_the_backend_is_alone_in_its_run(plugins: Path, settings: Settings, tmp_path: Path) -> None:
    bystander = "import pathlib\n\npathlib.Path(__file__).with_name('was-imported').touch()\nclass Backend: pass\n"
    install_backend(plugins, "bystander", bystander, manifest=_manifest("bystander"))
    install(
        plugins,
        "bystander-plugin",
        modules={"bystander_plugin.py": bystander},
        entry_points={"anydevice.plugins": {"bystander-plugin": "bystander_plugin"}},
    )
    assert run("honest", only=[PRESS], settings=settings, environ=environ(plugins)).ended == "finished"
    assert list(plugins.rglob("was-imported")) == []


def _manifest(name: str) -> dict[str, object]:
    return {
        "name": name, "summary": "x", "contract": ">=1.0,<2", "device_classes": ["tv"], "operations": ["screen.tree"],
        "platforms": [{"name": name}],
    }  # fmt: skip


# --- narrowing ---


def test_a_run_of_some_cases_is_partial_and_has_no_level(plugins: Path, settings: Settings) -> None:
    report = run("honest", only=["operation.screen.*", PRESS], settings=settings, environ=environ(plugins))
    assert report.partial and report.level == "partial"
    assert [row.id for row in report.cases] == [
        "operation.screen.geometry", "operation.screen.image", "operation.screen.tree", PRESS, LEAVES_NOTHING
    ]  # fmt: skip
    assert {row.verdict for row in report.cases} == {"passed"}


def test_a_device_that_is_asked_for_is_the_one_under_test_and_only_its_class_is_judged(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins = tmp_path / "plugins"
    install_reference_backend(plugins, name="several", classes=("tv", "phone"))
    monkeypatch.syspath_prepend(str(plugins))
    report = run("several", device="tv-2", only=QUICK, settings=settings, environ=environ(plugins))
    assert [verdict.device_class for verdict in report.classes] == ["tv"]
    assert report.classes[0].devices == ["several:tv-2", "several:tv-1"]
    assert report.not_judged == ["phone"] and report.narrowed_to == "tv-2"
    nobody = run("several", device="nobody", settings=settings, environ=environ(plugins))
    assert nobody.level == "none" and nobody.cases == []
    assert "while its devices were listed" in nobody.why and "nobody" in nobody.why, nobody.why


@pytest.mark.parametrize("word", ["press.reaches-the-named-devic", "nothing.*", "zzz"])
def test_a_case_that_does_not_exist_is_refused_with_the_nearest(word: str) -> None:
    with pytest.raises(UnknownSubject, match="there is no case") as caught:
        chosen_cases([PRESS, "press.refuses-disabled"], [word])
    assert (PRESS in str(caught.value)) == word.startswith("press")


def test_a_backend_that_does_not_exist_is_refused_with_those_there_are(plugins: Path, settings: Settings) -> None:
    with pytest.raises(UnknownSubject, match=r"no backend 'nobody'; installed are .*honest"):
        run("nobody", settings=settings)


def test_what_is_preferred_in_the_configuration_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = tmp_path / "plugins"
    Member("twin", twice=True).install(plugins)
    monkeypatch.syspath_prepend(str(plugins))
    settings = Settings(home=tmp_path, prefer={"twin": "twin-other"})
    report = run("twin", only=[PRESS], settings=settings, environ=environ(plugins))
    assert report.ended == "finished" and report.subject.distribution == "twin-other"


# --- what gets out ---


def test_every_case_is_told_as_it_begins_and_as_it_ends(plugins: Path, settings: Settings) -> None:
    told: list[tuple[str, str]] = []

    def row(found: CaseResult) -> None:
        told.append(("row", found.id))

    show = Show(lambda total: told.append(("begin", str(total))), lambda name, case: told.append((name, case)), row)
    run("honest", only=QUICK, settings=settings, environ=environ(plugins), show=show)
    assert told[0] == ("begin", "3")
    assert told[1:] == [pair for case in sorted(QUICK) for pair in (("tv", case), ("row", case))]


def test_exit_code_and_json_say_what_came_of_it(plugins: Path, tmp_path: Path) -> None:
    done = cli(plugins, "--json", "conformance", "honest", "--only", PRESS, "--report", "out", cwd=tmp_path)
    (line,) = done.stdout.splitlines()
    data = json.loads(line)["data"]
    assert done.returncode == 0
    assert (data["level"], data["classes"], data["report"]) == ("partial", {"tv": "partial"}, "out")
    assert f"passed           tv       {PRESS}" in done.stderr


def test_a_restricted_run_in_which_a_case_failed_leaves_with_one_and_names_it(tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    next(member for member in lying.MEMBERS if member.name == "pretends").install(plugins)
    done = cli(plugins, "conformance", "pretends", "--only", PRESS, "--report", "out", cwd=tmp_path)
    assert done.returncode == 1 and "nothing failed" not in done.stdout, done.stdout + done.stderr
    assert f"core: failed (1 of 2: {PRESS})" in done.stdout


# --- nothing is left ---

WAITS = """
async def devices(self, env):
    import os, pathlib, subprocess, sys, time

    child = subprocess.Popen(["sleep", "617"], start_new_session=True)
    pathlib.Path(os.environ["MARK"]).write_text(f"{os.getpid()} {os.getppid()} {child.pid}")
    time.sleep(3600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_when_the_parent_goes_everything_goes(number: signal.Signals, tmp_path: Path) -> None:
    plugins, mark, scratch = tmp_path / "plugins", tmp_path / "mark", tmp_path / "scratch"
    scratch.mkdir()
    Member("waits", WAITS).install(plugins)
    parent = subprocess.Popen(
        [PROGRAM, "conformance", "waits", "--env", "MARK", "--only", PRESS],
        cwd=tmp_path,
        env=environ(plugins, MARK=str(mark), TMPDIR=str(scratch), ANYDEVICE_HOME=str(tmp_path / "h")),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert eventually(lambda: mark.exists() and len(mark.read_text().split()) == 3)
        started = [int(word) for word in mark.read_text().split()]
        assert all(map(alive, started))
        parent.send_signal(number)
        assert eventually(lambda: not any(map(alive, started))), [pid for pid in started if alive(pid)]
        code = parent.wait(30)
        assert code == (130 if number == signal.SIGINT else -number)
        assert eventually(lambda: list(scratch.iterdir()) == []), "the run's own folder is left"
    finally:
        if parent.poll() is None:
            parent.kill()
        parent.communicate()


def test_what_the_run_started_is_ended_with_it_when_it_is_out_of_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins, mark = tmp_path / "plugins", tmp_path / "mark"
    Member("waits", WAITS).install(plugins)
    monkeypatch.syspath_prepend(str(plugins))
    given = environ(plugins, MARK=str(mark))
    report = run("waits", only=[PRESS], settings=Settings(home=tmp_path), environ=given, passed=["MARK"], deadline=12.0)
    assert report.ended == "stopped" and "took longer than 12 s" in report.why
    assert eventually(lambda: not any(alive(int(word)) for word in mark.read_text().split()))


# --- the lab ---

LAB = """
import contextlib, pathlib

@contextlib.contextmanager
def lab():
    mark = pathlib.Path({mark!r})
    mark.write_text("up")
    try:
        yield {{"settings": {{"word": "from-the-lab"}}}}
    finally:
        mark.write_text("down")
"""


def test_a_lab_is_up_during_the_run_and_down_after_it(tmp_path: Path) -> None:
    plugins, mark = tmp_path / "plugins", tmp_path / "mark"
    Member("tells", TELLS).install(plugins)
    install(
        plugins,
        "tells-lab",
        modules={"tells_lab.py": LAB.format(mark=str(mark))},
        entry_points={"anydevice.labs": {"tells": "tells_lab:lab"}},
    )
    done = cli(plugins, "conformance", "tells", "--lab", "--only", PRESS, "--report", "out", cwd=tmp_path)
    report = ConformanceReport.model_validate_json((tmp_path / "out" / "conformance.json").read_text())
    assert report.classes[0].facts["model"].endswith("from-the-lab"), done.stderr
    assert mark.read_text() == "down" and "tells.word" in report.passed_through


def test_without_a_lab_it_is_said_that_there_is_none(plugins: Path, tmp_path: Path) -> None:
    done = cli(plugins, "conformance", "honest", "--lab", cwd=tmp_path)
    said = "there is no lab for honest: labs are installed for android, apple, harmonyos, vega;"
    assert done.returncode == 1 and said in done.stderr
    assert not (tmp_path / "conformance-honest").exists()


@pytest.mark.parametrize(
    "argv", [[], ["honest", "--store", "a:b"], ["nobody"], ["honest", "--only", "zzz"], ["--nonsense"]]
)
def test_calling_it_wrongly_is_a_usage_error_and_writes_nothing(plugins: Path, tmp_path: Path, argv: list[str]) -> None:
    done = cli(plugins, "conformance", *argv, cwd=tmp_path)
    assert done.returncode == 2 and "invalid_argument" in done.stderr
    assert not list(tmp_path.glob("conformance-*"))


def test_cases_are_listed_with_what_must_be_true(plugins: Path, tmp_path: Path) -> None:
    said = cli(plugins, "conformance", "--list", "--only", "press.r*", "--only", "run.*", cwd=tmp_path).stdout
    assert f"{PRESS}  [core]\n    A press MUST reach" in said and LEAVES_NOTHING in said
    stores = cli(plugins, "--json", "conformance", "--list", "--store", "any:thing", cwd=tmp_path).stdout
    assert {"id", "bundle", "must"} <= json.loads(stores)["data"]["cases"][0].keys()


def test_the_module_is_the_same_program(plugins: Path, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "anydevice_conformance", "honest", "--only", PRESS, "--report", "out"]
    given = environ(plugins, ANYDEVICE_HOME=str(tmp_path / "h"))
    done = subprocess.run(argv, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0 and "partial run" in done.stdout
    wrong = subprocess.run([*argv[:3], "nobody"], cwd=tmp_path, env=given, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "no backend 'nobody'" in wrong.stderr
