"""Opening and closing apps, starting and stopping devices, and what must not stay behind."""

from __future__ import annotations

import socket
from typing import Any

from anydevice.plans import declared
from anydevice_schemas import Device

from ..case import case
from ..children import children, left_over
from ..trial import Trial
from .leases import in_order
from .selection import rows_of

PRESS: dict[str, Any] = {"command": "press", "sample": {"target": "Increment"}}
POWER: dict[str, Any] = {"command": "shutdown", "needs": ("power.boot",), "bundle": "power"}


def nowhere(t: Trial) -> dict[str, Any]:
    """Arguments of `open` for an app, or a page, that there is not."""
    if t.manifest.practice.opens == "app":
        return {"app": "dev.anydevice.no-such-app"}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return {"url": f"http://127.0.0.1:{port}/nobody-listens-here"}


def is_practice(t: Trial, state: dict[str, Any]) -> bool:
    """Whether what `appstate` tells is the practice app."""
    if t.manifest.practice.opens == "app":
        return str(state.get("app", "")).casefold() == t.manifest.practice.app.casefold()
    return str(state.get("location", "")).startswith(f"{t.witness.base}/practice")


async def row_now(t: Trial, device: Device) -> Device | None:
    """A device's row, asked anew of the backend."""
    return next((row for row in await rows_of(t) if row.id == device.id), None)


async def ready_again(t: Trial) -> None:
    """Starts the device under test if it is down, whatever came of the case."""
    row = await row_now(t, t.device)
    if row is None or row.state != "ready":
        await t.call("boot", expect=None)
    for session in t.router.services.sessions.of_device(t.device.key):
        t.router.services.sessions.end(session, "the case is over")


# --- apps ---


@case(
    "lifecycle.open-of-what-is-not-there-fails",
    "Opening an app that is not installed, or a page nobody serves, MUST fail as app_not_found and MUST NOT be "
    "answered as opened.",
    command="open",
    sample={"app": "dev.anydevice.no-such-app"},
    mutates=True,
)
async def open_of_nothing(t: Trial) -> None:
    answer = await t.call("open", expect="app_not_found", **nowhere(t))
    t.detail(answer, "nearest_matches", "family")
    t.equal(answer.error and answer.error.device, t.device.key, "the device the refusal names")
    await t.open("home")


@case(
    "lifecycle.open-tells-where-it-ended-up",
    "open MUST say where it really ended up, read back from the device, and of a page whether it was led elsewhere.",
    command="open",
    sample={"app": "dev.anydevice.practice"},
    mutates=True,
)
async def open_tells(t: Trial) -> None:
    answer = await t.open("form")
    t.require(answer.data.get("location"), "open does not say where it ended up")
    t.require(answer.verified, "open saw the app up and does not say so")
    if t.manifest.practice.opens == "url":
        token = t.tokens[t.device.key]
        t.equal(answer.data["location"], t.witness.page("form", token), "where it ended up")
        t.equal(answer.data.get("redirected"), False, "whether it was led elsewhere")
        led = await t.call("open", url=t.witness.detour("home", token))
        t.equal(led.data["location"], t.witness.page("home", token), "where the redirect led")
        t.equal(led.data.get("redirected"), True, "whether it was led elsewhere")


@case(
    "lifecycle.appstate-names-the-app",
    "appstate MUST name the app in the foreground of the device that was asked.",
    command="appstate",
)
async def appstate_names(t: Trial) -> None:
    answer = await t.call("appstate")
    t.require(is_practice(t, answer.data), f"the practice app is up, appstate says {str(answer.data)[:200]}")
    t.require(isinstance(answer.data.get("title"), str), "appstate tells no title")


@case(
    "lifecycle.close-sees-it-gone",
    "close MUST return once the app is gone, say so, end the session and give the device back.",
    command="close",
    optional=True,
    mutates=True,
)
async def close_sees_it_gone(t: Trial) -> None:
    answer = await t.call("close", named=False)
    t.equal(answer.device and answer.device.key, t.device.key, "the device that acted")
    t.equal((answer.data.get("closed"), answer.data.get("sessionEnded")), (True, True), "closed, sessionEnded")
    t.require(answer.verified, "it is not said to have been seen gone")
    second = t.new_caller("after-close")
    state = await t.call("appstate", by=second, expect=None)
    if state.error is not None:
        t.equal(state.error.code, "app_not_running", "what appstate says when nothing is open")
    else:
        t.require(not is_practice(t, state.data), "the app is still in the foreground")
    await t.call("close", named=False, session=answer.session, expect="session_not_found")
    await t.unheard()


@case(
    "lifecycle.close-can-keep-the-session",
    "close with keepSession MUST close the app and leave session and device with the caller.",
    command="close",
    sample={"keepSession": True},
    optional=True,
    mutates=True,
)
async def close_keeps(t: Trial) -> None:
    answer = await t.call("close", keepSession=True)
    t.equal(answer.data.get("sessionEnded"), False, "sessionEnded")
    await t.call("snapshot", by=t.new_caller("after-keep"), expect="lease_held")
    again = await t.open("home")
    t.equal(again.session, answer.session, "the session")


@case(
    "lifecycle.reopening-is-a-fresh-run",
    "Opening the app again MUST start it anew, without anything of the run before.",
    mutates=True,
    **PRESS,
)
async def reopening(t: Trial) -> None:
    await t.call("press", target="Increment")
    await t.call("press", target="Increment")
    await t.heard("count", value=2)
    await t.open("home")
    await t.call("press", target="Increment")
    await t.heard("count", value=1)


@case(
    "lifecycle.a-closed-driver-lets-go",
    "A driver that is closed MUST leave no process of its own behind and hold nothing: the next one connects and "
    "drives at once, and every input arrives once.",
    mutates=True,
    **PRESS,
)
async def lets_go(t: Trial) -> None:
    closes = declared(t.manifest, t.device, "apps.close")
    before: dict[int, str] | None = None
    for _ in range(2):
        await t.open("home")
        await t.call("press", target="Increment")
        await t.heard("count", value=1)
        t.equal(len(t.reports("press")), 1, "presses that reached the app")
        if closes:
            await t.call("close")
        await in_order(t)  # else a driver would be closed in the middle of its own clean-up
        await t.router.services.connections.drop(t.device.key)
        stayed = await left_over(before)
        t.require(not stayed, f"processes stayed behind: {', '.join(stayed.values())}")
        before = children() if closes else None  # an app that stays open may be a process of its own
    if before is None:
        t.note("which processes stay behind was not looked at: the host does not tell, or apps are never closed")


# --- the device itself ---


@case(
    "lifecycle.shutdown-and-boot-are-read-back",
    "shutdown MUST return once the device is listed as down and end its sessions, boot once it can be driven; both "
    "MUST say so, do nothing the second time, and leave other devices alone.",
    mutates=True,
    **POWER,
)
async def power_is_read_back(t: Trial) -> None:
    session = (await t.call("appstate")).session
    try:
        answer = await t.call("shutdown")
        t.require(answer.verified and answer.data.get("state") in ("shutdown", "gone"), "it is not said to be down")
        t.require(session in answer.data.get("sessionsEnded", ()), "the session that ended with it is not told")
        row = await row_now(t, t.device)
        t.require(row is not None and row.state == "shutdown", f"it is listed as {row.state if row else 'nothing'}")
        t.require((await t.call("shutdown")).data.get("alreadyDown"), "a second shutdown is not told from a first")
        beside = await row_now(t, t.other)
        t.equal(beside.state if beside else None, "ready", "state of the other device")
        answer = await t.call("boot")
        t.require(answer.verified and answer.data.get("state") == "ready", "it is not said to be ready")
        row = await row_now(t, t.device)
        t.require(row is not None and row.state == "ready", f"it is listed as {row.state if row else 'nothing'}")
        await t.open("home")
    finally:
        await ready_again(t)


@case(
    "lifecycle.a-device-that-is-down-is-told",
    "A device that is shut down MUST be listed with what to do, refused as device_not_ready with state and fix, and "
    "MUST NOT be started, or chosen, to satisfy a call.",
    mutates=True,
    **POWER,
)
async def down_is_told(t: Trial) -> None:
    try:
        await t.call("shutdown")
        listed = (await t.call("devices", named=False, device=t.device.key)).data["devices"]
        t.equal([row["state"] for row in listed], ["shutdown"], "state in the listing")
        t.require(listed[0].get("fix"), "the listing does not say what to do")
        for command, arguments in (("appstate", {}), ("open", t.opening("home", t.witness.new_token()))):
            answer = await t.call(command, expect="device_not_ready", **arguments)
            details = t.detail(answer, "state", "fix")
            t.require(details["state"] == "shutdown" and details["fix"], f"{command}: state and fix are {details}")
            t.require(answer.error is not None and "boot" in answer.error.hint, f"{command}: the hint names no boot")
        scope: dict[str, Any] = {"platform": t.device.platform, "deviceTarget": t.device.device_target}
        answer = await t.call("appstate", named=False, expect=None, **scope)
        t.require(answer.device is None or answer.device.key != t.device.key, "a device that is down was chosen")
        row = await row_now(t, t.device)
        t.equal(row.state if row else None, "shutdown", "state after the refusals")
    finally:
        await ready_again(t)


@case(
    "lifecycle.open-starts-the-device-when-asked",
    "open with boot MUST start the named device, open the app on it and say that it was started.",
    mutates=True,
    **POWER,
)
async def open_boots(t: Trial) -> None:
    try:
        await t.call("shutdown")
        answer = await t.open("home", boot=True)
        t.equal(answer.data.get("booted"), True, "booted")
        t.require((await row_now(t, t.device) or t.other).state == "ready", "it is not listed as ready")
    finally:
        await ready_again(t)


@case(
    "lifecycle.boot-leaves-a-running-device-alone",
    "boot of a device that runs MUST change nothing and say that it ran already.",
    command="boot",
    needs=("power.boot",),
    bundle="power",
    mutates=True,
)
async def boot_of_a_running_device(t: Trial) -> None:
    answer = await t.call("boot")
    t.equal((answer.data.get("state"), answer.data.get("alreadyRunning")), ("ready", True), "state, alreadyRunning")
    state = await t.call("appstate")
    t.require(is_practice(t, state.data), "the app that ran is not in the foreground any more")
    await t.first_press()
    t.equal(len(t.reports("ready")), 1, "starts of the app")


@case(
    "lifecycle.shutdown-leaves-no-process",
    "After shutdown no process that the device was started with MUST be left.",
    mutates=True,
    **POWER,
)
async def no_process(t: Trial) -> None:
    try:
        await t.call("shutdown")
        before = children()
        if before is None:
            t.note("this host does not tell which processes were started")
        await t.call("boot")
        await t.open("home")
        await t.call("shutdown")
        stayed = await left_over(before)
        t.require(not stayed, f"processes stayed behind: {', '.join(stayed.values())}")
    finally:
        await ready_again(t)
