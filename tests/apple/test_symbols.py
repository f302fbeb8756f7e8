"""Crash reports become names: by the symbols of the very build, through the lab's `atos` as a process."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from anydevice_apple.reading import crashreport, macho
from anydevice_lab.apple import Lab
from anydevice_lab.apple.model.symbols import Function, packed, write

from .rig import Rig, programs, rig

pytestmark = pytest.mark.anyio
BUILD, OTHER, KIT, SYSTEM = (f"{digit * 8}-0000-3000-8000-{digit * 12}" for digit in "ABCD")
APP, LIBRARY, SWIFT = 0x1_022C_0000, 0x1_0300_0000, 0x1_8000_0000
FUNCTIONS = [
    Function(0x1000, 0x100, "-[ViewController crash:]", "ViewController.m:24"),
    Function(0x1100, 0x100, "closure #1 in Model.load() (again)", "Model.swift:7"),
    Function(0x1200, 0x100, "main"),
]
DEEP = [Function(0x10, 0x40, "Kit.count(_:)", "Kit.swift:3")]


def ips(*, frames: int = 1, uuid: str = BUILD) -> str:
    """A report as iOS 15 and later write it."""
    images = [
        {"source": "P", "arch": "arm64", "base": APP, "size": 0x8000, "uuid": uuid.lower(), "name": "Practice",
         "path": "/private/var/containers/Bundle/Application/1/Practice.app/Practice"},
        {"source": "P", "arch": "arm64", "base": LIBRARY, "size": 0x4000, "uuid": KIT.lower(), "name": "Kit",
         "path": "/private/var/containers/Bundle/Application/1/Practice.app/Frameworks/Kit.framework/Kit"},
        {"source": "P", "arch": "arm64e", "base": SWIFT, "size": 0x9000, "uuid": SYSTEM.lower(), "name": "UIKitCore",
         "path": "/System/Library/PrivateFrameworks/UIKitCore.framework/UIKitCore"},
    ]  # fmt: skip
    crashed = [
        {"imageOffset": 0x1010, "imageIndex": 0},
        *[{"imageOffset": 0x1120, "imageIndex": 0} for _ in range(frames)],
        {"imageOffset": 0x20, "imageIndex": 1},
        {"imageOffset": 0x500, "imageIndex": 2, "symbol": "UIApplicationMain", "symbolLocation": 12},
        {"imageOffset": 0x7000, "imageIndex": 0},
    ]
    body = {
        "procName": "Practice",
        "bundleInfo": {"CFBundleIdentifier": "dev.anydevice.practice", "CFBundleShortVersionString": "1.2"},
        "exception": {"type": "EXC_BAD_ACCESS", "signal": "SIGSEGV"},
        "faultingThread": 1,
        "lastExceptionBacktrace": [{"imageOffset": 0x1150, "imageIndex": 0}],
        "threads": [
            {"id": 1, "frames": [{"imageOffset": 0x1210, "imageIndex": 0}]},
            {"id": 2, "triggered": True, "frames": crashed},
        ],
        "usedImages": images,
    }
    head = {"app_name": "Practice", "bug_type": "309", "os_version": "iPhone OS 26.1 (23B85)"}
    return json.dumps(head) + "\n" + json.dumps(body, indent=2)


TEXT = f"""Incident Identifier: 1
Process:             Practice [417]
Identifier:          dev.anydevice.practice
Version:             1.2 (7)
OS Version:          iPhone OS 14.8 (18H17)
Exception Type:  EXC_CRASH (SIGABRT)

Last Exception Backtrace:
({APP + 0x1150:#x} {SWIFT + 0x500:#x})

Thread 0 name:  Dispatch queue: com.apple.main-thread
Thread 0 Crashed:
0   UIKitCore             {SWIFT + 0x500:#018x} UIApplicationMain + 12
1   Practice              {APP + 0x1010:#018x} {APP:#x} + 4112
2   My Kit                {LIBRARY + 0x20:#018x} {LIBRARY:#x} + 32

Thread 1:
0   Practice              {APP + 0x1210:#018x} {APP:#x} + 4624

Thread 0 crashed with ARM Thread State (64-bit):
    x0: 0x0000000000000000   x1: 0x0000000000000000

Binary Images:
{APP:#x} - {APP + 0x7FFF:#x} Practice arm64  <{BUILD.replace("-", "").lower()}> /var/containers/Practice.app/Practice
{LIBRARY:#x} - {LIBRARY + 0x3FFF:#x} My Kit arm64  <{KIT.replace("-", "").lower()}> /var/containers/Practice.app/My Kit
{SWIFT:#x} - {SWIFT + 0x8FFF:#x} UIKitCore arm64e  <{SYSTEM.replace("-", "").lower()}> /System/Library/UIKitCore
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A caller's folder: a report, an archive with the symbols of its build, and those of another build of the app."""
    place = tmp_path / "crash"
    archive = place / "Practice.xcarchive" / "dSYMs"
    write(archive / "Practice.app.dSYM", "Practice", {"x86_64": (OTHER, FUNCTIONS), "arm64": (BUILD, FUNCTIONS)})
    wrong = [Function(0, 0x9000, "wrong", "Wrong.swift:1")]
    write(place / "old" / "Practice.app.dSYM", "Practice", {"arm64": (OTHER, wrong)})
    (place / "Practice.ips").write_text(ips())
    return place


async def asked(router: Rig, folder: Path, **given: Any) -> dict[str, Any]:
    return (await router.do("debug", cwd=folder, **given)).data


def rows(data: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(row["thread"], row["image"], row.get("symbol"), row.get("place")) for row in data["frames"]]


async def test_the_frames_of_a_report_are_named_by_the_symbols_of_its_build(
    lab: Lab, router: Rig, folder: Path
) -> None:
    answer = await router.do("debug", cwd=folder, report="Practice.ips")
    assert rows(answer.data) == [
        ("exception", "Practice", "closure #1 in Model.load() (again)", "Model.swift:7"),
        (1, "Practice", "-[ViewController crash:]", "ViewController.m:24"),
        (1, "Practice", "closure #1 in Model.load() (again)", "Model.swift:7"),
        (1, "Kit", None, None),
        (1, "UIKitCore", "UIApplicationMain + 12", None),
        (1, "Practice", None, None),
    ]
    assert answer.data["report"] == {
        "app": "dev.anydevice.practice", "process": "Practice", "version": "1.2", "os": "iPhone OS 26.1 (23B85)",
        "exception": "EXC_BAD_ACCESS SIGSEGV",
    }  # fmt: skip
    assert (answer.data["resolved"], answer.data["unresolved"], answer.data["thread"]) == (4, 2, 1)
    (image,) = answer.data["images"]
    assert (image["image"], image["uuid"], image["frames"], image["resolved"]) == ("Practice", BUILD, 5, 4)
    (started,) = await programs(lab, "atos")
    assert started[1:7] == [
        "atos", "-o", str(folder / "Practice.xcarchive/dSYMs/Practice.app.dSYM/Contents/Resources/DWARF/Practice"),
        "-arch", "arm64", "-l",
    ]  # fmt: skip
    (whole,) = answer.artefacts
    assert whole.path is not None
    told = json.loads(Path(whole.path).read_text())
    assert [row["symbol"] for row in told["frames"] if row["thread"] == 0] == ["main + 16"]


async def test_symbols_of_another_build_are_never_used_and_the_build_that_is_missing_is_told(
    lab: Lab, router: Rig, folder: Path
) -> None:
    await lab.journal("mac", clear=True)
    answer = await router.do("debug", cwd=folder, report="Practice.ips", dsym="old")
    assert [(row["image"], row["uuid"]) for row in answer.data["missing"]] == [("Practice", BUILD), ("Kit", KIT)]
    assert answer.data["resolved"] == 0 and "wrong" not in str(answer.data)
    assert [one["kind"] for one in answer.notices] == ["symbols_missing"]
    assert not await programs(lab, "atos")


async def test_a_report_in_text_is_read_too(router: Rig, folder: Path) -> None:
    (folder / "Practice.crash").write_text(TEXT)
    write(folder / "kit.dSYM", "My Kit", {"arm64": (KIT, DEEP)})
    data = await asked(router, folder, report="Practice.crash", dsym=".")
    assert rows(data) == [
        ("exception", "Practice", "closure #1 in Model.load() (again)", "Model.swift:7"),
        ("exception", "UIKitCore", None, None),
        (0, "UIKitCore", "UIApplicationMain + 12", None),
        (0, "Practice", "-[ViewController crash:]", "ViewController.m:24"),
        (0, "My Kit", "Kit.count(_:)", "Kit.swift:3"),
    ]
    assert (data["report"]["exception"], data["thread"], data["missing"]) == ("EXC_CRASH (SIGABRT)", 0, [])


async def test_bare_addresses_are_named_and_an_architecture_is_asked_for_where_there_are_several(
    router: Rig, folder: Path
) -> None:
    given = {"addresses": [hex(APP + 0x1010), hex(APP + 0x7000)], "loadAddress": hex(APP)}
    dsym = "Practice.xcarchive/dSYMs/Practice.app.dSYM"
    told = await router.refused("invalid_argument", "debug", cwd=folder, dsym=dsym, **given)
    assert (told["param"], told["expected"]) == ("arch", "Practice arm64, Practice x86_64")
    data = await asked(router, folder, dsym=dsym, arch="arm64", **given)
    assert data["frames"] == [
        {"address": hex(APP + 0x1010), "symbol": "-[ViewController crash:]", "place": "ViewController.m:24"},
        {"address": hex(APP + 0x7000)},
    ]
    told = await router.refused("path_not_found", "debug", cwd=folder, dsym=dsym, arch="armv7", **given)
    assert told["archs"] == ["arm64", "x86_64"]


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({}, "report"),
        ({"report": "Practice.ips", "addresses": ["0x1"]}, "report"),
        ({"report": "Practice.ips", "arch": "arm64"}, "arch"),
        ({"addresses": ["0x1"], "dsym": "old"}, "loadAddress"),
        ({"addresses": ["0x1"], "loadAddress": "0x2", "dsym": "old"}, "addresses"),
        ({"report": "none.ips"}, "report"),
        ({"report": "empty.ips"}, "report"),
        ({"report": "half.ips"}, "report"),
    ],
)
async def test_what_cannot_be_named_is_refused_before_anything_runs(
    lab: Lab, router: Rig, folder: Path, given: dict[str, Any], param: str
) -> None:
    (folder / "none.ips").write_text("no report of anything")
    (folder / "empty.ips").write_text('{"bug_type": "309"}\n{"threads": [], "usedImages": []}')
    (folder / "half.ips").write_text(ips()[:900])
    await lab.journal("mac", clear=True)
    assert (await router.refused("invalid_argument", "debug", cwd=folder, **given))["param"] == param
    assert not await programs(lab, "atos")


async def test_a_path_that_is_not_there_or_outside_is_refused(router: Rig, folder: Path) -> None:
    await router.refused("path_not_found", "debug", cwd=folder, report="Other.ips")
    await router.refused("path_not_found", "debug", cwd=folder, report="Practice.ips", dsym="Other.dSYM")
    await router.refused("path_refused", "debug", cwd=folder / "old", report="../Practice.ips")


@pytest.fixture
async def mac(lab: Lab) -> AsyncIterator[Lab]:
    """The Mac, whose faults are over after the test."""
    yield lab
    await lab.clear("mac")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"stderr": "atos cannot load symbols for the file.\n", "code": 1}, "cannot load"),
        ({"text": "main (in Practice) + 16\n", "code": 0}, "main"),
        ({"text": "", "code": 0}, ""),
    ],
)
async def test_an_atos_that_fails_or_leaves_lines_out_names_nothing(
    mac: Lab, router: Rig, folder: Path, fault: dict[str, Any], said: str
) -> None:
    """Fewer lines than addresses: then no line is known to be of which address."""
    await mac.fault("mac", "answer", match="atos", **fault)
    told = await router.refused("upstream_unavailable", "debug", cwd=folder, report="Practice.ips")
    assert said in told["said"] and told["upstream"] == "atos"


async def test_an_xcode_without_atos_is_said_to_lack_it(mac: Lab, router: Rig, folder: Path) -> None:
    await mac.mac(xcode="clt")
    try:
        told = await router.refused("tool_missing", "debug", cwd=folder, report="Practice.ips")
    finally:
        await mac.mac(xcode="26.5")
    assert told["tools"] == ["atos"]


async def test_an_atos_that_never_answers_is_ended_at_the_deadline(
    mac: Lab, router: Rig, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anydevice_apple.symbols.DEADLINE", 0.5)
    await mac.fault("mac", "hang", match="atos")
    await router.refused("timeout", "debug", cwd=folder, report="Practice.ips")


async def test_a_recursion_without_end_is_named_whole_and_told_in_part(router: Rig, folder: Path) -> None:
    (folder / "Practice.ips").write_text(ips(frames=700))
    answer = await router.do("debug", cwd=folder, report="Practice.ips")
    assert len(answer.data["frames"]) == 50 and answer.data["resolved"] == 703
    assert any("frames" in one and "655" in one for one in answer.truncated)


async def test_hundreds_of_addresses_take_several_starts(lab: Lab, router: Rig, folder: Path) -> None:
    await lab.journal("mac", clear=True)
    addresses = [hex(APP + 0x1000 + n) for n in range(450)]
    data = await asked(
        router, folder, addresses=addresses, loadAddress=hex(APP), dsym="Practice.xcarchive", arch="arm64"
    )
    assert [row["symbol"].split("(")[0] for row in data["frames"][::256]] == [
        "-[ViewController crash:]",
        "closure #1 in Model.load",
    ]
    assert len(await programs(lab, "atos")) == 3


async def test_without_xcode_it_is_said_what_to_install(lab: Lab, folder: Path, tmp_path: Path) -> None:
    async with rig(lab, tmp_path / "home", xcrun=str(tmp_path / "nothing")) as router:
        told = await router.refused("tool_missing", "debug", cwd=folder, report="Practice.ips")
        assert "Xcode" in told["install"]


def test_builds_are_read_from_the_headers_of_files() -> None:
    thin = packed("Practice", {"arm64e": (BUILD, FUNCTIONS)})
    assert macho.slices(io.BytesIO(thin)) == [macho.Slice("arm64e", BUILD.replace("-", ""))]
    both = packed("Practice", {"arm64": (BUILD, FUNCTIONS), "x86_64": (OTHER, FUNCTIONS)})
    assert [(one.arch, one.uuid[0]) for one in macho.slices(io.BytesIO(both))] == [("arm64", "A"), ("x86_64", "B")]


@pytest.mark.parametrize("size", [0, 3, 4, 20, 40, 100, 127])
def test_a_damaged_file_has_no_build(size: int) -> None:
    with pytest.raises(macho.NotMachO):
        macho.slices(io.BytesIO(packed("Practice", {"arm64": (BUILD, FUNCTIONS)})[:size]))


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"threads": 3}', '{"a": 1}\n{"threads": [[]]}', "Thread 0:\n"])
def test_what_is_no_report_is_told_apart(text: str) -> None:
    with pytest.raises(crashreport.NoReport):
        crashreport.parse(text)


@pytest.mark.parametrize("path", ["", "/bin/sh"])
def test_a_program_of_another_system_has_no_build(path: str) -> None:
    data = Path(path).read_bytes() if path else b"\xca\xfe\xba\xbe\x00\x00\x00\x34" + bytes(200)  # a class file of Java
    with pytest.raises(macho.NotMachO):
        macho.slices(io.BytesIO(data))
