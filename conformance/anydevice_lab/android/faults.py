"""What a device does wrong on request.

Faults of any command line (`match` is searched in it):

    hang            it never answers              slow        it answers after `seconds`
    cut             `text`, then the stream ends  disconnect  the connection is lost
    answer          `text` and `stderr` with exit status `code`, and nothing is done

Faults of one thing (the names in `KNOWN`): the programs ask for them where they do that thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from ..handset.faults import Fault, FaultList

if TYPE_CHECKING:
    from ..guest.programs import Invocation
    from .adb_device import AdbDevice
    from .device import LabDevice

LINES = {
    "hang": "a command line that matches never answers",
    "slow": "a command line that matches answers after `seconds`",
    "cut": "a command line that matches answers `text`, and its stream ends without an exit status",
    "disconnect": "a command line that matches loses the connection",
    "answer": "a command line that matches prints `text` and `stderr` and leaves with `code`",
    "push": "a push ends with `text`",
    "pull_cut": "a pull ends in the middle",
}
"""Faults of any device behind an adb server."""
KNOWN = {
    **LINES,
    "idle": "uiautomator cannot get an idle state, after `seconds`",
    "null_root": "uiautomator gets a null root node",
    "registered": "another holder has the one UiAutomation slot",
    "killed": "uiautomator ends with status 137 and no text",
    "stale": "uiautomator dumps what was shown when the fault was set",
    "no_windows": "uiautomator does not know --windows",
    "system_only": "uiautomator sees the system's windows only",
    "null_focus": "dumpsys tells no focus",
    "no_current_focus": "dumpsys window windows tells no mCurrentFocus, as newer builds never do",
    "screencap_cut": "screencap ends in the middle of the picture",
    "screencap_fails": "screencap prints nothing and leaves with 1",
    "clipboard_denied": "the clipboard may not be read by the shell",
    "clipboard": "cmd clipboard works (stock builds have none)",
    "install": "an install ends with `text`",
    "u2_hang": "the automation server never answers a method that matches",
    "u2_cut": "the automation server does what a method that matches asks, and closes the connection unanswered",
    "u2_system_only": "the automation server sees the system's windows only",
    "u2_stale": "the automation server dumps what was shown when the fault was set",
    "ime_unseen": "the keyboard counts as shown and is not drawn",
    "input_ignored": "input does nothing and reports success",
    "text_lost": "input text loses every second character",
    "open_slow": "an app comes to the front after `seconds`",
    "open_denied": "am start is refused with a security exception",
    "recorder_fails": "screenrecord cannot configure its codec",
    "settings_ignored": "settings put and wm change nothing",
    "no_power_history": "the sound server keeps no history of how loud it played",
    "connectivity_absent": "cmd connectivity has no shell commands",
}
"""Every fault by its name."""


class LineFaults(FaultList):
    """The faults of one device behind an adb server, as far as command lines and files are concerned."""

    known = LINES

    def __init__(self, device: AdbDevice) -> None:
        super().__init__()
        self._adb = device

    async def strike_line(self, line: str) -> bytes | None:
        """What happens to a whole command line before it runs: bytes with which its stream ends, or None."""
        if self.active("hang", line):
            await anyio.sleep_forever()
        if slow := self.active("slow", line):
            await anyio.sleep(slow.seconds)
        if self.active("disconnect", line):
            await self._adb.drop()
            return b""
        if cut := self.active("cut", line):
            return cut.text.encode()
        return None

    async def strike(self, call: Invocation[Any]) -> int | None:
        """What happens to one program before it runs: its exit status, or None."""
        if fault := self.active("answer", " ".join([call.name, *call.args])):
            await call.out(fault.text)
            await call.err(fault.stderr)
            return fault.code
        return None

    def on_push(self, path: str) -> str:
        """Why a push fails; empty if it does not."""
        fault = self.active("push", path)
        return (fault.text or "couldn't create file: No space left on device") if fault is not None else ""

    def on_pull(self, path: str) -> bool:
        """Whether a pull ends in the middle."""
        return self.active("pull_cut", path) is not None


class Faults(LineFaults):
    """The faults of one Android device."""

    known = KNOWN

    def __init__(self, device: LabDevice) -> None:
        super().__init__(device)
        self._device = device

    def add(self, fault: Fault) -> None:
        """Sets a fault; one that shows what was there keeps it."""
        super().add(fault)
        if fault.name in ("stale", "u2_stale"):
            fault.data = self._device.machine.seen()
