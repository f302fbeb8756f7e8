"""A second backend beside the one under test: devices that do not exist, so that names clash and listings fail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

from anydevice.testing import FakeBackend

from .trial import Trial

NAME = "conformance-neighbour"
"""Name of the backend and of its platform."""

HANGS_SHORT = 0.3
"""Seconds its listing may take, where a case lets it hang."""


@asynccontextmanager
async def neighbour(
    t: Trial, *rows: Mapping[str, Any], fails: Exception | None = None, hangs: bool = False
) -> AsyncIterator[FakeBackend]:
    """A backend with these rows (fields of `Device`) is listed inside the `async with`, and gone afterwards.

    Args:
        t: The trial, whose router gets the neighbour.
        *rows: Its devices; what is left out is that of a ready phone.
        fails: Raised by every listing.
        hangs: Listings do not end by themselves.
    """
    services = t.router.services
    backend = FakeBackend([], name=NAME)
    if hangs:
        backend.manifest = backend.manifest.model_copy(update={"discovery_deadline": HANGS_SHORT})
        backend.fault.hang_listing = 3600.0
    backend.fault.fail_listing = fails
    for row in rows:
        backend.add(row["id"], **{name: value for name, value in row.items() if name != "id"})
    services.backends.add(backend.manifest, backend, distribution="anydevice")
    try:
        yield backend
    finally:
        with anyio.CancelScope(shield=True):
            for row_now in backend.rows.values():
                for session in services.sessions.of_device(row_now.key):
                    services.sessions.end(session, "the neighbour moved out")
                await services.connections.drop(row_now.key)
            services.backends.remove(NAME)
