# mypy: ignore-errors
"""A list of rows of which only those near the visible part exist; one that came back is a new element."""

import gi

gi.require_version("Atk", "1.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Atk, Gtk  # noqa: E402

HEIGHT, NEAR, BEFORE = 44, 40, 8
"""Height of a row in points; how many there are at a time; how many of them above the visible part."""


class Rows(Gtk.Box):
    """The rows, between two fillers that stand for those that do not exist."""

    def __init__(self, number, adjustment, make):
        """`number`: of rows; `adjustment`: how far the page is scrolled; `make(number)`: a row's widget."""
        super().__init__(orientation=Gtk.Orientation.VERTICAL)
        self.get_accessible().set_role(Atk.Role.LIST)
        self._number, self._adjustment, self._make = number, adjustment, make
        self._above, self._below = Gtk.DrawingArea(), Gtk.DrawingArea()
        for filler in (self._above, self._below):
            filler.get_accessible().set_role(Atk.Role.FILLER)
            self.pack_start(filler, False, False, 0)
        self._have = {}
        handler = adjustment.connect("value-changed", lambda _adjustment: self.fill())
        self.connect("destroy", lambda _rows: adjustment.disconnect(handler))
        self._size(0, 0)

    def fill(self):
        """Makes the rows near what is on screen; those that stay near stay the same elements."""
        first = int((self._adjustment.get_value() - max(0, self._top())) // HEIGHT) - BEFORE
        first = max(0, min(self._number - NEAR, first))
        end = min(self._number, first + NEAR)
        for number in [number for number in self._have if not first <= number < end]:
            self._have.pop(number).destroy()
        for number in range(first, end):
            if number not in self._have:
                row = self._have[number] = self._make(number)
                row.set_size_request(-1, HEIGHT)
                self.pack_start(row, False, False, 0)
                self.reorder_child(row, 1 + number - first)
                row.show_all()
        self._size(first, end)

    def _top(self):
        parent = self.get_parent()
        if parent is None or not self.get_realized():
            return 0
        place = self.translate_coordinates(parent, 0, 0)
        return place[1] if place is not None else 0

    def _size(self, first, end):
        for filler, rows in ((self._above, first), (self._below, self._number - end)):
            filler.set_size_request(-1, rows * HEIGHT)
            filler.set_visible(rows > 0)
            filler.set_no_show_all(True)
