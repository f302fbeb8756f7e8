"""Starting abilities: by name, by an address, or by a bundle alone, which nothing answers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...handset.apps import HandsetPractice

if TYPE_CHECKING:
    from .apps import App
    from .machine import Machine


def opener_of(machine: Machine, url: str) -> App | None:
    """The app that opens addresses of this kind."""
    scheme = urlsplit(url).scheme
    return next((app for app in machine.apps.values() if scheme and scheme in app.schemes), None)


def start(machine: Machine, app: App, url: str | None = None, params: dict[str, Any] | None = None) -> str:
    """An ability comes to the front; `Cold` where its app was not running, else `Hot`."""
    how = "Hot" if app.running else "Cold"
    slow = machine.device.faults.active("open_slow", app.id)
    machine.journal.add("start", app=app.id, url=url, params=dict(params or {}))
    screen = app.screen
    given = dict(params or {})
    if isinstance(given.get("arguments"), str):
        given["arguments"] = [word for word in str(given["arguments"]).split(",") if word]
    if isinstance(screen, HandsetPractice) and (url or given or not screen.running):
        if screen.deliver(url, given):  # a fresh run: the field that had the focus is gone, and the keyboard with it
            machine.keyboard_shown, machine.popup = False, None
    elif url is not None:
        screen.location = url
    machine.number(f"mission/{app.id}")
    machine.started_at[app.id] = int(time.monotonic() * 1000)

    def bring() -> None:
        machine.bring(app.id)
        if machine.device.faults.active("open_crashes", app.id):
            machine.crashed(app)

    if slow is not None:
        machine.device.after(slow.seconds, bring)
    else:
        bring()
    return how
