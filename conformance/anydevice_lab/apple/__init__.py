"""Apple devices that do not exist, behind `xcrun` and WebDriverAgent."""

from .kinds import KINDS, Kind
from .lab import Lab, LabFailed
from .world import write_bundle

__all__ = ["KINDS", "Kind", "Lab", "LabFailed", "write_bundle"]
