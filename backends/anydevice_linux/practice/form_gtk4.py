# mypy: ignore-errors
"""The practice app's Form screen as a GTK 4 program: `form_gtk4.py --spec FILE [--screen ID] [--witness URL]`.

Run by the system's Python, never imported by ours. What it shows, does and reports is data, as in `practice_app.py`.
"""

import sys

import gi

gi.require_version("Gdk", "4.0")
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gio, GLib, Gtk  # noqa: E402
from practice_form import FIELDS, LABELLED, Form, asked_for, kept  # noqa: E402
from practice_keys import chord  # noqa: E402
from practice_reports import Reports  # noqa: E402

SIZE = (800, 690)
FIELD_NAME = 128
"""Points a field's name takes."""
GAP = 8
PRESSED = frozenset({"text", "status", "heading", "image"})
"""Roles that no widget of GTK reports presses of."""
HELD = (
    ("ctrl", Gdk.ModifierType.CONTROL_MASK), ("alt", Gdk.ModifierType.ALT_MASK),
    ("shift", Gdk.ModifierType.SHIFT_MASK), ("meta", Gdk.ModifierType.SUPER_MASK | Gdk.ModifierType.META_MASK),
)  # fmt: skip


class Filtered(Gtk.EntryBuffer):
    """The text of a field that drops some characters."""

    spec = None

    def do_insert_text(self, position, chars, _length):
        text = kept(self.spec, chars)
        return Gtk.EntryBuffer.do_insert_text(self, position, text, len(text)) if text else 0


class FormWindow(Gtk.ApplicationWindow):
    """The window, with one screen in it."""

    def __init__(self, application, screen, reports):
        super().__init__(application=application, title=screen["title"])
        self.set_default_size(*SIZE)
        self._reports = reports
        self._widgets, self._shells, self._radio = {}, {}, None
        self._form = Form(screen, self._say, self._show, self._enable)
        page = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=GAP)
        for side in ("top", "bottom", "start", "end"):
            getattr(page, f"set_margin_{side}")(GAP)
        for spec in screen["elements"]:
            self._place(spec, page)
        area = Gtk.ScrolledWindow(hscrollbar_policy=Gtk.PolicyType.NEVER, overlay_scrolling=False)
        area.set_child(page)
        self.set_child(area)
        keys = Gtk.EventControllerKey(propagation_phase=Gtk.PropagationPhase.CAPTURE)
        keys.connect("key-pressed", self._key)
        self.add_controller(keys)
        self.connect("map", lambda _window: GLib.idle_add(self._form.begin))

    def _say(self, *report):
        self._reports.add(*report)
        GLib.idle_add(self._reports.release, priority=GLib.PRIORITY_HIGH)

    def _show(self, id, text):
        self._widgets[id].set_text(text)

    def _enable(self, id, on):
        self._widgets[id].set_sensitive(on)

    def _place(self, spec, page):
        if spec["inside"]:
            return  # the label of a button: GTK tells it along with the button
        widget = self._widgets[spec["id"]] = self._make(spec)
        widget.set_sensitive("disabled" not in spec["states"])
        shell = self._shells[spec["id"]] = self._shelled(widget, spec)
        shell.set_size_request(-1, int(spec["size"]))
        under = self._shells.get(spec["over"])
        if under is None:
            page.append(shell)
            return
        place = Gtk.Overlay()
        page.insert_child_after(place, under.get_prev_sibling())
        page.remove(under)
        place.set_child(under)
        place.add_overlay(shell)

    def _shelled(self, widget, spec):
        if spec["role"] not in LABELLED:
            return widget
        shell = Gtk.Box(spacing=GAP)
        name = Gtk.Label(label=spec["name"], xalign=0.0, accessible_role=Gtk.AccessibleRole.PRESENTATION)
        name.set_size_request(FIELD_NAME, -1)
        shell.append(name)
        widget.set_hexpand(True)
        shell.append(widget)
        return shell

    def _make(self, spec):
        role, name, form = spec["role"], spec["name"], self._form
        if role == "button":
            widget = Gtk.Button(label=name)
            widget.connect("clicked", lambda _button: form.press(spec))
            return widget
        if role in FIELDS:
            widget = self._field(spec)
        elif role == "switch":
            widget = Gtk.Switch(halign=Gtk.Align.START, valign=Gtk.Align.CENTER)
            widget.connect("notify::active", lambda *_: form.toggled(spec, widget.get_active()))
        elif role in ("checkbox", "radio"):
            kind = Gtk.AccessibleRole.RADIO if role == "radio" else Gtk.AccessibleRole.CHECKBOX
            widget = Gtk.CheckButton(label=name, active="checked" in spec["states"], accessible_role=kind)
            if role == "radio":
                widget.set_group(self._radio)
                self._radio = self._radio or widget
            widget.connect("toggled", lambda _box: form.toggled(spec, widget.get_active()))
            return widget
        elif role == "slider":
            widget = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1)
            widget.set_value(float(spec["value"] or 0))
            widget.connect("value-changed", lambda _scale: form.written(spec, str(int(widget.get_value()))))
        elif role == "combobox":
            widget = Gtk.DropDown.new_from_strings(spec["options"])
            widget.set_selected(spec["options"].index(spec["value"]))
            widget.connect("notify::selected", lambda *_: form.chosen(spec, widget.get_selected_item().get_string()))
        elif role == "image":
            widget = Gtk.Picture(alternative_text=name)
        else:
            widget = Gtk.Label(label=(spec["value"] or "") if role == "status" else name, xalign=0.0)
        widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
        if role in PRESSED:
            press = Gtk.GestureClick()
            press.connect("released", lambda *_: form.press(spec))
            widget.add_controller(press)
        return widget

    def _field(self, spec):
        form = self._form
        if "multiline" in spec["states"]:
            widget = Gtk.TextView(wrap_mode=Gtk.WrapMode.WORD_CHAR, accepts_tab=False)
            buffer = widget.get_buffer()
            buffer.connect("changed", lambda _b: form.written(spec, buffer.get_text(*buffer.get_bounds(), True)))
            return widget
        if spec["secure"]:
            widget = Gtk.PasswordEntry()
        else:
            buffer = Filtered()
            buffer.spec = spec
            widget = Gtk.Entry(buffer=buffer)
        widget.connect("changed", lambda _entry: form.written(spec, widget.get_text()))
        return widget

    def _key(self, _keys, value, _code, state):
        focus = self.get_focus()
        in_field = isinstance(focus, (Gtk.Text, Gtk.TextView))
        held = [name for name, mask in HELD if state & mask]
        word = chord(Gdk.keyval_name(value) or "", Gdk.keyval_to_unicode(value), held, in_field)
        if word is not None:
            around = (id for id, widget in self._widgets.items() if focus is not None and holds(widget, focus))
            self._form.report("key", next(around, ""), word)
        return False


def holds(widget, inner):
    """Whether a widget is another one, or around it."""
    return inner is widget or inner.is_ancestor(widget)


def main():
    """Runs the program until its window is closed; returns its exit status."""
    screen, witness = asked_for("form_gtk4.py")
    reports = Reports(witness)
    app = Gtk.Application(flags=Gio.ApplicationFlags.NON_UNIQUE)
    app.connect("activate", lambda _app: FormWindow(app, screen, reports).present())
    app.connect("shutdown", lambda _app: reports.close())
    return app.run([])


if __name__ == "__main__":
    sys.exit(main())
