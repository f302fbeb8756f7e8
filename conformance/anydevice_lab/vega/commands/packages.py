"""vpm: what is installed."""

from __future__ import annotations

from ..apps import LAUNCHER, VegaApp, read_vpkg
from ..programs import Invocation, Program

USAGE = "Usage: vpm list packages|components|apps | info ID | install PATH [--force] | uninstall ID\n"


async def vpm(call: Invocation) -> int:
    """Lists, describes, installs and uninstalls packages."""
    words = [word for word in call.args if not word.startswith("-")]
    verb, rest = (words[0], words[1:]) if words else ("", [])
    if verb == "list" and rest:
        return await _list(call, rest[0])
    if verb == "info" and rest:
        return await _info(call, rest[0])
    if verb == "install" and rest:
        return await install(call, rest[0])
    if verb == "uninstall" and rest:
        return await uninstall(call, rest[0])
    await call.err(USAGE)
    return 1


async def _list(call: Invocation, what: str) -> int:
    apps = sorted(call.device.machine.apps.values(), key=lambda app: app.id)
    rows = {
        "packages": ("package ids: ", [app.id for app in apps]),
        "components": ("component ids: ", [app.component for app in apps]),
        "apps": ("app ids: ", [app.component for app in apps if app.launched]),
    }.get(what)
    if rows is None:
        await call.err(USAGE)
        return 1
    head, ids = rows
    await call.out(f"{head}\n" + "".join(f"    {name}\n" for name in ids))
    return 0


async def _info(call: Invocation, name: str) -> int:
    machine = call.device.machine
    if (app := machine.apps.get(name)) is not None:
        await call.out(f"id: {app.id}\ntitle:{app.label}\nversion: {app.version}\n")
        return 0
    if (app := machine.by_component(name)) is not None:
        category = "com.amazon.category.main" if app.launched else "com.amazon.category.kepler.launcher"
        await call.out(f"id: {name}\ntype: interactive\ncategories: {category}\nlaunch type: default\n")
        return 0
    await call.err(f"Error: no package or component with id {name}\n")
    return 1


async def install(call: Invocation, path: str) -> int:
    """Installs a package file; tells its phases, each with its end."""
    device = call.device
    title = path.rpartition("/")[2].removesuffix(".vpkg")
    try:
        package = read_vpkg(call.path(path))
    except FileNotFoundError:
        await call.err(f"Error: cannot open {path}: No such file or directory\n")
        return 1
    except (ValueError, OSError):
        await call.out(f"Installing/Updating '{title}' ...failed\n")
        return 1
    if (fault := device.faults.active("install", package.id)) is not None:
        await call.out(fault.text or f"Installing/Updating '{title}' ...success\nVerifying '{title}' ...failed\n")
        return fault.code
    device.machine.install(package)
    device.journal.add("install", id=package.id)
    await call.out(f"Installing/Updating '{title}' ...success\n")
    return 0


async def uninstall(call: Invocation, name: str) -> int:
    """Uninstalls a package; one that came with the device stays."""
    app: VegaApp | None = call.device.machine.apps.get(name)
    if app is None or app.id == LAUNCHER:
        await call.err(f"Error: package {name} {'is not installed' if app is None else 'cannot be uninstalled'}\n")
        return 1
    call.device.machine.uninstall(app)
    call.device.journal.add("uninstall", id=name)
    await call.out(f"Uninstalling '{name}' ...success\n")
    return 0


PROGRAMS: dict[str, Program] = {"vpm": vpm}
