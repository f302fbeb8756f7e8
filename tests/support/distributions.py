"""Real distributions for tests: packages with entry points, written to a folder that is put on PYTHONPATH.

A daemon that a test starts finds them exactly as it finds what is installed.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def install(
    folder: Path,
    name: str,
    *,
    modules: Mapping[str, str],
    data: Mapping[str, str] | None = None,
    entry_points: Mapping[str, Mapping[str, str]] | None = None,
    version: str = "1.0",
) -> Path:
    """Writes a distribution into a folder, as an installer would.

    Args:
        folder: Goes on PYTHONPATH; may hold several distributions.
        name: The distribution's name.
        modules: Source text by path (`vendor/__init__.py`); indentation is taken off.
        data: Other files by path (`vendor/backend.toml`).
        entry_points: Group -> name -> value.
        version: The distribution's version.

    Returns:
        The folder.
    """
    files = {path: textwrap.dedent(text).lstrip("\n") for path, text in {**modules, **(data or {})}.items()}
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files[f"{info}/entry_points.txt"] = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in points.items()) + "\n"
        for group, points in (entry_points or {}).items()
    )
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return folder


def environ(*folders: Path, **more: str) -> dict[str, str]:
    """A small environment in which what is installed in these folders is found, and the house itself as it is here."""
    paths = [str(folder) for folder in folders] + list(filter(None, [os.environ.get("PYTHONPATH")]))
    return {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(paths)} | more


def toml(value: Any) -> str:
    """A JSON-like value as a TOML value; tables inline."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return "{" + ", ".join(f"{toml(key)} = {toml(item)}" for key, item in value.items() if item is not None) + "}"


def install_fake_backend(
    folder: Path, *, name: str = "fake", ids: tuple[str, ...] = ("fake-1", "fake-2"), setup: str = ""
) -> Path:
    """A distribution that brings a fake backend (`anydevice.testing`) with these devices.

    Args:
        setup: Source run at the end of the backend's constructor (`self` is the backend).
    """
    from anydevice.testing import fake_manifest

    manifest = fake_manifest(name).model_dump(mode="json", by_alias=False, exclude_none=True)
    manifest["operations"] = list(manifest["operations"])
    package = f"{name}_vendor"
    body = textwrap.indent(textwrap.dedent(setup), " " * 8)
    source = (
        "from anydevice.testing import FakeBackend\n\n\n"
        "class Backend(FakeBackend):\n"
        "    def __init__(self, host):\n"
        f"        super().__init__({list(ids)!r}, name={name!r})\n"
        "        self.host = host\n"
        f"{body}\n"
    )
    return install(
        folder,
        f"{name}-vendor",
        modules={f"{package}/__init__.py": source},
        data={f"{package}/backend.toml": "".join(f"{key} = {toml(value)}\n" for key, value in manifest.items())},
        entry_points={"anydevice.backends": {name: f"{package}:Backend"}},
    )


def install_backend(
    folder: Path, name: str, source: str, *, manifest: Mapping[str, Any], distribution: str = "", version: str = "1.0"
) -> Path:
    """A distribution that brings a backend written out as source; it holds a class `Backend`.

    Args:
        folder: As `install`.
        name: Of the backend.
        source: Of its package's `__init__`.
        manifest: Its `backend.toml`; None values are left out.
        distribution: Its name; `<name>-vendor` unless given.
        version: Its version.
    """
    distribution = distribution or f"{name}-vendor"
    package = distribution.replace("-", "_")
    text = "".join(f"{toml(key)} = {toml(value)}\n" for key, value in manifest.items() if value is not None)
    return install(
        folder,
        distribution,
        modules={f"{package}/__init__.py": source},
        data={f"{package}/backend.toml": text},
        entry_points={"anydevice.backends": {name: f"{package}:Backend"}},
        version=version,
    )


def install_reference_backend(folder: Path, *, name: str = "reference", classes: tuple[str, ...] = ()) -> Path:
    """A distribution that brings the reference backend of `anydevice.testing`, with these classes; all unless given."""
    from anydevice.testing import ReferenceBackend

    given = f", classes={classes!r}" if classes else ""
    backend = ReferenceBackend(name=name, **({"classes": classes} if classes else {}))
    manifest = backend.manifest.model_dump(mode="json", by_alias=False, exclude_defaults=True)
    if classes:
        manifest["device_classes"] = list(classes)
    source = f"""
    from anydevice.testing import ReferenceBackend


    class Backend(ReferenceBackend):
        def __init__(self, host):
            super().__init__(host, name={name!r}{given})
    """
    return install_backend(folder, name, source, manifest=manifest)


def install_made(folder: Path, made: Path) -> Path:
    """Installs a distribution whose sources lie in a folder (`pyproject.toml` and packages), as an installer would."""
    import tomllib

    project = tomllib.loads((made / "pyproject.toml").read_text("utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    files = {
        str(path.relative_to(made)): path.read_text("utf-8")
        for package in packages
        for path in sorted((made / package).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return install(
        folder,
        project["project"]["name"],
        modules={path: text for path, text in files.items() if path.endswith(".py")},
        data={path: text for path, text in files.items() if not path.endswith(".py")},
        entry_points=project["project"]["entry-points"],
        version=project["project"]["version"],
    )
