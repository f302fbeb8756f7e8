"""What a HarmonyOS device does wrong on request.

Faults of any command line (`match` is searched in it; the line is what a client asks of the device, `shell ...` or
`install ...` and the like without its first word):

    hang            it never answers               slow        it answers after `seconds`
    cut             `text`, then the channel ends  disconnect  the channel ends in the middle of a frame
    late            `text` (as `[Fail]...`) after everything else it says
    answer          a program prints `text` and `stderr` with exit status `code`, and does nothing

Faults of one thing (the others in `KNOWN`): the programs ask for them where they do that thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from ..handset.faults import Fault, FaultList

if TYPE_CHECKING:
    from ..guest.programs import Invocation
    from .channel import Channel
    from .device import HarmonyDevice

KNOWN = {
    "hang": "a command line that matches never answers",
    "slow": "a command line that matches answers after `seconds`",
    "cut": "a command line that matches answers `text`, and its channel ends",
    "disconnect": "a command line that matches begins a frame, and its channel ends in the middle of it",
    "late": "a command line that matches says `text` after everything else",
    "answer": "a program that matches prints `text` and `stderr` and leaves with `code`",
    "establishing": "the channel to the device is being established: every handshake is refused",
    "session_dead": "the session of the device is dead: every handshake is refused",
    "daemon": "the server fails to communicate with the device's daemon",
    "channel_failed": "a file cannot be opened on the device: `text` says why",
    "recv_cut": "a file that is received ends in the middle",
    "install": "an install ends with `text`",
    "uninstall": "an uninstall ends with `text`",
    "dump_fails": "dumpLayout fails",
    "dump_cut": "dumpLayout writes half of the layout",
    "dump_slow": "dumpLayout takes `seconds`",
    "stale": "dumpLayout tells what was shown when the fault was set",
    "screen_fails": "snapshot_display and screenCap fail",
    "screen_empty": "snapshot_display and screenCap write an empty file",
    "screen_cut": "snapshot_display and screenCap end in the middle of the picture",
    "input_ignored": "uitest and uinput do nothing and report success",
    "text_lost": "every second character of a text is lost",
    "open_slow": "an ability comes to the front after `seconds`",
    "open_crashes": "an ability dies as soon as it was started",
    "close_ignored": "aa force-stop reports success and ends nothing",
    "posture_ignored": "the display does not turn",
    "recorder_ignored": "the screen recorder does not begin",
    "recorder_lost": "the screen recorder keeps nothing",
    "param_denied": "param set is refused for every parameter",
    "power_ignored": "power-shell reports success and does nothing",
    "keyboard_unseen": "the keyboard counts as shown and has no window in the layout",
}
"""Every fault by its name."""


class Faults(FaultList):
    """The faults of one device."""

    known = KNOWN

    def __init__(self, device: HarmonyDevice) -> None:
        super().__init__()
        self._device = device

    def add(self, fault: Fault) -> None:
        """Sets a fault.

        Raises:
            ValueError: There is no fault of this name.
        """
        super().add(fault)
        if fault.name == "stale":
            fault.data = self._device.machine.layout()

    async def strike_channel(self, line: str, channel: Channel) -> bool:
        """What happens to a whole command before it runs; whether that was all of it."""
        if self.active("hang", line):
            await anyio.sleep_forever()
        if slow := self.active("slow", line):
            await anyio.sleep(slow.seconds)
        if self.active("daemon", line):
            await channel.fail("[E002106] Failed to communicate with daemon")
            return True
        if self.active("disconnect", line):
            await channel.send(b"half of a frame that nev", short=8)
            return True
        if cut := self.active("cut", line):
            await channel.send(cut.text.encode())
            return True
        return False

    async def strike_line(self, line: str) -> bytes | None:
        """Nothing: lines are struck at their channel."""
        del line
        return None

    async def strike(self, call: Invocation[Any]) -> int | None:
        """What happens to one program before it runs: its exit status, or None."""
        if fault := self.active("answer", " ".join([call.name, *call.args])):
            await call.out(fault.text)
            await call.err(fault.stderr)
            return fault.code
        return None
