"""A GTK 3 window whose left half can be dragged, and whose right half takes what is dropped; tells both on stdout."""

import json

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402


def say(**words):
    print(json.dumps(words), flush=True)


targets = [Gtk.TargetEntry.new("text/plain", Gtk.TargetFlags.SAME_APP, 0)]
source, target = Gtk.EventBox(), Gtk.EventBox()
source.add(Gtk.Label(label="take me"))
target.add(Gtk.Label(label="drop here"))
source.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, targets, Gdk.DragAction.COPY)
source.connect("drag-data-get", lambda _, __, data, *___: data.set_text("dragged", -1))
target.drag_dest_set(Gtk.DestDefaults.ALL, targets, Gdk.DragAction.COPY)
target.connect("drag-data-received", lambda _, __, x, y, data, *___: say(dropped=data.get_text(), x=x, y=y))
box = Gtk.Box(homogeneous=True)
box.add(source)
box.add(target)
window = Gtk.Window(title="dragging")
window.set_default_size(400, 200)
window.add(box)
window.connect("map-event", lambda *_: GLib.timeout_add(200, lambda: say(ready=True)))
window.show_all()
Gtk.main()
