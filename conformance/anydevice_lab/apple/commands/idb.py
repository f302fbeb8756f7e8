"""`idb`: the client of the companion, for what drivers use of it: describing, touching, typing, the remote control."""

from __future__ import annotations

import json
from typing import Any

from ..model import input as hands
from ..programs import Invocation, Program
from .accessibility import flat, tree, walk
from .axe import BUTTONS, Bad, apart, ignored, on_screen, press_side, simulator

VALUED = ("--udid", "--format", "--api", "--duration", "--delta", "--match-key")


async def idb(call: Invocation) -> int:
    """`idb ui describe-all|describe-point|tap|swipe|text|key|button|remote … --udid U`, `idb list-targets --json`."""
    words = list(call.args)
    if words[:1] == ["list-targets"]:
        for device in call.world.devices.values():
            if not device.kind.physical:
                row = {"name": device.title, "udid": device.udid, "state": device.state, "type": "simulator",
                       "os_version": f"{device.kind.platform} {device.kind.os}", "architecture": "arm64"}  # fmt: skip
                await call.out(json.dumps(row) + "\n")
        return 0
    if words[:1] != ["ui"] or len(words) < 2:
        return await call.fail(2, "usage: idb [-h] {list-targets,ui} ...\nidb: error: invalid choice\n")
    plain, given = apart(words[2:], VALUED)
    try:
        await _ui(call, words[1], plain, given)
    except Bad as bad:
        return await call.fail(bad.code if bad.code == 2 else 1, bad.text)
    except (ValueError, IndexError):
        return await call.fail(2, f"usage: idb ui {words[1]} [-h]\nidb ui {words[1]}: error: the arguments are wrong\n")
    return 0


async def _ui(call: Invocation, name: str, plain: list[str], given: dict[str, str]) -> None:
    device = simulator(call, given, "ui", "")
    machine = device.machine
    if name == "describe-all":
        rows: list[Any] = tree(device)
        if device.faults.active("tree_one_node"):
            rows = [{**rows[0], "children": []}]
        await call.out(json.dumps(rows if given.get("--format") == "nested" else flat(rows), ensure_ascii=False) + "\n")
    elif name == "describe-point":
        x, y = float(plain[0]), float(plain[1])
        hit = [row for row in flat(tree(device)) if row["frame"]["x"] <= x < row["frame"]["x"] + row["frame"]["width"]
               and row["frame"]["y"] <= y < row["frame"]["y"] + row["frame"]["height"]]  # fmt: skip
        await call.out(json.dumps(hit[-1] if hit else {}, ensure_ascii=False) + "\n")
    elif name == "tap" and len(plain) == 1:
        key = given.get("--match-key") or "AXUniqueId"
        found = [row for row in walk(tree(device)) if row.get(key) == plain[0]]
        if len(found) != 1:
            raise Bad(1, f"{len(found)} elements match {plain[0]}\n")
        frame = found[0]["frame"]
        if not ignored(device, "tap"):
            await hands.tap(machine, frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
    elif name == "tap":
        place = on_screen(device, float(plain[0]), float(plain[1]))
        if not ignored(device, "tap"):
            await hands.tap(machine, *place, float(given.get("--duration") or 0))
    elif name == "swipe":
        x0, y0, x1, y1 = (float(word) for word in plain[:4])
        if not ignored(device, "swipe"):
            seconds = float(given.get("--duration") or 0.2)
            await hands.drag(machine, on_screen(device, x0, y0), on_screen(device, x1, y1), seconds)
    elif name == "text":
        if not plain[0].isascii():
            raise Bad(1, "No keycode found for a character of the text\n")
        if not ignored(device, "text"):
            hands.type_text(machine, plain[0])
    elif name == "key":
        if int(plain[0]) in hands.USAGES and not ignored(device, "key"):
            hands.press(machine, hands.USAGES[int(plain[0])])
    elif name == "button":
        word = plain[0].lower().replace("_", "-")
        if word not in BUTTONS:
            raise Bad(2, f"idb ui button: error: argument button: invalid choice: '{plain[0]}'\n")
        if not ignored(device, "button"):
            press_side(device, word)
    elif name == "remote":
        word = plain[0].lower()
        if not ignored(device, "button") and not hands.button(machine, word):
            raise Bad(1, f"unknown button {word}\n")
    else:
        raise ValueError(name)


PROGRAMS: dict[str, Program] = {"idb": idb}
