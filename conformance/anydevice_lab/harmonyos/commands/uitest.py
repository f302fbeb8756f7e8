"""uitest: the layout, input, pictures, and the daemon of an agent.

Only one call can work at a time: calls that overlap block each other, until they run into their time limit.
"""

from __future__ import annotations

import re
import secrets
import time
from math import hypot

import anyio

from ..framework import keys, touch
from ..framework.arkui import Asked, Node
from ..programs import Invocation, Program
from .looking import save_picture

FINE = "No Error\n"
NO_DISPLAY = "Invalid display id.\n"
BAD_PLACE = "Please confirm that the coordinate values are correct. \n"
INVALID = "Invalid parameters. \n"
COUNT = "The number of parameters is incorrect. \n"
MISSING = "Missing parameter. \n"
TOO_MANY = " Too many parameters. \n"
VELOCITY = "The swipe velocity out of range, the default value will be used. \n"
USAGE = """\
USAGE :
help                                                                print uiInput usage
dircFling <direction> [velocity] [stepLength] [displayId]           0,1,2,3 (left, right, up, down)
click/doubleClick/longClick <x> <y> [displayId]                     click on the target coordinates
swipe/drag <from_x> <from_y> <to_x> <to_y> [velocity] [displayId]   velocity ranges from 200 to 40000, default 600
fling <from_x> <from_y> <to_x> <to_y> [velocity] [stepLength] [displayId]
keyEvent <keyID/Back/Home/Power> [displayId]                        inject keyEvent
keyEvent <keyID_0> <keyID_1> [keyID_2] [displayId]                  keyID_2 defaults to None
inputText <x> <y> <text> [displayId]                                inputText at the target coordinate point
"""
NEWER_USAGE = "text <text> [displayId]                     input text at the location where is already focused\n"
HELP = """\
usage: uitest <command> [options]
help                                            print help messages
screenCap                                       capture the current screen
dumpLayout                                      get the current layout information
start-daemon <token>                            start the test process
uiInput                                         inject Ui simulation operations
--version                                       print current tool version
"""
KEYS = {"Home": 1, "Back": 2, "Power": 18}
SLOWEST, FASTEST, DEFAULT = 200, 40_000, 600
PASTED_FROM = 200
"""Bytes up to which a text is typed by keys."""
LONG, DRAG_HOLD, BEFORE_TEXT = 1.5, 1.5, 0.5
"""Seconds: of a long click, of the hold at the start of a drag, and between the tap and the text of `inputText`."""
FROZEN = 5.0
WITH_UNIQUE = 24
"""Level from which on nodes can be told with `uniqueId`."""


async def uitest(call: Invocation) -> int:
    """Runs one subcommand; what overlaps with another call is blocked."""
    device = call.device
    if not call.args:
        await call.out(f"Missing argument\n{HELP}")
        return 1
    if call.args[0] in ("--version", "help"):
        await call.out(f"{device.kind.uitest}\n" if call.args[0] == "--version" else HELP)
        return 0
    began, others = time.monotonic(), device.testing > 0
    device.testing += 1
    device.overlapped = device.overlapped or others
    try:
        if others:
            device.journal.add("overlap", args=call.args)
            await anyio.sleep(device.overlap_seconds)
        code = await _run(call)
        if device.overlapped and not others:
            await anyio.sleep(max(0.0, began + device.overlap_seconds - time.monotonic()))
        return code
    finally:
        device.testing -= 1
        device.overlapped = device.overlapped and device.testing > 0


async def _run(call: Invocation) -> int:
    verb, rest = call.args[0], call.args[1:]
    if verb == "uiInput":
        return await _input(call, rest)
    if verb == "dumpLayout":
        return await _dump(call, rest)
    if verb == "screenCap":
        return await _picture(call, rest)
    if verb == "start-daemon":
        return await _daemon(call, rest)
    await call.out(f"Illegal argument: {verb}\n{HELP}")
    return 1


def _option(words: list[str], name: str, default: str = "") -> str:
    return words[words.index(name) + 1] if name in words and words.index(name) + 1 < len(words) else default


# --- input ---


class _Wrong(Exception):
    """A call that is refused; its text is the first line of what is said."""


async def _input(call: Invocation, rest: list[str]) -> int:
    usage = USAGE if call.device.kind.old else USAGE + NEWER_USAGE
    try:
        if len(rest) < 2:
            raise _Wrong(MISSING)
        if rest[1] == "help":
            await call.out(f"{usage}\n")
            return 0
        verb, *words = rest
        words, display = _display(call, verb, words)
        ignored = display not in ("", "0") or call.device.faults.active("input_ignored", " ".join(rest)) is not None
        warned = await _do(call, verb, words, ignored)
    except _Wrong as wrong:
        await call.out(f"{wrong}\n{usage}\n")
        return 1
    # A display there is not is told, and ends well all the same.
    await call.out((f"{VELOCITY}\n" if warned else "") + (FINE if display in ("", "0") else NO_DISPLAY))
    return 0


LEAST_AND_MOST = {
    "click": (2, 2), "doubleClick": (2, 2), "longClick": (2, 2), "swipe": (4, 5), "drag": (4, 5), "fling": (4, 6),
    "dircFling": (1, 3), "inputText": (3, 3), "text": (1, 1), "keyEvent": (1, 3),
}  # fmt: skip
"""How many words there are behind each verb; newer builds take a display behind the most."""
COUNTED = ("click", "doubleClick", "longClick", "inputText", "text")
"""Verbs that say of every wrong count that it is one."""


def _display(call: Invocation, verb: str, words: list[str]) -> tuple[list[str], str]:
    """The words without the display at their end, and that as the number it is taken for; empty = none is named."""
    if verb not in LEAST_AND_MOST or (verb == "text" and call.device.kind.old):
        raise _Wrong(INVALID)
    least, most = LEAST_AND_MOST[verb]
    if verb == "keyEvent" and words[0] in KEYS:
        most = 1
    if len(words) < least:
        raise _Wrong(COUNT if verb in COUNTED else MISSING)
    if len(words) <= most:
        return words, ""
    if len(words) > most + 1 or call.device.kind.old:
        raise _Wrong(COUNT if verb in COUNTED else TOO_MANY)
    return words[:most], str(_number(words[most]))


def _number(word: str) -> int:
    """The number a word begins with; 0 if with none, as C's atoi has it."""
    found = re.match(r"\s*[+-]?\d+", word)
    return int(found[0]) if found is not None else 0


def _places(words: list[str]) -> list[int]:
    """Coordinates, each above zero."""
    found = [_number(word) for word in words]
    if any(value <= 0 for value in found):
        raise _Wrong(BAD_PLACE)
    return found


async def _do(call: Invocation, verb: str, words: list[str], ignored: bool) -> bool:
    """Does one input; whether its velocity was out of range."""
    machine = call.device.machine
    if verb in ("click", "doubleClick", "longClick"):
        x, y = _places(words)
        if not ignored:
            await touch.tap(machine, (x, y), LONG if verb == "longClick" else 0.0)
            if verb == "doubleClick":
                await anyio.sleep(0.05)
                await touch.tap(machine, (x, y))
        return False
    if verb in ("swipe", "drag", "fling"):
        x1, y1, x2, y2 = _places(words[:4])
        speed, warned = _speed(words[4:5])
        far = hypot(x2 - x1, y2 - y1)
        if len(words) > 5 and not 0 < _number(words[5]) <= far:
            raise _Wrong("The stepLen is out of range")
        if not ignored:
            await touch.swipe(machine, (x1, y1), (x2, y2), far / speed, DRAG_HOLD if verb == "drag" else 0.0)
        return warned
    if verb == "dircFling":
        return await _fling(call, words, ignored)
    if verb == "inputText":
        x, y = _places(words[:2])
        if not ignored:
            await touch.tap(machine, (x, y))
            await anyio.sleep(BEFORE_TEXT)
            _type(call, words[2])
        return False
    if verb == "text":
        if not ignored:
            _type(call, words[0])
        return False
    _keys(call, words, ignored)
    return False


def _speed(words: list[str]) -> tuple[int, bool]:
    if not words:
        return DEFAULT, False
    speed = _number(words[0])
    return (speed, False) if SLOWEST <= speed <= FASTEST else (DEFAULT, True)


async def _fling(call: Invocation, words: list[str], ignored: bool) -> bool:
    """From a quarter of the display beside the middle, on the side that is named, to the middle."""
    way = _number(words[0])
    if way not in (0, 1, 2, 3):
        raise _Wrong(f"Illegal argument: {way}")
    speed, warned = _speed(words[1:2])
    width, height = call.device.machine.geometry.size
    x, y = width // 2, height // 2
    dx, dy = ((-(width // 4), 0), (width // 4, 0), (0, -(height // 4)), (0, height // 4))[way]
    if not ignored:
        await touch.swipe(call.device.machine, (x + dx, y + dy), (x, y), hypot(dx, dy) / speed)
    return warned


def _type(call: Invocation, text: str) -> None:
    """Types a text by keys; one that is long, or that keys cannot type, is pasted, and stays in the clipboard."""
    machine = call.device.machine
    text = text.split("\n", maxsplit=1)[0]
    if len(text.encode()) > PASTED_FROM or not all(" " <= letter <= "~" for letter in text):
        machine.clipboard = text
    if call.device.faults.active("text_lost", text) is not None:
        text = text[::2]
    keys.type_text(machine, text)


def _keys(call: Invocation, words: list[str], ignored: bool) -> None:
    """One key, or up to three together: all go down in turn, and up again."""
    codes = [KEYS[words[0]]] if words[0] in KEYS else [_number(word) for word in words]
    if not codes[0]:
        raise _Wrong(INVALID)
    if not ignored:
        held: list[str] = []
        for code in filter(None, codes):
            if code in keys.MODIFIERS:
                held.append(keys.MODIFIERS[code])
            else:
                keys.press(call.device.machine, code, tuple(held))


# --- looking ---


async def _dump(call: Invocation, rest: list[str]) -> int:
    device, machine = call.device, call.device.machine
    path = _option(rest, "-p") or f"/data/local/tmp/layout_{secrets.randbelow(10**9)}.json"
    device.journal.add("dump", path=path, args=rest)
    if slow := device.faults.active("dump_slow"):
        await anyio.sleep(slow.seconds)
    problem = _mistake(call, rest)
    if problem:
        await call.out(problem)
        return 1
    try:
        call.path(path).write_text("", "utf-8")
    except OSError as error:
        await call.out(f"DumpLayout failed:Error path:{path}{error.strerror}\n")
        return 1
    frozen = machine.practice.frozen_for
    if frozen and not machine.locked:
        await anyio.sleep(min(frozen, FROZEN))
    if device.faults.active("dump_fails") or machine.practice.frozen_for or _option(rest, "-d", "0") != "0":
        await call.out("DumpLayout failed:Get window nodes failed\n")
        return 1
    stale = device.faults.active("stale")
    raw = "-i" in rest
    asked = Asked(
        raw, "-a" in rest, _option(rest, "-m", "true") == "true", "-e" in rest, _option(rest, "-b"), _option(rest, "-w")
    )
    tree: Node = stale.data if stale is not None else machine.layout(asked)
    text = tree.text(raw=raw)
    if device.faults.active("dump_cut") is not None:
        text = text[: len(text) // 2]
    call.path(path).write_text(text, "utf-8")
    await call.out(f"DumpLayout saved to:{path}\n")
    return 0


def _mistake(call: Invocation, rest: list[str]) -> str:
    """What is wrong with the options of dumpLayout; empty = nothing."""
    if "-i" in rest and "-a" in rest:
        return "The -a and -i options cannot be used together.\n"
    if _option(rest, "-m", "true") not in ("true", "false"):
        return f"Invalid params\n{HELP}"
    if "-e" in rest and (call.device.kind.api < WITH_UNIQUE or _option(rest, "-e") != "uniqueId"):
        return "Invalid attribute name, currently supported names are 'uniqueId'.\n"
    return ""


async def _picture(call: Invocation, rest: list[str]) -> int:
    path = _option(rest, "-p") or f"/data/local/tmp/screenCap_{secrets.randbelow(10**9)}.png"
    if await save_picture(call, path, png=True) != "":
        await call.out(f"ScreenCap failed: Error path:{path}\n")
        return 1
    await call.out(f"ScreenCap saved to {path}\n")
    return 0


async def _daemon(call: Invocation, rest: list[str]) -> int:
    """The daemon of an agent goes on by itself and says nothing; there is no agent to load here, so it ends at once."""
    call.device.machine.log.add("E", "uitest", "Failed to load agent.so: no such file", domain="C03120")
    return 0 if rest else 1


PROGRAMS: dict[str, Program] = {"uitest": uitest}
