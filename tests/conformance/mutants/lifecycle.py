"""Mutants of the cases about opening, closing, starting and stopping."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from typing import Any

import pytest

from anydevice.commands import lifecycle
from anydevice.context import Context, Outcome
from anydevice.driver import Acted, Environment, OpenRequest
from anydevice.resolution import index
from anydevice.testing import ReferenceBackend, driver
from anydevice.testing.practice import PracticeApp
from anydevice_schemas import Device
from anydevice_schemas.errors import AppNotFound, DeviceOffline

from . import Mutant


def believes_what_it_sent(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """An app counts as opened once it was asked for."""
    sound = driver._Apps.open

    async def open_(self: driver._Apps, request: OpenRequest) -> Acted:
        try:
            return await sound(self, request)
        except AppNotFound:
            return Acted("open", verified=True, data={"location": str(request.app)})

    monkeypatch.setattr(driver._Apps, "open", open_)


def does_not_look_where_it_is(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read back after opening."""
    sound = driver._Apps.open

    async def open_(self: driver._Apps, request: OpenRequest) -> Acted:
        return Acted((await sound(self, request)).method)

    monkeypatch.setattr(driver._Apps, "open", open_)


def names_what_lies_below(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The home screen, which always runs, is told for the foreground."""

    def state(self: PracticeApp) -> Mapping[str, Any]:
        return {"app": "home", "title": self.title, "location": "home:"}

    monkeypatch.setattr(PracticeApp, "state", state)


def only_says_that_it_closes(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """close is accepted and does nothing."""
    backend.fault.swallow.add("apps.close")


def forgets_keep_session(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """`keepSession` is accepted and has no effect."""
    sound = lifecycle.close.load()

    async def close(ctx: Context, args: lifecycle.CloseInput) -> Outcome:
        return await sound(ctx, args.model_copy(update={"keep_session": False}))  # type: ignore[no-any-return]

    monkeypatch.setattr(lifecycle.close, "handler", close)


def resumes_the_run_before(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening an app that runs brings it back as it was."""
    sound = PracticeApp.open

    def open_(self: PracticeApp, request: OpenRequest) -> None:
        kept = dict(self.values) if self.running else {}
        sound(self, request)
        for name, value in kept.items():
            self.set_value(name, value)

    monkeypatch.setattr(PracticeApp, "open", open_)


def holds_on_when_closed(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed driver goes on holding its device, so that the next one is turned away."""
    holders: set[str] = set()
    sound = backend.connect

    async def connect(device: Device, env: Environment) -> driver.FakeDriver:
        if device.id in holders:
            raise DeviceOffline("Something else is connected to it.", state="offline", fix="end it")
        holders.add(device.id)
        return await sound(device, env)

    monkeypatch.setattr(backend, "connect", connect)


def only_says_that_it_stops(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """shutdown returns at once, and the device goes on."""
    backend.fault.swallow.add("power.shutdown")


def takes_down_for_usable(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that is shut down counts as ready."""
    monkeypatch.setattr(index, "USABLE_STATES", frozenset({"ready", "shutdown"}))


def forgets_boot(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """`boot` of open is accepted and has no effect."""
    sound = lifecycle.open_.load()

    async def open_(ctx: Context, args: lifecycle.OpenInput) -> Outcome:
        return await sound(ctx, args.model_copy(update={"boot": False}))  # type: ignore[no-any-return]

    monkeypatch.setattr(lifecycle.open_, "handler", open_)


def restarts_what_runs(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """boot stops a running device first."""

    async def boot(ctx: Context, args: lifecycle.BootInput) -> Outcome:
        assert ctx.device is not None
        backend.screens[ctx.device.id].power_off()
        return Outcome(data={"state": "ready", "alreadyRunning": True}, verified=True)

    monkeypatch.setattr(lifecycle.boot, "handler", boot)


def leaves_a_helper_running(backend: ReferenceBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device is started with a helper process that shutdown forgets. It ends by itself after some seconds."""
    sound = driver._Power.boot

    async def boot(self: driver._Power, *, headless: bool | None, deadline: float) -> Acted:
        subprocess.Popen(["sleep", "4"])
        return await sound(self, headless=headless, deadline=deadline)

    monkeypatch.setattr(driver._Power, "boot", boot)


MUTANTS: dict[str, Mutant] = {
    "lifecycle.open-of-what-is-not-there-fails": believes_what_it_sent,
    "lifecycle.open-tells-where-it-ended-up": does_not_look_where_it_is,
    "lifecycle.appstate-names-the-app": names_what_lies_below,
    "lifecycle.close-sees-it-gone": only_says_that_it_closes,
    "lifecycle.close-can-keep-the-session": forgets_keep_session,
    "lifecycle.reopening-is-a-fresh-run": resumes_the_run_before,
    "lifecycle.a-closed-driver-lets-go": holds_on_when_closed,
    "lifecycle.shutdown-and-boot-are-read-back": only_says_that_it_stops,
    "lifecycle.a-device-that-is-down-is-told": takes_down_for_usable,
    "lifecycle.open-starts-the-device-when-asked": forgets_boot,
    "lifecycle.boot-leaves-a-running-device-alone": restarts_what_runs,
    "lifecycle.shutdown-leaves-no-process": leaves_a_helper_running,
}
