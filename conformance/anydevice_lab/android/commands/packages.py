"""pm and `cmd package`: what is installed, and installing."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from anydevice.testing.screen import FakeScreen
from anydevice_schemas.practice import APP_ID

from ...handset.apps import HandsetPractice, list_screen
from ..apk import Manifest, read_apk
from ..framework.apps import App
from ..framework.intents import Intent, resolve
from ..programs import Invocation, Program

Session = dict[str, object]
UNKNOWN = "Failure [not installed for 0]\n"


async def pm(call: Invocation) -> int:
    """`pm VERB ...`, which is the same as `cmd package VERB ...`."""
    return await package(call, list(call.args))


async def package(call: Invocation, words: list[str]) -> int:
    """One call of the package service."""
    verb, *rest = words or [""]
    steps = {
        "list": _list, "path": _path, "has-feature": _has_feature, "resolve-activity": _resolve,
        "query-activities": _query, "install": _install, "install-create": _create, "install-write": _write,
        "install-commit": _commit, "install-abandon": _abandon, "uninstall": _uninstall, "clear": _clear,
        "grant": _grant, "revoke": _grant, "clear-permission-flags": _clear_flags,
        "dump": _dump, "disable-user": _enable, "enable": _enable,
        "get-max-users": _users,
    }  # fmt: skip
    step = steps.get(verb)
    if step is None:
        await call.err(f"Unknown command: {verb}\nError: unknown command '{verb}'\n")
        return 255
    rest = _without_user(rest)
    return await step(call, verb, rest)


def _without_user(words: list[str]) -> list[str]:
    found: list[str] = []
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--user" and words:
            words.pop(0)
        else:
            found.append(word)
    return found


async def _users(call: Invocation, _verb: str, _rest: list[str]) -> int:
    await call.out("Maximum supported users: 4\n")
    return 0


async def _list(call: Invocation, _verb: str, rest: list[str]) -> int:
    what, *more = rest or [""]
    machine = call.device.machine
    if what == "features":
        await call.out("".join(f"feature:{name}\n" for name in sorted(call.device.kind.features)))
        return 0
    if what == "packages":
        names = [word for word in more if not word.startswith("-")]
        for app in machine.apps.values():
            if ("-3" in more and app.system) or ("-s" in more and not app.system):
                continue
            if ("-d" in more and not app.disabled) or ("-e" in more and app.disabled):
                continue
            if names and not any(name in app.package for name in names):
                continue
            path = f"{_apk(app)}=" if "-f" in more else ""
            version = f" versionCode:{app.version}" if "--show-versioncode" in more else ""
            await call.out(f"package:{path}{app.package}{version}\n")
        return 0
    if what in ("permissions", "instrumentation", "libraries", "users"):
        await call.out("Users:\n\tUserInfo{0:Owner:4c13} running\n" if what == "users" else "")
        return 0
    await call.err(f"Error: unknown list type '{what}'\n")
    return 255


def _apk(app: App) -> str:
    return app.apk or (
        f"/system/app/{app.label}/{app.label}.apk" if app.system else f"/data/app/{app.package}/base.apk"
    )


async def _path(call: Invocation, _verb: str, rest: list[str]) -> int:
    app = call.device.machine.apps.get(rest[0] if rest else "")
    if app is None:
        return 1
    await call.out(f"package:{_apk(app)}\n")
    return 0


async def _has_feature(call: Invocation, _verb: str, rest: list[str]) -> int:
    has = bool(rest) and rest[0] in call.device.kind.features
    await call.out("true\n" if has else "false\n")
    return 0 if has else 1


def _intent(words: list[str]) -> tuple[Intent, bool]:
    from .activities import read_intent

    brief = "--brief" in words
    return read_intent([word for word in words if word not in ("--brief", "--components")]), brief


async def _resolve(call: Invocation, _verb: str, rest: list[str]) -> int:
    intent, brief = _intent(rest)
    found = resolve(call.device.machine, intent)
    if not found:
        await call.out("No activity found\n")
        return 0
    several = len(found) > 1
    name = "android/com.android.internal.app.ResolverActivity" if several else found[0].component
    facts = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n"
    await call.out(facts + name + "\n" if brief else f"{facts}ActivityInfo:\n    name={name}\n")
    return 0


async def _query(call: Invocation, _verb: str, rest: list[str]) -> int:
    intent, brief = _intent(rest)
    found = resolve(call.device.machine, intent)
    if not found:
        await call.out("No activities found\n")
        return 0
    await call.out(f"{len(found)} activities found:\n")
    for number, app in enumerate(found):
        if "--components" in rest:
            await call.out(f"{app.component}\n")
        elif brief:
            await call.out(
                f"  Activity #{number}:\n    priority=0 preferredOrder=0 match=0x108000\n    {app.component}\n"
            )
        else:
            await call.out(f"  Activity #{number}:\n    name={app.activity}\n    packageName={app.package}\n")
    return 0


async def _take(call: Invocation, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0 and (data := await call.read()):
        parts.append(data[:size])
        size -= len(parts[-1])
    return b"".join(parts)


async def _install(call: Invocation, _verb: str, rest: list[str]) -> int:
    """`install [OPTION...] -S SIZE` with the package on stdin, or `install PATH`."""
    size = int(rest[rest.index("-S") + 1]) if "-S" in rest else None
    words = [word for i, word in enumerate(rest) if not word.startswith("-") and rest[i - 1] not in ("-S", "-i")]
    if size is not None:
        data = await _take(call, size)
        if len(data) < size:
            await call.err("cmd: Failure calling service package: Broken pipe (32)\n")
            return 224
    elif words and (path := call.path(words[-1])).is_file():
        data = path.read_bytes()
    else:
        given = words[-1] if words else ""
        await call.err(f"Error: Unable to open file: {given}\nConsider using a file under /data/local/tmp/\n")
        return 255
    return await _settle(call, {"base": data}, rest)


async def _settle(call: Invocation, parts: dict[str, bytes], options: list[str]) -> int:
    fault = call.device.faults.active("install")
    problem = (
        f"Failure [{fault.text or 'INSTALL_FAILED_INSUFFICIENT_STORAGE'}]" if fault else _put(call, parts, options)
    )
    await call.out((problem or "Success") + "\n")
    return 1 if problem else 0


def _put(call: Invocation, parts: dict[str, bytes], options: list[str]) -> str:
    """Installs a package of one or several parts; why it does not."""
    manifest: Manifest | None = None
    for data in parts.values():
        found = read_apk(data)
        if found is None:
            return "Failure [INSTALL_PARSE_FAILED_NOT_APK: Failed to parse]"
        manifest = manifest or found
    assert manifest is not None
    machine, name = call.device.machine, manifest.package
    old = machine.apps.get(name)
    version = manifest.version
    if old is not None and old.system is False:
        if "-r" not in options and call.device.kind.api < 28:
            return f"Failure [INSTALL_FAILED_ALREADY_EXISTS: Attempt to re-install {name} without first uninstalling.]"
        if name in machine.signers and manifest.signer != machine.signers[name]:
            return (
                f"Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: Existing package {name} signatures do not match newer "
                "version; ignoring!]"
            )
        if version < old.version and "-d" not in options:
            return "Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected]"
    if manifest.test_only and "-t" not in options:
        return "Failure [INSTALL_FAILED_TEST_ONLY: Failed to install test-only apk]"
    width, height = machine.room
    screen: FakeScreen
    if name == APP_ID:
        screen = HandsetPractice(width=width, height=height)
    else:
        screen = list_screen(manifest.label, [], width, height)
    if old is not None:
        machine.stop(old)
    app = App(name, manifest.label, screen, version=version, activity=f"{name}.MainActivity")
    app.apk = f"/data/app/{hashlib.sha1(name.encode()).hexdigest()[:8]}/{name}/base.apk"
    if old is not None:
        app.granted = set(old.granted)
    if "-g" in options:
        app.granted |= set(manifest.permissions)
    machine.apps[name] = app
    machine.signers[name] = manifest.signer
    for part, data in parts.items():
        host = call.path(app.apk).with_name(f"{part}.apk")
        host.parent.mkdir(parents=True, exist_ok=True)
        host.write_bytes(data)
    return ""


async def _create(call: Invocation, _verb: str, rest: list[str]) -> int:
    sessions = call.device.machine.sessions
    number = 1000 + len(sessions) + call.device.machine.sessions_closed
    sessions[number] = ({}, rest)
    await call.out(f"Success: created install session [{number}]\n")
    return 0


async def _write(call: Invocation, _verb: str, rest: list[str]) -> int:
    size = int(rest[rest.index("-S") + 1]) if "-S" in rest else None
    words = [word for i, word in enumerate(rest) if word == "-" or (not word.startswith("-") and rest[i - 1] != "-S")]
    number, name = int(words[0]), words[1]
    if number not in call.device.machine.sessions:
        await call.err(f"Failure [INSTALL_FAILED_INTERNAL_ERROR: session {number} not found]\n")
        return 1
    source = words[2] if len(words) > 2 else "-"
    data = await _take(call, size or 0) if source == "-" else call.path(source).read_bytes()
    if size is not None and len(data) < size:
        await call.err("cmd: Failure calling service package: Broken pipe (32)\n")
        return 224
    call.device.machine.sessions[number][0][Path(name).stem] = data
    await call.out(f"Success: streamed {len(data)} bytes\n")
    return 0


async def _commit(call: Invocation, _verb: str, rest: list[str]) -> int:
    machine = call.device.machine
    found = machine.sessions.pop(int(rest[0]), None) if rest and rest[0].isdigit() else None
    if found is None:
        await call.err("Failure [INSTALL_FAILED_INTERNAL_ERROR: session not found]\n")
        return 1
    machine.sessions_closed += 1
    return await _settle(call, *found)


async def _abandon(call: Invocation, _verb: str, rest: list[str]) -> int:
    call.device.machine.sessions.pop(int(rest[0]), None)
    await call.out("Success\n")
    return 0


async def _uninstall(call: Invocation, _verb: str, rest: list[str]) -> int:
    names = [word for word in rest if not word.startswith("-")]
    machine = call.device.machine
    app = machine.apps.get(names[0]) if names else None
    if app is None:
        await call.out("Failure [DELETE_FAILED_INTERNAL_ERROR]\n")
        return 1
    if app.system:
        await call.out("Failure [DELETE_FAILED_INTERNAL_ERROR]\n")
        return 1
    machine.stop(app)
    if machine.front is app:
        machine.home()
    del machine.apps[app.package]
    machine.signers.pop(app.package, None)
    await call.out("Success\n")
    return 0


async def _clear(call: Invocation, _verb: str, rest: list[str]) -> int:
    app = call.device.machine.apps.get(rest[0] if rest else "")
    if app is None:
        await call.out("Failed\n")
        return 1
    call.device.machine.stop(app)
    app.granted.clear()
    await call.out("Success\n")
    return 0


async def _grant(call: Invocation, verb: str, rest: list[str]) -> int:
    app = call.device.machine.apps.get(rest[0]) if len(rest) > 1 else None
    if app is None:
        name = rest[0] if rest else ""
        await call.err(
            f"\nException occurred while executing '{verb}':\n"
            f"java.lang.IllegalArgumentException: Unknown package: {name}\n"
        )
        return 255
    if re.fullmatch(r"android\.permission\.[A-Z_0-9]+", rest[1]) is None:
        await call.err(
            f"\nException occurred while executing '{verb}':\njava.lang.IllegalArgumentException: Unknown permission: "
            f"{rest[1]}\n"
        )
        return 255
    if verb == "grant":
        app.granted.add(rest[1])
        app.withheld.pop(rest[1], None)
    else:
        app.granted.discard(rest[1])
        app.withheld[rest[1]] = True
    return 0


async def _clear_flags(call: Invocation, _verb: str, rest: list[str]) -> int:
    """`clear-permission-flags PACKAGE PERMISSION FLAG...`"""
    app = call.device.machine.apps.get(rest[0]) if len(rest) > 2 else None
    if app is None:
        await call.err("Error: java.lang.IllegalArgumentException: Unknown package\n")
        return 255
    if "user-set" in rest[2:] and rest[1] in app.withheld:
        app.withheld[rest[1]] = False
    return 0


async def _enable(call: Invocation, verb: str, rest: list[str]) -> int:
    app = call.device.machine.apps.get(rest[0] if rest else "")
    if app is None:
        await call.err(f"Error: java.lang.IllegalArgumentException: Unknown package: {rest[0] if rest else ''}\n")
        return 255
    app.disabled = verb != "enable"
    await call.out(f"Package {app.package} new state: {'enabled' if verb == 'enable' else 'disabled-user'}\n")
    return 0


async def _dump(call: Invocation, _verb: str, rest: list[str]) -> int:
    await call.out(package_facts(call, rest[0] if rest else ""))
    return 0


def package_facts(call: Invocation, name: str) -> str:
    """What `dumpsys package NAME` tells."""
    app = call.device.machine.apps.get(name)
    if app is None:
        return f"Unable to find package: {name}\n"
    grants = "".join(f"        {one}: granted=true, flags=[ USER_SET]\n" for one in sorted(app.granted))
    grants += "".join(
        f"        {one}: granted=false, flags=[ {'USER_SET' if said else ''}]\n"
        for one, said in sorted(app.withheld.items())
    )
    return (
        f"Packages:\n  Package [{name}] (1a2b3c4):\n    userId=10123\n    codePath={Path(_apk(app)).parent}\n"
        f"    versionCode={app.version} minSdk=24 targetSdk=35\n    versionName=1.{app.version}\n"
        f"    User 0: ceDataInode=0 installed=true hidden=false suspended=false stopped=false enabled=0\n"
        f"      runtime permissions:\n{grants}"
    )


PROGRAMS: dict[str, Program] = {"pm": pm}
