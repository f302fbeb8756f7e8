"""perf and network: what was measured is passed on whole, of the app that was named."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice.testing import FakeBackend, call, fake_router
from anydevice_schemas import Answer

pytestmark = pytest.mark.anyio


class Phone:
    """A router with one phone, and short calls on it."""

    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend
        self.diary = backend.screen("fake-1").diary

    async def __call__(self, command: str, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call(command, device="fake-1", **arguments))
        return answer


@pytest.fixture
async def phone(anyio_backend: str) -> Any:
    async with fake_router(FakeBackend(["fake-1", "other"])) as (router, backend):
        yield Phone(router, backend)


async def test_memory_and_cpu_are_the_devices_own_numbers(phone: Phone) -> None:
    phone.diary.resident, phone.diary.busy = 12_345, 87.5
    memory = await phone("perf")
    assert (memory.data["kind"], memory.data["residentKb"], memory.verified) == ("memory", 12_345, None)
    cpu = await phone("perf", kind="cpu", durationMs=100)
    assert (cpu.data["kind"], cpu.data["cpuPercent"], cpu.data["seconds"]) == ("cpu", 87.5, 0.1)
    assert (await phone("perf", kind="frames", durationMs=100)).data["frameMsP90"] == 16.9


async def test_arguments_that_mean_nothing_are_refused(phone: Phone) -> None:
    for arguments in ({"durationMs": 500}, {"kind": "heat"}, {"kind": "cpu", "durationMs": 5}, {"app": ""}):
        answer = await phone("perf", **arguments)
        assert answer.error is not None and answer.error.code == "invalid_argument", arguments
    answer = await phone("perf", app="nobody")
    assert answer.error is not None and answer.error.code == "app_not_found"


async def test_a_kind_the_device_has_not_is_refused_with_those_it_has(phone: Phone) -> None:
    declared = {op: how for op, how in phone.backend.manifest.operations.items() if op != "perf.frames"}
    phone.backend.manifest = phone.backend.manifest.model_copy(update={"operations": declared})
    phone.router.services.backends.entries["fake"].manifest = phone.backend.manifest
    answer = await phone("perf", kind="frames")
    assert answer.error is not None and answer.error.code == "unsupported"
    assert set(answer.error.details["alternatives"]) == {"kind=memory", "kind=cpu"}
    assert (await phone("perf", kind="memory")).ok


async def test_requests_are_the_newest_oldest_first(phone: Phone) -> None:
    for number in range(5):
        phone.diary.requests.append({"method": "GET", "url": f"https://example.org/{number}", "status": 200})
    rows = (await phone("network", limit=2)).data["requests"]
    assert [row["url"][-1] for row in rows] == ["3", "4"]
    found = (await phone("network", contains="ORG/1")).data
    assert (found["count"], found["requests"][0]["url"]) == (1, "https://example.org/1")
    assert (await phone("network", contains="nowhere")).data["count"] == 0


async def test_long_addresses_are_cut_and_that_is_told(phone: Phone) -> None:
    phone.diary.requests.append({"method": "GET", "url": "https://example.org/" + "x" * 9000})
    answer = await phone("network")
    assert len(answer.data["requests"][0]["url"]) == 2000
    assert answer.truncated == ["1 texts (limit 2000 characters)"]
    assert len(phone.diary.requests[0]["url"]) > 9000, "what the device has was changed"
