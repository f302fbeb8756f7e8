"""The Wayland session a caller sits at: which one it is, how it is reached, and what its compositor offers."""

from __future__ import annotations

import os
import re
import socket
import stat
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import anyio.to_thread

from anydevice_schemas.errors import AnydeviceError

from ..a11y.apps import process_name
from ..a11y.bus import Link, Lost
from ..seats import LOOK_DEADLINE, SHOWN, Seat, Sight, base_environment, session_bus
from .compositor import Compositor
from .ipc import SwayIpc
from .protocol import (
    DATA_CONTROL_MANAGER,
    SCREENCOPY_MANAGER,
    VIRTUAL_KEYBOARD_MANAGER,
    VIRTUAL_POINTER_MANAGER,
    Interface,
)

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
NEEDS: Final[tuple[tuple[Interface, tuple[str, ...]], ...]] = (
    (SCREENCOPY_MANAGER, ("screen.image", "recording")),
    (VIRTUAL_POINTER_MANAGER, ("pointer",)),
    (VIRTUAL_KEYBOARD_MANAGER, ("keys.press", "keys.type_text")),
    (DATA_CONTROL_MANAGER, ("clipboard",)),
)
"""What is done through which protocol."""
PLACED: Final = (
    "windows", "elements.at", "elements.activate", "elements.set_text", "elements.focus", "elements.reveal",
    "apps.open", "apps.close", "links",
)  # fmt: skip
"""What needs to know where windows are."""
NOT_UNDER_SWAY: Final = {
    "windows.minimize": "sway has no minimized windows: use close, or another workspace",
    "windows.unminimize": "sway has no minimized windows",
    "windows.maximize": "sway has no maximized windows: use resize",
    "windows.unmaximize": "sway has no maximized windows",
}
_CREDENTIALS: Final = struct.Struct("3i")
"""Process, user and group of who listens on a socket."""


async def look(variables: Mapping[str, str]) -> Sight | None:
    """The Wayland session a caller's environment names, looked at; None where it names none.

    Args:
        variables: Of the caller (`CALL_VARIABLES`).
    """
    told = variables.get("WAYLAND_DISPLAY", "")
    if not told:
        return None
    runtime = variables.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    path = Path(runtime) / told  # an absolute name stays as it is
    if NAME.fullmatch(path.name) is None:
        return None
    id = path.name if path.name.startswith("wayland-") else f"wayland-{path.name}"
    name = f"Wayland session {path.name}"
    try:
        opened = await Compositor.open(str(path), LOOK_DEADLINE)
    except AnydeviceError as error:
        reason = str(error.details.get("reason") or "it does not answer")
        fix = "Log in to the session, or call with WAYLAND_DISPLAY and XDG_RUNTIME_DIR as it has them."
        return Sight(id, name, None, f"The Wayland session cannot be reached: {reason}", fix)
    try:
        lacks = {
            operation: f"the compositor does not offer programs {interface.name}; sway and others built on wlroots do"
            for interface, operations in NEEDS
            if not opened.offers(interface)
            for operation in operations
        }
    finally:
        await opened.aclose()
    ipc = await _sway(variables.get("SWAYSOCK", ""), path)
    if ipc:
        lacks |= NOT_UNDER_SWAY
    else:
        why = "where windows are is known under sway only: call with SWAYSOCK of the session"
        lacks |= dict.fromkeys(PLACED, why)
    bus = await anyio.to_thread.run_sync(session_bus, variables)
    if bus is None:
        fix = "Call with DBUS_SESSION_BUS_ADDRESS of that session, or start it under dbus-run-session."
        return Sight(id, name, None, "No session bus is known for this session.", fix)
    try:
        link = await Link.open(bus, LOOK_DEADLINE)
    except Lost:
        fix = "Call with DBUS_SESSION_BUS_ADDRESS of the session as it runs now."
        return Sight(id, name, None, "The session bus of this session does not answer.", fix)
    await link.aclose()
    home = str(Path.home())
    env = base_environment() | {
        "HOME": home, "WAYLAND_DISPLAY": told, "XDG_RUNTIME_DIR": runtime, "XDG_SESSION_TYPE": "wayland",
        "DBUS_SESSION_BUS_ADDRESS": bus, "GTK_A11Y": "atspi", "QT_ACCESSIBILITY": "1",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
    }  # fmt: skip
    env |= {name: variables[name] for name in ("DISPLAY", "XAUTHORITY") if variables.get(name)}
    if ipc:
        env["SWAYSOCK"] = ipc
    mark = f"{path}|{ipc}|{bus}"
    return Sight(id, name, Seat(id, "", None, bus, env, home, mark, socket=str(path), ipc=ipc, lacks=lacks))


async def has_display(seat: Seat, variables: Mapping[str, str]) -> bool:
    """Whether the X display a caller's environment names is that of a Wayland session: who listens on it tells."""
    match = SHOWN.fullmatch(variables.get("DISPLAY", ""))
    if match is None:
        return False
    display = await anyio.to_thread.run_sync(_listener, Path(f"/tmp/.X11-unix/X{match[1]}"))
    if display is None:
        return False
    compositor = await anyio.to_thread.run_sync(_listener, Path(seat.socket))
    return display == compositor or process_name(display) == "Xwayland"


async def _sway(told: str, path: Path) -> str:
    """Path of the socket of the sway behind a Wayland socket; empty where it is no sway, or its socket is not found."""
    pid = await anyio.to_thread.run_sync(_listener, path)
    candidates = [Path(told)] if told else []
    if pid is not None:
        candidates += sorted(path.parent.glob(f"sway-ipc.*.{pid}.sock"))
    for candidate in candidates:
        if pid is not None and await anyio.to_thread.run_sync(_listener, candidate) != pid:
            continue  # of another session
        ipc = SwayIpc(str(candidate))
        try:
            await ipc.version()
        except AnydeviceError:
            continue
        finally:
            await ipc.aclose()
        return str(candidate)
    return ""


def _listener(path: Path) -> int | None:
    """Process id of who listens on a socket; None where nobody does. Blocks for a moment."""
    try:
        if not stat.S_ISSOCK(path.stat().st_mode):
            return None
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(LOOK_DEADLINE)
            peer.connect(str(path))
            pid: int = _CREDENTIALS.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))[0]
            return pid
    except OSError:
        return None
