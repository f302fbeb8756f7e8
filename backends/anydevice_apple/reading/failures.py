"""What a failing `simctl` says, by its sentences: exit statuses differ between Xcodes, and one stands for opposites."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal[
    "wrong_state",  # the device is in a state in which this cannot be done (`state`)
    "no_device",  # no such device
    "no_tool",  # Xcode's part is not there
    "launch_failed",  # the system did not start the app; it does not say whether it is installed
    "denied",  # the system refused to start it
    "no_handle",  # started or not: nobody knows
    "not_running",  # there was nothing to end
    "absent",  # no such app, file or container
    "no_bundle",  # what was to be installed is no app
    "no_service",  # the system has no such permission
    "incompatible",  # device type and runtime do not go together
    "other",
]
_STATE: Final = re.compile(r"Unable to (?P<what>.+?) in current state: (?P<state>[A-Za-z ]+)")
_DOMAIN: Final = re.compile(r"\(domain=(?P<domain>[\w.]+), code=(?P<code>-?\d+)\)")
_SENTENCES: Final[tuple[tuple[str, Kind], ...]] = (
    ("unable to find utility", "no_tool"),
    ("Invalid device", "no_device"),
    ("found nothing to terminate", "not_running"),
    ("did not return a process handle", "no_handle"),
    ("was denied by service delegate", "denied"),
    ("An application bundle was not found", "no_bundle"),
    ("Failed to set access", "no_service"),
    ("Incompatible device", "incompatible"),
)


@dataclass(slots=True, frozen=True)
class Failure:
    """Why a call failed.

    Attributes:
        state: Of `wrong_state`: the state it is in, in Apple's word.
        what: Of `wrong_state`: what could not be done (`boot device`, `lookup`).
        domain, code: Apple's own, where it prints them.
    """

    kind: Kind
    state: str = ""
    what: str = ""
    domain: str = ""
    code: int | None = None


def failure(text: str) -> Failure:
    """What a failing call's stderr means."""
    found = _DOMAIN.search(text)
    domain, code = (found["domain"], int(found["code"])) if found else ("", None)
    wrong = _STATE.search(text)
    if wrong is not None:
        return Failure("wrong_state", wrong["state"].strip(), wrong["what"].strip(), domain, code)
    if "because device is not booted" in text:
        return Failure("wrong_state", "Shutdown", "spawn", domain, code)
    for sentence, kind in _SENTENCES:
        if sentence in text:
            return Failure(kind, domain=domain, code=code)
    if domain == "FBSOpenApplicationServiceErrorDomain" and code == 4:
        return Failure("launch_failed", domain=domain, code=code)
    if domain == "NSPOSIXErrorDomain" and code == 2:
        return Failure("absent", domain=domain, code=code)
    return Failure("other", domain=domain, code=code)
