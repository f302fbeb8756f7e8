"""`axe`: describes and touches simulators. It speaks to their HID layer, which has a size of its own on some models."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from ..device import LabDevice
from ..model import input as hands
from ..model.pictures import drawing, framebuffer
from ..programs import Invocation, Program
from .accessibility import tree, walk

USAGE, RUNTIME = 64, 1
BUTTONS = ("apple-pay", "home", "lock", "side-button", "siri")
VALUED = ("--udid", "-x", "-y", "--id", "--label", "--value", "--element-type", "--pre-delay", "--post-delay",
          "--tap-style", "--wait-timeout", "--poll-interval", "--point", "--duration", "--start-x", "--start-y",
          "--end-x", "--end-y", "--delta", "--delay", "--output", "--file", "--modifiers", "--keycodes")  # fmt: skip
TAP = (
    "Usage: axe tap [-x <x>] [-y <y>] [--id <id>] [--label <label>] [--value <value>] [--element-type <element-type>] "
    "[--pre-delay <pre-delay>] [--post-delay <post-delay>] [--tap-style <tap-style>] [--wait-timeout <wait-timeout>] "
    "[--poll-interval <poll-interval>] --udid <udid>\n  See 'axe tap --help' for more information.\n"
)


class Bad(Exception):
    """The program ends with this status and text."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


def usage(name: str, what: str, synopsis: str, help_text: str = "") -> Bad:
    """The words are wrong."""
    middle = f"Help:  {help_text}\n" if help_text else ""
    whole = TAP if name == "tap" else f"Usage: axe {name} {synopsis}\n  See 'axe {name} --help' for more information.\n"
    return Bad(USAGE, f"Error: {what}\n{middle}{whole}")


def apart(words: list[str], valued: tuple[str, ...] = VALUED) -> tuple[list[str], dict[str, str]]:
    """Operands and options."""
    plain, given, left = list[str](), dict[str, str](), list(words)
    while left:
        word = left.pop(0)
        name, mark, value = word.partition("=")
        if name in valued:
            given[name] = value if mark else left.pop(0) if left else ""
        elif word.startswith("-") and len(word) > 1 and not word[1].isdigit():
            given[word] = ""
        else:
            plain.append(word)
    return plain, given


def simulator(call: Invocation, given: dict[str, str], name: str, synopsis: str) -> LabDevice:
    """The simulator that is meant.

    Raises:
        Bad: None, or it is not booted.
    """
    if "--udid" not in given:
        raise usage(
            name, "Missing expected argument '--udid <udid>'", synopsis, "--udid <udid>  The UDID of the simulator."
        )
    device = call.world.find(given["--udid"])
    if device is None or device.kind.physical:
        known = "Run `axe list-simulators` to see available simulators."
        raise Bad(RUNTIME, f"Error: No simulator with UDID {given['--udid']} was found. {known}\n")
    if device.state != "Booted":
        raise Bad(RUNTIME, f"Error: Simulator {device.udid} is not booted. Current state: {device.state}.\n")
    return device


def number(name: str, given: dict[str, str], option: str, help_text: str, synopsis: str = "") -> float:
    """A number that was given."""
    form = help_text.partition("  ")[0]
    try:
        return float(given[option])
    except KeyError:
        raise usage(name, f"Missing expected argument '{form}'", synopsis, help_text) from None
    except ValueError:
        raise usage(name, f"The value '{given[option]}' is invalid for '{form}'", synopsis, help_text) from None


def on_screen(device: LabDevice, x: float, y: float) -> tuple[float, float]:
    """Where a raw touch lands: HID has its own size, on models that are scaled down another than the screen's."""
    if device.kind.hid is not None:
        width, height = device.kind.hid
        x, y = x * device.kind.width / width, y * device.kind.height / height
    if device.machine.geometry.rotation % 2 and device.faults.active("hid_unturned"):
        # The display's own top is the left of a picture that lies on its side.
        turned = device.machine.geometry.rotation == 1
        return (y, device.kind.width - x) if turned else (device.kind.height - y, x)
    return x, y


def ignored(device: LabDevice, what: str) -> bool:
    """Whether input is accepted without effect."""
    if device.faults.active("hid_ignored") is None:
        return False
    device.journal.add("hid_ignored", what=what)
    return True


async def _describe(call: Invocation, plain: list[str], given: dict[str, str]) -> None:
    synopsis = "--udid <udid> [--point <x,y>]"
    if "--point" in given:
        parts = given["--point"].split(",")
        if len(parts) != 2 or not all(part.replace(".", "", 1).isdigit() for part in parts):
            raise usage("describe-ui", "--point must be in the form x,y using non-negative numbers.", synopsis)
    device = simulator(call, given, "describe-ui", synopsis)
    rows: list[Any] = tree(device)
    if device.faults.active("tree_one_node"):
        rows = [{**rows[0], "children": []}]
    if "--point" in given:
        x, y = (float(part) for part in given["--point"].split(","))
        hit = [row for row in walk(rows) if row["frame"]["x"] <= x < row["frame"]["x"] + row["frame"]["width"]
               and row["frame"]["y"] <= y < row["frame"]["y"] + row["frame"]["height"]]  # fmt: skip
        rows = hit[-1:]
    await call.out(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")


async def _tap(call: Invocation, plain: list[str], given: dict[str, str]) -> None:
    by_place = "-x" in given or "-y" in given
    x = number("tap", given, "-x", "-x <x>  The X coordinate of the point to tap.") if by_place else 0.0
    y = number("tap", given, "-y", "-y <y>  The Y coordinate of the point to tap.") if by_place else 0.0
    device = simulator(call, given, "tap", "")
    if not by_place:
        until = time.monotonic() + float(given.get("--wait-timeout") or 0)
        while True:
            found = _best(walk(tree(device)), given)
            if found or time.monotonic() >= until:
                break
            await anyio.sleep(0.1)
        if len(found) != 1:
            text = _unresolved(found, given)
            raise Bad(RUNTIME, f"Warning: {text} No tap performed.\nError: {text}\n")
        frame = found[0]["frame"]
        x, y = frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2
    else:
        x, y = on_screen(device, x, y)
    if not ignored(device, "tap"):
        await hands.tap(device.machine, x, y)
    await call.out(f"✓ Tap at ({x}, {y}) completed successfully\n")


SELECTORS = {"--id": "AXUniqueId", "--label": "AXLabel", "--value": "AXValue"}
ACTIONABLE = ("Button", "Link", "TextField", "TextArea", "CheckBox", "Slider")
TIP = (
    "Make sure the app is on the expected screen, then run `axe describe-ui --udid <SIMULATOR_UDID>` and prefer --id "
    "when available."
)


def _best(rows: list[dict[str, Any]], given: dict[str, str]) -> list[dict[str, Any]]:
    """What a selector means: of several with a label or value those that can be switched, else pressed, go first."""
    option = next((name for name in SELECTORS if name in given), "--id")
    kind = given.get("--element-type")
    found = [r for r in rows if r[SELECTORS[option]] == given.get(option, "").strip() and kind in (None, r["type"])]
    if option == "--id" or len(found) < 2:
        return found
    switches = [row for row in found if row["subrole"] == "AXSwitch"]
    return switches or [row for row in found if row["type"] in ACTIONABLE] or found


def _unresolved(found: list[dict[str, Any]], given: dict[str, str]) -> str:
    option = next((name for name in SELECTORS if name in given), "--id")
    which = f"{option} '{given.get(option, '')}'"
    if not found:
        return f"No accessibility element matched {which}. {TIP}"
    head = f"Multiple ({len(found)}) accessibility elements matched {which}"
    if any(row["AXUniqueId"] for row in found):
        return f"{head}. Use --id when labels are not unique. {TIP}"
    return (
        f"{head}, and none of the matches expose AXUniqueId on this screen. Use coordinates for this step (tap -x/-y) "
        f"or target a more specific screen/state. {TIP}"
    )


async def _touch(call: Invocation, plain: list[str], given: dict[str, str]) -> None:
    synopsis = "-x <x> -y <y> [--down] [--up] [--delay <delay>] --udid <udid>"
    if not {"--down", "--up"} & given.keys():
        raise usage("touch", "At least one of --down or --up must be specified.", synopsis)
    x = number("touch", given, "-x", "-x <x>  The X coordinate of the touch point.", synopsis)
    y = number("touch", given, "-y", "-y <y>  The Y coordinate of the touch point.", synopsis)
    if x < 0 or y < 0:
        raise usage("touch", "Coordinates must be non-negative values.", synopsis)
    if "--delay" in given and not {"--down", "--up"} <= given.keys():
        raise usage("touch", "Delay can only be used when both --down and --up are specified.", synopsis)
    device = simulator(call, given, "touch", synopsis)
    if ignored(device, "touch"):
        return
    place, now = on_screen(device, x, y), time.monotonic()
    if {"--down", "--up"} <= given.keys():
        await hands.tap(device.machine, *place, float(given.get("--delay") or 0))
    elif "--down" in given:
        device.machine.held = (*place, now)
    elif device.machine.held is not None:
        # The finger was down all the time between the two calls.
        left, top, since = device.machine.held
        device.machine.held = None
        if (left, top) == place:
            await hands.tap(device.machine, *place, now - since)
        else:
            await hands.drag(device.machine, (left, top), place, 0.1, now - since)


async def _swipe(call: Invocation, plain: list[str], given: dict[str, str]) -> None:
    synopsis = "--start-x <x> --start-y <y> --end-x <x> --end-y <y> [--duration <duration>] --udid <udid>"
    names = ("--start-x", "--start-y", "--end-x", "--end-y")
    x0, y0, x1, y1 = (number("swipe", given, name, f"{name} <value>  A coordinate.", synopsis) for name in names)
    device = simulator(call, given, "swipe", synopsis)
    if not ignored(device, "swipe"):
        seconds = float(given.get("--duration") or 0.2)
        await hands.drag(device.machine, on_screen(device, x0, y0), on_screen(device, x1, y1), seconds)


async def _type(call: Invocation, plain: list[str], given: dict[str, str]) -> None:
    text = (await call.read_all()).decode() if "--stdin" in given else plain[0] if plain else ""
    if "--file" in given:
        text = call.path(given["--file"]).read_text()
    for letter in text:
        if ord(letter) > 126 or (ord(letter) < 32 and letter not in "\n\t"):
            raise Bad(RUNTIME, f"Error: No keycode found for character: '{letter}'\n")
    device = simulator(call, given, "type", "[<text>] [--stdin] [--file <file>] --udid <udid>")
    # Keys go to whatever has the focus; where nothing has it, nothing happens, and nothing is said.
    if not ignored(device, "type"):
        hands.type_text(device.machine, text)


async def _key(call: Invocation, plain: list[str], given: dict[str, str]) -> None:
    synopsis = "<keycode> [--duration <duration>] --udid <udid>"
    code = plain[0] if plain else ""
    if not code.isdigit() or int(code) > 255:
        raise usage("key", "Keycode must be between 0 and 255.", synopsis)
    device = simulator(call, given, "key", synopsis)
    if int(code) in hands.USAGES and not ignored(device, "key"):
        hands.press(device.machine, hands.USAGES[int(code)])


async def _combo(call: Invocation, plain: list[str], given: dict[str, str]) -> None:
    synopsis = "--modifiers <codes> --key <code> --udid <udid>"
    device = simulator(call, given, "key-combo", synopsis)
    held = tuple(
        hands.HELD[int(code)] for code in given.get("--modifiers", "").split(",") if int(code or 0) in hands.HELD
    )
    code = int(plain[0] if plain else given.get("--key") or 0)
    if code in hands.USAGES and not ignored(device, "key"):
        hands.press(device.machine, hands.USAGES[code], held)


async def _sequence(call: Invocation, plain: list[str], given: dict[str, str]) -> None:
    synopsis = "--keycodes <codes> [--delay <delay>] --udid <udid>"
    codes = [int(code) for code in given.get("--keycodes", "").split(",") if code.strip().isdigit()]
    if not codes:
        raise usage("key-sequence", "At least one keycode must be provided.", synopsis)
    device = simulator(call, given, "key-sequence", synopsis)
    for code in codes:
        if code in hands.USAGES and not ignored(device, "key"):
            hands.press(device.machine, hands.USAGES[code])


async def _button(call: Invocation, plain: list[str], given: dict[str, str]) -> None:
    synopsis, name = "<button-type> [--duration <duration>] --udid <udid>", plain[0] if plain else ""
    if name not in BUTTONS:
        what = f"The value '{name}' is invalid for '<button-type>'. Please provide one of "
        what += "'apple-pay', 'home', 'lock', 'side-button' or 'siri'."
        raise usage("button", what, synopsis, "<button-type>  The button to press.")
    device = simulator(call, given, "button", synopsis)
    if not ignored(device, "button"):
        press_side(device, name)


def press_side(device: LabDevice, name: str) -> None:
    """A button of `BUTTONS` is pressed."""
    if name == "home":
        hands.button(device.machine, "home")
        return
    if name in ("lock", "side-button"):
        device.machine.awake = not device.machine.awake
        device.machine.locked = not device.machine.awake
    device.journal.add("button", name=name)


async def _screenshot(call: Invocation, plain: list[str], given: dict[str, str]) -> None:
    device = simulator(call, given, "screenshot", "[--output <output>] --udid <udid>")
    path = call.path(given.get("--output") or "screenshot.png")
    path.write_bytes(framebuffer(drawing(device.machine), device.machine.geometry.rotation))
    await call.out(f"{path}\n")


async def _list(call: Invocation, plain: list[str], given: dict[str, str]) -> None:
    for device in call.world.devices.values():
        if not device.kind.physical:
            await call.out(f"{device.udid} | {device.title} | {device.state} | {device.kind.model} | "
                           f"{device.kind.platform} {device.kind.os}\n")  # fmt: skip


Subcommand = Callable[[Invocation, list[str], dict[str, str]], Awaitable[None]]
SUBCOMMANDS: dict[str, Subcommand] = {
    "describe-ui": _describe, "tap": _tap, "touch": _touch, "swipe": _swipe, "drag": _swipe, "type": _type, "key": _key,
    "key-combo": _combo, "key-sequence": _sequence, "button": _button, "screenshot": _screenshot,
    "list-simulators": _list,
}  # fmt: skip


async def axe(call: Invocation) -> int:
    """`axe SUBCOMMAND … --udid U`."""
    name, *words = [*call.args, ""] if not call.args else call.args
    if name == "--version":
        await call.out("1.8.0\n")
        return 0
    if name not in SUBCOMMANDS:
        return await call.fail(USAGE, f"Error: Unexpected argument '{name}'\nUsage: axe <subcommand>\n")
    plain, given = apart(words, (*VALUED, "--key") if name == "key-combo" else VALUED)
    try:
        await SUBCOMMANDS[name](call, plain, given)
    except Bad as bad:
        return await call.fail(bad.code, bad.text)
    return 0


PROGRAMS: dict[str, Program] = {"axe": axe}
