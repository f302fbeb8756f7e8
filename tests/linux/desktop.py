"""A private desktop for tests: X server, sealed session bus, window manager, accessibility; plain processes, no loop.

    with running_desktop(folder) as seat:
        program = seat.launch(["mousepad"])

Every process is a child in a group of its own and is ended by its pid; what the bus started is ended by the pid the
bus names, as long as its kernel start time is the one that was noted.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

PROGRAMS = ("Xvfb", "dbus-daemon", "dbus-send", "openbox")
A11Y_SERVICE = Path("/usr/share/dbus-1/services/org.a11y.Bus.service")
SYSTEM_PYTHON = "/usr/bin/python3"
"""GTK programs run under it (gi); nothing of ours does."""
PATIENCE = 20.0
"""Seconds each part may take to get ready on a busy machine."""
GRACE = 2.0
"""Seconds between TERM and KILL."""
INHERITED = (
    "NO_AT_BRIDGE", "AT_SPI_BUS_ADDRESS", "AT_SPI_BUS", "GTK_MODULES", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
    "SESSION_MANAGER", "DBUS_SESSION_BUS_ADDRESS", "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE",
)  # fmt: skip
"""Variables that would lead a program to another desktop."""
BUS_CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <keep_umask/>
  <listen>unix:path={runtime}/bus</listen>
  <auth>EXTERNAL</auth>
  <servicedir>{services}</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


def missing() -> str | None:
    """Why no desktop can be started on this machine, or None."""
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    if absent:
        return f"not installed: {', '.join(absent)}"
    return None if A11Y_SERVICE.exists() else f"not installed: at-spi2-core ({A11Y_SERVICE})"


def started_at(pid: int) -> str | None:
    """Kernel start time of a process that lives (a zombie does not), to tell it from a later one with its pid."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def until(ready: Callable[[], object], what: str, patience: float = PATIENCE, pause: float = 0.01) -> None:
    """Waits until `ready()` is true; fails with `what` after `patience` seconds. Blocks."""
    end = time.monotonic() + patience
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} within {patience} s")
        time.sleep(pause)


def end(process: subprocess.Popen[bytes], grace: float = GRACE) -> None:
    """Ends a child of ours with its group, and reaps it. A child that was not reaped yet keeps its pid for itself."""
    if process.poll() is None:
        for sent in (signal.SIGCONT, signal.SIGTERM):  # one that a test stopped would never see the second
            _signal_group(process.pid, sent)
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            _signal_group(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)


def _signal_group(pid: int, sent: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, sent)


@dataclass
class Seat:
    """A running desktop.

    Attributes:
        display: Name of the X display, `:N`.
        bus: Address of the session bus.
        env: The whole environment of a program on this desktop.
        folder: Where logs and the programs' homes are.
        size: Width and height of the screen in pixels.
        xserver: The X server's process, for tests that stop or kill it.
    """

    display: str
    bus: str
    env: dict[str, str]
    folder: Path
    size: tuple[int, int]
    xserver: subprocess.Popen[bytes]
    programs: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def launch(
        self,
        argv: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        stdout: int | None = None,
        stdin: int = subprocess.DEVNULL,
    ) -> subprocess.Popen[bytes]:
        """Starts a program on this desktop, in a group of its own. Its output goes to a log, or to `stdout`."""
        words = [os.fspath(word) for word in argv]
        with (self.folder / "programs.log").open("ab") as log:
            process = subprocess.Popen(
                words,
                env={**self.env, **(env or {})},
                cwd=self.folder,
                stdin=stdin,
                stdout=log if stdout is None else stdout,
                stderr=log,
                start_new_session=True,
            )
        self.programs.append(process)
        return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Ends a program that `launch` started, with its group."""
        end(process)
        if process in self.programs:
            self.programs.remove(process)


@contextlib.contextmanager
def bare_server(*options: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """An X server with nothing on it, of 320x200 pixels: the name of its display, and its process."""
    reader, writer = os.pipe()
    argv = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "320x200x24", "-nolisten", "tcp", *options]
    server = subprocess.Popen(
        argv, pass_fds=(writer,), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        os.close(writer)
        with open(reader, "rb") as pipe:
            yield ":" + pipe.readline().decode().strip(), server
    finally:
        end(server)


class running_desktop:
    """A desktop for as long as the block runs. `folder` is made if need be; `size` is the screen in pixels."""

    def __init__(self, folder: Path, size: tuple[int, int] = (1280, 800)) -> None:
        self._folder, self._size = folder, size
        self._children: list[subprocess.Popen[bytes]] = []
        self._others: list[tuple[int, str]] = []
        self._runtime: Path | None = None
        self._seat: Seat | None = None

    def __enter__(self) -> Seat:
        try:
            self._seat = self._start()
        except BaseException:
            self._stop()
            raise
        return self._seat

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self._stop()

    async def __aenter__(self) -> Seat:
        import anyio

        return await anyio.to_thread.run_sync(self.__enter__)

    async def __aexit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        import anyio

        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._stop)

    def _start(self) -> Seat:
        folder = self._folder
        for name in ("home", "config", "data", "cache", "services"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        # A socket's path holds 107 bytes, and pytest's folders are long.
        self._runtime = Path(tempfile.mkdtemp(prefix="desk."))
        env = {name: value for name, value in os.environ.items() if name not in INHERITED}
        env |= {
            "HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(self._runtime),
            "XDG_CONFIG_HOME": str(folder / "config"), "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CACHE_HOME": str(folder / "cache"), "XDG_SESSION_TYPE": "x11", "XDG_CURRENT_DESKTOP": "X-Generic",
            "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "GDK_BACKEND": "x11", "QT_QPA_PLATFORM": "xcb",
            "GSK_RENDERER": "cairo", "LIBGL_ALWAYS_SOFTWARE": "1", "GSETTINGS_BACKEND": "memory", "GTK_A11Y": "atspi",
            "ACCESSIBILITY_ENABLED": "1", "GNOME_ACCESSIBILITY": "1", "QT_ACCESSIBILITY": "1",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }  # fmt: skip
        width, height = self._size
        xserver, number = self._told(
            "Xvfb",
            lambda fd: [
                "Xvfb", "-displayfd", str(fd), "-screen", "0", f"{width}x{height}x24", "-dpi", "96", "-s", "0",
                "-noreset", "-nolisten", "tcp", "+extension", "XTEST", "+extension", "RANDR",
            ],
            env,
        )  # fmt: skip
        env["DISPLAY"] = f":{number}"
        shutil.copy(A11Y_SERVICE, folder / "services")
        configuration = folder / "bus.conf"
        configuration.write_text(BUS_CONFIGURATION.format(runtime=self._runtime, services=folder / "services"))
        _, address = self._told(
            "dbus-daemon",
            lambda fd: [
                "dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile", "--nosyslog",
                f"--print-address={fd}",
            ],
            env,
        )  # fmt: skip
        env["DBUS_SESSION_BUS_ADDRESS"] = address
        self.window_manager = self._child("openbox", ["openbox", "--sm-disable"], env)
        self._accessibility(env, address)
        until(lambda: _window_manager(env["DISPLAY"]), "no window manager")
        return Seat(env["DISPLAY"], address, env, folder, self._size, xserver)

    def _child(
        self, name: str, argv: list[str], env: dict[str, str], pass_fds: tuple[int, ...] = ()
    ) -> subprocess.Popen[bytes]:
        with (self._folder / f"{name}.log").open("ab") as log:
            child = subprocess.Popen(
                argv, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=pass_fds,
                start_new_session=True,
            )  # fmt: skip
        self._children.append(child)
        return child

    def _told(
        self, name: str, argv: Callable[[int], list[str]], env: dict[str, str]
    ) -> tuple[subprocess.Popen[bytes], str]:
        """Starts a part that says on a descriptor when it is ready, and under which name."""
        reader, writer = os.pipe()
        try:
            child = self._child(name, argv(writer), env, (writer,))
        finally:
            os.close(writer)
        said = b""
        with open(reader, "rb", buffering=0) as pipe:
            os.set_blocking(reader, False)

            def told() -> bool:
                nonlocal said
                said += pipe.read() or b""
                if child.poll() is not None:
                    raise RuntimeError(f"{name} ended with {child.returncode}; see {self._folder / name}.log")
                return b"\n" in said

            until(told, f"{name} not ready")
        return child, said.decode().strip()

    def _accessibility(self, env: dict[str, str], address: str) -> None:
        bus = [f"--bus={address}", "--dest=org.a11y.Bus"]
        answer = _ask(env, *bus, "/org/a11y/bus", "org.a11y.Bus.GetAddress")
        found = re.search(r'string "(.*)"', answer)
        if found is None:
            raise RuntimeError(f"no accessibility bus: {answer}")
        a11y = found[1]
        for flag in ("IsEnabled", "ScreenReaderEnabled"):
            _ask(
                env, *bus, "/org/a11y/bus", "org.freedesktop.DBus.Properties.Set", "string:org.a11y.Status",
                f"string:{flag}", "variant:boolean:true",
            )  # fmt: skip
        _ask(
            env, f"--bus={a11y}", "--dest=org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root",
            "org.a11y.atspi.Accessible.GetChildren",
        )  # fmt: skip
        owners = ((a11y, "org.a11y.atspi.Registry"), (address, "org.a11y.Bus"), (a11y, "org.freedesktop.DBus"))
        for where, name in owners:
            said = _ask(
                env, f"--bus={where}", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus.GetConnectionUnixProcessID", f"string:{name}",
            )  # fmt: skip
            pid = int(said.split()[-1])
            started = started_at(pid)
            if started is not None:
                self._others.append((pid, started))

    def _stop(self) -> None:
        if self._seat is not None:
            for program in reversed(self._seat.programs):
                end(program)
            self._seat = None
        for sent in (signal.SIGTERM, signal.SIGKILL):
            for pid, started in self._others:
                if started_at(pid) == started:
                    os.kill(pid, sent)
            try:
                until(lambda: all(started_at(pid) != at for pid, at in self._others), "still alive", GRACE)
                break
            except TimeoutError:
                continue
        for child in reversed(self._children):
            end(child)
        self._children.clear()
        self._others.clear()
        if self._runtime is not None:
            shutil.rmtree(self._runtime, ignore_errors=True)
            self._runtime = None


def _ask(env: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        ["dbus-send", "--print-reply", f"--reply-timeout={int(PATIENCE * 1000)}", *words],
        env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE + 5, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"dbus-send {' '.join(words)}: {done.stderr}")
    return done.stdout


def _window_manager(name: str) -> bool:
    from Xlib import X, display

    connection = display.Display(name)
    try:
        atom = connection.intern_atom("_NET_SUPPORTING_WM_CHECK")
        return connection.screen().root.get_full_property(atom, X.AnyPropertyType) is not None
    finally:
        connection.close()
