"""What really happened: verdicts on `am start`, installing and uninstalling, from text; a status is no witness."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_FAILURE = re.compile(r"Failure \[(?P<code>[A-Z][A-Z_0-9]*)(?:: ?(?P<detail>.*?))?\]\s*$", re.M)
_CODE = re.compile(r"\b(?P<code>(?:INSTALL|DELETE)_[A-Z_0-9]+)\b")
_ERROR = re.compile(r"^(?:Error|cmd|Exception|java\.[\w.]+|Security exception)\b.*$", re.M)
_ACTIVITY = re.compile(r"^Activity: (?P<app>[\w.]+)/(?P<activity>[\w.$]+)\s*$", re.M)
_TOTAL = re.compile(r"^TotalTime: (?P<ms>\d+)\s*$", re.M)
_ECHO = re.compile(r"^Starting: Intent \{.*$", re.M)
_INTENT = re.compile(r"\bIntent \{ .*? \}(?=$|[\s,.;)])", re.M)
_STATE = re.compile(r"^LaunchState: (?P<state>[A-Z]+)", re.M)


@dataclass(slots=True, frozen=True)
class Started:
    """What `am start -W` said.

    Attributes:
        outcome: `started`, `front` (it was there already, and is in front or was given the intent), or why not:
            `missing` (no such activity), `unresolved` (nobody takes the intent), `denied`, `timeout`, `failed`.
        app, activity: What came up, where it is told.
        ms: Milliseconds the start took, where they are told.
        said: Its words. Untrusted.
    """

    outcome: Literal["started", "front", "missing", "unresolved", "denied", "timeout", "failed"]
    app: str = ""
    activity: str = ""
    ms: int | None = None
    said: str = ""

    @property
    def ok(self) -> bool:
        """Whether it came to the front, as far as `am` knows."""
        return self.outcome in ("started", "front")


def started(text: str) -> Started:
    """The verdict on the output (both of them, together) of `am start -W`."""
    said = text.strip()[-2000:]
    # `am` repeats the intent, address and all: words of the caller, which are no verdict.
    begun = _ECHO.search(text) is not None
    text = _INTENT.sub("Intent", _ECHO.sub("", text))
    found, total = _ACTIVITY.search(text), _TOTAL.search(text)
    app, activity = (found["app"], found["activity"]) if found else ("", "")
    if activity.startswith("."):
        activity = app + activity
    ms = int(total["ms"]) if total else None
    if "does not exist" in text or "Error type 3" in text:
        return Started("missing", said=said)
    if "unable to resolve Intent" in text or "No activity found" in text:
        return Started("unresolved", said=said)
    if "Permission Denial" in text or "SecurityException" in text or "Security exception" in text:
        return Started("denied", said=said)
    if re.search(r"^Status: timeout", text, re.M):
        return Started("timeout", app, activity, ms, said)
    if "current task has been brought to the front" in text or "intent has been delivered to" in text:
        return Started("front", app, activity, ms, said)
    if _ERROR.search(text):
        return Started("failed", said=said)
    if re.search(r"^Status: ok", text, re.M) or (begun and "Error" not in text):
        return Started("started", app, activity, ms, said)
    return Started("failed", said=said)


@dataclass(slots=True, frozen=True)
class PackageVerdict:
    """What installing or uninstalling came to: `code` is empty on success; `said` is the device's words. Untrusted."""

    ok: bool
    code: str = ""
    detail: str = ""
    said: str = ""


def package_verdict(text: str) -> PackageVerdict:
    """The verdict on the output (both of them) of `cmd package install`, `uninstall` and their kin."""
    said = text.strip()[-2000:]
    failure = _FAILURE.search(text)
    if failure is not None:
        return PackageVerdict(False, failure["code"], (failure["detail"] or "").strip(), said)
    code = _CODE.search(text)
    if code is not None:
        return PackageVerdict(False, code["code"], said=said)
    if re.search(r"^Success\b", text, re.M):
        return PackageVerdict(True, said=said)
    return PackageVerdict(False, "UNKNOWN", said=said)


def resolved(text: str) -> str:
    """The component of `cmd package resolve-activity --brief` (its last line), or empty where there is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    return last if re.fullmatch(r"[\w.]+/[\w.$]+", last) else ""
