"""Files that calls made: reserved places, adopted files, and what is not handed out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anydevice.artefacts import UNFINISHED_KEEP, Artefacts
from anydevice_schemas.errors import PathNotFound, Refused


@pytest.fixture
def store(tmp_path: Path) -> Artefacts:
    return Artefacts(tmp_path / "artefacts", keep=3)


def made(store: Artefacts, data: bytes = b"film", suffix: str = ".mp4") -> Path:
    place = store.reserve("recording")
    path = place.with_name(place.name + suffix)
    path.write_bytes(data)
    return path


def test_a_file_that_was_made_elsewhere_is_moved_in_under_its_name(store: Artefacts) -> None:
    path = made(store)
    artefact = store.adopt(path, "video/mp4")
    assert artefact.name == path.name and artefact.size == 4 and not path.exists()
    assert store.read(artefact.uri) == b"film"
    assert os.stat(artefact.path or "").st_mode & 0o777 == 0o600


def test_the_suffix_is_that_of_what_it_is(store: Artefacts) -> None:
    assert store.adopt(made(store, suffix=".mp4"), "video/webm").name.endswith(".webm")


def test_two_places_are_never_the_same(store: Artefacts) -> None:
    assert len({store.reserve("recording") for _ in range(50)}) == 50


def test_what_lies_elsewhere_or_is_a_link_is_not_adopted(store: Artefacts, tmp_path: Path) -> None:
    other = tmp_path / "other.mp4"
    other.write_bytes(b"mine")
    link = made(store)
    link.unlink()
    link.symlink_to(other)
    for path in (other, link, store.folder / "unfinished" / ".." / ".." / "other.mp4", Path("/nonexistent")):
        with pytest.raises(PathNotFound):
            store.adopt(path, "video/mp4")
    assert other.read_bytes() == b"mine"


def test_what_is_being_made_cannot_be_read_as_an_artefact(store: Artefacts) -> None:
    path = made(store)
    for name in (path.name, f"unfinished/{path.name}", path.stem):
        with pytest.raises(PathNotFound):
            store.read(name)


def test_what_was_left_is_found_by_its_name_alone(store: Artefacts) -> None:
    path = made(store)
    assert store.left(path.stem) == path
    for name in ("", "*", "recording-*", "../artefacts", path.name, "recording-000000000000", path.stem.upper()):
        assert store.left(name) is None


def test_what_nobody_ever_asked_for_goes_after_a_week(store: Artefacts) -> None:
    old, fresh = made(store), made(store)
    past = old.stat().st_mtime - UNFINISHED_KEEP - 60
    os.utime(old, (past, past))
    store.reserve("recording")
    assert not old.exists() and fresh.exists()


def test_a_file_that_is_too_large_is_refused_and_not_cut(store: Artefacts) -> None:
    artefact = store.adopt(made(store, b"x" * 1001), "video/mp4")
    assert len(store.read(artefact.name, limit=1001)) == 1001
    with pytest.raises(Refused):
        store.read(artefact.name, limit=1000)


def test_the_oldest_files_go_and_the_folder_of_unfinished_ones_stays(store: Artefacts) -> None:
    kept = made(store)
    names = [store.save(b"x", "image/png", stem=f"shot{number}").name for number in range(5)]
    there = {path.name for path in store.folder.iterdir() if path.is_file()}
    assert len(there) == 3 and there <= set(names) and kept.exists()
