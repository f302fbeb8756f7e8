"""`devicectl`: devices at a cable or in the network. Its JSON goes into a file; what it prints is for people."""

from __future__ import annotations

import json
import time
from typing import Any

from ..device import LabDevice
from ..model.apps import RUNNER, App
from ..programs import Invocation
from .sim_apps import put, read_bundle

VERSION = "518.27"
CORE = "com.apple.dt.CoreDeviceError"
Error = dict[str, Any]
VALUED = ("--timeout", "--json-output", "-j", "--log-output", "--device", "-d", "--environment-variables", "-e",
          "--payload-url", "--signal", "--pid", "--filter", "--columns", "--bundle-id", "--domain-type",
          "--domain-identifier", "--source", "--destination", "--style")  # fmt: skip
USAGE = "Error: {}\nUsage: devicectl <subcommand>\n  See 'devicectl --help' for more information.\n"


class Refused(Exception):
    """A command fails with this error object."""

    def __init__(self, error: Error) -> None:
        super().__init__(str(error))
        self.error = error


def failure(text: str, code: int, *, domain: str = CORE, under: Error | None = None, **more: str) -> Error:
    """An error object: values are wrapped, the cause is nested."""
    info: dict[str, Any] = {name: {"string": value} for name, value in more.items()}
    if text:
        info["NSLocalizedDescription"] = {"string": text}
    if under is not None:
        info["NSUnderlyingError"] = {"error": under}
    return {"code": code, "domain": domain, "userInfo": info}


async def run(call: Invocation, words: list[str]) -> int:
    """Runs one command."""
    plain, given = _apart(words)
    target = given.get("--json-output") or given.get("-j", "")
    name, operands = _command(plain)
    if not name:
        return await call.fail(64, USAGE.format(f"Unexpected argument '{' '.join(plain)}'"))
    answer: dict[str, Any] = {
        "info": {
            "arguments": ["devicectl", *words],
            "commandType": "devicectl." + ".".join(name),
            "environment": {"TERM": call.environment.get("TERM", "xterm-256color")},
            "jsonVersion": 2,
            "outcome": "success",
            "version": VERSION,
        }
    }
    code, said = 0, ""
    try:
        answer["result"], said = await COMMANDS[name](call, given, operands)
    except Refused as refused:
        code, answer["error"] = 1, refused.error
        answer["info"]["outcome"] = "failed"
    if target:
        call.path(target).write_text(json.dumps(answer, indent=2, ensure_ascii=False))
    if code:
        error = answer["error"]
        text = error["userInfo"].get("NSLocalizedDescription", {}).get("string", "Unknown error")
        return await call.fail(code, f"ERROR: {text} ({error['domain']} error {error['code']}.)\n")
    if "-q" not in plain and "--quiet" not in words:
        await call.out(said)
    return 0


def _apart(words: list[str]) -> tuple[list[str], dict[str, str]]:
    plain, given, left = list[str](), dict[str, str](), list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            plain += left
            break
        name, mark, value = word.partition("=")
        if name in VALUED:
            given[name] = value if mark else left.pop(0) if left else ""
        elif word.startswith("-"):
            given[word] = ""
        else:
            plain.append(word)
    return plain, given


def _command(plain: list[str]) -> tuple[tuple[str, ...], list[str]]:
    for length in (4, 3, 2):
        if tuple(plain[:length]) in COMMANDS:
            return tuple(plain[:length]), plain[length:]
    return (), plain


def _device(call: Invocation, given: dict[str, str]) -> LabDevice:
    word = given.get("--device") or given.get("-d", "")
    devices = [d for d in call.world.devices.values() if d.kind.physical]
    device = next((d for d in devices if word in (d.udid, d.identifier, d.title) and word), None)
    if device is None or device.kind.state == "unpaired":
        raise Refused(failure("The specified device was not found.", 1000))
    if device.faults.active("lost") or device.kind.state == "unavailable":
        link = failure("Operation timed out", 60, domain="Network.NWError", NSDescription="Operation timed out")
        domain = "com.apple.dt.RemotePairing.ControlChannelConnectionError"
        under = failure("The connection was interrupted.", 1, domain=domain, under=link)
        raise Refused(failure("A connection to this device could not be established.", 4000, under=under))
    return device


def _app(device: LabDevice, bundle: str) -> App | None:
    return device.machine.apps.get(bundle)


def row(device: LabDevice) -> dict[str, Any]:
    """A device as `list devices` has it; one that is not paired tells next to nothing."""
    kind = device.kind
    if kind.state == "unpaired":
        return {"capabilities": [], "connectionProperties": {"pairingState": "unpaired", "tunnelState": "unavailable"},
                "deviceProperties": {}, "hardwareProperties": {}, "identifier": device.identifier,
                "visibilityClass": "default"}  # fmt: skip
    connection: dict[str, Any] = {
        "authenticationType": "manualPairing",
        "isMobileDeviceOnly": False,
        "lastConnectionDate": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
        "pairingState": "paired",
        "tunnelState": kind.state,
    }
    if kind.state != "unavailable":
        connection["transportType"] = "wired" if kind.state == "connected" else "localNetwork"
        connection["tunnelTransportProtocol"] = "tcp"
    device_type = {"Apple TV": "appleTV", "Apple Watch": "appleWatch"}.get(kind.family, kind.family)
    return {
        "capabilities": [
            {"featureIdentifier": "com.apple.coredevice.feature.connectdevice", "name": "Connect to Device"},
        ],
        "connectionProperties": connection,
        "deviceProperties": {
            "bootState": "booted",
            "ddiServicesAvailable": kind.state == "connected",
            "developerModeStatus": "enabled",
            "name": device.title,
            "osBuildUpdate": kind.build,
            "osVersionNumber": kind.os,
        },
        "hardwareProperties": {
            "cpuType": {"name": "arm64e", "subType": 2, "type": 16_777_228},
            "deviceType": device_type,
            "marketingName": kind.model,
            "platform": kind.platform,
            "productType": kind.product,
            "reality": "physical",
            "udid": device.udid,
        },
        "identifier": device.identifier,
        "tags": [],
        "visibilityClass": "default",
    }


async def _list(call: Invocation, given: dict[str, str], operands: list[str]) -> tuple[Any, str]:
    if call.world.faults.active("inventory_fails"):
        raise Refused(failure("Failed to list devices", 10002))
    rows = [row(device) for device in call.world.devices.values() if device.kind.physical]
    lines = [f"{r['deviceProperties'].get('name', ''):24}   {r['identifier']}   "
             f"{r['connectionProperties']['tunnelState']:14}" for r in rows]  # fmt: skip
    head = f"{'Name':24}   {'Identifier':36}   {'State':14}\n{'-' * 24}   {'-' * 36}   {'-' * 14}\n"
    # The key is absent where there is nothing to tell.
    return {"devices": rows} if rows else {}, head + "".join(f"{line}\n" for line in lines)


async def _install(call: Invocation, given: dict[str, str], operands: list[str]) -> tuple[Any, str]:
    device = _device(call, given)
    path = call.path(operands[0] if operands else "")
    facts = read_bundle(path)
    if facts is None:
        raise Refused(failure("The application could not be installed: no bundle is at the path.", 3000))
    if fault := device.faults.active("install_fails", str(path)):
        raise Refused(failure(fault.text or "Failed to install the app on the device.", fault.code or 3002))
    app = put(device, path, facts)
    place = f"file:///private/var/containers/Bundle/Application/{app.bundle_id}/{path.name}/"
    result = {
        "deviceIdentifier": device.identifier,
        "installedApplications": [
            {
                "bundleID": app.id,
                "databaseSequenceNumber": 2728,
                "databaseUUID": device.identifier,
                "installationURL": place,
                "launchServicesIdentifier": "unknown",
                "options": {},
            }
        ],
    }
    return result, f"App installed:\n• bundleID: {app.id}\n• installationURL: {place}\n"


async def _uninstall(call: Invocation, given: dict[str, str], operands: list[str]) -> tuple[Any, str]:
    device, bundle = _device(call, given), operands[0] if operands else ""
    app = _app(device, bundle)
    if app is not None and not app.system:
        if bundle == RUNNER:
            device.end_server()
        device.machine.remove(bundle)
        device.journal.add("uninstall", bundle=bundle)
    return {
        "deviceIdentifier": device.identifier,
        "uninstalledApplications": [{"bundleID": bundle}],
    }, "App uninstalled.\n"


async def _launch(call: Invocation, given: dict[str, str], operands: list[str]) -> tuple[Any, str]:
    device = _device(call, given)
    bundle, *arguments = operands or [""]
    app = _app(device, bundle)
    failed = "The application failed to launch."
    if device.faults.active("locked") or device.machine.locked:
        reason = f"Unable to launch {bundle} because the device was not, or could not be, unlocked"
        inner = failure("", 7, domain="FBSOpenApplicationErrorDomain", BSErrorCodeDescription="Locked",
                        NSLocalizedFailureReason=f"{reason}.")  # fmt: skip
        text = f'The request was denied by service delegate (SBMainWorkspace) for reason: Locked ("{reason}").'
        under = failure(f'The request to open "{bundle}" failed.', 1, domain="FBSOpenApplicationServiceErrorDomain",
                        under=inner, BSErrorCodeDescription="RequestDenied", NSLocalizedFailureReason=text)  # fmt: skip
        raise Refused(failure(failed, 10002, under=under, BundleIdentifier=bundle))
    if app is None:
        under = failure(f'The request to open "{bundle}" failed.', 4, domain="FBSOpenApplicationServiceErrorDomain",
                        BSErrorCodeDescription="InvalidRequest")  # fmt: skip
        raise Refused(failure(failed, 10002, under=under, BundleIdentifier=bundle))
    environment = {
        str(k): str(v) for k, v in json.loads(given.get("--environment-variables") or given.get("-e") or "{}").items()
    }
    prefix = "DEVICECTL_CHILD_"
    environment |= {n.removeprefix(prefix): v for n, v in call.environment.items() if n.startswith(prefix)}
    fresh = "--terminate-existing" in given
    pid = device.launch(bundle, tuple(arguments), environment, fresh=fresh)
    told = {"TERM": call.environment.get("TERM", "xterm-256color"), **environment}
    if url := given.get("--payload-url"):
        device.journal.add("url", url=url, bundle=bundle)
        if app.id == device.machine.practice_id:
            device.machine.practice.deliver(url, {})
    result = {
        "deviceIdentifier": device.identifier,
        "launchOptions": {"activatedWhenStarted": True, "arguments": arguments, "environmentVariables": told,
                          "platformSpecificOptions": {}, "startStopped": False, "terminateExistingInstances": fresh,
                          "user": {"active": True}},
        "process": {"executable": _executable(app), "processIdentifier": pid},
    }  # fmt: skip
    if "--console" in given:
        await call.interrupted.wait()
    return result, f"Launched application with {bundle} bundle identifier.\n"


def _executable(app: App) -> str:
    return f"file:///private/var/containers/Bundle/Application/{app.bundle_id}/{app.executable}.app/{app.executable}"


async def _signal(call: Invocation, given: dict[str, str], operands: list[str]) -> tuple[Any, str]:
    device, pid = _device(call, given), given.get("--pid", "")
    app = next((app for app in device.machine.apps.values() if app.running and str(app.pid) == pid), None)
    if app is None:
        under = failure("No such process", 3, domain="NSPOSIXErrorDomain")
        raise Refused(failure("Failed to send a signal to the process.", 10001, under=under))
    device.journal.add("signal", pid=app.pid, signal=given.get("--signal", "SIGKILL"))
    device.terminate(app)
    return {"deviceIdentifier": device.identifier, "process": {"processIdentifier": app.pid}}, "Signal sent.\n"


async def _apps(call: Invocation, given: dict[str, str], operands: list[str]) -> tuple[Any, str]:
    device, wanted = _device(call, given), given.get("--bundle-id", "")
    chosen = [app for app in device.machine.apps.values() if app.id != device.machine.launcher
              and (not app.system or {"--include-all-apps", "--include-system-apps"} & given.keys() or wanted)
              and wanted in ("", app.id)]  # fmt: skip
    rows = [
        {"appClip": False, "builtByDeveloper": not app.system, "bundleIdentifier": app.id, "bundleVersion": app.version,
         "defaultApp": app.system, "hidden": False, "internalApp": False, "name": app.label,
         "removable": not app.system, "url": _executable(app).rpartition("/")[0] + "/", "version": app.version}
        for app in chosen
    ]  # fmt: skip
    told = "".join(f"{app.label:24}   {app.id:48}   {app.version}\n" for app in chosen)
    return {"apps": rows, "deviceIdentifier": device.identifier}, f"Apps installed:\n{told}"


async def _processes(call: Invocation, given: dict[str, str], operands: list[str]) -> tuple[Any, str]:
    device = _device(call, given)
    rows = [{"executable": _executable(app), "processIdentifier": app.pid}
            for app in device.machine.apps.values() if app.running]  # fmt: skip
    told = "".join(f"{r['processIdentifier']}   {r['executable']}\n" for r in rows)
    return {"deviceIdentifier": device.identifier, "runningProcesses": rows}, told


async def _details(call: Invocation, given: dict[str, str], operands: list[str]) -> tuple[Any, str]:
    device = _device(call, given)
    return row(device), f"▿ {device.title} - {device.identifier}\n"


async def _lock_state(call: Invocation, given: dict[str, str], operands: list[str]) -> tuple[Any, str]:
    device = _device(call, given)
    return {"deviceIdentifier": device.identifier, "passcodeRequired": device.machine.locked,
            "unlockedSinceBoot": True}, "Lock state.\n"  # fmt: skip


async def _reboot(call: Invocation, given: dict[str, str], operands: list[str]) -> tuple[Any, str]:
    device = _device(call, given)
    device.end_server()
    await device.boot()
    return {"deviceIdentifier": device.identifier}, "Device is rebooting.\n"


COMMANDS = {
    ("list", "devices"): _list,
    ("device", "install", "app"): _install,
    ("device", "uninstall", "app"): _uninstall,
    ("device", "process", "launch"): _launch,
    ("device", "process", "signal"): _signal,
    ("device", "process", "terminate"): _signal,
    ("device", "info", "apps"): _apps,
    ("device", "info", "processes"): _processes,
    ("device", "info", "details"): _details,
    ("device", "info", "lockState"): _lock_state,
    ("device", "reboot"): _reboot,
}
