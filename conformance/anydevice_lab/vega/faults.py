"""What a Vega device does wrong on request; see `anydevice_lab.android.faults` for those of any command line."""

from __future__ import annotations

from ..android.faults import LINES, LineFaults

KNOWN = {
    **LINES,
    "inputd_ignored": "inputd-cli (`match`: KEY_X or send_text) reports success and reaches no app",
    "inject_ignored": "injectInputKeyEvent (`match`: KEY_X) reports success and reaches no app",
    "home_ignored": "the home key leaves the app on the screen",
    "no_service": "inputd-cli finds no running service, as without developer mode",
    "text_lost": "text that is sent or set is lost",
    "crash_launch": "a component that matches dies `seconds` after it was launched",
    "blank_launch": "a component that matches shows an empty window for `seconds` after it was launched",
    "install": "an install (`match`: package id) fails in its second phase, or prints `text`; leaves with `code`",
    "settings_ignored": "vdcm set changes nothing",
    "toolkit_hang": "a toolkit method that matches never answers",
    "toolkit_slow": "a toolkit method that matches answers after `seconds`",
    "toolkit_cut": "a toolkit method that matches does its work and the connection is closed unanswered",
    "toolkit_down": "nothing listens on the toolkit's port",
    "screenshot_empty": "pictures are empty: of the toolkit, the console, the compositor's program",
    "screenshot_hang": "the compositor's program never ends, as it does on a virtual device",
    "film_empty": "the film of a recording is an empty file",
    "ids_wrong": "the page source has ids that no method knows",
    "focus_by_selected": "the cursor is told by `selected` only, and nothing is `focused`",
    "undeclared": "the page source has no XML declaration",
}
"""Every fault by its name."""


class VegaFaults(LineFaults):
    """The faults of one Vega device."""

    known = KNOWN
