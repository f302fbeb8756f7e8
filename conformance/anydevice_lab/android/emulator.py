"""A stand-in for Android's `emulator` program: lists virtual devices and runs one as a device of the lab.

    env = make_tools(folder, {"Pixel_8_API_35": {}}, keys=lab.home)     what a caller's environment gets
    $ANDROID_HOME/emulator/emulator -list-avds
    $ANDROID_HOME/emulator/emulator -avd Pixel_8_API_35 -port 21554 [-no-window ...]

It says what the real one says, starts its device on the port it is given and tells the adb server of its environment
(`host:emulator:PORT`), runs until it is killed over its console or by a signal, and keeps a second one of the same
virtual device from starting. Fields of a virtual device: `kind` (of the lab), `boot_seconds`, `dies` (what it prints
before it ends at once), `says` (another name than its own).
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

import anyio

from .adbkey import read_key
from .device import LabDevice
from .kinds import KINDS

SETTINGS = "avds.json"
UP = ("sys.boot_completed", "dev.bootcomplete")
"""Properties that are there once Android is up."""
REMARK = "INFO    | Storing crashdata in: /tmp/android-lab/emu-crash-36.1.9.db, detection is enabled for process\n"
LIST = f"""import json, sys
print({REMARK!r}, end="")
print(*json.load(open(sys.argv[1] + "/{SETTINGS}"))["avds"], sep="\\n")
"""
"""Listing alone needs nothing of the lab: backends list often."""
UNKNOWN = (
    "PANIC: Unknown AVD name [{}], use -list-avds to see valid list.\n"
    "HOME is defined but could not find {}.ini in $HOME/.android/avd\n"
)
TWICE = (
    "FATAL   | Running multiple emulators with the same AVD is an experimental feature.\n"
    "Please use -read-only flag to enable this feature.\n"
)
BUSY = "ERROR   | could not bind the console to port {}: Address already in use\n"


def make_tools(folder: Path, avds: Mapping[str, Mapping[str, Any]], *, home: str) -> dict[str, str]:
    """Writes a folder of tools with an emulator program in it.

    Args:
        folder: To write into; must exist.
        avds: Virtual devices by name.
        home: `Lab.home`: whose adb keys the devices let in.

    Returns:
        What a caller needs in its environment to find the program.
    """
    (folder / "emulator").mkdir()
    program = folder / "emulator" / "emulator"
    program.write_text(
        f"#!/bin/sh\nif [ \"$1\" = -list-avds ]; then exec {sys.executable} -IS -c {quote(LIST)} '{folder}'; fi\n"
        f'exec {sys.executable} -m {__name__} "{folder}" "$@"\n'
    )
    program.chmod(0o755)
    settings = {"home": home, "path": sys.path, "avds": {name: dict(fields) for name, fields in avds.items()}}
    (folder / SETTINGS).write_text(json.dumps(settings))
    return {"ANDROID_HOME": str(folder)}


async def main(argv: list[str]) -> int:
    """Runs the program; the first argument is the folder of tools."""
    folder, words = Path(argv[0]), argv[1:]
    settings = json.loads((folder / SETTINGS).read_text())
    avds: dict[str, dict[str, Any]] = settings["avds"]
    sys.stdout.write(REMARK)
    name = _after(words, "-avd")
    if name not in avds:
        sys.stderr.write(UNKNOWN.format(name, name))
        return 1
    fields = avds[name]
    with (folder / f"{name}.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.stderr.write(TWICE)
            return 1
        with (folder / "started.jsonl").open("a") as journal:
            journal.write(json.dumps({"pid": os.getpid(), "words": words}) + "\n")
        if "dies" in fields:
            sys.stderr.write(fields["dies"])
            return 1
        return await _run(name, fields, int(_after(words, "-port")), Path(settings["home"]))


async def _run(name: str, fields: Mapping[str, Any], port: int, home: Path) -> int:
    kind = replace(KINDS[fields.get("kind", "emulator")], avd=fields.get("says", name))
    with tempfile.TemporaryDirectory(prefix="ade-", ignore_cleanup_errors=True) as folder:
        device = LabDevice(kind, Path(folder), [read_key((home / "adbkey.pub").read_bytes())])
        device.port = port + 1
        up = {name: device.machine.props.pop(name) for name in UP if name in device.machine.props}
        async with anyio.create_task_group() as group:
            group.start_soon(device.run)
            await device.ready()
            if device.port != port + 1:
                sys.stderr.write(BUSY.format(port))
                group.cancel_scope.cancel()
                return 1
            await _tell(device.port)
            await anyio.sleep(fields.get("boot_seconds", 0.3))
            device.machine.props.update(up)
            parent = os.getppid()
            while device.machine.reboot_seconds != float("inf"):
                await anyio.sleep(0.05)
                if os.getppid() != parent:
                    break  # whoever started it has died; a lab leaves nothing behind
            group.cancel_scope.cancel()
    return 0


async def _tell(port: int) -> None:
    """Tells the adb server of an emulator that has come up; without a server there is nobody to tell."""
    try:
        at = int(os.environ.get("ANDROID_ADB_SERVER_PORT", "5037"))
        async with await anyio.connect_tcp("127.0.0.1", at) as stream:
            request = f"host:emulator:{port}".encode()
            await stream.send(b"%04x" % len(request) + request)
            with anyio.move_on_after(2):
                await stream.receive()
    except (OSError, anyio.EndOfStream, anyio.BrokenResourceError):
        return


def _after(words: list[str], option: str) -> str:
    at = words.index(option) if option in words else len(words)
    return words[at + 1] if at + 1 < len(words) else ""


if __name__ == "__main__":
    raise SystemExit(anyio.run(main, sys.argv[1:]))
