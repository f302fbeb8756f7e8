"""uinput: keys, a mouse and a touchpad; fingers are in `uinput_touch.py`. What it prints differs between builds."""

from __future__ import annotations

import anyio

from ..framework import keys, touch
from ..programs import Invocation, Program
from . import uinput_touch
from .uinput_touch import BELOW, BETWEEN, DEFAULT, LONGEST, NEGATIVE, USAGE, WRONG, Leave, integer, milliseconds

TEXT_MOST = 2000
"""Characters of one text."""
HELD_SHORTEST, HELD_LONGEST = 3000, 15_000
"""Milliseconds of a long press of a key."""


async def uinput(call: Invocation) -> int:
    """`uinput -T|-S|-K|-M|-P ...`."""
    device, words = call.device, list(call.args)
    if not words:
        await call.out("too few arguments to function\n" + USAGE)
        return WRONG
    if device.faults.active("input_ignored", " ".join(words)) is not None:
        return 0
    kinds = {
        "-T": uinput_touch.run, "--touch": uinput_touch.run, "-S": uinput_touch.run, "--stylus": uinput_touch.run,
        "-K": _keyboard, "--keyboard": _keyboard, "-M": _mouse, "--mouse": _mouse, "-P": _touchpad,
        "--touchpad": _touchpad,
    }  # fmt: skip
    if words[0] in ("-?", "--help"):
        await call.out(USAGE)
        return 0
    try:
        if words[0] not in kinds:
            raise Leave(WRONG, "invalid command\n" + USAGE)
        await kinds[words[0]](call, words[1:])
    except Leave as left:
        await call.out(str(left))
        return left.code
    return 0


async def _keyboard(call: Invocation, words: list[str]) -> None:
    machine = call.device.machine
    down: list[int] = []
    used: set[int] = set()
    seconds, alone = 0.0, len(words) == 2
    words = list(words)
    while words:
        word = words.pop(0)
        value = words.pop(0) if words else ""
        if word in ("-d", "--down"):
            down.append(integer(value, "invalid command to down key\n"))
        elif word in ("-i", "--interval"):
            seconds += milliseconds(value)
            await anyio.sleep(milliseconds(value))
        elif word in ("-u", "--up"):
            code = integer(value, "invalid button press command\n")
            if code not in down:
                raise Leave(WRONG, f"please press the {code} key first \n")
            await call.out(f"you raised the key {code}\n")
            down.remove(code)
            held = tuple(keys.MODIFIERS[c] for c in down if c in keys.MODIFIERS)
            if code not in used and code not in keys.MODIFIERS:
                keys.press(machine, code, held, seconds)
                used.update(down)
            seconds = 0.0
        elif word in ("-l", "--long_press", "-r", "--repeat"):
            code, last = _long(value, words)
            await call.out(f" key code: {code}\nlong press time: {last} ms\n")
            await anyio.sleep(last / 1000)
            keys.press(machine, code, (), last / 1000)
        elif word in ("-t", "--text") and not call.device.kind.old:
            await _text(call, value, alone)
        else:
            raise Leave(WRONG, "invalid command to keyboard key\n" + USAGE)
        await anyio.sleep(BETWEEN)
    for code in down:
        machine.journal.add("left_down", code=code)
        await call.out(f"you have a key {code} not release\n")


def _long(value: str, words: list[str]) -> tuple[int, int]:
    """Code and milliseconds of a key that is held."""
    code = integer(value, "invalid key code value\n", NEGATIVE)
    last = integer(words.pop(0), "invalid key code value or press time\n", NEGATIVE) if words else HELD_SHORTEST
    if not 0 <= code <= 5000 or not HELD_SHORTEST <= last <= HELD_LONGEST:
        raise Leave(NEGATIVE, "key code or press time is out of range\n")
    return code, last


async def _text(call: Invocation, text: str, alone: bool) -> None:
    """Types what keys can type: of a text with other characters what stands before the first of them."""
    if not alone:
        raise Leave(NEGATIVE, "The text command cannot be used with other commands.\n")
    if not text:
        raise Leave(NEGATIVE, "The input is empty.\n")
    wrong = next((at for at, letter in enumerate(text) if not " " <= letter <= "~"), len(text))
    typed = text[: min(wrong, TEXT_MOST)]
    if call.device.faults.active("text_lost", text) is not None:
        typed = typed[::2]
    if typed:
        await anyio.sleep(len(typed) * BETWEEN)
        keys.type_text(call.device.machine, typed)
    if wrong < min(len(text), TEXT_MOST):
        raise Leave(NEGATIVE, f"The character of index  {wrong} is invalid.\n")


async def _mouse(call: Invocation, words: list[str]) -> None:
    """A pointer moves (`-m X Y`), clicks (`-c BUTTON`, `-d`, `-u`, `-b`) and scrolls (`-s`) and drags (`-g`)."""
    machine = call.device.machine
    words = list(words)
    pressed = False
    while words:
        word = words.pop(0)
        numbers: list[int] = []
        while words and words[0].lstrip("-").isdigit():
            numbers.append(integer(words.pop(0)))
        if not numbers:
            raise Leave(NEGATIVE, "too few arguments to function\n")
        if word in ("-m", "--move"):
            if len(numbers) < 2:
                raise Leave(NEGATIVE, "too few arguments to function\n")
            machine.pointer = (numbers[-2], numbers[-1]) if len(numbers) == 2 else (numbers[2], numbers[3])
            machine.hover(machine.pointer)
        elif word in ("-s", "--scroll"):
            machine.front.screen.scroll(numbers[0])
        elif word in ("-c", "--click", "-b", "--double_click"):
            for _ in range(2 if word in ("-b", "--double_click") else 1):
                await touch.tap(machine, machine.pointer)
        elif word in ("-d", "--down", "-u", "--up"):
            if word in ("-u", "--up") and pressed:
                await touch.tap(machine, machine.pointer)
            pressed = word in ("-d", "--down")
        elif word in ("-g", "--drag"):
            await _drag(call, numbers)
        elif word in ("-i", "--interval"):
            await anyio.sleep(milliseconds(str(numbers[0])))
        else:
            raise Leave(WRONG, "invalid command\n" + USAGE)
        await anyio.sleep(BETWEEN)


async def _drag(call: Invocation, numbers: list[int]) -> None:
    """`-g X1 Y1 X2 Y2 [MS]`: with the left button down."""
    if len(numbers) < 4:
        raise Leave(NEGATIVE, "Wrong number of parameters\n")
    if min(numbers[:4]) < 0:
        raise Leave(NEGATIVE, BELOW)
    total = numbers[4] if len(numbers) > 4 else DEFAULT
    if not 1 <= total <= LONGEST:
        raise Leave(NEGATIVE, "Total time is out of range\n")
    machine = call.device.machine
    await touch.drag_mouse(machine, (numbers[0], numbers[1]), (numbers[2], numbers[3]), total / 1000)
    machine.pointer = (numbers[2], numbers[3])


async def _touchpad(call: Invocation, words: list[str]) -> None:
    """A pinch: `-p X Y PERCENT`."""
    tips = "uinput -P -p dx, dy, scalePercent; dx, dy, scalePercent are all number.\n"
    if words[:1] not in (["-p"], ["--pinch"]):
        raise Leave(WRONG, "invalid command\n" + USAGE)
    if len(words) != 4:
        raise Leave(NEGATIVE, tips)
    x, y, percent = (integer(word, tips, NEGATIVE) for word in words[1:])
    if not 1 <= percent <= 500 or x <= 0 or y <= 0:
        raise Leave(NEGATIVE, tips)
    await call.out(f"scalePercent:{percent}\n")
    near, far = 60.0, 60.0 * percent / 100
    paths = [[(x - near, y), (x - far, y)], [(x + near, y), (x + far, y)]]
    await touch.fingers(call.device.machine, paths, 0.3)


PROGRAMS: dict[str, Program] = {"uinput": uinput}
