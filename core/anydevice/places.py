"""Where anydevice keeps its files, and what of a caller's environment travels with a call.

Standard library only and quick to import: the command line and the byte pump start with this module.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from os import PathLike

HOME_VARIABLE = "ANYDEVICE_HOME"
DESKTOP_ENVIRONMENT: tuple[str, ...] = (
    "DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "SWAYSOCK",
)  # fmt: skip
"""Which desktop somebody sits at. It travels with a call, and stays with the daemon as well: what it starts with a
window has to show somewhere."""
CALL_ENVIRONMENT: tuple[str, ...] = (
    "ANDROID_SERIAL", "ANDROID_ADB_SERVER_HOST", "ANDROID_ADB_SERVER_PORT", "ANDROID_HOME", "ANDROID_SDK_ROOT",
    "ANDROID_AVD_HOME", "VEGA_SERIAL", "VDA_SERIAL", "OHOS_HDC_SERVER_PORT",
    "HDC_SDK_PATH", "DEVECO_SDK_HOME", "HARMONYOS_COMMAND_LINE_TOOLS", "OHOS_SDK_NATIVE", "DEVELOPER_DIR",
    *DESKTOP_ENVIRONMENT,
)  # fmt: skip
CALL_ENVIRONMENT_PREFIXES: tuple[str, ...] = ("ANYDEVICE_", "AGENT_DEVICE_")
"""What of a caller's environment travels with a call; everything else stays where it is."""
CALLER_PATH = "ANYDEVICE_PATH"
PATH_LIMIT = 8192
"""Characters of a PATH that travels."""


def home_path(environ: Mapping[str, str] | None = None) -> str:
    """The folder all of anydevice's files live under, absolute: ``$ANYDEVICE_HOME``, else ``~/.anydevice``."""
    environ = os.environ if environ is None else environ
    return os.path.abspath(environ.get(HOME_VARIABLE) or os.path.expanduser("~/.anydevice"))


def travels(name: str) -> bool:
    """Whether an environment variable is one that a caller sends along."""
    return (name in CALL_ENVIRONMENT or name.startswith(CALL_ENVIRONMENT_PREFIXES)) and name != HOME_VARIABLE


def call_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The allow-listed part of an environment: what a caller sends along at connect.

    Its PATH goes along as `CALLER_PATH`: nothing is started by it; it tells which programs the daemon does not see.
    """
    sent = {name: value for name, value in environ.items() if travels(name)}
    path = environ.get("PATH", "")
    return sent | {CALLER_PATH: path} if path and len(path) <= PATH_LIMIT else sent


def make_private(path: str | PathLike[str]) -> None:
    """Creates a folder only its owner can enter (0700), parents included; closes one that others may enter.

    Raises:
        PermissionError: It exists and belongs to somebody else, or others may enter it and it cannot be closed.
    """
    os.makedirs(path, mode=0o700, exist_ok=True)
    status = os.stat(path)
    if status.st_uid != os.getuid():
        raise PermissionError(f"{os.fspath(path)} belongs to another user")
    if status.st_mode & 0o077:
        os.chmod(path, 0o700)
