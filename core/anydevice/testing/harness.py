"""A router around fake backends, and the shortest way to make a call."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from anydevice_schemas import Call, Caller

from ..assembly import open_router
from ..clock import Clock
from ..leases import LeaseStore
from ..router import Router
from ..settings import Settings
from .fake import FakeBackend


def caller(name: str = "test", **fields: Any) -> Caller:
    """A caller on a connection of its own."""
    return Caller.model_validate(
        {"principal": "uid:test", "transport": "test", "connection": name, "scopes": ["read", "act"]} | fields
    )


def call(command: str, *, by: Caller | None = None, **arguments: Any) -> Call:
    """A call with wire arguments: `call("press", target="Sign in", timeoutMs=0)`."""
    return Call(name=command, arguments=arguments, caller=by or caller())


@asynccontextmanager
async def fake_router(
    *backends: FakeBackend,
    clock: Clock | None = None,
    store: LeaseStore | None = None,
    persist: bool = False,
    home: Path | None = None,
    **settings: Any,
) -> AsyncIterator[tuple[Router, FakeBackend]]:
    """A router that knows only the given fake backends (one with two phones if none is given).

    Yields:
        The router, and the first backend.
    """
    fakes = backends or (FakeBackend(),)
    with tempfile.TemporaryDirectory(prefix="anydevice-test-") as folder:
        chosen = Settings(home=home or Path(folder), **settings)
        async with open_router(chosen, clock=clock, store=store, discover_plugins=False, persist=persist) as router:
            for fake in fakes:
                router.services.backends.add(fake.manifest, fake)
                for command in fake.manifest.commands:
                    router.services.catalogue.register_manifest(command, backend=fake.manifest.name, origin="test")
            yield router, fakes[0]
