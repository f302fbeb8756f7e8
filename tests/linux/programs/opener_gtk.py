"""A GTK 3 program for addresses of a scheme: writes down each it is given, a second start hands them to the first.

    opener_gtk.py FILE [ADDRESS ...]

Run with the system's Python.
"""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gio, Gtk  # noqa: E402


def activate(app):
    if not app.get_windows():
        window = Gtk.ApplicationWindow(application=app, title="Opener")
        window.set_default_size(200, 100)
        window.show_all()
    app.get_windows()[0].present()


def opened(app, files, count, hint):
    with open(sys.argv[1], "a", encoding="utf-8") as told:
        for file in files:
            told.write(file.get_uri() + "\n")
    activate(app)


app = Gtk.Application(application_id="dev.anydevice.test.opener", flags=Gio.ApplicationFlags.HANDLES_OPEN)
app.connect("activate", activate)
app.connect("open", opened)
sys.exit(app.run([sys.argv[0], *sys.argv[2:]]))
