"""For all tests: what a program that is started in the background of a script has inherited, is put right.

Test files run side by side in several processes (see the Makefile). So no test may look at what is not its own: ports,
displays and homes are made for each, and of the table of processes it judges what it started.
"""

from __future__ import annotations

import signal
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

from .support.sizes import size

# How fast examples come is the machine's affair.
settings.register_profile(
    "tests", max_examples=size("examples of a property"), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")

LONGEST = (
    "conformance/test_whole_runs.py",
    "conformance/test_mutants.py",
    "conformance/test_reference.py",
    "spine/test_crashes.py",
    "conformance/test_shelf.py",
    "spine/test_every_command_by_every_door.py",
    "mcp/test_judges.py",
)
"""Files that take a minute and more, the longest first. They begin first: one that begins last is waited for by all."""
SHOWN = 12


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Brings the longest files to the front; all others stay as they were found."""
    places = {config.rootpath / "tests" / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """After a run of more than a few files: where the time went."""
    files: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                files[report.nodeid.partition("::")[0]] += report.duration
    if len(files) <= SHOWN:
        return
    folders: Counter[str] = Counter()
    for name, seconds in files.items():
        folders[name.rpartition("/")[0]] += seconds
    terminalreporter.section("seconds, as the tests saw them")
    terminalreporter.write_line(", ".join(f"{name} {seconds:.0f}" for name, seconds in folders.most_common()))
    for name, seconds in files.most_common(SHOWN):
        terminalreporter.write_line(f"{seconds:6.0f}  {name}")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell lets background programs ignore Ctrl-C, and so do their children; tests send it to theirs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
