"""uinput -T: fingers, in single events (`-d -i -u`) or in whole gestures (`-m`, `-g`, `-c`).

As in the sources of the program (openharmony/multimodalinput_input, tools/inject_event, of 2024 and of 2026): a number
below zero ends it with 255, most other mistakes with 2, and a mistake after something was done does not undo that.
"""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from ...handset.touch import Spot
from ..framework import touch
from ..programs import Invocation

WRONG, NEGATIVE = 2, 255
"""Exit status: of a wrong count or time, and of a coordinate below zero (and of a few other mistakes)."""
LONGEST, KEPT_LONGEST = 15_000, 60_000
"""Milliseconds of a gesture, and of a rest at its end, at most."""
DEFAULT = 1_000
WORDS_MOST = 18
"""Words of a call with `-m`, its own name included, that it takes."""
BETWEEN = 0.02
"""Seconds it sleeps after each option."""
USAGE = """Usage: uinput <option> <command> <arg>...
The option are:
  -M  --mouse       -K  --keyboard       -T  --touch       -S --Stylus    -P --touchpad
"""
BELOW = "Coordinate value must be greater or equal than 0\n"
LAST = "If the command does not work as expected, check whether the specified coordinates exceed the screen boundary\n"


class Leave(Exception):
    """The program ends with a status."""

    def __init__(self, code: int, text: str = "invalid command\n") -> None:
        super().__init__(text)
        self.code = code


def integer(word: str, text: str = "invalid coordinate value\n", code: int = WRONG) -> int:
    """A whole number.

    Raises:
        Leave: It is none; what comes behind a number counts, too.
    """
    try:
        return int(word)
    except ValueError:
        raise Leave(code, text) from None


def milliseconds(word: str, most: int = LONGEST) -> float:
    """A time in milliseconds, as seconds.

    Raises:
        Leave: It is no number, or out of range.
    """
    value = integer(word, "invalid command to interval time\n")
    if not 1 <= value <= most:
        raise Leave(WRONG, f"takeTime is out of range. 1 <= takeTime <= {most}\n")
    return value / 1000


@dataclass
class _Down:
    """A finger that is down: since its last event it has stayed for so many seconds."""

    spot: Spot
    seconds: float = 0.0


async def run(call: Invocation, words: list[str]) -> None:
    """Does what the words behind `-T` say.

    Raises:
        Leave: Something is wrong; what stands before it was done.
    """
    machine = call.device.machine
    count = len(words) + 2
    words = list(words)
    down: _Down | None = None
    while words:
        word = words.pop(0)
        if word in ("-m", "--move"):
            if not 7 <= count <= WORDS_MOST:
                raise Leave(WRONG, f"wrong number of parameters:{count}\n")
            down = None  # it puts a finger down itself; one that was down is forgotten
            words = await (_old_move(call, words) if call.device.kind.old else _move(call, words))
        elif word in ("-d", "--down"):
            down = _Down(await _place(call, words, "down"))
        elif word in ("-i", "--interval"):
            seconds = milliseconds(words.pop(0) if words else "")
            await anyio.sleep(0 if down is not None else seconds)
            if down is not None:
                down.seconds += seconds
        elif word in ("-u", "--up"):
            spot = await _place(call, words, "up")
            if down is not None and down.spot == spot:
                await touch.tap(machine, spot, down.seconds)
            elif down is not None:
                await anyio.sleep(down.seconds)
                machine.journal.add("jump", start=list(down.spot), end=list(spot))  # nothing moved, nothing comes of it
            down = None
        elif word in ("-c", "--click"):
            await _click(call, count, words)
            words = words[2 if count == 5 else 3 :]
        elif word in ("-g", "--drag"):
            await _drag(call, count, words)
            words = words[4 if count == 7 else 6 :]
        elif word.startswith("-"):
            raise Leave(WRONG, "invalid command\n" + USAGE)
        await anyio.sleep(BETWEEN)
    if down is not None:
        await anyio.sleep(down.seconds)
        machine.journal.add("left_down", spot=list(down.spot))
    await call.out("" if call.device.kind.old else LAST)


async def _place(call: Invocation, words: list[str], what: str) -> Spot:
    """Takes two coordinates away that the words begin with."""
    if len(words) < 2:
        raise Leave(WRONG, "too few arguments to function\n")
    x, y = integer(words.pop(0)), integer(words.pop(0))
    if x < 0 or y < 0:
        raise Leave(NEGATIVE, BELOW)
    await call.out(f"touch {what} {x} {y}\n")
    return x, y


def _four(words: list[str], text: str = "invalid coordinate value\n", code: int = WRONG) -> tuple[Spot, Spot]:
    x1, y1, x2, y2 = (integer(word, text, code) for word in words[:4])
    if min(x1, y1, x2, y2) < 0:
        raise Leave(NEGATIVE, BELOW)
    return (x1, y1), (x2, y2)


async def _move(call: Invocation, words: list[str]) -> list[str]:
    """One finger or more go straight from place to place. All words that are left belong to it.

    Behind four numbers for each finger there is nothing, a time, `-k` and a rest, or both in either order; anything
    else is taken for the next finger, and is a mistake.
    """
    paths: list[tuple[Spot, Spot]] = []
    while len(words) >= 4:
        paths.append(_four(words))
        words = words[4:]
    total, keep = DEFAULT, 0
    if len(words) == 1:
        total = integer(words[0], "invalid total times\n")
    elif len(words) >= 2:
        at = next((place for place, word in enumerate(words[:-1]) if word == "-k"), -1)
        if at < 0:
            raise Leave(WRONG, "invalid keep times\n")
        keep = integer(words[at + 1], "invalid keep times\n")
        rest = words[:at] + words[at + 2 :]
        total = integer(rest[0], "invalid total times\n") if rest else DEFAULT
    if not 0 <= keep <= KEPT_LONGEST:
        raise Leave(WRONG, "invalid keep times\n")
    told = "".join(f"startX:{a[0]}, startY:{a[1]}, endX:{b[0]}, endY:{b[1]}\n" for a, b in paths)
    await call.out(f"{told}fingerCount:{len(paths)}\nkeepTimeMs:{keep}\nsmoothTimeMs:{total}\n")
    if not 1 <= total <= LONGEST:
        raise Leave(WRONG, f"total time is out of range:\n1 <= total times <= {LONGEST}\n")
    machine = call.device.machine
    if len(paths) == 1:
        await touch.swipe(machine, paths[0][0], paths[0][1], total / 1000, pause=keep / 1000)
    else:
        await touch.fingers(machine, [list(path) for path in paths], (total + keep) / 1000)
    return []


async def _old_move(call: Invocation, words: list[str]) -> list[str]:
    """As builds of early 2024 do it: one finger and a time; other options may follow, and numbers mean nothing."""
    if len(words) < 4:
        raise Leave(WRONG, "wrong number of parameters\n")
    timed = len(words) > 4 and not words[4].startswith("-")
    start, end = _four(words, "invalid coordinate value or total times\n")
    total = integer(words[4], "invalid coordinate value or total times\n") if timed else DEFAULT
    if not 1 <= total <= LONGEST:
        raise Leave(WRONG, f"total time is out of range:\n1 <= total times <= {LONGEST}\n")
    await touch.swipe(call.device.machine, start, end, total / 1000)
    rest = words[5 if timed else 4 :]
    if rest[:1] == ["-k"]:  # there it begins a gesture of knuckles, which wants more
        return []
    while rest and not rest[0].startswith("-"):
        rest = rest[1:]
    return rest


async def _click(call: Invocation, count: int, words: list[str]) -> None:
    """`-c X Y [MS]`, alone: a tap that takes 100 ms, or as long as is said."""
    if count not in (5, 6):
        raise Leave(NEGATIVE, "parameter error, unable to run\n")
    x, y = (integer(word, "input coordinate error\n", NEGATIVE) for word in words[:2])
    last = integer(words[2], "input coordinate or time error\n", NEGATIVE) if count == 6 else 100
    if not 1 <= last <= 450:
        raise Leave(NEGATIVE, "interval time is out of range: 1ms <= interval time <= 450ms\n")
    if x < 0 or y < 0:
        raise Leave(NEGATIVE, BELOW)
    await call.out(f"   click coordinate: ({x}, {y})\nclick interval time: {last}ms\n")
    await touch.tap(call.device.machine, (x, y), last / 1000)


async def _drag(call: Invocation, count: int, words: list[str]) -> None:
    """`-g X1 Y1 X2 Y2 [PRESS TOTAL]`, alone: a finger stays for the first time, and moves for what is left."""
    if count not in (7, 9):
        raise Leave(NEGATIVE, "wrong number of parameters\n")
    text = "invalid input coordinate or time\n"
    start, end = _four(words, text, NEGATIVE)
    press, total = (500, DEFAULT) if count == 7 else (integer(word, text, NEGATIVE) for word in words[4:6])
    if not 1000 <= total <= LONGEST:
        raise Leave(NEGATIVE, "total time input is error\n")
    if not 500 <= press <= 14_500:
        raise Leave(NEGATIVE, "press time is out of range\n")
    if total - press < 500:
        raise Leave(NEGATIVE, "[total time] - [Press time] not less than 500ms\n")
    await call.out(f"pressTimems:{press}\ntotalTimeMs:{total}\n")
    await touch.swipe(call.device.machine, start, end, (total - press) / 1000, press / 1000)
