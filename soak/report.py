"""What came of a soak, for machines (one line of JSON) and for people (a section of docs/verified.md)."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .judge import Verdict

BEGIN = "<!-- soak: begin; make soak rewrites what is between this line and the end mark -->"
END = "<!-- soak: end -->"

PARTS = {
    "storm": "one daemon under fire",
    "kills": "the daemon killed again and again",
    "store": "the store alone",
}


def facts(seed: str, size: str, root: Path) -> dict[str, Any]:
    """Where and on what it ran."""
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": _commit(root),
        "seed": seed,
        "size": size,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def _commit(root: Path) -> str:
    def git(*argv: str) -> str:
        try:
            done = subprocess.run(
                ["git", *argv],
                cwd=root,
                capture_output=True,
                text=True,
                check=True,
                timeout=20,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        return done.stdout.strip()

    commit = git("rev-parse", "--short=12", "HEAD") or "unknown"
    return f"{commit} with changes" if git("status", "--porcelain", "--", "core", "schemas", "soak") else commit


def line(about: Mapping[str, Any], verdicts: Mapping[str, Verdict]) -> str:
    """All of it as one line of JSON."""
    parts = {
        part: {
            "violations": [vars(violation) for violation in verdict.violations[:50]],
            "count": len(verdict.violations),
            "figures": verdict.figures,
        }
        for part, verdict in verdicts.items()
    }
    return json.dumps({**about, "ok": not any(v.violations for v in verdicts.values()), "parts": parts})


def text(about: Mapping[str, Any], verdicts: Mapping[str, Verdict]) -> str:
    """All of it for a person to read, as Markdown."""
    out = [
        f"`make soak` on {about['date']}, commit {about['commit']}, seed `{about['seed']}`: {about['cores']} cores, "
        f"{about['system']}, Python {about['python']}, SQLite {about['sqlite']}.",
        "",
        "| part | figure | value |",
        "|---|---|---|",
    ]
    for part, verdict in verdicts.items():
        out.append(f"| **{PARTS[part]}** | **violations** | **{len(verdict.violations)}** |")
        out += [f"| | {what} | {value} |" for what, value in verdict.figures.items()]
    for verdict in verdicts.values():
        out += [f"\n* {v.rule}, {v.device}: {v.detail}" for v in verdict.violations[:10]]
    out += ["", "```json", line(about, verdicts), "```"]
    return "\n".join(out)


def write(path: Path, section: str) -> None:
    """Puts the section between the marks, which are added at the end where they are missing."""
    page = path.read_text("utf-8")
    if BEGIN not in page or END not in page:
        page = f"{page.rstrip()}\n\n## Under fire\n\n{BEGIN}\n{END}\n"
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n\n{section}\n\n{END}{after}", "utf-8")
