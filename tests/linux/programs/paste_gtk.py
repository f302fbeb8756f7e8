"""A GTK 3 program that holds or reads the clipboard, which is another program's code at both ends.

paste_gtk.py hold text|png|files FILE     says {"ready": true} once it is the owner, and stays
paste_gtk.py read text|png|files FILE     writes what it got to FILE and says {"ready": true, "got": true or false}
"""

import json
import sys
from pathlib import Path

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GdkPixbuf, GLib, Gtk  # noqa: E402

verb, kind, name = sys.argv[1:]
clipboard = Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD)


def say(**words):
    print(json.dumps(words), flush=True)


def done(content):
    if content is not None:
        Path(name).write_bytes(content)
    say(ready=True, got=content is not None)
    Gtk.main_quit()


if verb == "hold":
    if kind == "text":
        clipboard.set_text(Path(name).read_text(), -1)
    elif kind == "png":
        clipboard.set_image(GdkPixbuf.Pixbuf.new_from_file(name))
    GLib.timeout_add(50, lambda: say(ready=True))
elif kind == "text":
    clipboard.request_text(lambda _, text: done(text.encode() if text is not None else None))
elif kind == "png":

    def image(_, pixbuf):
        done(pixbuf.save_to_bufferv("png", [], [])[1] if pixbuf is not None else None)

    clipboard.request_image(image)
else:
    clipboard.request_uris(lambda _, uris: done("\n".join(uris).encode() if uris is not None else None))
Gtk.main()
