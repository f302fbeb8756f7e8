"""What the `vega` program prints: noise around a line of JSON, and devices."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_ROW = re.compile(r"^(?P<id>\S+) : (?P<rest>.+)$", re.M)
_HOST = re.compile(r"\bamazon-[0-9a-f]+\b")
OFFLINE = re.compile(r"device offline|transport offline|device .*not found", re.I)


@dataclass(slots=True, frozen=True)
class ListedRow:
    """A row of `vega device list`: the id that `-d` takes, and the host name it is told with, which `-d` does not."""

    id: str
    hostname: str = ""


def last_json(text: str) -> dict[str, Any] | None:
    """The object in the last line that begins one; the program prints remarks before it."""
    for row in reversed(text.splitlines()):
        if row.lstrip().startswith("{"):
            try:
                found = json.loads(row)
            except ValueError:
                continue
            if isinstance(found, dict):
                return found
    return None


def device_info(text: str) -> dict[str, Any]:
    """What `vega device info` tells; empty where its target was not one device (it answers with empty words then)."""
    found = last_json(text) or last_json(text.replace("\n", " ")) or {}
    return found if found.get("hostname") or found.get("idme") else {}


def qemu_of(text: str) -> int | None:
    """The process that `vega virtual-device status` tells; None where none runs."""
    found = last_json(text) or {}
    pid = (found.get("process_ids") or {}).get("qemu")
    return pid if found.get("running") is True and isinstance(pid, int) and pid > 0 else None


def listed(text: str) -> list[ListedRow]:
    """The rows of `vega device list`, each device once: two rows of one host name are one device, and an address of
    this host is the virtual device with the console port below it."""
    found: list[ListedRow] = []
    names: set[str] = set()
    emulators = {row["id"] for row in _ROW.finditer(text)}
    for row in _ROW.finditer(text):
        id = row["id"]
        host, _, port = id.rpartition(":")
        if host in ("127.0.0.1", "localhost") and port.isdigit() and f"emulator-{int(port) - 1}" in emulators:
            continue
        named = _HOST.search(row["rest"])
        name = named[0] if named else ""
        if name and name in names:
            continue
        names.add(name)
        found.append(ListedRow(id, name))
    return found


def without_noise(text: str) -> str:
    """Output without what the adb server's start says on the way."""
    return "\n".join(row for row in text.splitlines() if not row.startswith("* daemon "))
