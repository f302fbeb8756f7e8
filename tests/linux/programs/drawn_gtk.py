"""A window that shows a picture with words in it, so that no element holds them.

    drawn_gtk.py PICTURE ROW WORD...

The words are in rows of ROW points each, from the top. A press on one becomes the title: `pressed: WORD`. On stdin it
takes `fill COLOUR`, and fills itself with it.
"""

import sys
import threading

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
gi.require_version("GdkPixbuf", "2.0")
from gi.repository import Gdk, GdkPixbuf, GLib, Gtk  # noqa: E402

COLOURS = {"red": 0xDC1E1EFF, "blue": 0x1E1EDCFF}
PICTURE, ROW, WORDS = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


def press(box, event):
    row = int(event.y // ROW)
    if 0 <= row < len(WORDS):
        window.set_title(f"pressed: {WORDS[row]}")


def listen():
    for line in sys.stdin:
        verb, _, colour = line.strip().partition(" ")
        if verb == "fill":
            GLib.idle_add(fill, colour)


def fill(colour):
    pixels = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, False, 8, 1280, 800)
    pixels.fill(COLOURS[colour])
    image.set_from_pixbuf(pixels)


window = Gtk.Window(title="drawn")
window.set_decorated(False)
window.set_default_size(1280, 800)
image = Gtk.Image.new_from_file(PICTURE)
box = Gtk.EventBox()
box.add_events(Gdk.EventMask.BUTTON_PRESS_MASK)
box.connect("button-press-event", press)
box.add(image)
window.add(box)
window.connect("destroy", Gtk.main_quit)
window.show_all()
window.move(0, 0)
threading.Thread(target=listen, daemon=True).start()
Gtk.main()
