"""Puts the practice app on a virtual desktop: its specification, and a `.desktop` file that says how it is started."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from anydevice_schemas.practice import APP_ID, as_data

SYSTEM_PYTHON = "/usr/bin/python3"
"""It has the GTK bindings, where they are installed; ours need not."""
SCHEME = "practice"
_ENTRY = """[Desktop Entry]
Type=Application
Name=Practice
Comment=The practice app of anydevice
Exec={python} {app} --spec {spec} %U
TryExec={python}
Terminal=false
StartupWMClass={id}
MimeType=x-scheme-handler/{scheme};
"""


def install(data_home: Path) -> None:
    """Writes the app's files below a desktop's `XDG_DATA_HOME`. Blocks for a moment."""
    folder = data_home / APP_ID
    folder.mkdir(parents=True, exist_ok=True)
    spec = folder / "specification.json"
    spec.write_text(json.dumps(as_data(), ensure_ascii=False), "utf-8")
    applications = data_home / "applications"
    applications.mkdir(exist_ok=True)
    app = Path(__file__).with_name("practice") / "practice_app.py"
    words = {"python": SYSTEM_PYTHON, "app": _quoted(app), "spec": _quoted(spec)}
    (applications / f"{APP_ID}.desktop").write_text(_ENTRY.format(**words, id=APP_ID, scheme=SCHEME), "utf-8")


@cache
def runs_here() -> bool:
    """Whether the system's Python has the GTK bindings. Looks for their files and starts nothing."""
    folders = ("/usr/lib/python3/dist-packages", *map(str, Path("/usr/lib").glob("python3*/site-packages")),
               *map(str, Path("/usr/lib64").glob("python3*/site-packages")))  # fmt: skip
    return Path(SYSTEM_PYTHON).exists() and any((Path(folder) / "gi").is_dir() for folder in folders)


def _quoted(path: Path) -> str:
    """A word of an Exec line (Desktop Entry Specification: quoting, and the escapes of strings on top of it)."""
    word = str(path)
    for character in '\\"`$':
        word = word.replace(character, f"\\{character}")
    return '"' + word.replace("\\", "\\\\").replace("%", "%%") + '"'
