"""Simulated Android devices behind the real adb server: phones, tablets, televisions, emulators.

`Lab` is what tests use. What is real: the adb server and every client of it, the transport protocol, the shell that
runs command lines. What is simulated: the device's daemon, its programs, its framework, over the practice app's model.
"""

from .apk import write_apk
from .kinds import KINDS, Kind
from .lab import Lab, LabFailed

__all__ = ["KINDS", "Kind", "Lab", "LabFailed", "write_apk"]
