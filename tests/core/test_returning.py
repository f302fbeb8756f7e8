"""Callers who come back after the daemon was restarted, as they see it: what goes on, and what they are told, once."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.router import Router
from anydevice.testing import FakeBackend, call, caller, fake_router
from anydevice_schemas import Answer

pytestmark = pytest.mark.anyio

PERSON = caller("p", transport="cli", cwd="/project")
URL = "https://example.org/a?secret=1"


def daemon(home: Path, *backends: FakeBackend) -> AbstractAsyncContextManager[tuple[Router, FakeBackend]]:
    """The next daemon of a home. Nothing is told to sessions when it ends, as with `kill -9`."""
    return fake_router(*backends, home=home, persist=True)


def notices(answer: Answer, kind: str = "daemon_restarted") -> list[dict[str, Any]]:
    return [notice for notice in answer.notices if notice["kind"] == kind]


def code(answer: Answer) -> str | None:
    return answer.error.code if answer.error is not None else None


def lost(answer: Answer) -> list[str]:
    """The sessions an answer says were lost."""
    rows = list(answer.error.details.get("lost", ())) if answer.error is not None else []
    for notice in notices(answer, "sessions_lost"):
        rows += notice["lost"]
    return [row["session"] for row in rows]


async def do(router: Router, command: str, **arguments: Any) -> Answer:
    answer = await router.call(call(command, by=arguments.pop("by", PERSON), **arguments))
    assert answer.ok, answer.error
    return answer


async def test_a_session_goes_on_with_its_device_and_is_told_once_what_was_kept_and_lost(tmp_path: Path) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        opened = await do(router, "open", url=URL, device="fake-2", eventUrlTemplate="app://{event}")
        await do(router, "snapshot")
    async with daemon(tmp_path, phones) as (router, _):
        assert (await do(router, "devices")).notices == [], "the session was not used yet"
        (shown,) = (await do(router, "session")).data["sessions"]
        assert shown["attached"] is False and shown["app"] == URL
        answer = await do(router, "press", target="Increment")
        assert answer.session == opened.session
        assert answer.device is not None and answer.device.id == "fake-2"
        (notice,) = notices(answer)
        assert notice["session"] == opened.session and notice["app"] == URL
        assert notice["kept"] == ["session", "device", "app"] and notice["lost"] == ["refs", "tree"]
        assert "unsure" not in notice and "inProgress" not in notice
        assert notices(await do(router, "press", target="Increment")) == []
        (session,) = router.services.sessions.all()
        assert session.event_template == "app://{event}" and session.attached
        assert "attached" not in (await do(router, "session")).data["sessions"][0]


@pytest.mark.parametrize("arguments", [{"session": "work"}, {"device": "fake-1", "session": "work"}])
async def test_a_named_session_may_be_used_from_anywhere_as_before(tmp_path: Path, arguments: dict[str, Any]) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        await do(router, "open", device="fake-1", session="work")
    async with daemon(tmp_path, phones) as (router, _):
        elsewhere = caller("x", transport="python", cwd="/elsewhere")
        refused = await router.call(call("press", by=elsewhere, target="Increment", session="work", device="fake-2"))
        assert code(refused) == "selector_conflict", "bound for life"
        assert len(notices(refused)) == 1
        assert notices(await do(router, "press", by=elsewhere, target="Increment", **arguments)) == []
        assert phones.screen("fake-1").text("Count") == "1"


async def test_a_session_is_found_again_by_naming_its_device(tmp_path: Path) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        opened = await do(router, "appstate", device="fake-1")
    async with daemon(tmp_path, phones) as (router, _):
        answer = await do(router, "appstate", device="fake-1")
        assert answer.session == opened.session and len(notices(answer)) == 1
        assert len(router.services.sessions.all()) == 1


async def test_a_ref_of_before_is_stale_and_acts_on_nothing(tmp_path: Path) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        await do(router, "open", device="fake-1")
        found = await do(router, "find", query="Increment")
        ref = found.data["ref"] if "ref" in found.data else found.data["matches"][0]["ref"]
        await do(router, "press", target=ref)
    async with daemon(tmp_path, phones) as (router, _):
        stale = await router.call(call("press", by=PERSON, target=ref, timeoutMs=0))
        assert code(stale) == "stale_ref"
        assert stale.error is not None and "restarted" in stale.error.message and "snapshot" in stale.error.hint
        assert phones.screen("fake-1").text("Count") == "1"
        again = await do(router, "find", query="Increment")
        new = again.data["ref"] if "ref" in again.data else again.data["matches"][0]["ref"]
        assert new != ref
        await do(router, "press", target=new)
        assert phones.screen("fake-1").text("Count") == "2"


async def test_a_page_that_is_not_open_any_more_is_told(tmp_path: Path) -> None:
    async with daemon(tmp_path) as (router, _):
        await do(router, "open", url=URL, device="fake-1")
    for first in (True, False):
        async with daemon(tmp_path) as (router, backend):  # the same phone, with nothing open on it
            answer = await do(router, "press", target="Increment")
            (notice,) = notices(answer)
            assert ("app" in notice["lost"]) is first, "told by the daemon after, and only by that"
            assert "app" not in notice["kept"]
            assert backend.screen("fake-1").text("Count") == "1"


async def test_a_page_that_led_elsewhere_before_the_crash_is_still_the_one(tmp_path: Path) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        await do(router, "open", url=URL, device="fake-1")
        phones.screen("fake-1").location = "https://login.example.com/x"
        await do(router, "snapshot")
    async with daemon(tmp_path, phones) as (router, _):
        (notice,) = notices(await do(router, "appstate"))
        assert "app" in notice["kept"]
    assert b"login.example.com/x" not in b"".join(p.read_bytes() for p in (tmp_path / "data").glob("state.db*"))


@pytest.mark.parametrize(("app", "where"), [("practice", "kept"), ("com.example.practice", "unsure")])
async def test_an_app_is_looked_for_by_its_name(tmp_path: Path, app: str, where: str) -> None:
    async with daemon(tmp_path) as (router, _):
        await do(router, "open", app=app, device="fake-1")
    async with daemon(tmp_path) as (router, _):
        (notice,) = notices(await do(router, "appstate"))
        assert "app" in notice[where]


@pytest.mark.parametrize("trouble", [RuntimeError("boom"), 60.0])
async def test_a_device_that_cannot_say_what_is_open_does_not_keep_the_command_from_running(
    tmp_path: Path, trouble: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice.returning.LOOK_DEADLINE", 0.1)
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        await do(router, "open", url=URL, device="fake-1")
    phones.fault.operations["apps.state"] = trouble
    async with daemon(tmp_path, phones) as (router, _):
        with anyio.fail_after(20):
            (notice,) = notices(await do(router, "press", target="Increment"))
        assert notice["unsure"] == ["app"]


async def test_what_was_in_progress_is_told(tmp_path: Path) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        await do(router, "open", device="fake-1")
        router.services.sessions.all()[0].notes["recording"] = {"file": "a.mp4"}
        await do(router, "appstate")
    async with daemon(tmp_path, phones) as (router, _):
        (notice,) = notices(await do(router, "appstate"))
        assert notice["inProgress"] == {"recording": {"file": "a.mp4"}}


async def test_a_call_that_is_refused_keeps_what_it_changed_of_its_session(tmp_path: Path) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        await do(router, "open", device="fake-1")
        missing = await router.call(call("press", by=PERSON, target="no such thing", timeoutMs=0))
        assert code(missing) == "element_not_found"
        given = router.services.sessions.all()[0].refs.issued
    async with daemon(tmp_path, phones) as (router, _):
        assert router.services.sessions.all()[0].refs.issued >= given > 0


# --- a device that is gone ---


@pytest.mark.parametrize("how", ["down", "unplugged"])
@pytest.mark.parametrize("name", [None, "work"])
async def test_a_session_whose_device_is_gone_is_told_and_ended_once(
    tmp_path: Path, name: str | None, how: str
) -> None:
    named = {"session": name} if name else {}
    async with daemon(tmp_path) as (router, _):
        opened = await do(router, "open", device="fake-1", **named)
    after = FakeBackend(["fake-1", "fake-2"] if how == "down" else ["fake-2"])
    if how == "down":
        after.set_state("fake-1", "shutdown")
    async with daemon(tmp_path, after) as (router, _):
        refused = await router.call(call("press", by=PERSON, target="Increment", **named))
        assert code(refused) == "connection_lost"
        assert refused.error is not None and refused.error.details["restarted"] is True
        assert refused.error.details["may_have_acted"] is False
        told = f"this session did not survive it: {opened.session} on fake:fake-1 (its device is gone)"
        assert told in refused.error.message
        assert lost(refused) == [opened.session]
        assert router.services.sessions.all() == [] and router.services.desk.held() == {}
        again = await router.call(call("press", by=PERSON, target="Increment", **named))
        assert lost(again) == [] and code(again) == ("session_not_found" if name else None)
        assert after.screen("fake-2").text("Count") == ("0" if name else "1"), "the only usable one, by the rule"


async def test_a_device_that_somebody_started_anew_is_not_the_one_the_session_had(tmp_path: Path) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        await do(router, "open", device="fake-1", session="work")
    phones.set_state("fake-1", "shutdown")
    async with daemon(tmp_path, phones) as (router, _):
        other = caller("x", principal="uid:2")
        await do(router, "boot", by=other, device="fake-1")
        await do(router, "close", by=other, device="fake-1")
        refused = await router.call(call("press", by=PERSON, target="Increment", session="work"))
        assert code(refused) == "connection_lost" and lost(refused) == ["work"]
        assert phones.screen("fake-1").text("Count") == "0"


@pytest.mark.parametrize("name", [None, "work"])
async def test_opening_again_makes_a_new_session_and_tells_of_the_lost_one(tmp_path: Path, name: str | None) -> None:
    named = {"session": name} if name else {}
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        opened = await do(router, "open", device="fake-1", **named)
    phones.set_state("fake-1", "shutdown")
    async with daemon(tmp_path, phones) as (router, _):
        answer = await do(router, "open", device="fake-1", boot=True, **named)
        assert lost(answer) == [opened.session] and notices(answer) == []
        (session,) = router.services.sessions.all()
        assert not session.restored
        await do(router, "press", target="Increment", **named)


async def test_a_listing_tells_of_what_it_shows_to_be_lost(tmp_path: Path) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        opened = await do(router, "open", device="fake-1")
        await do(router, "open", device="fake-2", session="kept")
    phones.set_state("fake-1", "shutdown")
    async with daemon(tmp_path, phones) as (router, _):
        assert lost(await do(router, "session")) == [], "nobody has looked yet"
        assert lost(await do(router, "devices")) == [opened.session]
        assert lost(await do(router, "devices")) == []
        assert [row["name"] for row in (await do(router, "session")).data["sessions"]] == ["kept"]


async def test_one_of_two_sessions_that_is_lost_is_told_before_the_other_is_taken_for_it(tmp_path: Path) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        for one in ("fake-1", "fake-2"):
            await do(router, "open", device=one)
    phones.set_state("fake-1", "shutdown")
    async with daemon(tmp_path, phones) as (router, _):
        refused = await router.call(call("press", by=PERSON, target="Increment"))
        assert code(refused) == "connection_lost" and len(lost(refused)) == 1
        assert phones.screen("fake-2").text("Count") == "0"
        answer = await do(router, "press", target="Increment")
        assert answer.device is not None and answer.device.id == "fake-2" and len(notices(answer)) == 1


async def test_a_device_that_is_away_for_a_moment_keeps_its_session(tmp_path: Path) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        opened = await do(router, "open", device="fake-1")
    phones.set_state("fake-1", "offline")
    async with daemon(tmp_path, phones) as (router, _):
        refused = await router.call(call("press", by=PERSON, target="Increment"))
        assert code(refused) == "device_offline" and len(notices(refused)) == 1
        phones.set_state("fake-1", "ready")
        router.services.backends.forget("fake")
        answer = await do(router, "press", target="Increment")
        assert answer.session == opened.session and notices(answer) == []


async def test_a_backend_that_does_not_answer_loses_nothing(tmp_path: Path) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        opened = await do(router, "open", device="fake-1")
    phones.fault.fail_listing = RuntimeError("boom")
    async with daemon(tmp_path, phones) as (router, _):
        refused = await router.call(call("press", by=PERSON, target="Increment"))
        assert code(refused) == "device_not_found" and refused.error is not None and refused.error.retryable
        assert [session.name for session in router.services.sessions.all()] == [opened.session]
    async with fake_router(FakeBackend(["x"], name="other"), home=tmp_path, persist=True) as (router, _):
        assert not (await router.call(call("press", by=PERSON, target="Increment"))).ok
        assert [session.name for session in router.services.sessions.all()] == [opened.session]


async def test_another_backend_that_hangs_does_not_hold_up_who_comes_back(tmp_path: Path) -> None:
    phones, sick = FakeBackend(), FakeBackend(["ghost"], name="sick")
    async with daemon(tmp_path, phones, sick) as (router, _):
        await do(router, "open", device="fake-1")
        await do(router, "open", by=caller("x", principal="uid:2"), device="ghost", session="s")
    sick.fault.hang_listing = 600
    sick.manifest = sick.manifest.model_copy(update={"discovery_deadline": 60.0})
    async with daemon(tmp_path, phones, sick) as (router, _):
        with anyio.fail_after(20):
            assert len(notices(await do(router, "press", target="Increment"))) == 1


async def test_a_connection_without_its_token_is_another_and_meets_nobody(tmp_path: Path) -> None:
    phones = FakeBackend()
    agent, same, other = (caller(name, transport="stdio", cwd="/project") for name in ("c1", "c1", "c2"))
    async with daemon(tmp_path, phones) as (router, _):
        opened = await do(router, "open", by=agent, device="fake-1")
    async with daemon(tmp_path, phones) as (router, _):
        held = await router.call(call("press", by=other, target="Increment", device="fake-1"))
        assert code(held) == "lease_held", "it is kept for the connection that had it"
        back = await do(router, "press", by=same, target="Increment")
        assert back.session == opened.session and len(notices(back)) == 1


async def test_sessions_of_other_tenants_stay_invisible(tmp_path: Path) -> None:
    phones = FakeBackend()
    async with daemon(tmp_path, phones) as (router, _):
        await do(router, "open", device="fake-1", session="work", tenant="a")
    async with daemon(tmp_path, phones) as (router, _):
        for tenant in ({}, {"tenant": "b"}):
            answer = await router.call(call("press", by=PERSON, target="Increment", session="work", **tenant))
            assert code(answer) == "session_not_found" and notices(answer) == []
            rows = (await do(router, "devices", **tenant)).data["devices"]
            assert not any("session" in row.get("lease", {}) for row in rows)
        assert len(notices(await do(router, "press", target="Increment", session="work", tenant="a"))) == 1
