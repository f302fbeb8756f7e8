"""What only devices have that are simulated on this host: they are erased, and their apps lie in folders of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio

from ..case import case
from ..trial import Trial
from .lifecycle import ready_again

ERASE: dict[str, Any] = {"command": "erase", "needs": ("power.shutdown", "power.boot"), "bundle": "erase"}
CONTAINER: dict[str, Any] = {
    "command": "app-container",
    "sample": {"app": "dev.anydevice.no-such-app"},
    "bundle": "container",
}


@case(
    "erase.what-runs-is-never-erased",
    "erase of a device that runs MUST be device_not_ready, MUST say to shut it down first, and MUST neither do that "
    "nor erase anything.",
    mutates=True,
    **ERASE,
)
async def what_runs(t: Trial) -> None:
    asked = await t.call("erase", expect="confirmation_required")
    token = t.detail(asked, "token")["token"]
    t.router.services.policy.approve(token)
    answer = await t.call("erase", confirmToken=token, expect="device_not_ready")
    details = t.detail(answer, "state", "fix")
    t.equal(details["state"], "ready", "the state that is told")
    t.require(answer.error is not None and "shutdown" in answer.error.hint, "the hint names no shutdown")
    await t.first_press()
    t.equal(len(t.reports("ready")), 1, "starts of the app")


@case(
    "erase.needs-a-persons-word",
    "erase MUST NOT delete anything before a person approved that very call; a token nobody approved MUST be refused.",
    mutates=True,
    **ERASE,
)
async def persons_word(t: Trial) -> None:
    try:
        await t.call("shutdown")
        asked = await t.call("erase", expect="confirmation_required")
        t.detail(asked, "token", "expires_in", "command")
        await t.call("erase", confirmToken="0" * 16, expect="confirmation_invalid")
        await t.call("boot")
        await t.open("home")  # it would not be there any more
        await t.first_press()
    finally:
        await ready_again(t)


@case(
    "container.is-a-folder-of-this-host",
    "app-container MUST tell a folder that is there, another one for what the app is than for what it keeps; without "
    "app it MUST be the session's.",
    mutates=True,
    **CONTAINER,
)
async def is_a_folder(t: Trial) -> None:
    found: dict[str, str] = {}
    for kind in ("data", "app"):
        answer = await t.call("app-container", kind=kind)
        found[kind] = str(answer.data["path"])
        t.equal((answer.data["app"], answer.data["kind"]), (t.manifest.practice.app, kind), "app and kind")
        there = Path(found[kind]).is_absolute() and await anyio.Path(found[kind]).is_dir()
        t.require(there, f"{kind} is told to be in {found[kind][:100]}, which is no folder")
    t.require(found["data"] != found["app"], "program and data are told to be in one folder")
    named = await t.call("app-container", app=t.manifest.practice.app)
    t.equal(named.data["path"], found["data"], "the folder, with the app named")
    await t.first_press()


@case(
    "container.of-nothing-is-refused",
    "app-container of an app that is not installed MUST be app_not_found, and MUST NOT tell a folder.",
    **CONTAINER,
)
async def of_nothing(t: Trial) -> None:
    answer = await t.call("app-container", app="dev.anydevice.no-such-app", expect="app_not_found")
    t.detail(answer, "nearest_matches")
