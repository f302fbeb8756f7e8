"""loggingctl and journalctl: the device's log."""

from __future__ import annotations

from ..log import PRIORITIES, Line, moment
from ..programs import Invocation, Program


async def loggingctl(call: Invocation) -> int:
    """`log` prints the log, `vault` tells what is kept of earlier boots."""
    if call.args[:1] == ["vault"]:
        await call.out("No logs in vault.\n")
        return 0
    if call.args[:1] != ["log"]:
        await call.err("Usage: loggingctl log [-f] [-v|--vpkg PKG] [-S SINCE] [-o FORM] [--priority P] | vault\n")
        return 1
    return await _print(call, call.args[1:], form="short_precise")


async def journalctl(call: Invocation) -> int:
    """Prints the log."""
    return await _print(call, call.args, form="short")


async def _print(call: Invocation, words: list[str], *, form: str) -> int:
    words = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    follow, package, since, priority, lines = False, "", 0.0, len(PRIORITIES) - 1, 0
    try:
        while words:
            word = words.pop(0)
            if word in ("-f", "--follow"):
                follow = True
            elif word in ("-v", "--vpkg"):
                package = words.pop(0)
            elif word in ("-S", "--since"):
                since = moment(words.pop(0))
            elif word in ("-o", "--output"):
                form = words.pop(0).replace("-", "_")
            elif word in ("-p", "--priority"):
                name = words.pop(0)
                priority = int(name) if name.isdigit() else PRIORITIES.index(name)
            elif word in ("-n", "--lines"):
                lines = int(words.pop(0))
            elif word != "--no-pager":
                raise ValueError(f"unrecognized option '{word}'")
    except (ValueError, IndexError) as error:
        await call.err(f"{call.name}: {error}\n")
        return 1
    log = call.device.machine.log
    if follow and not lines:
        lines = 10

    def wanted(line: Line) -> bool:
        return line.at >= since and line.priority <= priority and package in ("", line.package)

    shown, seen = [line for line in log.since(0) if wanted(line)], log.count
    await call.out("".join(line.shown(form) + "\n" for line in (shown[-lines:] if lines else shown)))
    while follow and not call.interrupted.is_set():
        await log.more()
        found, seen = log.since(seen), log.count
        await call.out("".join(line.shown(form) + "\n" for line in found if wanted(line)))
    return 130 if call.interrupted.is_set() else 0


PROGRAMS: dict[str, Program] = {"loggingctl": loggingctl, "journalctl": journalctl}
