"""Parts of a Vega lab device that can be judged alone: packages, times, keys, and the page source beside a real one."""

from __future__ import annotations

import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from anydevice_lab.vega.apps import read_vpkg, write_vpkg
from anydevice_lab.vega.keys import CODES, name_of
from anydevice_lab.vega.log import moment
from anydevice_lab.vega.words import option

FIXTURES = Path(__file__).parents[1] / "fixtures" / "vega"
ASSUMED = {"checked", "password", "expanded", "enabled", "description"}
"""Attributes that the capture has no occasion for: documented, or assumed (docs/lab.md says which)."""


def test_a_package_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_vpkg(tmp_path / "a.vpkg", "com.example.sample", title="Sample", version="2.1", part="ui")
    package = read_vpkg(tmp_path / "a.vpkg")
    assert (package.id, package.title, package.version, package.component) == (
        "com.example.sample", "Sample", "2.1", "com.example.sample.ui",
    )  # fmt: skip
    (tmp_path / "b.vpkg").write_bytes(b"no archive")
    with pytest.raises(ValueError, match="not a package"):
        read_vpkg(tmp_path / "b.vpkg")


@pytest.mark.parametrize(
    ("text", "ago"), [("now", 0), ("5s ago", 5), ("-5s", 5), ("2 min ago", 120), ("1h", 3600), ("@0", None)]
)
def test_times_are_read_as_the_journal_reads_them(text: str, ago: float | None) -> None:
    expected = 0 if ago is None else time.time() - ago
    assert moment(text) == pytest.approx(expected, abs=2)


def test_a_time_of_day_and_a_date_are_times_too() -> None:
    assert moment("2026-12-01 03:00:00.25") - moment("2026-12-01 02:59:59") == pytest.approx(1.25)
    with pytest.raises(ValueError, match="timestamp"):
        moment("some time ago")


def test_keys_have_the_numbers_the_toolkit_is_documented_with() -> None:
    documented = {103: "UP", 108: "DOWN", 105: "LEFT", 106: "RIGHT", 28: "ENTER", 158: "BACK", 172: "HOMEPAGE"}
    assert {code: name_of(str(code)) for code in documented} == documented
    assert name_of("170") == "HOMEPAGE" and name_of("96") == "KPENTER"
    assert name_of("KEY_ENTER") == "ENTER" and name_of("ENTER") is None and name_of("KEY_NONE") is None
    assert len(set(CODES.values())) == len(CODES)


def test_options_of_the_program_are_read_in_both_ways_of_writing() -> None:
    words = ["-p", "x", "--device=emulator-5554", "-d"]
    assert option(words, "-p", "--path") == "x"
    assert option(words, "-d", "--device") == "emulator-5554"
    assert option(words, "--image") is None


def vocabulary(root: ElementTree.Element) -> dict[str, set[str]]:
    """Attributes by tag, without what is inside `<traits>`."""
    found: dict[str, set[str]] = {}

    def walk(node: ElementTree.Element) -> None:
        found.setdefault(node.tag, set()).update(node.attrib)
        for child in node:
            if child.tag != "traits":
                walk(child)

    walk(root)
    return found


@pytest.mark.anyio
async def test_the_page_source_has_the_words_of_a_real_one_and_few_others() -> None:
    from anydevice_lab.vega import Lab

    from .vega import Tv

    real = vocabulary(ElementTree.parse(FIXTURES / "page_source_native.xml").getroot())
    async with Lab() as lab:
        tv = Tv(lab, (await lab.start("stick"))[0])
        for screen in ("form", "states", "home"):
            await tv.open(screen)
            ours = vocabulary(await tv.source())
            assert ours.keys() == real.keys()
            assert {tag: names - real[tag] - ASSUMED for tag, names in ours.items()} == {tag: set() for tag in ours}
            assert real["window"] <= ours["window"] and real["app"] <= ours["app"]
