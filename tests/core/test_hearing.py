"""A call waits for the backends whose devices it can mean; a refusal waits for all that could change it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from anydevice.hearing import concerned
from anydevice.router import Router
from anydevice.testing import FakeBackend, call, fake_router
from anydevice_schemas import Answer, DeviceSelector

pytestmark = pytest.mark.anyio

SLOW = 3.0
"""Seconds the backend takes that nobody should have to wait for."""


@asynccontextmanager
async def beside_a_slow_one() -> AsyncIterator[tuple[Router, FakeBackend]]:
    """A backend that answers at once beside one that takes its time; nobody has listed anything yet."""
    slow = FakeBackend(["far-1", "near-2"], name="slow")
    slow.fault.hang_listing = SLOW
    async with fake_router(FakeBackend(["near-1", "near-2"], name="quick"), slow) as (router, _):
        yield router, slow


async def quickly(router: Router, name: str, **arguments: object) -> Answer:
    """The answer to a call, which must not have waited for the slow backend."""
    with anyio.fail_after(SLOW / 2):
        return await router.call(call(name, **arguments))


@pytest.mark.parametrize(
    "named", [{"device": "quick:near-1"}, {"device": "QUICK:near-1"}, {"platform": "quick", "device": "near-1"}]
)
async def test_a_key_or_a_platform_waits_for_its_own_backend_only(named: dict[str, str]) -> None:
    async with beside_a_slow_one() as (router, _):
        answer = await quickly(router, "press", target="Increment", **named)
        assert answer.ok and answer.device is not None and answer.device.key == "quick:near-1"


@pytest.mark.parametrize("name", ["capabilities", "lease"])
async def test_so_do_commands_of_the_host_that_name_a_device(name: str) -> None:
    more = {"action": "acquire"} if name == "lease" else {}
    async with beside_a_slow_one() as (router, _):
        assert (await quickly(router, name, device="quick:near-1", **more)).ok


async def test_devices_of_a_platform_are_listed_without_the_others_and_without_their_faults() -> None:
    async with beside_a_slow_one() as (router, slow):
        answer = await quickly(router, "devices", platform="quick")
        assert [row["id"] for row in answer.data["devices"]] == ["near-1", "near-2"]
        slow.fault.hang_listing, slow.fault.fail_listing = 0.0, RuntimeError("boom")
        assert [gone["backend"] for gone in (await router.call(call("devices"))).data["missing"]] == ["slow"]
        assert "missing" not in (await router.call(call("devices", platform="quick"))).data
        own = await router.call(call("devices", platform="slow"))
        assert own.data["devices"] == [] and [gone["backend"] for gone in own.data["missing"]] == ["slow"]


async def test_a_refusal_of_one_platform_does_not_blame_backends_of_another() -> None:
    quick, sick = FakeBackend(name="quick"), FakeBackend(name="sick")
    sick.fault.fail_listing = RuntimeError("boom")
    async with fake_router(quick, sick) as (router, _):
        assert (await router.call(call("devices"))).data["missing"]
        quick.rows.clear()
        router.services.backends.forget("quick")
        answer = await router.call(call("appstate", platform="quick"))
        assert answer.error is not None and answer.error.code == "device_not_found"
        assert answer.error.details["missing"] == [] and not answer.error.retryable
        assert answer.error.details["looked_in"]["backends"] == {"quick": 0}


async def test_an_id_alone_waits_for_everybody_as_two_could_have_it() -> None:
    async with beside_a_slow_one() as (router, _):
        answer = await router.call(call("appstate", device="near-2"))
        assert answer.error is not None and answer.error.code == "ambiguous_device"


async def test_what_a_backend_alone_does_not_know_is_refused_only_when_all_were_heard() -> None:
    async with beside_a_slow_one() as (router, slow):
        answer = await router.call(call("appstate", platform="quick", device="far-1"))
        assert answer.error is not None and answer.error.code == "selector_conflict"  # it is there, of another platform
        slow.add("x", name="quick:what")  # a name that looks like a key
        router.services.backends.forget("slow")
        answer = await router.call(call("appstate", device="quick:what"))
        assert answer.ok and answer.device is not None and answer.device.key == "slow:x"
        listed = await router.call(call("devices", device="quick:what"))
        assert [row["id"] for row in listed.data["devices"]] == ["x"]


async def test_a_backend_that_may_take_a_row_over_is_heard_with_the_one_it_takes_it_from() -> None:
    special = FakeBackend(["stick"], name="special", facts={"transport": "near-2"})
    special.manifest = special.manifest.model_copy(update={"specialises": ["quick"]})
    async with fake_router(FakeBackend(["near-1", "near-2"], name="quick"), special, FakeBackend(name="else")) as (
        router,
        _,
    ):
        backends = router.services.backends
        assert concerned(DeviceSelector(platform="quick"), backends) == {"quick", "special"}
        assert concerned(DeviceSelector(device="special:stick"), backends) == {"special"}
        assert concerned(DeviceSelector(), backends) is None
        assert concerned(DeviceSelector(), backends, "else:fake-1") == {"else"}
        only = await router.call(call("appstate", platform="quick"))
        assert only.ok and only.device is not None and only.device.id == "near-1"
