"""dumpsys: what services tell of themselves."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from ..framework.windows import APPLICATION, INPUT_METHOD, Window
from ..programs import Invocation, Program
from .packages import package_facts

DARK_DISPLAY = 2
POWER_STEP, POWER_ENTRIES, POWER_LINES = 0.05, 1200, 40
"""Seconds of a level of sound; how many are kept, and how many rows of ten are told."""


async def dumpsys(call: Invocation) -> int:
    """`dumpsys SERVICE ...`, and `dumpsys -l`."""
    words = list(call.args)
    while words[:1] == ["-t"] or words[:1] == ["-T"]:
        del words[:2]
    name, *rest = words or ["-l"]
    if name == "-l":
        await call.out("Currently running services:\n" + "".join(f"  {one}\n" for one in sorted(SERVICES)))
        return 0
    service = SERVICES.get(name)
    if service is None:
        await call.err(f"Can't find service: {name}\n")
        return 0
    await call.out(service(call, rest))
    return 0


def _hash() -> str:
    return f"{random.randrange(1 << 28):x}"


def _focus(call: Invocation) -> tuple[str, str]:
    """Lines of focus for the main display: the window, and the activity."""
    device, machine = call.device, call.device.machine
    found = machine.windows()
    focused = next(window for window in found if window.focused)
    app = machine.front
    record = f"ActivityRecord{{{_hash()} u0 {app.component} t{40 + len(machine.tasks)}}}"
    if device.kind.api in (33, 34):
        record = record[:-1].replace(f" t{40 + len(machine.tasks)}", f"}} t{40 + len(machine.tasks)}}}")
    if device.kind.api < 29:
        record = f"AppWindowToken{{{_hash()} token=Token{{{_hash()} {record}}}}}"
    window = f"Window{{{focused.id:x} u0 {focused.component or focused.package}}}"
    if machine.locked and device.kind.api >= 29:
        window = f"Window{{{_hash()} u0 NotificationShade}}"
    starting = time.monotonic() < machine.focus_from
    if starting or device.faults.active("null_focus") is not None:
        return "null", "null" if starting else record
    return window, record


def _window(call: Invocation, rest: list[str]) -> str:
    what = rest[0] if rest else ""
    if what in ("windows", "w"):
        return _windows(call)
    if what in ("displays", "d"):
        return _displays(call)
    if what in ("policy", "p"):
        return _policy(call)
    if what in ("tokens", "sessions", "animator", "input", "lastanr"):
        return "WINDOW MANAGER\n"
    return _policy(call) + _displays(call) + _windows(call)


def _policy(call: Invocation) -> str:
    machine = call.device.machine
    awake = "Awake" if machine.awake else "Asleep"
    return (
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)\n"
        f"    mDreamingLockscreen={str(machine.locked).lower()}\n    mWakefulness={awake}\n"
        f"    isStatusBarKeyguard={str(machine.locked).lower()}\n    showing={str(machine.locked).lower()}\n"
        f"    mIsShowing={str(machine.locked).lower()}\n"
    )


def _displays(call: Invocation) -> str:
    device, geometry = call.device, call.device.machine.geometry
    window, record = _focus(call)
    width, height = geometry.size
    first = "{}x{}".format(*(geometry.size_override or geometry.physical))
    text = (
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n"
        f"  Display: mDisplayId=0 (organized)\n    init={geometry.physical[0]}x{geometry.physical[1]} "
        f"{geometry.physical_density}dpi base={first} {geometry.density}dpi cur={width}x{height} "
        f"app={width}x{height}\n"
    )
    if device.kind.displays:
        text += (
            f"  mFocusedApp=ActivityRecord{{{_hash()} u0 com.android.systemui/.subscreen.SubHomeActivity t7}}\n"
            "  mCurrentFocus=null\n"
            f"  Display: mDisplayId={DARK_DISPLAY} (organized)\n"
        )
    text += f"  mCurrentFocus={window}\n  mFocusedApp={record}\n  mRotation={geometry.rotation}\n"
    return text + f"    mCurrentRotation=ROTATION_{geometry.rotation * 90}\n"


def _type_of(window: Window) -> str:
    """The type of a window as the window manager has it: an activity's own window is another one than its dialogs'."""
    if window.type == APPLICATION:
        return "BASE_APPLICATION" if window.frame is not None else "APPLICATION"
    return "INPUT_METHOD" if window.type == INPUT_METHOD else "STATUS_BAR"


def _windows(call: Invocation) -> str:
    device, machine = call.device, call.device.machine
    lines = ["WINDOW MANAGER WINDOWS (dumpsys window windows)"]
    kinds = {"TYPE_INPUT_METHOD": "InputMethod", "TYPE_SYSTEM": "StatusBar"}
    for number, window in enumerate(machine.windows()):
        name = window.component or kinds.get(window.type, window.title or window.package)
        box = window.box
        shown = "true"
        if window.type == "TYPE_INPUT_METHOD" and device.faults.active("ime_unseen") is not None:
            shown = "false"
        lines += [
            f"  Window #{number} Window{{{window.id:x} u0 {name}}}:",
            f"    mDisplayId=0 mSession=Session{{{_hash()} 1234:u0a10123}} mClient=android.os.BinderProxy@{_hash()}",
            f"    mOwnerUid=10123 showForAllUsers=false package={window.package} appop=NONE",
            f"    mAttrs={{(0,0)(fillxfill) sim={{adjust=pan}} ty={_type_of(window)} fmt=TRANSLUCENT}}",
            f"    mBaseLayer={window.layer * 10000} mSubLayer=0",
            f"    mFrame={box} last={box}",
            f"    isOnScreen={shown}",
            f"    isVisible={shown}",
        ]
    lines += _behind(call, len(machine.windows()))
    # From Android 10 on the focus is told with the displays only.
    if device.kind.api < 29 and device.faults.active("no_current_focus") is None:
        window_line, record = _focus(call)
        lines += [f"  mCurrentFocus={window_line}", f"  mFocusedApp={record}"]
    return "\n".join(lines) + "\n"


def _behind(call: Invocation, number: int) -> list[str]:
    """Windows of apps that are not in front: they are there, and not seen."""
    machine, lines = call.device.machine, list[str]()
    for name in reversed(machine.tasks[:-1]):
        app = machine.apps[name]
        for kind in ("APPLICATION", "BASE_APPLICATION") if app.screen.dialog is not None else ("BASE_APPLICATION",):
            lines += [
                f"  Window #{number} Window{{{_hash()} u0 {app.full_component}}}:",
                f"    mOwnerUid=10123 showForAllUsers=false package={app.package} appop=NONE",
                f"    mAttrs={{(0,0)(fillxfill) sim={{adjust=pan}} ty={kind} fmt=TRANSLUCENT}}",
                "    mViewVisibility=0x8 mHaveFrame=true mObscured=false",
            ]
            if call.device.kind.api >= 29:
                lines += ["    isOnScreen=false", "    isVisible=false"]
            number += 1
    return lines


def _activity(call: Invocation, rest: list[str]) -> str:
    machine = call.device.machine
    what = rest[0] if rest else "activities"
    if what == "exit-info":
        return _exits(call, rest[1] if len(rest) > 1 else "")
    if what in ("processes", "p"):
        rows = [f"  *APP* UID 10123 ProcessRecord{{{_hash()} {app.pid}:{app.package}/u0a123}}"
                for app in machine.apps.values() if app.running]  # fmt: skip
        return "ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)\n" + "\n".join(rows) + "\n"
    if what in ("top",):
        app = machine.front
        return f"TASK null id=40 userId=0\n  ACTIVITY {app.component} {_hash()} pid={app.pid}\n"
    app, task = machine.front, 40 + len(machine.tasks)
    brace = "}" if call.device.kind.api in (33, 34) else ""
    record = f"ActivityRecord{{{_hash()} u0 {app.component}{brace} t{task}}}"
    lines = ["ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)", "Display #0 (activities from top to bottom):"]
    for number, name in enumerate(reversed(machine.tasks)):
        other = machine.apps[name]
        at = len(machine.tasks) - number + 40
        lines += [
            f"  * Task{{{_hash()} #{at} type=standard A=10123:{name}}}",
            f"    * Hist  #0: ActivityRecord{{{_hash()} u0 {other.component}{brace} t{at}}}",
        ]
    key = "topResumedActivity=" if call.device.kind.api >= 29 else "mResumedActivity: "
    lines += [f"    {key}{record}", f"  ResumedActivity: {record}"]
    return "\n".join(lines) + "\n"


def _exits(call: Invocation, name: str) -> str:
    app = call.device.machine.apps.get(name)
    lines = ["ACTIVITY MANAGER PROCESS EXIT INFO (dumpsys activity exit-info)"]
    words = {4: "APP CRASH(EXCEPTION)", 10: "USER REQUESTED", 2: "SIGNALED"}
    for number, (at, reason, text, pid) in enumerate(app.exits if app is not None else []):
        moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
        lines += [
            f"  package: {name}",
            f"        ApplicationExitInfo #{number}:",
            f"          timestamp={moment}.000 pid={pid} realUid=10123 packageUid=10123 definingUid=10123 user=0",
            f"          process={name} reason={reason} ({words[reason]}) subreason=0 (UNKNOWN) status=0",
            f"          importance=100 pss=0.00 rss=0.00 description={text} state=empty trace=null",
        ]
    return "\n".join(lines) + "\n"


def _input_method(call: Invocation, _rest: list[str]) -> str:
    device, machine = call.device, call.device.machine
    drawn = machine.keyboard_shown
    unseen = device.faults.active("ime_unseen") is not None
    shown = drawn or unseen
    keyboard = machine.settings["secure"]["default_input_method"]
    flag = str(shown).lower()
    lines = [
        "Input Method Manager Service state:",
        f"  mCurMethodId={keyboard}",
        f"  mShowRequested={flag} mShowExplicitlyRequested=false mShowForced=false mInputShown={flag}",
        f"  mCurId={keyboard} mHaveConnection=true mBoundToMethod=true",
        f"  mCurFocusedWindow=Window{{{_hash()} u0 {machine.front.full_component}}}",
        f"  mImeWindowVis={'0x3' if drawn else '0x1' if unseen else '0x0'}",
        "  Input method service state:",
        f"    mViewsCreated=true mDecorViewVisible={str(drawn).lower()} mDecorViewWasVisible={str(drawn).lower()}",
        f"    mWindowVisible={str(drawn).lower()} mInShowWindow=false",
        f"    mShowInputRequested={flag} mLastShowInputRequested={flag} mIsInputViewShown={flag}",
    ]
    return "\n".join(lines) + "\n"


def _display(call: Invocation, _rest: list[str]) -> str:
    geometry, machine = call.device.machine.geometry, call.device.machine
    width, height = geometry.size
    on, active = "ON" if machine.awake else "OFF", str(machine.awake).lower()
    return (
        "DISPLAY MANAGER (dumpsys display)\n"
        f"  mViewports=[DisplayViewport{{type=INTERNAL, valid=true, isActive={active}, displayId=0, "
        f"uniqueId='local:4619827677550801152', physicalPort=0, orientation={geometry.rotation}, "
        f"logicalFrame=Rect(0, 0 - {width}, {height}), physicalFrame=Rect(0, 0 - {width}, {height}), "
        f"deviceWidth={width}, deviceHeight={height}}}]\n"
        f"  mScreenState={on}\n  Display State={on}\n"
        f"    mCurrentOrientation={geometry.rotation}\n    mDensity={geometry.density}\n"
    )


def _surface_flinger(call: Invocation, rest: list[str]) -> str:
    displays = call.device.kind.displays
    if "--display-id" in rest:
        ids = [display.id for display in displays] or [4619827259835644672]
        rows = [
            f'Display {one} (HWC display {n}): port={n} pnpId=GGL displayName="Common Panel"\n'
            for n, one in enumerate(ids)
        ]
        return "".join(rows)
    return "Build configuration: [sf]\n"


def _power(call: Invocation, _rest: list[str]) -> str:
    awake = call.device.machine.awake
    state = "Awake" if awake else "Asleep"
    held = str(awake).lower()
    return (
        f"POWER MANAGER (dumpsys power)\n  mWakefulness={state}\n  mHoldingDisplaySuspendBlocker={held}\n"
        f"Display Power: state={'ON' if awake else 'OFF'}\n"
    )


def _battery(_call: Invocation, _rest: list[str]) -> str:
    rows = ("AC powered: false", "USB powered: true", "status: 2", "level: 100", "scale: 100")
    return "Current Battery Service state:\n" + "".join(f"  {row}\n" for row in rows)


def _meminfo(call: Invocation, rest: list[str]) -> str:
    name = rest[-1] if rest else ""
    app = call.device.machine.apps.get(name)
    if app is None or not app.running:
        return f"No process found for: {name}\n"
    kilobytes = 48_000 + (app.pid % 1000) * 7
    return (
        f"Applications Memory Usage (in Kilobytes):\nUptime: 1234567 Realtime: 1234567\n\n"
        f"** MEMINFO in pid {app.pid} [{name}] **\n"
        "                   Pss  Private  Private  SwapPss      Rss     Heap     Heap     Heap\n"
        "                 Total    Dirty    Clean    Dirty    Total     Size    Alloc     Free\n"
        "                ------   ------   ------   ------   ------   ------   ------   ------\n"
        f"  Native Heap    12000    11900        0        0    13000    20000    15000     5000\n"
        f"        TOTAL    {kilobytes}    40000     2000        0   {kilobytes + 9000}    30000    25000     5000\n\n"
        " App Summary\n                       Pss(KB)                        Rss(KB)\n"
        "                        ------                         ------\n"
        f"           Java Heap:     9000                          12000\n"
        f"           TOTAL PSS:    {kilobytes}            TOTAL RSS:    {kilobytes + 9000}"
        "      TOTAL SWAP PSS:        0\n"
    )


def _gfxinfo(call: Invocation, rest: list[str]) -> str:
    name = next((word for word in rest if "." in word), "")
    machine = call.device.machine
    app = machine.apps.get(name)
    if app is None or not app.running:
        return f"No process found for: {name}\n"
    frames = machine.frames(name)
    if "reset" in rest:
        machine.reset_frames(name)
    janky = frames // 20
    return (
        "Applications Graphics Acceleration Info:\nUptime: 1234567 Realtime: 1234567\n\n"
        f"** Graphics info for pid {app.pid} [{name}] **\n\nStats since: 1234567890ns\n"
        f"Total frames rendered: {frames}\nJanky frames: {janky} ({100 * janky / max(1, frames):.2f}%)\n"
        "50th percentile: 8ms\n90th percentile: 12ms\n95th percentile: 16ms\n99th percentile: 32ms\n"
        f"Number Missed Vsync: {janky // 2}\nNumber High input latency: 0\nNumber Slow UI thread: {janky}\n"
    )


def _cpuinfo(call: Invocation, _rest: list[str]) -> str:
    rows = [f"  {1 + app.pid % 9}.5% {app.pid}/{app.package}: 1% user + 0.5% kernel\n"
            for app in call.device.machine.apps.values() if app.running]  # fmt: skip
    return "Load: 1.0 / 1.1 / 1.2\nCPU usage from 10000ms to 5000ms ago:\n" + "".join(rows) + "4.5% TOTAL\n"


def _package(call: Invocation, rest: list[str]) -> str:
    return package_facts(call, rest[0]) if rest else "Packages:\n"


def _wifi(call: Invocation, _rest: list[str]) -> str:
    on = call.device.machine.settings["global"]["wifi_on"] == "1"
    return f"Wi-Fi is {'enabled' if on else 'disabled'}\n"


def _location(call: Invocation, _rest: list[str]) -> str:
    machine, api = call.device.machine, call.device.kind.api
    place = machine.located
    enabled = machine.settings["secure"]["location_mode"] != "0"
    last = (
        f"Location[gps {place[0]:.6f},{place[1]:.6f} hAcc=5.0 et=+1h2m3s4ms]" if place is not None and enabled else ""
    )
    if api < 31:
        known = f"    gps: {last}\n" if last else ""
        return f"Current Location Manager state:\n  Location Listeners:\n  Last Known Locations:\n{known}"
    asked = "@+1s0ms HIGH_ACCURACY, WorkSource{10123 dev.anydevice.practice}" if machine.listening else "OFF"
    seen = f"      last location={last}\n" if last else ""
    on = str(enabled).lower()
    return (
        f"Location Manager State:\n  User Info:\n    current users: [0]\n  Location Setting: {on}\n"
        f"  passive provider:\n    service: ProviderRequest[@+1s0ms]\n    user 0:\n"
        f"  gps provider:\n    service: ProviderRequest[{asked}]\n    user 0:\n{seen}      enabled: {on}\n"
    )


def _accessibility(call: Invocation, _rest: list[str]) -> str:
    held = call.device.machine.held
    return f"ACCESSIBILITY MANAGER (dumpsys accessibility)\n\nUi Automation[{held or 'null'}]\n"


def _notification(call: Invocation, _rest: list[str]) -> str:
    rows = [f"    NotificationRecord(0x{_hash()}: pkg=com.android.shell user=UserHandle{{0}} id=2020 tag={tag})\n"
            f"        android.title=String ({title})\n        android.text=String ({text})\n"
            for tag, title, text in call.device.machine.notifications]  # fmt: skip
    return "Current Notification Manager state:\n  Notification List:\n" + "".join(rows)


def _audio_flinger(call: Invocation, rest: list[str]) -> str:
    """The sound server: one output, one microphone. See `PowerLog.cpp` of Android's `system/media` for the history."""
    text = "Libraries NOT loaded: (none)\nHardware status: 0\nStandby Time mSec: 3000\n\n"
    text += "Output thread 0x7a0, name AudioOut_D, tid 700, type 0 (MIXER):\n  I/O handle: 13\n  Standby: no\n"
    text += "  Sample rate: 48000 Hz\n"
    if call.device.kind.api >= 28 and call.device.faults.active("no_power_history") is None:
        text += _power_history(call)
    text += "  1 Tracks of which 0 are active\n\nInput thread 0x7b0, name AudioIn_E, tid 701, type 3 (RECORD):\n"
    return text + f"      Signal power history:\n       {_stamp(time.time())}: [   -3.0 ] sum(-3.0)\n\n"


def _power_history(call: Invocation) -> str:
    """Levels of 50 ms, ten a row, of the last minute; no more than 40 rows."""
    rows: list[str] = []
    for begun, ended, level in call.device.sounds:
        steps = int(((ended or time.time()) - begun) / POWER_STEP)
        first = max(0, steps - POWER_ENTRIES)
        for place in range(first, steps, 10):
            levels = " ".join(f"{level:6.1f}" for _ in range(min(10, steps - place)))
            head = "[ " if place == first else "  "
            tail = f" ] sum({level:.1f})" if ended is not None and place + 10 >= steps else ""
            rows.append(f"       {_stamp(begun + place * POWER_STEP)}: {head}{levels}{tail}")
    shown = rows[-POWER_LINES:]
    if not shown:
        return "      Signal power history: (none)\n"
    return "      Signal power history:\n" + "\n".join(shown) + "\n\n     -20.0 -|***\n           |____\n\n"


def _stamp(at: float) -> str:
    return time.strftime("%m-%d %H:%M:%S", time.localtime(at)) + f".{int(at * 1000) % 1000:03}"


SERVICES: dict[str, Callable[[Invocation, list[str]], str]] = {
    "window": _window, "activity": _activity, "input_method": _input_method, "display": _display,
    "SurfaceFlinger": _surface_flinger, "power": _power, "battery": _battery, "meminfo": _meminfo,
    "gfxinfo": _gfxinfo, "cpuinfo": _cpuinfo, "package": _package, "wifi": _wifi, "location": _location,
    "accessibility": _accessibility, "notification": _notification,
    "media.audio_flinger": _audio_flinger,
}  # fmt: skip
PROGRAMS: dict[str, Program] = {"dumpsys": dumpsys}
