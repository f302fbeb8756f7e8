"""A GTK window with one text field that writes down its text after every change: `typing_gtk.py 3|4 [MILLISECONDS]`.

One JSON object a line on stdout; {"ready": true} once the field has the keyboard. With MILLISECONDS it takes so long
over every change, as a busy program does.
"""

import json
import sys
import time

import gi

version = sys.argv[1]
slow = int(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.0
gi.require_version("Gtk", f"{version}.0")
from gi.repository import GLib, Gtk  # noqa: E402


def say(**words):
    print(json.dumps(words), flush=True)


def build(window):
    field = Gtk.TextView()
    field.set_accepts_tab(True)
    buffer = field.get_buffer()

    def changed(_):
        time.sleep(slow)
        say(text=buffer.get_text(*buffer.get_bounds(), True))

    buffer.connect("changed", changed)
    window.set_default_size(400, 300)
    window.set_title("typing")
    if version == "3":
        keys = window
        keys.connect("key-press-event", lambda _, event: say(key=event.keyval, state=int(event.state) & 0xFF))
        window.add(field)
        window.show_all()
    else:
        keys = Gtk.EventControllerKey()
        keys.set_propagation_phase(Gtk.PropagationPhase.CAPTURE)
        keys.connect("key-pressed", lambda _, keyval, __, state: say(key=keyval, state=int(state) & 0xFF))
        window.add_controller(keys)
        window.set_child(field)
        window.present()
    field.grab_focus()

    def ready():
        if field.has_focus() and window.is_active():
            say(ready=True)
            return False
        return True

    GLib.timeout_add(10, ready)


if version == "3":
    build(Gtk.Window())
    Gtk.main()
else:
    application = Gtk.Application(application_id="anydevice.typing.witness")
    application.connect("activate", lambda application: build(Gtk.ApplicationWindow(application=application)))
    application.run(None)
