"""A lab for each module here, and a router with the Android backend that is led to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from anydevice_lab.android import Lab

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
    """A router whose callers name the lab's adb server in their environment; no automation server is allowed."""
    async with rig(lab, tmp_path / "home") as running:
        yield running


@pytest.fixture
async def quick(lab: Lab, tmp_path: Path) -> AsyncIterator[Rig]:
    """As `router`, with the automation server allowed; the lab takes any file for its jar."""
    jar = tmp_path / "u2.jar"
    jar.write_bytes(b"a jar")
    async with rig(lab, tmp_path / "home", automation=str(jar)) as running:
        yield running


@pytest.fixture(scope="module")
async def one_phone(lab: Lab) -> str:
    return (await lab.start("phone"))[0]


@pytest.fixture
async def phone(lab: Lab, one_phone: str) -> AsyncIterator[str]:
    """The serial of a phone without faults; it is the same for all tests of a module."""
    await lab.journal(one_phone, clear=True)
    yield one_phone
    await lab.clear(one_phone)
