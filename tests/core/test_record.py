"""record: what a video shows, who may have it, and what is left of one that was cut off; judged by the file itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.driver import Recorded
from anydevice.testing import FakeBackend, FakeClock, call, caller, fake_router
from anydevice.testing.film import film, plain_png
from anydevice_schemas import Answer

pytestmark = pytest.mark.anyio


def code(answer: Answer) -> str | None:
    return answer.error.code if answer.error is not None else None


class Filmed:
    """A router with two phones that are cleaned up after a holder, and short calls on the first."""

    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend

    @property
    def store(self) -> Any:
        return self.router.services.artefacts

    async def __call__(self, action: str, *, command: str = "record", by: Any = None, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(
            call(command, by=by, device=arguments.pop("device", "fake-1"), action=action, **arguments)
        )
        return answer

    async def do(self, action: str, **arguments: Any) -> Answer:
        answer = await self(action, **arguments)
        assert answer.ok, answer.error
        return answer


@pytest.fixture
async def phone(anyio_backend: str) -> Any:
    async with fake_router(FakeBackend(["fake-1", "other"], cleans=True)) as (router, backend):
        yield Filmed(router, backend)
        assert "other" not in backend.tapes, "the other device was recorded"


async def until(holds: Any) -> None:
    with anyio.fail_after(10):
        while not holds():
            await anyio.sleep(0.02)


async def test_a_recording_becomes_a_whole_file_of_what_happened(phone: Filmed) -> None:
    started = await phone.do("start", fps=20.0)
    assert started.verified is True and started.data["recording"] is True
    await anyio.sleep(0.3)
    running = await phone.do("status")
    assert running.data["recording"] is True and running.data["seconds"] > 0
    assert running.data["name"] == started.data["name"]
    assert (await phone.router.call(call("press", device="fake-1", target="Increment"))).ok
    stopped = await phone.do("stop")
    (file,) = stopped.artefacts
    assert file.name == f"{started.data['name']}.mov" and file.mime == "video/quicktime"
    assert Path(file.path or "").read_bytes() == phone.store.read(file.uri)
    assert stopped.verified is True
    assert (stopped.data["width"], stopped.data["height"], stopped.data["ended"]) == (390, 844, "stopped")
    assert 0.25 <= stopped.data["seconds"] <= 60
    assert (await phone.do("status")).data == {"recording": False}
    assert list((phone.store.folder / "unfinished").iterdir()) == []


async def test_only_a_part_of_the_screen_is_recorded_where_one_is_named(phone: Filmed) -> None:
    await phone.do("start", x=10, y=20, width=100, height=50)
    assert phone.backend.tapes["fake-1"].request.area is not None
    stopped = await phone.do("stop")
    assert (stopped.data["width"], stopped.data["height"]) == (100, 50)


async def test_one_recording_a_device_and_the_second_start_does_not_disturb_the_first(phone: Filmed) -> None:
    first = await phone.do("start")
    second = await phone("start")
    assert code(second) == "refused" and second.error is not None and "stop" in second.error.hint
    assert (await phone.do("status")).data["name"] == first.data["name"]
    assert (await phone.do("stop")).data["name"] == first.data["name"]
    assert (await phone.do("start")).ok


async def test_two_devices_are_recorded_beside_each_other(phone: Filmed) -> None:
    await phone.do("start")
    await phone.do("start", device="other")
    one, two = await phone.do("stop"), await phone.do("stop", device="other")
    assert one.artefacts[0].name != two.artefacts[0].name


async def test_stop_without_start_is_refused_and_makes_no_file(phone: Filmed) -> None:
    assert code(await phone("stop")) == "action_unverified"
    assert not phone.store.folder.exists() or [p for p in phone.store.folder.rglob("*") if p.is_file()] == []


async def test_it_ends_by_itself_and_waits_to_be_fetched(phone: Filmed) -> None:
    await phone.do("start", longestMs=1000)
    with anyio.fail_after(10):
        while (await phone.do("status")).data["recording"]:
            await anyio.sleep(0.05)
    assert code(await phone("start")) == "refused"
    stopped = await phone.do("stop")
    assert stopped.data["ended"] == "longest" and stopped.data["seconds"] == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize(
    ("action", "arguments", "param"),
    [
        ("stop", {"fps": 5}, "fps"),
        ("status", {"longestMs": 5000}, "longestMs"),
        ("start", {"name": "recording-abc"}, "name"),
        ("start", {"x": 1, "y": 1, "width": 5}, "height"),
        ("start", {"fps": 0}, "fps"),
        ("start", {"fps": 1000}, "fps"),
        ("start", {"longestMs": 10**9}, "longestMs"),
        ("start", {"x": 0, "y": 0, "width": 0, "height": 10}, "width"),
        ("pause", {}, "action"),
    ],
)
async def test_what_does_not_go_with_an_action_is_refused_by_name(
    phone: Filmed, action: str, arguments: dict[str, Any], param: str
) -> None:
    answer = await phone(action, **arguments)
    assert code(answer) == "invalid_argument" and answer.error is not None
    assert answer.error.details["param"] == param
    assert phone.backend.tapes == {}


async def test_the_session_ends_and_the_file_is_whole_and_its_own(phone: Filmed) -> None:
    owner, next_one = caller("owner"), caller("next")
    started = await phone.do("start", by=owner)
    name = started.data["name"]
    session = (await phone.router.call(call("session", by=owner))).data["sessions"][0]["name"]
    assert (await phone.router.call(call("session", by=owner, action="end", name=session))).ok
    await until(lambda: "fake-1" in phone.backend.cleaned)
    assert (await phone.do("status", by=next_one)).data == {"recording": False}
    assert code(await phone("stop", by=next_one)) == "action_unverified"
    fetched = await phone.do("stop", by=next_one, name=name)
    assert fetched.data["ended"] == "interrupted" and fetched.artefacts[0].name.startswith(name)
    assert fetched.verified is True
    assert code(await phone("stop", by=next_one, name=name)) == "path_not_found"


async def test_a_lease_that_ran_out_meanwhile_costs_nothing_of_the_file() -> None:
    clock = FakeClock()
    async with fake_router(FakeBackend(["fake-1"], cleans=True), clock=clock) as (router, backend):
        phone = Filmed(router, backend)
        name = (await phone.do("start")).data["name"]
        await anyio.sleep(0.2)
        clock.advance(200)
        stopped = await phone.do("stop")
        assert stopped.data["name"] == name and stopped.verified is True
        assert stopped.data["ended"] in ("stopped", "interrupted") and stopped.data["seconds"] >= 0.1
        assert (await phone.do("status")).data == {"recording": False}


async def test_a_device_that_was_shut_down_leaves_a_whole_file(phone: Filmed) -> None:
    name = (await phone.do("start")).data["name"]
    assert (await phone.router.call(call("shutdown", device="fake-1"))).ok
    await until(lambda: "fake-1" in phone.backend.cleaned)
    assert (await phone.router.call(call("boot", device="fake-1"))).ok
    assert (await phone.do("stop", name=name)).data["seconds"] > 0


async def test_a_driver_that_was_lost_leaves_its_file_to_the_session(phone: Filmed) -> None:
    name = (await phone.do("start")).data["name"]
    await phone.router.services.connections.drop("fake:fake-1")
    status = await phone.do("status")
    assert status.data["recording"] is False and status.data["ended"] == "interrupted"
    stopped = await phone.do("stop")
    assert stopped.data["name"] == name and stopped.data["ended"] == "interrupted"
    assert (await phone.do("status")).data == {"recording": False}


async def test_a_new_start_keeps_what_was_cut_off_and_says_so(phone: Filmed) -> None:
    name = (await phone.do("start")).data["name"]
    await phone.router.services.connections.drop("fake:fake-1")
    started = await phone.do("start")
    (notice,) = [notice for notice in started.notices if notice["kind"] == "recording_kept"]
    assert name in notice["uri"] and phone.store.read(notice["uri"])
    assert started.data["name"] != name


async def test_a_file_that_was_cut_short_is_no_success(phone: Filmed) -> None:
    name = (await phone.do("start")).data["name"]
    await phone.router.services.connections.drop("fake:fake-1")
    path = phone.store.left(name)
    path.write_bytes(path.read_bytes()[:-10])
    spec = phone.router.services.catalogue.get("record")
    spec.command = spec.command.model_copy(update={"deadline": 3.0})
    assert code(await phone("stop")) == "path_not_found"


async def test_a_recording_in_progress_is_told_after_a_restart(tmp_path: Path) -> None:
    backend = FakeBackend(["fake-1"], cleans=True)
    me = caller("me")
    async with fake_router(backend, persist=True, home=tmp_path) as (router, _):
        assert (await router.call(call("open", by=me, device="fake-1", session="mine"))).ok
        started = await router.call(call("record", by=me, action="start", session="mine"))
        assert started.ok
    async with fake_router(backend, persist=True, home=tmp_path) as (router, _):
        status = await router.call(call("record", by=me, session="mine"))
        (notice,) = [notice for notice in status.notices if notice["kind"] == "daemon_restarted"]
        assert notice["inProgress"]["recording"]["name"] == started.data["name"]
        assert status.data["ended"] == "interrupted"
        stopped = await router.call(call("record", by=me, session="mine", action="stop"))
        assert stopped.ok and stopped.artefacts[0].name.startswith(started.data["name"])


async def lies(phone: Filmed, monkeypatch: pytest.MonkeyPatch, **change: Any) -> Answer:
    """Stops a recording of a backend whose answer about it is not true."""
    from anydevice.testing.media import FakeRecording

    sound = FakeRecording.stop

    async def stop(self: FakeRecording) -> Recorded:
        from dataclasses import replace

        return replace(await sound(self), **change)

    monkeypatch.setattr(FakeRecording, "stop", stop)
    await phone.do("start")
    return await phone("stop")


async def test_a_file_that_is_not_there_is_no_success(phone: Filmed, monkeypatch: pytest.MonkeyPatch) -> None:
    assert code(await lies(phone, monkeypatch, path="/nonexistent/film.mov")) == "backend_broken"


async def test_a_file_from_elsewhere_is_not_taken(
    phone: Filmed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "elsewhere.mov"
    path.write_bytes(film([plain_png(8, 8)], [0], 10, (8, 8)))
    assert code(await lies(phone, monkeypatch, path=str(path), seconds=0.1)) == "backend_broken"
    assert path.exists()


async def test_a_length_that_is_not_that_of_the_file_is_no_success(
    phone: Filmed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert code(await lies(phone, monkeypatch, seconds=600.0)) == "backend_broken"


async def test_names_of_other_files_lead_nowhere(phone: Filmed) -> None:
    for name in ("../../etc/passwd", "x/../y", ".", "recording-000000000000", "RECORDING", "*"):
        assert code(await phone("stop", name=name)) == "path_not_found"


async def test_a_start_that_fails_leaves_no_note(phone: Filmed) -> None:
    from anydevice_schemas.errors import ToolMissing

    error = ToolMissing("No encoder.", tools=["x"], install="y")
    phone.backend.fault.operations["recording.start"] = error
    assert code(await phone("start")) == "tool_missing"
    phone.backend.fault.operations.clear()
    assert (await phone.do("status")).data == {"recording": False}


async def test_a_start_that_only_says_so_is_no_success(phone: Filmed) -> None:
    phone.backend.fault.swallow.add("recording.start")
    assert code(await phone("start")) == "action_unverified"
    assert (await phone.do("status")).data == {"recording": False}


async def test_a_session_that_did_not_survive_says_what_was_recorded_in_it(tmp_path: Path) -> None:
    me = caller("me", cwd="/somewhere")
    backend = FakeBackend(["fake-1"], cleans=True)
    async with fake_router(backend, persist=True, home=tmp_path) as (router, _):
        assert (await router.call(call("open", by=me, device="fake-1", session="mine"))).ok
        name = (await router.call(call("record", by=me, action="start", session="mine"))).data["name"]
    backend.set_state("fake-1", "shutdown")  # it went down with the daemon
    async with fake_router(backend, persist=True, home=tmp_path) as (router, _):
        answer = await router.call(call("devices", by=me))
        answer = answer if answer.notices else await router.call(call("devices", by=me))
        (notice,) = [notice for notice in answer.notices if notice["kind"] == "sessions_lost"]
        assert notice["lost"][0]["inProgress"]["recording"]["name"] == name
        assert (await router.call(call("boot", by=me, device="fake-1"))).ok
        stopped = await router.call(call("record", by=me, device="fake-1", action="stop", name=name))
        assert stopped.ok and stopped.artefacts[0].name.startswith(name)
