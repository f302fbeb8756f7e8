"""The parts of a virtual desktop: X server, session bus, window manager, accessibility; each started and seen ready."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio
from dbus_fast import Variant
from Xlib import X
from Xlib import error as xerror

from anydevice.kit import processes
from anydevice_schemas.errors import AnydeviceError, CallTimeout, DeviceNotReady, ToolMissing

from .a11y.bus import PROPERTIES, Call, Link, Trouble
from .x11.connection import Connection
from .x11.display import XDisplay

PROGRAMS: Final = ("Xvfb", "dbus-daemon", "openbox")
INSTALL: Final = "Debian and Ubuntu: apt install xvfb openbox dbus at-spi2-core. Fedora: dnf install the same names."
A11Y_SERVICE: Final = "org.a11y.Bus.service"
SERVICE_FOLDERS: Final = ("/usr/local/share/dbus-1/services", "/usr/share/dbus-1/services")
STEP: Final = 0.01
COOKIE: Final = 16
"""Bytes of an X cookie."""
NAME_PROPERTY: Final = "_ANYDEVICE_DEVICE"
"""Property of the root window that says which device a display is."""
_WILD: Final = 65535
_BUS_CONFIGURATION: Final = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <keep_umask/>
  <listen>unix:path={runtime}/bus</listen>
  <auth>EXTERNAL</auth>
  <servicedir>{runtime}/services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


def missing() -> list[str]:
    """Programs and files without which no desktop can be started; empty when all is there."""
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    return absent if a11y_service() is not None else [*absent, "at-spi2-core"]


def a11y_service() -> Path | None:
    """The file that lets a session bus start accessibility."""
    return next((path for folder in SERVICE_FOLDERS if (path := Path(folder) / A11Y_SERVICE).exists()), None)


def guard() -> None:
    """Says so when something is not installed.

    Raises:
        ToolMissing: It is not.
    """
    absent = missing()
    if absent:
        raise ToolMissing("What a virtual desktop needs is not installed.", tools=absent, install=INSTALL)


def prepare(runtime: Path) -> Path:
    """Writes what the parts read into the runtime folder; returns the X authority file. Blocks for a moment."""
    services = runtime / "services"
    services.mkdir()
    service = a11y_service()
    if service is not None:
        shutil.copy(service, services)  # nothing else: no portal, keyring or settings daemon is dragged in
    (runtime / "bus.conf").write_text(_BUS_CONFIGURATION.format(runtime=runtime))
    scheme, cookie = b"MIT-MAGIC-COOKIE-1", secrets.token_bytes(COOKIE)
    fields = (b"", b"", scheme, cookie)  # address and number are left open: it is only given to one server
    entry = _WILD.to_bytes(2, "big") + b"".join(len(field).to_bytes(2, "big") + field for field in fields)
    authority = runtime / "xauthority"
    authority.touch(mode=0o600)
    authority.write_bytes(entry)
    return authority


async def start_xserver(
    env: Mapping[str, str], authority: Path, size: tuple[int, int], end: float
) -> tuple[processes.Child, str]:
    """Starts the X server; returns it and the name of its display, which it chose itself."""
    width, height = size
    child, said = await _told(
        lambda fd: [
            "Xvfb", "-displayfd", str(fd), "-screen", "0", f"{width}x{height}x24", "-dpi", "96", "-s", "0", "-noreset",
            "-nolisten", "tcp", "-auth", str(authority), "+extension", "XTEST", "+extension", "RANDR",
            "+extension", "Composite",
        ],
        env,
        end,
    )  # fmt: skip
    return child, f":{said}"


async def start_bus(env: Mapping[str, str], runtime: Path, end: float) -> tuple[processes.Child, str]:
    """Starts the session bus; returns it and its address."""
    return await _told(
        lambda fd: [
            "dbus-daemon", f"--config-file={runtime / 'bus.conf'}", "--nofork", "--nopidfile", "--nosyslog",
            f"--print-address={fd}",
        ],
        env,
        end,
    )  # fmt: skip


async def start_window_manager(env: Mapping[str, str]) -> processes.Child:
    """Starts the window manager; `managed` says when it is ready."""
    return await processes.start(["openbox", "--sm-disable"], env=env)


async def start_accessibility(bus: str, end: float) -> None:
    """Starts the accessibility bus of a session and tells programs to use it: before any of them starts."""
    try:
        link = await Link.open(bus, _left(end))
        try:
            where = ("org.a11y.Bus", "/org/a11y/bus")
            address = await link.value(Call(*where, "org.a11y.Bus", "GetAddress"), _left(end))
            for flag in ("IsEnabled", "ScreenReaderEnabled"):
                body = ("org.a11y.Status", flag, Variant("b", True))
                await link.ask(Call(*where, PROPERTIES, "Set", "ssv", body), _left(end))
        finally:
            await link.aclose()
        registry = await Link.open(address, _left(end))
        try:
            root = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root", "org.a11y.atspi.Accessible")
            await registry.ask(Call(*root, "GetChildren"), _left(end))
        finally:
            await registry.aclose()
    except Trouble as error:
        raise DeviceNotReady(
            "The accessibility bus of the desktop did not start.",
            state="shutdown",
            fix="Install at-spi2-core, then boot again.",
            reason=type(error).__name__,
        ) from error


async def managed(display: str, authority: str, name: str, end: float) -> None:
    """Names the display, and returns once a window manager has announced itself on it."""
    opened = await XDisplay.open(display, authority, _left(end))
    try:
        await opened.do(lambda connection: _christen(connection, name), sent="name")
        while not await opened.do(_announced):
            if anyio.current_time() > end:
                raise CallTimeout("The window manager did not get ready.", after=0.0, waiting_for="window manager")
            await anyio.sleep(STEP)
    finally:
        await opened.aclose()


def told_name(connection: Connection) -> str:
    """The name a display was given by `managed`; empty for one that is not ours."""
    root = connection.screen().root
    found = root.get_full_property(connection.intern_atom(NAME_PROPERTY), X.AnyPropertyType)
    return bytes(found.value).decode("utf-8", "replace") if found is not None and found.format == 8 else ""


def _christen(connection: Connection, name: str) -> None:
    root = connection.screen().root
    root.change_property(connection.intern_atom(NAME_PROPERTY), connection.intern_atom("UTF8_STRING"), 8, name.encode())
    connection.sync()


def _announced(connection: Connection) -> bool:
    root = connection.screen().root
    try:
        return root.get_full_property(connection.intern_atom("_NET_SUPPORTING_WM_CHECK"), X.AnyPropertyType) is not None
    except xerror.XError:
        return False


async def _told(
    argv: Callable[[int], Sequence[str]], env: Mapping[str, str], end: float
) -> tuple[processes.Child, str]:
    """Starts a part that says on a descriptor when it is ready, and under which name."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    try:
        try:
            child = await processes.start(argv(writer), env=env, pass_fds=(writer,))
        finally:
            os.close(writer)
        try:
            return child, await _line(reader, end)
        except BaseException as error:
            await processes.stop(child, grace=0.5)
            if isinstance(error, AnydeviceError):
                raise
            if isinstance(error, EOFError):
                raise DeviceNotReady(
                    f"The program {child.program} ended while the desktop was starting.",
                    state="shutdown",
                    fix="See stderr in details; doctor checks what is installed.",
                    exit=child.code,
                    stderr=child.tail[-2000:],
                ) from error
            raise
    finally:
        os.close(reader)


async def _line(reader: int, end: float) -> str:
    said = b""
    with anyio.move_on_after(_left(end)):
        while b"\n" not in said:
            await anyio.wait_readable(reader)
            chunk = os.read(reader, 4096)
            if not chunk:
                raise EOFError
            said += chunk
    if b"\n" not in said:
        raise CallTimeout("A part of the desktop did not get ready in time.", after=0.0, waiting_for="desktop")
    return said.decode("utf-8", "replace").strip()


def _left(end: float) -> float:
    return max(0.05, end - anyio.current_time())
