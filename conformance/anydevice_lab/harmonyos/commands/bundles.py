"""bm: which bundles there are, and installing, removing and cleaning them. It leaves with 0 also when it failed."""

from __future__ import annotations

import hashlib
import tarfile
import tempfile
from pathlib import Path

from anydevice_schemas.practice import APP_ID

from ...handset.apps import HandsetPractice, list_screen
from ..framework.apps import ASKED, App, Permission
from ..hap import BadHap, Hap, read_hap
from ..programs import Invocation, Program

HELP = """usage: bm <command> <options>
These are common bm commands list:
  help         list available commands
  install      install a bundle with options
  uninstall    uninstall a bundle with options
  dump         dump the bundle info
  get          obtain device udid
  clean        clear bundle data
"""
UNKNOWN = "error: failed to get information and the parameters may be wrong.\n"
REFUSED = "error: failed to install bundle.\n"
SYSTEM = "error: failed to uninstall bundle.\ncode:9568380\nerror: uninstall system app error.\n"


async def bm(call: Invocation) -> int:
    """The bundle manager."""
    verb, *rest = call.args or ["help"]
    if verb == "dump":
        return await _dump(call, rest)
    if verb == "install":
        return await _install(call, rest)
    if verb == "uninstall":
        return await _uninstall(call, rest)
    if verb == "clean":
        return await _clean(call, rest)
    if verb == "get" and rest[:1] in (["--udid"], ["-u"]):
        digest = hashlib.sha256(call.device.serial.encode()).hexdigest().upper()
        await call.out(f"udid of current device is :\n{digest}\n")
        return 0
    known = verb in ("help", "-h")
    await call.out(HELP if known else f"bm: '{verb}' is not a valid bm command. See 'bm help'.\n")
    return 0


def _value(words: list[str], *names: str) -> str:
    for name in names:
        if name in words and words.index(name) + 1 < len(words):
            return words[words.index(name) + 1]
    return ""


async def _dump(call: Invocation, rest: list[str]) -> int:
    apps = call.device.machine.apps
    if "-a" in rest or "--all" in rest:
        rows = sorted((app for app in apps.values()), key=lambda app: app.id)
        labelled = "-l" in rest
        await call.out(
            "ID: 100:\n" + "".join(f"\t{app.id}" + (f"  {app.label}" if labelled else "") + "\n" for app in rows)
        )
        return 0
    app = apps.get(_value(rest, "-n", "--bundle-name"))
    if app is None:
        await call.out(UNKNOWN)
        return 0
    if "-l" in rest or "--label" in rest:
        await call.out(f"{app.id}:\n{app.label}\n" if not call.device.kind.old else f"{app.label}\n")
        return 0
    await call.out(app.described())
    return 0


async def _install(call: Invocation, rest: list[str]) -> int:
    device = call.device
    path = _value(rest, "-p", "--bundle-path")
    fault = device.faults.active("install", path)
    if fault is not None:
        await call.out(fault.text or f"{REFUSED}code:9568288\nerror: install failed due to insufficient disk memory.\n")
        return 0
    try:
        haps = _read(call.path(path))
    except BadHap:
        await call.out(f"{REFUSED}code:9568262\nerror: install parse failed.\n")
        return 0
    for hap in haps:
        if not hap.signed and not device.kind.emulator:  # emulators take what is not signed
            await call.out(f"{REFUSED}code:9568320\nerror: no signature file.\n")
            return 0
        old = device.machine.apps.get(hap.bundle)
        if old is not None and (old.system or hap.code < old.code):
            await call.out(f"{REFUSED}code:9568263\nerror: install version downgrade.\n")
            return 0
        _put(call, hap)
    await call.out("install bundle successfully.\n")
    return 0


def _read(path: Path) -> list[Hap]:
    if path.suffix == ".tar":
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(path) as tar:
                tar.extractall(folder, filter="data")
            return [read_hap(one) for one in sorted(Path(folder).rglob("*.hap"))] or _none()
    if path.is_dir():
        return [read_hap(one) for one in sorted(path.rglob("*.hap"))] or _none()
    return [read_hap(path)]


def _none() -> list[Hap]:
    raise BadHap("no package")


def _put(call: Invocation, hap: Hap) -> None:
    device, machine = call.device, call.device.machine
    old = machine.apps.get(hap.bundle)
    if old is not None:
        machine.stop(old)
    width, height = machine.room
    screen = (
        HandsetPractice(width=width, height=height)
        if hap.bundle == APP_ID
        else list_screen(hap.label, [(hap.bundle, None)], width, height)
    )
    app = App(
        hap.bundle, hap.label, screen, ability=hap.ability, main=hap.main, module=hap.module, code=hap.code,
        version=hap.version, schemes=hap.schemes or (("practice",) if hap.bundle == APP_ID else ()), debug=True,
    )  # fmt: skip
    if isinstance(screen, HandsetPractice):
        app.permissions |= {name: Permission() for name in ASKED}
        screen.logged = lambda text: machine.log.add("I", f"{APP_ID}/practice", text, pid=app.pid)
    machine.apps[hap.bundle] = app
    machine.bring(machine.tasks[-1])
    device.journal.add("install", bundle=hap.bundle, code=hap.code)


async def _uninstall(call: Invocation, rest: list[str]) -> int:
    machine = call.device.machine
    name = _value(rest, "-n", "--bundle-name")
    fault = call.device.faults.active("uninstall", name)
    if fault is not None:
        await call.out(fault.text or SYSTEM)
        return 0
    app = machine.apps.get(name)
    if app is None:
        await call.out("error: failed to uninstall bundle.\ncode:9568386\nerror: uninstall missing installed bundle.\n")
        return 0
    if app.system:
        await call.out(SYSTEM)
        return 0
    machine.remove(app)
    call.device.journal.add("uninstall", bundle=name)
    await call.out("uninstall bundle successfully.\n")
    return 0


async def _clean(call: Invocation, rest: list[str]) -> int:
    machine = call.device.machine
    app = machine.apps.get(_value(rest, "-n", "--bundle-name"))
    what = "data" if "-d" in rest else "cache"
    if app is None or not ("-d" in rest or "-c" in rest) or (app.system and "-d" in rest):
        await call.out(f"error: failed to clean bundle {what} files.\n")
        return 0
    call.device.journal.add("clean", bundle=app.id, what=what)
    if what == "data":
        machine.stop(app)
        if isinstance(app.screen, HandsetPractice):
            app.screen.values.clear()
        machine.bring(machine.tasks[-1])
    await call.out(f"clean bundle {what} files successfully.\n")
    return 0


PROGRAMS: dict[str, Program] = {"bm": bm}
