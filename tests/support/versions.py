"""Other versions of anydevice, each an environment of its own: an interpreter that imports another copy of the code."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anydevice

from .daemons import PATIENCE, ROOT, Home

PARTS = ("core", "schemas", "backends", "plugins")


@dataclass(frozen=True)
class Version:
    """An installed version.

    Attributes:
        number: What it says it is.
        python: Its interpreter.
        code: Folder of its packages.
    """

    number: str
    python: str
    code: Path

    def spawn(self, home: Home, *argv: str, **options: Any) -> subprocess.Popen[bytes]:
        """Starts its command line; ended at the end of the test if it still runs."""
        pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        command = [self.python, "-m", "anydevice_cli.entry", *argv]
        process = subprocess.Popen(command, env=home.environ, cwd="/", **(pipes | options))
        home.started.append(process)
        return process

    def json(self, home: Home, *argv: str, code: int = 0, cwd: Path | None = None) -> dict[str, Any]:
        """Runs its command line with `--json` to its end."""
        done = subprocess.run(
            [self.python, "-m", "anydevice_cli.entry", "--json", *argv], env=home.environ, cwd=cwd or "/",
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=2 * PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def installed(folder: Path, number: str, *, edits: Mapping[str, tuple[str, str]] | None = None) -> Version:
    """An environment beside the one that runs the tests, with the same dependencies and a version of its own.

    Args:
        folder: Where it is made.
        number: The version its code says it is.
        edits: What else is different in it: text and its replacement, by file.
    """
    code, environment = folder / "code", folder / "env"
    for package in (found.parent for part in PARTS for found in (ROOT / part).glob("*/__init__.py")):
        shutil.copytree(package, code / package.name)
    edits = {"anydevice/__init__.py": (f'"{anydevice.__version__}"', f'"{number}"'), **(edits or {})}
    for file, (old, new) in edits.items():
        text = (code / file).read_text("utf-8")
        assert old in text, (file, old)
        (code / file).write_text(text.replace(old, new), "utf-8")

    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    python = environment / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(base)
    (environment / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n")
    packages = environment / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "other_version.pth").write_text(f"{code}\n{sysconfig.get_path('purelib')}\n")
    return Version(number, str(python), code)
