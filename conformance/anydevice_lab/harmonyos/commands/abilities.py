"""aa: starting and stopping abilities, and which missions there are. It leaves with 0 also when it failed."""

from __future__ import annotations

import time
from typing import Any

import anyio

from ..framework.apps import RECORDER, RECORDER_ABILITY, SCENEBOARD, App
from ..framework.wants import opener_of, start
from ..programs import Invocation, Program
from .media import toggle

STARTED = "start ability successfully.\n"
FAILED = "error: failed to start ability.\n"
NO_ABILITY = (10104001, "The specified ability does not exist")
NO_PACKAGE = (10104002, "The specified package is not installed")
NO_MATCH = (10103101, "Failed to find a matching application for implicit launch")
LOCKED = (10106102, "The device screen is locked during the application launch")
WITH_VALUE = ("-d", "-s", "-C", "-p", "-D", "-t", "-e", "-A", "-S", "-P", "--wt", "--wl", "--ww", "--wh")
HELP = """usage: aa <command> <options>
These are common aa commands list:
  help                        list available commands
  start                       start ability with options
  stop-service                stop service with options
  dump                        dump the ability info
  force-stop <bundle-name>    force stop the process with bundle name
  test                        start the test framework with options
"""


async def aa(call: Invocation) -> int:
    """The ability assistant."""
    verb, *rest = call.args or ["help"]
    if verb == "start":
        await _start(call, rest)
    elif verb == "force-stop":
        await _stop(call, rest)
    elif verb == "dump":
        await call.out(_missions(call) if rest[:1] in (["-l"], ["-a"], ["--mission-list"], ["--all"]) else HELP)
    else:
        await call.out(HELP if verb in ("help", "-h") else f"error: unknown command: {verb}.\n{HELP}")
    return 0


async def _fail(call: Invocation, error: tuple[int, str], head: str = FAILED) -> None:
    await call.out(f"{head}Error Code:{error[0]}  Error Message:{error[1]}\n")


def _read(words: list[str]) -> tuple[dict[str, str], dict[str, Any], bool]:
    """Options with a value, parameters, and whether it waits."""
    options: dict[str, str] = {}
    params: dict[str, Any] = {}
    waits = False
    words = list(words)
    while words:
        word = words.pop(0)
        if (word in ("-a", "-b", "-m", "-U") and words) or (word in WITH_VALUE and words):
            options[word] = words.pop(0)
        elif word in ("--ps", "--pi", "--pb") and len(words) > 1:
            name, value = words.pop(0), words.pop(0)
            params[name] = int(value) if word == "--pi" else value == "true" if word == "--pb" else value
        elif word == "--psn" and words:
            params[words.pop(0)] = ""
        elif word == "-W":
            waits = True
    return options, params, waits


async def _start(call: Invocation, words: list[str]) -> None:
    machine = call.device.machine
    options, params, waits = _read(words)
    bundle, ability, url = options.get("-b", ""), options.get("-a", ""), options.get("-U")
    if machine.locked or (not machine.awake and machine.locks):
        await _fail(call, LOCKED)
        return
    if not bundle:
        app = opener_of(machine, url or "")
        if app is None:
            await _fail(call, NO_MATCH)
            return
    else:
        app = machine.apps.get(bundle)
        if app is None:
            await _fail(call, NO_PACKAGE)
            return
        if not ability and not url:
            machine.choose_app(bundle)
            await _fail(call, NO_MATCH)
            return
        if app.id == RECORDER and ability == RECORDER_ABILITY:
            await toggle(call.device, str(params.get("CustomizedFileName", "")))
            await call.out(STARTED)
            return
        if ability and (ability != app.ability or options.get("-m", app.module) != app.module):
            await _fail(call, NO_ABILITY)
            return
        if not app.ability:
            await _fail(call, NO_ABILITY)
            return
    await _begin(call, app, url, params, waits)


async def _begin(call: Invocation, app: App, url: str | None, params: dict[str, Any], waits: bool) -> None:
    machine, began = call.device.machine, time.monotonic()
    how = start(machine, app, url, params)
    if waits:
        with anyio.move_on_after(10):
            while machine.front is not app and app.running:  # noqa: ASYNC110 - nothing tells of an ability that comes
                await anyio.sleep(0.02)
        ms = max(1, round((time.monotonic() - began) * 1000))
        await call.out(
            f"StartMode: {how}\nBundleName: {app.id}\nAbilityName: {app.ability}\nTotalTime: {ms + 60}\n"
            f"WaitTime: {ms + 72}\n"
        )
    await call.out(STARTED)


async def _stop(call: Invocation, rest: list[str]) -> None:
    machine = call.device.machine
    head = "error: failed to force stop process.\n"
    name = rest[0] if rest and not rest[0].startswith("-") else ""
    if not name:
        await call.out("error: option requires a value.\n" + HELP)
        return
    app = machine.apps.get(name)
    if app is None:
        await _fail(call, NO_PACKAGE, head)
        return
    if call.device.faults.active("close_ignored", name) is None and app.ability:
        machine.stop(app)
        machine.bring(machine.tasks[-1])
    await call.out("force stop process successfully.\n")


def _missions(call: Invocation) -> str:
    machine = call.device.machine
    rows = ""
    for app_id in machine.tasks:
        app = machine.apps[app_id]
        if app.id == SCENEBOARD:
            continue
        number = machine.number(f"mission/{app.id}")
        front = app is machine.front and machine.awake
        state = "FOREGROUND" if front else "BACKGROUND"
        # A mission behind may still be told to have an app in front, for a while.
        rows += (
            f"    Mission ID #{number}  mission name #[#{app.id}:{app.module}:{app.ability}]  lockedState #0  "
            f"mission affinity #[]\n"
            f"      AbilityRecord ID #{number + 1}\n"
            f"        app name [{app.id}]\n        main name [{app.ability}]\n        bundle name [{app.id}]\n"
            f"        ability type [PAGE]\n"
            f"        state #{state}  start time [{machine.started_at.get(app.id, 0)}]\n"
            f"        app state #{'FOREGROUND' if app.running else 'BACKGROUND'}\n"
            f"        ready #1  window attached #0  launcher #0\n        callee connections:\n"
            f"        isKeepAlive: false\n"
        )
    return f"User ID #100\n  current mission lists:{{\n{rows} }}\n"


PROGRAMS: dict[str, Program] = {"aa": aa}
