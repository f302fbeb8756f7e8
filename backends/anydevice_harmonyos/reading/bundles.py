"""What `bm dump` says of apps: which there are, and which ability of one is the one to start."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

CLEANED: Final = "clean bundle data files successfully."
NAME: Final = re.compile(r"[A-Za-z]\w*(?:\.\w+)+", re.ASCII)
"""A bundle's name."""
_LISTED = re.compile(r"^\t([A-Za-z][\w.]*)\s*$", re.M | re.ASCII)


@dataclass(slots=True, frozen=True)
class Bundle:
    """An app: its name, the module and ability to start (empty: it has none), the system's own or not, its version."""

    name: str
    module: str = ""
    ability: str = ""
    system: bool = False
    version: str = ""
    label: str = ""


def listed(text: str) -> list[str]:
    """Names of all apps, of `bm dump -a`."""
    return sorted(set(_LISTED.findall(text.replace("\r", ""))))


def parse_bundle(text: str) -> Bundle | None:
    """Reads `bm dump -n NAME`; None where there is no such app."""
    start = text.find("{")
    if start < 0 or text.lstrip().startswith("error:"):
        return None
    try:
        data, _ = json.JSONDecoder().raw_decode(text[start:])
    except ValueError:
        return None
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        return None
    module, ability = _entry(data)
    info = data.get("applicationInfo")
    info = info if isinstance(info, dict) else {}
    return Bundle(
        data["name"], module, ability, info.get("isSystemApp") is True, _word(data, "versionName"), _word(info, "label")
    )


def _entry(data: dict[str, Any]) -> tuple[str, str]:
    """Module and ability to start; the entry module's before others'."""
    modules = [one for one in data.get("hapModuleInfos") or [] if isinstance(one, dict)]
    entry = _word(data, "mainEntry") or _word(data, "entryModuleName")
    modules.sort(key=lambda one: _word(one, "moduleName") != entry and _word(one, "name") != entry)
    for one in modules:
        names = [_word(info, "name") for info in one.get("abilityInfos") or [] if isinstance(info, dict)]
        ability = matching(_word(one, "mainAbility"), names)
        if ability:
            return _word(one, "moduleName") or _word(one, "name"), ability
    return "", ""


def cleaned(text: str) -> bool:
    """Judges `bm clean -d`: done is what says so on a line of its own (vendor's documents of the bm tool)."""
    return CLEANED in [line.strip() for line in text.splitlines()]


def matching(wanted: str, names: list[str]) -> str:
    """The ability that a module's main one is: they are spelled with or without the app's name before them.

    Empty where the module has none to start.
    """
    if not wanted:
        return ""
    for name in names:
        if name == wanted:
            return name
    for name in names:
        if name and (wanted.endswith(f".{name}") or name.endswith(f".{wanted}")):
            return name
    return ""


def _word(data: dict[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""
