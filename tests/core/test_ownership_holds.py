"""What was tried to get two drivers onto one device, to lock somebody out, or to get round a person: it holds."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest

from anydevice import janitor, ownership
from anydevice.database import StoreBusy
from anydevice.leases import MemoryStore
from anydevice.router import Router
from anydevice.testing import FakeBackend, FakeClock, call, caller, fake_router
from anydevice_schemas import Answer, Caller, Device

pytestmark = pytest.mark.anyio

PERSON = caller("hands", transport="cli", cwd="/desk", scopes=["read", "act", "admin"])


def code(answer: Answer) -> str | None:
    return answer.error.code if answer.error is not None else None


def take_over(router: Router, backend: FakeBackend, device: str = "fake-1", seconds: float = 600.0) -> dict[str, Any]:
    row: Device = backend.rows[device]
    return ownership.take_over(router.services, PERSON, row, reason="let me look", seconds=seconds)


async def press(router: Router, who: Caller, device: str | None = "fake-1", **more: Any) -> Answer:
    return await router.call(
        call("press", by=who, target="Increment", **({"device": device} if device else {}), **more)
    )


async def acquire(router: Router, who: Caller, **arguments: Any) -> dict[str, Any]:
    answer = await router.call(call("lease", by=who, action="acquire", **arguments))
    assert answer.ok, answer.error
    lease: dict[str, Any] = answer.data["lease"]
    return lease


# --- names and secrets ---


async def test_nobody_gets_in_by_the_name_of_anothers_session() -> None:
    async with fake_router() as (router, _):
        first = await press(router, caller("one"))
        assert first.session is not None and first.session.startswith("auto-")
        thief = caller("thief")
        for name in (first.session, "auto-made-up", "waiting-1", "person-1"):
            opened = await router.call(call("open", by=thief, session=name, url="https://a.example/", device="fake-1"))
            assert code(opened) == "session_not_found", name
            assert code(await press(router, thief, "fake-2", session=name)) == "session_not_found"
            assert code(
                await router.call(call("lease", by=thief, action="acquire", device="fake-2", session=name))
            ) in ("session_not_found",)


async def test_the_id_of_a_lease_is_told_only_to_who_may_sit_in_it() -> None:
    async with fake_router() as (router, backend):
        mine = await acquire(router, caller("one"), device="fake-1")
        shared = await acquire(router, caller("two"), device="fake-2", session="shared")
        seen = (await router.call(call("lease", by=caller("three"), action="status"))).data["leases"]
        ids = {row["device"]: row.get("leaseId") for row in seen}
        assert ids == {"fake:fake-1": None, "fake:fake-2": shared["leaseId"]}
        assert mine["leaseId"] not in str(seen)
        take_over(router, backend)
        for who in (caller("one"), caller("three")):
            rows = (await router.call(call("lease", by=who, action="status"))).data["leases"]
            person = next(row for row in rows if row["device"] == "fake:fake-1")
            assert person.keys() == {"device", "held", "until"}, "nothing of a person is told to programs"


async def test_a_persons_lease_is_used_by_no_program_even_with_its_id_and_its_name_is_not_told() -> None:
    async with fake_router() as (router, backend):
        one = caller("one")
        assert (await press(router, one)).ok
        told = take_over(router, backend)
        lease = router.services.desk.store.leases(router.services.clock.now())[0]
        assert code(await press(router, one, None, leaseId=lease.lease_id)) == "lease_held"
        for answer in (await press(router, one), await press(router, one), await press(router, caller("two"))):
            assert told["session"] not in answer.model_dump_json()
        stolen = await router.call(call("lease", by=one, action="release", session=told["session"]))
        assert code(stolen) == "session_not_found"
        assert router.services.desk.store.leases(router.services.clock.now())[0].lease_id == lease.lease_id


async def test_a_program_in_the_persons_directory_does_not_drive_by_the_takeover() -> None:
    async with fake_router() as (router, backend):
        program = caller("script", transport="cli", cwd=PERSON.cwd)
        assert (await press(router, program)).ok
        take_over(router, backend)
        assert code(await press(router, program)) == "lease_lost"
        assert code(await press(router, program)) == "lease_held"
        assert code(await press(router, program, None)) == "lease_held"


# --- a lease and the command that runs under it ---


async def test_releasing_a_lease_ends_the_command_that_runs_under_it() -> None:
    async with fake_router() as (router, backend):
        one = caller("one")
        lease = await acquire(router, one, device="fake-1")
        backend.fault.operations["pointer.click"] = 30.0
        answers: list[Answer] = []
        async with anyio.create_task_group() as group:

            async def slow() -> None:
                answers.append(await press(router, one, None))

            group.start_soon(slow)
            await anyio.sleep(0.5)
            began = anyio.current_time()
            assert (await router.call(call("lease", by=one, action="release", leaseId=lease["leaseId"]))).ok
        assert anyio.current_time() - began < 20.0
        assert code(answers[0]) == "lease_expired" and answers[0].error is not None
        assert answers[0].error.details["may_have_acted"] is True


async def test_a_command_that_waited_for_its_lane_has_its_whole_time_under_its_lease() -> None:
    clock = FakeClock()
    async with fake_router(clock=clock) as (router, backend):
        one = caller("one")
        await acquire(router, one, device="fake-1", ttlMs=5000)
        backend.fault.operations["pointer.click"] = 2.0
        answers: list[Answer] = []
        async with anyio.create_task_group() as group:

            async def go() -> None:
                answers.append(await press(router, one, None))

            group.start_soon(go)
            group.start_soon(go)
            await anyio.sleep(1.0)
            clock.advance(28)  # of the 30 s both were pinned for
            await anyio.sleep(2.0)  # the second one runs now
            clock.advance(10)
            assert code(await press(router, caller("two"))) == "lease_held", "it is still pinned"
        assert [answer.ok for answer in answers] == [True, True]


async def test_an_idle_sweep_ends_no_session_in_which_a_command_runs_or_a_person_drives_or_interrupted() -> None:
    clock = FakeClock()
    async with fake_router(clock=clock, session_idle=60.0) as (router, backend):
        one = caller("one")
        assert (await press(router, one)).ok
        told = take_over(router, backend, seconds=3600)
        clock.advance(600)
        await router.janitor._sweep()
        assert code(await press(router, caller("two"))) == "lease_held"
        assert (await press(router, PERSON, None, session=told["session"])).ok
        ownership.give_back(router.services, PERSON, "fake:fake-1")
        after = await press(router, one, None)
        assert after.ok and any(notice["kind"] == "given_back" for notice in after.notices)


async def test_the_end_of_a_dead_session_cleans_nothing_up_under_the_present_holder() -> None:
    clock = FakeClock()
    async with fake_router(FakeBackend(["only"], cleans=True), clock=clock) as (router, backend):
        opened = await router.call(call("open", by=caller("one"), url="https://a.example/", device="only"))
        clock.advance(70)
        assert (await press(router, caller("two"), "only")).ok
        cleaned = list(backend.cleaned)
        assert (await router.call(call("session", by=caller("one"), action="end", name=opened.session))).ok
        await anyio.sleep(0.1)
        assert backend.cleaned == cleaned
        assert (await press(router, caller("two"), "only")).ok


async def test_closing_and_shutting_down_are_not_ended_by_the_end_of_their_own_session() -> None:
    async with fake_router() as (router, _):
        assert (await router.call(call("open", url="https://a.example/", device="fake-1"))).ok
        assert (await router.call(call("close"))).ok
        assert (await router.call(call("open", url="https://a.example/", device="fake-1"))).ok
        assert (await router.call(call("shutdown", device="fake-1"))).ok


# --- a person's word ---


async def test_a_takeover_lasts_as_long_as_was_said_however_it_is_used() -> None:
    clock = FakeClock()
    async with fake_router(clock=clock) as (router, backend):
        told = take_over(router, backend, seconds=3600)
        assert (await press(router, PERSON, None, session=told["session"])).ok
        assert (await router.call(call("lease", by=PERSON, action="renew", session=told["session"]))).ok
        await router.call(
            call("lease", by=PERSON, action="acquire", session=told["session"], ttlMs=5000, device="fake-1")
        )
        clock.advance(3599)
        assert code(await press(router, caller("two"))) == "lease_held"
        clock.advance(2)
        assert (await press(router, caller("two"))).ok
        take_over(router, backend, "fake-2", seconds=20)
        clock.advance(21)
        assert (await press(router, caller("two"), "fake-2")).ok


async def test_what_a_person_says_of_a_device_is_overwritten_by_no_finding() -> None:
    async with fake_router(FakeBackend(["only"], cleans=True)) as (router, backend):
        assert (await router.call(call("open", by=caller("one"), url="https://a.example/", device="only"))).ok
        ownership.mark(router.services, PERSON, "fake:only", health="maintenance", reason="battery\x1b[31m\nis swollen")
        backend.fault.operations["clean"] = RuntimeError("no")
        for session in router.services.sessions.all():
            router.services.sessions.end(session, "test")
        await anyio.sleep(0.1)
        mark = router.services.desk.store.mark("fake:only")  # type: ignore[attr-defined]
        assert (mark.health, mark.reason) == ("maintenance", "battery [31m is swollen")
        del backend.fault.operations["clean"]
        await router.janitor._try_again("fake:only")
        assert code(await press(router, caller("two"), "only")) == "device_unhealthy"


async def test_a_device_marked_bad_is_driven_by_nobody_not_even_who_had_it() -> None:
    async with fake_router() as (router, backend):
        one = caller("one")
        assert (await press(router, one)).ok
        ownership.mark(router.services, PERSON, "fake:fake-1", health="bad", reason="smoke")
        assert code(await press(router, one)) == "device_unhealthy"
        told = take_over(router, backend)
        assert (await press(router, PERSON, None, session=told["session"])).ok, "a person may still look"
        ownership.give_back(router.services, PERSON, "fake:fake-1")
        assert code(await press(router, one)) in ("device_unhealthy", "lease_lost")
        assert code(await press(router, one)) == "device_unhealthy"


async def test_ending_the_persons_session_gives_back() -> None:
    async with fake_router() as (router, backend):
        one = caller("one")
        assert (await press(router, one)).ok
        told = take_over(router, backend)
        assert (await router.call(call("session", by=PERSON, action="end", name=told["session"]))).ok
        after = await press(router, one)
        assert after.ok and any(notice["kind"] == "given_back" for notice in after.notices)


async def test_a_lease_given_back_is_kept_for_a_holder_that_does_not_come_at_once() -> None:
    async with fake_router() as (router, backend):
        one = caller("one")
        assert (await press(router, one)).ok
        take_over(router, backend)
        assert code(await press(router, one)) == "lease_lost"
        ownership.give_back(router.services, PERSON, "fake:fake-1")
        router.janitor._reconcile()
        router.janitor._tick()
        assert code(await press(router, caller("two"))) == "lease_held"
        assert (await press(router, one)).ok


@pytest.mark.parametrize("name", ["fake", "web2"])
async def test_the_reason_of_a_takeover_arrives_on_a_shared_lane_whatever_the_backend_is_called(name: str) -> None:
    backend = FakeBackend(["left", "right"], name=name, shares=["pointer"])
    async with fake_router(backend) as (router, _):
        backend.fault.operations["pointer.click"] = 30.0
        answers: list[Answer] = []
        async with anyio.create_task_group() as group:

            async def slow() -> None:
                answers.append(await press(router, caller("one"), "left"))

            group.start_soon(slow)
            await anyio.sleep(0.5)
            take_over(router, backend, "right")
        assert code(answers[0]) == "lease_lost" and answers[0].error is not None
        assert answers[0].error.details["reason"] == "let me look"


# --- refusals leave nothing behind ---


async def test_a_refused_open_binds_no_session_name() -> None:
    async with fake_router() as (router, _):
        assert (await press(router, caller("one"))).ok
        two = caller("two")
        refused = await router.call(call("open", by=two, session="login", device="fake-1", url="https://a.example/"))
        assert code(refused) == "lease_held"
        other = await router.call(call("open", by=two, session="login", device="fake-2", url="https://a.example/"))
        assert other.ok, other.error


async def test_a_session_of_one_run_is_not_used_by_another() -> None:
    async with fake_router() as (router, _):
        one = caller("one")
        assert (
            await router.call(call("open", by=one, session="s", runId="r1", device="fake-1", url="https://a.example/"))
        ).ok
        assert code(await press(router, one, None, session="s", runId="r2")) == "selector_conflict"
        assert (await press(router, one, None, session="s", runId="r1")).ok
        assert (await press(router, one, None, session="s")).ok


async def test_who_only_looks_keeps_the_lane_for_seconds_at_most_and_hears_nothing_meant_for_the_holder() -> None:
    async with fake_router() as (router, backend):
        one = caller("one")
        assert (await press(router, one)).ok
        backend.pending_losses.append({"kind": "browser_lost", "message": "It was started anew."})
        looked = await router.call(call("screenshot", by=PERSON, device="fake-1"))
        assert [notice["kind"] for notice in looked.notices] == ["observed"]
        assert "browser_lost" in [notice["kind"] for notice in (await press(router, one)).notices]
        backend.fault.operations["screen.image"] = 30.0
        began = anyio.current_time()
        await router.call(call("screenshot", by=PERSON, device="fake-1"))
        assert anyio.current_time() - began < 20.0


# --- a store that is busy ---


class Stuck(MemoryStore):
    """A store another process keeps to itself while `stuck`."""

    stuck = False
    tries = 0

    def _run(self, event: Any, now: float) -> Any:
        if self.stuck:
            type(self).tries += 1
            raise StoreBusy("another process writes")
        return super()._run(event, now)


async def test_a_store_that_is_busy_for_a_moment_delays_and_refuses_nothing() -> None:
    store = Stuck()
    async with fake_router(store=store) as (router, _):
        store.stuck = True
        answers: list[Answer] = []

        async def go(n: int) -> None:
            answers.append(await press(router, caller(f"c{n}"), "fake-1" if n == 0 else "fake-2" if n == 1 else None))

        async with anyio.create_task_group() as group:
            group.start_soon(go, 0)
            group.start_soon(go, 1)
            await anyio.sleep(0.4)
            store.stuck = False
        assert [answer.ok for answer in answers] == [True, True], [answer.error for answer in answers]


async def test_however_many_wait_for_a_busy_store_one_at_a_time_tries_again() -> None:
    store = Stuck()
    async with fake_router(FakeBackend([f"d{n}" for n in range(40)]), store=store) as (router, _):
        store.stuck, Stuck.tries = True, 0
        async with anyio.create_task_group() as group:
            for n in range(40):
                group.start_soon(partial(press, router, caller(f"c{n}"), f"d{n}"))
            await anyio.sleep(1.0)
            tries, store.stuck = Stuck.tries, False
        assert tries < 80, "a pause between tries, not one after the other"


async def test_housekeeping_that_cannot_write_ends_nothing_else() -> None:
    store = Stuck()
    async with fake_router(FakeBackend(["only"], cleans=True), store=store) as (router, backend):
        backend.fault.operations["clean"] = 0.2
        opened = await router.call(call("open", by=caller("one"), url="https://a.example/", device="only"))
        assert (await router.call(call("session", by=caller("one"), action="end", name=opened.session))).ok
        await anyio.sleep(0.05)
        store.stuck = True
        await anyio.sleep(1.0)
        store.stuck = False
        assert (await press(router, caller("two"), "only")).ok, "the router lives"


async def test_who_comes_while_a_release_could_not_be_written_waits_for_it_and_is_not_refused() -> None:
    store = Stuck()
    async with fake_router(FakeBackend(["only"]), store=store) as (router, _):
        opened = await router.call(call("open", by=caller("one"), url="https://a.example/", device="only"))
        store.stuck = True
        router.services.sessions.end(router.services.sessions.all()[0], "over")
        assert router.services.desk.unreleased, opened.session
        answers: list[Answer] = []

        async def second() -> None:
            answers.append(await press(router, caller("two"), "only"))

        async with anyio.create_task_group() as group:
            group.start_soon(second)
            await anyio.sleep(0.2)
            store.stuck = False
        assert [code(answer) for answer in answers] == [None]


async def test_a_clean_up_that_is_over_when_its_refusal_is_read_refuses_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_router(FakeBackend(["only"], cleans=True)) as (router, backend):
        backend.fault.operations["clean"] = 0.3
        opened = await router.call(call("open", by=caller("one"), url="https://a.example/", device="only"))
        assert (await router.call(call("session", by=caller("one"), action="end", name=opened.session))).ok
        # As if it ended between the refusal and the look at whether it goes on.
        monkeypatch.setattr(router.services.desk, "cleaning", lambda key: False)
        assert code(await press(router, caller("two"), "only")) is None


async def test_a_device_whose_driver_was_closed_before_its_clean_up_is_free_at_once_and_cleaned_by_the_next() -> None:
    async with fake_router(FakeBackend(["only"], cleans=True)) as (router, backend):
        opened = await router.call(call("open", by=caller("one"), url="https://a.example/", device="only"))
        assert (await router.call(call("session", by=caller("one"), action="end", name=opened.session))).ok
        await router.services.connections.drop("fake:only")  # before the clean-up has begun
        before = anyio.current_time()
        assert code(await press(router, caller("two"), "only")) is None
        assert anyio.current_time() - before < janitor.CLEAN_DEADLINE / 2
        assert backend.cleaned == ["only"]


async def test_an_interrupted_session_that_asked_in_vain_has_its_lease_again_by_its_id() -> None:
    async with fake_router() as (router, backend):
        one = caller("one")
        lease = await acquire(router, one, device="fake-1")
        take_over(router, backend)
        assert [code(await press(router, one)) for _ in range(3)] == ["lease_lost", "lease_held", "lease_held"]
        ownership.give_back(router.services, PERSON, "fake:fake-1")
        after = await press(router, one, None, leaseId=lease["leaseId"])
        assert after.ok, after.error


async def test_a_person_who_took_a_device_over_does_not_drive_another_by_leaving_its_name_out() -> None:
    async with fake_router() as (router, backend):
        told = take_over(router, backend)
        unsaid = await press(router, PERSON, None)
        assert code(unsaid) == "ambiguous_device" and unsaid.error is not None
        first = unsaid.error.details["candidates"][0]
        assert first["key"] == "fake:fake-1" and first["selectors"] == {"session": told["session"]}
        assert (await press(router, PERSON, None, **first["selectors"])).ok
        assert (await press(router, PERSON, "fake-2")).ok, "one that is named is meant"


async def test_every_argument_of_lease_takes_effect_or_is_refused() -> None:
    async with fake_router() as (router, _):
        one = caller("one")
        lease = await acquire(router, one, device="fake-1")
        renewed = await router.call(call("lease", by=one, action="renew", ttlMs=300_000, leaseId=lease["leaseId"]))
        assert renewed.ok and renewed.data["lease"]["ttlMs"] == 300_000
        for arguments in ({"action": "release", "ttlMs": 6000}, {"action": "renew", "timeoutMs": 10}, {"priority": 1}):
            assert code(await router.call(call("lease", by=one, **arguments))) == "invalid_argument", arguments


async def test_the_end_of_a_persons_session_that_could_not_be_written_gives_back_later() -> None:
    store = Stuck()
    async with fake_router(store=store) as (router, backend):
        one = caller("one")
        assert (await press(router, one)).ok
        told = take_over(router, backend)
        store.stuck = True
        session = router.services.sessions.find(PERSON, told["session"])
        assert session is not None
        router.services.sessions.end(session, "test")
        store.stuck = False
        router.janitor._tick()
        after = await press(router, one)
        assert after.ok and any(notice["kind"] == "given_back" for notice in after.notices)
