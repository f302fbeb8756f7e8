"""The process of a virtual device: one that does nothing but stand in the process table as the real one does."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import anyio

from anydevice.kit import processes

UP_WITHIN = 20.0


def write(program: Path) -> None:
    """Writes the program."""
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(files(__package__).joinpath("qemu.txt").read_text())
    program.chmod(0o755)


async def start(program: Path, ports: tuple[int, int], home: Path) -> processes.Child:
    """Starts it; on Linux its words in the process table are those of the real program.

    Args:
        ports: Of console and adb.
        home: Where its control socket would be.

    Raises:
        TimeoutError: It does not come up.
    """
    words = [
        str(program), "-avd-arch", "x86_64", "-skin", "tv-remote", "-ports", f"{ports[0]},{ports[1]}", "-dns-server",
        "auto", "-qemu", "-qmp", f"unix:{home}/qmp-socket-{ports[0]}.sock,server,nowait",
    ]  # fmt: skip
    interpreter = getattr(sys, "_base_executable", None) or sys.executable
    argv = [interpreter, "-ISE", str(program)]
    # Its own words are written over those it was started with, so both have to have the same length.
    spare = len("\0".join(words)) - len("\0".join(argv)) - 1
    argv += ["-" * spare] if spare >= 0 else words[1:]
    env = {**os.environ, "LAB_ARGV": "\x1f".join(words)}
    child = await processes.start(argv, env=env, stdout=subprocess.PIPE)
    assert child.process.stdout is not None
    with anyio.fail_after(UP_WITHIN):
        await child.process.stdout.receive()
    return child
