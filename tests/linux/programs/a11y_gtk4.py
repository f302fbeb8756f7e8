"""A GTK 4 window with what the accessibility tests look at; says on stdout what really happened to it.

a11y_gtk4.py [--rows N] [--menus] [--churn]
"""

import argparse
import random

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gio, GLib, Gtk  # noqa: E402


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


def menus(window, box):
    """Two things that open over the window: a menu with a menu in it, and a popover with a margin and a button."""
    for name in ("cut", "paste", "deep"):
        action = Gio.SimpleAction.new(name, None)
        action.connect("activate", lambda action, _value: say("menu", action.get_name()))
        window.add_action(action)
    inner = Gio.Menu()
    inner.append("Deep", "win.deep")
    menu = Gio.Menu()
    menu.append("Cut", "win.cut")
    menu.append("Paste", "win.paste")
    menu.append_submenu("More", inner)
    line = Gtk.Box(margin_start=30)
    line.append(Gtk.MenuButton(label="Edit", menu_model=menu))
    button = Gtk.Button(label="Inside")
    button.connect("clicked", lambda _button: say("inside"))
    content = Gtk.Box(margin_top=20, margin_start=35, margin_end=5)
    content.append(button)
    popover = Gtk.Popover(child=content, has_arrow=False, margin_top=10, margin_start=4)
    line.append(Gtk.MenuButton(label="Open", popover=popover))
    box.append(line)
    below = Gtk.Button(label="Below", height_request=200)
    below.connect("clicked", lambda _button: say("below"))
    box.append(below)


class Arena(Gtk.Box):
    """Rows that come, go and change at random, the same way each time."""

    def __init__(self):
        super().__init__(orientation=Gtk.Orientation.VERTICAL)
        self.random = random.Random(7)
        self.rows, self.made, self.left = [], 0, 0
        start = Gtk.Button(label="Churn")
        start.connect("clicked", self.start)
        self.append(start)
        for _ in range(6):
            self.add()

    def start(self, _button):
        self.left = 60
        GLib.timeout_add(10, self.step)

    def add(self):
        self.made += 1
        row = Gtk.Box()
        row.append(Gtk.Label(label=f"Label {self.made}"))
        row.append(Gtk.Button(label=f"Button {self.made}"))
        self.append(row)
        self.rows.append(row)

    def step(self):
        row, what = self.random.choice(self.rows), self.random.randrange(5)
        if what == 0:
            self.add()
        elif what == 1 and len(self.rows) > 3:
            self.rows.remove(row)
            self.remove(row)
        elif what == 2:
            row.set_visible(not row.get_visible())
        elif what == 3:
            row.get_last_child().set_sensitive(self.random.random() < 0.5)
        else:
            row.get_first_child().set_text(f"Said {self.random.randrange(1000)}")
        self.left -= 1
        if self.left == 0:
            say("churned")
        return self.left > 0


parser = argparse.ArgumentParser()
parser.add_argument("--churn", action="store_true")
parser.add_argument("--menus", action="store_true")
parser.add_argument("--rows", type=int, default=0)
options = parser.parse_args()


def start(app):
    window = Gtk.ApplicationWindow(application=app, title="Fixture4", default_width=500, default_height=500)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    if options.menus:
        menus(window, box)
    elif options.churn:
        box.append(Arena())
    else:
        form(box)
    if options.rows:
        box.append(rows(options.rows))
    window.set_child(box)
    window.present()
    say("ready")


application = Gtk.Application(application_id=f"org.fixture.gtk4.r{options.rows}")
application.connect("activate", start)
application.run([])
