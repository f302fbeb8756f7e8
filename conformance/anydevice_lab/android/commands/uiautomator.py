"""uiautomator dump: the tree as XML, with everything that keeps a real device from giving it."""

from __future__ import annotations

import anyio

from ..framework.dump import compress, hierarchy, windows_xml
from ..framework.windows import SYSTEM, Window
from ..programs import KILLED, Invocation, Program

DEFAULT = "/sdcard/window_dump.xml"
IDLE = "ERROR: could not get idle state.\n"
NULL_ROOT = "ERROR: null root node returned by UiTestAutomationBridge.\n"
REGISTERED = """java.lang.IllegalStateException: UiAutomationService \
android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@c8fc885already registered!
        at android.os.Parcel.createException(Parcel.java:2079)
        at android.os.Parcel.readException(Parcel.java:2039)
        at android.app.IUiAutomationConnection$Stub$Proxy.connect(IUiAutomationConnection.java:427)
        at android.app.UiAutomation.connect(UiAutomation.java:289)
"""
USAGE = """Usage: uiautomator <subcommand> [options]

Available subcommands:

help: displays help message

dump: creates an XML dump of current UI hierarchy
    dump [--verbose][file]
      [--compressed]: dumps compressed layout information.
      [file]: the location where the dumped XML should be stored, default is
      /sdcard/window_dump.xml

"""


async def uiautomator(call: Invocation) -> int:
    """`uiautomator dump [--compressed] [--windows] [FILE]`. It leaves with 0 also when there is no dump."""
    words = list(call.args)
    if words[:1] != ["dump"]:
        await call.err(USAGE)
        return 1
    faults, machine = call.device.faults, call.device.machine
    targets = [word for word in words[1:] if not word.startswith("-")]
    target = targets[0] if targets else DEFAULT
    call.device.journal.add("dump", windows="--windows" in words, target=target)
    if faults.active("killed") is not None:
        return KILLED
    if machine.held:
        return KILLED  # there is one slot, and its holder keeps it: the newcomer is ended without a word
    if faults.active("registered") is not None:
        await call.err(REGISTERED)
        return 1
    machine.held = f"com.android.commands.uiautomator pid={call.pid}"
    try:
        return await _dump(call, target)
    finally:
        machine.held = ""


async def _dump(call: Invocation, target: str) -> int:
    """Waits for rest, and prints or writes what is shown."""
    faults, machine = call.device.faults, call.device.machine
    if (idle := faults.active("idle")) is not None or machine.animated:
        await anyio.sleep(idle.seconds if idle is not None and idle.seconds else call.device.idle_seconds)
        await call.out(IDLE)
        return 0
    frozen = machine.practice.frozen_for
    if frozen:
        await anyio.sleep(min(frozen, 5.0))
    if faults.active("null_root") is not None or not machine.awake or machine.practice.frozen_for:
        await call.err(NULL_ROOT)
        return 0
    stale = faults.active("stale")
    shown: list[Window] = stale.data if stale is not None else machine.seen()
    if faults.active("system_only") is not None or machine.locked:
        shown = [window for window in shown if window.type == SYSTEM] or shown[-1:]
    many = "--windows" in call.args and call.device.kind.api >= 30 and faults.active("no_windows") is None
    text = _text(call, shown, many)
    if target == "/dev/tty":
        await call.out(text)
    else:
        try:
            call.path(target).write_text(text, "utf-8")
        except OSError:
            await call.err(
                f"java.io.FileNotFoundException: {target}: open failed: ENOENT (No such file or directory)\n"
            )
            return 1
    await call.out(f"UI hierchary dumped to: {target}\n")
    return 0


def _text(call: Invocation, shown: list[Window], many: bool) -> str:
    api, rotation = call.device.kind.api, call.device.machine.geometry.rotation
    if many:
        return windows_xml(shown, rotation, api=api)
    active = next((window for window in shown if window.active), shown[0])
    roots = compress(active.root) if "--compressed" in call.args else [active.root]
    return hierarchy(roots, rotation, api=api)


PROGRAMS: dict[str, Program] = {"uiautomator": uiautomator}
