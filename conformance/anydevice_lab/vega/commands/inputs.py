"""inputd-cli: keys, text, touches. It needs developer mode, and reports success whether or not anything was reached."""

from __future__ import annotations

import anyio

from ...handset import touch
from ...handset.keys import type_text
from ..apps import LAUNCHER
from ..keys import name_of, press_key
from ..programs import Invocation, Program

NO_SERVICE = "Error: No running instances of com.amazon.dev.shell.service found\n"
USAGE = """inputd cli
    Usage:
      inputd-cli start
      inputd-cli button_press <key> ([short|long|superLong|repeat]|--holdDuration <duration>)
      inputd-cli touch <x> <y> [<x2>] [<y2>] [<x3>] [<y3>] [<x4>] [<y4>]
      inputd-cli swipe <x_start> <y_start> <x_end> <y_end> ...
      inputd-cli mouse_click <x> <y>
      inputd-cli send_text <text>
      inputd-cli series <command> ...
      inputd-cli list_devices
      inputd-cli get_screen_size
      inputd-cli get_mic_state
      inputd-cli get_camera_cover_open_close
"""
HELD = {"short": 0.05, "long": 1.0, "superLong": 5.0, "repeat": 0.05}
"""Seconds a key stays down, by the word for it."""
REPEATS = 5
SWIPE = 0.3


async def inputd_cli(call: Invocation) -> int:
    """Injects input."""
    if not call.device.machine.developer or call.device.faults.active("no_service") is not None:
        await call.out(NO_SERVICE)
        return 0
    verb, rest = (call.args[0], call.args[1:]) if call.args else ("", [])
    if verb == "start":
        return await _converse(call)
    if not verb:
        await call.out(USAGE)
        return 0
    return await _do(call, verb, rest)


async def _converse(call: Invocation) -> int:
    """Reads commands until `x`."""
    kept = b""
    while True:
        await call.out("> ")
        while b"\n" not in kept:
            data = await call.read()
            if not data:
                return 0
            kept += data
        line, _, kept = kept.partition(b"\n")
        words = line.decode("utf-8", "replace").split()
        if words == ["x"]:
            return 0
        if words:
            await _do(call, words[0], words[1:])


async def _do(call: Invocation, verb: str, rest: list[str]) -> int:
    machine = call.device.machine
    try:
        if verb == "button_press" and rest:
            return await _button(call, rest)
        if verb == "series" and rest[:1] == ["button_hold"]:
            return await _hold(call, rest[1])
        if verb == "send_text" and rest:
            if not _ignored(call, verb) and call.device.faults.active("text_lost") is None:
                type_text(machine, " ".join(rest).replace("\n", ""))
        elif verb in ("touch", "mouse_click") and len(rest) >= 2:
            await _finger(call, [(float(rest[0]), float(rest[1]))])
        elif verb == "swipe" and len(rest) >= 4:
            await _finger(call, [(float(rest[0]), float(rest[1])), (float(rest[2]), float(rest[3]))])
        elif verb == "get_screen_size":
            width, height = machine.geometry.size
            await call.out(f"{width} x {height}\n")
        elif verb == "list_devices":
            await call.out("0: remote-control\n1: keyboard\n2: touch\n")
        elif verb == "get_mic_state":
            await call.out("mic: on\n")
        elif verb == "get_camera_cover_open_close":
            await call.out("camera cover: none\n")
        else:
            await call.out(f"Unrecognized command: {' '.join([verb, *rest])}\n")
            return 1
    except (ValueError, IndexError):
        await call.out(USAGE)
        return 1
    return 0


def _ignored(call: Invocation, what: str) -> bool:
    return call.device.faults.active("inputd_ignored", what) is not None


async def _button(call: Invocation, words: list[str]) -> int:
    name = name_of(words[0])
    if name is None:
        await call.out(f"Unrecognized command: button_press {' '.join(words)}\n")
        return 1
    how = words[1] if len(words) > 1 else "short"
    if how == "--holdDuration":
        seconds = float(words[2]) / 1000
    elif how in HELD:
        seconds = HELD[how]
    else:
        raise ValueError(how)
    for _ in range(REPEATS if how == "repeat" else 1):
        await anyio.sleep(seconds)
        if not _ignored(call, f"KEY_{name}"):
            press_key(call.device.machine, name, seconds)
    return 0


async def _hold(call: Invocation, word: str) -> int:
    name = name_of(word)
    await call.out(f"Injecting Button Press As Driver: {word} State: down\n")
    if name is not None and not _ignored(call, word):
        press_key(call.device.machine, name, HELD["long"])
    return 0


async def _finger(call: Invocation, path: list[touch.Spot]) -> None:
    machine = call.device.machine
    if not machine.heeds_touch and machine.front.id != LAUNCHER:
        machine.journal.add("finger", path=[list(spot) for spot in path])  # apps of televisions do not listen to it
    elif len(path) == 1:
        await touch.tap(machine, path[0])
    else:
        await touch.swipe(machine, path[0], path[1], SWIPE)


PROGRAMS: dict[str, Program] = {"inputd-cli": inputd_cli}
