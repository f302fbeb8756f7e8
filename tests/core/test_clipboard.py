"""clipboard: what is written is read back, what is forbidden is told, and nothing of it is written down."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from anydevice.driver import Acted, Clip, ClipKind
from anydevice.testing import FakeBackend, call, caller, fake_router
from anydevice.testing.desk import FakeClipboard
from anydevice.testing.driver import blank_png
from anydevice.testing.storing import FakeFiles
from anydevice_schemas import Answer, Constraint

pytestmark = pytest.mark.anyio
PNG = blank_png(6, 4)


class Board:
    """A router with one device, a caller with a working directory, and short calls."""

    def __init__(self, router: Any, backend: FakeBackend, folder: Path) -> None:
        self.router, self.backend, self.folder = router, backend, folder

    @property
    def clip(self) -> Clip:
        return self.backend.screen("one").desk.clip

    def put(self, **content: Any) -> None:
        self.backend.screen("one").desk.clip = Clip(frozenset(content), **content)  # type: ignore[arg-type]

    async def __call__(self, **arguments: Any) -> Answer:
        by = caller(cwd=str(self.folder))
        answer: Answer = await self.router.call(call("clipboard", by=by, device="one", **arguments))
        return answer

    async def refused(self, **arguments: Any) -> dict[str, Any]:
        answer = await self(**arguments)
        assert answer.error is not None, answer.data
        return {"code": answer.error.code, "message": answer.error.message, **answer.error.details}


@pytest.fixture
async def board(anyio_backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Board]:
    """On a desktop of this host: its files are files here."""
    folder = tmp_path / "work"
    folder.mkdir()
    fake = FakeBackend(["one", "other"])
    fake.manifest.operations["files.home"] = Constraint()

    async def home(self: FakeFiles) -> str | None:
        return None

    monkeypatch.setattr(FakeFiles, "home", home)
    async with fake_router(fake, home=tmp_path / "home", persist=True) as (router, backend):
        yield Board(router, backend, folder)
        assert backend.screen("other").journal == [], "the other device was touched"


@pytest.mark.parametrize("text", ["hello", "", "two\nlines\tand ü 世界 🙂", "x" * 300_000])
async def test_text_is_written_and_read_back(board: Board, text: str) -> None:
    answer = await board(action="write", text=text)
    assert (answer.verified, answer.data) == (True, {"kind": "text"})
    assert board.clip.text == text
    read = await board()
    assert read.data["kinds"] == ["text"]
    assert read.data["text"] == text[:20_000]
    assert bool(read.truncated) is (len(text) > 20_000)


async def test_a_picture_is_written_from_a_file_and_read_as_an_artefact(board: Board) -> None:
    (board.folder / "shot.png").write_bytes(PNG)
    assert (await board(action="write", image="shot.png")).verified is True
    assert board.clip.image == PNG
    read = await board()
    assert {key: read.data[key] for key in ("kind", "mime", "width", "height")} == {
        "kind": "image",
        "mime": "image/png",
        "width": 6,
        "height": 4,
    }
    assert board.router.services.artefacts.read(read.artefacts[0].uri) == PNG
    again = await board(action="write", image=read.artefacts[0].uri)
    assert again.verified is True


async def test_files_are_written_with_their_whole_paths(board: Board) -> None:
    (board.folder / "a b.txt").write_text("a")
    (board.folder / "sub").mkdir()
    assert (await board(action="write", files=["a b.txt", "sub"])).verified is True
    paths = [str(board.folder / "a b.txt"), str(board.folder / "sub")]
    assert board.clip.files == paths
    assert (await board()).data == {"kinds": ["files"], "kind": "files", "files": ["a b.txt", "sub"]}


async def test_an_empty_clipboard_is_told_as_empty(board: Board) -> None:
    assert (await board()).data == {"kinds": []}


async def test_what_is_there_in_another_kind_only_is_told_as_that(board: Board) -> None:
    board.put(image=PNG)
    answer = await board(kind="text")
    assert answer.data == {"kinds": ["image"]}


async def test_what_cannot_be_read_back_is_not_said_to_be_verified(board: Board) -> None:
    board.backend.screen("one").desk.closed_book = True
    refused = await board.refused()
    assert (refused["code"], refused["permission"]) == ("permission_missing", "clipboard")
    answer = await board(action="write", text="kept")
    assert answer.ok and "unread" in answer.data
    assert board.clip.text == "kept"


async def test_what_arrives_as_something_else_is_unverified_and_is_not_shown(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.put(text="somebody's secret")
    board.backend.fault.swallow.add("clipboard.write_text")
    refused = await board.refused(action="write", text="mine")
    assert (refused["code"], refused["expected"], refused["actual"]) == (
        "action_unverified",
        "4 characters",
        "17 characters",
    )
    assert "secret" not in json.dumps(refused)


async def test_line_ends_of_the_platform_are_no_difference(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    async def write(self: FakeClipboard, text: str) -> Acted:
        return self.desk.write("text", text.replace("\n", "\r\n"))

    monkeypatch.setattr(FakeClipboard, "write_text", write)
    assert (await board(action="write", text="a\nb")).verified is True


async def test_a_picture_that_was_encoded_anew_is_not_said_to_be_verified(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    had = [PNG + b"more", blank_png(9, 9)]

    async def read(self: FakeClipboard, kind: ClipKind | None = None) -> Clip:
        return Clip(frozenset({"image"}), image=had.pop(0))

    monkeypatch.setattr(FakeClipboard, "read", read)
    (board.folder / "shot.png").write_bytes(PNG)
    assert (await board(action="write", image="shot.png")).verified is False
    refused = await board.refused(action="write", image="shot.png")
    assert (refused["code"], refused["expected"], refused["actual"]) == ("action_unverified", "6x4", "9x9")


@pytest.mark.parametrize(
    ("arguments", "code", "param"),
    [
        ({"action": "write"}, "invalid_argument", "text"),
        ({"action": "write", "text": "a", "files": ["b"]}, "invalid_argument", "text"),
        ({"action": "write", "text": "a", "kind": "text"}, "invalid_argument", "kind"),
        ({"text": "a"}, "invalid_argument", "text"),
        ({"action": "write", "files": []}, "invalid_argument", "files"),
        ({"kind": "sound"}, "invalid_argument", "kind"),
        ({"action": "write", "image": "note.txt"}, "invalid_argument", "image"),
        ({"action": "write", "image": "gone.png"}, "path_not_found", None),
        ({"action": "write", "image": "/etc/hostname"}, "path_refused", None),
        ({"action": "write", "files": ["../home/config.toml"]}, "path_refused", None),
    ],
)
async def test_what_cannot_be_written_is_refused_and_the_clipboard_stays(
    board: Board, arguments: dict[str, Any], code: str, param: str | None
) -> None:
    (board.folder / "note.txt").write_text("no picture")
    board.put(text="before")
    refused = await board.refused(**arguments)
    assert (refused["code"], refused.get("param")) == (code, param)
    assert board.clip.text == "before"


async def test_a_device_without_a_kind_refuses_that_kind(board: Board) -> None:
    board.backend.down["clipboard.write_files"] = "no files here"
    (board.folder / "a").write_text("")
    refused = await board.refused(action="write", files=["a"])
    assert (refused["code"], refused["missing"]) == ("unsupported", {"clipboard.write_files": "no files here"})
    assert (await board(action="write", text="still")).verified is True


async def test_nothing_of_a_clipboard_is_written_down(board: Board, tmp_path: Path) -> None:
    await board(action="write", text="pa55word")
    board.put(text="0ther-secret")
    assert (await board()).data["text"] == "0ther-secret"
    assert list(board.router.services.journal.tail)
    for path in (tmp_path / "home").rglob("*"):
        if path.is_file():
            assert not any(word in path.read_bytes() for word in (b"pa55word", b"0ther-secret")), path


async def test_reading_needs_no_right_to_act_and_writing_does(anyio_backend: str) -> None:
    async with fake_router(FakeBackend(["one", "other"]), profile="read-only") as (router, _):
        assert (await router.call(call("clipboard", device="one"))).ok
        refused = await router.call(call("clipboard", device="one", action="write", text="x"))
        assert refused.error is not None and refused.error.code == "refused"
