"""Files by name: what fits, in which order, what is never entered, and when it ends."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from threading import Event

import pytest

from anydevice.kit.finding import find, matcher


@pytest.mark.parametrize(
    ("wanted", "name", "fits"),
    [
        ("holiday", "My HOLIDAY.png", True),
        ("*.png", "a.PNG", True),
        ("*.png", "a.png.bak", False),
        ("a?c", "abc", True),
        ("a?c", "abbc", False),
        ("[draft]", "report [Draft].txt", True),
        ("*[1]*", "photo[1].jpg", True),
        ("*[1]*", "photo1.jpg", False),
        ("ünter", unicodedata.normalize("NFD", "Günter.txt"), True),
        ("straße", "STRASSE", True),
        (".", "a.b", True),
    ],
)
def test_names_fit_by_part_or_by_pattern(wanted: str, name: str, fits: bool) -> None:
    assert matcher(wanted)(name) is fits


def made(top: Path, *names: str) -> None:
    for number, name in enumerate(names):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, (number, number))


def test_the_newest_come_first_and_the_rest_is_told(tmp_path: Path) -> None:
    made(tmp_path, "a/x1", "b/x2", "x3", "other")
    found, cut = find(str(tmp_path), "x", most=2)
    assert [Path(one.path).name for one in found] == ["x3", "x2"]
    assert "3 match" in cut
    found, cut = find(str(tmp_path), "x", most=3)
    assert len(found) == 3 and cut == ""
    assert (found[0].size, found[0].changed, found[0].folder) == (2, 2.0, False)


def test_links_are_found_and_never_followed(tmp_path: Path) -> None:
    made(tmp_path, "in/one", "out/one")
    (tmp_path / "in" / "one-link").symlink_to(tmp_path / "out", target_is_directory=True)
    (tmp_path / "in" / "circle").symlink_to(tmp_path / "in", target_is_directory=True)
    found, _ = find(str(tmp_path / "in"), "one")
    assert sorted(Path(one.path).name for one in found) == ["one", "one-link"]
    assert not any(one.folder for one in found)


def test_what_is_hidden_is_left_out_unless_asked_for(tmp_path: Path) -> None:
    made(tmp_path, ".secret/one", ".one", "one")
    assert [Path(one.path).name for one in find(str(tmp_path), "one")[0]] == ["one"]
    assert len(find(str(tmp_path), "one", hidden=True)[0]) == 3


def test_folders_count_too(tmp_path: Path) -> None:
    made(tmp_path, "wanted/inside")
    (found,) = find(str(tmp_path), "wanted")[0]
    assert found.folder and found.path == str(tmp_path / "wanted")


def test_it_ends_in_time_and_when_told_to_and_says_so(tmp_path: Path) -> None:
    made(tmp_path, *(f"d{number % 7}/x{number}" for number in range(600)))
    assert "time was up" in find(str(tmp_path), "x", seconds=0.0)[1]
    stop = Event()
    stop.set()
    found, cut = find(str(tmp_path / "d0"), "x", stop=stop)  # less than it takes between two looks
    assert len(found) == 86 and cut == ""
    assert "time was up" in find(str(tmp_path), "x", stop=stop)[1]


def test_a_folder_that_went_away_is_told(tmp_path: Path) -> None:
    found, cut = find(str(tmp_path / "nothing"), "x")
    assert found == [] and "could not be read" in cut
