"""A lab for each module here, and a router with the Vega backend that is led to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from anydevice_lab.vega import Lab

from .rig import Rig, rig


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def lab() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture
async def router(lab: Lab, tmp_path: Path) -> AsyncIterator[Rig]:
    """A router whose callers name the lab's adb server in their environment."""
    async with rig(lab, tmp_path / "home") as running:
        yield running


@pytest.fixture(scope="module")
async def one_stick(lab: Lab) -> str:
    return (await lab.start("stick"))[0]


@pytest.fixture
async def stick(lab: Lab, one_stick: str) -> AsyncIterator[str]:
    """The serial of a stick without faults; it is the same for all tests of a module."""
    await lab.journal(one_stick, clear=True)
    yield one_stick
    await lab.clear(one_stick)
    await lab.tool(**dict.fromkeys(("delay", "hang", "leak", "noise", "stray", "lost", "offline", "boot")))
