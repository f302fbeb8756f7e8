"""One X display: pointer, keys, windows, pictures and clipboard, through the X protocol alone.

worker      a thread that runs blocking code for the loop, one piece at a time, each with a deadline
authority   which cookie a display asks for
connection  a connection of python-xlib that knows one server only
display     `XDisplay`: the connection in its worker
properties  many properties of many windows in one round trip
owners      which process the server knows behind a window
windows     listing windows, and which one is at a point
arranging   moving, sizing, raising and closing them, each read back
passing     seeing that the window manager has passed a press on
pointer     the mouse
keymap      which keys type what on the active layout, and what chords are called
xkb         the keyboard mapping, read and written exactly
spare       lending spare keycodes to characters without a key
keys        the keyboard
shots       pictures of the display
selection   owning and reading an X selection, large ones in pieces
clipboard   the clipboard: text, pictures, files
"""

from .clipboard import Clipboard
from .display import XDisplay
from .keys import XKeys
from .pointer import XPointer
from .shots import Shots
from .windows import Window, Windows

__all__ = ["Clipboard", "Shots", "Window", "Windows", "XDisplay", "XKeys", "XPointer"]
