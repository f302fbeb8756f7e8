"""getprop, setprop, wm, settings, svc, ime, logcat, log and reboot."""

from __future__ import annotations

import re
import time

import anyio

from ..framework.logs import LEVELS, Line
from ..programs import Invocation, Program


async def getprop(call: Invocation) -> int:
    """All properties, or one; an unknown one is an empty line (or the default that is given)."""
    props = call.device.machine.props
    if not call.args:
        await call.out("".join(f"[{key}]: [{value}]\n" for key, value in sorted(props.items())))
    else:
        default = call.args[1] if len(call.args) > 1 else ""
        await call.out(props.get(call.args[0], default) + "\n")
    return 0


async def setprop(call: Invocation) -> int:
    """Sets a property; those of the system are refused."""
    if len(call.args) != 2:
        await call.err("usage: setprop NAME VALUE\n")
        return 1
    name, value = call.args
    if name.startswith(("ro.", "sys.", "persist.sys.")):
        await call.err(f"Failed to set property '{name}' to '{value}'.\nSee dmesg for error reason.\n")
        return 1
    call.device.machine.props[name] = value
    return 0


async def wm(call: Invocation) -> int:
    """Size and density of the display, their overrides, and its rotation."""
    machine, geometry = call.device.machine, call.device.machine.geometry
    what, *rest = [word for word in call.args if word not in ("-d", "0")] or [""]
    ignored = bool(rest) and call.device.faults.active("settings_ignored", "wm") is not None
    if what == "size":
        if not rest:
            text = "Physical size: {}x{}\n".format(*geometry.physical)
            if geometry.size_override:
                text += "Override size: {}x{}\n".format(*geometry.size_override)
            await call.out(text)
        elif (found := re.fullmatch(r"(\d+)x(\d+)", rest[0])) or rest[0] == "reset":
            if not ignored:
                geometry.size_override = (int(found[1]), int(found[2])) if found else None
                machine.rotate(geometry.rotation)
        else:
            await call.err(f"Error: bad size {rest[0]}\n")
            return 255
        return 0
    if what == "density":
        if not rest:
            text = f"Physical density: {geometry.physical_density}\n"
            if geometry.density_override:
                text += f"Override density: {geometry.density_override}\n"
            await call.out(text)
        elif not ignored:
            geometry.density_override = None if rest[0] == "reset" else int(rest[0])
            machine.rotate(geometry.rotation)
        return 0
    if what in ("user-rotation", "set-user-rotation"):
        if not rest:
            await call.out("free\n" if machine.settings["system"]["accelerometer_rotation"] == "1" else "lock\n")
        elif rest[0] in ("lock", "free"):
            machine.settings["system"]["accelerometer_rotation"] = "0" if rest[0] == "lock" else "1"
            if rest[0] == "lock" and len(rest) > 1:
                machine.settings["system"]["user_rotation"] = rest[1]
            turned = machine.settings["system"]
            machine.rotate(int(turned["user_rotation"]) if rest[0] == "lock" else 0)
        return 0
    if what == "dismiss-keyguard":
        machine.locked = False
        return 0
    await call.err("Window manager (window) commands:\n")
    return 255


async def settings(call: Invocation) -> int:
    """Reads and writes settings; one that is not set is `null`."""
    words = list(call.args)
    while words[:1] == ["--user"]:
        del words[:2]
    verb, space, *rest = [*words, "", ""]
    rest = [word for word in rest if word]
    machine = call.device.machine
    if space not in machine.settings:
        await call.err(f"Invalid namespace '{space}'\n" if space else "Settings provider (settings) commands:\n")
        return 255
    table = machine.settings[space]
    if verb == "list":
        await call.out("".join(f"{key}={value}\n" for key, value in sorted(table.items())))
        return 0
    if not rest:
        await call.err("Bad arguments\n")
        return 255
    key = rest[0]
    if verb == "get":
        await call.out(table.get(key, "null") + "\n")
    elif verb == "delete":
        await call.out(f"Deleted {int(table.pop(key, None) is not None)} rows\n")
    elif verb == "put" and len(words) >= 4:
        if call.device.faults.active("settings_ignored", f"{space} {key}") is None:
            table[key] = words[3]
            _apply(call, space, key, words[3])
    else:
        await call.err("Bad arguments\n")
        return 255
    return 0


def _apply(call: Invocation, space: str, key: str, value: str) -> None:
    """What a setting does besides being kept. The flag of airplane mode alone does nothing, as on a device."""
    machine = call.device.machine
    turned = machine.settings["system"]
    if space == "system" and key in ("user_rotation", "accelerometer_rotation"):
        # Left to its sensor it lies as it is held, which is upright.
        wanted = "0" if turned["accelerometer_rotation"] == "1" else turned["user_rotation"]
        if wanted.isdigit() and int(wanted) != machine.geometry.rotation:
            machine.rotate(int(wanted))
    elif (space, key) == ("secure", "location_mode"):
        machine.settings["secure"]["location_providers_allowed"] = "gps,network" if value != "0" else ""
        machine.hear()


async def svc(call: Invocation) -> int:
    """Turns radios on and off: `svc wifi|data|bluetooth enable|disable`; `svc power stayon|shutdown|reboot`."""
    what, verb, *_ = [*call.args, "", ""]
    keys = {"wifi": "wifi_on", "data": "mobile_data", "bluetooth": "bluetooth_on"}
    if what in keys and verb in ("enable", "disable"):
        if call.device.faults.active("settings_ignored", f"svc {what}") is None:
            call.device.machine.settings["global"][keys[what]] = "1" if verb == "enable" else "0"
        return 0
    if what == "power" and verb == "reboot":
        await call.device.reboot()
        return 0
    if what == "power" and verb in ("stayon", "shutdown"):
        if verb == "shutdown":
            await call.device.shut_down()
        return 0
    await call.err("Available commands:\n    help     Show information about the subcommands\n")
    return 1


async def ime(call: Invocation) -> int:
    """Lists, enables and chooses keyboards."""
    secure = call.device.machine.settings["secure"]
    enabled = secure["enabled_input_methods"].split(":")
    have = [*dict.fromkeys([*call.device.machine.first_keyboards(), *enabled])]
    verb, *rest = call.args or [""]
    if verb == "list":
        rows = have if "-a" in rest else enabled
        await call.out("".join(f"{row}\n" if "-s" in rest else f"{row}:\n  mId={row}\n" for row in rows))
        return 0
    if verb == "reset":
        secure["enabled_input_methods"] = secure["default_input_method"] = have[0]
        await call.out("Reset current and enabled IMEs for user #0\n")
        return 0
    if verb in ("enable", "disable", "set") and rest:
        name = rest[0]
        if name not in have:
            await call.err(f"Unknown input method {name} cannot be {verb}d for user #0\n")
            return 255
        if verb == "set":
            if name not in enabled:
                await call.err(f"Unknown input method {name} cannot be selected for user #0\n")
                return 255
            secure["default_input_method"] = name
            await call.out(f"Input method {name} selected for user #0\n")
        else:
            enabled = [one for one in enabled if one != name] + ([name] if verb == "enable" else [])
            secure["enabled_input_methods"] = ":".join(enabled)
            await call.out(f"Input method {name}: now {verb}d for user #0\n")
        return 0
    await call.err("ime <command>:\n")
    return 255


async def log(call: Invocation) -> int:
    """Writes a line: `log [-p LEVEL] [-t TAG] TEXT`."""
    words, level, tag = list(call.args), "I", "log"
    while words and words[0] in ("-p", "-t") and len(words) > 1:
        if words[0] == "-p":
            level = words[1].upper()[:1]
        else:
            tag = words[1]
        del words[:2]
    call.device.machine.log.add(level, tag, " ".join(words), pid=call.pid)
    return 0


async def logcat(call: Invocation) -> int:
    """Prints the log, and goes on with what comes unless it is told `-d`."""
    words, form, year, dump, filters = list(call.args), "threadtime", False, False, list[str]()
    buffers, pid, last, since, pattern = {"main", "system", "crash"}, 0, None, 0.0, ""
    while words:
        word = words.pop(0)
        if word in ("-c", "--clear"):
            call.device.machine.log.clear()
            return 0
        if word in ("-d", "--dump"):
            dump = True
        elif word in ("-v", "--format") and words:
            for part in words.pop(0).split(","):
                form, year = (form, True) if part == "year" else (part, year)
        elif word.startswith("-v") and len(word) > 2:
            form = word[2:]
        elif word in ("-b", "--buffer") and words:
            named = set(words.pop(0).split(","))
            buffers = {"main", "system", "crash", "events", "radio"} if "all" in named else named
        elif word.startswith("--pid"):
            pid = int(word.partition("=")[2] or words.pop(0))
        elif word in ("-t", "-T", "--tail") and words:
            dump = dump or word == "-t"
            given = words.pop(0)
            if given.isdigit():
                last = int(given)
            else:
                since = _moment(given)
        elif word in ("-e", "--regex") and words:
            pattern = words.pop(0)
        elif word == "-s":
            filters.append("*:S")
        elif not word.startswith("-"):
            filters.append(word)

    def wanted(line: Line) -> bool:
        return (
            line.buffer in buffers
            and (not pid or line.pid == pid)
            and line.at >= since
            and _loud(line, filters)
            and (not pattern or re.search(pattern, line.text) is not None)
        )

    store = call.device.machine.log
    seen = store.count
    lines = [line for line in store.since(0) if wanted(line)]
    begun = {line.buffer for line in lines}
    head = "".join(f"--------- beginning of {name}\n" for name in ("main", "system", "crash") if name in begun)
    shown = lines if last is None else lines[-last:] if last else []
    await call.out(head + "".join(line.shown(form, year) + "\n" for line in shown))
    while not dump:
        with anyio.move_on_after(0.5):
            await store.more()
        more, seen = store.since(seen), store.count
        await call.out("".join(line.shown(form, year) + "\n" for line in more if wanted(line)))
    return 0


def _loud(line: Line, filters: list[str]) -> bool:
    """Whether filters such as `Tag:W *:S` let a line through."""
    if not filters:
        return True
    levels = dict(part.rpartition(":")[::2] if ":" in part else (part, "V") for part in filters)
    least = levels.get(line.tag, levels.get("*", "V")).upper()
    return least != "S" and LEVELS.find(line.level) >= LEVELS.find(least)


def _moment(text: str) -> float:
    """A time as `-T` takes it: seconds since the epoch, or month-day and time."""
    if re.fullmatch(r"\d+\.\d+", text):
        return float(text)
    year = "" if re.match(r"\d{4}-", text) else time.strftime("%Y-")
    whole, _, part = (year + text).partition(".")
    try:
        return time.mktime(time.strptime(whole, "%Y-%m-%d %H:%M:%S")) + float(f"0.{part or 0}")
    except ValueError:
        return 0.0


async def reboot(call: Invocation) -> int:
    """The device goes away and comes back; with `-p` it stays away."""
    await (call.device.shut_down() if call.args[:1] == ["-p"] else call.device.reboot())
    return 0


PROGRAMS: dict[str, Program] = {
    "getprop": getprop, "setprop": setprop, "wm": wm, "settings": settings, "svc": svc, "ime": ime, "log": log,
    "logcat": logcat, "reboot": reboot,
}  # fmt: skip
