"""Shell, trash, tags, file search and copying on a fake device; judged by its disk and by the caller's folder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.driver import Files
from anydevice.testing import FakeBackend, call, caller, fake_router
from anydevice.testing.disk import FakeDisk
from anydevice_schemas import Answer
from anydevice_schemas.errors import Unsupported

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + b"\0\0\0\1\0\0\0\1\x08\2\0\0\0" + b"\0" * 8


class One:
    """A router with two phones, calls on the first, and a folder the caller works in."""

    def __init__(self, router: Any, backend: FakeBackend, cwd: Path) -> None:
        self.router, self.backend, self.cwd = router, backend, cwd
        self.by = caller(cwd=str(cwd))

    @property
    def disk(self) -> FakeDisk:
        return self.backend.disks["fake-1"]

    async def __call__(self, command: str, **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call(command, by=self.by, device="fake-1", **arguments))
        return answer

    async def refused(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = await self(command, **arguments)
        assert answer.error is not None, answer.data
        return {"code": answer.error.code, "message": answer.error.message, **answer.error.details}

    async def confirmed(self, command: str, **arguments: Any) -> Answer:
        """A call that a person approves."""
        asked = await self.refused(command, **arguments)
        assert asked["code"] == "confirmation_required", asked
        self.router.services.policy.approve(asked["token"])
        return await self(command, confirmToken=asked["token"], **arguments)


@pytest.fixture
async def phone(anyio_backend: str, tmp_path: Path) -> AsyncIterator[One]:
    backend = FakeBackend(["fake-1", "other"], cleans=True)
    cwd = tmp_path / "project"
    cwd.mkdir()
    async with fake_router(backend, profile="full") as (router, _):
        yield One(router, backend, cwd)
    assert backend.disks["other"].journal == [], "the other device was touched"


# --- shell ---


async def test_a_command_line_gives_status_and_both_outputs(phone: One) -> None:
    answer = await phone("shell", commandLine="echo one; echo two >&2; exit 3")
    assert answer.ok and answer.verified is False
    assert answer.data == {"ok": False, "status": 3, "stdout": "one\n", "stderr": "two\n"}
    assert (await phone("shell", commandLine="pwd", cwd="/storage/Documents")).data["stdout"] == "/storage/Documents\n"
    assert phone.disk.journal == [("shell", "echo one; echo two >&2; exit 3"), ("shell", "pwd")]


async def test_long_outputs_are_cut_and_the_cut_is_told(phone: One) -> None:
    phone.disk.write("/storage/long", b"x" * 3_000_000)
    answer = await phone("shell", commandLine="cat long", responseLevel="digest")
    assert len(answer.data["stdout"]) == 2000 and len(answer.truncated) == 2


async def test_a_command_line_that_is_late_or_whose_caller_left_is_ended(phone: One) -> None:
    assert (await phone.refused("shell", commandLine="sleep 60", timeoutMs=50))["code"] == "timeout"
    assert phone.disk.running == []
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: phone("shell", commandLine="sleep 61"))
            while not phone.disk.running:
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
    assert phone.disk.running == [] and phone.disk.journal[-1] == ("shell", "sleep 61")


async def test_the_shell_is_for_profile_full_only(tmp_path: Path) -> None:
    async with fake_router(FakeBackend(["fake-1"])) as (router, backend):
        one = One(router, backend, tmp_path)
        refused = await one.refused("shell", commandLine="echo x")
        assert refused["code"] == "refused" and "standard" in refused["reason"]
        assert one.disk.journal == []


async def test_the_journal_does_not_hold_what_was_typed(phone: One) -> None:
    await phone("shell", commandLine="echo hush-hush")
    assert "hush-hush" not in str(list(phone.router.services.journal.tail))


@pytest.mark.parametrize("line", ["  ", "a\0b"])
async def test_what_is_no_command_line_is_refused(phone: One, line: str) -> None:
    assert (await phone.refused("shell", commandLine=line))["code"] == "invalid_argument"
    assert phone.disk.journal == []


# --- trash ---


async def test_trash_moves_once_a_person_approved(phone: One) -> None:
    answer = await phone.confirmed("trash", path="/storage/Documents/welcome.txt")
    assert answer.verified is True
    assert answer.data == {"path": "/storage/Documents/welcome.txt", "trashed": "/storage/.trash/welcome.txt"}
    assert phone.disk.files["/storage/.trash/welcome.txt"].data == b"Welcome\n"
    phone.disk.write("/storage/Documents/welcome.txt", b"again")
    answer = await phone.confirmed("trash", path="/storage/Documents/welcome.txt")
    assert answer.data["trashed"] == "/storage/.trash/welcome.txt.2"
    assert phone.disk.files["/storage/.trash/welcome.txt"].data == b"Welcome\n"


async def test_a_token_is_for_one_path_only(phone: One) -> None:
    asked = await phone.refused("trash", path="/storage/Documents/welcome.txt")
    phone.router.services.policy.approve(asked["token"])
    answer = await phone("trash", path="/storage/Documents", confirmToken=asked["token"])
    assert answer.error is not None and answer.error.code == "confirmation_invalid"
    assert phone.disk.journal == []


async def test_trash_that_says_so_and_does_not_is_unverified(phone: One) -> None:
    phone.backend.fault.swallow.add("files.trash")
    answer = await phone.confirmed("trash", path="/storage/Documents/welcome.txt")
    assert answer.error is not None and answer.error.code == "action_unverified"


# --- tags ---


async def test_tags_are_set_added_removed_and_read_back(phone: One) -> None:
    file = {"path": "/storage/Documents/welcome.txt"}
    assert (await phone("tags", **file)).data == {"tags": []}
    assert (await phone("tags", action="set", tags=["b", " a ", "b"], **file)).data == {
        "tags": ["b", "a"],
        "changed": True,
    }
    assert (await phone("tags", action="add", tags=["c", "a"], **file)).data["tags"] == ["b", "a", "c"]
    answer = await phone("tags", action="remove", tags=["b", "unknown"], **file)
    assert answer.data["tags"] == ["a", "c"] and answer.verified is True
    assert (await phone("tags", action="add", tags=["a"], **file)).data["changed"] is False
    assert (await phone("tags", action="set", **file)).data["tags"] == []
    assert phone.disk.files[file["path"]].tags == ()


async def test_tags_that_did_not_take_are_unverified(phone: One) -> None:
    phone.backend.fault.swallow.add("files.set_tags")
    refused = await phone.refused("tags", action="set", path="/storage/Documents/welcome.txt", tags=["x"])
    assert (refused["code"], refused["expected"], refused["actual"]) == ("action_unverified", ["x"], [])


@pytest.mark.parametrize("tag", ["", "  ", "a,b", "a\nb", "x" * 201, "\ud800"])
async def test_what_is_no_tag_is_refused(phone: One, tag: str) -> None:
    refused = await phone.refused("tags", action="add", path="/storage/Documents/welcome.txt", tags=[tag])
    assert refused["code"] == "invalid_argument"


async def test_tags_go_with_changes_only(phone: One) -> None:
    for arguments in ({"tags": ["x"]}, {"action": "add"}, {"action": "remove", "tags": []}):
        assert (await phone.refused("tags", path="/storage/x", **arguments))["code"] == "invalid_argument"


# --- file-search ---


async def test_search_finds_by_name_newest_first(phone: One) -> None:
    for name in ("one.txt", "two.TXT", ".hidden.txt"):
        phone.disk.write(f"/storage/Documents/{name}", b"x")
    answer = await phone("file-search", name="*.txt", under="/storage/Documents")
    assert [row["path"].rpartition("/")[2] for row in answer.data["files"]] == ["two.TXT", "one.txt", "welcome.txt"]
    assert answer.data["files"][0]["size"] == 1 and answer.data["files"][0]["changed"].endswith("Z")
    assert answer.truncated == [] and answer.verified is None
    answer = await phone("file-search", name="*.txt", hidden=True, limit=1)
    assert answer.data["count"] == 1 and "4 match" in answer.truncated[0]
    for name in ("Documents/one.txt", "/one.txt", "**/*.txt", "a\0b"):  # no file has such a name, so none were found
        refused = await phone.refused("file-search", name=name)
        assert (refused["code"], refused["param"]) == ("invalid_argument", "name")


# --- files ---


async def test_push_and_pull_copy_bytes_both_ways(phone: One) -> None:
    data = bytes(range(256)) * 100
    (phone.cwd / "seed.db").write_bytes(data)
    answer = await phone("files", action="push", hostPath="seed.db", devicePath="/storage/Documents/")
    assert answer.verified is True
    assert answer.data == {
        "hostPath": "seed.db", "devicePath": "/storage/Documents/seed.db", "files": 1, "bytes": len(data),
    }  # fmt: skip
    assert phone.disk.files["/storage/Documents/seed.db"].data == data
    answer = await phone("files", action="pull", devicePath="/storage/Documents/seed.db", hostPath="back.db")
    assert answer.verified is True and answer.data["hostPath"] == "back.db"
    assert (phone.cwd / "back.db").read_bytes() == data
    assert sorted(os.listdir(phone.cwd)) == ["back.db", "seed.db"]


async def test_a_folder_goes_and_comes_whole(phone: One) -> None:
    (phone.cwd / "tree" / "deep").mkdir(parents=True)
    (phone.cwd / "tree" / "a").write_text("a")
    (phone.cwd / "tree" / "deep" / "b").write_text("bb")
    answer = await phone("files", action="push", hostPath="tree", devicePath="/storage/tree")
    assert (answer.data["files"], answer.data["bytes"]) == (2, 3)
    answer = await phone("files", action="pull", devicePath="/storage/tree", hostPath="copy/", timeoutMs=5000)
    assert answer.error is not None and answer.error.code == "path_not_found"  # there is no folder `copy`
    answer = await phone("files", action="pull", devicePath="/storage/tree", hostPath="copy")
    assert (phone.cwd / "copy" / "deep" / "b").read_text() == "bb" and answer.data["files"] == 2


async def test_a_pull_without_a_name_is_an_artefact(phone: One) -> None:
    answer = await phone("files", action="pull", devicePath="/storage/Documents/welcome.txt")
    (made,) = answer.artefacts
    assert (made.mime, made.size) == ("text/plain", 8) and made.name.startswith("welcome-txt-")
    assert phone.router.services.artefacts.read(made.uri) == b"Welcome\n"
    phone.disk.write("/storage/picture", PNG)
    assert (await phone("files", action="pull", devicePath="/storage/picture")).artefacts[0].mime == "image/png"
    phone.disk.write("/storage/raw", b"\0\1\2\xff")
    made = (await phone("files", action="pull", devicePath="/storage/raw")).artefacts[0]
    assert made.mime == "application/octet-stream"
    again = await phone("files", action="push", hostPath=made.uri, devicePath="/storage/raw2")
    assert again.ok and phone.disk.files["/storage/raw2"].data == b"\0\1\2\xff"
    refused = await phone.refused("files", action="pull", devicePath="/storage/Documents")
    assert refused["code"] == "invalid_argument" and refused["param"] == "hostPath"
    folder = phone.router.services.artefacts.folder
    assert list((folder / "unfinished").iterdir()) == []


async def test_paths_outside_of_the_callers_folders_are_refused_before_anything_is_sent(phone: One) -> None:
    (phone.cwd / "leak").symlink_to("/etc/passwd")
    (phone.cwd / "tree").mkdir()
    (phone.cwd / "tree" / "leak").symlink_to("/etc/passwd")
    for source in ("/etc/passwd", "../../etc/passwd", "leak", "tree"):
        refused = await phone.refused("files", action="push", hostPath=source, devicePath="/storage/x")
        assert refused["code"] == "path_refused", source
    for target in ("/tmp/x", "../x", "leak"):
        refused = await phone.refused(
            "files", action="pull", devicePath="/storage/Documents/welcome.txt", hostPath=target
        )
        assert refused["code"] == "path_refused", target
    assert (await phone.refused("files", action="push", devicePath="/storage/x"))["param"] == "hostPath"
    assert phone.disk.journal == []


async def test_nothing_is_left_of_a_pull_that_fails(phone: One) -> None:
    assert (await phone.refused("files", action="pull", devicePath="/storage/none", hostPath="x"))["code"] == (
        "path_not_found"
    )
    phone.backend.fault.swallow.add("files.pull")
    refused = await phone.refused("files", action="pull", devicePath="/storage/Documents/welcome.txt", hostPath="x")
    assert refused["code"] == "action_unverified"
    refused = await phone.refused("files", action="pull", devicePath="/storage/Documents/welcome.txt")
    assert refused["code"] == "action_unverified"
    assert list(phone.cwd.iterdir()) == []


async def test_a_pull_takes_no_name_that_came_to_be_taken_meanwhile(phone: One) -> None:
    phone.backend.fault.operations["files.pull"] = 0.3
    async with anyio.create_task_group() as group:

        async def late() -> None:
            await anyio.sleep(0.1)
            (phone.cwd / "x").write_text("mine")

        group.start_soon(late)
        refused = await phone.refused("files", action="pull", devicePath="/storage/Documents/welcome.txt", hostPath="x")
    assert refused["code"] == "path_refused" and (phone.cwd / "x").read_text() == "mine"
    assert [path.name for path in phone.cwd.iterdir()] == ["x"]


async def test_links_that_come_with_a_pull_are_left_out_and_told(phone: One, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = type((await phone.backend.connect(phone.backend.rows["fake-1"], None)).files).pull  # type: ignore[arg-type]

    async def pull(self: Any, source: str, target: str, *, deadline: float) -> Any:
        acted = await sound(self, source, target, deadline=deadline)
        (Path(target) / "evil").symlink_to("/etc/passwd")
        return acted

    monkeypatch.setattr("anydevice.testing.storing.FakeFiles.pull", pull)
    answer = await phone("files", action="pull", devicePath="/storage/Documents", hostPath="copy")
    assert answer.truncated == ["1 links left out"]
    assert [path.name for path in (phone.cwd / "copy").iterdir()] == ["welcome.txt"]


async def test_a_push_that_says_so_and_does_not_is_unverified(phone: One) -> None:
    (phone.cwd / "x").write_text("x")
    phone.backend.fault.swallow.add("files.push")
    refused = await phone.refused("files", action="push", hostPath="x", devicePath="/storage/x")
    assert refused["code"] == "action_unverified"


# --- add-media ---


async def test_pictures_and_videos_go_into_the_gallery_and_nothing_else_does(phone: One) -> None:
    (phone.cwd / "p.png").write_bytes(PNG)
    (phone.cwd / "a.gif").write_bytes(b"GIF89a" + b"\0" * 20)
    (phone.cwd / "n.png").write_text("a text, whatever its name says")
    assert (await phone("add-media", path="p.png")).data == {"path": "p.png", "mime": "image/png", "bytes": len(PNG)}
    assert (await phone("add-media", path="a.gif")).data["mime"] == "image/gif"
    assert (await phone.refused("add-media", path="n.png"))["code"] == "invalid_argument"
    assert (await phone.refused("add-media", path="/etc/passwd"))["code"] == "path_refused"
    assert sorted(phone.disk.gallery) == ["a.gif", "p.png"]


# --- a device whose files are files of this host ---


async def test_on_a_device_of_this_host_callers_stay_in_their_folders(
    phone: One, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "device-home"
    home.mkdir()
    (home / "note.txt").write_text("n")
    seen: list[str] = []

    class OfHost(Files):
        async def home(self) -> str | None:
            return str(home)

        async def tags(self, path: str) -> list[str]:
            seen.append(path)
            raise Unsupported("No tags there.", operation="files.tags", alternatives=[])

    backend = phone.backend
    operations = {**backend.manifest.operations, "files.home": backend.manifest.operations["files.tags"]}
    backend.manifest = backend.manifest.model_copy(update={"operations": operations})
    phone.router.services.backends.add(backend.manifest, backend)
    sound = backend.connect

    async def connect(device: Any, env: Any) -> Any:
        driver = await sound(device, env)
        driver.files = OfHost()  # type: ignore[assignment]
        return driver

    monkeypatch.setattr(backend, "connect", connect)
    assert (await phone.refused("tags", path="~/note.txt"))["code"] == "unsupported"
    assert seen == [str(home / "note.txt")]
    for path in ("/etc/passwd", "~/../outside", "../outside"):
        refused = await phone.refused("tags", path=path)
        assert refused["code"] == "path_refused", refused
    assert (await phone.refused("tags", path="/etc/passwd"))["roots"] == ["~", "."]
    assert len(seen) == 1
