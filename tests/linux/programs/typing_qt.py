"""A Qt window with one text field that writes down its text after every change, as `typing_gtk.py` does."""

import json
import sys

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QPlainTextEdit


def say(**words):
    print(json.dumps(words), flush=True)


application = QApplication(sys.argv)
field = QPlainTextEdit()
field.setWindowTitle("typing")
field.resize(400, 300)
field.textChanged.connect(lambda: say(text=field.toPlainText()))
field.show()
timer = QTimer()


def ready():
    if field.hasFocus() and field.isActiveWindow():
        say(ready=True)
        timer.stop()


timer.timeout.connect(ready)
timer.start(10)
sys.exit(application.exec())
