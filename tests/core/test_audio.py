"""audio: how loud a device is, of the time since somebody began to listen."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice.testing import FakeBackend, call, fake_router
from anydevice_schemas import Answer

pytestmark = pytest.mark.anyio


class Heard:
    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend

    async def __call__(self, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call("audio", device="fake-1", **arguments))
        return answer


@pytest.fixture
async def phone(anyio_backend: str) -> Any:
    async with fake_router(FakeBackend(["fake-1", "other"], cleans=True)) as (router, backend):
        yield Heard(router, backend)
        assert "other" not in backend.listening


async def test_levels_are_those_of_the_device(phone: Heard) -> None:
    started = await phone(action="start")
    assert started.ok and started.verified is True and started.data["silent"] is True
    phone.backend.loudness["fake-1"] = -6.0
    status = await phone()
    assert (status.data["peakDbfs"], status.data["rmsDbfs"], status.data["silent"]) == (-6.0, -9.01, False)
    assert status.data["listening"] is True
    stopped = await phone(action="stop")
    assert stopped.data["listening"] is False and stopped.data["peakDbfs"] == -6.0
    assert phone.backend.listening == {}


@pytest.mark.parametrize("action", ["status", "stop"])
async def test_nobody_listens_before_start(phone: Heard, action: str) -> None:
    answer = await phone(action=action)
    assert answer.error is not None and answer.error.code == "action_unverified"


@pytest.mark.parametrize("level", [20.0, float("nan"), float("inf")])
async def test_what_is_no_level_is_not_passed_on(phone: Heard, level: float) -> None:
    await phone(action="start")
    phone.backend.loudness["fake-1"] = level
    answer = await phone()
    assert answer.error is not None and answer.error.code == "backend_broken"


async def test_listening_ends_with_its_holder(phone: Heard) -> None:
    import anyio

    answer = await phone(action="start")
    assert (await phone.router.call(call("session", action="end", name=answer.session))).ok
    with anyio.fail_after(10):
        while phone.backend.listening:
            await anyio.sleep(0.02)
