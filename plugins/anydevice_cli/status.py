"""`anydevice status`: the daemon, every device with who drives it, who waits, and the sessions."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import click

from anydevice_schemas.errors import UnknownCommand, UpstreamUnavailable

from . import output, remote
from .render import asked_for, table

Row = Mapping[str, Any]


@click.command(short_help="Tells whether a daemon runs, who drives which device, and who waits.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(as_json: bool) -> int:
    """Tells whether a daemon runs, who drives which device until when, and who waits.

    Starts no daemon, and waits two seconds at most for a backend that does not answer.

    \b
    With --json, in `data`: running; pid, version, python, started, uptime, catalogue,
    commands, facades, idleExit, connections, sessions, held, plugins, calls; and
      devices  device (its key), id, name, platform, state, reason, health,
               healthReason, waiting (how many), lease: until, leftSeconds,
               kind (implicit, run, human = a person took it over, cleanup),
               session, tenant, runId, through (the device it shares with)
      queue    position, waitedSeconds, tenant, runId, priority, asked, devices,
               offered (kept for it now), offerUntil
      missing  backend, reason, fix
    """
    try:
        with remote.connect_host() as client:
            data: dict[str, Any] = {"running": True, **client.host.status()}
            with contextlib.suppress(UnknownCommand):  # a daemon of an earlier version
                data |= remote.operate(client, "devices", ask=True)
    except UpstreamUnavailable:
        output.result("status", {"running": False}, "no daemon runs", as_json=as_json)
        return 0
    output.result("status", data, "\n".join(_text(data, output.width())), as_json=as_json)
    return 0


def _text(data: Row, columns: int | None) -> list[str]:
    lines = [
        f"daemon: process {data['pid']}, version {data['version']}, Python {data['python']}, up {ago(data['uptime'])}",
        f"connections: {len(data['connections']) - 1} besides this one; {data['calls']} calls running",
    ]
    if "devices" in data:
        lines += ["", *_devices(data["devices"], columns)]
        lines += [
            output.clean(f"missing: {gone['backend']}: {gone['reason']}. {gone.get('fix') or ''}").rstrip()
            for gone in data.get("missing", ())
        ]
    elif data["held"]:
        rows = [[h["device"], h["until"], h["session"] or ""] for h in data["held"]]
        lines += ["", *table(["HELD", "UNTIL", "SESSION"], rows, columns)]
    if data.get("queue"):
        lines += ["", *_queue(data["queue"], columns)]
    lines.append("")
    lines += _sessions(data["sessions"], columns)
    lines += [f"plugin {p['name']} is {p['state']}: {p.get('reason', '')}" for p in data["plugins"]]
    return lines


def _devices(devices: Sequence[Row], columns: int | None) -> list[str]:
    if not devices:
        return ["no devices"]
    head = ["DEVICE", "NAME", "PLATFORM", "STATE", "HEALTH", "HELD BY", "UNTIL", "WAITING"]
    rows = []
    for row in devices:
        lease = row.get("lease")
        rows.append([
            row["device"], row["name"], row["platform"], _why(row["state"], row.get("reason")),
            "" if row["health"] in ("good", "unknown") else _why(row["health"], row.get("healthReason")),
            _holder(lease) if lease else "", soon(lease["leftSeconds"]) if lease else "",
            str(row["waiting"] or ""),
        ])  # fmt: skip
    return _without_empty(head, rows, columns)


def _queue(queue: Sequence[Row], columns: int | None) -> list[str]:
    head = ["QUEUE", "TENANT", "RUN", "WAITING FOR", "ASKED FOR", "KEPT FOR IT"]
    rows = [
        [
            str(place["position"]),
            place.get("tenant", "somebody"),
            place.get("runId", ""),
            ago(place["waitedSeconds"]),
            asked_for(place),
            place.get("offered", ""),
        ]
        for place in queue
    ]
    return _without_empty(head, rows, columns)


def _sessions(sessions: Sequence[Row], columns: int | None) -> list[str]:
    if not sessions:
        return ["no sessions"]
    rows = [
        [
            s["name"],
            s["device"],
            s.get("app") or "",
            ago(s["idle"]) + ("" if s.get("attached", True) else ", nobody attached"),
            s.get("cwd") or "",
        ]
        for s in sessions
    ]
    return table(["SESSION", "DEVICE", "APP", "IDLE", "DIRECTORY"], rows, columns)


def _without_empty(head: Sequence[str], rows: Sequence[Sequence[str]], columns: int | None) -> list[str]:
    """A table without the columns in which nothing is said."""
    said = [n for n in range(len(head)) if n == 0 or any(row[n] for row in rows)]
    return table([head[n] for n in said], [[row[n] for n in said] for row in rows], columns)


def _why(word: str, reason: str | None) -> str:
    return f"{word}: {reason}" if reason else word


def _holder(lease: Row) -> str:
    """Who has a device: `a person (session auto-1)`, `ci-7 of team-a, run 12`, `clean-up`."""
    if lease["kind"] == "cleanup":
        return "clean-up"
    if "session" in lease:
        said = str(lease["session"]) + (f" of {lease['tenant']}" if lease["tenant"] != "default" else "")
        said += f", run {lease['runId']}" if lease.get("runId") else ""
    else:
        said = "somebody"
    if lease["kind"] == "human":
        said = f"a person ({said})" if "session" in lease else "a person"
    return said + (f", through {lease['through']}" if "through" in lease else "")


def soon(seconds: float) -> str:
    """`in 42 s`; of what has just ended, `now`."""
    return f"in {ago(seconds)}" if seconds >= 1 else "now"


def ago(seconds: float) -> str:
    """A time span as a person says it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
