"""Archives somebody else made: what is refused before anything is used, and what is unpacked."""

from __future__ import annotations

import io
import os
import random
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from anydevice.kit import unpacking
from anydevice_schemas.errors import AnydeviceError, InvalidArgument, Refused


def zipped(path: Path, *members: tuple[str, bytes], links: dict[str, str] | None = None) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members:
            archive.writestr(name, data)
        for name, where in (links or {}).items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, where)
    return path


def tarred(path: Path, *members: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for info in members:
            archive.addfile(info, io.BytesIO(b"x" * info.size))
    return path


def member(name: str, *, size: int = 1, **fields: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size = size
    for field, value in fields.items():
        setattr(info, field, value)
    return info


BAD_ZIPS: dict[str, Callable[[Path], Path]] = {
    "up": lambda p: zipped(p, ("../evil", b"x")),
    "deep up": lambda p: zipped(p, ("a/b/../../../evil", b"x")),
    "top": lambda p: zipped(p, ("/etc/evil", b"x")),
    "drive": lambda p: zipped(p, ("C:\\evil", b"x")),
    "backslash": lambda p: zipped(p, ("..\\evil", b"x")),
    "twice": lambda p: zipped(p, ("a", b"x"), ("a", b"y")),
    "link out": lambda p: zipped(p, ("a", b"x"), links={"l": "../out"}),
    "link to top": lambda p: zipped(p, ("a", b"x"), links={"d/l": "/etc"}),
}
BAD_TARS: dict[str, Callable[[Path], Path]] = {
    "up": lambda p: tarred(p, member("../evil")),
    "top": lambda p: tarred(p, member("/evil")),
    "link out": lambda p: tarred(p, member("l", size=0, type=tarfile.SYMTYPE, linkname="../../out")),
    "hard link out": lambda p: tarred(p, member("d/l", size=0, type=tarfile.LNKTYPE, linkname="../out")),
    "device": lambda p: tarred(p, member("null", size=0, type=tarfile.CHRTYPE)),
    "pipe": lambda p: tarred(p, member("pipe", size=0, type=tarfile.FIFOTYPE)),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "make", [*BAD_ZIPS.values(), *BAD_TARS.values()], ids=[*BAD_ZIPS, *(f"tar {n}" for n in BAD_TARS)]
)
def test_members_that_lead_outside_or_are_no_files_are_refused(make: Callable[[Path], Path], tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        unpacking.check(make(tmp_path / "archive"))
    assert caught.value.details["member"] in (1, 2) and "evil" not in str(caught.value.to_wire())


def test_too_much_is_refused_by_what_the_members_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "a.zip", *((f"f{number}", b"0" * 1000) for number in range(20)))
    assert unpacking.check(path) == "zip"
    monkeypatch.setattr(unpacking, "MEMBERS", 19)
    with pytest.raises(Refused):
        unpacking.check(path)
    monkeypatch.setattr(unpacking, "MEMBERS", 20)
    monkeypatch.setattr(unpacking, "BYTES", 19_999)
    with pytest.raises(Refused):
        unpacking.check(path)


def test_what_is_no_archive_is_none_and_a_broken_one_is_told(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"nothing of the kind" * 100)
    assert unpacking.check(plain) is None and not unpacking.wraps(plain)
    whole = zipped(tmp_path / "a.zip", ("app/file", b"x" * 5000))
    data = whole.read_bytes()
    broken = tmp_path / "b.zip"
    broken.write_bytes(data[:40] + b"\xff" * 40 + data[80:])
    into = tmp_path / "into"
    into.mkdir()
    with pytest.raises(InvalidArgument):
        unpacking.check(broken)
        unpacking.unpack(broken, into)


def test_the_one_thing_at_the_top_is_handed_out_with_its_rights_and_links(tmp_path: Path) -> None:
    path = tmp_path / "App.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("My.app/run")
        info.external_attr = 0o100755 << 16
        archive.writestr(info, b"#!")
        archive.writestr("My.app/data/file", b"data")
        archive.writestr("__MACOSX/._My.app", b"aside")
        info = zipfile.ZipInfo("My.app/current")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "data")
    assert unpacking.wraps(path) and unpacking.check(path) == "zip"
    into = tmp_path / "into"
    into.mkdir()
    top = unpacking.unpack(path, into)
    assert top == into / "My.app"
    assert os.access(top / "run", os.X_OK) and not os.access(top / "data" / "file", os.X_OK)
    assert (top / "current" / "file").read_bytes() == b"data"


def test_a_tar_is_unpacked_too(tmp_path: Path) -> None:
    path = tarred(tmp_path / "a.tar.gz", member("app/one"), member("app/two", size=3))
    assert unpacking.check(path) == "tar"
    into = tmp_path / "into"
    into.mkdir()
    assert (unpacking.unpack(path, into) / "two").read_bytes() == b"xxx"


def test_several_things_at_the_top_are_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", ("one", b"1"), ("two", b"2"))
    into = tmp_path / "into"
    into.mkdir()
    with pytest.raises(InvalidArgument) as caught:
        unpacking.unpack(path, into)
    assert caught.value.details["found"] == 2


def test_links_over_links_do_not_lead_out(tmp_path: Path) -> None:
    """Each of them stays inside by its own words; one through the other does not."""
    path = zipped(tmp_path / "a.zip", ("app/a/x", b"1"), links={"app/a/b": "../..", "app/c": "a/b/.."})
    unpacking.check(path)
    into = tmp_path / "into"
    into.mkdir()
    with pytest.raises(Refused):
        unpacking.unpack(path, into)


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar"])
def test_whatever_is_wrong_with_an_archive_is_told_by_type_and_stays_inside(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "a.zip":
        zipped(path, ("app/one", b"x" * 300), ("app/two/three", b"y" * 300), links={"app/l": "one"})
    else:
        with tarfile.open(path, "w:gz" if name.endswith("gz") else "w") as archive:
            for inner in ("app/one", "app/two/three"):
                info = member(inner, size=300)
                archive.addfile(info, io.BytesIO(b"x" * 300))
            archive.addfile(member("app/l", size=0, type=tarfile.SYMTYPE, linkname="one"))
    sound, dice = path.read_bytes(), random.Random(7)
    for number in range(60):
        data = bytearray(sound)
        for _ in range(dice.randint(1, 8)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        (tmp_path / "try").mkdir()
        broken = tmp_path / "try" / name
        broken.write_bytes(data[: dice.randrange(len(data))] if number % 3 == 0 else data)
        into = tmp_path / "try" / "into"
        into.mkdir()
        try:
            if unpacking.check(broken) is not None:
                unpacking.unpack(broken, into)
        except AnydeviceError:
            pass
        assert sorted(one.name for one in (tmp_path / "try").iterdir()) == sorted([name, "into"])
        assert sorted(one.name for one in tmp_path.iterdir()) == sorted([name, "try"])
        shutil.rmtree(tmp_path / "try")


def test_it_ends_when_nobody_waits_any_more(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", ("app/one", b"x"))
    stop = Event()
    stop.set()
    for work in (unpacking.check, lambda one, told: unpacking.unpack(one, tmp_path / "into", told)):
        with pytest.raises(TimeoutError):
            work(path, stop)
