"""HarmonyOS devices that do not exist, behind an hdc server that speaks the real channel protocol."""

from .hap import write_hap
from .kinds import KINDS, Kind
from .lab import Lab, LabFailed

__all__ = ["KINDS", "Kind", "Lab", "LabFailed", "write_hap"]
