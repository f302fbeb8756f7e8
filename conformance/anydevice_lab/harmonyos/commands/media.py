"""The screen recorder, which a start of its ability begins and the next ends, and mediatool, which has its films."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from ...handset.film import Picture, film
from ...handset.picture import Drawing, draw, jpeg
from ..programs import Invocation, Program

if TYPE_CHECKING:
    from ..device import HarmonyDevice

FOLDER = "/storage/media/100/local/files/Photo"
LOOKS, QUALITY = 0.1, 60
"""Seconds between two looks at the display; quality of the pictures."""
WRITES = 0.3
"""Seconds for which a film still grows after its recorder was stopped."""


async def toggle(device: HarmonyDevice, name: str) -> None:
    """The ability of the recorder is started: it begins, or it ends."""
    machine = device.machine
    device.journal.add("recorder", name=name, recording=machine.recording)
    if device.faults.active("recorder_ignored") is not None:
        return
    if machine.recording:
        machine.recording = ""
        return
    machine.recording = name or f"SVID_{time.strftime('%Y%m%d_%H%M%S')}_1.mp4"
    device.spawn(_record, device, machine.recording)


async def _record(device: HarmonyDevice, name: str) -> None:
    """Films until it is told to stop; the file is there at once, and whole a while later."""
    machine, began = device.machine, time.monotonic()
    pictures: list[Picture] = []
    last: Drawing | None = None
    size = machine.geometry.size
    size = (size[0] // 2 * 2, size[1] // 2 * 2)
    while machine.recording == name:
        dark = not machine.awake
        shown = draw([] if dark else machine.windows(), machine.geometry.size, dark=dark)
        if shown != last:
            last = shown
            pictures.append((time.monotonic() - began, await anyio.to_thread.run_sync(jpeg, shown, QUALITY)))
        await anyio.sleep(LOOKS)
    if device.faults.active("recorder_lost") is not None:
        return
    path = f"{FOLDER}/{name}"
    data = film(size, pictures, time.monotonic() - began)
    file = device.files.host(path)
    file.write_bytes(data[: len(data) // 2])
    machine.media[name] = path
    await anyio.sleep(WRITES)
    file.write_bytes(data)
    device.journal.add("film", name=name, pictures=len(pictures))


def _uri(name: str) -> str:
    return f"file://media/Photo/1/VID_1_001/{name}"


async def mediatool(call: Invocation) -> int:
    """`mediatool query NAME [-u|-p]`, `recv URI FOLDER`, `send FILE`, `delete URI`, `list all`."""
    verb, *rest = call.args or [""]
    device, machine = call.device, call.device.machine
    name = rest[0].rpartition("/")[2].strip("'\"") if rest else ""
    if verb == "query":
        known = name in machine.media
        head = f"find {int(known)} result\n"
        if "-u" in rest:
            await call.out(head + (f'uri\n"{_uri(name)}"\n' if known else ""))
        else:
            await call.out(head + (f'path\n"{machine.media[name]}"\n' if known else ""))
        return 0
    if verb == "recv" and len(rest) > 1:
        if name not in machine.media:
            await call.out("[FAIL] recv file not found.\n")
            return 1
        target = call.path(rest[1])
        target = target / name if target.is_dir() else target
        try:
            target.write_bytes(device.files.host(machine.media[name]).read_bytes())
        except OSError:
            await call.out("[FAIL] open failed.\n")
            return 1
        await call.out(f"{rest[1].rstrip('/')}/{name}\n")
        return 0
    if verb == "send" and rest:
        source = call.path(rest[0])
        if not source.is_file():
            await call.out("[FAIL] path not found\n")
            return 1
        device.files.host(f"{FOLDER}/{name}").write_bytes(source.read_bytes())
        machine.media[name] = f"{FOLDER}/{name}"
        await call.out(f"[SUCCESS] send success.\nuri: {_uri(name)}\n")
        return 0
    if verb == "delete" and rest:
        if name not in machine.media:
            await call.out("[FAIL] delete failed\n")
            return 1
        device.files.host(machine.media.pop(name)).unlink(missing_ok=True)
        await call.out("[SUCCESS] delete success.\n")
        return 0
    if verb == "list":
        await call.out("Table Name: Photos\n" + "".join(f"{_uri(one)}, {one}\n" for one in sorted(machine.media)))
        return 0
    await call.out("Usage: mediatool {send|recv|list|delete|query|ls} ...\n")
    return 1


PROGRAMS: dict[str, Program] = {"mediatool": mediatool}
