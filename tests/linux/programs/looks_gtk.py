"""A GTK window that writes down how GTK tells it to look, whenever that changes: one JSON object a line.

    looks_gtk.py 3.0|4.0 FILE

Run with the system's Python.
"""

import json
import sys

import gi

gi.require_version("Gtk", sys.argv[1])
from gi.repository import GLib, Gtk  # noqa: E402

told = open(sys.argv[2], "a", encoding="utf-8")  # noqa: SIM115
loop = GLib.MainLoop()
label = Gtk.Label(label="How do I look?")
if sys.argv[1] == "3.0":
    window = Gtk.Window(title="Looks")
    window.add(label)
    window.show_all()
    window.connect("destroy", lambda *_: loop.quit())
else:
    Gtk.init()
    window = Gtk.Window(title="Looks")
    window.set_child(label)
    window.present()
    window.connect("close-request", lambda *_: loop.quit())
settings = Gtk.Settings.get_default()
last = {}


def tell():
    known, colour = window.get_style_context().lookup_color("theme_bg_color")
    now = {
        "theme": settings.props.gtk_theme_name,
        "dpi": settings.props.gtk_xft_dpi / 1024,
        "animations": settings.props.gtk_enable_animations,
        "dark": known and colour.red + colour.green + colour.blue < 1.5,
        "height": label.get_layout().get_pixel_size()[1],
    }
    if now != last:
        last.update(now)
        print(json.dumps(now), file=told, flush=True)
    return True


GLib.timeout_add(30, tell)
loop.run()
