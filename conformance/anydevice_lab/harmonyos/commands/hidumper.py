"""hidumper: what the services of the system tell, in the spellings of newer and of older builds."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from ..framework.machine import BATTERY
from ..programs import Invocation, Program
from .system import rows

ABILITY = "\n-------------------------------[ability]-------------------------------\n\n\n"
POSTURE = "-motion,"


async def hidumper(call: Invocation) -> int:
    """`hidumper -s SERVICE -a ARGS`, `--mem PID`, `--cpuusage [PID]`, `-e`, `-ls`."""
    words = list(call.args)
    if "-s" in words:
        at = words.index("-s")
        service = words[at + 1] if len(words) > at + 1 else ""
        asked = " ".join(words[words.index("-a") + 1 :]) if "-a" in words else ""
        told = _service(call, service, asked)
        await call.out(told)
    elif "--mem" in words:
        await call.out(_memory(call, _after(words, "--mem")))
    elif "--cpuusage" in words:
        await call.out(_cpu(call, _after(words, "--cpuusage")))
    elif "-e" in words:
        await call.out(_faults(call))
    elif "-ls" in words:
        await call.out("System ability list:\n" + "".join(f"{name} " for name in SERVICES) + "\n")
    else:
        await call.out("usage:\n  -h                          |help text for the tool\n")
    return 0


def _after(words: list[str], name: str) -> str:
    at = words.index(name)
    return words[at + 1] if len(words) > at + 1 else ""


def _service(call: Invocation, name: str, asked: str) -> str:
    known = NUMBERS.get(name, name)
    service = SERVICES.get(known)
    if service is None:
        return f"{ABILITY}----------------------------------{name}----------------------------------\nNo such service\n"
    return (
        f"{ABILITY}----------------------------------{known}----------------------------------\n{service(call, asked)}"
    )


def _render(call: Invocation, asked: str) -> str:
    machine, old = call.device.machine, call.device.kind.old
    if asked.strip("'\"- ") not in ("screen", "a"):
        return ""
    width, height = machine.geometry.physical
    power = "POWER_STATUS_ON" if machine.awake else ("POWER_STATUS_OFF" if old else "POWER_STATUS_SUSPEND")
    size = f"{width}x{height}" if time.monotonic() >= machine.ready_from else "0x0"
    if old:
        return (
            f"-- ScreenInfo\nscreen[0]: id=0, powerstatus={power}, backlight={int(machine.awake)}, "
            f"screenType=EXTERNAL_TYPE, render size: {size}, physical screen resolution: {size}, isvirtual=false, "
            f"skipFrameInterval_:1\nsupportedMode[0]: {size}, refreshrate=60\nactiveMode: {size}, refreshrate=60\n"
            f"capability: name=main_panel, phywidth=72, phyheight=156, supportlayers=8, virtualDispCount=0\n"
        )
    return (
        f"-- ScreenInfo\nscreen[0]: id=0, powerStatus={power}, backlight={int(machine.awake)}, "
        f"screenType=EXTERNAL_TYPE, render resolution={size}, physical resolution={size}, isVirtual=false, "
        f"skipFrameInterval=1, expectedRefreshRate=-1, skipFrameStrategy=0\n"
        f"supportedMode[0]: {size}, refreshRate=60\nactiveMode: {size}, refreshRate=60\n"
        f"name=express_display, phyWidth=78, phyHeight=163, supportLayers=10, virtualDispCount=1\n"
        f"isSamplingOn=0, samplingScale=1.00, samplingTranslateX=0.00, samplingTranslateY=0.00\n"
    )


def _display(call: Invocation, asked: str) -> str:
    if POSTURE in asked or asked.strip("'\" ").startswith(("-f", "-m,")):
        return _posture(call, asked)
    geometry = call.device.machine.geometry
    width, height = geometry.size
    rule = "-" * 87
    # Quarter turns count from the way it is made to be held; how it lies there does not (display.Orientation).
    lying = int(geometry.physical[0] > geometry.physical[1])
    told = {
        "DisplayId": "0",
        "ScreenId": "0",
        "RefreshRate": "60",
        "VirtualPixelRatio": f"{geometry.scale:g}",
        "Density": f"{geometry.scale:g}",
        "DPI": f"{round(geometry.density)}",
        "Rotation": str(geometry.rotation),
        "Orientation": "0",
        "DisplayOrientation": str(geometry.rotation ^ lying),
        "FreezeFlag": "0",
        "Bounds<L,T,W,H>": f"0 0 {width} {height}",
    }
    return (
        f"{rule}\nDisplay: total 1\n{rule}\n"
        + "".join(f"{name}: {value}\n" for name, value in told.items())
        + rule
        + "\n"
    )


TYPES = {"SCBStatusBar": "SystemUi_StatusBar", "SCBScreenLock": "ScreenLockWindow", "softKeyboard1": "softKeyboard1"}


def _windows(call: Invocation, asked: str) -> str:
    machine = call.device.machine
    wide, line = 21, "-" * 87 + "\n"
    found = machine.windows()
    text = (
        "-------------------------------------ScreenGroup 1-------------------------------------\n"
        "WindowName           DisplayId Pid     WinId Type Mode Flag ZOrd Orientation [ x    y    w    h    ]\n"
    )

    def row(name: str, numbers: tuple[int, int, int, int], box: tuple[int, int, int, int]) -> str:
        (pid, number, kind, order), (x, y, w, h) = numbers, box
        return (
            f"{name[:20]:{wide}}0         {pid:<8d}{number:<6d}{kind:<5d}{1:<5d}{0:<5d}{order:<5d}{0:<12d}"
            f"[ {x:<4d} {y:<4d} {w:<4d} {h:<4d} ]\n"
        )

    inside = [window for window in found if window not in [other.popup for other in found]]
    for order, window in enumerate(inside):
        app = machine.apps.get(window.app)
        name = TYPES.get(window.title, f"{window.app.rpartition('.')[2]}0")
        box = (window.box.left, window.box.top, window.box.width, window.box.height)
        numbers = (app.pid if app is not None else 0, window.id, window.type, len(inside) - order)
        text += row(name, numbers, box)
    text += line
    whole = (0, 0, *machine.geometry.size)
    kinds = {window.type for window in inside}
    for name, kind, number in (("ScreenLockWindow", 2110, 4), ("RecentView", 2115, 6), ("EntryView", 2001, 5)):
        if kind not in kinds:
            text += row(name, (machine.apps[machine.launcher].pid, number, kind, -1), whole)
    focus = next((window for window in inside if window.focused), inside[-1])
    return f"{text}Focus window: {focus.id}\ntotal window num: {len(inside)}\n"


def _power(call: Invocation, asked: str) -> str:
    machine = call.device.machine
    now = int(time.monotonic() * 1000)
    state = "AWAKE" if machine.awake else "INACTIVE" if now - machine.slept * 1000 < 2000 else "SLEEP"
    return (
        f"POWER STATE DUMP:\nCurrent State: {state}  Reason: 20  Time: {now}\n"
        f"ScreenOffTime: Timeout={machine.dark_after}ms\nDUMP DETAILS:\n"
        f"Last Screen On: {int(machine.woken * 1000)}\nLast Screen Off: {int(machine.slept * 1000)}\n"
    )


def _lock(call: Invocation, asked: str) -> str:
    machine = call.device.machine
    return (
        f" * screenLocked  \t\t\t\t{'true' if machine.locked else 'false'}\n"
        f" * systemReady  \t\t\t\ttrue\n"
        f" * isScreenlocked \t\t\t\t{'true' if machine.locked else 'false'}\n"
        f" * screenState \t\t\t\t{2 if machine.awake else 0}\n * offReason  \t\t\t\t-1\n"
        f" * interactiveState \t\t\t\t{2 if machine.awake else 0}\n"
    )


def _battery(call: Invocation, asked: str) -> str:
    return (
        f"Current time: {time.strftime('%Y-%m-%d %H:%M:%S')}\ncapacity: {BATTERY} \nbatteryLevel: LEVEL_HIGH \n"
        "chargingStatus: 1 \nhealthState: 1 \npluggedType: 2 \nvoltage: 4302000 \npresent: 1 \ntechnology: Li-poly \n"
        "nowCurrent: -120 \ntemperature: 290 \n"
    )


def _posture(call: Invocation, asked: str) -> str:
    """The posture of the device is given by hand; a virtual one has no sensors that this moves."""
    machine = call.device.machine
    found = re.search(rf"{POSTURE}(\d)", asked)
    if found is None:
        return "DisplayManager posture: motion,fold\n"
    moved = int(found[1]) < 4 and not call.device.kind.emulator and not call.device.kind.tv
    call.device.journal.add("posture", motion=int(found[1]), moved=moved)
    if moved and call.device.faults.active("posture_ignored") is None:
        machine.rotate(int(found[1]))
    return "[ RenderScreen ] motion sensor posture set\n"


Service = Callable[[Invocation, str], str]
SERVICES: dict[str, Service] = {
    "RenderService": _render,
    "DisplayManagerService": _display,
    "WindowManagerService": _windows,
    "PowerManagerService": _power,
    "ScreenlockService": _lock,
    "BatteryService": _battery,
}
"""What services tell, by their name."""
NUMBERS = {
    "10": "RenderService",
    "4606": "WindowManagerService",
    "4607": "DisplayManagerService",
    "3301": "PowerManagerService",
    "3302": "BatteryService",
    "3704": "ScreenlockService",
}


def _memory(call: Invocation, pid: str) -> str:
    names = {str(number): name for number, name in rows(call)}
    if pid and pid not in names:
        return f"error: unrecognized option '{pid}'\n" if not pid.isdigit() else "no such process\n"
    head = (
        "                          Pss         Shared         Shared        Private        Private           Swap\n"
        "                        Total          Clean          Dirty          Clean          Dirty          Total\n"
        "                       ( kB )         ( kB )         ( kB )         ( kB )         ( kB )         ( kB )\n"
    )
    total = "Total            80412          60124           4096          10240          62000              0\n"
    return (
        f"{ABILITY}-------------------------------[memory]-------------------------------\n\n{head}{total}"
        if pid
        else ("Total Memory Usage:\n\n" + "".join(f"{number:>8} {name}\n" for number, name in rows(call)))
    )


def _cpu(call: Invocation, pid: str) -> str:
    head = (
        "Load average: 3.1 / 2.9 / 2.7; the cpu load average in 1 min, 5 min and 15 min\n"
        "CPU usage from 2026-12-01 to now\nTotal: 12.50%; User Space: 8.25%; Kernel Space: 4.25%; iowait: 0.00%;\n\n"
        "    PID   Total Usage        User Space     Kernel Space     Page Fault Minor     Page Fault Major     Name\n"
    )
    wanted = [(number, name) for number, name in rows(call) if pid in ("", str(number))]
    rest = f"   3.10%{'':13}2.05%{'':13}1.05%{'':15}1024{'':18}0{'':19}"
    return head + "".join(f"    {number:<6d}{rest}{name}\n" for number, name in wanted)


def _faults(call: Invocation) -> str:
    found = [entry for app in call.device.machine.apps.values() for entry in app.ended]
    return "Fault log list:\n" + "".join(f"{name}\n{text}\n" for name, text in found)


PROGRAMS: dict[str, Program] = {"hidumper": hidumper}
