"""Finding plugins: every kind of broken distribution is a record that says so, and none of them spoils the rest."""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path

import pytest

from anydevice.discovery import BACKENDS, PLUGINS, PluginRecord, describe, discover
from anydevice.inventory import remedy
from anydevice_schemas.errors import InvalidArgument, ToolMissing, UpstreamUnavailable

MANIFEST = """
name = "{name}"
summary = "A vendor's devices."
contract = "{contract}"
device_classes = ["phone"]
operations = ["screen.tree"]
[[platforms]]
name = "{name}"
"""


class Installed:
    """Makes distributions in a folder that is on the path, and their entry points."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.points: list[EntryPoint] = []

    def package(self, package: str, code: str = "", *, manifest: str | None = None) -> None:
        home = self.folder / package
        home.mkdir()
        (home / "__init__.py").write_text(code)
        if manifest is not None:
            (home / "backend.toml").write_text(manifest)

    def point(self, name: str, value: str, distribution: str) -> None:
        info = self.folder / f"{distribution}-1.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        point = EntryPoint(name, value, BACKENDS)
        self.points.append(point._for(Distribution.at(info)))  # type: ignore[attr-defined]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    monkeypatch.syspath_prepend(str(tmp_path))
    return Installed(tmp_path)


def only(records: list[PluginRecord]) -> PluginRecord:
    assert len(records) == 1
    return records[0]


def test_a_good_backend_is_ready_without_being_imported(installed: Installed) -> None:
    installed.package(
        "vgood", "import sys\nBackend = object", manifest=MANIFEST.format(name="good", contract=">=1.0,<2")
    )
    installed.point("good", "vgood:Backend", "vendor-good")
    record = only(discover(BACKENDS, found=installed.points))
    assert (record.state, record.distribution, record.version) == ("ready", "vendor-good", "1.0")
    assert record.manifest is not None and "screen.tree" in record.manifest.operations
    assert "vgood" not in sys.modules, "reading a manifest must not import the vendor's code"
    assert record.load() is object


@pytest.mark.parametrize(
    "fault", ["raise ValueError('boom')", "import no_such_module_x", "raise SystemExit(3)", "def ("]
)
def test_a_plugin_that_fails_on_import_is_broken_with_the_reason(installed: Installed, fault: str) -> None:
    name = f"vbad{abs(hash(fault))}"
    installed.package(name, fault, manifest=MANIFEST.format(name="bad", contract=">=1.0,<2"))
    installed.point("bad", f"{name}:Backend", "vendor-bad")
    record = only(discover(BACKENDS, found=installed.points))
    assert record.load() is None
    assert record.state == "broken" and "importing" in record.reason and "vendor-bad" in record.remedy


def test_a_contract_we_do_not_speak_is_refused_by_name(installed: Installed) -> None:
    installed.package("vold", "raise RuntimeError", manifest=MANIFEST.format(name="old", contract=">=2.0,<3"))
    installed.point("old", "vold:Backend", "vendor-old")
    record = only(discover(BACKENDS, found=installed.points))
    assert record.state == "refused" and ">=2.0,<3" in record.reason


def test_two_distributions_of_one_name_are_a_conflict_and_neither_loads(installed: Installed) -> None:
    for letter in "ab":
        installed.package(f"vtwin{letter}", "", manifest=MANIFEST.format(name="twin", contract=">=1.0,<2"))
        installed.point("twin", f"vtwin{letter}:Backend", f"vendor-{letter}")
    for points in (installed.points, installed.points[::-1]):
        records = discover(BACKENDS, found=points)
        assert [record.state for record in records] == ["conflict", "conflict"]
        assert all("vendor-a and vendor-b" in record.reason for record in records)
    chosen = discover(BACKENDS, found=installed.points, prefer={"twin": "vendor-b"})
    assert {record.distribution: record.state for record in chosen} == {"vendor-a": "conflict", "vendor-b": "ready"}


def test_a_name_of_ours_stays_ours(installed: Installed) -> None:
    installed.package("vours", "", manifest=MANIFEST.format(name="web", contract=">=1.0,<2"))
    installed.package("vtheirs", "", manifest=MANIFEST.format(name="web", contract=">=1.0,<2"))
    installed.point("web", "vtheirs:Backend", "aaa-vendor")
    installed.point("web", "vours:Backend", "anydevice")
    states = {r.distribution: r.state for r in discover(BACKENDS, found=installed.points)}
    assert states == {"anydevice": "ready", "aaa-vendor": "conflict"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = 'odd'\nsurprise = 1", "backend.toml"),
        ("not toml at all [", "backend.toml"),
        (MANIFEST.format(name="other", contract=">=1.0"), "says name"),
        (MANIFEST.format(name="odd", contract="whatever"), "contract"),
    ],
)
def test_a_bad_manifest_says_what_is_wrong(installed: Installed, text: str, says: str) -> None:
    package = f"vodd{abs(hash(text))}"
    installed.package(package, "", manifest=text)
    installed.point("odd", f"{package}:Backend", "vendor-odd")
    record = only(discover(BACKENDS, found=installed.points))
    assert record.state == "broken" and says in record.reason


def test_a_backend_without_a_manifest_or_package_is_broken(installed: Installed) -> None:
    installed.package("vbare")
    installed.point("bare", "vbare:Backend", "vendor-bare")
    installed.point("gone", "no_such_package_y:Backend", "vendor-gone")
    assert [(r.name, r.state) for r in discover(BACKENDS, found=installed.points)] == [
        ("bare", "broken"),
        ("gone", "broken"),
    ]


def test_a_disabled_plugin_is_told_and_not_loaded(installed: Installed) -> None:
    installed.package("voff", "raise RuntimeError", manifest=MANIFEST.format(name="off", contract=">=1.0,<2"))
    installed.point("off", "voff:Backend", "vendor-off")
    record = only(discover(BACKENDS, found=installed.points, disabled=["off"]))
    assert record.state == "disabled" and record.load() is None


def test_what_is_installed_here_is_all_ready() -> None:
    for group in (BACKENDS, PLUGINS):
        for record in discover(group):
            assert record.state == "ready", record


def test_what_to_do_about_a_backend_that_did_not_answer_is_said_in_full() -> None:
    said = UpstreamUnavailable("No server runs.", upstream="server", enable_hint="Run: server start")
    assert remedy(said) == "Run: server start"
    assert remedy(ToolMissing("It is not installed.", tools=["tool"], install="Install tool.")) == "Install tool."
    assert remedy(InvalidArgument("No.", param="x", expected="y", hint="Give y.")) == "Give y."


def test_a_reason_holds_the_message_of_an_error_and_no_hint() -> None:
    error = UpstreamUnavailable("It is down.", upstream="x", enable_hint="start it", hint="Start it.")
    assert describe(error) == "UpstreamUnavailable: It is down." and str(error) == "It is down. Start it."
