"""A private Wayland session for tests: sway without a screen, sealed session bus, accessibility; plain processes.

    with running_session(folder) as seat:
        program = seat.launch(["mousepad"])

Sway refuses to run as root: it runs as an ordinary user then, and so the folder of its sockets belongs to that user.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .desktop import A11Y_SERVICE, BUS_CONFIGURATION, INHERITED, PATIENCE, Seat, running_desktop, until

PROGRAMS = ("sway", "swaymsg", "dbus-daemon", "dbus-send", "setpriv", "grim", "wl-copy", "wl-paste")
NOBODY = 65534
"""An ordinary user that every system has."""
CONFIGURATION = """
output * resolution {width}x{height} position 0 0
default_border normal 2
xwayland {xwayland}
for_window [app_id=".*"] {layout}
"""


def missing_session() -> str | None:
    """Why no session can be started on this machine, or None."""
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    if absent:
        return f"not installed: {', '.join(absent)} (tools/setup.sh dev - desktop)"
    return None if A11Y_SERVICE.exists() else f"not installed: at-spi2-core ({A11Y_SERVICE})"


class running_session(running_desktop):
    """A session for as long as the block runs; arguments as of `running_desktop`.

    Args:
        floating: Windows float, as on most desktops; else they are tiled, as sway does by itself.
        xwayland: X programs can be shown, too.
    """

    def __init__(
        self, folder: Path, size: tuple[int, int] = (1280, 800), *, floating: bool = True, xwayland: bool = False
    ) -> None:
        super().__init__(folder, size)
        self._floating, self._xwayland = floating, xwayland

    def _start(self) -> Seat:
        folder = self._folder
        for name in ("home", "config", "data", "cache", "services"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        # A socket's path holds 107 bytes, and pytest's folders are long; the user sway runs as has to get there, too.
        runtime = self._runtime = Path(tempfile.mkdtemp(prefix="desk.", dir="/tmp"))
        env = {name: value for name, value in os.environ.items() if name not in {*INHERITED, "SWAYSOCK"}}
        env |= {
            "HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(runtime),
            "XDG_CONFIG_HOME": str(folder / "config"), "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CACHE_HOME": str(folder / "cache"), "XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "sway",
            "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "GDK_BACKEND": "wayland", "QT_QPA_PLATFORM": "wayland",
            "GSK_RENDERER": "cairo", "LIBGL_ALWAYS_SOFTWARE": "1", "GSETTINGS_BACKEND": "memory", "GTK_A11Y": "atspi",
            "ACCESSIBILITY_ENABLED": "1", "GNOME_ACCESSIBILITY": "1", "QT_ACCESSIBILITY": "1",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }  # fmt: skip
        sway = self._sway(env, runtime)
        env["WAYLAND_DISPLAY"] = self._waits(sway, runtime, "wayland-*[0-9]").name
        env["SWAYSOCK"] = str(self._waits(sway, runtime, "sway-ipc.*.sock"))
        shutil.copy(A11Y_SERVICE, folder / "services")
        configuration = folder / "bus.conf"
        configuration.write_text(BUS_CONFIGURATION.format(runtime=runtime, services=folder / "services"))
        _, address = self._told(
            "dbus-daemon",
            lambda fd: [
                "dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile", "--nosyslog",
                f"--print-address={fd}",
            ],
            env,
        )  # fmt: skip
        env["DBUS_SESSION_BUS_ADDRESS"] = address
        self._accessibility(env, address)
        return Seat("", address, env, folder, self._size, sway)

    def _sway(self, env: dict[str, str], runtime: Path) -> subprocess.Popen[bytes]:
        width, height = self._size
        configuration = runtime / "sway.conf"
        layout = "floating enable" if self._floating else "floating disable"
        xwayland = "enable" if self._xwayland else "disable"
        configuration.write_text(CONFIGURATION.format(width=width, height=height, layout=layout, xwayland=xwayland))
        own = {
            "PATH": env["PATH"], "HOME": str(runtime), "XDG_RUNTIME_DIR": str(runtime), "LANG": "C.UTF-8",
            "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1",
            "LIBSEAT_BACKEND": "noop",
        }  # fmt: skip
        argv = ["sway", "-c", str(configuration)]
        if os.geteuid() == 0:
            for path in (runtime, configuration):
                os.chown(path, NOBODY, NOBODY)
            argv = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *argv]
        return self._child("sway", argv, own)

    def _waits(self, sway: subprocess.Popen[bytes], runtime: Path, pattern: str) -> Path:
        """A socket of sway's, once somebody listens on it."""
        found: list[Path] = []

        def there() -> bool:
            if sway.poll() is not None:
                raise RuntimeError(f"sway ended with {sway.returncode}; see {self._folder / 'sway.log'}")
            found[:] = [path for path in runtime.glob(pattern) if path.is_socket() and _listens(path)]
            return bool(found)

        until(there, f"no {pattern} of sway")
        return found[0]


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as peer:
        try:
            peer.connect(str(path))
        except OSError:
            return False
    return True


def ask(seat: Seat, *words: str) -> Any:
    """What sway says to a command of `swaymsg`, our independent witness."""
    done = subprocess.run(
        ["swaymsg", "-r", "-s", seat.env["SWAYSOCK"], *words],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    return json.loads(done.stdout)


def views(seat: Seat) -> list[dict[str, Any]]:
    """Every window as sway tells it."""

    def inside(container: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if container.get("pid"):
            yield container
        for one in (*container["nodes"], *container["floating_nodes"]):
            yield from inside(one)

    return list(inside(ask(seat, "-t", "get_tree")))


def output_of(seat: Seat, *argv: str, given: bytes | None = None) -> bytes:
    """What a program of the session writes to stdout."""
    done = subprocess.run(argv, env=seat.env, input=given, capture_output=True, timeout=PATIENCE, check=False)
    return done.stdout
