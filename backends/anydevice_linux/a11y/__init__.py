"""Reading and driving programs through the accessibility bus (AT-SPI over D-Bus).

bus          calls with deadlines, one connection an application, every failure told by kind
peer         one call to an application over its own socket, past the bus
apps         the applications that are registered, and what they are built with
shape        what an application holds: objects, and how they lie in each other
cache        asking for all of it in one question, where the toolkit keeps a cache
walk         walking to what no cache holds, in whole levels
mirror       what is remembered of an application that keeps no cache, and what it says has changed
catching_up  reading such an application: what is remembered, with what has changed read again
reading      the shortest of these roads for each toolkit
roles, states, names   from the bus's words to ours
coords       from extents to points of the screen, and which X window shows what
places       which objects show, are off screen, or are hidden
measuring    asking where objects are, only as far as something can show
view         texts, numbers and labels of what was read
looking      one look at one application
tree         from looks to one tree of nodes
keys         keys of elements
near         a fresh look at one element and what is around it
hits         what lies over an element, and what is at a point
doing, pressing, writing, choosing, revealing   acting on one element
focusing     which element has the focus
popups       what GTK 4 opens over its windows
elements, alerts   the capabilities
hands        what is lent by pointer and keyboard
session      `A11y`, the door to it all
"""

from .session import A11y

__all__ = ["A11y"]
