"""Which browsers are installed on this host, found where they usually are."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(slots=True, frozen=True)
class Product:
    """A browser we know how to start: names on PATH, and the places it is installed to besides."""

    id: str
    name: str
    commands: tuple[str, ...]
    places: tuple[str, ...]


PRODUCTS: tuple[Product, ...] = (
    Product(
        "chromium",
        "Chromium",
        ("chromium", "chromium-browser"),
        (
            "/usr/bin/chromium",
            "/usr/lib/chromium/chromium",
            "/snap/bin/chromium",
            "/Applications/Chromium.app/Contents/MacOS/Chromium",
        ),
    ),
    Product(
        "chrome",
        "Google Chrome",
        ("google-chrome-stable", "google-chrome", "chrome"),
        (
            "/opt/google/chrome/chrome",
            "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        ),
    ),
    Product(
        "edge",
        "Microsoft Edge",
        ("microsoft-edge-stable", "microsoft-edge"),
        (
            "/opt/microsoft/msedge/msedge",
            "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
        ),
    ),
)
INSTALL = "Install Chromium, Google Chrome or Microsoft Edge (Debian and Ubuntu: apt install chromium)."


@dataclass(slots=True, frozen=True)
class Installed:
    """An installed browser."""

    id: str
    name: str
    executable: str


def find_installed(settings: Mapping[str, Any]) -> list[Installed]:
    """Every browser of this host. Touches the file system; call it off the event loop.

    Args:
        settings: `executable` overrides where a browser is: a path (for `chromium`), or a table of paths by
            `chromium`, `chrome`, `edge`.
    """
    given = settings.get("executable")
    override: dict[str, str] = {"chromium": given} if isinstance(given, str) else dict(given or {})
    found = []
    for product in PRODUCTS:
        path = override.get(product.id) or _search(product)
        if path and os.access(path, os.X_OK):
            found.append(Installed(product.id, product.name, path))
    return found


def _search(product: Product) -> str | None:
    for command in product.commands:
        path = shutil.which(command)
        if path:
            return path
    home = os.path.expanduser("~") if sys.platform == "darwin" else None
    for place in product.places:
        for candidate in (place, f"{home}{place}" if home else ""):
            if candidate and os.access(candidate, os.X_OK):
                return candidate
    return None
