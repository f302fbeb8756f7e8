"""What the hdc server's words mean: refusals by type, and the lines without which nothing counts as done.

A refusal is the first line of an answer and begins at its first column. What an app or a program prints may hold the
same words anywhere else, and means nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from anydevice_schemas.errors import (
    AnydeviceError,
    DeviceNotReady,
    DeviceOffline,
    DeviceUnauthorized,
    PathNotFound,
    UpstreamUnavailable,
)

_FAIL = re.compile(r"\s*\[Fail\](?:\[(?P<code>E\d+)\]:? ?)?(?P<said>[^\r\n]*)", re.I)
_UNKNOWN = re.compile(r"\s*Unknown (?:operation )?command\b")
_FILE = re.compile(r"^(?:\[I\]\[[^\]]*\] ?)?(?:HdcFile::TransferSummary success.*|FileTransfer finish\b.*)$", re.M)
_SIZE = re.compile(r"\bSize:\s*(\d+)")
_COUNT = re.compile(r"\bFile count = (\d+)")
_APP = re.compile(r"^\[Info\]App (?:un)?install path:.*?,? ?(?:queuesize:\d+, ?)?msg:(?P<msg>.*)$", re.M)
_APP_DONE = re.compile(r"(?:un)?install bundle successfully\.", re.A)
_APP_CODE = re.compile(r"code:\s*(\d+)\s*error:\s*(.*)")
GONE: Final = ("Not match target founded", "need connect-key", "Device not found", "session is dead", "Connect failed",
               "Failed to communicate with daemon")  # fmt: skip
NOT_APPROVED: Final = ("nauthorized", "not authorized", "E000002", "E000003")
STARTING: Final = ("channel is being established", "E000004")


@dataclass(slots=True, frozen=True)
class Refusal:
    """What the server refused with: its code, empty where it gave none, and its words (untrusted)."""

    code: str
    said: str


def refusal(text: str) -> Refusal | None:
    """The refusal an answer is; None where it is none."""
    found = _FAIL.match(text)
    if found is not None:
        return Refusal(found["code"] or "", found["said"].strip()[:1000])
    if _UNKNOWN.match(text):
        return Refusal("unknown_command", text.strip()[:1000])
    return None


def error_of(found: Refusal, *, path: str = "") -> AnydeviceError:
    """The typed error of a refusal. `path` is the file that was meant, where one was."""
    words = f"{found.code} {found.said}"
    if any(word in words for word in NOT_APPROVED):
        return DeviceUnauthorized(
            "The device has not approved this host.",
            state="unauthorized",
            fix="Unlock it and trust this host, then call devices.",
            said=found.said,
        )
    if any(word in words for word in STARTING):
        return DeviceNotReady(
            "The device is just being connected.",
            hint="Wait a few seconds, then repeat the call.",
            state="connecting",
            fix="Wait a few seconds.",
            said=found.said,
        )
    if any(word in words for word in GONE):
        return DeviceOffline(
            "The hdc server does not reach the device.",
            state="offline",
            fix="Attach it again, or connect it (hdc tconn ADDRESS), then call devices.",
            said=found.said,
        )
    if "Error opening file" in found.said:
        return PathNotFound("The file cannot be opened.", path=path, said=found.said)
    if found.code == "unknown_command":
        return UpstreamUnavailable(
            "The hdc server does not know this command.",
            upstream="hdc server",
            enable_hint="Install a newer hdc, end the old server (hdc kill), then repeat the call.",
            said=found.said,
        )
    return UpstreamUnavailable(
        "The hdc server refused.",
        upstream="hdc server",
        enable_hint="See details; run hdc list targets -v by hand.",
        code_said=found.code,
        said=found.said,
    )


@dataclass(slots=True, frozen=True)
class AppVerdict:
    """What became of an app's package: done or not, the device's code, and its words (untrusted)."""

    ok: bool
    code: str = ""
    said: str = ""


def app_verdict(text: str) -> AppVerdict:
    """Judges `install` and `uninstall`; `AppMod finish` comes after a failure as well and says nothing."""
    rows = list(_APP.finditer(text.replace("\r", "")))
    if not rows:
        return AppVerdict(False, "", text.strip()[:1000])
    for row in rows:
        if not _APP_DONE.match(row["msg"].strip()):
            found = _APP_CODE.search(row["msg"])
            return AppVerdict(False, found[1] if found else "", row["msg"].strip()[:1000])
    return AppVerdict(True, "", rows[-1]["msg"].strip()[:1000])


@dataclass(slots=True, frozen=True)
class FileVerdict:
    """What became of a copy: whole or not, bytes, files; None where they are not told."""

    ok: bool
    size: int | None = None
    count: int | None = None
    said: str = ""


def file_verdict(text: str) -> FileVerdict:
    """Judges `file send` and `file recv`."""
    found = _FILE.search(text.replace("\r", ""))
    if found is None:
        return FileVerdict(False, said=text.strip()[:1000])
    size, count = _SIZE.search(found[0]), _COUNT.search(found[0])
    return FileVerdict(True, int(size[1]) if size else None, int(count[1]) if count else None)
