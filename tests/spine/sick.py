"""Distributions whose backends are ill, each in its own way; a daemon finds them as it finds what is installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anydevice.testing import fake_manifest

from ..support.distributions import install, toml

LISTS = """
    from anydevice.testing import FakeBackend


    class Backend(FakeBackend):
        def __init__(self, host):
            super().__init__([{name!r} + "-1"], name={name!r})

        async def devices(self, env):
            {body}
"""
SLEEPS = "import anyio; await anyio.sleep(3600)"

SICK: dict[str, tuple[str, str]] = {
    "hangs": (LISTS.format(name="hangs", body=SLEEPS), "gave no listing within 1 s"),
    "hangs-on-import": ("import time\ntime.sleep(600)\n", "gave no listing within 1 s|took longer than 15 s"),
    "breaks-on-import": ("raise RuntimeError('no such luck')\n", "RuntimeError: no such luck"),
    "exits-on-import": ("raise SystemExit(3)\n", "SystemExit"),
    "is-empty": ("", "Backend"),
    "is-none": ("class Backend:\n    def __init__(self, host):\n        pass\n", "no anydevice.driver.Backend"),
    "fails": (LISTS.format(name="fails", body="raise OSError('cable is out')"), "OSError: cable is out"),
    "lies": (LISTS.format(name="lies", body="return 7"), "TypeError"),
}
"""Name -> source of the package, and a pattern of the reason the listing gives."""

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "too-new": ({"contract": ">=9"}, "contract >=9"),
    "odd-manifest": ({"discovery_deadline": -1.0}, "discovery_deadline"),
    "other-name": ({"name": "somebody-else"}, "somebody-else"),
}
"""Name -> what is wrong with its manifest, and words of the reason."""

TWICE = "twice"
"""A name that two distributions bring."""


def install_sick(folder: Path) -> None:
    """Installs all of them into a folder for PYTHONPATH."""
    for name, (source, _) in SICK.items():
        _install(folder, name, source, {})
    for name, (changes, _) in REFUSED.items():
        _install(folder, name, LISTS.format(name=name, body="return []"), changes)
    for distribution in ("first-of-two", "second-of-two"):
        _install(folder, TWICE, LISTS.format(name=TWICE, body="return []"), {}, distribution=distribution)
    _install(folder, "web", LISTS.format(name="web", body="return []"), {}, distribution="would-be-web")


def _install(folder: Path, name: str, source: str, changes: Mapping[str, Any], *, distribution: str = "") -> None:
    manifest = fake_manifest(name).model_dump(mode="json", by_alias=False)
    manifest |= {"operations": list(manifest["operations"]), "discovery_deadline": 1.0} | changes
    package = (distribution or f"{name}-sick").replace("-", "_")
    install(
        folder,
        distribution or f"{name}-sick",
        modules={f"{package}/__init__.py": source},
        data={
            f"{package}/backend.toml": "".join(
                f"{key} = {toml(value)}\n" for key, value in manifest.items() if value is not None
            )
        },
        entry_points={"anydevice.backends": {name: f"{package}:Backend"}},
    )
