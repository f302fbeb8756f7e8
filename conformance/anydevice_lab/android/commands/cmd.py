"""cmd: calls of system services by their name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ..programs import Invocation, Program
from . import activities, packages, system

Service = Callable[[Invocation, list[str]], Awaitable[int]]


async def cmd(call: Invocation) -> int:
    """`cmd SERVICE ...`, and `cmd -l`."""
    name, *rest = call.args or [""]
    if call.device.kind.api < 24:
        await call.err("/system/bin/sh: cmd: not found\n")
        return 127
    if name == "-l":
        await call.out("Currently running services:\n" + "".join(f"  {one}\n" for one in sorted(SERVICES)))
        return 0
    service = SERVICES.get(name)
    if service is None:
        await call.err(f"cmd: Can't find service: {name}\n")
        return 20
    return await service(call, rest)


async def _activity(call: Invocation, rest: list[str]) -> int:
    call.args = rest
    return await activities.am(call)


async def _settings(call: Invocation, rest: list[str]) -> int:
    call.args = rest
    return await system.settings(call)


async def _window(call: Invocation, rest: list[str]) -> int:
    call.args = rest
    return await system.wm(call)


async def _ime(call: Invocation, rest: list[str]) -> int:
    call.args = rest
    return await system.ime(call)


async def _input(call: Invocation, rest: list[str]) -> int:
    from .input import input

    call.args = rest
    return await input(call)


async def _connectivity(call: Invocation, rest: list[str]) -> int:
    device = call.device
    if device.kind.api < 30 or device.faults.active("connectivity_absent") is not None:
        await call.err("No shell command implementation.\n")
        return 255
    flags = device.machine.settings["global"]
    if rest[:1] == ["airplane-mode"]:
        if len(rest) == 1:
            await call.out("enabled\n" if flags["airplane_mode_on"] == "1" else "disabled\n")
            return 0
        if rest[1] in ("enable", "disable"):
            if device.faults.active("settings_ignored", "airplane") is None:
                flags["airplane_mode_on"] = "1" if rest[1] == "enable" else "0"
            return 0
    await call.err("Connectivity service commands:\n  airplane-mode [enable|disable]\n")
    return 255


async def _wifi(call: Invocation, rest: list[str]) -> int:
    flags = call.device.machine.settings["global"]
    if rest[:1] == ["set-wifi-enabled"] and rest[1:2] in (["enabled"], ["disabled"]):
        if call.device.faults.active("settings_ignored", "wifi") is None:
            flags["wifi_on"] = "1" if rest[1] == "enabled" else "0"
        return 0
    if rest[:1] == ["status"]:
        await call.out(f"Wifi is {'enabled' if flags['wifi_on'] == '1' else 'disabled'}\n")
        return 0
    await call.err("Wi-Fi (wifi) commands:\n")
    return 255


async def _uimode(call: Invocation, rest: list[str]) -> int:
    secure = call.device.machine.settings["secure"]
    words = {"1": "no", "2": "yes", "0": "auto"}
    if rest[:1] == ["night"]:
        if len(rest) > 1 and call.device.faults.active("settings_ignored", "night") is None:
            secure["ui_night_mode"] = {"yes": "2", "no": "1", "auto": "0"}.get(rest[1], secure["ui_night_mode"])
        await call.out(f"Night mode: {words[secure['ui_night_mode']]}\n")
        return 0
    await call.err("UiModeManager service (uimode) commands:\n")
    return 255


async def _location(call: Invocation, rest: list[str]) -> int:
    secure = call.device.machine.settings["secure"]
    if rest[:1] == ["set-location-enabled"] and len(rest) > 1:
        if call.device.faults.active("settings_ignored", "location") is None:
            secure["location_mode"] = "3" if rest[1] == "true" else "0"
            call.device.machine.hear()
        return 0
    if rest[:1] == ["is-location-enabled"]:
        await call.out("true\n" if secure["location_mode"] != "0" else "false\n")
        return 0
    if rest[:1] == ["providers"]:
        return await _provider(call, rest[1:])
    await call.err("Location service (location) commands:\n")
    return 255


async def _provider(call: Invocation, rest: list[str]) -> int:
    """`set-test-provider-location NAME --location A,B`; the other verbs of test providers are taken silently."""
    if rest[:1] == ["set-test-provider-location"] and "--location" in rest:
        one, two = rest[rest.index("--location") + 1].split(",")
        call.device.machine.located = (float(one), float(two))
    return 0


async def _clipboard(call: Invocation, rest: list[str]) -> int:
    """Stock builds have no shell commands here, and say so with status 0 or on stderr."""
    device = call.device
    if device.faults.active("clipboard") is None:
        old = device.kind.api < 34
        await (call.out if old else call.err)("No shell command implementation.\n")
        return 0 if old else 255
    if device.faults.active("clipboard_denied") is not None and rest[:1] == ["get"]:
        await call.out("\n")
        return 0
    if rest[:1] == ["set"]:
        device.machine.clipboard = rest[-1] if len(rest) > 1 else ""
    elif rest[:1] == ["get"]:
        await call.out(device.machine.clipboard + "\n")
    return 0


async def _notification(call: Invocation, rest: list[str]) -> int:
    machine = call.device.machine
    if rest[:1] == ["post"]:
        words, title, words2 = rest[1:], "", list[str]()
        while words:
            word = words.pop(0)
            if word in ("-t", "--title") and words:
                title = words.pop(0)
            elif word.startswith("-") and words:
                words.pop(0)
            else:
                words2.append(word)
        machine.notifications.append((words2[0] if words2 else "", title, " ".join(words2[1:])))
        call.device.journal.add("notification", tag=words2[0] if words2 else "", title=title, text=" ".join(words2[1:]))
        await call.out("posting:\n  Notification(channel=shell_cmd)\n")
        return 0
    if rest[:1] == ["list"]:
        await call.out("".join(f"0|com.android.shell|2020|{tag}|2000\n" for tag, _, _ in machine.notifications))
        return 0
    await call.err("usage: cmd notification SUBCMD [args]\n")
    return 255


async def _statusbar(call: Invocation, rest: list[str]) -> int:
    if rest[:1] in (["expand-notifications"], ["expand-settings"], ["collapse"]):
        call.device.journal.add("statusbar", what=rest[0])
        return 0
    await call.err("Status bar commands:\n")
    return 255


async def _display(call: Invocation, rest: list[str]) -> int:
    if rest[:1] == ["get-displays"]:
        width, height = call.device.machine.geometry.size
        await call.out(f'Displays:\nDisplay id 0: DisplayInfo{{"Built-in Screen", real {width} x {height}}}\n')
        return 0
    await call.err("Display manager commands:\n")
    return 255


async def _silent(_call: Invocation, _rest: list[str]) -> int:
    return 0


SERVICES: dict[str, Service] = {
    "activity": _activity, "package": packages.package, "settings": _settings, "window": _window,
    "input_method": _ime, "input": _input, "connectivity": _connectivity, "wifi": _wifi, "uimode": _uimode,
    "location": _location, "clipboard": _clipboard, "notification": _notification, "statusbar": _statusbar,
    "display": _display, "deviceidle": _silent, "battery": _silent,
}  # fmt: skip
PROGRAMS: dict[str, Program] = {"cmd": cmd}
