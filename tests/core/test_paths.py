"""Paths a caller gives: what may be read, written and moved, judged on real folders and links."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anydevice import paths
from anydevice.artefacts import Artefacts
from anydevice.settings import Settings, SettingsError
from anydevice.testing import caller
from anydevice_schemas.errors import AnydeviceError, InvalidArgument, PathNotFound, PathRefused

pytestmark = pytest.mark.anyio


class Ground:
    """A caller's folder, another root, anydevice's own folder, and something outside of all of them."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.cwd, self.root, self.own, self.out = (top / name for name in ("project", "shared", "own", "outside"))
        for folder in (self.cwd, self.root, self.own, self.out):
            folder.mkdir()
            (folder / "file.txt").write_text(folder.name)
        self.settings = Settings(home=self.own, roots=(str(self.root),))

    def ctx(self, *, transport: str = "stdio", cwd: str | None = "", **settings: Any) -> Any:
        who = caller(transport=transport, cwd=str(self.cwd) if cwd == "" else cwd)
        chosen = Settings(home=self.own, roots=settings.get("roots", (str(self.root),)))
        services = SimpleNamespace(settings=chosen, artefacts=Artefacts(chosen.artefact_dir))
        return SimpleNamespace(caller=who, services=services)


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    yield Ground(tmp_path)


async def refused(kind: type[AnydeviceError], work: Any) -> AnydeviceError:
    with pytest.raises(kind) as caught:
        await work
    return caught.value


@pytest.mark.parametrize("way", [paths.readable, paths.movable])
async def test_what_lies_in_the_callers_folders_may_be_used(ground: Ground, way: Callable[..., Any]) -> None:
    ctx = ground.ctx()
    assert await way(ctx, "file.txt") == ground.cwd / "file.txt"
    assert await way(ctx, "./a/../file.txt") == ground.cwd / "file.txt"
    assert await way(ctx, str(ground.cwd / "file.txt")) == ground.cwd / "file.txt"
    assert await way(ctx, str(ground.root / "file.txt")) == ground.root / "file.txt"


@pytest.mark.parametrize("way", [paths.readable, paths.writable, paths.movable])
async def test_what_lies_outside_is_refused_whether_it_exists_or_not(ground: Ground, way: Callable[..., Any]) -> None:
    (ground.cwd / "way-out").symlink_to(ground.out)
    for text in ("../outside/file.txt", "../outside/nothing", "/etc/passwd", "way-out/file.txt", "way-out/nothing"):
        error = await refused(PathRefused, way(ground.ctx(), text))
        assert error.details["path"] == text and error.details["reason"] == "outside"
        assert error.details["roots"] == [".", "../shared"]


async def test_a_link_is_judged_by_where_it_leads_and_moved_as_itself(ground: Ground) -> None:
    (ground.cwd / "out").symlink_to(ground.out / "file.txt")
    (ground.cwd / "in").symlink_to(ground.root / "file.txt")
    await refused(PathRefused, paths.readable(ground.ctx(), "out"))
    assert await paths.readable(ground.ctx(), "in") == ground.root / "file.txt"
    assert await paths.movable(ground.ctx(), "out") == ground.cwd / "out"
    (ground.cwd / "loop").symlink_to("loop")
    await refused(PathNotFound, paths.readable(ground.ctx(), "loop"))


async def test_only_files_and_folders_are_read_and_only_what_is_free_is_written(ground: Ground) -> None:
    ctx = ground.ctx()
    os.mkfifo(ground.cwd / "pipe")
    pipe = await refused(PathRefused, paths.readable(ctx, "pipe", kind="any"))
    assert pipe.details["reason"] == "not a file" and "roots" not in pipe.hint, "it lies below one of them"
    await refused(PathNotFound, paths.readable(ctx, "file.txt", kind="folder"))
    await refused(PathNotFound, paths.readable(ctx, "."))
    assert await paths.readable(ctx, ".", kind="folder") == ground.cwd
    await refused(PathNotFound, paths.readable(ctx, "nothing"))
    assert await paths.writable(ctx, "new.txt") == ground.cwd / "new.txt"
    assert (await refused(PathRefused, paths.writable(ctx, "file.txt"))).details["reason"] == "exists"
    (ground.cwd / "dangling").symlink_to(ground.out / "new")
    assert (await refused(PathRefused, paths.writable(ctx, "dangling"))).details["reason"] == "exists"
    await refused(PathNotFound, paths.writable(ctx, "no-folder/new.txt"))


async def test_own_folder_is_closed_but_for_what_calls_made(ground: Ground) -> None:
    made = Artefacts(ground.own / "artefacts").save(b"x", "text/plain", stem="made")
    for ctx in (ground.ctx(roots=(str(ground.top),)), ground.ctx(cwd=str(ground.top))):
        for text in (str(ground.own / "file.txt"), str(ground.own), str(ground.own / "artefacts")):
            await refused(PathRefused, paths.readable(ctx, text, kind="any"))
        await refused(PathRefused, paths.writable(ctx, str(ground.own / "artefacts" / "new")))
        await refused(PathRefused, paths.movable(ctx, str(ground.own)))
        path = await paths.readable(ctx, made.uri)
        assert path.read_bytes() == b"x" and await paths.told(ctx, path) == made.uri
        await refused(PathRefused, paths.movable(ctx, made.uri))
        await refused(PathRefused, paths.writable(ctx, made.uri))
    for name in ("nothing.txt", "../state.db", "", ".."):
        await refused(PathNotFound, paths.readable(ground.ctx(), f"anydevice://artefacts/{name}"))


async def test_a_whole_folder_of_the_caller_is_never_moved(ground: Ground) -> None:
    (ground.cwd / "sub").mkdir()
    for text in (".", "../project", "sub/..", str(ground.root), str(ground.root) + "/"):
        assert (await refused(PathRefused, paths.movable(ground.ctx(), text))).details["reason"] in (
            "a root",
            "outside",
        )
    assert await paths.movable(ground.ctx(), "sub/") == ground.cwd / "sub"


async def test_what_is_no_path_is_an_invalid_argument(ground: Ground) -> None:
    for text in ("", "a\0b", "\ud800"):
        await refused(InvalidArgument, paths.readable(ground.ctx(), text))


async def test_a_program_started_at_the_top_of_the_disk_has_no_folder_of_its_own(ground: Ground) -> None:
    error = await refused(PathRefused, paths.readable(ground.ctx(cwd="/", roots=()), "etc/passwd"))
    assert error.details["roots"] == [] and "policy.roots" in error.hint
    assert (await refused(PathRefused, paths.readable(ground.ctx(cwd=None, roots=()), "x"))).details["reason"]
    there = await paths.readable(ground.ctx(cwd=None), "file.txt")
    assert there == ground.root / "file.txt"


async def test_a_device_with_a_folder_here_lends_it_as_home(ground: Ground) -> None:
    home = ground.own / "desktops" / "one"
    home.mkdir(parents=True)
    (home / "note.txt").write_text("n")
    ctx = ground.ctx()
    await refused(PathRefused, paths.readable(ctx, "~/note.txt"))
    path = await paths.readable(ctx, "~/note.txt", home=str(home))
    assert path == home / "note.txt" and await paths.told(ctx, path, home=str(home)) == "~/note.txt"
    assert await paths.writable(ctx, "~/new", home=str(home)) == home / "new"
    await refused(PathRefused, paths.readable(ctx, "~/../../file.txt", home=str(home)))
    await refused(PathRefused, paths.movable(ctx, "~", home=str(home)))


async def test_answers_name_paths_as_they_can_be_given_again_and_never_absolute_over_mcp(ground: Ground) -> None:
    sub = ground.cwd / "sub" / "x.txt"
    assert await paths.told(ground.ctx(), sub) == "sub/x.txt"
    assert await paths.told(ground.ctx(), ground.cwd) == "."
    assert await paths.told(ground.ctx(), ground.root / "file.txt") == "../shared/file.txt"
    assert await paths.told(ground.ctx(), ground.out / "deep" / "file.txt") == "…/deep/file.txt"
    assert await paths.told(ground.ctx(transport="cli"), ground.out / "file.txt") == str(ground.out / "file.txt")
    again = await paths.readable(ground.ctx(), await paths.told(ground.ctx(), ground.root / "file.txt"))
    assert again == ground.root / "file.txt"


async def test_a_folder_with_a_link_that_leads_out_is_refused_whole(ground: Ground) -> None:
    (ground.cwd / "deep" / "er").mkdir(parents=True)
    (ground.cwd / "deep" / "er" / "ok").symlink_to(ground.cwd / "file.txt")
    await paths.within(ground.ctx(), ground.cwd / "deep")
    (ground.cwd / "deep" / "er" / "leak").symlink_to("/etc")
    error = await refused(PathRefused, paths.within(ground.ctx(), ground.cwd / "deep"))
    assert error.details["path"] == "deep/er/leak"
    (ground.cwd / "deep" / "er" / "leak").unlink()
    os.mkfifo(ground.cwd / "deep" / "pipe")
    assert (await refused(PathRefused, paths.within(ground.ctx(), ground.cwd / "deep"))).details["reason"]
    assert (await refused(PathRefused, paths.within(ground.ctx(), ground.cwd / "deep", most=1))).details["reason"]


def test_folders_and_hosts_come_from_the_configuration_as_texts(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        '[policy]\nroots = ["/srv/shared"]\nprivate_hosts = ["10.0.0.0/8", "ci.local"]\n'
    )
    settings = Settings.load(tmp_path)
    assert (settings.roots, settings.private_hosts) == (("/srv/shared",), ("10.0.0.0/8", "ci.local"))
    for key in ("roots", "private_hosts"):
        for value in ("[1]", '"/srv"', "true"):
            (tmp_path / "config.toml").write_text(f"[policy]\n{key} = {value}\n")
            with pytest.raises(SettingsError, match=f"policy.{key}"):
                Settings.load(tmp_path)


def test_a_value_outside_of_its_table_is_no_setting_and_says_where_it_belongs(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('disabled = ["web"]\n')
    with pytest.raises(SettingsError, match=r"unknown key disabled outside of a table; it is plugins\.disabled"):
        Settings.load(tmp_path)
    (tmp_path / "config.toml").write_text("nonsense = 1\n")
    with pytest.raises(SettingsError, match="unknown key nonsense"):
        Settings.load(tmp_path)
    (tmp_path / "config.toml").write_text('[plugins]\ndisabled = ["web"]\n[harmonyos]\nhdc = "/x"\n')
    assert Settings.load(tmp_path).disabled == {"web"}
