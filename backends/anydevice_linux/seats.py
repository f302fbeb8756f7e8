"""Seats: what is needed to reach one desktop, and which desktops of this host a caller may use."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from anydevice_schemas import Device
from anydevice_schemas.errors import AnydeviceError

from .a11y.bus import Link, Lost, Trouble, get
from .x11.display import XDisplay

BACKEND = PLATFORM = "linux"
CALL_VARIABLES = (
    "DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "SWAYSOCK",
)  # fmt: skip
"""What a caller's environment says of its desktop."""
INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR")
"""What programs on a desktop get of the environment this process runs in."""
SHOWN = re.compile(r":(\d{1,5})(?:\.\d{1,3})?")
"""A display of this host."""
LOOK_DEADLINE = 1.5
"""Seconds a display, and its session bus, may take to answer while devices are listed."""


@dataclass(slots=True, frozen=True)
class Seat:
    """What is needed to reach one desktop.

    Attributes:
        id: The device's.
        display: Name of the X display.
        xauthority: Path of its authority file; None for the user's own.
        bus: Address of the session bus.
        env: The whole environment of programs on it.
        cwd: Working directory of programs on it.
        mark: Changes whenever the desktop was started anew.
        socket: Path of the compositor's socket, for a Wayland session; it has no X display then.
        ipc: Path of sway's own socket; empty under other compositors.
        lacks: Operations the session does not offer, with the reason.
    """

    id: str
    display: str
    xauthority: str | None
    bus: str
    env: Mapping[str, str] = field(repr=False)
    cwd: str
    mark: str = ""
    socket: str = ""
    ipc: str = ""
    lacks: Mapping[str, str] = field(default_factory=dict)


async def spoken_to(bus: str) -> bool | None:
    """Whether the programs of a session are told that accessibility is used; None where nobody can be asked."""
    try:
        link = await Link.open(bus, LOOK_DEADLINE)
        try:
            flag = get("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Status", "IsEnabled")
            return bool(await link.value(flag, LOOK_DEADLINE))
        finally:
            await link.aclose()
    except Trouble:
        return None


@dataclass(slots=True, frozen=True)
class Sight:
    """A display of this host as a caller's environment names it.

    Attributes:
        id, name: Of the device.
        seat: How to reach it; None when it cannot be.
        reason, fix: Why it cannot be reached, and what to do.
    """

    id: str
    name: str
    seat: Seat | None
    reason: str = ""
    fix: str = ""

    def device(self) -> Device:
        """The row of the inventory."""
        return Device(
            id=self.id,
            name=self.name,
            platform=PLATFORM,
            backend=BACKEND,
            device_target="desktop",
            device_class="desktop",
            kind="host",
            state="ready" if self.seat is not None else "offline",
            reason=self.reason,
            fix=self.fix,
        )


def base_environment() -> dict[str, str]:
    """What programs get of the environment of this process: where programs are, who the user is."""
    return {name: os.environ[name] for name in INHERITED if name in os.environ}


async def look(variables: Mapping[str, str]) -> Sight | None:
    """The display a caller's environment names, looked at; None where it names none of this host.

    Args:
        variables: Of the caller (`CALL_VARIABLES`).
    """
    display = variables.get("DISPLAY", "")
    match = SHOWN.fullmatch(display)
    if match is None:
        return None
    id, name = f"display-{match[1]}", f"Desktop :{match[1]}"
    xauthority = variables.get("XAUTHORITY") or None
    try:
        opened = await XDisplay.open(f":{match[1]}", xauthority, LOOK_DEADLINE)
    except AnydeviceError as error:
        reason = str(error.details.get("reason") or "it does not answer")
        fix = "Start the display, or call with XAUTHORITY of the user it belongs to."
        return Sight(id, name, None, f"The X display cannot be reached: {reason}", fix)
    await opened.aclose()
    bus = await anyio.to_thread.run_sync(session_bus, variables)
    if bus is None:
        fix = "Call with DBUS_SESSION_BUS_ADDRESS of that desktop, or start it under dbus-run-session."
        return Sight(id, name, None, "No session bus is known for this display.", fix)
    try:
        link = await Link.open(bus, LOOK_DEADLINE)
    except Lost:
        fix = "Call with DBUS_SESSION_BUS_ADDRESS of the desktop as it runs now."
        return Sight(id, name, None, "The session bus of this display does not answer.", fix)
    await link.aclose()
    home = str(Path.home())
    env = base_environment() | {"HOME": home, "DISPLAY": display, "DBUS_SESSION_BUS_ADDRESS": bus}
    env |= {"GTK_A11Y": "atspi", "QT_ACCESSIBILITY": "1", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
    if xauthority is not None:
        env["XAUTHORITY"] = xauthority
    runtime = Path(f"/run/user/{os.getuid()}")
    if _mine(runtime):
        env["XDG_RUNTIME_DIR"] = str(runtime)
    return Sight(id, name, Seat(id, f":{match[1]}", xauthority, bus, env, home, mark=bus))


def session_bus(variables: Mapping[str, str]) -> str | None:
    """Address of the session bus a caller's environment names, or of the user's own. Blocks for a moment."""
    told = variables.get("DBUS_SESSION_BUS_ADDRESS")
    if told:
        return told
    usual = Path(f"/run/user/{os.getuid()}/bus")
    return f"unix:path={usual}" if _mine(usual) else None


def _mine(path: Path) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    return status.st_uid == os.getuid() and (stat.S_ISSOCK(status.st_mode) or stat.S_ISDIR(status.st_mode))
