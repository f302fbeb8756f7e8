"""A GTK 3 window that tells what the mouse does in it, in points from its own corner: `pointer_gtk.py [TITLE]`.

One JSON object a line on stdout; {"ready": true} once it shows.
"""

import json
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402

KINDS = {
    Gdk.EventType.BUTTON_PRESS: "press",
    Gdk.EventType._2BUTTON_PRESS: "double",
    Gdk.EventType.BUTTON_RELEASE: "release",
    Gdk.EventType.MOTION_NOTIFY: "motion",
}


def say(**words):
    print(json.dumps(words), flush=True)


def told(_, event):
    button = getattr(event, "button", 0)
    say(kind=KINDS.get(event.type, "other"), x=event.x, y=event.y, button=getattr(button, "button", button))
    return False


def scrolled(_, event):
    smooth, dx, dy = event.get_scroll_deltas()
    say(kind="scroll", dx=dx if smooth else 0, dy=dy if smooth else 0, way=event.direction.value_nick)
    return False


area = Gtk.DrawingArea()
area.add_events(
    Gdk.EventMask.BUTTON_PRESS_MASK
    | Gdk.EventMask.BUTTON_RELEASE_MASK
    | Gdk.EventMask.POINTER_MOTION_MASK
    | Gdk.EventMask.SCROLL_MASK
    | Gdk.EventMask.SMOOTH_SCROLL_MASK
)
for name in ("button-press-event", "button-release-event", "motion-notify-event"):
    area.connect(name, told)
area.connect("scroll-event", scrolled)
window = Gtk.Window(title=sys.argv[1] if len(sys.argv) > 1 else "pointer")
window.set_default_size(400, 300)
window.add(area)
window.connect("map-event", lambda *_: GLib.timeout_add(200, lambda: say(ready=True)))
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()
