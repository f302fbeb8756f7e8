"""lease: acquire by selector, wait in a fair queue, renew, release, and what others may know of it."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from anydevice.router import Router
from anydevice.testing import FakeBackend, call, caller, fake_router
from anydevice_schemas import Answer, Caller

pytestmark = pytest.mark.anyio


def code(answer: Answer) -> str | None:
    return answer.error.code if answer.error is not None else None


async def acquire(router: Router, who: Caller, **arguments: Any) -> Answer:
    return await router.call(call("lease", by=who, action="acquire", **arguments))


async def held(router: Router, who: Caller, **arguments: Any) -> dict[str, Any]:
    answer = await acquire(router, who, **arguments)
    assert answer.ok, answer.error
    lease: dict[str, Any] = answer.data["lease"]
    return lease


async def test_a_lease_is_acquired_by_selector_and_every_command_runs_under_it() -> None:
    async with fake_router() as (router, _):
        one, two = caller("one"), caller("two")
        mine = await held(router, one, platform="fake", runId="r-7")
        theirs = await held(router, two, platform="fake")
        assert {mine["device"], theirs["device"]} == {"fake:fake-1", "fake:fake-2"}
        assert mine["runId"] == "r-7" and mine["kind"] == "run" and len(mine["leaseId"]) == 32
        pressed = await router.call(call("press", by=one, target="Increment"))
        assert pressed.ok and pressed.device is not None and pressed.device.key == mine["device"]
        wrong = await router.call(call("press", by=two, target="Increment", device=mine["device"]))
        assert code(wrong) == "lease_held"


async def test_a_lease_id_names_its_device_for_any_caller_of_the_principal_and_nobody_else() -> None:
    async with fake_router() as (router, _):
        mine = await held(router, caller("one"), device="fake-2", runId="r-1")
        elsewhere = caller("job", transport="python")
        used = await router.call(call("press", by=elsewhere, target="Increment", leaseId=mine["leaseId"]))
        assert used.ok and used.device is not None and used.device.id == "fake-2"
        thief = caller("thief", principal="uid:other")
        assert code(await router.call(call("press", by=thief, target="Increment", leaseId=mine["leaseId"]))) == (
            "lease_stale"
        )
        other = await router.call(call("press", by=elsewhere, target="Up", leaseId=mine["leaseId"], device="fake-1"))
        assert code(other) == "selector_conflict"
        wrong_run = await router.call(call("press", by=elsewhere, target="Up", leaseId=mine["leaseId"], runId="x"))
        assert code(wrong_run) == "selector_conflict"


async def test_without_waiting_the_refusal_says_who_holds_and_until_when_and_leaves_no_place_behind() -> None:
    async with fake_router(FakeBackend(["only"])) as (router, _):
        await held(router, caller("one"), platform="fake")
        refused = await acquire(router, caller("two"), platform="fake")
        assert code(refused) == "lease_held" and refused.error is not None
        assert refused.error.details["devices"][0]["device"] == "fake:only"
        assert refused.error.details["expires"].endswith("Z") and refused.error.retryable
        assert (await router.call(call("lease", action="queue"))).data["queue"] == []


async def test_who_waits_is_told_its_position_and_gets_the_device_when_it_is_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("anydevice.commands.lease.LOOK", 60.0)
    heard: list[str] = []

    async def listen(done: float | None, message: str) -> None:
        heard.append(message)

    async with fake_router(FakeBackend(["only"])) as (router, _):
        one, two = caller("one"), caller("two")
        await held(router, one, platform="fake")
        got: list[Answer] = []

        async def wait() -> None:
            request = call("lease", by=two, action="acquire", platform="fake", timeoutMs=60_000)
            got.append(await router.call(request, progress=listen))

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            with anyio.fail_after(20):
                while not heard:
                    await anyio.sleep(0.01)
            queue = (await router.call(call("lease", by=two, action="queue"))).data["queue"]
            assert [row["position"] for row in queue] == [1] and queue[0]["yours"]
            assert (await router.call(call("lease", by=one, action="release"))).ok
            with anyio.fail_after(20):  # it is called, and does not only look now and then
                while not got:
                    await anyio.sleep(0.01)
        assert got[0].ok
        assert heard[0] == "waiting: position 1 of 1"


async def test_who_waited_too_long_keeps_the_place_for_a_while_and_goes_on_from_it() -> None:
    async with fake_router(FakeBackend(["only"])) as (router, _):
        await held(router, caller("one"), platform="fake")
        first, late = caller("first"), caller("late")
        assert code(await acquire(router, first, platform="fake", timeoutMs=50)) == "lease_held"
        assert code(await acquire(router, late, platform="fake", timeoutMs=50)) == "lease_held"
        again = await acquire(router, first, platform="fake", timeoutMs=50)
        assert again.error is not None and again.error.details["position"] == 1 and "place" in again.error.hint
        assert again.error.details["waiting"] == 2


async def test_a_caller_that_stops_waiting_is_never_given_the_device() -> None:
    async with fake_router(FakeBackend(["only"])) as (router, _):
        one = caller("one")
        await held(router, one, platform="fake")
        with anyio.move_on_after(0.1):
            await acquire(router, caller("gone"), platform="fake", timeoutMs=60_000)
        assert (await router.call(call("lease", action="queue"))).data["queue"] == []
        assert (await router.call(call("lease", by=one, action="release"))).ok
        assert router.services.desk.held() == {}


async def test_an_offer_keeps_others_out_until_it_is_taken() -> None:
    async with fake_router(FakeBackend(["only"])) as (router, _):
        one = caller("one")
        await held(router, one, platform="fake")
        assert code(await acquire(router, caller("patient"), platform="fake", timeoutMs=50)) == "lease_held"
        assert (await router.call(call("lease", by=one, action="release"))).ok
        barging = await router.call(call("press", by=caller("two"), target="Increment", device="only"))
        assert code(barging) == "lease_held" and barging.error is not None and "queue" in barging.error.message
        assert (await acquire(router, caller("patient"), platform="fake", timeoutMs=50)).ok


async def test_acquiring_again_keeps_the_lease_and_acquiring_what_one_drives_makes_it_one_that_was_asked_for() -> None:
    async with fake_router() as (router, _):
        one = caller("one")
        assert (await router.call(call("press", by=one, target="Increment", device="fake-1"))).ok
        mine = await held(router, one, device="fake-1", ttlMs=120_000)
        assert mine["kind"] == "run" and mine["ttlMs"] == 120_000
        again = await acquire(router, one, platform="fake")
        assert again.data["already"] and again.data["lease"]["leaseId"] == mine["leaseId"]


async def test_renew_and_release_need_no_selector_where_there_is_one_lease_and_one_where_there_are_more() -> None:
    async with fake_router() as (router, _):
        one = caller("one")
        assert code(await router.call(call("lease", by=one, action="renew"))) == "lease_expired"
        first = await held(router, one, device="fake-1")
        assert (await router.call(call("lease", by=one, action="renew"))).data["lease"]["leaseId"] == first["leaseId"]
        second = await held(router, one, device="fake-2")
        assert code(await router.call(call("lease", by=one, action="release"))) == "selector_conflict"
        released = await router.call(call("lease", by=one, action="release", leaseId=second["leaseId"]))
        assert released.ok and released.data["device"] == "fake:fake-2" and released.verified
        late = await router.call(call("press", by=one, target="Increment", leaseId=second["leaseId"]))
        assert code(late) == "lease_expired"
        assert (await router.call(call("lease", by=one, action="release"))).data["device"] == "fake:fake-1"


async def test_tenants_see_of_each_other_only_that_a_device_is_held_and_until_when() -> None:
    async with fake_router() as (router, _):
        one = caller("one")
        await held(router, one, device="fake-1", tenant="red", runId="secret-run", session="secret-session")
        await router.call(call("lease", by=one, action="acquire", device="fake-1", tenant="blue", timeoutMs=20))
        blue = caller("two")
        shown = [
            await router.call(call("lease", by=blue, action="status", tenant="blue")),
            await router.call(call("lease", by=blue, action="queue", tenant="green")),
            await router.call(call("devices", by=blue, tenant="blue")),
            await router.call(call("session", by=blue)),
            await router.call(call("press", by=blue, device="fake-1", target="Increment", tenant="blue")),
            await acquire(router, blue, device="fake-1", tenant="blue"),
        ]
        for answer in shown:
            assert "secret" not in answer.model_dump_json(), answer.command
        assert shown[0].data["leases"] == [
            {"device": "fake:fake-1", "held": True, "until": shown[0].data["leases"][0]["until"]}
        ]
        assert shown[1].data["queue"][0].keys() == {"position", "waitedMs"}
        own = await router.call(call("lease", by=one, action="status", tenant="red"))
        assert own.data["leases"][0]["session"] == "secret-session" and own.data["leases"][0]["runId"] == "secret-run"


async def test_quotas_refuse_with_what_is_used_and_are_each_tenants_own() -> None:
    async with fake_router(FakeBackend(["a", "b", "c"]), lease_held=1, lease_queued=1) as (router, _):
        await held(router, caller("one"), device="a", tenant="red")
        over = await acquire(router, caller("two"), device="b", tenant="red")
        assert code(over) == "quota_exceeded" and over.error is not None
        assert (over.error.details["limit"], over.error.details["used"]) == (1, 1)
        implicit = await router.call(call("press", by=caller("two"), target="Increment", device="b", tenant="red"))
        assert code(implicit) == "quota_exceeded"
        await held(router, caller("three"), device="b", tenant="blue")
        assert code(await acquire(router, caller("four"), device="a", tenant="green", timeoutMs=20)) == "lease_held"
        assert code(await acquire(router, caller("five"), device="a", tenant="green", timeoutMs=20)) == (
            "quota_exceeded"
        )


async def test_devices_that_share_an_input_are_admitted_as_one() -> None:
    async with fake_router(FakeBackend(["left", "right"], shares=["pointer"])) as (router, _):
        await held(router, caller("one"), device="left")
        refused = await acquire(router, caller("two"), device="right")
        assert code(refused) == "lease_held" and refused.error is not None
        assert refused.error.details["devices"][0]["device"] == "fake:left"
        assert code(await router.call(call("press", by=caller("two"), target="Increment", device="right"))) == (
            "lease_held"
        )


async def test_a_name_that_means_several_devices_is_not_acquired_by_guess() -> None:
    backend = FakeBackend(["a", "b"])
    for device in ("a", "b"):
        backend.rows[device] = backend.rows[device].model_copy(update={"name": "Phone"})
    async with fake_router(backend) as (router, _):
        assert code(await acquire(router, caller("one"), device="Phone")) == "ambiguous_device"
        assert code(await acquire(router, caller("one"), device="Fone")) == "device_not_found"
        assert code(await acquire(router, caller("one"), platform="fake", ttlMs=1)) == "invalid_argument"


async def test_a_device_that_becomes_free_by_being_plugged_in_is_offered_to_who_waits() -> None:
    backend = FakeBackend(["a"])
    async with fake_router(backend) as (router, _):
        await held(router, caller("one"), platform="fake")
        async with anyio.create_task_group() as group:

            async def plug() -> None:
                await anyio.sleep(0.3)
                backend.add("b")

            group.start_soon(plug)
            mine = await held(router, caller("two"), platform="fake", timeoutMs=30_000)
        assert mine["device"] == "fake:b"
