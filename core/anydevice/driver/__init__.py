"""What a backend promises: the one folder a backend author reads.

A **backend** lists devices and connects to them. A **driver** is one live connection to one device. It offers
**capabilities**: small objects hung on it as attributes (`driver.touch`, `driver.screen`), each with a few
methods. One method of one capability is an **operation** and is named `capability.method` (`touch.swipe`); the
backend's manifest (`backend.toml`, package data) declares which operations exist.

    backend = Backend(host)  ->  await backend.devices(env)       rows for the inventory
                                 await backend.connect(device)    Driver
    driver.touch             ->  await driver.touch.tap(Point(10, 20))
    driver.identify()        ->  who this really is, read back from the device

Rules that hold for every method here:

* Coordinates and sizes are **points**, from the top left corner of the device's coordinate space; durations
  are **seconds**.
* Everything is async on anyio; nothing blocks the loop; a cancelled call stops its work on the device.
* What cannot be done raises an error of `anydevice_schemas.errors`. An operation the manifest does not declare
  raises `Unsupported` (the base classes below do it for you).
* An action says how it acted (`Acted.method`) and what it saw happen; it never claims an effect it did not see.
* Waiting, matching, refs, ambiguity, read-back, diffing: all of it is core's work, never a driver's.

Where to read on: `_data.py` requests and results; `_screen.py`, `_input.py`, `_apps.py`, `_desk.py`, `_evidence.py` and
`_upkeep.py` the capabilities; `_backend.py` drivers and backends. Import all of it from here.
"""

from __future__ import annotations

from ._apps import Apps, Links, Power
from ._backend import Backend, Check, Driver, Environment, HostServices
from ._base import Capability
from ._data import Acted, App, AppEvent, Dialog, Geometry, Happening, Image, OpenRequest, Probe, TreeScope
from ._desk import Clip, Clipboard, ClipKind, Window, Windows
from ._evidence import Audio, LogLine, LogPage, Logs, Network, Perf, Recorded, Recording, RecordRequest
from ._input import Button, Keys, Navigation, Pointer, Touch
from ._screen import Alerts, Elements, Screen
from ._table import CAPABILITIES, READ_ONLY
from ._upkeep import (
    FileInfo,
    FileList,
    Files,
    Forward,
    Forwards,
    Notifications,
    Remote,
    Setting,
    Settings,
    Shell,
    ShellResult,
)

__all__ = [
    "CAPABILITIES",
    "READ_ONLY",
    "Acted",
    "Alerts",
    "App",
    "AppEvent",
    "Apps",
    "Audio",
    "Backend",
    "Button",
    "Capability",
    "Check",
    "Clip",
    "ClipKind",
    "Clipboard",
    "Dialog",
    "Driver",
    "Elements",
    "Environment",
    "FileInfo",
    "FileList",
    "Files",
    "Forward",
    "Forwards",
    "Geometry",
    "Happening",
    "HostServices",
    "Image",
    "Keys",
    "Links",
    "LogLine",
    "LogPage",
    "Logs",
    "Navigation",
    "Network",
    "Notifications",
    "OpenRequest",
    "Perf",
    "Pointer",
    "Power",
    "Probe",
    "RecordRequest",
    "Recorded",
    "Recording",
    "Remote",
    "Screen",
    "Setting",
    "Settings",
    "Shell",
    "ShellResult",
    "Touch",
    "TreeScope",
    "Window",
    "Windows",
]
