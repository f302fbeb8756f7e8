"""One Wayland session: pointer, keys, windows, pictures and clipboard, through the compositor's protocols alone.

protocol    the interfaces that are spoken, by hand
wire        messages on the socket
connection  objects, requests and events on one socket
session     what was taken of the compositor's offers: seat, screens, managers
compositor  `Compositor`: the connection in a thread of its own
sight       which session a caller sits at, and what it offers
opening     everything of one session, opened together
ipc         sway's own socket
toplevels   which window belongs to which (foreign-toplevel)
windows     listing windows, and which one is at a point
arranging   moving, sizing, raising and closing them, each read back
pointer     the mouse (virtual-pointer)
keymap      a keymap with every character that is to be typed
keys        the keyboard (virtual-keyboard)
shots       pictures of the screens (screencopy)
clipboard   the clipboard: text, pictures, files (data-control)
"""
