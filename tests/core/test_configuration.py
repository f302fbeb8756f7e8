"""What the configuration file says in vain is told, with the nearest name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anydevice.configuration import passed_over
from anydevice.discovery import BACKENDS, PLUGINS, PluginRecord, discover
from anydevice.settings import Settings
from anydevice.testing.fake import fake_manifest


def told(tmp_path: Path, text: str) -> list[tuple[str, str, bool]]:
    """Where, what to do, and whether it is a mistake; beside a web backend, one that declares nothing, and a plugin."""
    (tmp_path / "config.toml").write_text(text)
    web = PluginRecord("web", BACKENDS, "anydevice", "1", "x:X", manifest=fake_manifest("web", settings=["headless"]))
    vendor = PluginRecord("acme", BACKENDS, "acme-backend", "1", "y:Y", manifest=fake_manifest("acme"))
    door = PluginRecord("mcp", PLUGINS, "anydevice", "1", "z")
    found = passed_over(Settings.load(tmp_path), [web, vendor, door])
    return [(passed.where, passed.fix, passed.likely) for passed in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[web]\nheadles = true", ("web.headles", "Did you mean headless?", True)),
        ("[web]\nzoom = 2", ("web.zoom", "It has headless.", True)),
        ("[leases]\nttl = 9", ("leases", "Did you mean lease?", True)),
        ("[wep]\nheadless = true", ("wep", "Did you mean web?", True)),
        ("[toaster]\nslots = 2", ("toaster", "Install what it is for, or remove it.", False)),
        ('[plugins]\ndisabled = ["webb"]', ("plugins.disabled: webb", "Did you mean web?", True)),
        (
            '[plugins]\ndisabled = ["toaster"]',
            ("plugins.disabled: toaster", "Install what it is for, or remove it.", False),
        ),
        (
            '[plugins.prefer]\ntoaster = "x"',
            ("plugins.prefer: toaster", "Install what it is for, or remove it.", False),
        ),
        ('[plugins.prefer]\nweb = "acme"', ("plugins.prefer.web", "Write anydevice, or remove it.", True)),
    ],
)
def test_a_name_that_nothing_has_is_told_with_the_nearest(
    tmp_path: Path, text: str, expected: tuple[str, str, bool]
) -> None:
    assert told(tmp_path, text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[web]\nheadless = true",
        "[acme]\nwhatever = 1",  # declares no keys
        "[mcp.http]\nport = 1",
        '[plugins]\ndisabled = ["web", "mcp"]',
        '[plugins.prefer]\nweb = "anydevice"',
    ],
)
def test_what_is_read_is_not_told(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text) == []


def test_our_own_backends_declare_their_keys() -> None:
    ours: dict[str, Any] = {r.name: r.manifest for r in discover(BACKENDS) if r.distribution == "anydevice"}
    assert ours and [name for name, manifest in ours.items() if manifest.settings is None] == []
