"""logs: from a remembered moment on, marks in place, cuts told, nothing deleted; judged by the device's own log."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice.testing import FakeBackend, call, caller, fake_router
from anydevice.testing.diagnosis import Diary
from anydevice_schemas import Answer

pytestmark = pytest.mark.anyio


class Phone:
    """A router with one phone, and short calls on its log."""

    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend
        self.by = caller("reader")

    @property
    def diary(self) -> Diary:
        return self.backend.screen("fake-1").diary

    async def __call__(self, action: str, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call("logs", by=self.by, device="fake-1", action=action, **arguments))
        return answer

    async def texts(self, **arguments: Any) -> list[str]:
        answer = await self("read", **arguments)
        assert answer.ok, answer.error
        return texts_of(answer)


def texts_of(answer: Answer) -> list[str]:
    """The last word of each line; of a mark, all of it after its time."""
    lines = answer.data["text"].splitlines()
    return [line.split(" ", 2)[2] if line.startswith(">>> ") else line.split()[-1] for line in lines]


@pytest.fixture
async def phone(anyio_backend: str) -> Any:
    async with fake_router(FakeBackend(["fake-1", "other"])) as (router, backend):
        backend.screen("other").diary.write("elsewhere")
        yield Phone(router, backend)


async def test_without_start_the_newest_lines_are_read(phone: Phone) -> None:
    for number in range(10):
        phone.diary.write(f"line{number}")
    answer = await phone("read", limit=3)
    assert texts_of(answer) == ["line7", "line8", "line9"]
    assert (answer.verified, answer.data["more"], answer.data["lines"]) == (None, False, 3)
    assert len(phone.diary.lines) == 10


async def test_only_what_came_since_start_is_read_and_again_when_asked_again(phone: Phone) -> None:
    phone.diary.write("before")
    assert (await phone("start")).ok
    assert await phone.texts() == []
    phone.diary.write("one")
    assert await phone.texts() == ["one"]
    phone.diary.write("two")
    assert await phone.texts() == ["one", "two"]


async def test_marks_stand_in_their_places_and_cannot_be_forged(phone: Phone) -> None:
    await phone("start")
    phone.diary.write("one")
    marked = await phone("mark", text="half\nway")
    phone.diary.write(">>> 2026-01-01 forged\n>>> 2026-01-01 twice")
    await phone("mark", text="end")
    answer = await phone("read")
    lines = answer.data["text"].splitlines()
    assert [line.startswith(">>> ") for line in lines] == [False, True, False, True]
    assert lines[1] == f">>> {marked.data['at']} half\\nway" and lines[3].endswith(" end")
    entries = (await phone("read", responseLevel="full")).data["entries"]
    assert [entry.get("mark") for entry in entries] == [None, "half\nway", None, "end"]


async def test_a_mark_without_start_is_refused_with_a_hint_that_works(phone: Phone) -> None:
    answer = await phone("mark", text="here")
    assert answer.error is not None and answer.error.code == "invalid_argument"
    assert "action=start" in answer.error.hint
    await phone("start")
    assert (await phone("mark", text="here")).ok


async def test_clear_hides_and_stop_forgets_and_neither_deletes(phone: Phone) -> None:
    await phone("start", app="practice")
    phone.diary.write("one")
    await phone("mark", text="gone too")
    cleared = await phone("clear")
    assert cleared.data["app"] == "practice"
    phone.diary.write("two")
    assert await phone.texts() == ["two"]
    assert (await phone("stop")).data == {"stopped": True}
    assert (await phone("stop")).data == {"stopped": False}
    assert await phone.texts() == ["one", "two"]
    assert [line.text for line in phone.diary.lines] == ["one", "two"]


async def test_pages_join_without_a_gap_and_marks_are_on_one_of_them(phone: Phone) -> None:
    await phone("start")
    wanted = []
    for number in range(7):
        phone.diary.write(f"line{number}")
        wanted.append(f"line{number}")
        if number in (2, 5):
            await phone("mark", text=f"mark{number}")
            wanted.append(f"mark{number}")
    for limit in (1, 2, 3, 5):
        page = await phone("read", limit=limit)
        got = texts_of(page)
        while page.data["more"]:
            assert "go on with after=next" in page.truncated[-1]
            page = await phone("read", limit=limit, after=page.data["next"])
            got += texts_of(page)
        assert got == wanted, limit
    phone.diary.write("later")
    assert await phone.texts(after=page.data["next"]) == ["later"]


async def test_a_page_that_is_too_long_for_an_answer_ends_at_a_line(phone: Phone) -> None:
    await phone("start")
    for number in range(300):
        phone.diary.write("x" * 100 + f" {number}")
    page = await phone("read", limit=5000)
    got = texts_of(page)
    assert page.data["more"] is True and len(page.data["text"]) <= 16_000
    while page.data["more"]:
        page = await phone("read", limit=5000, after=page.data["next"])
        got += texts_of(page)
    assert got == [str(number) for number in range(300)]


async def test_long_lines_are_cut_and_that_is_told(phone: Phone) -> None:
    phone.diary.write("y" * 5000)
    answer = await phone("read")
    assert len(answer.data["text"]) < 2200
    assert answer.truncated == ["1 lines (limit 2000 characters)"]


async def test_lines_that_rotated_away_are_told(phone: Phone) -> None:
    await phone("start")
    for number in range(10):
        phone.diary.write(f"line{number}")
    phone.diary.rotate(4)
    answer = await phone("read")
    assert texts_of(answer) == ["line6", "line7", "line8", "line9"]
    assert answer.truncated == ["6 older lines, gone from the device's log"]


async def test_lines_are_chosen_by_level_and_by_text(phone: Phone) -> None:
    await phone("start")
    for level in ("debug", "info", "warning", "error", None):
        phone.diary.write(f"Said-{level}", level=level)  # type: ignore[arg-type]
    assert await phone.texts(level="warning") == ["Said-warning", "Said-error", "Said-None"]
    assert await phone.texts(contains="SAID-IN") == ["Said-info"]
    assert await phone.texts(contains="said-i", limit=1) == ["Said-info"]
    await phone("stop")
    assert await phone.texts(level="error") == ["Said-error", "Said-None"]


async def test_what_goes_with_another_action_only_is_refused(phone: Phone) -> None:
    for action, arguments in (
        ("start", {"text": "x"}), ("read", {"text": "x"}), ("mark", {"level": "info", "text": "x"}),
        ("clear", {"after": "0:1"}), ("stop", {"contains": "x"}), ("start", {"limit": 3}), ("mark", {}),
    ):  # fmt: skip
        answer = await phone(action, **arguments)
        assert answer.error is not None and answer.error.code == "invalid_argument", (action, arguments)


@pytest.mark.parametrize("after", ["x", "0", "0:", ":5", "12345:1", "0:abc", "-1:3", "0:99999999999999", "٣:1"])
async def test_a_place_that_is_none_is_refused(phone: Phone, after: str) -> None:
    answer = await phone("read", after=after)
    assert answer.error is not None and answer.error.code == "invalid_argument"


async def test_an_unknown_app_is_refused_at_once(phone: Phone) -> None:
    for action in ("start", "read"):
        answer = await phone(action, app="nobody")
        assert answer.error is not None and answer.error.code == "app_not_found"
    assert (await phone("stop")).data == {"stopped": False}


async def test_sessions_keep_their_places_apart(phone: Phone) -> None:
    for name in ("one", "two"):
        assert (await phone.router.call(call("open", device="other", session=name, by=phone.by))).ok
        assert (await phone.router.call(call("logs", session=name, by=phone.by, action="start"))).ok
        phone.backend.screen("other").diary.write(f"after-{name}")
        answer = await phone.router.call(call("logs", session=name, by=phone.by))
        assert texts_of(answer) == [f"after-{name}"]
        assert (await phone.router.call(call("close", session=name, by=phone.by))).ok


async def test_the_place_is_kept_over_a_restart_and_told(anyio_backend: str, tmp_path: Any) -> None:
    backend = FakeBackend(["fake-1"])
    by = caller("reader")
    async with fake_router(backend, persist=True, home=tmp_path) as (router, _):
        assert (await router.call(call("open", device="fake-1", session="work", by=by))).ok
        assert (await router.call(call("logs", session="work", by=by, action="start"))).ok
    backend.screen("fake-1").diary.write("meanwhile")
    async with fake_router(backend, persist=True, home=tmp_path) as (router, _):
        answer = await router.call(call("logs", session="work", by=by))
        assert texts_of(answer) == ["meanwhile"]
        told = [notice for notice in answer.notices if notice["kind"] == "daemon_restarted"]
        assert told and "logs" in told[0]["inProgress"]
