"""param, power-shell, ps, SP_daemon, reboot and what else is small."""

from __future__ import annotations

import time

import anyio

from ...guest import processes
from ..framework.params import SETTABLE
from ..programs import Invocation, Program


def rows(call: Invocation) -> list[tuple[int, str]]:
    """The processes there are."""
    machine = call.device.machine
    apps = [(app.pid, app.id) for app in machine.apps.values() if app.running]
    return [(1, "init"), *apps, *((pid, other.name) for pid, other in call.device.running.items())]


async def param(call: Invocation) -> int:
    """`param get [NAME]`, `param set NAME VALUE`, `param ls`."""
    verb, *rest = call.args or [""]
    params = call.device.machine.params
    if verb == "get" and rest:
        if rest[0] not in params:
            await call.out(f'Get parameter "{rest[0]}" fail! errNum is:106!\n')
            return 0
        await call.out(params[rest[0]] + (" \n" if rest[0].startswith("const.product.") else "\n"))
        return 0
    if verb in ("get", "ls"):
        await call.out("".join(f"    {name} = {value}\n" for name, value in sorted(params.items())))
        return 0
    if verb == "set" and len(rest) == 2:
        free = call.device.kind.debuggable and not rest[0].startswith("const.")
        denied = (
            not (free or rest[0].startswith(SETTABLE)) or call.device.faults.active("param_denied", rest[0]) is not None
        )
        if denied:
            await call.out(f"Set parameter {rest[0]} {rest[1]} fail! errNum is:115!\n")
            return 0
        params[rest[0]] = rest[1]
        await call.out(f"Set parameter {rest[0]} {rest[1]} success\n")
        return 0
    await call.out("param command usage: param [get|set|wait|ls|save]\n")
    return 0


async def power_shell(call: Invocation) -> int:
    """`power-shell wakeup|suspend|display|timeout -o MS|timeout -r|setmode N`."""
    verb, *rest = call.args or ["help"]
    machine = call.device.machine
    ignored = call.device.faults.active("power_ignored", verb) is not None
    if verb == "wakeup":
        if not ignored:
            machine.wake()
        await call.out("WakeupDevice is called\n")
    elif verb == "suspend":
        if not ignored:
            machine.sleep()
        await call.out("SuspendDevice is called\n")
    elif verb == "timeout" and rest[:1] == ["-r"]:
        machine.dark_after = 600_000
        await call.out("Restore screen off time\n")
    elif verb == "timeout" and rest[:1] == ["-o"] and len(rest) > 1 and rest[1].isdigit():
        machine.dark_after = int(rest[1])
        await call.out(f"Override screen off time to {rest[1]}\n")
    elif verb == "setmode" and rest:
        await call.out(f"Set Mode: {rest[0]}\nSet Mode Success!\n")
    else:
        await call.out("usage: power-shell <command> <options>\n")
    return 0


async def ps(call: Invocation) -> int:
    """All processes, with `-ef` and with `-A`."""
    day = time.strftime("%H:%M:%S")
    if any("f" in word for word in call.args):
        text = "UID            PID  PPID C STIME TTY          TIME CMD\n" + "".join(
            f"{'shell' if name in call.device.commands else '20020':14s} {pid:4d}     1 0 {day} ?     00:00:01 {name}\n"
            for pid, name in rows(call)
        )
    else:
        text = "  PID TTY          TIME CMD\n" + "".join(
            f"{pid:5d} ?        00:00:01 {name[:15]}\n" for pid, name in rows(call)
        )
    await call.out(text)
    return 0


async def sp_daemon(call: Invocation) -> int:
    """`SP_daemon -N n -PKG B -c -g -f -r`: n readings, one a second."""
    words = call.args
    count = int(words[words.index("-N") + 1]) if "-N" in words else 1
    bundle = words[words.index("-PKG") + 1] if "-PKG" in words else ""
    app = call.device.machine.apps.get(bundle)
    for number in range(count):
        told = {"timestamp": str(int(time.time() * 1000))}
        if "-c" in words:
            told |= {"TotalcpuUsage": "12.500000", "cpu0Frequency": "1430000", "cpu0Usage": "11.0"}
            if app is not None and app.running:
                told |= {"ProcAppName": app.id, "ProcCpuUsage": "3.10", "ProcId": str(app.pid)}
        if "-f" in words:
            told |= {"fps": "60", "refreshrate": "60"}
        if "-r" in words and app is not None and app.running:
            told["pss"] = "80412"
        await call.out(f"\norder:{number} " + "".join(f"order:{i} {k}={v}\n" for i, (k, v) in enumerate(told.items())))
        if number + 1 < count:
            await anyio.sleep(1)
    await call.out("SP_daemon exec finished!\n")
    return 0


async def reboot(call: Invocation) -> int:
    """The device boots again."""
    await call.device.reboot()
    return 0


async def cat(call: Invocation) -> int:
    """Files, and what the kernel tells of a process of the device."""
    code = 0
    for word in call.args:
        if word.startswith("-"):
            continue
        if word.startswith("/proc/"):
            told = _proc(call, word)
            if told is None:
                await call.err(f"cat: {word}: No such file or directory\n")
                code = 1
            else:
                await call.out(told)
            continue
        try:
            await call.out(call.path(word).read_bytes())
        except OSError as error:
            await call.err(f"cat: {word}: {error.strerror}\n")
            code = 1
    if not [word for word in call.args if not word.startswith("-")]:
        while data := await call.read():
            await call.out(data)
    return code


async def ifconfig(call: Invocation) -> int:
    """The network it is in."""
    await call.out(
        f"lo        Link encap:Local Loopback\n          inet addr:127.0.0.1  Mask:255.0.0.0\n"
        f"wlan0     Link encap:Ethernet\n          inet addr:{call.device.address}  Bcast:192.0.2.255  "
        f"Mask:255.255.255.0\n"
    )
    return 0


def _proc(call: Invocation, path: str) -> str | None:
    pid, _, what = path.removeprefix("/proc/").partition("/")
    app = next((app for app in call.device.machine.apps.values() if app.running and str(app.pid) == pid), None)
    if app is None:
        return None
    if what == "status":
        return (
            f"Name:\t{app.id[-15:]}\nState:\tS (sleeping)\nPid:\t{app.pid}\nPPid:\t1\nUid:\t{app.uid}\t{app.uid}\t"
            f"{app.uid}\t{app.uid}\nVmPeak:\t 2312344 kB\nVmSize:\t 2310000 kB\nVmHWM:\t  210344 kB\n"
            "VmRSS:\t  182348 kB\nThreads:\t42\n"
        )
    if what == "cmdline":
        return app.id + "\0"
    if what == "stat":
        return f"{app.pid} ({app.id[-15:]}) S 1 1 0 0 -1 0 0 0 0 0 {int((time.monotonic() - app.started) * 5)} 20 0 0\n"
    return None


PROGRAMS: dict[str, Program] = {
    **processes.programs(rows), "param": param, "power-shell": power_shell, "ps": ps, "SP_daemon": sp_daemon,
    "reboot": reboot, "cat": cat, "ifconfig": ifconfig,
}  # fmt: skip
