"""Which app is in front, from `dumpsys window displays` and `dumpsys activity activities`.

There is one line of each kind per display, and `null` is normal. A focused window with a component is the best witness,
then the resumed activity, then the focused app. The system's own windows count only where nothing else is there, and of
two displays with a focus the later one has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

SYSTEM = frozenset({"com.android.systemui"})
_LINE = re.compile(
    r"^\s*(?P<key>mCurrentFocus|mFocusedApp|topResumedActivity|mResumedActivity|ResumedActivity)\s*[=:]\s*(?P<rest>.*)$",
    re.M,
)
_COMPONENT = re.compile(r"(?:^|[\s{])(?P<app>[A-Za-z][\w.]*)/(?P<activity>[\w.$]+)")
_BARE = re.compile(r"\bu\d+ (?P<app>[A-Za-z]\w*(?:\.\w+)+)(?=[\s}]|$)")
_LOCK = re.compile(r"mDreamingLockscreen=true|mShowingLockscreen=true|isKeyguardShowing=true|mKeyguardShowing=true")
_SLEEP = re.compile(r"mWakefulness=(?:Asleep|Dozing)|interactiveState=INTERACTIVE_STATE_SLEEP|\bmAwake=false")
_DISPLAY = re.compile(r"^\s*Display: mDisplayId=(\d+)\b.*$", re.M)
_RANK = {"mCurrentFocus": 3, "topResumedActivity": 2, "mResumedActivity": 2, "ResumedActivity": 2, "mFocusedApp": 1}


@dataclass(slots=True, frozen=True)
class Focus:
    """What is in front.

    Attributes:
        app: Package.
        activity: Full name of its activity's class; empty where a window without one has the focus.
        overlay: Package of a window without an activity that lies in front and has the input; else empty.
    """

    app: str
    activity: str
    overlay: str = ""


def focus(text: str) -> Focus | None:
    """What is in front, or None where nothing says so (an app that is just starting)."""
    best: tuple[tuple[int, int, int], Focus] | None = None
    overlay = ""
    for place, (key, app, activity) in enumerate(_told(text)):
        if not activity:
            if key == "mCurrentFocus" and app not in SYSTEM:
                overlay = app
            continue
        rank = (0 if app in SYSTEM else 1, _RANK[key], place)
        if best is None or rank > best[0]:
            best = rank, Focus(app, activity)
    if best is None:
        return Focus(overlay, "") if overlay else None
    found = best[1]
    return Focus(found.app, found.activity, overlay if overlay != found.app else "")


def displays(text: str) -> dict[int, Focus | None]:
    """What is in front on each display of `dumpsys window displays`, by the number of the display."""
    parts = _DISPLAY.split(text)[1:]  # number and text of each in turn
    return {int(number): focus(part) for number, part in zip(parts[::2], parts[1::2], strict=True)}


def locked(text: str) -> bool:
    """Whether the lock screen is shown."""
    return _LOCK.search(text) is not None


def answered(text: str) -> bool:
    """Whether a text is what the window manager prints, whatever it says of the focus."""
    return any(word in text for word in ("mCurrentFocus=", "mFocusedApp=", "mWakefulness=", "mDisplayId="))


def asleep(text: str) -> bool:
    """Whether the screen is off."""
    return _SLEEP.search(text) is not None


def in_input(text: str, app: str) -> bool:
    """Whether a window of the app has the input itself, and not only an activity that may lie behind another window."""
    return any(key == "mCurrentFocus" and told == app for key, told, _ in _told(text))


def _told(text: str) -> Iterator[tuple[str, str, str]]:
    for line in _LINE.finditer(text):
        found = _COMPONENT.search(line["rest"])
        if found is not None:
            activity = found["activity"]
            yield line["key"], found["app"], found["app"] + activity if activity.startswith(".") else activity
            continue
        bare = _BARE.search(line["rest"])
        if bare is not None:
            yield line["key"], bare["app"], ""
