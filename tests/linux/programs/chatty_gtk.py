"""A GTK 3 window that writes to stdout and stderr as it is told to, one command a line of a named pipe or file.

    chatty_gtk.py ORDERS     then, appended to the file ORDERS: out TEXT, err TEXT, many COUNT, child TEXT, burn SECONDS

Run with the system's Python.
"""

import os
import subprocess
import sys
import time

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

orders = open(sys.argv[1], encoding="utf-8")  # noqa: SIM115
window = Gtk.Window(title="Chatty")
window.set_default_size(200, 100)
window.connect("destroy", lambda *_: Gtk.main_quit())
window.show_all()


def obey():
    for line in orders:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "out":
            print(rest, flush=True)
        elif word == "err":
            print(rest, file=sys.stderr, flush=True)
        elif word == "raw":
            os.write(1, bytes.fromhex(rest))
        elif word == "many":
            print("\n".join(f"line {number} {'x' * 90}" for number in range(int(rest))), flush=True)
        elif word == "child":
            subprocess.run(["sh", "-c", f"echo {rest}"], check=False)
        elif word == "burn":
            end = time.monotonic() + float(rest)
            while time.monotonic() < end:
                pass
    return True


GLib.timeout_add(20, obey)
Gtk.main()
