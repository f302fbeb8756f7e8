"""Simulated Vega OS televisions: a virtual device and a stick, behind the real adb server and a stand-in for `vega`.

`Lab` is what tests use. What is real: the adb server and every client of it, the transport protocol, the shell that
runs command lines, HTTP to the automation toolkit, processes of the `vega` program. What is simulated: the guest's
programs, its framework, the toolkit, the SDK's program, over the practice app's model.
"""

from ..android.lab import LabFailed
from .apps import write_vpkg
from .kinds import KINDS, VegaKind
from .lab import Lab

__all__ = ["KINDS", "Lab", "LabFailed", "VegaKind", "write_vpkg"]
