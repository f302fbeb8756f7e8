"""A distribution of a backend to start from, written into a folder of the author's.

It installs, is discovered, shows in `anydevice devices` and passes core on two set-top boxes that do not exist.
`files/` holds it as it is written, with the names to be filled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import anydevice

NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_PLACES = {"package": "{package}", "ci": ".github/workflows", "gitignore": ".gitignore"}
"""Where parts of `files/` go under other names."""


class BadName(ValueError):
    """No backend can be called that."""


class FolderNotEmpty(ValueError):
    """There is something in the folder already."""


@dataclass(frozen=True, slots=True)
class Made:
    """What was written, and what to do next."""

    folder: Path
    files: list[str]
    next: list[str]


def make(name: str, folder: Path | None = None) -> Made:
    """Writes the distribution of a backend.

    Args:
        name: Of the backend: lower case letters, digits and hyphens.
        folder: Where to; `./<name>-anydevice` unless given. Must be absent or empty.

    Raises:
        BadName: A backend cannot be called that.
        FolderNotEmpty: There is something in the folder.
    """
    if not NAME.fullmatch(name) or name.endswith("-"):
        raise BadName(f"{name[:80]!r} is no name for a backend: lower case letters, digits and hyphens, at most 32")
    folder = folder or Path(f"{name}-anydevice")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FolderNotEmpty(f"{folder} exists and is not empty")
    words = _words(name)
    written = []
    for path, source in _sources(files(__package__).joinpath("files")):
        place = path.format(**words)
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text("utf-8")
        for word, value in words.items():
            text = text.replace(f"__{word.upper()}__", value)
        target.write_text(text, "utf-8")
        written.append(place)
    steps = [f"pip install -e {folder}", "anydevice devices", f"anydevice conformance {name}"]
    return Made(folder, sorted(written), steps)


def _words(name: str) -> dict[str, str]:
    major, _, rest = anydevice.__version__.partition(".")
    return {
        "name": name,
        "package": name.replace("-", "_") + "_anydevice",
        "class": "".join(part.capitalize() for part in name.split("-")),
        "anydevice": f"anydevice>={major}.{rest.partition('.')[0]}",
    }


def _sources(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        word = entry.name.removesuffix(".tmpl")
        place = prefix + _PLACES.get(word, word)
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _sources(entry, place + "/")
        elif entry.name.endswith(".tmpl"):
            yield place, entry
