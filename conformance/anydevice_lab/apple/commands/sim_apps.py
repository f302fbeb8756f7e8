"""What simctl does with apps: install, launch, terminate, openurl, listapps, containers, privacy, push, addmedia."""

from __future__ import annotations

import json
import plistlib
from pathlib import Path
from typing import Any

from anydevice.testing.screen import FakeScreen
from anydevice_schemas.practice import APP_ID

from ...handset.apps import list_screen
from ..device import LabDevice
from ..model.apps import RUNNER, App
from .asking import OPEN, POSIX, Ask, Failed, Subcommand, error
from .plutil import old_style

SERVICES = (
    "all", "calendar", "contacts-limited", "contacts", "location", "location-always", "photos-add", "photos",
    "media-library", "microphone", "motion", "reminders", "siri",
)  # fmt: skip
NO_BUNDLE = (
    "Failed to install the requested application\nAn application bundle was not found at the provided path.\n"
    "Provide a valid path to the desired application bundle."
)
DENIED = "Simulator device failed to launch {}.\nThe request was denied by service delegate (SBMainWorkspace)."
MEDIA = (".png", ".jpg", ".jpeg", ".heic", ".gif", ".mp4", ".mov", ".m4v", ".vcf")


def read_bundle(path: Path) -> dict[str, Any] | None:
    """What a bundle says of itself; None where there is none."""
    try:
        facts = plistlib.loads((path / "Info.plist").read_bytes())
    except (OSError, plistlib.InvalidFileException, ValueError):
        return None
    return facts if isinstance(facts, dict) and "CFBundleIdentifier" in facts else None


def put(device: LabDevice, path: Path, facts: dict[str, Any]) -> App:
    """Installs a bundle that was read."""
    machine, bundle = device.machine, str(facts["CFBundleIdentifier"])
    if bundle == APP_ID:
        app = machine.new_practice()
    elif bundle == RUNNER:
        app = machine.new_runner()
    else:
        name = str(facts.get("CFBundleDisplayName") or facts.get("CFBundleName") or path.stem)
        width, height = machine.room
        screen: FakeScreen = list_screen(name, [], width, height)
        schemes = [s for entry in facts.get("CFBundleURLTypes", []) for s in entry.get("CFBundleURLSchemes", [])]
        app = App(bundle, name, screen, executable=str(facts.get("CFBundleExecutable", name)))
        app.scheme = str(schemes[0]).lower() if schemes else ""
    app.version = str(facts.get("CFBundleShortVersionString", "1.0"))
    machine.install(app)
    device.journal.add("install", bundle=bundle, path=str(path))
    return app


async def install(ask: Ask) -> int:
    """`install DEVICE PATH`."""
    device, path = ask.device(booted="lookup"), ask.call.path(ask.take("path"))
    facts = read_bundle(path)
    if facts is None:
        raise error(ask.call, POSIX, 2, NO_BUNDLE)
    if fault := device.faults.active("install_fails", str(path)):
        raise error(ask.call, "IXUserPresentableErrorDomain", fault.code or 1, fault.text or "App installation failed")
    put(device, path, facts)
    return 0


async def uninstall(ask: Ask) -> int:
    """`uninstall DEVICE BUNDLE`: an app that is not there is no error."""
    device, bundle = ask.device(booted="lookup"), ask.take("app bundle identifier")
    app = device.machine.apps.get(bundle)
    if app is not None and not app.system:
        if bundle == RUNNER:
            device.end_server()
        device.machine.remove(bundle)
        device.journal.add("uninstall", bundle=bundle)
    return 0


async def launch(ask: Ask) -> int:
    """`launch [--console] [--terminate-running-process] [--wait-for-debugger] DEVICE BUNDLE [ARG…]`: prints its pid."""
    fresh = console = False
    while ask.words and ask.words[0].startswith("-"):
        word = ask.words.pop(0)
        fresh |= word in ("--terminate-running-process", "--terminate-existing")
        console |= word.startswith("--console")
    device, bundle = ask.device(booted="lookup"), ask.take("app bundle identifier")
    arguments = tuple(ask.words[1:] if ask.words[:1] == ["--"] else ask.words)
    if device.faults.active("launch_denied", bundle):
        raise error(ask.call, OPEN, 1, DENIED.format(bundle))
    if bundle not in device.machine.apps:
        text = (
            f"Simulator device failed to launch {bundle}.\nUnderlying error (domain={OPEN}, code=4):\n"
            f'\tThe request to open "{bundle}" failed.'
        )
        raise error(ask.call, OPEN, 4, text)
    prefix = "SIMCTL_CHILD_"
    given = {n.removeprefix(prefix): v for n, v in ask.call.environment.items() if n.startswith(prefix)}
    pid = device.launch(bundle, arguments, given, fresh=fresh)
    if device.faults.active("launch_no_handle", bundle):
        text = f"Application launch for '{bundle}' did not return a process handle nor launch error."
        raise error(ask.call, POSIX, 3, text)
    await ask.call.out(f"{bundle}: {pid}\n")
    if console:
        await ask.call.interrupted.wait()
    return 0


async def terminate(ask: Ask) -> int:
    """`terminate DEVICE BUNDLE`."""
    device, bundle = ask.device(booted="lookup"), ask.take("app bundle identifier")
    app = device.machine.apps.get(bundle)
    if app is None or not app.running:
        raise error(ask.call, POSIX, 3, "found nothing to terminate")
    device.terminate(app)
    return 0


async def openurl(ask: Ask) -> int:
    """`openurl DEVICE URL`."""
    device, url = ask.device(booted="lookup"), ask.take("URL")
    machine = device.machine
    if ":" not in url:
        raise error(ask.call, "NSCocoaErrorDomain", 2, f"Invalid URL: {url}")
    if device.faults.active("open_asks", url):
        machine.ask("Open in “Practice”?", ("Open", "Cancel"))
        answer = machine.system
        assert answer is not None
        yes = next(element for element in answer.screen.elements if element.name == "Open")
        was = yes.on_press

        def opens() -> None:
            if was is not None:
                was()
            machine.open_url(url)

        yes.on_press = opens
        return 0
    if not machine.open_url(url):
        raise error(ask.call, "NSOSStatusErrorDomain", -10814, f"Simulator device failed to open {url}.")
    return 0


def facts_of(device: LabDevice, app: App) -> dict[str, Any]:
    """An app as `listapps` prints it."""
    place = bundle_folder(device, app)
    facts: dict[str, Any] = {
        "ApplicationType": "System" if app.system else "User",
        "Bundle": f"file://{place}/",
        "CFBundleDisplayName": app.label,
        "CFBundleExecutable": app.executable,
        "CFBundleIdentifier": app.id,
        "CFBundleName": app.executable,
        "CFBundleVersion": app.version,
        "Path": str(place),
        "SBAppTags": [],
    }
    if not app.system:
        facts["DataContainer"] = f"file://{data_folder(device, app)}/"
        facts["GroupContainers"] = {}
    return facts


def bundle_folder(device: LabDevice, app: App) -> Path:
    """Where the app is; made when it is asked for."""
    if app.system:
        return Path("/Library/Developer/CoreSimulator/Volumes/iOS/Applications", f"{app.executable}.app")
    place = device.root / "Containers/Bundle/Application" / app.bundle_id / f"{app.executable}.app"
    place.mkdir(parents=True, exist_ok=True)
    return place


def data_folder(device: LabDevice, app: App) -> Path:
    """Where its data is; made when it is asked for."""
    place = device.root / "Containers/Data/Application" / app.data_id
    for inner in ("Documents", "Library", "tmp"):
        (place / inner).mkdir(parents=True, exist_ok=True)
    return place


async def listapps(ask: Ask) -> int:
    """`listapps DEVICE`: a property list in the old style."""
    device = ask.device(booted="lookup")
    rows = {app.id: facts_of(device, app) for app in device.machine.apps.values() if app.id != device.machine.launcher}
    await ask.call.out(old_style(rows) + "\n")
    return 0


async def appinfo(ask: Ask) -> int:
    """`appinfo DEVICE BUNDLE`."""
    device, bundle = ask.device(booted="lookup"), ask.take("app bundle identifier")
    app = device.machine.apps.get(bundle)
    if app is None:
        raise error(ask.call, POSIX, 2, "No such file or directory")
    await ask.call.out(old_style(facts_of(device, app)) + "\n")
    return 0


async def get_app_container(ask: Ask) -> int:
    """`get_app_container DEVICE BUNDLE [app|data|groups|GROUP]`."""
    device, bundle = ask.device(booted="lookup"), ask.take("app bundle identifier")
    which = ask.words[0] if ask.words else "app"
    app = device.machine.apps.get(bundle)
    if app is None or (which not in ("app", "data", "groups")):
        raise error(ask.call, POSIX, 2, "No such file or directory")
    if which != "groups":
        place = bundle_folder(device, app) if which == "app" else data_folder(device, app)
        await ask.call.out(f"{place}\n")
    return 0


async def privacy(ask: Ask) -> int:
    """`privacy DEVICE grant|revoke|reset SERVICE [BUNDLE]`: a change ends the app."""
    device = ask.device(booted="lookup")
    action, service = ask.take("action"), ask.take("service")
    if action not in ("grant", "revoke", "reset"):
        raise Failed(22, f"Invalid action: {action}\n")
    if service not in SERVICES:
        inner = f"Underlying error (domain={POSIX}, code=1):\n\tFailed to set access"
        text = f"Simulator device failed to complete the requested operation.\nOperation not permitted\n{inner}"
        raise error(ask.call, POSIX, 1, text)
    if not ask.words and action != "reset":
        raise Failed(22, "Missing argument: bundle identifier\n")
    bundles = ask.words[:1] or list(device.machine.apps)
    for bundle in bundles:
        app = device.machine.apps.get(bundle)
        if app is None:
            continue
        if action == "reset":
            app.granted = {} if service == "all" else {k: v for k, v in app.granted.items() if k != service}
        else:
            app.granted |= {one: action == "grant" for one in (SERVICES[1:] if service == "all" else (service,))}
        if app.running and not app.system and app.id != RUNNER:
            device.terminate(app)
    device.journal.add("privacy", action=action, service=service, bundle=ask.words[0] if ask.words else "")
    return 0


async def push(ask: Ask) -> int:
    """`push DEVICE [BUNDLE] FILE|-`: the payload is JSON, at most 4096 bytes, with `aps` in it."""
    device = ask.device(booted="lookup")
    bundle, source = ("", ask.take("file")) if len(ask.words) == 1 else (ask.take("bundle"), ask.take("file"))
    try:
        raw = await ask.call.read_all() if source == "-" else ask.call.path(source).read_bytes()
    except OSError:
        raise error(ask.call, "NSCocoaErrorDomain", 260, f"The file “{source}” couldn’t be opened.") from None
    try:
        payload = json.loads(raw)
    except ValueError:
        raise error(ask.call, "NSCocoaErrorDomain", 3840, "The data couldn’t be read.") from None
    bundle = bundle or (payload.get("Simulator Target Bundle", "") if isinstance(payload, dict) else "")
    if len(raw) > 4096 or not isinstance(payload, dict) or "aps" not in payload or bundle not in device.machine.apps:
        text = "Simulator device failed to send push notification.\nInvalid push payload"
        raise error(ask.call, "com.apple.SimulatorKit.PushError", 1, text)
    device.journal.add("push", bundle=bundle, payload=payload)
    practice = device.machine.practice
    if bundle == APP_ID and practice.running:
        practice.report("push", value=payload)
    await ask.call.out(f"Notification sent to '{bundle}'\n")
    return 0


async def addmedia(ask: Ask) -> int:
    """`addmedia DEVICE PATH…`."""
    device = ask.device(booted="lookup")
    if not ask.words:
        raise Failed(22, "Missing argument: path\n")
    for word in ask.words:
        path = ask.call.path(word)
        if not path.is_file():
            raise error(ask.call, POSIX, 2, f"Simulator device failed to add media.\n{word}: No such file or directory")
        if path.suffix.lower() not in MEDIA:
            raise error(ask.call, "NSCocoaErrorDomain", 256, "Simulator device failed to add media.\nUnsupported file")
        device.journal.add("media", name=path.name, size=path.stat().st_size)
    return 0


SUBCOMMANDS: dict[str, Subcommand] = {
    "install": install, "uninstall": uninstall, "launch": launch, "terminate": terminate, "openurl": openurl,
    "listapps": listapps, "appinfo": appinfo, "get_app_container": get_app_container, "privacy": privacy,
    "push": push, "addmedia": addmedia,
}  # fmt: skip
