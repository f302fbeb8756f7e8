"""Counts how many of another tool's commands work here, by what conformance runs saw, not by what is declared.

    python tools/count_commands.py REPORT...

REPORT is the folder of a conformance report, or its `conformance.json`. The list is `gated_commands.tsv`: the 45
commands that agent-device 0.21.5 offers or refuses by device, each with ours that does the same.

A command counts for a device class where a case that passed called it and it was carried out (`ok`), and no case failed
at it. Two that no case calls yet, home and app-switcher, count (marked *) where the case of their operation passed.
Several reports of one class are taken together: boot and shutdown are judged on emulators, most else on devices.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("gated_commands.tsv")
YES, OFFERED, BROKEN, NO = "yes", "yes*", "broken", ""


@dataclass(frozen=True)
class Gated:
    """One command of the other tool: what ours is called (empty: there is none), with which arguments, and the
    operation whose case stands for it where no case calls it."""

    name: str
    ours: str
    given: Mapping[str, Any]
    operation: str
    remark: str


def gated() -> list[Gated]:
    """The list."""
    with LIST.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            Gated(row["command"], row["ours"], json.loads(row["given"] or "{}"), row["operation"], row["remark"])
            for row in rows
        ]


def verdict(command: Gated, cases: Iterable[Mapping[str, Any]]) -> str:
    """What cases of one device class say of a command."""
    if not command.ours:
        return NO
    found = NO
    for case in cases:
        steps = [step for step in case["steps"] if _means(command, step)]
        if case["verdict"] == "failed" and steps and steps[-1] is case["steps"][-1]:
            return BROKEN
        if case["verdict"] != "passed" or not case["declared"]:
            continue
        if any(step["outcome"] == "ok" for step in steps):
            found = YES
        elif command.operation and case["id"] == f"operation.{command.operation}" and found == NO:
            found = OFFERED
    return found


def _means(command: Gated, step: Mapping[str, Any]) -> bool:
    arguments = step.get("arguments") or {}
    return bool(step["call"] == command.ours) and all(
        arguments.get(key) == value for key, value in command.given.items()
    )


def counted(reports: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Of each backend and class (`harmonyos tv`) the verdict on every command."""
    cases: dict[str, list[Mapping[str, Any]]] = {}
    for report in reports:
        for case in report["cases"]:
            cases.setdefault(f"{report['subject']['backend']} {case['deviceClass']}", []).append(case)
    return {
        where: {command.name: verdict(command, rows) for command in gated()}
        for where, rows in cases.items()
        if any(row["verdict"] == "passed" for row in rows)
    }


def table(found: Mapping[str, Mapping[str, str]]) -> str:
    """A table for people, with the counts last."""
    heads = list(found)
    lines = ["| command | " + " | ".join(heads) + " |", "|---|" + "---|" * len(heads)]
    for command in gated():
        said = [found[where][command.name] for where in heads]
        if not any(said) and command.remark:
            said[0] = command.remark
        lines.append(f"| {command.name} | " + " | ".join(said) + " |")
    total = [str(sum(word in (YES, OFFERED) for word in found[where].values())) for where in heads]
    lines.append(f"| **of {len(gated())}** | " + " | ".join(f"**{count}**" for count in total) + " |")
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """Prints the table of the reports that are named."""
    if not argv or argv[0] in ("-h", "--help"):
        sys.stdout.write(f"{__doc__}\n")
        return 0 if argv else 2
    paths = [Path(word) for word in argv]
    files = [path / "conformance.json" if path.is_dir() else path for path in paths]
    sys.stdout.write(table(counted([json.loads(file.read_text("utf-8")) for file in files])) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
