"""Shell, trash, tags and file search of a desktop: judged by the file system, /proc, and programs nobody here wrote."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anyio
import pytest

import anydevice_linux
from anydevice.driver import HostServices
from anydevice.kit import pids
from anydevice.testing import call, caller, fake_router
from anydevice_linux import trash as trash_can
from anydevice_linux.backend import LinuxBackend
from anydevice_linux.driver import LinuxDriver
from anydevice_schemas import Answer, Manifest
from anydevice_schemas.errors import PathNotFound, PermissionMissing, Refused, Unsupported

from .desktop import missing

ABSENT = missing()
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(ABSENT is not None, reason=ABSENT or "")]
PATIENCE = 20.0


class Seated:
    """A virtual desktop behind a router of profile full, and the folder a caller works in."""

    def __init__(self, router: Any, backend: LinuxBackend, cwd: Path) -> None:
        self.router, self.backend, self.cwd = router, backend, cwd
        self.by = caller(cwd=str(cwd))

    @property
    def home(self) -> Path:
        """The desktop's own home."""
        desktop = self.backend.desktop("virtual")
        assert desktop is not None
        return Path(desktop.running().cwd)

    @property
    def files(self) -> Any:
        driver = self.router.services.connections.existing("linux:virtual")
        assert isinstance(driver, LinuxDriver)
        return driver.files

    async def do(self, command: str, *, expect: str = "ok", **arguments: Any) -> Answer:
        answer: Answer = await self.router.call(call(command, by=self.by, device="virtual", **arguments))
        said = "ok" if answer.ok or answer.error is None else answer.error.code
        assert said == expect, (command, arguments, answer.error)
        return answer

    async def trash(self, path: str, *, expect: str = "ok") -> Answer:
        """Puts something into the trash, with a person's approval."""
        asked = await self.do("trash", path=path, expect="confirmation_required")
        assert asked.error is not None
        token = asked.error.details["token"]
        self.router.services.policy.approve(token)
        return await self.do("trash", path=path, confirmToken=token, expect=expect)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Seated]:
    folder = tmp_path_factory.mktemp("files")
    manifest = Manifest.from_toml((Path(anydevice_linux.__file__).parent / "backend.toml").read_text("utf-8"))
    home = folder / "anydevice"
    backend = LinuxBackend(HostServices(str(home / "data" / "linux"), str(home / "run" / "linux")))
    async with fake_router(home=home, profile="full") as (router, _):
        router.services.backends.add(manifest, backend)
        try:
            made = Seated(router, backend, folder)
            await made.do("boot")
            yield made
        finally:
            await backend.aclose()


@pytest.fixture
def work(desk: Seated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder the caller works in, and a data folder of the user that is not the real one."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user-data"))
    cwd = tmp_path / "project"
    cwd.mkdir()
    desk.cwd = cwd
    desk.by = caller(cwd=str(cwd))
    return cwd


def note_of(trashed: Path) -> dict[str, str]:
    """The note of something in a trash."""
    text = (trashed.parent.parent / "info" / f"{trashed.name}.trashinfo").read_text()
    head, *lines = text.splitlines()
    assert head == "[Trash Info]"
    return dict(line.split("=", 1) for line in lines)


# --- shell ---


async def test_a_command_runs_on_the_desktop_and_says_how_it_ended(desk: Seated) -> None:
    answer = await desk.do("shell", commandLine='echo "$DISPLAY"; pwd; echo bad >&2; exit 7')
    desktop = desk.backend.desktop("virtual")
    assert desktop is not None
    assert answer.data["stdout"].splitlines() == [desktop.running().display, str(desk.home)]
    assert (answer.data["ok"], answer.data["status"], answer.data["stderr"]) == (False, 7, "bad\n")
    assert (await desk.do("shell", commandLine="kill -9 $$")).data["status"] == 137
    assert (await desk.do("shell", commandLine="pwd", cwd=".local")).data["stdout"] == f"{desk.home}/.local\n"
    assert (await desk.do("shell", commandLine="pwd", cwd="~")).data["ok"] is True
    await desk.do("shell", commandLine="pwd", cwd="nowhere", expect="path_not_found")


async def test_nothing_of_the_daemons_environment_gets_in(desk: Seated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_DAEMON", "x")
    said = (await desk.do("shell", commandLine="env")).data["stdout"]
    assert "SECRET_OF_THE_DAEMON" not in said and f"HOME={desk.home}\n" in said


async def test_output_that_never_ends_is_kept_in_part(desk: Seated) -> None:
    answer = await desk.do("shell", commandLine="head -c 5000000 /dev/zero | tr '\\0' x", responseLevel="full")
    assert len(answer.data["stdout"]) == 200_000 and "more output than is kept" in answer.truncated


async def test_a_late_command_is_ended_with_its_children(desk: Seated, work: Path) -> None:
    line = f"sh -c 'echo $$ > {work}/inner; exec sleep 60' & echo $$ > {work}/outer; wait"
    await desk.do("shell", commandLine=line, timeoutMs=5000, expect="timeout")
    for name in ("inner", "outer"):
        assert not pids.alive(int((work / name).read_text())), name


async def test_a_command_whose_caller_left_is_ended(desk: Seated, work: Path) -> None:
    line = f"echo $$ > {work}/pid; exec sleep 60"
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: desk.do("shell", commandLine=line))
            while not (work / "pid").exists() or not (work / "pid").read_text():
                await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        while pids.alive(int((work / "pid").read_text())):
            await anyio.sleep(0.01)


async def test_what_a_command_leaves_in_the_background_holds_up_nothing_and_is_ended(desk: Seated, work: Path) -> None:
    line = f"sh -c 'echo $$ > {work}/pid; exec sleep 60' & while [ ! -s {work}/pid ]; do sleep 0.01; done; echo done"
    assert (await desk.do("shell", commandLine=line)).data["stdout"] == "done\n"
    assert not pids.alive(int((work / "pid").read_text()))


async def test_what_left_the_commands_group_is_ended_too(desk: Seated, work: Path) -> None:
    line = f"setsid sh -c 'echo $$ > {work}/pid; exec sleep 60' >/dev/null 2>&1 & "
    line += f"while [ ! -s {work}/pid ]; do sleep 0.01; done; echo done"
    assert (await desk.do("shell", commandLine=line)).data["stdout"] == "done\n"
    assert not pids.alive(int((work / "pid").read_text()))
    (work / "pid").unlink()
    await desk.do("shell", commandLine=line + "; sleep 60", timeoutMs=2000, expect="timeout")
    assert not pids.alive(int((work / "pid").read_text()))


# --- trash ---


async def test_a_file_of_the_caller_goes_into_the_users_trash_and_can_be_restored(desk: Seated, work: Path) -> None:
    (work / "notes 100% ü.txt").write_text("precious")
    answer = await desk.trash("notes 100% ü.txt")
    assert answer.verified is True and answer.data["path"] == "notes 100% ü.txt"
    trashed = work.parent / "user-data" / "Trash" / "files" / "notes 100% ü.txt"
    assert trashed.read_text() == "precious" and not (work / "notes 100% ü.txt").exists()
    note = note_of(trashed)
    assert unquote(note["Path"]) == str(work / "notes 100% ü.txt") and "%" in note["Path"]
    assert len(note["DeletionDate"]) == 19
    for folder in ("", "files", "info"):
        assert stat.S_IMODE((work.parent / "user-data" / "Trash" / folder).stat().st_mode) == 0o700


@pytest.mark.skipif(shutil.which("gio") is None, reason="not installed: gio")
async def test_the_note_is_the_one_that_a_file_manager_writes(desk: Seated, work: Path) -> None:
    name = "notes 100% ü'(1)~[x]+&=,;:@$!*#?.tar.gz"
    (work / name).write_text("by us")
    await desk.trash(name)
    (work / name).write_text("by gio")
    env = {**os.environ, "XDG_DATA_HOME": str(work.parent / "user-data")}
    done = subprocess.run(
        ["gio", "trash", name], cwd=work, env=env, capture_output=True, text=True, timeout=20, check=False
    )
    if done.returncode:
        pytest.skip(f"gio puts nothing into the trash here: {done.stderr}")
    can = work.parent / "user-data" / "Trash" / "files"
    ours = can / name
    (theirs,) = [path for path in can.iterdir() if path != ours]
    assert (ours.read_text(), theirs.read_text()) == ("by us", "by gio")
    assert note_of(ours).keys() == note_of(theirs).keys()
    assert note_of(ours)["Path"] == note_of(theirs)["Path"]


async def test_a_file_of_the_desktop_goes_into_its_own_trash(desk: Seated, work: Path) -> None:
    (desk.home / "saved.txt").write_text("x")
    answer = await desk.trash("~/saved.txt")
    assert answer.data == {"path": "~/saved.txt", "trashed": "~/.local/share/Trash/files/saved.txt"}
    assert (desk.home / ".local/share/Trash/files/saved.txt").read_text() == "x"
    assert not (work.parent / "user-data").exists()


async def test_names_that_are_taken_in_the_trash_are_never_taken_again(desk: Seated, work: Path) -> None:
    can = work.parent / "user-data" / "Trash"
    for text in ("one", "two"):
        (work / "same.txt").write_text(text)
        await desk.trash("same.txt")
    (can / "files" / "same.3.txt").write_text("somebody's, without a note")
    (work / "same.txt").write_text("three")
    await desk.trash("same.txt")
    read = {path.name: path.read_text() for path in (can / "files").iterdir()}
    assert read == {
        "same.txt": "one", "same.2.txt": "two", "same.3.txt": "somebody's, without a note", "same.4.txt": "three",
    }  # fmt: skip
    assert sorted(path.name for path in (can / "info").iterdir()) == [
        "same.2.txt.trashinfo", "same.4.txt.trashinfo", "same.txt.trashinfo",
    ]  # fmt: skip


async def test_many_at_once_lose_nothing(work: Path) -> None:
    """Two programs that put files of one name away at the same time."""
    data_home = str(work.parent / "user-data")
    for number in range(24):
        (work / str(number)).mkdir()
        (work / str(number) / "same").write_text(str(number))
    async with anyio.create_task_group() as group:
        for number in range(24):
            group.start_soon(anyio.to_thread.run_sync, trash_can.put, str(work / str(number) / "same"), data_home)
    files = list((work.parent / "user-data" / "Trash" / "files").iterdir())
    assert sorted(int(path.read_text()) for path in files) == list(range(24))
    for path in files:
        assert unquote(note_of(path)["Path"]) == str(work / path.read_text() / "same")


async def test_folders_links_and_odd_names_go_as_they_are(desk: Seated, work: Path) -> None:
    (work / "folder" / "deep").mkdir(parents=True)
    (work / "folder" / "deep" / "x").write_text("x")
    (work / "target").write_text("stays")
    (work / "link").symlink_to(work / "target")
    (work / "dangling").symlink_to("/etc/passwd")
    (work / "line\nbreak").write_text("n")
    (work / ("x" * 250)).write_text("long")
    for name in ("folder", "link", "dangling", "line\nbreak", "x" * 250):
        assert (await desk.trash(name)).verified is True
    can = work.parent / "user-data" / "Trash" / "files"
    assert (can / "folder" / "deep" / "x").read_text() == "x"
    assert (can / "link").is_symlink() and (work / "target").read_text() == "stays"
    assert os.readlink(can / "dangling") == "/etc/passwd"
    assert note_of(can / "line\nbreak")["Path"].endswith("line%0Abreak")
    (long,) = can.glob("xxx*")
    assert long.read_text() == "long" and unquote(note_of(long)["Path"]) == str(work / ("x" * 250))


async def test_another_disk_has_a_trash_of_its_own(desk: Seated, work: Path, other_disk: Path) -> None:
    file = other_disk / "on-another-disk.txt"
    file.write_text("x")
    target = trash_can.put(str(file), str(work.parent / "user-data"))
    can = Path("/dev/shm") / f".Trash-{os.getuid()}"
    assert Path(target).parent == can / "files" and Path(target).read_text() == "x"
    note = Path(can / "info" / f"{Path(target).name}.trashinfo").read_text()
    assert f"Path={other_disk.name}/on-another-disk.txt\n" in note
    assert not (work.parent / "user-data").exists()


@pytest.fixture
def other_disk(work: Path) -> Iterator[Path]:
    """A folder on another disk than the one of the tests; what its trash got from here is taken out again."""
    shm = Path("/dev/shm")
    if not shm.is_dir() or shm.stat().st_dev == work.stat().st_dev or not os.access(shm, os.W_OK):
        pytest.skip("there is no second disk to write to")
    folder = shm / f"anydevice-{os.getpid()}"
    can = shm / f".Trash-{os.getuid()}"
    there = can.exists()
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)
    if not there:
        shutil.rmtree(can, ignore_errors=True)
        return
    for path in [*can.glob("files/on-another-disk*"), *can.glob("info/on-another-disk*")]:
        path.unlink()


async def test_where_there_is_no_trash_nothing_is_moved(work: Path, other_disk: Path) -> None:
    file = other_disk / "on-another-disk.txt"
    file.write_text("x")
    can = Path("/dev/shm") / f".Trash-{os.getuid()}"
    if can.exists():
        pytest.skip("there is a trash already")
    can.symlink_to(work)  # a trap: a link in its place
    try:
        with pytest.raises(Refused) as caught:
            trash_can.put(str(file), str(work.parent / "user-data"))
    finally:
        can.unlink()
    assert "trash" in caught.value.message and file.read_text() == "x" and list(work.iterdir()) == []


async def test_what_must_not_be_moved_is_refused(desk: Seated, work: Path) -> None:
    (work / "x").write_text("x")
    trashed = (await desk.trash("x")).data["trashed"]
    assert trashed
    for path in ("/etc/hostname", "..", ".", "~", "../user-data", "nothing-there"):
        await desk.trash(path, expect="path_not_found" if path == "nothing-there" else "path_refused")
    for path in ("~/.local/share/Trash", "~/.local"):
        (desk.home / ".local/share/Trash").mkdir(exist_ok=True)
        await desk.trash(path, expect="refused")
    with pytest.raises(Refused):
        trash_can.put("/proc", str(work))
    assert (desk.home / ".local" / "share").is_dir()


@pytest.mark.parametrize("part", ["files", "info"])
async def test_a_trash_that_leads_elsewhere_takes_nothing(work: Path, tmp_path: Path, part: str) -> None:
    (work / "x").write_text("x")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "data" / "Trash").mkdir(parents=True)
    (tmp_path / "data" / "Trash" / part).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused):
        trash_can.put(str(work / "x"), str(tmp_path / "data"))
    assert (work / "x").read_text() == "x" and list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.skipif(os.getuid() == 0, reason="root may move everything")
async def test_what_may_not_be_moved_is_told(desk: Seated, work: Path) -> None:
    (work / "locked").mkdir()
    (work / "locked" / "x").write_text("x")
    (work / "locked").chmod(0o500)
    try:
        with pytest.raises(PermissionMissing):
            trash_can.put(str(work / "locked" / "x"), str(work.parent / "user-data"))
    finally:
        (work / "locked").chmod(0o700)
    assert list((work.parent / "user-data" / "Trash" / "info").iterdir()) == []


# --- tags ---


def attribute(path: Path) -> bytes | None:
    try:
        return os.getxattr(path, "user.xdg.tags")
    except OSError:
        return None


@pytest.fixture
def taggable(work: Path) -> Path:
    path = work / "report.pdf"
    path.write_text("x")
    try:
        os.setxattr(path, "user.probe", b"x")
    except OSError:
        pytest.skip("the disk of the tests keeps no extended attributes")
    return path


async def test_tags_are_what_file_managers_read(desk: Seated, taggable: Path) -> None:
    answer = await desk.do("tags", action="set", path="report.pdf", tags=["urgent", "über wichtig"])
    assert answer.verified is True and attribute(taggable) == "urgent,über wichtig".encode()
    os.setxattr(taggable, "user.xdg.tags", b"by hand, ,urgent,\xff")
    assert (await desk.do("tags", path="report.pdf")).data["tags"] == ["by hand", "urgent", "\ufffd"]
    await desk.do("tags", action="remove", path="report.pdf", tags=["\ufffd", "by hand"])
    assert attribute(taggable) == b"urgent"
    await desk.do("tags", action="set", path="report.pdf", tags=[])
    assert attribute(taggable) is None
    assert (await desk.do("tags", path="report.pdf")).data["tags"] == []
    await desk.do("tags", action="set", path="report.pdf", tags=[])
    assert taggable.read_text() == "x"


async def test_too_many_tags_are_refused_and_change_nothing(desk: Seated, taggable: Path) -> None:
    await desk.do("tags", action="set", path="report.pdf", tags=["kept"])
    with pytest.raises(Refused):
        await desk.files.set_tags(str(taggable), [f"{number:04}" + "x" * 190 for number in range(1000)])
    assert attribute(taggable) == b"kept"


async def test_a_disk_that_keeps_no_tags_says_so(desk: Seated) -> None:
    await desk.do("tags", path="~")
    for work in (desk.files.tags("/proc/self/comm"), desk.files.set_tags("/proc/self/comm", ["x"])):
        with pytest.raises(Unsupported):
            await work
    with pytest.raises(PathNotFound):
        await desk.files.tags("/proc/self/nothing")


# --- file-search ---


async def test_search_finds_what_find_finds(desk: Seated, work: Path) -> None:
    for name in ("a/Holiday.PNG", "a/b/holiday-2.png", "c/other.txt", ".hidden/holiday.png"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(name)
    (work / "way-out").symlink_to("/usr/share")
    answer = await desk.do("file-search", name="holiday*.png", under=".")
    said = subprocess.run(
        ["find", ".", "-name", ".?*", "-prune", "-o", "-iname", "holiday*.png", "-print"],
        cwd=work, capture_output=True, text=True, timeout=20, check=True,
    ).stdout.split()  # fmt: skip
    assert sorted(f"./{row['path']}" for row in answer.data["files"]) == sorted(said) and len(said) == 2
    assert answer.truncated == [] and answer.data["files"][0]["size"] == len("a/b/holiday-2.png")
    assert (await desk.do("file-search", name="holiday", under=".", hidden=True)).data["count"] == 3
    await desk.do("file-search", name="x", under="way-out", expect="path_refused")
    await desk.do("file-search", name="x", under="/usr", expect="path_refused")
    await desk.do("file-search", name="x", under="c/other.txt", expect="path_not_found")


async def test_without_a_folder_the_desktops_own_home_is_searched(desk: Seated, work: Path) -> None:
    (work / "from-a-program.odt").write_text("not this one")
    (desk.home / "Documents").mkdir(exist_ok=True)
    (desk.home / "Documents" / "from-a-program.odt").write_text("x")
    answer = await desk.do("file-search", name="from-a-program")
    assert [row["path"] for row in answer.data["files"]] == ["~/Documents/from-a-program.odt"]


async def test_a_name_that_is_no_text_is_shown_as_well_as_it_can_be(desk: Seated, work: Path) -> None:
    (work / os.fsdecode(b"odd-\xff\xfe.bin")).write_text("x")
    answer = await desk.do("file-search", name="odd-", under=".")
    assert answer.data["files"][0]["path"] == "odd-\ufffd\ufffd.bin"
