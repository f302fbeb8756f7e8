"""vlcm and vmsgr: what runs, and messages that start it."""

from __future__ import annotations

import time
from itertools import pairwise

from ..programs import Invocation, Program

COLUMNS = ("application", "pid", "id", "state", "launch args")
REFUSED = "CLI Send Error for URI: {}: []: Failed to send message, remote error\n"
DEPRECATED = "Please migrate to 'vmsgr send' command.\n"
USAGE = "Usage: vlcm list | crash-history | terminate-app --pkg-id ID|--pid N [--force] | launch-app URI\n"


async def vlcm(call: Invocation) -> int:
    """Lists what runs, ends apps, tells of crashes."""
    verb, rest = (call.args[0], call.args[1:]) if call.args else ("", [])
    if verb == "list":
        await call.out(_table(call))
        return 0
    if verb == "crash-history":
        await call.out(_crashes(call))
        return 0
    if verb == "terminate-app":
        return await _terminate(call, rest)
    if verb == "launch-app" and rest:
        await call.err(DEPRECATED)
        return await _send(call, rest[0])
    await call.err(USAGE)
    return 1


def _table(call: Invocation) -> str:
    machine = call.device.machine
    rows = [COLUMNS]
    for app in machine.apps.values():
        if app.running:
            state = "foreground" if app is machine.front else "background"
            words = ",".join(f"{name}={value}" for name, value in app.arguments.items()) or "<none>"
            rows.append((app.component, str(app.pid), str(app.number), state, words))
    widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
    lines = ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"


def _crashes(call: Invocation) -> str:
    rows = [
        f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(at))}  {name}  {pid}  SIGABRT\n"
        for at, name, pid in call.device.machine.crashes
    ]
    return "timestamp            application  pid  reason\n" + "".join(rows)


async def _terminate(call: Invocation, words: list[str]) -> int:
    machine = call.device.machine
    value = dict(pairwise(words))
    found = None
    if "--pkg-id" in value:
        found = machine.apps.get(value["--pkg-id"])
    elif value.get("--pid", "").isdigit():
        found = next((app for app in machine.apps.values() if app.pid == int(value["--pid"])), None)
    if found is None or not found.running or found.id == machine.launcher:
        await call.err("Error: no such application is running\n")
        return 1
    call.device.journal.add("terminate", id=found.id)
    machine.stop(found)
    return 0


async def vmsgr(call: Invocation) -> int:
    """Sends a message to a component, or opens an address."""
    if call.args[:1] != ["send"] or len(call.args) < 2:
        await call.err("Usage: vmsgr send URI\n")
        return 1
    return await _send(call, call.args[1])


async def _send(call: Invocation, uri: str) -> int:
    call.device.journal.add("send", uri=uri)
    if not call.device.machine.send(uri):
        await call.err(REFUSED.format(uri))
        return 255
    return 0


PROGRAMS: dict[str, Program] = {"vlcm": vlcm, "vmsgr": vmsgr}
