"""The screen recorder, which a start of its ability begins and the next ends, and mediatool, which has its films."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from ...handset.film import Picture, film
from ...handset.picture import Drawing, draw, jpeg
from ..framework.medium import Medium
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
    data = film(size, pictures, time.monotonic() - began)
    file = device.files.host(_keep(device, name))
    file.write_bytes(data[: len(data) // 2])
    await anyio.sleep(WRITES)
    file.write_bytes(data)
    device.journal.add("film", name=name, pictures=len(pictures))


def _keep(device: HarmonyDevice, name: str) -> str:
    """The library gets something of this name; the file of it, which is the lab's own place for it."""
    machine = device.machine
    machine.media[name] = Medium(max((medium.number for medium in machine.media.values()), default=0) + 1)
    return f"{FOLDER}/{name}"


def _uri(name: str, medium: Medium) -> str:
    return f"file://media/Photo/{medium.number}/VID_{medium.taken}_{medium.number:03d}/{name}"


def _named(device: HarmonyDevice, uri: str) -> str:
    """The name of what a uri leads to, whole or only up to its number; empty if to nothing."""
    uri = uri.strip("'\"")
    return next(
        (n for n, m in device.machine.media.items() if uri in (_uri(n, m), f"file://media/Photo/{m.number}")), ""
    )


async def mediatool(call: Invocation) -> int:
    """`mediatool query NAME [-u|-p]`, `recv URI TARGET`, `send FILE [-urf]`, `delete URI`, `list all`."""
    verb, *rest = call.args or [""]
    device, media = call.device, call.device.machine.media
    names = [word for word in rest if not word.startswith("-")]
    if verb == "query" and names:
        await call.out(_query(media, names[0].strip("'\""), uri="-u" in rest))
        return 0
    if verb == "recv" and len(names) > 1:
        return await _recv(call, _named(device, names[0]), names[1])
    if verb == "send" and names:
        source = call.path(names[0])
        if not source.is_file():
            await call.out("[FAIL] path not found\n")
            return 1
        device.files.host(_keep(device, source.name)).write_bytes(source.read_bytes())
        if "-urf" not in rest:
            source.unlink()
        await call.out(_uri(source.name, media[source.name]) + "\n")
        return 0
    if verb == "delete" and names:
        name = _named(device, names[0])
        if not name:
            await call.out("[FAIL] delete failed\n")
            return 1
        media.pop(name)
        device.files.host(f"{FOLDER}/{name}").unlink(missing_ok=True)
        await call.out("[SUCCESS] delete success.\n")
        return 0
    if verb == "list":
        rows = [f'"{_uri(n, m)}", "{n}", "{m.path}"\n' for n, m in sorted(media.items())]
        await call.out("Table Name: Photos\nuri, display_name, data\n" + "".join(rows))
        return 0
    await call.out("Usage: mediatool {send|recv|list|delete|query|ls} ...\n")
    return 1


def _query(media: dict[str, Medium], name: str, *, uri: bool) -> str:
    """What there is of a name: its uri in quotes, or the path of its file, which nobody but the library may read."""
    if "." not in name:
        return "find 0 result\nThe displayName format is not correct!\n"
    found = media.get(name)
    if found is None:
        return "find 0 result\n"
    return "find 1 result:\n" + (f'uri\n"{_uri(name, found)}"\n' if uri else f"path\n{found.path}\n")


async def _recv(call: Invocation, name: str, where: str) -> int:
    target = call.path(where)
    told = f"{where.rstrip('/')}/{name}" if target.is_dir() else where
    if not name or target.is_file():
        await call.out("[FAIL] recv failed\n")
        return 1
    try:
        data = call.device.files.host(f"{FOLDER}/{name}").read_bytes()
        (target / name if target.is_dir() else target).write_bytes(data)
    except OSError:
        await call.out("[FAIL] open failed.\n")
        return 1
    await call.out(f"Table Name: Photos\n{told}\n")
    return 0


PROGRAMS: dict[str, Program] = {"mediatool": mediatool}
