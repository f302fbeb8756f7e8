"""A package file of this host: which app is in it, as far as it can be read here.

Amazon documents the manifest of an app (`manifest.toml`, `[package] id`) and not the file around it. One that is an
archive with such a manifest in it tells its app; of any other only the device can say whether it is a package.
"""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path
from typing import Final

MANIFEST: Final = "manifest.toml"
MOST: Final = 1 << 20
"""Bytes of a manifest."""


def package_id(path: Path) -> str | None:
    """The id of the app in a package; None where the file does not tell it. Blocks."""
    try:
        with zipfile.ZipFile(path) as archive:
            inner = next(one for one in archive.infolist() if one.filename.rpartition("/")[2] == MANIFEST)
            if inner.file_size > MOST:
                return None
            found = tomllib.loads(archive.read(inner).decode())["package"]["id"]
    except (OSError, StopIteration, zipfile.BadZipFile, KeyError, TypeError, ValueError, NotImplementedError):
        return None
    return found if isinstance(found, str) else None
