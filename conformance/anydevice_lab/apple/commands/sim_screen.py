"""`simctl io, ui, status_bar, location, pbcopy, pbpaste, pbsync`: what is seen and what surrounds it."""

from __future__ import annotations

import re
import time
from pathlib import Path

import anyio
import anyio.to_thread

from ...handset.film import Picture, film
from ...handset.picture import Drawing
from ..device import LabDevice
from ..model.pictures import drawing, frame, framebuffer, upright
from .asking import POSIX, Ask, Failed, Subcommand, error

START_SECONDS, LOOKS = 0.2, 0.1
SIZES = (
    "extra-small", "small", "medium", "large", "extra-large", "extra-extra-large", "extra-extra-extra-large",
    "accessibility-medium", "accessibility-large", "accessibility-extra-large", "accessibility-extra-extra-large",
    "accessibility-extra-extra-extra-large",
)  # fmt: skip
LOOKS_OF = {"appearance": ("light", "dark"), "content_size": SIZES, "increase_contrast": ("enabled", "disabled")}
NETWORKS = ("hide", "wifi", "3g", "4g", "lte", "lte-a", "lte+", "5g", "5g+", "5g-uwb", "5g-uc")
STATUS = ("time", "dataNetwork", "wifiMode", "wifiBars", "cellularMode", "cellularBars", "operatorName",
          "batteryState", "batteryLevel")  # fmt: skip


async def io(ask: Ask) -> int:
    """`io DEVICE screenshot|recordVideo|enumerate …`."""
    device = ask.device(booted="lookup")
    what = ask.take("operation")
    if what == "screenshot":
        return await _screenshot(ask, device)
    if what in ("recordVideo", "recordvideo"):
        return await _record(ask, device)
    if what == "enumerate":
        kind = device.kind
        size = f"Default width: {kind.width * kind.scale}\n        Default height: {kind.height * kind.scale}"
        await ask.call.out(f"Port:\n    Class: display\n    Display class: 0\n        {size}\n")
        return 0
    raise Failed(22, f"Unknown operation: {what}\n")


async def _screenshot(ask: Ask, device: LabDevice) -> int:
    """The picture as the display has it: a device that lies on its side gives one that stands upright."""
    switches = ask.switches("type", "display", "mask")
    word, kind = ask.take("file"), switches.get("type", "png")
    data = await anyio.to_thread.run_sync(framebuffer, drawing(device.machine), device.machine.geometry.rotation, kind)
    if device.faults.active("screenshot_empty"):
        data = b""
    # A path `-` is meant to be stdout, and has been a file of that name since Xcode 26.4.
    plain = word == "-" and ask.call.world.age < 26
    if plain:
        await ask.call.out(data)
    else:
        try:
            ask.call.path(word).write_bytes(data)
        except OSError as problem:
            raise error(ask.call, POSIX, problem.errno or 2, problem.strerror or "") from None
    note = "" if word == "-" else "Note: No display specified. Defaulting to display: internal.\n"
    seen = "Detected file type 'PNG' from extension\n" if word.endswith(".png") else ""
    await ask.call.err(f"{note}{seen}Wrote screenshot to: {word}\n")
    return 0


async def _record(ask: Ask, device: LabDevice) -> int:
    """Records until SIGINT. One that came too early aborts it; anything else leaves a file without content."""
    switches, call = ask.switches("codec", "display", "mask"), ask.call
    word = ask.take("file")
    path = call.path(word)
    if path.exists() and "force" not in switches:
        raise error(call, POSIX, 17, f"The file already exists: {word}\nFile exists")
    if device.recorder:
        raise error(call, POSIX, 16, "A recording of this display is in progress.\nResource busy")
    device.recorder = True
    try:
        await call.err("Note: No display specified. Defaulting to display: internal.\n")
        slow = device.faults.active("recorder_late")
        with anyio.move_on_after(START_SECONDS + (slow.seconds if slow is not None else 0)):
            await call.interrupted.wait()
            return 1
        try:
            path.write_bytes(b"")
        except OSError as problem:
            raise error(call, POSIX, problem.errno or 2, problem.strerror or "") from None
        await call.err("Recording started\n")
        device.journal.add("recording", path=str(path), running=True)
        await _tape(ask, device, path)
        await call.out(f"Recording completed. Writing to disk.\n\nWrote video to: {word}\n")
        return 0
    finally:
        device.recorder = False
        device.journal.add("recording", path=str(path), running=False)


async def _tape(ask: Ask, device: LabDevice, path: Path) -> None:
    began, pictures, last = time.monotonic(), list[Picture](), None
    while True:
        shown: Drawing = drawing(device.machine)
        if shown != last:
            last, at = shown, time.monotonic() - began
            pictures.append(
                (at, await anyio.to_thread.run_sync(frame, upright(shown, device.machine.geometry.rotation), 60))
            )
        if ask.call.interrupted.is_set() or device.state != "Booted":
            break
        with anyio.move_on_after(LOOKS):
            await ask.call.interrupted.wait()
    size = (device.kind.width * device.kind.scale, device.kind.height * device.kind.scale)
    whole = film(size, pictures, max(0.1, time.monotonic() - began))
    await anyio.to_thread.run_sync(path.write_bytes, whole)


async def ui(ask: Ask) -> int:
    """`ui DEVICE appearance|content_size|increase_contrast [VALUE]`: prints it, or sets it."""
    device, option = ask.device(booted="lookup"), ask.take("option")
    if option not in LOOKS_OF:
        raise Failed(22, f"Invalid UI option: {option}\n")
    if not ask.words:
        await ask.call.out(device.machine.appearance[option] + "\n")
        return 0
    value, known = ask.words[0], LOOKS_OF[option]
    if option == "content_size" and value in ("increment", "decrement"):
        at = known.index(device.machine.appearance[option]) + (1 if value == "increment" else -1)
        value = known[min(len(known) - 1, max(0, at))]
    if value not in known:
        raise Failed(22, f"Invalid argument: {value}\n")
    device.machine.appearance[option] = value
    device.journal.add("ui", option=option, value=value)
    return 0


async def status_bar(ask: Ask) -> int:
    """`status_bar DEVICE override --time … | clear | list`."""
    device, what = ask.device(booted="lookup"), ask.take("operation")
    if what == "clear":
        device.machine.status = {}
    elif what == "list":
        rows = "".join(f"{name}: {value}\n" for name, value in device.machine.status.items())
        await ask.call.out(f"Current Status Bar Overrides:\n=============================\n{rows}")
        return 0
    elif what == "override":
        given = ask.switches(*STATUS)
        bad = [name for name in given if name not in STATUS]
        if bad or not given or given.get("dataNetwork", "wifi") not in NETWORKS:
            raise Failed(22, f"Invalid status bar override: {' '.join(bad) or given.get('dataNetwork', '')}\n")
        device.machine.status |= given
    else:
        raise Failed(22, f"Unknown operation: {what}\n")
    device.journal.add("status_bar", what=what, values=dict(device.machine.status))
    return 0


async def location(ask: Ask) -> int:
    """`location DEVICE set LAT,LON | clear | list`."""
    device, what = ask.device(booted="lookup"), ask.take("action")
    if what == "clear":
        device.machine.located = None
    elif what == "set":
        match = re.fullmatch(r"(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)", ask.take("location"))
        if match is None or abs(float(match[1])) > 90 or abs(float(match[2])) > 180:
            raise Failed(22, "Invalid location; it has to be <lat>,<lon>\n")
        device.machine.located = float(match[1]), float(match[2])
    elif what == "list":
        await ask.call.out("City Bicycle Ride\nCity Run\nFreeway Drive\n")
        return 0
    else:
        raise Failed(22, f"Unknown action: {what}\n")
    device.journal.add("location", value=list(device.machine.located) if device.machine.located else None)
    return 0


async def pbcopy(ask: Ask) -> int:
    """`pbcopy DEVICE`: stdin becomes the clipboard."""
    device = ask.device(booted="lookup")
    device.machine.clipboard = (await ask.call.read_all()).decode("utf-8", "replace")
    device.journal.add("clipboard", length=len(device.machine.clipboard))
    return 0


async def pbpaste(ask: Ask) -> int:
    """`pbpaste DEVICE`: prints the clipboard, without an end of line."""
    await ask.call.out(ask.device(booted="lookup").machine.clipboard)
    return 0


async def pbsync(ask: Ask) -> int:
    """`pbsync SOURCE TARGET`: `host` is the Mac."""
    ends = [ask.take("source"), ask.take("destination")]
    found = [ask.find(word) for word in ends]
    if any(device is None and word != "host" for device, word in zip(found, ends, strict=True)):
        raise ask.unknown(next(w for d, w in zip(found, ends, strict=True) if d is None and w != "host"))
    source, target = found
    if source is not None and target is not None:
        target.machine.clipboard = source.machine.clipboard
    return 0


SUBCOMMANDS: dict[str, Subcommand] = {
    "io": io, "ui": ui, "status_bar": status_bar, "location": location, "pbcopy": pbcopy, "pbpaste": pbpaste,
    "pbsync": pbsync,
}  # fmt: skip
