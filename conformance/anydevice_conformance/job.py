"""What the parent of a sealed run tells it to do, and how the run is started: environment, folders, command line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

LET_IN = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV", "SSL_CERT_FILE",
    "SSL_CERT_DIR", "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE",
    "DBUS_SESSION_BUS_ADDRESS", "DYLD_LIBRARY_PATH", "LD_LIBRARY_PATH",
)  # fmt: skip
"""Variables a sealed run gets besides `LC_*`: where programs are, who the user is, which display there is."""


@dataclass(frozen=True, slots=True)
class Job:
    """One sealed run.

    Attributes:
        kind: What is judged.
        name: Name of the backend; of a store, `module:factory`.
        home: Home folder of anydevice for this run alone.
        evidence: Folder for pictures.
        cases: Ids of the cases to run; None = the whole catalogue.
        device: Selector of the device under test; None = any.
        disabled: Names of plugins that are not loaded.
        prefer: Which distribution wins where two bring a backend of one name.
        settings: The backend's own table of the configuration file.
    """

    kind: Literal["backend", "store"]
    name: str
    home: str
    evidence: str
    cases: tuple[str, ...] | None = None
    device: str | None = None
    disabled: tuple[str, ...] = ()
    prefer: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def to_line(self) -> bytes:
        """The job as one line."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @staticmethod
    def from_line(line: bytes) -> Job:
        """Reads what `to_line` wrote."""
        fields = json.loads(line)
        for name in ("cases", "disabled"):
            if fields[name] is not None:
                fields[name] = tuple(fields[name])
        return Job(**fields)


def sealed_environment(home: str, outer: Mapping[str, str], passed: Iterable[str] = ()) -> dict[str, str]:
    """The whole environment of a sealed run.

    Args:
        home: Home folder of anydevice.
        outer: The environment of whoever asks for the run.
        passed: Names of further variables to let in.
    """
    names = {*LET_IN, *passed}
    kept = {name: value for name, value in outer.items() if name in names or name.startswith("LC_")}
    paths = [os.path.abspath(path) for path in outer.get("PYTHONPATH", "").split(os.pathsep) if path]
    if paths:
        kept["PYTHONPATH"] = os.pathsep.join(paths)  # how a distribution that is not installed is found
    return kept | {
        "ANYDEVICE_HOME": home,
        "PYTHONHASHSEED": "0",
        "PYTHONSAFEPATH": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
    }


def sealed_command(events: int) -> list[str]:
    """The command line of a sealed run that tells its events on this descriptor.

    The working directory is not on its module path (`-P`), so nothing that lies there can take part.
    """
    return [sys.executable, "-P", "-m", "anydevice_conformance.sealed", str(events)]
