"""Finding the daemon of a home folder, or starting one.

However many programs start at once, exactly one daemon comes of it: starters queue at `run/start.lock`, and the
daemon itself holds `run/daemon.lock` for its life. Standard library only; what only a cold start needs is
imported then.
"""

from __future__ import annotations

import json
import os
import sys
import time

from ..kit.waiting import readable
from ..places import DESKTOP_ENVIRONMENT, HOME_VARIABLE, home_path, make_private, travels
from . import protocol, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence
    from typing import Any

    from anydevice_schemas.errors import AnydeviceError

START_DEADLINE = 30.0
"""Seconds a client waits for a daemon it had to start."""


def greet(
    line: bytes, *, home: str | None = None, start: bool = True, deadline: float = START_DEADLINE
) -> tuple[socket.socket, dict[str, Any], bytes]:
    """A connection to the daemon on which the hello has been said and accepted. Blocks.

    Args:
        line: The hello (see `protocol.hello`).
        home: The home folder; this process's own when None.
        start: Start a daemon when none runs.
        deadline: Seconds all of it may take.

    Returns:
        The socket (blocking, without timeout), the daemon's reply, and bytes that came right after it.

    Raises:
        AnydeviceError: Whatever the daemon refuses the hello with (`refused`: an older version, or one that this
            one could not take over from).
        UpstreamUnavailable: No daemon runs and `start` is False, or it could not be started.
        CallTimeout: A daemon runs and does not answer.
    """
    home = home_path() if home is None else home
    until = time.monotonic() + deadline
    while True:
        found = record.read_record(home)
        connection = _try(found["socket"]) if found is not None else None
        if found is not None and connection is not None:
            # A daemon that is still starting answers when it is up; one that is up answers at once.
            patience = until if _on_its_way(found) else time.monotonic() + protocol.HELLO_DEADLINE
            reply = _ask(connection, line, min(until, patience), until, home)
            if reply is not None:
                return connection, *reply
            connection.close()  # it went away before it answered
        elif not start:
            raise _unavailable("No daemon runs.", "anydevice serve")
        elif time.monotonic() < until:
            start_daemon(home, until)
        if time.monotonic() >= until:
            raise _timeout(f"No daemon answered within {deadline:g} s.", deadline)
        time.sleep(0.01)


def start_daemon(home: str, until: float, *, idle: float | None = None, over: Sequence[str] = ()) -> bool:
    """Sees to it that a daemon runs; returns once it listens. Blocks until `until` (monotonic seconds).

    Args:
        idle: Seconds without use after which a daemon started here ends itself; its own setting when None.
        over: Settings of a daemon started here that count more than its file.

    Returns:
        Whether it had to be started.

    Raises:
        UpstreamUnavailable: It could not be started; says why.
        CallTimeout: It did not come up in time.
    """
    import fcntl

    folder = record.run_path(home)
    try:
        make_private(folder)
        lock = os.open(os.path.join(folder, "start.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _unavailable(
            f"The folder for the daemon cannot be used: {error}.", f"export {HOME_VARIABLE}=/a/folder/of/yours"
        ) from error
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise _timeout("Another program is still starting the daemon.", 0) from None
                time.sleep(0.01)
        found = record.read_record(home)
        connection = _try(found["socket"]) if found is not None else None
        if connection is not None:
            connection.close()  # somebody else started it while we waited
            return False
        _spawn(home, until, idle, over)
        return True
    finally:
        os.close(lock)


def _spawn(home: str, until: float, idle: float | None, over: Sequence[str]) -> None:
    """Starts a detached daemon and waits for its one line that says whether it is up."""
    import subprocess

    read, write = os.pipe()
    try:
        log = os.open(os.path.join(record.run_path(home), record.LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        # What belongs to the calls of whoever starts it first must not become the daemon's own.
        environ = {
            name: value for name, value in os.environ.items() if not travels(name) or name in DESKTOP_ENVIRONMENT
        }
        environ[HOME_VARIABLE] = home
        command = [sys.executable, "-P", "-m", "anydevice.host", "--detach", "--ready-fd", str(write)]
        if idle is not None:
            command += ["--idle", str(idle)]
        command += [f"--set={line}" for line in over]
        try:
            launcher = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", env=environ,
                pass_fds=(write,), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise _unavailable(f"The daemon cannot be started: {error}.", _SHOW) from error
        finally:
            os.close(log)
            os.close(write)
            write = -1
        line = _read_ready(read, until)
        try:
            # The process we started forks the daemon and ends at once.
            launcher.wait(timeout=max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            launcher.kill()
            launcher.wait()
    finally:
        os.close(read)
        if write >= 0:
            os.close(write)
    if line is None:
        raise _timeout("The daemon did not come up in time.", 0)
    try:
        said = json.loads(line)
    except ValueError:
        raise _unavailable("The daemon ended while it started.", _SHOW) from None
    if not said.get("ok"):
        raise _from_wire(said["error"])


_SHOW = "anydevice serve --foreground"


def _read_ready(fd: int, until: float) -> bytes | None:
    """What the daemon wrote until it closed the pipe; None when the time is up."""
    said = b""
    while True:
        if not readable(fd, max(0.0, until - time.monotonic())):
            return None
        data = os.read(fd, 65536)
        if not data:
            return said
        said += data
        if said.endswith(b"\n"):
            return said


def _try(path: str) -> socket.socket | None:
    try:
        return record.connect(path)
    except PermissionError as error:
        from anydevice_schemas.errors import Refused

        raise Refused(
            f"The daemon's socket cannot be used: {error}.",
            reason="the socket is not this user's",
            alternative="Set ANYDEVICE_HOME to a folder of your own.",
        ) from error
    except OSError:
        return None


def _on_its_way(found: dict[str, Any] | None) -> bool:
    """Whether a daemon says of itself that it cannot answer yet: it starts, or a newer version takes over."""
    return found is not None and found.get("state") in ("starting", "handing over")


def _ask(
    connection: socket.socket, line: bytes, until: float, longest: float, home: str
) -> tuple[dict[str, Any], bytes] | None:
    """Says hello; None when the other side went away without an answer.

    Args:
        connection: To the daemon.
        line: The hello.
        until: When the answer has to be there (monotonic seconds).
        longest: When it has to be there from a daemon that says that it takes longer.
        home: The home folder.
    """
    said = b""
    try:
        connection.settimeout(max(0.05, until - time.monotonic()))
        connection.sendall(line)
        while True:
            head, end, rest = said.partition(b"\n")
            if end:
                reply = protocol.decode(head)
                if "handing_over" not in reply:
                    break
                # A newer version takes over: it answers on a new connection, or this one does after all.
                until, said = longest, rest
                continue
            connection.settimeout(max(0.05, until - time.monotonic()))
            try:
                data = connection.recv(65536)
            except TimeoutError:
                if until >= longest or not _on_its_way(record.read_record(home)):
                    raise
                until = longest
                continue
            if not data:
                connection.close()
                return None
            said += data
    except TimeoutError:
        connection.close()
        pid = (record.read_record(home) or {}).get("pid", 0)
        raise _timeout(
            f"The daemon (process {pid}) does not answer.",
            protocol.HELLO_DEADLINE,
            hint="Run: anydevice stop --force ; then repeat the call.",
        ) from None
    except (ConnectionError, BrokenPipeError):
        return None
    if not reply.get("ok"):
        connection.close()
        raise _from_wire(reply.get("error") or {})
    connection.settimeout(None)
    return reply, rest


def _from_wire(wire: dict[str, Any]) -> AnydeviceError:
    from anydevice_schemas.errors import AnydeviceError

    return AnydeviceError.from_wire(wire)


def _unavailable(message: str, enable_hint: str) -> AnydeviceError:
    from anydevice_schemas.errors import UpstreamUnavailable

    return UpstreamUnavailable(message, upstream="daemon", enable_hint=enable_hint, hint=f"Run: {enable_hint}")


def _timeout(message: str, after: float, hint: str | None = None) -> AnydeviceError:
    from anydevice_schemas.errors import CallTimeout

    if hint is None:
        hint = "Run anydevice daemon-log to see what it is doing, then repeat the call."
    return CallTimeout(message, after=after, waiting_for="daemon", hint=hint)
