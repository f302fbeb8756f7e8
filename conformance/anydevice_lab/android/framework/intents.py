"""Starting activities: which app an intent is for, and what starting it says."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from anydevice_schemas.practice import APP_ID

from ...handset.apps import HandsetPractice
from .apps import SETTINGS, App

if TYPE_CHECKING:
    from .machine import Machine

MAIN, VIEW = "android.intent.action.MAIN", "android.intent.action.VIEW"
LAUNCH = ("android.intent.category.LAUNCHER", "android.intent.category.LEANBACK_LAUNCHER")


@dataclass
class Intent:
    """What `am` was told.

    Attributes:
        component: `package/Class`, with the class as it was given.
        package: What `-p` or the last word said.
    """

    action: str = ""
    data: str = ""
    type: str = ""
    component: str = ""
    package: str = ""
    categories: list[str] = field(default_factory=list)
    extras: dict[str, Any] = field(default_factory=dict)
    flags: int = 0

    def __str__(self) -> str:
        parts = []
        if self.action:
            parts.append(f"act={self.action}")
        if self.categories:
            parts.append(f"cat=[{','.join(self.categories)}]")
        if self.data:
            parts.append(f"dat={redacted(self.data)}")
        if self.type:
            parts.append(f"typ={self.type}")
        if self.flags:
            parts.append(f"flg=0x{self.flags:x}")
        if self.package:
            parts.append(f"pkg={self.package}")
        if self.component:
            package, _, name = self.component.partition("/")
            parts.append(f"cmp={package}/{short(package, name)}")
        if self.extras:
            parts.append("(has extras)")
        return "Intent { " + " ".join(parts) + " }"


def redacted(url: str) -> str:
    """An address as newer builds print it: what follows the host is left out."""
    parts = urlsplit(url)
    tail = "/..." if parts.path or parts.query or parts.fragment else ""
    return f"{parts.scheme}://{parts.netloc}{tail}" if parts.netloc else f"{parts.scheme}:..."


def whole(package: str, name: str) -> str:
    """The whole name of a class that may begin with a dot."""
    return package + name if name.startswith(".") else name


def short(package: str, name: str) -> str:
    """The name of a class without its package, where it lies in it."""
    full = whole(package, name)
    return full.removeprefix(package) if full.startswith(package + ".") else full


def resolve(machine: Machine, intent: Intent) -> list[App]:
    """The apps an intent may be for."""
    apps = [app for app in machine.apps.values() if not app.disabled]
    if intent.component:
        package, _, name = intent.component.partition("/")
        return [app for app in apps if (app.package, app.activity) == (package, whole(package, name))]
    if intent.package:
        apps = [app for app in apps if app.package == intent.package]
    if intent.action.startswith("android.settings.") or intent.action == "android.settings.SETTINGS":
        return [app for app in apps if app.package == SETTINGS]
    if intent.action in (VIEW, "") and intent.data:
        scheme = urlsplit(intent.data).scheme
        return [app for app in apps if scheme == "practice" and app.package == APP_ID]
    if intent.action == MAIN and "android.intent.category.HOME" in intent.categories:
        return [app for app in apps if app.package == machine.launcher]
    if intent.action == MAIN:
        return [app for app in apps if app.launched]
    return []


def launch(machine: Machine, package: str, intent: Intent | None = None) -> str:
    """An app comes to the front as the launcher brings it.

    Returns:
        What starting it said: `started`, `delivered` (it was in front already), or `brought` (its task was).
    """
    app = machine.apps[package]
    was_front, was_running = machine.front is app, app.running
    slow = machine.device.faults.active("open_slow", package)
    url = intent.data if intent is not None and intent.data else None
    extras = dict(intent.extras) if intent is not None else {}
    if slow is not None:
        machine.focus_from = time.monotonic() + slow.seconds
    machine.bring(package)
    if isinstance(app.screen, HandsetPractice) and (url or extras or not app.screen.running):
        fresh = app.screen.deliver(url, extras)
        if fresh:
            machine.keyboard_shown, machine.popup = False, None
        machine.settle()
    machine.log.add("I", "ActivityTaskManager", f"Displayed {app.component}: +210ms", pid=1000, buffer="system")
    if not was_running:
        return "started"
    return "delivered" if was_front else "brought"
