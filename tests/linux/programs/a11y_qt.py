"""A Qt window with what the accessibility tests look at; says on stdout what really happened to it.

a11y_qt.py [--rows N] [--churn]

Under PySide6 (Qt 6) where the interpreter has it, else under PyQt5.
"""

import argparse
import random
import sys

try:
    from PySide6 import QtCore, QtWidgets
except ImportError:
    from PyQt5 import QtCore, QtWidgets


def say(*words):
    print(*words, flush=True)


parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=0)
parser.add_argument("--churn", action="store_true")
options = parser.parse_args()
application = QtWidgets.QApplication(sys.argv[:1])
window = QtWidgets.QWidget()
window.setWindowTitle("FixtureQt")
window.resize(500, 500)
box = QtWidgets.QVBoxLayout(window)
counter = QtWidgets.QLabel("Count: 0")
count = 0


def increment():
    global count  # noqa: PLW0603 - a program of thirty lines
    count += 1
    counter.setText(f"Count: {count}")
    say("count", count)


button = QtWidgets.QPushButton("Increment")
button.setObjectName("increment")
button.clicked.connect(increment)
off = QtWidgets.QPushButton("Off")
off.setEnabled(False)
name = QtWidgets.QLineEdit()
name.setAccessibleName("Name")
name.textChanged.connect(lambda text: say("name", text))
secret = QtWidgets.QLineEdit("hunter2")
secret.setEchoMode(QtWidgets.QLineEdit.EchoMode.Password)
secret.setAccessibleName("Secret")
volume = QtWidgets.QSlider(QtCore.Qt.Orientation.Horizontal)
volume.setRange(0, 100)
volume.setAccessibleName("Volume")
volume.valueChanged.connect(lambda value: say("volume", value))
agree = QtWidgets.QCheckBox("Agree")
agree.toggled.connect(lambda value: say("agree", value))
colour = QtWidgets.QComboBox()
colour.addItems(["Red", "Green", "Blue"])
colour.setAccessibleName("Colour")
colour.currentTextChanged.connect(lambda text: say("colour", text))


def ask():
    answer = QtWidgets.QMessageBox.question(window, "Ask", "Really?")
    say("answer", answer == QtWidgets.QMessageBox.StandardButton.Yes)


asking = QtWidgets.QPushButton("Ask")
asking.clicked.connect(ask)
for widget in (button, off, asking, counter, name, secret, volume, agree, colour):
    box.addWidget(widget)
holder = QtWidgets.QWidget()
holder.setFixedHeight(40)
under = QtWidgets.QPushButton("Under", holder)
under.resize(200, 40)
veil = QtWidgets.QPushButton("Veil", holder)
veil.resize(200, 40)
box.addWidget(holder)
if options.rows:
    inside = QtWidgets.QWidget()
    column = QtWidgets.QVBoxLayout(inside)
    for start in range(0, options.rows, 40):
        group = QtWidgets.QWidget()
        lines = QtWidgets.QVBoxLayout(group)
        for row in range(start, min(start + 40, options.rows)):
            one = QtWidgets.QPushButton(f"Row {row}")
            one.clicked.connect(lambda _=False, r=row: say("row", r))
            lines.addWidget(one)
        column.addWidget(group)
    area = QtWidgets.QScrollArea()
    area.setWidget(inside)
    area.setWidgetResizable(True)
    box.addWidget(area)


class Arena(QtWidgets.QWidget):
    """Things that come, go and change at random, the same way each time."""

    def __init__(self):
        super().__init__()
        self.lines = QtWidgets.QVBoxLayout(self)
        self.random = random.Random(7)
        self.rows = []
        self.made = 0
        self.list = QtWidgets.QListWidget()
        self.list.addItems(["one", "two", "three"])
        self.tabs = QtWidgets.QTabWidget()
        for title in ("Left", "Right"):
            page = QtWidgets.QWidget()
            QtWidgets.QVBoxLayout(page).addWidget(QtWidgets.QPushButton(f"On the {title.lower()}"))
            self.tabs.addTab(page, title)
        self.lines.addWidget(self.list)
        self.lines.addWidget(self.tabs)
        start = QtWidgets.QPushButton("Churn")
        start.clicked.connect(self.start)
        self.lines.addWidget(start)
        self.timer = QtCore.QTimer(self)
        self.timer.timeout.connect(self.step)
        for _ in range(6):
            self.add()

    def start(self):
        self.left = 60
        self.timer.start(10)

    def add(self):
        self.made += 1
        row = QtWidgets.QWidget()
        inside = QtWidgets.QHBoxLayout(row)
        inside.addWidget(QtWidgets.QLabel(f"Label {self.made}"))
        inside.addWidget(QtWidgets.QPushButton(f"Button {self.made}"))
        inside.addWidget(QtWidgets.QCheckBox(f"Box {self.made}"))
        self.lines.addWidget(row)
        self.rows.append(row)

    def step(self):
        row = self.random.choice(self.rows)
        what = self.random.randrange(8)
        if what == 0:
            self.add()
        elif what == 1 and len(self.rows) > 3:
            self.rows.remove(row)
            row.deleteLater()
        elif what == 2:
            row.setVisible(not row.isVisible())
        elif what == 3:
            row.findChild(QtWidgets.QPushButton).setEnabled(self.random.random() < 0.5)
        elif what == 4:
            row.findChild(QtWidgets.QLabel).setText(f"Said {self.random.randrange(1000)}")
        elif what == 5:
            row.findChild(QtWidgets.QCheckBox).toggle()
        elif what == 6:
            self.tabs.setCurrentIndex(1 - self.tabs.currentIndex())
        elif self.list.count() > 2 and self.random.random() < 0.5:
            self.list.takeItem(0)
        else:
            self.list.addItem(f"item {self.left}")
        self.left -= 1
        if self.left == 0:
            self.timer.stop()
            say("churned")


if options.churn:
    box.addWidget(Arena())
window.show()
QtCore.QTimer.singleShot(0, lambda: say("ready"))
application.exec()
