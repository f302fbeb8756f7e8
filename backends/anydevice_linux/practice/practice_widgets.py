# mypy: ignore-errors
"""Widgets of the practice app: what a person expects for a role, and says so to accessibility.

GTK has a widget for most roles. Where one cannot say what it is (a tab that is no page of a notebook, a button that
opens something), its accessible object here says it.
"""

import gi

gi.require_version("Atk", "1.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Atk, Gtk, Pango  # noqa: E402

ROLES = {
    "heading": Atk.Role.HEADING,
    "status": Atk.Role.INFO_BAR,
    "region": Atk.Role.LANDMARK,
    "image": Atk.Role.IMAGE,
    "tooltip": Atk.Role.TOOL_TIP,
    "tab": Atk.Role.PAGE_TAB,
    "listitem": Atk.Role.LIST_ITEM,
    "link": Atk.Role.LINK,
    "menuitem": Atk.Role.MENU_ITEM,
}
"""Roles GTK's own widget does not have by itself."""
STATES = {
    "selected": (Atk.StateType.SELECTABLE, Atk.StateType.SELECTED),
    "expanded": (Atk.StateType.EXPANDABLE, Atk.StateType.EXPANDED),
    "collapsed": (Atk.StateType.EXPANDABLE, Atk.StateType.COLLAPSED),
    "required": (Atk.StateType.REQUIRED,),
    "readonly": (Atk.StateType.READ_ONLY,),
}
"""States of a widget of ours, as accessibility says them."""
TELLS = {state: kinds[-1] for state, kinds in STATES.items()}
BUTTONS = frozenset({"button", "tab", "link", "menuitem"})
FIELDS = frozenset({"textbox", "searchbox", "spinbutton"})
LABELLED = FIELDS | {"switch", "checkbox", "slider", "combobox"}
"""Roles whose name stands beside them."""
REFUSED = {"letters": str.isdigit, "digits": lambda character: not character.isdigit()}
"""Characters a field drops, by what it accepts."""


class ButtonFace(Gtk.ButtonAccessible):
    """The accessible object of `Button`, with its states. The label inside is its name; GTK tells it no other way."""

    def do_ref_state_set(self):
        return with_states(Gtk.ButtonAccessible.do_ref_state_set(self), self.get_widget())


class EntryFace(Gtk.EntryAccessible):
    """The accessible object of `Entry`, with its states."""

    def do_ref_state_set(self):
        return with_states(Gtk.EntryAccessible.do_ref_state_set(self), self.get_widget())


class Button(Gtk.Button):
    """A button with states of its own."""

    words = frozenset()


class Entry(Gtk.Entry):
    """A field with states of its own."""

    words = frozenset()


class PadFace(Gtk.ContainerAccessible):
    """The accessible object of `Pad`: it has the name itself, what is written on it is for the eye."""

    def do_get_n_children(self):
        return 0


class Pad(Gtk.EventBox):
    """A part of the screen that takes what the pointer does."""

    def __init__(self, name):
        super().__init__(above_child=True)
        self.add(Gtk.Label(label=name))


Button.set_accessible_type(ButtonFace)
Pad.set_accessible_type(PadFace)
Entry.set_accessible_type(EntryFace)


def with_states(states, widget):
    """The states of a widget, with those that its specification names and no stock widget has."""
    for word in getattr(widget, "words", ()):
        for state in STATES.get(word, ()):
            states.add_state(state)
    return states


class Filtered(Gtk.EntryBuffer):
    """The text of a field that drops some characters."""

    refused = None

    def do_insert_text(self, position, chars, _length):
        kept = "".join(character for character in chars if not self.refused(character))
        return Gtk.EntryBuffer.do_insert_text(self, position, kept, len(kept)) if kept else 0


def face(widget, spec, name=None):
    """Gives a widget's accessible object the name, role and identifier of the specification."""
    accessible = widget.get_accessible()
    if name is not None:
        accessible.set_name(name)
    role = ROLES.get(spec["role"])
    if role is not None:
        accessible.set_role(role)
    if not spec["anonymous"]:
        accessible.set_accessible_id(spec["id"])


def make(spec, value):
    """The widget of an element; `value` is what it holds."""
    role, name = spec["role"], spec["name"]
    if role in BUTTONS:
        widget = Button(label=name)
        widget.get_child().set_xalign(0.0)
        face(widget, spec)
    elif role in ("heading", "text", "tooltip"):
        widget = label(name)
        face(widget, spec)
    elif role == "status":
        widget = label(value or "")
        face(widget, spec, name)
    elif role in FIELDS:
        widget = field(spec, value or "")
    elif role == "switch":
        widget = Gtk.Switch(halign=Gtk.Align.START, valign=Gtk.Align.CENTER)
        face(widget, spec, name)
    elif role == "checkbox":
        widget = Gtk.CheckButton(halign=Gtk.Align.START)
        face(widget, spec, name)
    elif role == "slider":
        widget = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1)
        widget.set_draw_value(False)
        widget.set_value(float(value or 0))
        face(widget, spec, name)
    elif role == "combobox":
        widget = Gtk.ComboBoxText()
        for option in spec["options"]:
            widget.append_text(option)
        widget.set_active(spec["options"].index(value) if value in spec["options"] else -1)
        face(widget, spec, name)
    elif role == "progressbar":
        widget = Gtk.ProgressBar(valign=Gtk.Align.CENTER, show_text=True, text=name)
        face(widget, spec, name)
    else:
        widget = Pad(name)
        face(widget, spec, name)
    for state in spec["states"]:
        set_state(widget, state, True)
    return widget


def label(text):
    """A line of text; a long one is cut to the eye, not to accessibility."""
    return Gtk.Label(label=text, xalign=0.0, ellipsize=Pango.EllipsizeMode.END)


def field(spec, value):
    """A field for text, of one line or several."""
    if "multiline" in spec["states"]:
        widget = Gtk.TextView(wrap_mode=Gtk.WrapMode.WORD_CHAR, accepts_tab=False)
        widget.get_buffer().set_text(value)
    elif spec["role"] == "spinbutton":
        widget = Gtk.SpinButton.new_with_range(0, 1_000_000, 1)
        widget.set_numeric(True)
        widget.set_text(value)
        widget.update()
    else:
        widget = Entry(visibility=not spec["secure"])
        refused = REFUSED.get(spec["accepts"])
        if refused is not None:
            buffer = Filtered()
            buffer.refused = refused
            widget.set_buffer(buffer)
        widget.set_text(value)
    face(widget, spec, spec["name"])
    return widget


def text_of(widget):
    """What a field, slider or line of text holds."""
    if isinstance(widget, Gtk.TextView):
        buffer = widget.get_buffer()
        return buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), True)
    if isinstance(widget, Gtk.Scale):
        return str(int(widget.get_value()))
    return widget.get_text()


def set_text(widget, text):
    """Puts a text where `text_of` reads it."""
    if isinstance(widget, Gtk.TextView):
        widget.get_buffer().set_text(text)
    else:
        widget.set_text(text)


def set_state(widget, state, on):
    """Gives an element a state, or takes it."""
    if state == "disabled":
        widget.set_sensitive(not on)
    elif state == "checked":
        widget.set_active(on)
    elif state == "hidden":
        widget.set_no_show_all(on)
        widget.set_visible(not on)
    elif state in STATES:
        if state == "readonly":
            widget.set_editable(not on)
        widget.words = widget.words | {state} if on else widget.words - {state}
        widget.get_accessible().notify_state_change(TELLS[state], on)
