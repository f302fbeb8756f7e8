"""Takeover, giving back, clean-up, health: what happens when a device passes from one to another."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from anydevice import janitor, ownership
from anydevice.router import Router
from anydevice.testing import FakeBackend, FakeClock, call, caller, fake_router
from anydevice_schemas import Answer, Caller
from anydevice_schemas.errors import AnydeviceError, InvalidArgument, LeaseExpired, Refused

pytestmark = pytest.mark.anyio

PERSON = caller("hands", transport="cli", cwd="/desk", scopes=["read", "act", "admin"])


def code(answer: Answer) -> str | None:
    return answer.error.code if answer.error is not None else None


def take_over(router: Router, device: str, reason: str = "let me look", seconds: float = 600.0) -> dict[str, Any]:
    row = router.services.backends.cached(_env()).by_key(f"fake:{device}")
    assert row is not None
    return ownership.take_over(router.services, PERSON, row, reason=reason, seconds=seconds)


def give_back(router: Router, device: str) -> dict[str, Any]:
    return ownership.give_back(router.services, PERSON, f"fake:{device}")


def _env() -> Any:
    from anydevice.driver import Environment

    return Environment(None, {})


async def press(router: Router, who: Caller, device: str | None = "fake-1", **more: Any) -> Answer:
    arguments = {"target": "Increment"} | ({"device": device} if device else {}) | more
    return await router.call(call("press", by=who, **arguments))


async def test_a_takeover_ends_the_running_command_at_once_and_says_why() -> None:
    async with fake_router() as (router, backend):
        one = caller("one")
        assert (await press(router, one)).ok
        backend.fault.operations["pointer.click"] = 30.0
        answers: list[Answer] = []

        async def slow() -> None:
            answers.append(await press(router, one))

        async with anyio.create_task_group() as group:
            group.start_soon(slow)
            await anyio.sleep(0.5)
            began = anyio.current_time()
            told = take_over(router, "fake-1", "the camera shows smoke")
        assert anyio.current_time() - began < 20.0
        (answer,) = answers
        assert code(answer) == "lease_lost" and answer.error is not None
        assert answer.error.details["reason"] == "the camera shows smoke"
        assert answer.error.details["may_have_acted"] is True
        assert told["interrupted"][0]["device"] == "fake:fake-1"


async def test_a_command_that_waits_for_its_lane_is_not_run_after_a_takeover() -> None:
    async with fake_router() as (router, backend):
        one = caller("one")
        assert (await press(router, one)).ok
        backend.fault.operations["pointer.click"] = 30.0
        answers: list[Answer] = []

        async def queued() -> None:
            answers.append(await press(router, one))

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(queued)
            await anyio.sleep(0.5)
            before = len(backend.screen("fake-1").journal)
            take_over(router, "fake-1")
        assert [code(answer) for answer in answers] == ["lease_lost"] * 3
        assert len(backend.screen("fake-1").journal) == before, "nothing was sent after the takeover"


async def test_the_old_holder_is_told_once_then_refused_and_goes_on_when_it_is_given_back() -> None:
    async with fake_router() as (router, backend):
        one = caller("one")
        assert (await press(router, one)).ok
        told = take_over(router, "fake-1")
        first, second = await press(router, one), await press(router, one)
        assert code(first) == "lease_lost" and first.error is not None
        assert first.error.details["reason"] == "let me look"
        assert code(second) == "lease_held" and second.error is not None and "person" in second.error.message
        assert (await press(router, PERSON, None, session=told["session"])).ok, "the person drives"
        restored = give_back(router, "fake-1")
        assert [row["device"] for row in restored["restored"]] == ["fake:fake-1"]
        after = await press(router, one)
        assert after.ok and any(notice["kind"] == "given_back" for notice in after.notices)
        assert not any(notice["kind"] == "given_back" for notice in (await press(router, one)).notices)
        assert backend.screen("fake-1").text("Count") == "4"


async def test_a_holder_that_slept_through_a_takeover_hears_of_it_when_it_wakes() -> None:
    async with fake_router() as (router, _):
        one = caller("one")
        assert (await press(router, one)).ok
        take_over(router, "fake-1")
        give_back(router, "fake-1")
        assert any(notice["kind"] == "given_back" for notice in (await press(router, one)).notices)


async def test_an_explicit_lease_goes_on_under_its_id_when_it_is_given_back_with_a_new_fence() -> None:
    async with fake_router() as (router, _):
        one = caller("one")
        lease = (await router.call(call("lease", by=one, action="acquire", device="fake-1"))).data["lease"]
        take_over(router, "fake-1")
        assert code(await press(router, one, None, leaseId=lease["leaseId"])) == "lease_lost"
        give_back(router, "fake-1")
        after = await press(router, one, None, leaseId=lease["leaseId"])
        assert after.ok
        status = (await router.call(call("lease", by=one, action="status"))).data["leases"][0]
        assert status["leaseId"] == lease["leaseId"] and status["fence"] != lease["fence"]


async def test_a_takeover_nobody_gives_back_ends_by_itself_and_the_holder_has_its_lease_again() -> None:
    clock = FakeClock()
    async with fake_router(clock=clock) as (router, _):
        one = caller("one")
        assert (await press(router, one)).ok
        take_over(router, "fake-1", seconds=900)
        clock.advance(899)
        assert code(await press(router, caller("two"))) == "lease_held"
        clock.advance(2)
        assert code(await press(router, caller("two"))) == "lease_held", "the interrupted holder comes first"
        assert (await press(router, one)).ok


async def test_only_a_person_with_admin_scope_takes_over_and_says_why() -> None:
    async with fake_router() as (router, _):
        row = (await router.services.backends.listed(_env())).by_key("fake:fake-1")
        assert row is not None
        for who in (caller("agent"), caller("lib", transport="python")):
            with pytest.raises(Refused):
                ownership.take_over(router.services, who, row, reason="mine", seconds=60)
            with pytest.raises(Refused):
                ownership.give_back(router.services, who, row.key)
            with pytest.raises(Refused):
                ownership.mark(router.services, who, "fake:fake-1", health="good", reason="")
        for reason, seconds in (("", 60.0), (" \n", 60.0), ("why", 0.0), ("why", 1e9)):
            with pytest.raises(InvalidArgument):
                ownership.take_over(router.services, PERSON, row, reason=reason, seconds=seconds)
        with pytest.raises(LeaseExpired):
            ownership.give_back(router.services, PERSON, row.key)
        assert router.services.desk.held() == {}


async def test_no_command_of_the_catalogue_takes_over() -> None:
    async with fake_router() as (router, _):
        names = {word for spec in router.services.catalogue.commands() for word in (spec.name, *spec.aliases)}
        assert not {"takeover", "take-over", "give-back", "mark"} & names
        for name in ("takeover", "give-back", "mark"):
            assert code(await router.call(call("command-run", name=name, arguments={}))) == "unknown_command"


async def test_a_holder_that_is_the_first_to_come_after_a_takeover_ran_out_goes_on() -> None:
    clock = FakeClock()
    async with fake_router(clock=clock) as (router, _):
        one = caller("one")
        assert (await press(router, one)).ok
        take_over(router, "fake-1", seconds=900)
        clock.advance(901)
        after = await press(router, one)
        assert after.ok and any(notice["kind"] == "given_back" for notice in after.notices)


# --- clean-up ---


async def test_a_device_given_back_is_cleaned_up_before_anybody_else_has_it() -> None:
    async with fake_router(FakeBackend(["only"], cleans=True)) as (router, backend):
        backend.fault.operations["clean"] = 0.3
        one, two = caller("one"), caller("two")
        opened = await router.call(call("open", by=one, url="https://example.org/", device="only"))
        assert opened.ok
        assert (await router.call(call("session", by=one, action="end", name=opened.session))).ok
        shown = (await router.call(call("lease", by=two, action="status"))).data["leases"]
        assert shown == [{"device": "fake:only", "held": True, "until": shown[0]["until"]}]
        assert (await press(router, two, "only")).ok, "it waited for the clean-up instead of being refused"
        assert backend.cleaned == ["only"]


async def test_a_lease_that_ran_out_untaken_is_not_cleaned_up_for_its_own_holder_but_for_the_next() -> None:
    clock = FakeClock()
    async with fake_router(FakeBackend(["only"], cleans=True), clock=clock) as (router, backend):
        one = caller("one")
        assert (await press(router, one, "only")).ok
        clock.advance(70)
        assert (await press(router, one, "only")).ok and backend.cleaned == []
        clock.advance(70)
        assert (await press(router, caller("two"), "only")).ok
        assert backend.cleaned == ["only"]
        assert (await press(router, caller("two"), "only")).ok and backend.cleaned == ["only"]


@pytest.mark.parametrize("fault", [InvalidArgument("It is stuck.", param="x", expected="y"), RuntimeError("stuck")])
async def test_a_device_that_cannot_be_cleaned_up_is_suspect_and_not_given_out_until_a_person_says_so(
    fault: Exception,
) -> None:
    async with fake_router(FakeBackend(["sick", "well"], cleans=True)) as (router, backend):
        one, two = caller("one"), caller("two")
        backend.fault.operations["clean"] = fault
        opened = await router.call(call("open", by=one, url="https://example.org/", device="sick"))
        await router.call(call("session", by=one, action="end", name=opened.session))
        refused = await press(router, two, "sick")
        assert code(refused) == "device_unhealthy" and refused.error is not None
        assert refused.error.details["health"] == "suspect" and "stuck" in refused.error.details["reason"]
        assert "anydevice mark fake:sick good" in (refused.error.hint or "")
        rows = (await router.call(call("devices", by=two))).data["devices"]
        assert {row["id"]: row.get("health") for row in rows} == {"sick": "suspect", "well": None}
        lease = await router.call(call("lease", by=two, action="acquire", platform="fake"))
        assert lease.data["lease"]["device"] == "fake:well", "a queue never offers what is not in order"
        ownership.mark(router.services, PERSON, "fake:sick", health="good", reason="I looked")
        del backend.fault.operations["clean"]
        assert (await press(router, caller("three"), "sick")).ok


async def test_a_clean_up_that_fails_before_the_next_holders_first_command_refuses_it_and_holds_nothing() -> None:
    clock = FakeClock()
    async with fake_router(FakeBackend(["only"], cleans=True), clock=clock) as (router, backend):
        assert (await press(router, caller("one"), "only")).ok
        clock.advance(70)
        backend.fault.operations["clean"] = RuntimeError("no")
        before = len(backend.screen("only").journal)
        assert code(await press(router, caller("two"), "only")) == "device_unhealthy"
        assert len(backend.screen("only").journal) == before
        assert "fake:only" not in router.services.desk.held()


async def test_a_clean_up_that_failed_is_tried_again_whatever_environment_its_device_was_listed_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(janitor, "SWEEP", 0.0)
    monkeypatch.setattr(janitor, "RETRY_FIRST", 0.0)
    backend = FakeBackend(["sick"], cleans=True)
    backend.manifest = backend.manifest.model_copy(update={"env": ["SEAT"]})
    by = caller("one", env={"SEAT": "one"})
    async with fake_router(backend) as (router, _):
        backend.fault.operations["clean"] = RuntimeError("stuck")
        opened = await router.call(call("open", by=by, url="https://example.org/", device="sick"))
        await router.call(call("session", by=by, action="end", name=opened.session))
        assert code(await press(router, by, "sick")) == "device_unhealthy"
        del backend.fault.operations["clean"]
        with anyio.fail_after(20):
            while not (await press(router, by, "sick")).ok:
                await anyio.sleep(0.05)


# --- looking, and others ---


async def test_who_may_observe_looks_at_a_held_device_and_changes_nothing() -> None:
    async with fake_router() as (router, backend):
        assert (await press(router, caller("one"))).ok
        looked = await router.call(call("screenshot", by=PERSON, device="fake-1"))
        assert looked.ok and [n["kind"] for n in looked.notices] == ["observed"]
        assert code(await press(router, PERSON)) == "lease_held"
        assert code(await router.call(call("screenshot", by=caller("agent"), device="fake-1"))) == "lease_held"
        assert backend.screen("fake-1").text("Count") == "1"
    async with fake_router(observers=True) as (router, _):
        assert (await press(router, caller("one"))).ok
        assert (await router.call(call("screenshot", by=caller("agent"), device="fake-1"))).ok


async def test_a_frozen_device_delays_no_call_on_another() -> None:
    async with fake_router(FakeBackend(["frozen", "well"], cleans=True)) as (router, backend):
        backend.fault.operations["pointer.click"] = 30.0
        async with anyio.create_task_group() as group:
            for n in range(5):
                group.start_soon(press, router, caller("one"), "frozen")
                group.start_soon(press, router, caller(f"other-{n}"), "frozen")
            await anyio.sleep(0.05)
            began = anyio.current_time()
            for _ in range(20):
                assert (await router.call(call("snapshot", by=caller("two"), device="well"))).ok
            assert anyio.current_time() - began < 20.0
            group.cancel_scope.cancel()


async def test_every_refusal_of_a_lease_has_a_hint_that_names_what_to_do() -> None:
    async with fake_router(FakeBackend(["only"])) as (router, _):
        await press(router, caller("one"), "only")
        answers = [
            await press(router, caller("two"), "only"),
            await router.call(call("lease", by=caller("two"), action="acquire", platform="fake")),
            await router.call(call("lease", by=caller("two"), action="renew")),
            await press(router, caller("two"), None, leaseId="0" * 32),
        ]
        for answer in answers:
            assert answer.error is not None and answer.error.hint, answer
    assert isinstance(answers, list) and issubclass(Refused, AnydeviceError)
