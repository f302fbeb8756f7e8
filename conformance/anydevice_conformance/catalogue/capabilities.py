"""What a device says it can do: whole, true both ways, and with a reason for everything that is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anydevice.plans import declared

from ..case import case
from ..trial import Trial
from .events import TEMPLATE

NOBODY = {"target": "no such element is on the screen", "timeoutMs": 0}

CALLS: Mapping[str, Sequence[dict[str, Any]]] = {
    "open": [{}],
    "appstate": [{}],
    "snapshot": [{}],
    "diff": [{}],
    "screenshot": [{}],
    "find": [{"query": "Echo", "timeoutMs": 0}],
    "get": [NOBODY],
    "is": [{"predicate": "exists", "target": "Echo"}],
    "wait": [{"text": "no such text is on the screen", "timeoutMs": 1}],
    "press": [NOBODY],
    "longpress": [NOBODY],
    "hover": [NOBODY],
    "fill": [NOBODY | {"text": "x"}],
    "type": [NOBODY | {"text": "x"}, {"text": "x"}],
    "key": [{"chord": "escape"}],
    "scroll": [{"direction": "down", "pixels": 10}],
    "gesture": [{"kind": kind, "direction": "up"} | NOBODY for kind in ("swipe", "drag")],
    "alert": [{}],
    "boot": [{}],
    "trigger-app-event": [{"event": "suite.ping"}],
    "back": [{}],
    "settings": [{}],
    "orientation": [{}],
    "keyboard": [{}],
    "logs": [{}],
    "perf": [{"kind": "memory"}],
    "network": [{}],
    "tv-remote": [{"button": "up"}],
    "push": [{"app": "dev.anydevice.no-such-app", "payload": {}}],
    "close": [{}],
}
"""Calls that change little or nothing, by command, in the order they are made; one that is not refused is enough."""

NEVER = ("unsupported", "unknown_command", "invalid_argument", "backend_broken", "internal")
"""What an offered command must not answer."""


@case(
    "capabilities.declared-operations-are-told",
    "Asked about a device, capabilities MUST tell every operation of the manifest: available where it is declared for "
    "this device, else missing with the reason.",
)
async def operations(t: Trial) -> None:
    told = (await t.call("capabilities")).data["operations"]
    t.equal(sorted(told), sorted(t.manifest.operations), "the operations")
    for operation, state in told.items():
        if t.manifest.operations[operation].experimental:
            t.require(state["available"] or state.get("reason"), f"{operation} is down without a reason")
        elif declared(t.manifest, t.device, operation):
            t.require(state["available"], f"{operation} is declared for this device: {state.get('reason')}")
        else:
            t.require(not state["available"] and state.get("reason"), f"{operation} is not declared, and {state}")


@case(
    "capabilities.commands-are-offered-or-missing-with-a-reason",
    "Every command on a device MUST be told as offered, or as missing with the operations that are missing and why.",
)
async def commands(t: Trial) -> None:
    data = (await t.call("capabilities")).data
    offered, missing = set(data["commands"]), dict(data["missing"])
    for command in t.router.services.catalogue.commands():
        if command.scope == "host" or command.backend not in (None, t.manifest.name):
            continue
        lacking = [{op for op in plan.operations if not declared(t.manifest, t.device, op)} for plan in command.plans]
        tried = {op for plan in command.plans for op in plan.operations}
        if any(op in t.manifest.operations and t.manifest.operations[op].experimental for op in tried):
            t.require(
                (command.name in offered) != (command.name in missing), f"{command.name} is told as both, or as neither"
            )
            continue
        if not command.plans or set() in lacking:
            t.require(command.name in offered and command.name not in missing, f"{command.name} is not offered")
            continue
        t.require(command.name in missing and command.name not in offered, f"{command.name} is not told as missing")
        reasons = missing[command.name]
        t.require(set(reasons) <= set().union(*lacking), f"{command.name} misses {sorted(reasons)}")
        t.require(reasons and all(map(str.strip, reasons.values())), f"nothing says why {command.name} is missing")


@case(
    "capabilities.offered-commands-can-be-called",
    "A command that is offered MUST be carried out, or refused for what it was asked to do, never as unsupported.",
    screen="echo",
    mutates=True,
)
async def offered(t: Trial) -> None:
    await t.open("echo", eventUrlTemplate=TEMPLATE)
    names = set((await t.call("capabilities")).data["commands"])
    for name, calls in CALLS.items():
        if name not in names:
            continue
        codes = []
        for arguments in calls:
            answer = await t.call(name, expect=None, **arguments)
            codes.append(answer.error.code if answer.error is not None else "ok")
        t.require(any(code not in NEVER for code in codes), f"{name} is offered and answers {', '.join(codes)}")


@case(
    "capabilities.missing-commands-are-refused-by-type",
    "A command that is told as missing MUST be refused as unsupported, with the operation that is missing and why.",
    mutates=True,
)
async def missing(t: Trial) -> None:
    names = set((await t.call("capabilities")).data["missing"])
    for name, calls in CALLS.items():
        if name in names:
            for arguments in calls:
                answer = await t.call(name, expect="unsupported", **arguments)
                details = t.detail(answer, "operation", "alternatives", "missing")
                t.require(
                    details["operation"] in details["missing"], f"{name}: {details['operation']} is not explained"
                )
    await t.first_press()


@case(
    "capabilities.backends-are-told-without-a-device",
    "Asked about no device, capabilities MUST tell what the backend's manifest declares, and touch no device.",
    screen=None,
)
async def by_platform(t: Trial) -> None:
    scopes: tuple[dict[str, Any], ...] = ({}, {"platform": t.device.platform})
    for scope in scopes:
        rows = (await t.call("capabilities", named=False, **scope)).data["platforms"]
        mine = [row for row in rows if row["backend"] == t.manifest.name]
        t.equal(len(mine), 1, "rows of the backend")
        t.equal(sorted(mine[0]["operations"]), sorted(t.manifest.operations), "the operations")
        t.equal(sorted(mine[0]["classes"]), sorted(t.manifest.device_classes), "the device classes")
        t.require(t.device.platform in mine[0]["platforms"], "the platform is not told")
    t.require(not t.router.services.sessions.implicit(t.caller), "asking what can be done started a session")
