"""Answers as compact text, with the device that acted first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from .output import clean, width

Row = Mapping[str, Any]

NARROWEST = 6
"""Characters a column of a table keeps, however narrow the terminal is."""

_UNSAID = {"family", "accepted"}
"""Details of an error that are for programs; what a command accepts is told by its --help, as it is typed."""


def render(answer: Row, *, colour: bool) -> str:
    """An answer as text: a line that says who acted and whether it was seen, the data, what else must be known."""
    style = click.style if colour else _unstyled
    head = _head(answer)
    lines = [style(head, bold=True)] if head else []
    data = dict(answer.get("data") or {})
    special = _TABLES.get(str(answer.get("command")))
    if special is not None:
        lines.extend(special(data))
    else:
        lines.extend(_fields(data))
    lines.extend(style(f"cut: {clean(str(cut))}", dim=True) for cut in answer.get("truncated") or ())
    lines.extend(_notes(answer, style))
    lines.extend(f"file: {a.get('path') or a['uri']} ({a['mime']}, {a['size']} bytes)" for a in answer["artefacts"])
    if cost := answer.get("cost"):
        lines.append(style("cost: " + ", ".join(f"{key} {value}" for key, value in cost.items()), dim=True))
    if debug := answer.get("debug"):
        lines.append(style("debug: " + json.dumps(debug, ensure_ascii=False), dim=True))
    return "\n".join(lines)


def _head(answer: Row) -> str:
    parts: list[str] = []
    device = answer.get("device")
    if device:
        parts.append(f"on {clean(device['name'])} ({device['key']})")
    if answer.get("session"):
        parts.append(f"session {answer['session']}")
    verified = answer.get("verified")
    if verified is not None:
        parts.append("verified" if verified else "done, effect not verifiable")
    if answer.get("method"):
        parts.append(f"by {answer['method']}")
    return " · ".join([str(answer["command"]), *parts]) if parts else ""


def render_error(wire: Row, whole: Row | None, ways: Sequence[str] = (), *, colour: bool) -> str:
    """An error as text: what is wrong, what to do next, and the facts that help."""
    style = click.style if colour else _unstyled
    lines = [style(f"{wire.get('code', 'error')}: ", fg="red", bold=True) + str(wire.get("message", ""))]
    device = (whole or {}).get("device")
    if device:
        lines.append(f"on {clean(device['name'])} ({device['key']})")
    if wire.get("hint"):
        lines.append(style(f"Hint: {clean(wire['hint'])}", fg="yellow"))
    lines.extend(f"    {clean(way)}" for way in ways)
    said = {_same(wire.get("message")), _same(wire.get("hint"))}
    details = {
        key: value
        for key, value in (wire.get("details") or {}).items()
        if key not in _UNSAID and not (isinstance(value, str) and _same(value) in said)
    }
    lines.extend(f"  {line}" for line in _fields(details))
    lines.extend(_notes(whole or {}, style))
    if wire.get("retryable"):
        lines.append(style("The same call may work later.", dim=True))
    return "\n".join(lines)


def _same(text: object) -> str:
    """A sentence as it is compared with another one."""
    return str(text or "").strip().rstrip(".").casefold()


def _notes(answer: Row, style: Callable[..., str]) -> list[str]:
    return [
        style(f"note: {clean(str(notice.get('message') or notice))}", fg="yellow")
        for notice in answer.get("notices") or ()
    ]


def _unstyled(text: Any, **_: Any) -> str:
    return str(text)


def _fields(data: Row) -> list[str]:
    """Any JSON object, a field a line; lists of objects a line each."""
    lines: list[str] = []
    for key, value in data.items():
        if value in (None, "", [], {}):
            continue
        if isinstance(value, dict) and any(isinstance(item, dict) for item in value.values()) and "role" not in value:
            lines += [f"{key}:", *(f"  {name}: {_brief(item)}" for name, item in value.items())]
        elif isinstance(value, str) and "\n" in value:
            lines += [f"{key}:", *(f"  {clean(line)}" for line in value.splitlines())]
        elif (
            isinstance(value, list)
            and all(isinstance(item, str) and len(item) < 40 for item in value[:9])
            and (len(value) < 9)
        ):
            lines.append(f"{key}: {', '.join(map(_brief, value))}")
        elif isinstance(value, list) and any(isinstance(item, (dict, str)) for item in value):
            lines += [f"{key}:", *(f"  {_brief(item)}" for item in value)]
        else:
            lines.append(f"{key}: {_brief(value)}")
    return lines


def _brief(value: Any) -> str:
    """A value on one line; an element as `@e3 button "Sign in" disabled`."""
    if isinstance(value, str):
        return clean(value).replace("\n", "\\n")
    if isinstance(value, bool) or value is None:
        return str(value).lower() if value is not None else "none"
    if isinstance(value, dict):
        if "role" in value:
            return _element(value)
        return "  ".join(f"{key}={_inner(item)}" for key, item in value.items() if item not in (None, "", [], {}))
    return _inner(value)


def _inner(value: Any) -> str:
    if isinstance(value, str):
        text = clean(value).replace("\n", "\\n")
        return json.dumps(text, ensure_ascii=False) if " " in text or not text else text
    if isinstance(value, dict) and "role" in value:
        return _element(value)
    return clean(json.dumps(value, ensure_ascii=False)) if not isinstance(value, bool) else str(value).lower()


def _element(node: Row) -> str:
    parts = [str(node.get("ref") or ""), str(node["role"])]
    if node.get("name"):
        parts.append(json.dumps(clean(str(node["name"])), ensure_ascii=False))
    if node.get("value") is not None:
        parts.append("= " + json.dumps(clean(str(node["value"])), ensure_ascii=False))
    parts.extend(str(state) for state in node.get("states") or ())
    if node.get("secure"):
        parts.append("secure")
    return " ".join(part for part in parts if part)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], columns: int | None = None) -> list[str]:
    """Rows under headings.

    Args:
        columns: Width of the terminal: what does not fit is cut, the longest texts first, the first column never.
    """
    cells = [[clean(str(cell)).replace("\n", " ") for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    if columns is not None:
        over = sum(widths) + 2 * (len(widths) - 1) - columns
        while over > 0 and len(widths) > 1 and (most := max(widths[1:])) > NARROWEST:
            widths[1 + widths[1:].index(most)] -= 1
            over -= 1
    return ["  ".join(_fitted(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _fitted(cell: str, width: int) -> str:
    return cell.ljust(width) if len(cell) <= width else cell[: width - 1] + "…"


def _devices(data: Row) -> list[str]:
    rows, notes = [], []
    for row in data.get("devices", ()):
        lease = row.get("lease")
        held = "" if not lease else ("yours" if lease.get("yours") else f"held until {lease['until']}")
        notes.append(" — ".join(str(row[key]) for key in ("healthReason", "reason", "fix") if row.get(key)))
        state = row["state"] if "health" not in row else f"{row['state']}, {row['health']}"
        rows.append([row["id"], row["name"], row["platform"], row.get("class", ""), row["kind"], state, held])
    none = "no devices" if data.get("missing") else "no devices; anydevice doctor tells what may be missing"
    lines = _noted(["ID", "NAME", "PLATFORM", "CLASS", "KIND", "STATE", "HELD"], rows, notes) if rows else [none]
    return lines + [
        f"missing: {gone['backend']}: " + " — ".join(clean(gone[key]) for key in ("reason", "fix") if gone.get(key))
        for gone in data.get("missing", ())
    ]


def _noted(head: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> list[str]:
    """A table with a note to some rows: in a last column, or under the row where the terminal has no room for it.

    A note is never cut: it says what to do. A last column in which nothing is said is left out.
    """
    if not any(row[-1] for row in rows):
        head, rows = head[:-1], [row[:-1] for row in rows]
    columns = width()
    if not any(notes):
        return table(head, rows, columns)
    beside = table([*head, "WHY, AND WHAT TO DO"], [[*row, note] for row, note in zip(rows, notes, strict=True)])
    if columns is None or all(len(line) <= columns for line in beside):
        return beside
    first, *lines = table(head, rows, columns)
    return [first, *(
        part
        for line, note in zip(lines, notes, strict=True)
        for part in ([line, f"  {_brief(note)}"] if note else [line])
    )]  # fmt: skip


def _sessions(data: Row) -> list[str]:
    sessions = data.get("sessions", [data["session"]] if data.get("session") else [])
    if not sessions:
        return ["no sessions"]
    rows = [
        [s["name"], s["device"], s.get("app") or "", f"{s.get('idleSeconds', 0):g} s", s.get("leaseUntil", "")]
        for s in sessions
    ]
    lines = table(["SESSION", "DEVICE", "APP", "IDLE", "LEASE UNTIL"], rows)
    return [*lines, "ended"] if data.get("ended") else lines


def _doctor(data: Row) -> list[str]:
    rows = [
        [
            "ok" if c["ok"] else "WARN" if c.get("optional") else "FAIL",
            c["name"],
            " — ".join(str(c[k]) for k in ("detail", "fix") if c.get(k)),
        ]
        for c in data.get("checks", ())
    ]
    rest = {key: data[key] for key in ("policy",) if key in data}
    return [*table(["STATE", "CHECK", "DETAIL"], rows), *_fields(rest)]


def _capabilities(data: Row) -> list[str]:
    if "platforms" in data:
        return table(
            ["BACKEND", "PLATFORMS", "COMMANDS"],
            [[row["backend"], ",".join(row["platforms"]), " ".join(row["commands"])] for row in data["platforms"]],
        )
    lines = [f"commands: {' '.join(data.get('commands', ()))}"]
    rows = [
        [name, "yes" if operation["available"] else "no", str(operation.get("reason", ""))]
        for name, operation in data.get("operations", {}).items()
    ]
    lines += table(["OPERATION", "NOW", "WHY NOT"], rows)
    return lines


def _snapshot(data: Row) -> list[str]:
    lines = [clean(line) for line in str(data.get("text", "")).splitlines()]
    rest = {key: value for key, value in data.items() if key not in ("title", "location", "text", "tree")}
    return lines + _fields(rest)


def _search(data: Row) -> list[str]:
    lines: list[str] = []
    for found in data.get("commands", ()):
        lines += [f"{found['name']} ({found['effect']})", f"  {found['summary']}"]
        schema = found.get("inputSchema", {})
        for name, prop in schema.get("properties", {}).items():
            needed = " (required)" if name in schema.get("required", ()) else ""
            lines.append(f"    {name}{needed}: {prop.get('description', prop.get('type', ''))}")
    return lines or ["nothing fits; all commands: " + " ".join(data.get("all", ()))]


def _lease(data: Row) -> list[str]:
    if "lease" in data:
        lease = data["lease"]
        run = f", run {lease['runId']}" if lease.get("runId") else ""
        return [
            f"{lease['device']} is yours, for {lease['ttlMs'] / 1000:g} s after each use "
            f"(session {lease['session']}{run}), now until {lease['until']}",
            f"leaseId: {lease['leaseId']}",
            f"Use it from anywhere with: --lease-id {lease['leaseId']}",
            f"When you are done: anydevice lease release --lease-id {lease['leaseId']}",
        ]
    if "released" in data:
        return [f"{data['device']} is given back; session {data['sessionEnded']} has ended"]
    if "queue" in data:
        rows = [
            [
                str(place["position"]),
                f"{place['waitedMs'] / 1000:.0f} s",
                asked_for(place) if place.get("yours") else "(somebody else)",
                place.get("offered", ""),
            ]
            for place in data["queue"]
        ]
        return table(["QUEUE", "WAITING FOR", "ASKED FOR", "KEPT FOR YOU"], rows) if rows else ["nobody waits"]
    rows = [
        [row["device"], row["until"], row.get("session") or "(somebody else)", row.get("tenant", ""),
         row.get("runId", ""), row.get("leaseId", "")]
        for row in data.get("leases", ())
    ]  # fmt: skip
    lines = table(["DEVICE", "UNTIL", "SESSION", "TENANT", "RUN", "LEASE ID"], rows) if rows else ["no leases"]
    return [*lines, f"{data['waiting']} in the queue"] if data.get("waiting") else lines


def asked_for(place: Row) -> str:
    """What somebody in the queue asked for: `platform=android`, or `any device`."""
    if "asked" not in place:
        return ""
    asked = {key: value for key, value in place["asked"].items() if key not in ("tenant", "runId")}
    return " ".join(f"{key}={value}" for key, value in asked.items()) or "any device"


_TABLES: dict[str, Callable[[Row], list[str]]] = {
    "devices": _devices,
    "session": _sessions,
    "doctor": _doctor,
    "capabilities": _capabilities,
    "lease": _lease,
    "snapshot": _snapshot,
    "command-search": _search,
}
