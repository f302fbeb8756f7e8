"""What a device, or the Mac it belongs to, does wrong on request.

Faults of any command line (`match` is searched in it); on the Mac (id `mac`) they strike whatever device is named:

    hang    it never answers, and SIGTERM does not end it      slow    it answers after `seconds`
    answer  `text` and `stderr` with exit status `code`, and nothing is done
    leak    it does what it does, and leaves a child that holds its streams for `seconds`

Faults of one thing (the names in `KNOWN`): what does that thing asks for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from ..handset.faults import FaultList

if TYPE_CHECKING:
    from .programs import Invocation

KNOWN = {
    "hang": "a command line that matches never answers, and SIGTERM does not end it",
    "slow": "a command line that matches answers after `seconds`",
    "answer": "a command line that matches prints `text` and `stderr` and leaves with `code`",
    "leak": "a command line that matches leaves a child behind that holds its streams for `seconds`",
    "first_launch": "simctl never answers where nobody sees its question, until `xcodebuild -runFirstLaunch`",
    "boot_slow": "a boot takes `seconds` longer",
    "boot_stuck": "a boot never ends",
    "shutdown_slow": "a shutdown takes `seconds` longer",
    "launch_denied": "a launch is denied by SBMainWorkspace",
    "launch_no_handle": "a launch fails without a process handle, and the app runs anyway",
    "install_fails": "an install ends with `text` and `code`",
    "inventory_fails": "devicectl fails to list devices, and says so in its JSON",
    "locked": "a device is locked: a launch fails two levels down",
    "lost": "the link to a device is lost: a command fails with ControlChannelConnectionError",
    "screenshot_empty": "simctl's screenshot says it was written, and the file is empty",
    "recorder_late": "a recording begins after `seconds`",
    "requests_unlogged": "the practice app writes no lines about what it sends; CFNetwork does",
    "open_asks": "the system asks whether an address may be opened in the app",
    "wda_silent": "the runner starts, and never serves HTTP",
    "wda_slow_start": "the runner serves HTTP after `seconds`",
    "wda_hang": "a request (METHOD PATH) that matches is never answered, and blocks all others",
    "wda_slow": "a request that matches is answered after `seconds`",
    "wda_cut": "a request that matches is carried out, and its connection closed unanswered",
    "wda_answer": "a request that matches is answered with HTTP status `code` and the JSON `text`",
    "wda_dies": "a request that matches ends the runner",
    "session_lost": "the session is gone at the next request that matches",
    "deep": "the tree is `code` levels deeper (70 unless told); more than the system can read",
    "source_slow": "the tree takes `seconds`",
    "source_sparse": "the tree is one node",
    "source_legacy": "the tree in JSON has the shape of old builds: value.tree, UIA types, rect with origin and size",
    "source_wrapped": "the tree in XML has AppiumAUT around it",
    "joined_label": "a container over the whole screen has the labels of all that is in it as its own",
    "label_text": "fields, secure ones too, carry their text in the label and no value",
    "alert_stall": "as long as an alert of the system is up, the tree takes `seconds` (0.3 without the fault)",
    "touch_ignored": "touches are accepted and do nothing",
    "hid_ignored": "touches and keys of axe and idb are accepted and do nothing",
    "bars_upright": "axe and idb tell where the keyboard and the status bar are as if the device stood upright",
    "hid_unturned": "axe and idb take places as if the device stood upright",
    "touch_infinity": "a touch fails with `point.x != INFINITY`",
    "keyboard_stays": "the keyboard cannot be dismissed",
    "text_lost": "typed text loses every second character",
    "no_menu": "a finger that rests on a field leaves no menu there",
    "menu_without_paste": "the menu of a field offers nothing to paste with",
    "text_slow": "typed text takes `seconds`",
    "rotation_fails": "the device cannot be turned",
    "screen_unseen": "WebDriverAgent is unable to capture the screen",
    "tree_one_node": "axe and idb tell one node",
}
"""Every fault by its name."""


class Faults(FaultList):
    """The faults of one device, or of the Mac."""

    known = KNOWN

    async def strike(self, call: Invocation) -> int | None:
        """What happens to one program before it runs: its exit status, or None."""
        line = " ".join([call.name, *call.args])
        if self.active("hang", line):
            await call.ignore_terminate()
            await anyio.sleep_forever()
        if slow := self.active("slow", line):
            await anyio.sleep(slow.seconds)
        if leak := self.active("leak", line):
            await call.leak(round(leak.seconds) or 60)
        if fault := self.active("answer", line):
            await call.out(fault.text)
            await call.err(fault.stderr)
            return fault.code
        return None
