# mypy: ignore-errors
"""What a person does to the practice app: keys as the specification writes them, and what the pointer is about."""

import math
import time

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, Gtk  # noqa: E402
from practice_keys import chord  # noqa: E402

HELD, STILL, SWEPT = 0.4, 10, 20
"""Seconds of a hold; points of a press that rests, of a swipe."""
HELD_KEYS = (
    ("ctrl", Gdk.ModifierType.CONTROL_MASK), ("alt", Gdk.ModifierType.MOD1_MASK),
    ("shift", Gdk.ModifierType.SHIFT_MASK), ("meta", Gdk.ModifierType.SUPER_MASK | Gdk.ModifierType.META_MASK),
)  # fmt: skip


def chord_of(event, in_field):
    """The chord of a key event; None for a modifier alone, and for what only puts a character into a field."""
    held = [name for name, mask in HELD_KEYS if event.state & mask]
    # The META bit is set along with ALT on some keymaps.
    if "alt" in held and "meta" in held and not event.state & Gdk.ModifierType.SUPER_MASK:
        held.remove("meta")
    return chord(Gdk.keyval_name(event.keyval) or "", Gdk.keyval_to_unicode(event.keyval), held, in_field)


class Pointer:
    """What the pointer is about: where it went down and when, and whether that became something else than a press.

    Attributes:
        swallowed: What happens now was a hold or a drag; it is no press.
    """

    def __init__(self):
        self._down = None
        self.swallowed = False

    def goes_down(self, event):
        """Notes where a press begins."""
        self.swallowed = False
        if event.button == 1 and event.type == Gdk.EventType.BUTTON_PRESS:
            self._down = (event.x_root, event.y_root, time.monotonic())

    def comes_up(self, event):
        """How far the pointer went, and how long it was down: dx, dy, seconds; None if it was not."""
        if self._down is None:
            return None
        x, y, at = self._down
        self._down = None
        dx, dy = event.x_root - x, event.y_root - y
        if math.hypot(dx, dy) > STILL:
            self.swallowed = True
        return dx, dy, time.monotonic() - at


def listen(widget, spec, pointer, report, zones):
    """Lets an element feel its gesture.

    Args:
        widget: The element's.
        spec: The element.
        pointer: The window's `Pointer`.
        report: `report(what, id, value)`.
        zones: Gives the drop zones: (id, widget) each.
    """
    kind = spec["gesture"]
    if kind == "hover":
        widget.add_events(Gdk.EventMask.ENTER_NOTIFY_MASK)

    def down(_widget, event):
        pointer.goes_down(event)
        return False

    def up(_widget, event):
        moved = pointer.comes_up(event) if event.button == 1 else None
        if moved is None:
            return False
        dx, dy, seconds = moved
        if kind == "hold" and seconds >= HELD and not pointer.swallowed:
            pointer.swallowed = True
            report("hold", spec["id"], round(seconds, 2))
        elif kind == "drag-source":
            zone = next((id for id, other in zones() if holds(other, event.x_root, event.y_root)), None)
            if zone is not None:
                pointer.swallowed = True
                report("drag", spec["id"], [spec["id"], zone])
        elif kind == "swipe" and math.hypot(dx, dy) >= SWEPT:
            way = ("right" if dx > 0 else "left") if abs(dx) > abs(dy) else ("down" if dy > 0 else "up")
            report("swipe", spec["id"], way)
        return False

    widget.connect("button-press-event", down)
    widget.connect("button-release-event", up)


def holds(widget, x, y):
    """Whether a point of the screen lies on a widget."""
    window = widget.get_window()
    if window is None or not widget.get_mapped():
        return False
    _, left, top = window.get_origin()
    place = widget.get_allocation()
    if not widget.get_has_window():
        left, top = left + place.x, top + place.y
    return left <= x < left + place.width and top <= y < top + place.height


def in_field(widget):
    """Whether a widget takes text."""
    return isinstance(widget, (Gtk.Entry, Gtk.TextView))
