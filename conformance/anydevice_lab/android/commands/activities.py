"""am and monkey: starting and stopping apps, broadcasts."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import time

import anyio

from anydevice_schemas.practice import APP_ID

from ...handset.keys import type_text
from ..framework.apps import ADB_KEYBOARD
from ..framework.intents import LAUNCH, MAIN, VIEW, Intent, launch, resolve, whole
from ..programs import Invocation, Program
from .providers import scan_address

STRINGS, NUMBERS, TRUTHS = ("-e", "--es", "--eu", "--ecn"), ("--ei", "--el", "--ef", "--ed"), ("--ez",)
LISTS = ("--esa", "--esal", "--eia", "--eial", "--ela", "--elal", "--efa", "--efal")
WITH_VALUE = ("--user", "--display", "--windowingMode", "--activityType", "--task", "-R", "-P", "--start-profiler")
DENIED = """
Security exception: Permission Denial: starting Intent { act=android.intent.action.VIEW } from null (pid=1, uid=2000)

java.lang.SecurityException: Permission Denial: starting Intent { act=android.intent.action.VIEW }
"""
PROTECTED = ("AIRPLANE_MODE", "BOOT_COMPLETED", "BATTERY_CHANGED", "SCREEN_ON", "SCREEN_OFF", "LOCALE_CHANGED")


def read_intent(words: list[str]) -> Intent:
    """The intent that arguments of `am` and of `cmd package` describe."""
    intent, words = Intent(), list(words)
    while words:
        word = words.pop(0)
        if word in ("-a", "-d", "-t", "-n", "-p", "-c", "-f", "-i") and words:
            value = words.pop(0)
            if word == "-c":
                intent.categories.append(value)
            elif word == "-f":
                intent.flags = int(value, 0)
            elif word != "-i":
                field = {"-a": "action", "-d": "data", "-t": "type", "-n": "component", "-p": "package"}[word]
                setattr(intent, field, value)
        elif word in STRINGS and len(words) > 1:
            name, intent.extras[name] = words[0], words[1]
            del words[:2]
        elif word in NUMBERS and len(words) > 1:
            name, number = words[0], words[1]
            intent.extras[name] = float(number) if "." in number else int(number)
            del words[:2]
        elif word in TRUTHS and len(words) > 1:
            intent.extras[words[0]] = words[1].lower() in ("true", "t", "1")
            del words[:2]
        elif word in LISTS and len(words) > 1:
            # Commas part the items, save for those after a backslash, which stays where it is.
            parts = re.split(r"(?<!\\),", words[1])
            intent.extras[words[0]] = [part.replace("\\,", ",") for part in parts]
            del words[:2]
        elif word == "--esn" and words:
            intent.extras[words.pop(0)] = None
        elif word in WITH_VALUE and words:
            words.pop(0)
        elif word.startswith("-"):
            continue
        elif ":" in word:
            intent.data = word
        elif "/" in word:
            intent.component = word
        else:
            intent.package = word
    if intent.data and not intent.action:
        intent.action = VIEW
    if intent.package and not intent.action and not intent.component:
        intent.action = MAIN
        intent.categories = intent.categories or [LAUNCH[0]]
    return intent


async def am(call: Invocation) -> int:
    """The activity manager."""
    verb, *rest = call.args or [""]
    machine = call.device.machine
    if verb in ("start", "start-activity"):
        return await _start(call, rest)
    if verb in ("force-stop", "kill", "stop-app"):
        names = [word for word in rest if not word.startswith("-") and not word.isdigit()]
        app = machine.apps.get(names[-1] if names else "")
        if app is not None and (verb != "kill" or machine.front is not app):
            machine.end(app, description="force stop")
            if machine.tasks == [machine.launcher] or machine.front.package == machine.launcher:
                machine.home()
        return 0
    if verb == "broadcast":
        return await _broadcast(call, rest)
    if verb == "get-current-user":
        await call.out("0\n")
        return 0
    if verb == "crash":
        app = machine.apps.get(rest[-1] if rest else "")
        if app is not None and app.running:
            machine.practice.crashed = True
            machine.settle()
        return 0
    if verb in ("stack", "task"):
        rows = [
            f"  taskId={number}: {machine.apps[name].full_component}\n" for number, name in enumerate(machine.tasks)
        ]
        await call.out("RootTask id=1 bounds=[0,0][1,1] displayId=0 userId=0\n" + "".join(rows))
        return 0
    if verb in ("wait-for-broadcast-idle", "wait-for-broadcast-barrier", "clear-debug-app", "set-debug-app"):
        await call.out("All broadcast queues are idle!\n" if "idle" in verb else "")
        return 0
    if verb == "instrument":
        name = rest[-1] if rest else ""
        await call.out(
            f"INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{{{name}}}\n"
            "INSTRUMENTATION_STATUS_CODE: -1\n"
        )
        await call.err(f"android.util.AndroidException: INSTRUMENTATION_FAILED: {name}\n")
        return 1
    if verb in ("startservice", "start-service", "start-foreground-service"):
        await call.out(f"Starting service: {read_intent(rest)}\n")
        await call.err("Error: Not found; no service started.\n")
        return 255
    await call.err(f"Unknown command: {verb}\n")
    return 255


async def _start(call: Invocation, rest: list[str]) -> int:
    device, machine = call.device, call.device.machine
    intent = read_intent(rest)
    told = call.out if "-W" in rest else call.err
    if device.faults.active("open_denied", " ".join(rest)) is not None:
        await call.out(f"Starting: {intent}\n")
        await told(DENIED)
        return 0 if device.kind.api < 36 else 255
    if "-S" in rest and (app := next(iter(resolve(machine, intent)), None)) is not None:
        machine.stop(app)
        await call.out(f"Stopping: {app.package}\n")
    await call.out(f"Starting: {intent}\n")
    found = resolve(machine, intent)
    if not found:
        return await _not_found(call, intent, told)
    app, began = found[0], time.monotonic()
    how = launch(machine, app.package, intent)
    if how == "brought":
        await told("Warning: Activity not started, its current task has been brought to the front\n")
    elif how == "delivered":
        await told("Warning: Activity not started, intent has been delivered to currently running top-most instance.\n")
    if "-W" in rest:
        wait = machine.focus_from - time.monotonic()
        if wait > 0:
            await anyio.sleep(wait)
        ms = max(1, round((time.monotonic() - began) * 1000))
        state = {"started": "COLD", "brought": "HOT", "delivered": "UNKNOWN (0)"}[how]
        timed = f"TotalTime: {ms + 200}\n" if how != "delivered" else ""
        await call.out(
            f"Status: ok\nLaunchState: {state}\nActivity: {app.component}\n{timed}WaitTime: {ms + 204}\nComplete\n"
        )
    return 0


async def _not_found(call: Invocation, intent: Intent, told: object) -> int:
    assert callable(told)
    if intent.component:
        package, _, name = intent.component.partition("/")
        full = f"{package}/{whole(package, name)}"
        await told(f"Error type 3\nError: Activity class {{{full}}} does not exist.\n")
    else:
        intent.flags |= 0x10000000
        await told(f"Error: Activity not started, unable to resolve {intent}\n")
    return 0 if call.device.kind.api < 36 else 1


async def _broadcast(call: Invocation, rest: list[str]) -> int:
    intent, machine = read_intent(rest), call.device.machine
    call.device.journal.add("broadcast", action=intent.action, extras=dict(intent.extras))
    if intent.action.startswith("android.intent.action.") and intent.action.rpartition(".")[2] in PROTECTED:
        await call.err(
            f"java.lang.SecurityException: Permission Denial: not allowed to send broadcast {intent.action} from "
            "pid=12345, uid=2000\n"
        )
        return 255
    chosen = machine.settings["secure"]["default_input_method"].startswith(ADB_KEYBOARD)
    if intent.action == "android.intent.action.MEDIA_SCANNER_SCAN_FILE":
        scan_address(call, intent.data)
    elif intent.action == "ADB_INPUT_B64" and chosen:
        type_text(machine, base64.b64decode(str(intent.extras.get("msg", ""))).decode("utf-8", "replace"))
    elif intent.action == "ADB_INPUT_TEXT" and chosen:
        type_text(machine, str(intent.extras.get("msg", "")))
    elif intent.action == "ADB_CLEAR_TEXT" and chosen and (field := machine.focused_field) is not None:
        field.write("")
    elif intent.action == "com.android.systemui.demo" and machine.settings["global"].get("sysui_demo_allowed") == "1":
        machine.demo = {} if intent.extras.get("command") == "exit" else {k: str(v) for k, v in intent.extras.items()}
    elif intent.action == f"{APP_ID}.TEST_PUSH" and machine.practice.running:
        with contextlib.suppress(ValueError):
            machine.practice.report("push", value=json.loads(str(intent.extras.get("payload", ""))))
    await call.out(f"Broadcasting: {intent}\nBroadcast completed: result=0\n")
    return 0


async def monkey(call: Invocation) -> int:
    """Starts an app by its launcher entry, as `monkey -p PACKAGE -c android.intent.category.LAUNCHER 1` does."""
    words, machine = list(call.args), call.device.machine
    name = words[words.index("-p") + 1] if "-p" in words and words[-1] != "-p" else ""
    await call.err("args: " + str(words) + "\n")
    found = resolve(machine, Intent(action=MAIN, package=name))
    if not found:
        await call.out("** No activities found to run, monkey aborted.\n")
        return 252
    launch(machine, found[0].package)
    await call.out("Events injected: 1\n## Network stats: elapsed time=12ms\n")
    return 0


PROGRAMS: dict[str, Program] = {"am": am, "monkey": monkey}
