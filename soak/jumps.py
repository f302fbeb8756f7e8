"""A wall clock that jumps: `time.time` of a process, moved by whatever its slot of a shared file says.

The ground copies this module to where every process of the soak imports it as `sitecustomize`; forked clients call
`install` themselves. CLOCK_MONOTONIC stays what it is. Standard library only.
"""

from __future__ import annotations

import mmap
import os
import struct
import time

FILE = "SOAK_JUMPS"
SLOT = "SOAK_JUMPS_SLOT"
"""Variables that name the shared file and this process's place in it. A daemon has the place of who started it."""

_WIDTH = struct.calcsize("d")
_time, _time_ns = time.time, time.time_ns


def prepare(path: str, slots: int) -> None:
    """Makes the shared file, every clock right."""
    with open(path, "wb") as file:
        file.write(struct.pack("d", 0.0) * slots)


def jump(path: str, offsets: dict[int, float]) -> None:
    """Sets clocks: seconds they are wrong, by slot."""
    handle = os.open(path, os.O_WRONLY)
    try:
        for slot, seconds in offsets.items():
            os.pwrite(handle, struct.pack("d", seconds), slot * _WIDTH)
    finally:
        os.close(handle)


def install() -> None:
    """From now on this process's wall clock is as wrong as its slot says."""
    path = os.environ.get(FILE)
    if not path or not os.path.exists(path):
        return
    with open(path, "rb") as file:
        shared = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = int(os.environ.get(SLOT, "0")) * _WIDTH

    def wrong() -> float:
        offset: float = struct.unpack_from("d", shared, start)[0]
        return offset

    time.time = lambda: _time() + wrong()
    time.time_ns = lambda: _time_ns() + int(wrong() * 1e9)


if __name__ == "sitecustomize":
    install()
