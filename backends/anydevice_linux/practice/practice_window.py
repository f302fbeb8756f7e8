# mypy: ignore-errors
"""The window of the practice app: builds a screen from the specification and carries out what its elements do."""

import json
import os
import time
import urllib.parse

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk  # noqa: E402
from practice_input import Pointer, chord_of, holds, in_field, listen  # noqa: E402
from practice_rows import Rows  # noqa: E402
from practice_widgets import BUTTONS, LABELLED, Button, face, label, make, set_state, set_text, text_of  # noqa: E402

SIZE = (800, 690)
FIELD_NAME = 128
"""Points a field's name takes."""
GAP = 8
REPORTS_PRESS = BUTTONS | {"text", "status", "region", "image", "heading", "listitem"}
ARGUMENTS, KEY, LINK, EVENT = "echo.arguments", "echo.key", "echo.link", "echo.event"


class PracticeWindow(Gtk.ApplicationWindow):
    """One run of the app."""

    def __init__(self, application, specification, reports):
        super().__init__(application=application)
        self.set_default_size(*SIZE)
        self._screens = specification["screens"]
        self._reports = reports
        self._values = {}  # by element id, kept while the run lasts
        self._screen = None
        self._trail = []
        self._timers = []
        self._pointer = Pointer()
        self._specs, self._widgets, self._shells = {}, {}, {}
        self._rows = None
        self._dialog = None
        self._area = Gtk.ScrolledWindow(hscrollbar_policy=Gtk.PolicyType.NEVER, overlay_scrolling=False)
        self.add(self._area)
        self.connect("key-press-event", self._key)
        self.connect("destroy", lambda _window: self._end_timers())
        self.show_all()

    def begin(self, screen, arguments):
        """Shows the first screen of a run."""
        self._values[ARGUMENTS] = " ".join(arguments)
        self._show(screen if screen in self._screens else "home")

    def linked(self, link):
        """A deep link arrived."""
        self._report("link", "", link)
        self._set_value(LINK, link)
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query, keep_blank_values=True)
        if "event" in query:
            payload = json.loads(query.get("payload", [""])[0] or "null")
            self._report("event", "", {"name": query["event"][0], "payload": payload})
            self._set_value(EVENT, query["event"][0])

    # --- showing ---

    def _show(self, id):
        self._screen = self._screens[id]
        self._end_timers()
        self.set_title(self._screen["title"])
        self._build()
        self._area.get_vadjustment().set_value(0)
        if self._screen["animated"]:
            self._animate()
        self._report("ready", "", id)

    def _build(self):
        old = self._area.get_child()
        if old is not None:
            old.destroy()
        self._specs, self._widgets, self._shells = {}, {}, {}
        page = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=GAP, margin=GAP)
        ground = Gtk.EventBox()
        ground.add(page)
        for spec in self._screen["elements"]:
            self._place(spec, page)
        for spec in self._screen["elements"]:
            if spec["enables"] and self._values.get(spec["enables"]):
                set_state(self._widgets[spec["id"]], "disabled", False)
        self._rows = None
        if self._screen["rows"]:
            self._rows = Rows(self._screen["rows"], self._area.get_vadjustment(), self._row)
            page.add(self._rows)
        ground.connect("button-press-event", self._ground_down)
        ground.connect("button-release-event", self._ground_up)
        self._area.add(ground)
        page.set_focus_vadjustment(self._area.get_vadjustment())
        self._area.show_all()
        if self._rows is not None:
            self._rows.fill()

    def _place(self, spec, page):
        id = spec["id"]
        self._specs[id] = spec
        if spec["inside"]:
            # The label of a button: GTK tells it as the button's name, and not once more.
            inner = self._widgets[id] = self._shells[id] = self._widgets[spec["inside"]].get_child()
            face(inner, spec)
            return
        widget = self._widgets[id] = make(spec, self._values.get(id, spec["value"]))
        shell = self._shells[id] = self._shelled(widget, spec)
        shell.set_size_request(-1, int(spec["size"]))
        if spec["over"]:
            self._over(shell, self._shells[spec["over"]], page)
        else:
            page.add(shell)
        if not spec["shown"]:
            shell.set_no_show_all(True)
            shell.hide()
        self._listen(widget, spec)

    def _shelled(self, widget, spec):
        if spec["role"] not in LABELLED:
            return widget
        shell = Gtk.Box(spacing=GAP)
        name = label(spec["name"])
        name.set_size_request(FIELD_NAME, -1)
        name.get_accessible().set_name("")
        shell.pack_start(name, False, False, 0)
        shell.pack_start(widget, True, True, 0)
        return shell

    def _over(self, shell, under, page):
        """Puts an element over another one, whole."""
        place = Gtk.Overlay()
        at = page.get_children().index(under)
        page.remove(under)
        place.add(under)
        place.add_overlay(shell)
        page.add(place)
        page.reorder_child(place, at)

    def _row(self, number):
        spec = {"id": f"row.{number}", "role": "listitem", "anonymous": False}
        row = Button(label=f"Row {number}", relief=Gtk.ReliefStyle.NONE)
        row.get_child().set_xalign(0.0)
        face(row, spec)
        row.connect("button-press-event", self._button_down)
        row.connect("button-release-event", self._button_up)
        row.connect("clicked", lambda _row: self._clicked(lambda: self._report("press", spec["id"])))
        return row

    def _animate(self):
        start, clock = time.monotonic(), next(s["id"] for s in self._screen["elements"] if s["role"] == "status")

        def tick():
            self._set_value(clock, str(int((time.monotonic() - start) / 0.05)))
            return True

        self._timers.append(GLib.timeout_add(50, tick))

    def _end_timers(self):
        for timer in self._timers:
            GLib.source_remove(timer)
        self._timers.clear()

    def _after(self, seconds, function):
        def run():
            self._timers.remove(timer)
            function()
            return False

        timer = GLib.timeout_add(int(seconds * 1000), run)
        self._timers.append(timer)

    def _set_value(self, id, text):
        self._values[id] = text
        if id in self._widgets:
            set_text(self._widgets[id], text)

    # --- doing ---

    def _report(self, what, id="", value=None):
        self._reports.add(self._screen["id"] if self._screen else "", what, id, value)
        GLib.idle_add(self._reports.release, priority=GLib.PRIORITY_HIGH)

    def _press(self, spec):
        self._report("press", spec["id"])
        if not spec["over"]:
            for action in spec["press"]:
                self._carry_out(action)

    def _carry_out(self, action):
        do, to, text, seconds = action["do"], action["to"], action["text"], action["seconds"]
        if do in ("show", "hide"):
            change = self._shells[to].show_all if do == "show" else self._shells[to].hide
            self._shells[to].set_no_show_all(False)
            self._after(seconds, change) if seconds else change()
        elif do == "go":
            self._trail.append(self._screen["id"])
            self._show(to)
        elif do == "add":
            count = int(self._widgets[to].get_text() or 0) + action["by"]
            self._set_value(to, str(count))
            self._report("count", to, count)
        elif do == "set":
            self._set_value(to, text)
        elif do == "state":
            set_state(self._widgets[to], text[1:], text[0] == "+")
        elif do == "dialog":
            self._ask(text, to)
        elif do == "freeze":
            self._reports.flush()
            GLib.timeout_add(50, lambda: time.sleep(seconds))  # the press is over by then
        elif do == "crash":
            self._reports.flush()
            os.abort()
        elif do == "renew":
            top = self._area.get_vadjustment().get_value()
            self._build()
            GLib.idle_add(lambda: self._area.get_vadjustment().set_value(top) and None)
        elif do == "submit":
            field = next((s for s in self._screen["elements"] if s["role"] == "textbox"), None)
            self._report("submit", "", text_of(self._widgets[field["id"]]) if field else "")

    def _ask(self, kind, text):
        buttons = Gtk.ButtonsType.OK if kind == "alert" else Gtk.ButtonsType.OK_CANCEL
        icon = Gtk.MessageType.INFO if kind == "alert" else Gtk.MessageType.QUESTION
        dialog = Gtk.MessageDialog(transient_for=self, modal=True, message_type=icon, buttons=buttons, text=text)
        dialog.set_default_response(Gtk.ResponseType.OK)
        dialog.set_title(text)
        entry = None
        if kind == "prompt":
            entry = Gtk.Entry(activates_default=True)
            dialog.get_content_area().add(entry)

        def answered(_dialog, response):
            said = "accept" if kind == "alert" or response == Gtk.ResponseType.OK else "dismiss"
            self._report("dialog", "", entry.get_text() if entry is not None and said == "accept" else said)
            dialog.destroy()

        dialog.connect("response", answered)
        dialog.show_all()

    # --- hearing ---

    def _listen(self, widget, spec):
        role, id = spec["role"], spec["id"]
        if isinstance(widget, Gtk.Button) and role in BUTTONS:
            if not spec["gesture"]:
                widget.connect("button-press-event", self._button_down)
                widget.connect("button-release-event", self._button_up)
            widget.connect("clicked", lambda _widget: self._clicked(lambda: self._press(spec)))
        elif role in ("switch", "checkbox"):
            widget.connect("notify::active", lambda *_: self._report("toggle", id, widget.get_active()))
        elif role == "combobox":
            widget.connect("changed", lambda _widget: self._chosen(id, widget.get_active_text()))
        elif role == "slider":
            widget.connect("value-changed", lambda _widget: self._written(spec, widget))
        elif isinstance(widget, Gtk.TextView):
            widget.get_buffer().connect("changed", lambda _buffer: self._written(spec, widget))
        elif in_field(widget):
            widget.connect("changed", lambda _widget: self._written(spec, widget))
        elif spec["over"] or role == "region":
            if not spec["gesture"]:
                widget.connect("button-press-event", self._button_down)
            widget.connect_after("button-release-event", lambda _widget, event: self._pad_up(spec, event))
        if spec["gesture"]:
            listen(widget, spec, self._pointer, self._report, self._zones)
        if spec["gesture"] == "hover":
            widget.connect("enter-notify-event", lambda *_: self._hovered(id))

    def _zones(self):
        return [(id, self._widgets[id]) for id, spec in self._specs.items() if spec["gesture"] == "drop-zone"]

    def _hovered(self, id):
        self._report("hover", id)
        for tip, spec in self._specs.items():
            if spec["role"] == "tooltip":
                self._shells[tip].set_no_show_all(False)
                self._shells[tip].show_all()
        return False

    def _chosen(self, id, option):
        self._values[id] = option
        self._report("select", id, option)

    def _written(self, spec, widget):
        text = self._values[spec["id"]] = text_of(widget)
        self._report("fill", spec["id"], len(text) if spec["secure"] else text)
        for other in self._screen["elements"]:
            if other["enables"] == spec["id"]:
                set_state(self._widgets[other["id"]], "disabled", text == "")

    def _clicked(self, function):
        """A button was pressed, unless that was a hold or a drag."""
        if self._pointer.swallowed:
            self._pointer.swallowed = False
        else:
            function()

    def _button_down(self, _widget, event):
        self._pointer.goes_down(event)
        return False

    def _button_up(self, _widget, event):
        self._pointer.comes_up(event)
        return False

    def _pad_up(self, spec, event):
        if event.button == 1:
            self._pointer.comes_up(event)
            self._clicked(lambda: self._press(spec))
        return True

    def _ground_down(self, _ground, event):
        self._pointer.goes_down(event)
        return False

    def _ground_up(self, _ground, event):
        """The pointer was pressed where no widget takes it: on a text, perhaps."""
        if event.button == 1 and self._pointer.comes_up(event) is not None and not self._pointer.swallowed:
            for id, spec in self._specs.items():
                plain = spec["role"] in REPORTS_PRESS and not spec["inside"]
                if plain and holds(self._widgets[id], event.x_root, event.y_root):
                    self._press(spec)
                    break
        return False

    def _key(self, _window, event):
        focus = self.get_focus()
        chord = chord_of(event, in_field(focus))
        if chord is not None:
            id = next((id for id, widget in self._widgets.items() if widget is focus), "")
            self._report("key", id, chord)
            self._set_value(KEY, chord)
        back = chord in ("alt+left", "escape") and self._trail and not in_field(focus)
        if back:
            self._show(self._trail.pop())
        return bool(back) and Gdk.EVENT_STOP
