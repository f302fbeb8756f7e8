"""A lab for each module here: simulated devices behind a real adb server of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from anydevice_adb import AdbDevice, AdbServer
from anydevice_lab.android import Lab


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def lab() -> AsyncIterator[Lab]:
    async with Lab() as running:
        yield running


@pytest.fixture(scope="module")
def server(lab: Lab) -> AdbServer:
    return AdbServer("127.0.0.1", lab.port)


@pytest.fixture(scope="module")
async def one_phone(lab: Lab, server: AdbServer) -> AdbDevice:
    return AdbDevice(server, (await lab.start("phone"))[0])


@pytest.fixture
async def phone(lab: Lab, one_phone: AdbDevice) -> AsyncIterator[AdbDevice]:
    """A phone without faults; it is the same for all tests of a module."""
    yield one_phone
    await lab.clear(one_phone.serial)
