"""Writes the table of what ran on what into docs/verified.md: `python tools/verified.py`; a test holds it to that."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FACTS: Final = ROOT / "tools" / "verified.toml"
PAGE: Final = ROOT / "docs" / "verified.md"
BEGIN: Final = "<!-- table: begin; tools/verified.py writes what is between this line and the end mark -->"
END: Final = "<!-- table: end -->"
COLUMNS: Final = ("real_devices", "real_software", "stand_ins", "missing")
HEADS: Final = ("backend", "on real devices", "on real software", "on stand-ins", "not run on")


def table() -> str:
    """The table, a row for each backend."""
    facts = tomllib.loads(FACTS.read_text("utf-8"))
    rows = ["| " + " | ".join(HEADS) + " |", "|" + "---|" * len(HEADS)]
    for name, row in sorted(facts.items()):
        wrong = set(row) ^ set(COLUMNS)
        if wrong:
            raise SystemExit(f"{name}: {', '.join(sorted(wrong))}")
        rows.append("| " + " | ".join([name, *(row[column] or "nothing" for column in COLUMNS)]) + " |")
    return "\n".join(rows)


def page(text: str) -> str:
    """The page with the table in it."""
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{PAGE.name} has no place for the table")
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def main() -> int:
    """Writes the page; with `--check` it only says whether it would change."""
    text = PAGE.read_text("utf-8")
    wanted = page(text)
    if "--check" in sys.argv[1:]:
        return int(text != wanted)
    PAGE.write_text(wanted, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
