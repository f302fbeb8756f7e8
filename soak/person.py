"""The person of the storm: takes devices over at the times the schedule says, and gives them back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from anydevice.client import Client
from anydevice_schemas.errors import AnydeviceError

from .device import device_id
from .faults import Fault
from .journals import Journal, lines
from .judge import Taken

MOST = 30
"""Seconds a takeover lasts at most; it is given back long before."""

TRIES = 30.0
"""Seconds the person goes on asking while the daemon is away."""


def run(home: str, journals: Path, takeovers: Sequence[Fault], started: float) -> None:
    """Takes and gives back, one device after the other. `started` is CLOCK_MONOTONIC in seconds."""
    journal = Journal(journals / "person.jsonl")
    client: Client | None = None
    for fault in takeovers:
        time.sleep(max(0.0, started + fault.at - time.monotonic()))
        device = device_id(fault.target)
        for what in ("takeover", "give-back"):
            until = time.monotonic() + TRIES
            journal.note(f"asks {what}", device=device)
            while True:
                try:
                    client = client or Client(home=home, cwd="/", environ={}, transport="cli")
                    ask(client, what, device)
                    journal.note(what, device=device)
                    break
                except AnydeviceError as error:
                    journal.note("failed", device=device, code=error.code, asked=what, message=str(error)[:200])
                    if time.monotonic() > until or error.code != "connection_lost":
                        break
                    time.sleep(0.05)
            if what == "takeover":
                time.sleep(fault.seconds)


def ask(client: Client, what: str, device: str) -> None:
    """One operation of the daemon's.

    Raises:
        AnydeviceError: It was refused, or the daemon went away.
    """
    arguments = {"device": device, "reason": "the soak's person", "seconds": MOST} if what == "takeover" else {}
    client._request("host", what, arguments or {"device": device})


def windows(path: Path) -> list[Taken]:
    """When a person certainly had a device: from the answer to the takeover to the first word of giving back."""
    found: list[Taken] = []
    since: dict[str, int] = {}
    for line in lines(path):
        device = line.get("device", "")
        if line["what"] == "takeover":
            since[device] = line["t"]
        elif line["what"] == "asks give-back" and device in since:
            found.append(Taken(device, since.pop(device), line["t"]))
    return found
