"""A GTK 4 window with what the accessibility tests look at; says on stdout what really happened to it.

a11y_gtk4.py [--rows N]
"""

import argparse

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gtk  # noqa: E402


def say(*words):
    print(*words, flush=True)


def labelled(widget, name):
    widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
    return widget


def form(box):
    counter = Gtk.Label(label="Count: 0")
    count = 0

    def increment(_button):
        nonlocal count
        count += 1
        counter.set_text(f"Count: {count}")
        say("count", count)

    line = Gtk.Box()
    button = Gtk.Button(label="Increment")
    button.connect("clicked", increment)
    off = Gtk.Button(label="Off", sensitive=False)
    line.append(button)
    line.append(off)
    line.append(counter)
    box.append(line)
    name = labelled(Gtk.Entry(), "Name")
    name.connect("changed", lambda e: say("name", e.get_text()))
    secret = labelled(Gtk.PasswordEntry(), "Secret")
    secret.set_text("hunter2")
    volume = labelled(Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1), "Volume")
    volume.connect("value-changed", lambda s: say("volume", int(s.get_value())))
    agree = Gtk.CheckButton(label="Agree")
    agree.connect("toggled", lambda b: say("agree", b.get_active()))
    colour = labelled(Gtk.DropDown.new_from_strings(["Red", "Green", "Blue"]), "Colour")
    colour.connect("notify::selected", lambda d, _p: say("colour", d.get_selected_item().get_string()))
    overlay = Gtk.Overlay()
    under = Gtk.Button(label="Under")
    overlay.set_child(under)
    overlay.add_overlay(Gtk.Button(label="Veil"))
    for widget in (name, secret, volume, agree, colour, overlay):
        box.append(widget)


def rows(number):
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    for start in range(0, number, 40):
        group = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        for row in range(start, min(start + 40, number)):
            button = Gtk.Button(label=f"Row {row}")
            button.connect("clicked", lambda _b, r=row: say("row", r))
            group.append(button)
        box.append(group)
    area = Gtk.ScrolledWindow(vexpand=True)
    area.set_child(box)
    return area


parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=0)
options = parser.parse_args()


def start(app):
    window = Gtk.ApplicationWindow(application=app, title="Fixture4", default_width=500, default_height=500)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    form(box)
    if options.rows:
        box.append(rows(options.rows))
    window.set_child(box)
    window.present()
    say("ready")


application = Gtk.Application(application_id=f"org.fixture.gtk4.r{options.rows}")
application.connect("activate", start)
application.run([])
