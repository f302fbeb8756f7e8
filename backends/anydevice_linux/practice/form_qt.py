# mypy: ignore-errors
"""The practice app's Form screen as a Qt program: `form_qt.py --spec FILE [--screen ID] [--witness URL]`.

Run by a Python that has PySide6 (Qt 6) or PyQt5, never imported by ours. What it shows, does and reports is data, as
in `practice_app.py`.
"""

import sys

from practice_form import FIELDS, LABELLED, Form, asked_for, kept
from practice_keys import chord
from practice_reports import Reports

try:
    from PySide6 import QtCore, QtGui, QtWidgets
except ImportError:
    from PyQt5 import QtCore, QtGui, QtWidgets

Qt = QtCore.Qt
SIZE = (800, 690)
FIELD_NAME = 128
"""Points a field's name takes."""
GAP = 8
HELD = (
    ("ctrl", Qt.KeyboardModifier.ControlModifier), ("alt", Qt.KeyboardModifier.AltModifier),
    ("shift", Qt.KeyboardModifier.ShiftModifier), ("meta", Qt.KeyboardModifier.MetaModifier),
)  # fmt: skip
NAMES = {"Enter": "KP_Enter", "Backtab": "ISO_Left_Tab", "Backspace": "BackSpace", "PageUp": "Page_Up",
         "PageDown": "Page_Down", "Space": "space"}  # fmt: skip
"""X's names of keys that have another one in Qt."""
KEYS = {
    getattr(Qt.Key, f"Key_{name}"): NAMES.get(name, name)
    for name in (
        "Return", "Enter", "Tab", "Backtab", "Escape", "Backspace", "Delete", "Space", "Up", "Down", "Left", "Right",
        "Home", "End", "PageUp", "PageDown", "Insert", *(f"F{number}" for number in range(1, 25)),
    )
}  # fmt: skip


class Line(QtWidgets.QLineEdit):
    """A field of one line that drops some characters."""

    changed = QtCore.pyqtSignal(str) if hasattr(QtCore, "pyqtSignal") else QtCore.Signal(str)

    def __init__(self, spec):
        super().__init__()
        self._spec = spec
        if spec["secure"]:
            self.setEchoMode(QtWidgets.QLineEdit.EchoMode.Password)
        self.textChanged.connect(self._keep)

    def _keep(self, text):
        left = kept(self._spec, text)
        if left == text:
            self.changed.emit(text)
        else:
            self.setText(left)


class Plain(QtWidgets.QLabel):
    """A text or a picture that feels presses."""

    def __init__(self, pressed):
        super().__init__()
        self._pressed = pressed

    def mouseReleaseEvent(self, event):
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed()


class Held(QtWidgets.QWidget):
    """An element with another one over it, whole."""

    def __init__(self, under):
        super().__init__()
        self._inside = [under]
        under.setParent(self)

    def cover(self, over):
        """Puts another one over what is there."""
        over.setParent(self)
        self._inside.append(over)

    def resizeEvent(self, _event):
        for widget in self._inside:
            widget.setGeometry(self.rect())


class FormWindow(QtWidgets.QScrollArea):
    """The window, with one screen in it."""

    def __init__(self, screen, reports):
        super().__init__()
        self.setWindowTitle(screen["title"])
        self.resize(*SIZE)
        self.setWidgetResizable(True)
        self._reports = reports
        self._widgets, self._shells = {}, {}
        self._form = Form(screen, self._say, self._show, self._enable)
        page = QtWidgets.QWidget()
        self._lines = QtWidgets.QVBoxLayout(page)
        self._lines.setSpacing(GAP)
        for spec in screen["elements"]:
            self._place(spec)
        self._lines.addStretch()
        self.setWidget(page)
        QtWidgets.QApplication.instance().installEventFilter(self)
        QtCore.QTimer.singleShot(0, self._form.begin)

    def _say(self, *report):
        self._reports.add(*report)
        QtCore.QTimer.singleShot(0, self._reports.release)

    def _show(self, id, text):
        self._widgets[id].setText(text)

    def _enable(self, id, on):
        self._widgets[id].setEnabled(on)

    def _place(self, spec):
        widget = self._widgets[spec["id"]] = self._make(spec)
        if "checked" in spec["states"]:
            widget.setChecked(True)
        widget.setEnabled("disabled" not in spec["states"])
        around = self._widgets.get(spec["inside"])
        if around is not None:
            around.setText("")
            around.setAccessibleName(spec["name"])
            QtWidgets.QHBoxLayout(around).addWidget(widget)
            widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            return
        shell = self._shells[spec["id"]] = self._shelled(widget, spec)
        shell.setFixedHeight(int(spec["size"]))
        under = self._shells.get(spec["over"])
        if under is None:
            self._lines.addWidget(shell)
            return
        at = self._lines.indexOf(under)
        self._lines.removeWidget(under)
        place = Held(under)
        place.cover(shell)
        place.setFixedHeight(under.height())
        self._lines.insertWidget(at, place)

    def _shelled(self, widget, spec):
        if spec["role"] not in LABELLED:
            return widget
        shell = QtWidgets.QWidget()
        line = QtWidgets.QHBoxLayout(shell)
        line.setContentsMargins(0, 0, 0, 0)
        name = QtWidgets.QLabel(spec["name"])
        name.setFixedWidth(FIELD_NAME)
        name.setBuddy(widget)
        line.addWidget(name)
        line.addWidget(widget)
        return shell

    def _make(self, spec):
        role, name, form = spec["role"], spec["name"], self._form
        if role == "button":
            widget = QtWidgets.QPushButton(name)
            widget.clicked.connect(lambda *_: form.press(spec))
            return widget
        if role in FIELDS and "multiline" in spec["states"]:
            widget = QtWidgets.QPlainTextEdit()
            widget.setTabChangesFocus(True)
            widget.textChanged.connect(lambda: form.written(spec, widget.toPlainText()))
        elif role in FIELDS:
            widget = Line(spec)
            widget.changed.connect(lambda text: form.written(spec, text))
        elif role in ("switch", "checkbox", "radio"):
            widget = QtWidgets.QRadioButton(name) if role == "radio" else QtWidgets.QCheckBox()
            if role == "checkbox":
                widget.setText(name)
            widget.toggled.connect(lambda on: form.toggled(spec, on))
        elif role == "slider":
            widget = QtWidgets.QSlider(Qt.Orientation.Horizontal)
            widget.setRange(0, 100)
            widget.setValue(int(spec["value"] or 0))
            widget.valueChanged.connect(lambda value: form.written(spec, str(value)))
        elif role == "combobox":
            widget = QtWidgets.QComboBox()
            widget.addItems(spec["options"])
            widget.setCurrentText(spec["value"])
            widget.currentTextChanged.connect(lambda option: form.chosen(spec, option))
        else:
            widget = Plain(lambda: form.press(spec))
            if role == "image":
                picture = QtGui.QPixmap(1, 1)
                picture.fill(Qt.GlobalColor.transparent)
                widget.setPixmap(picture)
            else:
                widget.setText((spec["value"] or "") if role == "status" else name)
        if role not in ("status", "checkbox", "radio"):
            widget.setAccessibleName(name)
        widget.setObjectName(spec["id"])
        return widget

    def eventFilter(self, target, event):
        """Hears every key before whatever has the focus, once."""
        if event.type() == QtCore.QEvent.Type.KeyPress and target is self.window().windowHandle():
            self._key(event)
        return False

    def _key(self, event):
        focus = QtWidgets.QApplication.focusWidget()
        in_field = isinstance(focus, (QtWidgets.QLineEdit, QtWidgets.QPlainTextEdit))
        held = [name for name, mask in HELD if event.modifiers() & mask]
        name = KEYS.get(event.key(), "")
        code = event.key() if 0x20 <= event.key() < 0x110000 else 0
        word = chord(name, ord(event.text()) if len(event.text()) == 1 and ord(event.text()) >= 0x20 else code, held,
                     in_field)  # fmt: skip
        if word is not None:
            self._form.report("key", next((id for id, one in self._widgets.items() if one is focus), ""), word)


def main():
    """Runs the program until its window is closed; returns its exit status."""
    screen, witness = asked_for("form_qt.py")
    application = QtWidgets.QApplication(sys.argv[:1])
    reports = Reports(witness)
    window = FormWindow(screen, reports)
    window.show()
    status = application.exec()
    reports.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
