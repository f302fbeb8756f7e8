"""A GTK 3 window with one of everything the accessibility tests look at; says on stdout what really happened to it.

    a11y_gtk3.py [--title TITLE] [--rows N] [--flat N] [--deep N] [--bare] [--at X Y] [--churn] [--popover]

--rows: a scrolled area of N buttons in groups of 40. --flat: N buttons in one box. --deep: N boxes inside each other.
--bare: only these, not the form. --churn: a button that makes things come, go and change.
--popover: a button that opens one over another button.
"""

import argparse
import random

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402


def say(*words):
    print(*words, flush=True)


def named(widget, name):
    widget.get_accessible().set_name(name)
    return widget


def popover():
    """A line with a button that opens a popover, and below it a button that the popover then lies over."""
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    inside = Gtk.Button(label="Inside")
    inside.connect("clicked", lambda _button: say("inside"))
    opens = Gtk.MenuButton(label="Open", halign=Gtk.Align.START)
    shown = Gtk.Popover(position=Gtk.PositionType.BOTTOM)
    shown.add(inside)
    inside.show()
    opens.set_popover(shown)
    below = Gtk.Button(label="Below", margin_start=0)
    below.set_size_request(-1, 200)
    below.connect("clicked", lambda _button: say("below"))
    box.add(opens)
    box.add(below)
    return box


class Arena(Gtk.Box):
    """Rows that come, go and change at random, the same way each time."""

    def __init__(self):
        super().__init__(orientation=Gtk.Orientation.VERTICAL)
        self.random = random.Random(7)
        self.rows, self.made, self.left = [], 0, 0
        start = Gtk.Button(label="Churn")
        start.connect("clicked", self.start)
        self.add(start)
        for _ in range(6):
            self.another()

    def start(self, _button):
        self.left = 60
        GLib.timeout_add(10, self.step)

    def another(self):
        self.made += 1
        row = Gtk.Box()
        row.add(Gtk.Label(label=f"Label {self.made}"))
        row.add(Gtk.Button(label=f"Button {self.made}"))
        self.add(row)
        row.show_all()
        self.rows.append(row)

    def step(self):
        row, what = self.random.choice(self.rows), self.random.randrange(5)
        if what == 0:
            self.another()
        elif what == 1 and len(self.rows) > 3:
            self.rows.remove(row)
            row.destroy()
        elif what == 2:
            row.set_visible(not row.get_visible())
        elif what == 3:
            row.get_children()[1].set_sensitive(self.random.random() < 0.5)
        else:
            row.get_children()[0].set_text(f"Said {self.random.randrange(1000)}")
        self.left -= 1
        if self.left == 0:
            say("churned")
        return self.left > 0


class Fixture(Gtk.Window):
    def __init__(self, options):
        super().__init__(title=options.title)
        self.set_default_size(640, 560)
        if options.at:
            self.move(*options.at)
        self.connect("destroy", Gtk.main_quit)
        outer = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        self.add(outer)
        if not options.bare:
            self.form(outer)
        if options.popover:
            outer.pack_start(popover(), False, False, 0)
        if options.churn:
            outer.pack_start(Arena(), False, False, 0)
        if options.rows:
            outer.pack_start(self.rows(options.rows), True, True, 0)
        if options.flat:
            box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
            for number in range(options.flat):
                box.add(Gtk.Button(label=f"Flat {number}"))
            area = Gtk.ScrolledWindow()
            area.add(box)
            outer.pack_start(area, True, True, 0)
        if options.deep:
            at = outer
            for _ in range(options.deep):
                box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
                at.pack_start(box, False, False, 0)
                at = box
            at.pack_start(Gtk.Button(label="Bottom"), False, False, 0)

    def form(self, outer):
        outer.pack_start(self.menus(), False, False, 0)
        line = Gtk.Box()
        outer.pack_start(line, False, False, 0)
        self.count = 0
        self.counter = Gtk.Label(label="Count: 0")
        for label, action in (
            ("Increment", self.increment),
            ("Ask", self.ask),
            ("Doomed", None),
            ("Doom", self.doom),
            ("Replace", self.replace),
            ("Palette", self.palette),
        ):
            button = Gtk.Button(label=label)
            if action:
                button.connect("clicked", action)
            if label == "Doomed":
                self.doomed = button
            line.add(button)
        off = Gtk.Button(label="Off")
        off.set_sensitive(False)
        line.add(off)
        line.add(self.counter)
        self.line = line

        grid = Gtk.Grid()
        outer.pack_start(grid, False, False, 0)
        self.entry = named(Gtk.Entry(), "Name")
        self.entry.get_accessible().set_accessible_id("name-field")
        self.entry.connect("changed", lambda e: say("name", e.get_text()))
        secret = named(Gtk.Entry(visibility=False, text="hunter2"), "Secret")
        secret.connect("changed", lambda e: say("secret", e.get_text()))
        fixed = named(Gtk.Entry(text="as it is", editable=False), "Fixed")
        volume = named(Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1), "Volume")
        volume.set_size_request(160, -1)
        volume.connect("value-changed", lambda s: say("volume", int(s.get_value())))
        amount = named(Gtk.SpinButton.new_with_range(0, 50, 1), "Amount")
        amount.connect("value-changed", lambda s: say("amount", int(s.get_value())))
        agree = Gtk.CheckButton(label="Agree")
        agree.connect("toggled", lambda b: say("agree", b.get_active()))
        stubborn = Gtk.CheckButton(label="Stubborn")
        stubborn.connect("toggled", lambda b: b.set_active(False) if b.get_active() else None)
        colour = Gtk.ComboBoxText()
        for word in ("Red", "Green", "Blue"):
            colour.append_text(word)
        colour.set_active(0)
        named(colour, "Colour")
        colour.connect("changed", lambda c: say("colour", c.get_active_text()))
        for row, widgets in enumerate(((self.entry, secret, fixed), (volume, amount, agree), (colour, stubborn))):
            for column, widget in enumerate(widgets):
                grid.attach(widget, column, row, 1, 1)

        overlay = Gtk.Overlay()
        under = Gtk.Button(label="Under")
        under.connect("clicked", lambda _b: say("under"))
        under.set_size_request(200, 40)
        overlay.add(under)
        veil = Gtk.Button(label="Veil")
        veil.set_halign(Gtk.Align.FILL)
        overlay.add_overlay(veil)
        outer.pack_start(overlay, False, False, 0)

        pages = Gtk.Notebook()
        for name in ("First", "Second"):
            page = Gtk.Box()
            page.add(Gtk.Label(label=f"{name} page text"))
            page.add(Gtk.Button(label=f"{name} button"))
            pages.append_page(page, Gtk.Label(label=name))
        outer.pack_start(pages, False, False, 0)

        self.notes = Gtk.TextView()
        named(self.notes, "Notes")
        notes = Gtk.ScrolledWindow()
        notes.set_size_request(-1, 60)
        notes.add(self.notes)
        outer.pack_start(notes, False, False, 0)

    def menus(self):
        bar = Gtk.MenuBar()
        for title, words in (("File", ("New", "Save")), ("Edit", ("Copy", "Confirm"))):
            top = Gtk.MenuItem(label=title)
            menu = Gtk.Menu()
            for word in words:
                item = Gtk.MenuItem(label=word)
                item.connect("activate", self.confirm if word == "Confirm" else lambda _i, w=word: say("menu", w))
                menu.append(item)
            top.set_submenu(menu)
            bar.append(top)
        return bar

    def rows(self, number):
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        for start in range(0, number, 40):
            group = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
            for row in range(start, min(start + 40, number)):
                button = Gtk.Button(label=f"Row {row}")
                button.connect("clicked", lambda _b, r=row: say("row", r))
                group.add(button)
            box.add(group)
        area = Gtk.ScrolledWindow()
        area.add(box)
        return area

    def increment(self, _button):
        self.count += 1
        self.counter.set_text(f"Count: {self.count}")
        say("count", self.count)

    def ask(self, _button):
        dialog = Gtk.MessageDialog(
            transient_for=self,
            modal=True,
            message_type=Gtk.MessageType.QUESTION,
            text="Really?",
            buttons=Gtk.ButtonsType.OK_CANCEL,
        )
        dialog.format_secondary_text("It cannot be undone.")
        dialog.set_default_response(Gtk.ResponseType.OK)

        def answered(_dialog, response):
            say("answer", response == Gtk.ResponseType.OK)
            dialog.destroy()

        dialog.connect("response", answered)
        dialog.show()

    def confirm(self, _item):
        """A dialog that runs a loop of its own: nothing returns before it is answered."""
        dialog = Gtk.MessageDialog(transient_for=self, modal=True, text="Sure?", buttons=Gtk.ButtonsType.OK_CANCEL)
        say("confirmed", dialog.run() == Gtk.ResponseType.OK)
        dialog.destroy()

    def doom(self, _button):
        self.doomed.destroy()
        say("doomed")

    def replace(self, _button):
        self.doomed.destroy()
        self.doomed = Gtk.Button(label="Doomed")
        self.line.add(self.doomed)
        self.doomed.show()
        say("replaced")

    def palette(self, _button):
        window = Gtk.Window(title="Palette", transient_for=self)
        window.add(Gtk.Button(label="Swatch"))
        window.show_all()
        say("palette")


parser = argparse.ArgumentParser()
parser.add_argument("--title", default="Fixture")
parser.add_argument("--rows", type=int, default=0)
parser.add_argument("--flat", type=int, default=0)
parser.add_argument("--deep", type=int, default=0)
parser.add_argument("--at", type=int, nargs=2)
parser.add_argument("--bare", action="store_true")
parser.add_argument("--churn", action="store_true")
parser.add_argument("--popover", action="store_true")
window = Fixture(parser.parse_args())
window.show_all()
say("ready")
Gtk.main()
