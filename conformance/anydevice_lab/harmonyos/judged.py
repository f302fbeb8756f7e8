"""The lab of the conformance suite: two devices of each class, and emulators that do not run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anyio.from_thread import start_blocking_portal

from .lab import Lab

DEVICES = ("phone", "phone", "tablet", "tablet", "tv", "tv")
EMULATORS = (
    {"name": "Pura 90"}, {"name": "Pura 91"}, {"name": "Vision TV", "kind": "tv-emulator"},
    {"name": "Vision TV 2", "kind": "tv-emulator"},
)  # fmt: skip


@contextmanager
def lab() -> Iterator[dict[str, Any]]:
    """Starts the devices; yields the backend's settings that lead to them.

    An hdc server that the caller's environment names is set aside: these devices are behind another.
    """
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Lab()) as running:
        portal.call(running.start, *DEVICES)
        portal.call(running.emulators, *EMULATORS)
        aside = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(("OHOS_HDC_", "HDC_"))}
        try:
            settings = {
                "server": f"127.0.0.1:{running.port}", "start_server": False, "hdc": running.hdc,
                "emulator": running.emulator,
            }  # fmt: skip
            yield {"settings": settings}
        finally:
            os.environ.update(aside)
