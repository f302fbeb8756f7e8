"""The lab of the conformance suite: two devices of each class, for `anydevice conformance android --lab`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal

from .lab import Lab

DEVICES = ("phone", "phone", "tablet", "tablet", "tv", "tv")
JAR = b"PK\x05\x06" + bytes(18)
"""An empty archive: the devices run a server of their own, whatever is pushed as its file."""


@contextmanager
def lab() -> Iterator[dict[str, Any]]:
    """Starts the devices; yields the backend's settings that lead to them.

    The automation server is allowed: without it no Android tells what is on a screen that never rests. An adb server
    that the caller's environment names is set aside: these devices are behind another.
    """
    with (
        tempfile.TemporaryDirectory(prefix="anydevice-lab-") as folder,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Lab()) as running,
    ):
        jar = Path(folder, "u2.jar")
        jar.write_bytes(JAR)
        portal.call(running.start, *DEVICES)
        aside = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("ANDROID_")}
        try:
            server = f"127.0.0.1:{running.port}"
            yield {"settings": {"server": server, "start_server": False, "automation": str(jar)}}
        finally:
            os.environ.update(aside)
