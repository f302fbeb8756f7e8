"""Proves ownership under fire: `python -m soak [storm] [kills] [store] [--small] [--seed S] [--write FILE]`.

Prints one line of JSON; says on standard error what it is doing. The exit code is 1 when anything happened that must
not happen. One seed gives one schedule of faults.
"""

from __future__ import annotations

import argparse
import secrets
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import kills, report, store, storm
from .judge import Verdict
from .sizes import FULL, SMALL, Size

PARTS: dict[str, Callable[[Size, str, Path | None], Verdict]] = {
    "storm": storm.run,
    "kills": kills.run,
    "store": store.run,
}


def main(argv: list[str] | None = None) -> int:
    """Runs what is asked for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="storm, kills, store; all unless given")
    parser.add_argument("--small", action="store_true", help="the sizes that tests run")
    parser.add_argument("--seed", default=None, help="of the schedule of faults; a new one unless given")
    parser.add_argument("--write", type=Path, help="page whose section on the soak is rewritten")
    parser.add_argument("--keep", type=Path, help="folder the journals are copied to")
    given = parser.parse_args(argv)
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no part {sorted(unknown)[0]}; there are {', '.join(PARTS)}")
    size, seed = (SMALL if given.small else FULL), given.seed or secrets.token_hex(4)
    about = report.facts(seed, "small" if given.small else "full", Path(__file__).resolve().parents[1])
    verdicts = {}
    for part in given.parts or PARTS:
        say(f"{part}: {report.PARTS[part]}, seed {seed} …")
        began = time.monotonic()
        verdict = PARTS[part](size, seed, given.keep / part if given.keep is not None else None)
        verdict.figures["took, s"] = round(time.monotonic() - began, 1)
        verdicts[part] = verdict
        say(f"{part}: {len(verdict.violations)} violations in {verdict.figures['took, s']} s")
        for violation in verdict.violations[:20]:
            say(f"  {violation.rule}, {violation.device}: {violation.detail}")
    if given.write is not None:
        report.write(given.write, report.text(about, verdicts))
    sys.stdout.write(report.line(about, verdicts) + "\n")
    return 1 if any(verdict.violations for verdict in verdicts.values()) else 0


def say(text: str) -> None:
    """Tells a person who waits."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _stopped(number: int, frame: object) -> None:
    raise SystemExit(128 + number)  # so that what was started ends as well


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stopped)
    sys.exit(main())
