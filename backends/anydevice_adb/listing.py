"""What an adb server lists: one row a device, in the words of `host:devices-l`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_ROW = re.compile(
    r"(?P<serial>\S.*?)[ \t]+"
    r"(?P<state>no permissions(?: \([^)]*\))?(?:; see \[[^\]]*\])?[^:]*?|[a-z]+)"
    r"(?P<rest>(?:[ \t]+[a-z_]+:\S*)*)[ \t]*"
)
GHOSTS = re.compile(r"\?+")
"""Serial of a device that did not say who it is."""
MDNS = re.compile(r"adb-(?P<serial>.+)-[A-Za-z0-9]{6}(?: \(\d+\))?\._adb-tls-connect\._tcp\.?")
"""Name of a device that was found by mDNS; the same device may be listed by address or USB as well."""


@dataclass(slots=True, frozen=True)
class Row:
    """A row of the listing.

    Attributes:
        serial: What the server calls it.
        state: `device`, `offline`, `unauthorized`, `authorizing`, `connecting`, `recovery`, `sideload`, `bootloader`,
            `rescue`, `no permissions`, or a word newer than this.
        why: The rest of a state of several words, e.g. which group is missing. Untrusted.
        facts: `product`, `model`, `device`, `usb`, `transport_id`, as far as they are told. Untrusted.
    """

    serial: str
    state: str
    why: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def ghost(self) -> bool:
        """Whether it has no name of its own (`????????????`), so that nothing could be addressed to it."""
        return GHOSTS.fullmatch(self.serial) is not None

    @property
    def hardware_serial(self) -> str:
        """The serial in an mDNS name; else the serial itself."""
        found = MDNS.fullmatch(self.serial)
        return found["serial"] if found else self.serial


def parse_rows(text: str) -> list[Row]:
    """The rows of a listing. What is no row (a banner, an empty line) is passed over."""
    rows = []
    for part in text.splitlines():
        found = _ROW.fullmatch(part.rstrip())
        if found is None or part.startswith(("List of devices", "*")):
            continue
        state, why = found["state"].strip(), ""
        if state.startswith("no permissions"):
            state, why = "no permissions", state[len("no permissions") :].strip()
        facts = dict(word.split(":", 1) for word in found["rest"].split())
        rows.append(Row(found["serial"], state, why, facts))
    return rows
