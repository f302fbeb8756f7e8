"""Crash reports: the JSON of `.ips` files (from iOS 15 on) and the text of `.crash` files. Both shapes: Apple's
documents "Interpreting the JSON format of a crash report" and "Examining the fields in a crash report".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

FRAMES: Final = 20_000
"""Frames that are read: a recursion without end has half a thousand a thread."""
_THREAD: Final = re.compile(r"Thread (\d+)( Crashed)?:")
_LAST: Final = "Last Exception Backtrace:"
_FRAME: Final = re.compile(r"(\d+)\s+(\S.*?)\s+(0x[0-9a-fA-F]+)\s+(.*)")
_BARE: Final = re.compile(r"0x[0-9a-fA-F]+")
_UNNAMED: Final = re.compile(r"0x[0-9a-fA-F]+ \+ \d+")
_IMAGE: Final = re.compile(
    r"\s*(0x[0-9a-fA-F]+)\s+-\s+(0x[0-9a-fA-F]+)\s+\+?(\S.*?)\s+(\S+)\s+<([0-9a-fA-F-]{32,36})>\s*(.*)"
)
_FIELD: Final = re.compile(r"(Process|Identifier|Version|OS Version|Exception Type|Exception Codes):\s*(.+)")
EXCEPTION: Final = -1
"""The number of the backtrace of an exception that nobody caught, which is no thread's."""


class NoReport(ValueError):
    """It is no crash report that can be read."""


@dataclass(slots=True)
class Image:
    """A program or library that was loaded.

    Attributes:
        name, path: As the report has them.
        arch: Apple's word, `arm64`.
        uuid: Of its build: 32 upper-case hexadecimal digits; empty where it is not told.
        base, end: First address, and the one behind the last.
    """

    name: str
    arch: str
    uuid: str
    base: int
    end: int
    path: str = ""


@dataclass(slots=True)
class Frame:
    """One line of a backtrace.

    Attributes:
        thread: Its thread, or `EXCEPTION`.
        index: 0 = innermost.
        address: Where it was.
        image: Which image that is in; None where no image is there.
        symbol: What the report itself calls it.
        place: File and line, where known.
    """

    thread: int
    index: int
    address: int
    image: int | None
    symbol: str = ""
    place: str = ""


@dataclass(slots=True)
class Report:
    """A crash report.

    Attributes:
        facts: `app`, `process`, `version`, `os`, `exception`, … as far as it tells them.
        crashed: The thread that crashed, or None.
        cut: Frames that were left out.
    """

    facts: dict[str, str] = field(default_factory=dict)
    images: list[Image] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    crashed: int | None = None
    cut: int = 0


def parse(text: str) -> Report:
    """Reads a report of either shape.

    Raises:
        NoReport: It is none, or has no backtrace.
    """
    start = text.lstrip("\ufeff \r\n\t")
    try:
        report = _ips(start) if start.startswith("{") else _text(start.splitlines())
    except (AttributeError, TypeError, IndexError, OverflowError) as error:
        raise NoReport("it has another shape") from error
    if not report.frames:
        raise NoReport("it holds no backtrace")
    report.cut = max(0, len(report.frames) - FRAMES)
    del report.frames[FRAMES:]
    return report


def plain(uuid: str) -> str:
    """A UUID as 32 upper-case hexadecimal digits; empty where it is none."""
    found = uuid.replace("-", "").upper()
    return found if re.fullmatch(r"[0-9A-F]{32}", found) else ""


def _ips(text: str) -> Report:
    """Two JSON objects, one after the other: a line of facts, and the report. Some tools write the report alone."""
    reader = json.JSONDecoder()
    try:
        head, at = reader.raw_decode(text)
        rest = text[at:].strip()
        body = json.loads(rest) if rest else head
    except ValueError as error:
        raise NoReport("it begins like JSON and is none") from error
    images = [_image(row) for row in body.get("usedImages", ())]
    frames: list[Frame] = list(_frames(EXCEPTION, body.get("lastExceptionBacktrace") or (), images))
    crashed = body.get("faultingThread")
    for number, thread in enumerate(body.get("threads", ())):
        if thread.get("triggered") and not isinstance(crashed, int):
            crashed = number
        frames += _frames(number, thread.get("frames", ()), images)
    exception = body.get("exception") or {}
    why = " ".join(str(exception[name]) for name in ("type", "signal", "subtype") if exception.get(name))
    told = {
        "app": (body.get("bundleInfo") or {}).get("CFBundleIdentifier") or head.get("bundleID"),
        "process": body.get("procName") or head.get("app_name"),
        "version": (body.get("bundleInfo") or {}).get("CFBundleShortVersionString") or head.get("app_version"),
        "os": head.get("os_version"),
        "exception": why,
        "reason": (body.get("termination") or {}).get("indicator"),
    }
    facts = {name: str(value) for name, value in told.items() if value}
    return Report(facts, images, frames, crashed if isinstance(crashed, int) else None)


def _image(row: Mapping[str, Any]) -> Image:
    base, path = int(row.get("base", 0)), str(row.get("path", ""))
    name = str(row.get("name") or path.rpartition("/")[2])
    uuid = plain(str(row.get("uuid", "")))
    return Image(name, str(row.get("arch", "")), uuid, base, base + int(row.get("size", 0)), path)


def _frames(thread: int, rows: Iterable[Mapping[str, Any]], images: list[Image]) -> Iterable[Frame]:
    for index, row in enumerate(rows):
        number, offset = row.get("imageIndex"), int(row.get("imageOffset", 0))
        known = isinstance(number, int) and 0 <= number < len(images)
        base = images[number].base if known and number is not None else 0
        symbol = str(row.get("symbol") or "")
        if symbol and isinstance(row.get("symbolLocation"), int):
            symbol = f"{symbol} + {row['symbolLocation']}"
        place = f"{row['sourceFile']}:{row.get('sourceLine', '?')}" if row.get("sourceFile") else ""
        yield Frame(thread, index, base + offset, number if known else None, symbol, place)


def _text(lines: list[str]) -> Report:
    report = Report()
    names = {"Process": "process", "Identifier": "app", "Version": "version", "OS Version": "os",
             "Exception Type": "exception", "Exception Codes": "codes"}  # fmt: skip
    thread: int | None = None
    for line in lines:
        if told := _THREAD.fullmatch(line.strip()):
            thread = int(told[1])
            if told[2]:
                report.crashed = thread
        elif line.startswith(_LAST):
            thread = EXCEPTION
        elif image := _IMAGE.fullmatch(line):
            base, end = int(image[1], 16), int(image[2], 16) + 1
            report.images.append(Image(image[3], image[4], plain(image[5]), base, end, image[6].strip()))
        elif thread is not None and (frame := _FRAME.fullmatch(line.rstrip())):
            said = "" if _UNNAMED.fullmatch(frame[4]) else frame[4]
            report.frames.append(Frame(thread, int(frame[1]), int(frame[3], 16), None, said))
        elif thread == EXCEPTION and line.startswith("("):
            found = _BARE.findall(line)
            report.frames += [Frame(EXCEPTION, n, int(word, 16), None) for n, word in enumerate(found)]
        elif not line.strip():
            thread = None if report.frames and report.frames[-1].thread == thread else thread
        elif fact := _FIELD.fullmatch(line.strip()):
            report.facts.setdefault(names[fact[1]], fact[2])
    for one in report.frames:
        inside = (n for n, image in enumerate(report.images) if image.base <= one.address < image.end)
        one.image = next(inside, None)
    return report
