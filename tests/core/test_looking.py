"""Looking at a desktop: its windows, parts and pictures of them, and waiting for apps and windows."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest
from PIL import Image as Pictures

from anydevice.driver import App, Image
from anydevice.testing import FakeBackend, FakeElement, call, fake_router
from anydevice.testing import driver as parts
from anydevice.testing.desk import MINE, FakeDesk, FakeWindow
from anydevice_schemas import Answer, Rect

pytestmark = pytest.mark.anyio


class Desktop:
    """A router with one desktop, and short calls on it."""

    def __init__(self, router: Any, backend: FakeBackend) -> None:
        self.router, self.backend = router, backend

    @property
    def desk(self) -> FakeDesk:
        return self.backend.screen("desk").desk

    def notes(self, title: str = "Notes", **fields: Any) -> FakeWindow:
        """A window of another app, with a button and a field in it."""
        elements = [
            FakeElement("button", "Increment", Rect(110, 120, 80, 30)),
            FakeElement("textbox", "Body", Rect(110, 160, 200, 60), value="dear diary"),
        ]
        return self.desk.add(FakeWindow(title, elements=elements, **fields))

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

    async def meanwhile(self, seconds: float, change: Callable[[], Any], command: str, **arguments: Any) -> Answer:
        """Makes a call, and changes something while it runs."""
        answers: list[Answer] = []

        async def ask() -> None:
            answers.append(await self(command, **arguments))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await anyio.sleep(seconds)
            assert not answers, "the call did not wait"
            change()
        return answers[0]


@pytest.fixture
async def desktop(anyio_backend: str) -> AsyncIterator[Desktop]:
    async with fake_router(FakeBackend(["desk", "other"])) as (router, backend):
        yield Desktop(router, backend)
        assert backend.screen("other").journal == [], "the other device was touched"


def names(data: dict[str, Any]) -> set[str]:
    return {node.get("name", "") for node in data["tree"]}


# --- snapshot ---


async def test_a_snapshot_is_of_the_app_in_front_unless_more_is_asked_for(desktop: Desktop) -> None:
    desktop.notes()
    assert "Body" not in names(await desktop.do("snapshot", responseLevel="full"))
    whole = await desktop.do("snapshot", surface="desktop", responseLevel="full")
    assert {"Notes", "Body", "Practice", "Wi-Fi"} <= names(whole)


@pytest.mark.parametrize("asked", [{"surface": "window"}, {"window": "Notes"}])
async def test_a_snapshot_of_one_window_holds_nothing_else(desktop: Desktop, asked: dict[str, str]) -> None:
    desktop.notes()
    data = await desktop.do("snapshot", responseLevel="full", **asked)
    assert names(data) == {"Notes", "Increment", "Body"}
    assert data["title"] == "Notes"


async def test_refs_of_another_window_name_what_is_in_it(desktop: Desktop) -> None:
    desktop.notes()
    tree = (await desktop.do("snapshot", window="Notes", responseLevel="full"))["tree"]
    ref = next(node["ref"] for node in tree if node.get("name") == "Body")
    assert (await desktop.do("get", target=ref))["text"] == "dear diary"


@pytest.mark.parametrize(
    ("arguments", "param"),
    [
        ({"scope": "Body", "window": "Notes"}, "scope"),
        ({"scope": "Body", "surface": "desktop"}, "scope"),
        ({"window": "Notes", "surface": "desktop"}, "surface"),
    ],
)
async def test_parts_of_a_snapshot_that_contradict_each_other_are_refused(
    desktop: Desktop, arguments: dict[str, Any], param: str
) -> None:
    desktop.notes()
    refused = await desktop.refused("snapshot", **arguments)
    assert (refused["code"], refused["param"]) == ("invalid_argument", param)


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("snapshot", {"surface": "desktop"}),
        ("snapshot", {"window": "Notes"}),
        ("screenshot", {"window": "Notes"}),
        ("wait", {"window": "Notes"}),
        ("wait", {"windowGone": "Notes"}),
        ("is", {"predicate": "open", "window": "Notes"}),
    ],
)
async def test_a_device_without_windows_refuses_to_look_at_them(
    desktop: Desktop, command: str, arguments: dict[str, Any]
) -> None:
    desktop.backend.down["windows"] = "none here"
    refused = await desktop.refused(command, **arguments)
    assert (refused["code"], refused["missing"]) == ("unsupported", {"windows.list": "none here"})
    assert (await desktop("snapshot", surface="app")).ok


# --- find and get by window and app ---


async def test_a_query_that_names_a_window_or_an_app_looks_into_all_of_them(desktop: Desktop) -> None:
    desktop.notes()
    for where in ("windowtitle=Notes", "appname=editor", 'windowtitle="not"'):
        found = await desktop.do("find", query=f"label=Increment {where}", timeoutMs=0)
        assert found["count"] == 1
        assert (await desktop.do("get", target=f"label=Body {where}"))["text"] == "dear diary"
    found = await desktop.do("find", query="label=Increment windowtitle=Practice", timeoutMs=0)
    ref = found["matches"][0]["ref"]
    await desktop.do("press", target=ref)
    assert desktop.backend.screen("desk").text("Count") == "1"
    refused = await desktop.refused("find", query="label=Body", timeoutMs=0)
    assert refused["code"] == "element_not_found"


async def test_wait_looks_into_the_window_that_is_named(desktop: Desktop) -> None:
    answer = await desktop.meanwhile(0.2, desktop.notes, "wait", target="label=Body windowtitle=Notes")
    assert answer.data["element"]["name"] == "Body"


# --- screenshot ---


async def test_a_picture_of_a_window_is_where_the_window_is(desktop: Desktop) -> None:
    desktop.notes(rect=Rect(10, 20, 300, 200))
    answer = await desktop("screenshot", window="Notes")
    assert (answer.data["area"], answer.data["window"]["title"]) == ([10, 20, 300, 200], "Notes")
    assert not answer.notices


async def test_what_lies_over_a_window_is_told(desktop: Desktop) -> None:
    desktop.notes()
    answer = await desktop("screenshot", window=MINE)
    assert [one["title"] for one in answer.data["coveredBy"]] == ["Notes"]
    assert [one["windows"] for one in answer.notices if one["kind"] == "window_covered"] == [1]


async def test_a_minimized_window_has_no_picture(desktop: Desktop) -> None:
    desktop.notes(states={"minimized"})
    refused = await desktop.refused("screenshot", window="Notes")
    assert refused["code"] == "element_offscreen"
    assert "raise" in refused["hint"]
    await desktop.do("window", action="raise", window="Notes")
    assert (await desktop("screenshot", window="Notes")).ok


async def test_a_picture_of_a_rectangle_shows_that_rectangle(desktop: Desktop) -> None:
    data = await desktop.do("screenshot", x=10, y=20.5, width=100, height=50)
    assert (data["area"], data["width"], data["height"]) == ([10, 20.5, 100, 50], 100, 50)


async def test_a_rectangle_is_pictured_as_far_as_it_is_on_the_screen(desktop: Desktop) -> None:
    data = await desktop.do("screenshot", x=-50, y=-20, width=100, height=100)
    assert data["area"] == [0, 0, 50, 80]
    refused = await desktop.refused("screenshot", x=5000, y=0, width=10, height=10)
    assert (refused["code"], refused["param"]) == ("invalid_argument", "x")
    assert "390x" in refused["expected"]


async def test_a_picture_is_shrunk_to_what_was_asked_and_says_its_scale(desktop: Desktop) -> None:
    answer = await desktop("screenshot", maxDimension=211)
    assert (answer.data["width"], answer.data["height"], answer.data["scale"]) == (98, 211, 0.25)
    file = answer.artefacts[0]
    with Pictures.open(io.BytesIO(desktop.router.services.artefacts.read(file.uri))) as picture:
        assert (picture.size, picture.format, file.mime) == ((98, 211), "PNG", "image/png")
    assert answer.data["area"] == [0, 0, 390, 844]
    assert "0.25" in answer.data["unit"]
    larger = await desktop.do("screenshot", maxDimension=4000)
    assert (larger["width"], larger["height"], larger["scale"]) == (390, 844, 1)


async def test_a_shrunk_picture_shows_what_the_large_one_does(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = Pictures.new("RGB", (400, 200), "white")
    picture.paste("red", (0, 0, 200, 200))

    def made(kind: str, mime: str) -> Image:
        file = io.BytesIO()
        picture.save(file, kind)
        return Image(file.getvalue(), mime, 400, 200, 2.0, Rect(0, 0, 200, 100))

    for kind, mime in (("PNG", "image/png"), ("JPEG", "image/jpeg")):

        async def image(self: Any, area: Rect | None = None, *, full: bool = False, kind=kind, mime=mime) -> Image:  # type: ignore[no-untyped-def]
            return made(kind, mime)

        monkeypatch.setattr(parts._Screen, "image", image)
        answer = await desktop("screenshot", maxDimension=100)
        assert (answer.data["mime"], answer.data["scale"]) == (mime, 0.5)
        with Pictures.open(io.BytesIO(desktop.router.services.artefacts.read(answer.artefacts[0].uri))) as small:
            red, white = small.convert("RGB").getpixel((20, 25)), small.convert("RGB").getpixel((80, 25))
        assert red[0] > 240 and red[1] < 20 and min(white) > 240, (kind, red, white)  # type: ignore[index,arg-type,type-var]


@pytest.mark.parametrize(
    ("in_points", "asked", "size"),
    [
        (False, {}, (400, 200, 2.0)),
        (False, {"unit": "points"}, (200, 100, 1.0)),
        (True, {}, (200, 100, 1.0)),
        (True, {"unit": "pixels"}, (400, 200, 2.0)),
    ],
)
async def test_a_picture_is_in_points_where_they_are_asked_for_or_the_platforms_habit(
    desktop: Desktop,
    monkeypatch: pytest.MonkeyPatch,
    in_points: bool,
    asked: dict[str, Any],
    size: tuple[int, int, float],
) -> None:
    file = io.BytesIO()
    Pictures.new("RGB", (400, 200), "white").save(file, "PNG")

    async def image(self: Any, area: Rect | None = None, *, full: bool = False) -> Image:
        return Image(file.getvalue(), "image/png", 400, 200, 2.0, Rect(0, 0, 200, 100), in_points)

    monkeypatch.setattr(parts._Screen, "image", image)
    answer = await desktop("screenshot", **asked)
    assert (answer.data["width"], answer.data["height"], answer.data["scale"]) == size
    assert answer.data["unit"] == ("points" if size[2] == 1 else "pixels; divide by 2 for points")
    with Pictures.open(io.BytesIO(desktop.router.services.artefacts.read(answer.artefacts[0].uri))) as picture:
        assert picture.size == size[:2]


async def test_a_picture_that_cannot_be_read_is_told_and_not_passed_on(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = parts._Screen.image

    async def image(self: Any, area: Rect | None = None, *, full: bool = False) -> Image:
        whole = await sound(self, area, full=full)
        return replace(whole, data=whole.data[:60])

    monkeypatch.setattr(parts._Screen, "image", image)
    refused = await desktop.refused("screenshot", maxDimension=50)
    assert (refused["code"], refused["operation"]) == ("unsupported", "screen.image")


@pytest.mark.parametrize(
    ("arguments", "param"),
    [
        ({"target": "Increment", "window": "Notes"}, "target"),
        ({"window": "Notes", "x": 1, "y": 1, "width": 1, "height": 1}, "window"),
        ({"target": "Increment", "x": 1, "y": 1, "width": 1, "height": 1}, "target"),
        ({"x": 1, "y": 1, "width": 10}, "height"),
        ({"area": "full", "window": "Notes"}, "area"),
        ({"area": "full", "x": 1, "y": 1, "width": 10, "height": 10}, "area"),
        ({"area": "element"}, "target"),
        ({"maxDimension": 4}, "maxDimension"),
        ({"x": 1, "y": 1, "width": 0, "height": 10}, "width"),
    ],
)
async def test_parts_of_a_picture_that_contradict_each_other_are_refused(
    desktop: Desktop, arguments: dict[str, Any], param: str
) -> None:
    desktop.notes()
    refused = await desktop.refused("screenshot", **arguments)
    assert (refused["code"], refused["param"]) == ("invalid_argument", param)


# --- waiting for windows and apps ---


async def test_wait_ends_once_a_window_is_open_and_once_it_is_gone(desktop: Desktop) -> None:
    answer = await desktop.meanwhile(0.2, desktop.notes, "wait", window="note")
    assert answer.data["window"]["title"] == "Notes"
    id = answer.data["window"]["id"]
    answer = await desktop.meanwhile(0.2, lambda: desktop.desk.close(id), "wait", windowGone=id)
    assert answer.data["gone"] is True


async def test_wait_ends_once_a_window_has_a_title(desktop: Desktop) -> None:
    note = desktop.notes("Untitled")
    answer = await desktop.meanwhile(
        0.2, lambda: setattr(note, "title", "*Saved as a.txt"), "wait", window=note.id, title="saved"
    )
    assert answer.data["window"]["title"] == "*Saved as a.txt"


async def test_waiting_in_vain_tells_which_windows_are_there(desktop: Desktop) -> None:
    desktop.notes()
    refused = await desktop.refused("wait", window="Editor", timeoutMs=150)
    assert (refused["code"], refused["waiting_for"], refused["there"]) == ("timeout", "window", ["Notes", "Practice"])
    assert "window" in refused["hint"]


class Shop:
    """Apps of which a test says whether they run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.apps = [App("org.example.Editor", "Text Editor", False), App("org.example.Editor2", "Text Editor 2", True)]

        async def list(_: Any) -> Sequence[App]:
            return self.apps

        monkeypatch.setattr(parts._Apps, "list", list)

    def run(self, on: bool) -> None:
        self.apps[0] = replace(self.apps[0], running=on)


@pytest.mark.parametrize("name", ["text editor", "org.example.Editor"])
async def test_wait_and_is_tell_whether_an_app_runs(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shop = Shop(monkeypatch)
    assert (await desktop.do("is", predicate="running", app=name))["result"] is False
    assert (await desktop.do("is", predicate="gone", app=name))["result"] is True
    answer = await desktop.meanwhile(0.2, lambda: shop.run(True), "wait", app=name)
    assert answer.data["app"] == "org.example.Editor"
    assert (await desktop.do("is", predicate="running", app=name))["result"] is True
    answer = await desktop.meanwhile(0.2, lambda: shop.run(False), "wait", appGone=name)
    assert answer.data["gone"] is True
    refused = await desktop.refused("wait", app=name, timeoutMs=100)
    assert (refused["code"], refused["there"]) == ("timeout", ["Text Editor 2"])


async def test_an_app_nobody_knows_does_not_run(desktop: Desktop) -> None:
    assert await desktop.do("is", predicate="running", app="nonsense") == {"result": False, "found": False}
    assert (await desktop.do("is", predicate="gone", app="nonsense"))["result"] is True
    assert (await desktop.do("wait", appGone="nonsense"))["gone"] is True


async def test_is_answers_about_windows_at_once(desktop: Desktop) -> None:
    desktop.notes()
    assert (await desktop.do("is", predicate="open", window="Notes"))["result"] is True
    assert (await desktop.do("is", predicate="gone", window="Notes"))["result"] is False
    assert (await desktop.do("is", predicate="gone", window="Editor"))["result"] is True
    assert (await desktop.do("is", predicate="title", window="note", value="Notes"))["result"] is True
    assert (await desktop.do("is", predicate="title", window="note", value="note"))["result"] is False
    assert (await desktop.refused("is", predicate="title", window="Editor", value="x"))["code"] == "app_not_found"


@pytest.mark.parametrize(
    ("command", "arguments", "param"),
    [
        ("is", {"predicate": "open", "target": "Increment"}, "predicate"),
        ("is", {"predicate": "checked", "window": "Notes"}, "predicate"),
        ("is", {"predicate": "open", "app": "editor"}, "predicate"),
        ("is", {"predicate": "running", "window": "Notes"}, "predicate"),
        ("is", {"predicate": "open"}, "target"),
        ("is", {"predicate": "gone", "window": "Notes", "app": "editor"}, "app"),
        ("is", {"predicate": "title", "window": "Notes"}, "value"),
        ("is", {"predicate": "open", "window": "Notes", "value": "x"}, "value"),
        ("wait", {"window": "Notes", "text": "x"}, "text"),
        ("wait", {"app": "editor", "appGone": "editor"}, "app"),
        ("wait", {"text": "x", "title": "y"}, "title"),
        ("wait", {"windowGone": "x", "title": "y"}, "title"),
    ],
)
async def test_questions_that_make_no_sense_are_refused_by_name(
    desktop: Desktop, command: str, arguments: dict[str, Any], param: str
) -> None:
    desktop.notes()
    refused = await desktop.refused(command, **arguments)
    assert (refused["code"], refused["param"]) == ("invalid_argument", param)
