"""HAP files: as much of one as an installer reads. `write_hap` makes some for tests."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIGNATURE = "META-INF/LAB.SIG"
"""What stands for a signature in the lab's own files; a real one lies outside of the entries of the archive."""


class BadHap(ValueError):
    """A file is no HAP."""


@dataclass(frozen=True)
class Hap:
    """What a HAP says of itself."""

    bundle: str
    ability: str
    main: str
    module: str
    label: str
    code: int
    version: str
    signed: bool
    schemes: tuple[str, ...]


def read_hap(path: Path) -> Hap:
    """Reads a HAP: a zip archive with `module.json`.

    Raises:
        BadHap: It is none.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            told: dict[str, Any] = json.loads(archive.read("module.json"))
        app, module = told["app"], told["module"]
        abilities = module.get("abilities", [])
        name = str(abilities[0]["name"]) if abilities else ""
        schemes = [
            str(uri.get("scheme", "")) for skill in (abilities[0].get("skills", []) if abilities else [])
            for uri in skill.get("uris", [])
        ]  # fmt: skip
        return Hap(
            str(app["bundleName"]), name, str(module.get("mainElement", name)), str(module["name"]),
            str(app.get("label", app["bundleName"])), int(app.get("versionCode", 1_000_000)),
            str(app.get("versionName", "1.0.0")), SIGNATURE in names or not app.get("unsigned", False),
            tuple(filter(None, schemes)),
        )  # fmt: skip
    except (OSError, zipfile.BadZipFile, KeyError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise BadHap(str(error)) from None


def write_hap(
    path: Path, bundle: str, *, ability: str = "EntryAbility", label: str = "", code: int = 1_000_000,
    version: str = "1.0.0", signed: bool = True, schemes: tuple[str, ...] = (),
) -> Path:  # fmt: skip
    """Writes a HAP with one ability.

    Args:
        signed: False makes one that no installer takes.
    """
    skills = [{"uris": [{"scheme": scheme} for scheme in schemes]}]
    told = {
        "app": {
            "bundleName": bundle,
            "label": label or bundle.rpartition(".")[2].capitalize(),
            "versionCode": code,
            "versionName": version,
            "unsigned": not signed,
        },
        "module": {
            "name": "entry",
            "type": "entry",
            "mainElement": ability,
            "abilities": [{"name": ability, "skills": skills}],
        },
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("module.json", json.dumps(told))
        if signed:
            archive.writestr(SIGNATURE, "signed")
    return path
