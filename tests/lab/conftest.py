"""A lab for each module here: its devices run in a process of their own, behind an adb server of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

import anydevice_lab.apple
from anydevice_lab.android import Lab

from .adb import ADBS, Adb, Reports, witness
from .apple import Mac


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def lab() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture(scope="module", params=ADBS, ids=[f"adb{number}" for number in range(len(ADBS))])
async def each_lab(request: pytest.FixtureRequest) -> AsyncIterator[Lab]:
    """A lab behind each adb program there is."""
    async with Lab(request.param) as running:
        yield running


@pytest.fixture(scope="module")
async def one_phone(lab: Lab) -> Adb:
    return Adb(lab, (await lab.start("phone"))[0])


@pytest.fixture
async def phone(one_phone: Adb) -> AsyncIterator[Adb]:
    """A phone without faults; it is the same for all tests of a module."""
    yield one_phone
    await one_phone.lab.clear(one_phone.serial)


@pytest.fixture
def reports() -> Iterator[Reports]:
    with witness() as heard:
        yield heard


@pytest.fixture(scope="module")
async def mac() -> AsyncIterator[Mac]:
    """A Mac with Xcode, and no devices yet."""
    async with anydevice_lab.apple.Lab() as running:
        yield Mac(running)


@pytest.fixture(scope="module")
async def one_simulator(mac: Mac) -> str:
    return (await mac.lab.start("iphone"))[0]


@pytest.fixture
async def udid(mac: Mac, one_simulator: str) -> AsyncIterator[str]:
    """A simulator that is up; afterwards it is upright, and it and the Mac without faults."""
    yield one_simulator
    await mac.lab.clear(one_simulator)
    await mac.lab.clear("mac")
    await mac.lab.set(one_simulator, rotation=0)
