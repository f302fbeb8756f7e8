"""The lab of the conformance suite: two devices of each class, for `anydevice conformance apple --lab`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal

from .lab import Lab

DEVICES = ("iphone", "iphone", "ipad", "ipad", "appletv", "appletv")


@contextmanager
def lab() -> Iterator[dict[str, Any]]:
    """Starts the devices; yields the backend's settings that lead to them."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Lab()) as running:
        portal.call(running.start, *DEVICES)
        yield {"settings": {"xcrun": running.xcrun, "wda": str(Path(running.home, "WebDriverAgentRunner-Runner.app"))}}
