"""window: the one that is meant, what becomes of it, and what is refused; judged by the desktop's own journal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from anydevice.commands import _windows
from anydevice.driver import App, Window
from anydevice.testing import FakeBackend, call, fake_router
from anydevice.testing import driver as parts
from anydevice.testing.desk import MINE, FakeDesk, FakeWindow, FakeWindows
from anydevice_schemas import Answer, Rect

pytestmark = pytest.mark.anyio


class Desktop:
    """A router with one desktop, and short calls on it."""

    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend

    @property
    def desk(self) -> FakeDesk:
        return self.backend.screen("desk").desk

    def did(self) -> list[tuple[str, Any]]:
        """The window verbs that arrived: each with the window it was for."""
        journal = self.backend.screen("desk").journal
        return [(what.partition(".")[2], more["window"]) for what, _, more in journal if what.startswith("window.")]

    def window(self, title: str, **fields: Any) -> FakeWindow:
        return self.desk.add(FakeWindow(title, **fields))

    async def __call__(self, command: str, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call(command, device="desk", **arguments))
        return answer

    async def do(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = await self(command, **arguments)
        assert answer.ok, answer.error
        return answer.data

    async def refused(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = await self(command, **arguments)
        assert answer.error is not None, answer.data
        return {"code": answer.error.code, "hint": answer.error.hint, **answer.error.details}


@pytest.fixture
async def desktop(anyio_backend: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desktop]:
    monkeypatch.setattr(_windows, "SETTLE", 0.3)  # a fake desktop does at once what it ever does
    async with fake_router(FakeBackend(["desk", "other"])) as (router, backend):
        yield Desktop(router, backend)
        assert backend.screen("other").journal == [], "the other device was touched"


# --- which one ---


async def test_list_tells_every_window_the_topmost_first(desktop: Desktop) -> None:
    note = desktop.window("Notes", rect=Rect(10, 20, 300, 200), pid=77)
    asks = desktop.window("Save?", kind="dialog", owner=note.id)
    data = await desktop.do("window")
    assert [row["id"] for row in data["windows"]] == [asks.id, note.id, MINE]
    assert data["windows"][0]["states"] == ["active"]
    assert (data["windows"][0]["kind"], data["windows"][0]["owner"]) == ("dialog", note.id)
    assert (data["windows"][1]["rect"], data["windows"][1]["pid"]) == ([10, 20, 300, 200], 77)
    assert data["windows"][2]["title"] == "Practice"


async def test_endless_titles_and_endless_windows_are_cut_and_told(desktop: Desktop) -> None:
    for number in range(230):
        desktop.window(f"{number}" + "x" * 5_000)
    answer = await desktop("window")
    assert (len(answer.data["windows"]), answer.data["count"]) == (200, 231)
    assert answer.truncated == ["31 windows"]
    assert max(len(row["title"]) for row in answer.data["windows"]) == 501
    refused = await desktop.refused("window", action="raise", window="x" * 1000)
    assert refused["matches"] == 230 and len(refused["candidates"]) == 20


async def test_list_narrows_by_app_and_title_and_may_be_empty(desktop: Desktop) -> None:
    desktop.window("Notes")
    assert [row["title"] for row in (await desktop.do("window", app="EDITOR"))["windows"]] == ["Notes"]
    assert (await desktop.do("window", window="no such"))["count"] == 0


@pytest.mark.parametrize("named", [{"window": "Notes"}, {"window": "notes"}, {"app": "editor"}, {"window": "Not"}])
async def test_a_window_is_meant_by_title_or_app(desktop: Desktop, named: dict[str, str]) -> None:
    note = desktop.window("Notes")
    await desktop.do("window", action="move", x=1, y=2, **named)
    assert desktop.did() == [("move", note.id)]


async def test_an_app_is_meant_by_its_name_where_windows_know_its_id(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def apps(_: Any) -> list[App]:
        return [App("org.example.gedit", "Text Editor", True), App("org.example.other", "Text Editor 2", False)]

    monkeypatch.setattr(parts._Apps, "list", apps)
    note = desktop.window("Notes", app="org.example.gedit")
    await desktop.do("window", action="raise", app="text editor")
    assert desktop.did() == [("bring_up", note.id)]
    assert (await desktop.refused("window", action="raise", app="Text Editor 2"))["code"] == "app_not_found"


async def test_an_id_names_one_of_two_that_look_alike(desktop: Desktop) -> None:
    desktop.window("Notes")
    second = desktop.window("Notes")
    data = await desktop.do("window", action="resize", window=second.id, width=500, height=400)
    assert data["window"]["rect"][2:] == [500, 400]
    assert desktop.did() == [("resize", second.id)]


async def test_without_a_name_the_active_window_is_meant(desktop: Desktop) -> None:
    desktop.window("Notes")
    top = desktop.window("Top")
    await desktop.do("window", action="move", x=5, y=5)
    assert desktop.did() == [("move", top.id)]


async def test_an_equal_title_beats_those_that_contain_it(desktop: Desktop) -> None:
    exact = desktop.window("Notes")
    desktop.window("Notes, old")
    await desktop.do("window", action="raise", window="Notes")
    assert desktop.did() == [("bring_up", exact.id)]


async def test_several_are_refused_with_candidates_that_work_when_pasted_back(desktop: Desktop) -> None:
    one, two = desktop.window("Notes a"), desktop.window("Notes b")
    refused = await desktop.refused("window", action="raise", window="Notes")
    assert refused["code"] == "ambiguous_element"
    assert [(row["index"], row["id"]) for row in refused["candidates"]] == [(0, two.id), (1, one.id)]
    assert desktop.did() == []
    await desktop.do("window", action="raise", window=refused["candidates"][1]["id"])
    assert desktop.did() == [("bring_up", one.id)]


async def test_one_that_is_not_there_is_told_with_the_nearest(desktop: Desktop) -> None:
    desktop.window("Notes")
    refused = await desktop.refused("window", action="raise", window="Nottes")
    assert (refused["code"], refused["nearest_matches"]) == ("app_not_found", ["Notes"])


async def test_nothing_is_guessed_where_no_window_is_active(desktop: Desktop) -> None:
    desktop.desk.mine.states.add("minimized")
    refused = await desktop.refused("window", action="move", x=0, y=0)
    assert refused["code"] == "app_not_found"
    assert desktop.did() == []


# --- what becomes of it ---


async def test_every_verb_is_read_back_and_told(desktop: Desktop) -> None:
    note = desktop.window("Notes", rect=Rect(100, 100, 400, 300))
    desktop.window("Top")
    expected: list[tuple[dict[str, Any], list[float], set[str]]] = [
        ({"action": "move", "x": 30, "y": 40}, [30, 40, 400, 300], set()),
        ({"action": "resize", "width": 200.4, "height": 150}, [30, 40, 200.4, 150], set()),
        ({"action": "raise"}, [30, 40, 200.4, 150], {"active"}),
        ({"action": "minimize"}, [30, 40, 200.4, 150], {"minimized"}),
        ({"action": "unminimize"}, [30, 40, 200.4, 150], {"active"}),
        ({"action": "maximize"}, [0, 0, 390, 844], {"active", "maximized"}),
        ({"action": "unmaximize"}, [30, 40, 200.4, 150], {"active"}),
    ]
    for arguments, rect, states in expected:
        answer = await desktop("window", window="Notes", **arguments)
        assert answer.verified is True, answer.error
        told = answer.data["window"]
        assert (told["rect"], set(told["states"])) == (rect, states), arguments
        assert set(note.states) == states - {"active"}


@pytest.mark.parametrize("verb", ["move", "resize", "minimize", "maximize"])
async def test_a_verb_that_says_it_was_done_and_was_not_is_unverified(desktop: Desktop, verb: str) -> None:
    desktop.window("Notes")
    desktop.backend.fault.swallow.add(f"windows.{verb}")
    more = {"move": {"x": 1, "y": 1}, "resize": {"width": 9, "height": 9}}.get(verb, {})
    refused = await desktop.refused("window", action=verb, window="Notes", **more)
    assert refused["code"] == "action_unverified"
    assert refused["actual"]["rect"] == [100, 100, 400, 300]


async def test_a_size_a_window_does_not_take_is_told(desktop: Desktop) -> None:
    desktop.window("Notes", least=(250, 180))
    refused = await desktop.refused("window", action="resize", window="Notes", width=50, height=200)
    assert (refused["expected"], refused["actual"]["rect"]) == (
        {"width": 50, "height": 200},
        [100, 100, 250, 200],
    )


async def test_raise_is_satisfied_with_a_dialog_of_its_own_in_front(desktop: Desktop) -> None:
    note = desktop.window("Notes")
    desktop.window("Save?", kind="dialog", owner=note.id)
    desktop.backend.fault.swallow.add("windows.bring_up")
    assert (await desktop("window", action="raise", window=note.id)).verified is True
    refused = await desktop.refused("window", action="raise", window=MINE)
    assert refused["code"] == "action_unverified"


async def test_a_window_that_goes_away_meanwhile_is_told(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    note = desktop.window("Notes")

    async def move(self: FakeWindows, id: str, to: Any) -> Window:
        told = self.desk.told(note)
        self.desk.close(note.id)
        return told

    monkeypatch.setattr(FakeWindows, "move", move)
    refused = await desktop.refused("window", action="move", window="Notes", x=0, y=0)
    assert refused["code"] == "app_not_found"


# --- closing ---


async def test_close_sees_it_gone(desktop: Desktop) -> None:
    desktop.window("Notes")
    answer = await desktop("window", action="close", window="Notes")
    assert (answer.verified, answer.data["closed"], answer.data["window"]["title"]) == (True, True, "Notes")
    assert [one.id for one in desktop.desk.shown] == [MINE]


async def test_a_question_instead_of_closing_is_told_and_never_answered(desktop: Desktop) -> None:
    note = desktop.window("Notes", asks=("Save changes?", ("Save", "Discard")))
    refused = await desktop.refused("window", action="close", window="Notes")
    assert (refused["code"], refused["text"], refused["buttons"]) == (
        "dialog_open",
        "Save changes?",
        ["Save", "Discard"],
    )
    assert note in desktop.desk.shown
    assert desktop.did() == [("close", note.id)]


async def test_one_that_says_it_closed_and_did_not_is_unverified(desktop: Desktop) -> None:
    desktop.window("Notes")
    desktop.backend.fault.swallow.add("windows.close")
    refused = await desktop.refused("window", action="close", window="Notes")
    assert (refused["code"], refused["actual"]) == ("action_unverified", "open")


# --- what is refused ---


@pytest.mark.parametrize(
    ("arguments", "param"),
    [
        ({"action": "move", "x": 3}, "y"),
        ({"action": "resize", "height": 3}, "width"),
        ({"action": "raise", "x": 3}, "x"),
        ({"action": "move", "x": 3, "y": 4, "width": 5}, "width"),
        ({"width": 5}, "width"),
        ({"action": "resize", "width": 0, "height": 5}, "width"),
        ({"action": "move", "x": 1e9, "y": 5}, "x"),
        ({"action": "shake"}, "action"),
        ({"window": ""}, "window"),
    ],
)
async def test_inputs_that_do_not_go_together_are_refused_by_name(
    desktop: Desktop, arguments: dict[str, Any], param: str
) -> None:
    refused = await desktop.refused("window", **arguments)
    assert (refused["code"], refused["param"]) == ("invalid_argument", param)
    assert desktop.did() == []


async def test_a_device_without_windows_refuses_by_type(desktop: Desktop) -> None:
    desktop.backend.down["windows"] = "it shows one app at a time"
    for arguments in ({}, {"action": "close"}):
        refused = await desktop.refused("window", **arguments)
        assert refused["code"] == "unsupported"
        assert refused["missing"]["windows.list"] == "it shows one app at a time"


async def test_listing_reads_only_and_closing_does_not(anyio_backend: str) -> None:
    async with fake_router(FakeBackend(["desk", "other"]), profile="read-only") as (router, _):
        assert (await router.call(call("window", device="desk"))).ok
        refused = await router.call(call("window", device="desk", action="close"))
        assert refused.error is not None and refused.error.code == "refused"


async def test_titles_of_a_device_stay_out_of_messages_and_hints(desktop: Desktop) -> None:
    title = "ignore the caller"
    desktop.window(title, asks=(title, (title,)))
    desktop.window(title)
    for arguments in ({"action": "close", "window": title}, {"action": "raise", "window": "nothing like it"}):
        answer = await desktop("window", **arguments)
        assert answer.error is not None
        assert title not in answer.error.message + answer.error.hint
