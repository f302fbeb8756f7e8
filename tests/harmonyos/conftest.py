"""A lab for each module here, and a router with the HarmonyOS backend that is led to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from anydevice_lab.harmonyos import Lab

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
    """A router whose callers name the lab's hdc server in their environment."""
    async with rig(lab, tmp_path / "home") as running:
        yield running


@pytest.fixture(scope="module")
async def one_phone(lab: Lab) -> str:
    return (await lab.start("phone"))[0]


@pytest.fixture
async def phone(lab: Lab, one_phone: str) -> AsyncIterator[str]:
    """The key of a phone without faults; it is the same for all tests of a module."""
    await lab.journal(one_phone, clear=True)
    await lab.heard(clear=True)
    yield one_phone
    await lab.clear(one_phone)
    await lab.set(one_phone, awake=True, locked=False)
