"""`simctl spawn`: the device's own programs `log` and `launchctl`."""

from __future__ import annotations

import calendar
import json
import re
import time
from collections.abc import Callable

import anyio

from ..device import LabDevice
from .asking import POSIX, SIM, STATE, Ask, Subcommand, error

Line = tuple[float, str, int, str]
_COMPARE = re.compile(
    r'(\w+)\s*(==|!=|CONTAINS|ENDSWITH|BEGINSWITH|LIKE)(\[cd?\])?\s*["\']([^"\']*)["\']', re.IGNORECASE
)
_SPAN = {"s": 1, "m": 60, "h": 3600, "d": 86400}
LOOKS = 0.05


async def spawn(ask: Ask) -> int:
    """`spawn [-w] DEVICE PROGRAM ARG…`."""
    while ask.words and ask.words[0].startswith("-"):
        ask.words.pop(0)
    device = ask.device()
    if device.state != "Booted":
        raise error(ask.call, SIM, STATE, "Process spawn via launchd failed because device is not booted.")
    program = ask.take("program").rpartition("/")[2]
    if program == "log":
        return await _log(ask, device)
    if program == "launchctl" and ask.words[:1] in (["list"], ["print"]):
        await ask.call.out("PID\tStatus\tLabel\n" + "".join(_services(device)))
        return 0
    if program in ("defaults", "notifyutil"):
        device.journal.add("spawn", program=program, args=ask.words)
        return 0
    text = "The operation couldn’t be completed. No such file or directory\nNo such file or directory"
    raise error(ask.call, POSIX, 2, text)


def _services(device: LabDevice) -> list[str]:
    rows = [f"{app.pid}\t0\tUIKitApplication:{app.id}[{app.pid & 0xFFFF:04x}][rb-legacy]\n"
            for app in device.machine.apps.values() if app.running]  # fmt: skip
    return ["-\t0\tcom.apple.mobile.softwareupdated\n", *rows]


async def _log(ask: Ask, device: LabDevice) -> int:
    """`log stream|show [--style S] [--predicate P] [--last 5m] [--level L] [--timeout N]`."""
    what = ask.words.pop(0) if ask.words else ""
    given = ask.switches("style", "predicate", "last", "level", "start", "end", "timeout", "process")
    style, predicate = given.get("style", "default"), given.get("predicate", "")
    try:
        wanted = _wanted(predicate)
    except ValueError:
        return await ask.call.fail(64, f'log: Unable to parse predicate: "{predicate}"\n')
    if predicate:
        await ask.call.out(f'Filtering the log data using "{predicate}"\n')
    if style in ("default", "compact", "syslog"):
        await ask.call.out("Timestamp                       Thread     Type        Activity             PID    TTL  \n")
    lines = device.machine.lines
    if what == "show":
        number, since = 0, _since(given)
        for line in list(lines):
            if line[0] >= since and wanted(line):
                number += 1
                await ask.call.out(_written(line, style, device))
        if style == "ndjson":
            await ask.call.out(json.dumps({"count": number, "finished": 1}) + "\n")
        return 0
    if what != "stream":
        return await ask.call.fail(64, "usage: log <command>\n")
    last = lines[-1] if lines else None
    while not ask.call.interrupted.is_set() and device.state == "Booted":
        found = list(device.machine.lines)
        news = found[found.index(last) + 1 :] if last in found else found
        for line in news:
            last = line
            if wanted(line):
                await ask.call.out(_written(line, style, device))
        with anyio.move_on_after(LOOKS):
            await ask.call.interrupted.wait()
    return 0


def _since(given: dict[str, str]) -> float:
    """From when on: `--last 5m`, `--start @EPOCH`, or `--start "2026-12-01 10:00:00"` in UTC."""
    start, last = given.get("start", ""), given.get("last", "1d")
    if start.startswith("@"):
        return float(start[1:])
    if start:
        return float(calendar.timegm(time.strptime(start[:19], "%Y-%m-%d %H:%M:%S")))
    return time.time() - float(last[:-1] or 0) * _SPAN.get(last[-1], 1)


def _written(line: Line, style: str, device: LabDevice) -> str:
    at, process, pid, text = line
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1e6):06d}+0000"
    if style in ("ndjson", "json"):
        row = {
            "timestamp": stamp, "processImagePath": f"{device.root}/{process}.app/{process}", "processID": pid,
            "eventMessage": text, "messageType": "Default", "eventType": "logEvent", "subsystem": "", "category": "",
            "threadID": pid + 1, "senderImagePath": f"{device.root}/{process}.app/{process}", "traceID": 0,
        }  # fmt: skip
        return json.dumps(row, ensure_ascii=False).replace("/", "\\/") + "\n"
    if style == "compact":
        return f"{stamp[:23]} Df {process}[{pid}:{pid + 1:x}] {text}\n"
    return f"{stamp} 0x{pid:<8x} Default     0x0                  {pid:<6} 0    {process}: {text}\n"


def _wanted(predicate: str) -> Callable[[Line], bool]:
    """What a predicate asks for: comparisons joined by AND and OR, without brackets around several.

    Raises:
        ValueError: It is not of this kind.
    """
    if not predicate:
        return lambda line: True
    ways = [
        [_comparison(part) for part in re.split(r"\s+(?:AND|&&)\s+", way, flags=re.IGNORECASE)]
        for way in re.split(r"\s+(?:OR|\|\|)\s+", predicate.strip(), flags=re.IGNORECASE)
    ]
    return lambda line: any(all(one(line) for one in way) for way in ways)


def _comparison(text: str) -> Callable[[Line], bool]:
    match = _COMPARE.fullmatch(text.strip().strip("()").strip())
    if match is None:
        raise ValueError(text)
    field, how, loose, wanted = match[1], match[2].upper(), bool(match[3]), match[4]

    def holds(line: Line) -> bool:
        _, process, pid, message = line
        facts = {"process": process, "processImagePath": f"/{process}.app/{process}", "eventMessage": message,
                 "processID": str(pid), "sender": process, "subsystem": "", "category": ""}  # fmt: skip
        have, want = facts.get(field, ""), wanted
        if loose:
            have, want = have.lower(), want.lower()
        like = re.fullmatch(re.escape(want).replace(r"\*", ".*"), have) is not None
        return {
            "==": have == want, "!=": have != want, "CONTAINS": want in have, "ENDSWITH": have.endswith(want),
            "BEGINSWITH": have.startswith(want), "LIKE": like,
        }[how]  # fmt: skip

    return holds


SUBCOMMANDS: dict[str, Subcommand] = {"spawn": spawn}
