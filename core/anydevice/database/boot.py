"""Which boot of this machine it is: the monotonic clock means something only within one."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys

_KERNEL = "/proc/sys/kernel/random/boot_id"


def boot_id() -> str:
    """A text that is the same for every process of one boot, and another after the next; empty when unknown."""
    if sys.platform == "darwin":
        return _sysctl(b"kern.bootsessionuuid")
    try:
        with open(_KERNEL, encoding="ascii") as file:
            return file.read().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _sysctl(name: bytes) -> str:
    try:
        ask = ctypes.CDLL(ctypes.util.find_library("c")).sysctlbyname
        buffer = ctypes.create_string_buffer(64)
        size = ctypes.c_size_t(len(buffer))
        if ask(name, buffer, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0:
            return ""
        return buffer.value.decode("ascii", "replace")
    except (OSError, AttributeError):
        return ""
