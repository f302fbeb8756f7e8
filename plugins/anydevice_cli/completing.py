"""What only a running daemon knows, for completion: it is asked under a short deadline, and never started for that."""

from __future__ import annotations

from threading import Thread
from typing import Any

import click
from click.shell_completion import CompletionItem

from . import remote

SECONDS = 0.5
"""What the daemon gets to say which devices there are; after that nothing is offered."""


def devices(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of the devices there are; keys where an id is no device's alone, or where the word goes on as a key."""
    if param.nargs == 1 and isinstance(param, click.Argument) and ctx.params.get(param.name or ""):
        return []
    rows = known()
    ids = [row["id"] for row in rows]
    offered = {row["id"] if ids.count(row["id"]) == 1 else row["device"]: row for row in rows}
    if not any(word.startswith(incomplete) for word in offered):
        offered = {row["device"]: row for row in rows}
    return [
        CompletionItem(word, help=_about(row)) for word, row in sorted(offered.items()) if word.startswith(incomplete)
    ]


def _about(row: dict[str, Any]) -> str:
    text = f"{row['name']}, {row['state']}" if row.get("name") else str(row["state"])
    return text if text.isprintable() else row["state"]


def known() -> list[dict[str, Any]]:
    """The devices as they were listed last, listed now where nobody has asked yet; [] when that takes too long."""
    rows: list[dict[str, Any]] = []

    def ask() -> None:
        try:
            with remote.connect_host(deadline=SECONDS) as client:
                for anew in (False, True):
                    found = remote.operate(client, "devices", ask=anew)["devices"]
                    if found:
                        break
            rows.extend(row for row in found if row["id"].isprintable())
        except Exception:  # whatever is wrong is told by the command, not in the middle of a line
            return

    asking = Thread(target=ask, daemon=True)
    asking.start()
    asking.join(SECONDS)
    return list(rows)
