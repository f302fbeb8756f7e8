"""What a daemon says of itself on disk, where its socket is, and who is at the other end of one.

`run/daemon.json` holds pid, process start stamp, version and socket of the daemon that was started last. It is a
hint, not a lock: whether a daemon runs is settled by `run/daemon.lock` (held with flock for the daemon's life),
and whether it answers by its socket. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import struct

from ..places import make_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECORD = "daemon.json"
LOCK = "daemon.lock"
LOG = "daemon.log"
SOCKET = "daemon.sock"
PATH_LIMIT = 103
"""Bytes a socket's path may have everywhere (Linux allows 107, macOS 103)."""


def run_path(home: str) -> str:
    """The folder of what does not survive a restart."""
    return os.path.join(home, "run")


def read_record(home: str) -> dict[str, Any] | None:
    """What the daemon that was started last says of itself; None when there is nothing usable."""
    try:
        with open(os.path.join(run_path(home), RECORD), encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError):
        return None
    fields = {"pid": int, "socket": str, "version": str}
    if not isinstance(record, dict):
        return None
    return record if all(isinstance(record.get(name), kind) for name, kind in fields.items()) else None


def write_record(home: str, record: dict[str, Any]) -> None:
    """Replaces the record in one step, so that nobody ever reads half of it."""
    folder = run_path(home)
    temporary = os.path.join(folder, f"{RECORD}.{os.getpid()}")
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(record, file)
    os.replace(temporary, os.path.join(folder, RECORD))


def remove_record(home: str, pid: int) -> None:
    """Takes the record away, if it is still the one of this process."""
    record = read_record(home)
    if record is not None and record["pid"] == pid:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(run_path(home), RECORD))


def process_start(pid: int) -> str | None:
    """When a process started, as an opaque stamp that tells it from a later one of the same id; None = gone."""
    if os.path.exists("/proc/self/stat"):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            return None
        return None if fields[0] in "ZX" else fields[19]
    import subprocess

    command = ["/bin/ps", "-o", "lstart=", "-p", str(pid)]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=False).stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None


def lives(record: dict[str, Any]) -> bool:
    """Whether the process a record names still runs, and is not a later one with the same id."""
    started = process_start(record["pid"])
    return started is not None and started == record.get("started")


def socket_path(home: str) -> str:
    """Where the daemon of a home folder listens; its folder exists afterwards and is private.

    A home folder too deep for a socket address gets a short folder under the system's temporary one, named by
    user and home.

    Raises:
        PermissionError: The folder belongs to somebody else.
        OSError: It cannot be made.
    """
    folder = run_path(home)
    make_private(folder)
    path = os.path.join(folder, SOCKET)
    if len(os.fsencode(path)) <= PATH_LIMIT:
        return path
    import hashlib
    import tempfile

    tag = hashlib.blake2b(os.fsencode(home), digest_size=6).hexdigest()
    for base in (tempfile.gettempdir(), "/tmp"):
        short = os.path.join(base, f"anydevice-{os.getuid()}-{tag}")
        path = os.path.join(short, SOCKET)
        if len(os.fsencode(path)) <= PATH_LIMIT:
            _make_ours(short)
            return path
    raise OSError(f"no folder short enough for a socket under {tempfile.gettempdir()}")


def _make_ours(folder: str) -> None:
    """Makes a folder where others may write too, or checks that the one there is really ours."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise PermissionError(f"{folder} is not a folder of this user")
    if stat.S_IMODE(status.st_mode) != 0o700:
        os.chmod(folder, 0o700)


def connect(path: str, *, timeout: float = 5.0) -> socket.socket:
    """A connection to a socket whose other end is a process of this very user.

    Raises:
        PermissionError: It is somebody else's.
        OSError: Nobody listens there.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        connection.connect(path)
        if (uid := peer_uid(connection)) != os.getuid():
            raise PermissionError(f"the socket belongs to user {uid}")
    except BaseException:
        connection.close()
        raise
    return connection


def peer_uid(connection: socket.socket) -> int:
    """User id of the process at the other end, as the kernel says.

    Raises:
        OSError: The system cannot tell.
    """
    if hasattr(socket, "SO_PEERCRED"):
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", raw)[1])
    # macOS and the BSDs: getsockopt(SOL_LOCAL, LOCAL_PEERCRED) gives a struct xucred {version, uid, …}.
    raw = connection.getsockopt(0, 1, 76)
    return int(struct.unpack_from("=2I", raw)[1])
