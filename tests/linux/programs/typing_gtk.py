"""A GTK window with one text field that writes down its text: `typing_gtk.py 3|4 [MILLISECONDS|last]`.

One JSON object a line on stdout, after every change; {"ready": true} once the field has the keyboard. With
MILLISECONDS it takes so long over every change, as a busy program does. With `last` it tells its text only once it has
not changed for 0.1 s, and no keys: what it writes does not keep it from reading.
"""

import json
import sys
import time

import gi

version = sys.argv[1]
last = sys.argv[2:] == ["last"]
slow = int(sys.argv[2]) / 1000 if len(sys.argv) > 2 and not last else 0.0
waiting = []
gi.require_version("Gtk", f"{version}.0")
from gi.repository import GLib, Gtk  # noqa: E402


def say(**words):
    if last and "key" in words:
        return
    print(json.dumps(words), flush=True)


def build(window):
    field = Gtk.TextView()
    field.set_accepts_tab(True)
    buffer = field.get_buffer()

    def tell():
        waiting.clear()
        say(text=buffer.get_text(*buffer.get_bounds(), True))
        return False

    def changed(_):
        time.sleep(slow)
        if not last:
            tell()
            return
        if waiting:
            GLib.source_remove(waiting.pop())
        waiting.append(GLib.timeout_add(100, tell))

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
