"""input: taps, swipes, keys and text."""

from __future__ import annotations

import time

import anyio

from ...handset import touch
from ...handset.keys import type_text
from ..framework.keys import MODIFIERS, name_of, press_key
from ..programs import Invocation, Program

SOURCES = (
    "touchscreen", "touchpad", "touchnavigation", "keyboard", "mouse", "dpad", "gamepad", "joystick", "trackball",
    "rotaryencoder", "stylus",
)  # fmt: skip
USAGE = (
    "Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]\n\nThe sources are: \n"
    + "".join(f"      {source}\n" for source in SOURCES)
    + "\nThe commands and default sources are:\n      text <string> (Default: touchscreen)\n"
    "      keyevent [--longpress] <key code number or name> ... (Default: keyboard)\n"
    "      tap <x> <y> (Default: touchscreen)\n"
    "      swipe <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)\n"
    "      draganddrop <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)\n"
)
NOT_ASCII = """
Exception occurred while executing 'text':
java.lang.NullPointerException: Attempt to get length of null array
\tat com.android.server.input.InputShellCommand.sendText(InputShellCommand.java:338)
\tat com.android.server.input.InputShellCommand.runText(InputShellCommand.java:310)
\tat com.android.server.input.InputShellCommand.onCommand(InputShellCommand.java:251)
\tat com.android.modules.utils.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:97)
\tat android.os.ShellCommand.exec(ShellCommand.java:38)
"""
LONG_PRESS = 0.5
SWIPE = 0.3
"""Seconds a swipe takes unless told otherwise."""


async def input(call: Invocation) -> int:
    """Injects input; returns once it was handled, or after 5 s where the app does not answer."""
    words = list(call.args)
    while words and (words[0] in SOURCES or words[0] == "-d"):
        del words[: 2 if words[0] == "-d" else 1]
    if not words:
        await call.err(USAGE)
        return 255
    verb, *rest = words
    if call.device.faults.active("input_ignored", " ".join(words)) is not None:
        return 0
    try:
        code = await _do(call, verb, rest)
    except (ValueError, IndexError):
        await call.err(f"Error: Invalid arguments for command: {verb}\n{USAGE}")
        return 255
    if call.device.machine.practice.frozen_for:
        await anyio.sleep(min(5.0, call.device.machine.practice.frozen_for))
    return code


async def _do(call: Invocation, verb: str, rest: list[str]) -> int:
    machine = call.device.machine
    if verb == "tap":
        await touch.tap(machine, (float(rest[0]), float(rest[1])))
    elif verb in ("swipe", "draganddrop"):
        x1, y1, x2, y2 = (float(word) for word in rest[:4])
        seconds = float(rest[4]) / 1000 if len(rest) > 4 else SWIPE
        await touch.swipe(machine, (x1, y1), (x2, y2), seconds, LONG_PRESS if verb == "draganddrop" else 0.0)
    elif verb == "text":
        return await _text(call, rest)
    elif verb == "keyevent":
        return await _keys(call, rest)
    elif verb == "keycombination":
        words = rest[2:] if rest[:1] == ["-t"] else rest
        names = [name_of(word) for word in words]
        if None in names or not names:
            raise ValueError
        held = tuple(MODIFIERS[name] for name in names[:-1] if name in MODIFIERS)
        press_key(machine, names[-1] or "", held)
    elif verb == "motionevent":
        await _motion(call, rest)
    elif verb in ("press", "roll"):
        press_key(machine, "DPAD_CENTER" if verb == "press" else "DPAD_DOWN")
    elif verb == "scroll":
        await _scroll(call, rest)
    else:
        await call.err(f"Error: Unknown command: {verb}\n{USAGE}")
        return 255
    return 0


async def _text(call: Invocation, rest: list[str]) -> int:
    text = rest[0].replace("%s", " ")
    if not text.isascii():
        await call.err(NOT_ASCII)
        return 255
    if call.device.faults.active("text_lost", text) is not None:
        text = text[::2]
    type_text(call.device.machine, text)
    return 0


async def _keys(call: Invocation, rest: list[str]) -> int:
    longer = [word for word in rest if word.startswith("--")]
    words = [word for word in rest if not word.startswith("--")]
    if not words:
        raise IndexError
    for word in words:
        name = name_of(word)
        if name is None:
            await call.err(f"Error: Unknown keycode: {word}\n")
            return 255
        seconds = LONG_PRESS if "--longpress" in longer else 0.0
        await anyio.sleep(seconds)
        press_key(call.device.machine, name, seconds=seconds)
    return 0


async def _motion(call: Invocation, rest: list[str]) -> None:
    machine = call.device.machine
    verb, spot = rest[0].upper(), (float(rest[1]), float(rest[2])) if len(rest) > 2 else None
    finger = machine.finger
    if verb == "DOWN" and spot is not None:
        machine.finger = touch.Finger([spot], time.monotonic())
    elif verb == "MOVE" and finger is not None and spot is not None:
        finger.path.append(spot)
    elif verb == "UP" and finger is not None:
        machine.finger = None
        path = [*finger.path, spot] if spot is not None else finger.path
        seconds = time.monotonic() - finger.since
        call.device.journal.add("motion", path=[list(one) for one in path], seconds=round(seconds, 3))
        touch.release(machine, path, seconds)
    elif verb == "CANCEL":
        machine.finger = None
    elif verb not in ("UP", "MOVE"):
        raise ValueError


async def _scroll(call: Invocation, rest: list[str]) -> None:
    machine = call.device.machine
    axes = {rest[i]: float(rest[i + 1]) for i in range(len(rest) - 1) if rest[i].startswith("--axis")}
    amount = axes.get("--axis", 0.0)
    for word in rest:
        name, _, value = word.partition(",")
        if name == "VSCROLL" and value:
            amount = float(value)
    machine.target_screen.scroll(-amount * 64)


PROGRAMS: dict[str, Program] = {"input": input}
