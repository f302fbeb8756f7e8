# mypy: ignore-errors
"""What the elements of one screen do and report, whatever toolkit draws them."""

import argparse
import json
import sys
from pathlib import Path

BUTTONS = frozenset({"button"})
FIELDS = frozenset({"textbox"})
LABELLED = FIELDS | {"switch", "slider", "combobox"}
"""Roles whose name stands beside them."""
ROLES = BUTTONS | LABELLED | {"checkbox", "radio", "text", "status", "heading", "image"}
"""Roles that these programs can draw; the GTK 3 program can draw them all."""
DOES = frozenset({"add", "set", "submit"})
"""What pressing may do here."""
REFUSED = {"letters": str.isdigit, "digits": lambda character: not character.isdigit()}
"""Characters a field drops, by what it accepts."""


def asked_for(program):
    """What the command line says: the screen to show, and the address of the witness.

    Ends the program with a word to standard error where it is not said, or the screen needs more than can be drawn.
    """
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("--spec", required=True)
    parser.add_argument("--screen", default="form")
    parser.add_argument("--witness")
    options = parser.parse_args()
    screens = json.loads(Path(options.spec).read_text("utf-8"))["screens"]
    if options.screen not in screens:
        sys.exit(f"{program}: there is no screen {options.screen}")
    screen = screens[options.screen]
    lacking = lacks(screen)
    if lacking:
        sys.exit(f"{program}: this screen needs {', '.join(lacking)}; only practice_app.py has that")
    return screen, options.witness


def lacks(screen):
    """What a screen has and these programs cannot do."""
    roles = {spec["role"] for spec in screen["elements"]} - ROLES
    deeds = {action["do"] for spec in screen["elements"] for action in spec["press"]} - DOES
    more = {"rows"} if screen["rows"] else set()
    return sorted(roles | deeds | more)


def kept(spec, text):
    """What a field keeps of a text."""
    refused = REFUSED.get(spec["accepts"])
    return text if refused is None else "".join(character for character in text if not refused(character))


class Form:
    """The elements of a screen: what they hold, and what happens when they are used.

    Args:
        screen: The specification's.
        say: `say(screen, what, id, value)` reports.
        show: `show(id, text)` puts a text where it is seen.
        enable: `enable(id, on)` lets an element be used, or not.
    """

    def __init__(self, screen, say, show, enable):
        self.screen, self._say, self._show, self._enable = screen, say, show, enable
        self.values = {spec["id"]: spec["value"] for spec in screen["elements"]}
        self.ready = False

    def begin(self):
        """The screen is up."""
        self.ready = True
        self.report("ready", "", self.screen["id"])

    def report(self, what, id="", value=None):
        """Reports, once the screen is up."""
        if self.ready:
            self._say(self.screen["id"], what, id, value)

    def press(self, spec):
        """An element was pressed."""
        self.report("press", spec["id"])
        if not spec["over"]:
            for action in spec["press"]:
                self._carry_out(action)

    def written(self, spec, text):
        """A field or a slider holds something else."""
        self.values[spec["id"]] = text
        self.report("fill", spec["id"], len(text) if spec["secure"] else text)
        for other in self.screen["elements"]:
            if other["enables"] == spec["id"]:
                self._enable(other["id"], text != "")

    def toggled(self, spec, on):
        """A switch or a box was turned on or off."""
        self.report("toggle", spec["id"], bool(on))

    def chosen(self, spec, option):
        """Another option was taken."""
        self.values[spec["id"]] = option
        self.report("select", spec["id"], option)

    def _carry_out(self, action):
        do, to = action["do"], action["to"]
        if do == "set":
            self._put(to, action["text"])
        elif do == "add":
            count = int(self.values[to] or 0) + action["by"]
            self._put(to, str(count))
            self.report("count", to, count)
        elif do == "submit":
            field = next((spec["id"] for spec in self.screen["elements"] if spec["role"] == "textbox"), None)
            self.report("submit", "", self.values[field] if field else "")

    def _put(self, id, text):
        self.values[id] = text
        self._show(id, text)
