"""The lab of the conformance suite: a virtual device and a stick, for `anydevice conformance vega --lab`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anyio.from_thread import start_blocking_portal

from .lab import Lab

DEVICES = ("vvd", "stick")


@contextmanager
def lab() -> Iterator[dict[str, Any]]:
    """Starts the devices; yields the backend's settings that lead to them.

    An adb server that the caller's environment names is set aside: these devices are behind another.
    """
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Lab()) as running:
        portal.call(running.start, *DEVICES)
        names = [name for name in os.environ if name.startswith(("ANDROID_", "VEGA_", "VDA_"))]
        aside = {name: os.environ.pop(name) for name in names}
        try:
            server = f"127.0.0.1:{running.port}"
            yield {"settings": {"server": server, "start_server": False, "program": running.program}}
        finally:
            os.environ.update(aside)
