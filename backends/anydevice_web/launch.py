"""Starting a browser of our own: its command line, its debugging pipe, its process group."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from anydevice.kit import processes
from anydevice_schemas.errors import AnydeviceError, CallTimeout, DeviceNotReady

from .browser import Browser
from .cdp import Connection
from .transport import PipeTransport

ID_SWITCH = "--anydevice-id="
"""A switch of ours the browser ignores and tells back, so that it can say which device it is."""
SHM_LEAST = 256 << 20
"""Bytes of shared memory below which a browser is told to do without (containers)."""
VIEW = (1280, 720)
"""Size of a page in points."""
_HIGH_FD = 20


@dataclass(slots=True, frozen=True)
class Launch:
    """How to start a browser.

    Attributes:
        executable: Full path.
        profile: Folder of its profile.
        downloads: Folder for downloads.
        device: Id of the device it is to be.
        headless: Without a window.
        extra: More arguments, from the configuration.
    """

    executable: str
    profile: Path
    downloads: Path
    device: str
    headless: bool
    extra: Sequence[str] = ()


def command_line(launch: Launch) -> list[str]:
    """The arguments a browser is started with."""
    flags = [
        "--remote-debugging-pipe",
        # It then tells its command line (Browser.getBrowserCommandLine) and shows that it is automated.
        "--enable-automation",
        f"{ID_SWITCH}{launch.device}",
        f"--user-data-dir={launch.profile}",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--password-store=basic",
        "--use-mock-keychain",
        "--mute-audio",
        # With pages kept for going back, a page opened after one that two fingers moved on answers its first touch
        # only after five seconds (seen with Chromium 156).
        "--disable-back-forward-cache",
        f"--window-size={VIEW[0]},{VIEW[1]}",
    ]
    if launch.headless:
        flags += ["--headless", "--disable-gpu", "--hide-scrollbars"]
    if sys.platform.startswith("linux"):
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # the browser refuses to start as root otherwise
        if _shared_memory() < SHM_LEAST:
            flags.append("--disable-dev-shm-usage")
    return [launch.executable, *flags, *launch.extra, "about:blank"]


async def start_browser(launch: Launch, *, deadline: float) -> tuple[Browser, processes.Child]:
    """Starts a browser and returns it once it answers and shows its first page.

    Raises:
        ToolMissing: The executable cannot be run.
        DeviceNotReady: It ended while starting (details say what it wrote).
        CallTimeout: It did not answer in time; it was ended.
    """
    end = anyio.current_time() + deadline
    child, transport = await _spawn(command_line(launch))
    connection = Connection(transport)
    try:
        # The first answer comes after the browser's own start; a browser that dies closes the pipe.
        browser = await Browser.start(connection, downloads=str(launch.downloads), deadline=deadline)
        await _first_page(browser, end)
        if launch.headless and browser.current is not None:
            browser.view = VIEW
            await browser.size_window(browser.current)
        return browser, child
    except BaseException as error:
        with anyio.CancelScope(shield=True):
            await connection.aclose()
            code = await processes.stop(child, grace=1.0)
        if isinstance(error, AnydeviceError) and not isinstance(error, CallTimeout):
            raise DeviceNotReady(
                "The browser ended while starting.",
                state="shutdown",
                fix="See stderr in details; doctor checks the browser.",
                exit=code,
                stderr=child.tail[-2000:],
            ) from error
        raise


async def _spawn(argv: list[str]) -> tuple[processes.Child, PipeTransport]:
    commands_out, commands_in = os.pipe()
    answers_out, answers_in = os.pipe()
    # The shell below names descriptors 3 and 4 in turn; ours must be neither.
    theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD) for fd in (commands_out, answers_in)]
    for fd in (commands_out, answers_in):
        os.close(fd)
    try:
        child = await processes.start(
            ["/bin/sh", "-c", f'exec "$@" 3</dev/fd/{theirs[0]} 4>/dev/fd/{theirs[1]}', "sh", *argv],
            pass_fds=theirs,
        )
    except BaseException:
        for fd in (commands_in, answers_out):
            os.close(fd)
        raise
    finally:
        for fd in theirs:
            os.close(fd)
    return child, PipeTransport(commands_in, answers_out)


async def _first_page(browser: Browser, end: float) -> None:
    while browser.current is None:
        browser.guard()
        browser.current = next(iter(browser.tabs.values()), None)
        if browser.current is None:
            if anyio.current_time() > end:
                raise CallTimeout("The browser opened no page.", after=0.0, waiting_for="first page")
            await anyio.sleep(0.005)


def _shared_memory() -> int:
    try:
        status = os.statvfs("/dev/shm")
    except OSError:
        return SHM_LEAST
    return status.f_bavail * status.f_frsize
