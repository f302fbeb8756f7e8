"""A window of plain X that writes down every input it gets: one JSON object a line on stdout.

    witness.py DISPLAY X Y WIDTH HEIGHT [TITLE] [--dialog-on-close] [--deaf] [--popup]

The first line is {"ready": id}. `--dialog-on-close` brings up a dialog instead of closing, `--deaf` does not answer
pings, `--popup` maps a window past the window manager.
"""

import json
import sys

from Xlib import X, Xutil, display

flags = {word for word in sys.argv[1:] if word.startswith("--")}
name, x, y, width, height, *rest = [word for word in sys.argv[1:] if not word.startswith("--")]
connection = display.Display(name)
screen = connection.screen()
MASK = (
    X.KeyPressMask | X.KeyReleaseMask | X.ButtonPressMask | X.ButtonReleaseMask | X.PointerMotionMask
    | X.FocusChangeMask | X.StructureNotifyMask | X.ExposureMask
)  # fmt: skip
KINDS = {
    X.KeyPress: "key", X.KeyRelease: "key up", X.ButtonPress: "button", X.ButtonRelease: "button up",
    X.MotionNotify: "motion", X.FocusIn: "focus", X.FocusOut: "blur",
}  # fmt: skip
protocols, delete, ping = (
    connection.intern_atom(atom) for atom in ("WM_PROTOCOLS", "WM_DELETE_WINDOW", "_NET_WM_PING")
)


def say(**words):
    print(json.dumps(words), flush=True)


def window(title, place, leader=None):
    made = screen.root.create_window(
        *place, 0, screen.root_depth, background_pixel=0x336699, event_mask=MASK, override_redirect="--popup" in flags
    )
    made.set_wm_name(title.encode("ascii", "replace").decode())
    made.set_wm_class("witness", "Witness")
    made.change_property(
        connection.intern_atom("_NET_WM_NAME"), connection.intern_atom("UTF8_STRING"), 8, title.encode()
    )
    made.set_wm_protocols([delete] if "--deaf" in flags else [delete, ping])
    made.set_wm_normal_hints(flags=Xutil.USPosition | Xutil.PMinSize, min_width=60, min_height=40)
    if leader is not None:
        made.set_wm_transient_for(leader)
    made.map()
    return made


place = tuple(int(number) for number in (x, y, width, height))
main = window(rest[0] if rest else "Witness", place)
connection.sync()
dialog = None
told = False
while True:
    event = connection.next_event()
    if event.type == X.MapNotify and event.window == main and not told:
        told = True
        say(ready=main.id)
    elif event.type == X.ClientMessage and event.client_type == protocols:
        if event.data[1][0] == ping:
            event.window = screen.root
            screen.root.send_event(event, event_mask=X.SubstructureNotifyMask | X.SubstructureRedirectMask)
            connection.flush()
        elif event.data[1][0] == delete and event.window == main:
            if "--dialog-on-close" not in flags:
                break
            dialog = dialog or window("Save changes?", (200, 200, 160, 80), main)
        elif event.data[1][0] == delete:
            event.window.destroy()
            dialog = None
    elif event.type in KINDS:
        words = {"kind": KINDS[event.type]}
        if event.type not in (X.FocusIn, X.FocusOut):
            words |= {
                "detail": event.detail,
                "x": event.root_x,
                "y": event.root_y,
                "state": event.state,
                "time": event.time,
            }
        say(**words)
