"""Installs `vendor_plugin` for daemons under test."""

from __future__ import annotations

from pathlib import Path

from .distributions import install


def install_vendor(folder: Path) -> Path:
    """Installs the plugin, as the module `test_vendor`, into a folder for PYTHONPATH."""
    source = Path(__file__).with_name("vendor_plugin.py").read_text("utf-8")
    return install(
        folder,
        "test-vendor",
        modules={"test_vendor/__init__.py": source},
        entry_points={"anydevice.plugins": {"test-vendor": "test_vendor"}},
    )
