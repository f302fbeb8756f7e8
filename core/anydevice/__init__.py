"""anydevice: the right device, driven by one caller at a time, with answers that are checked."""

from __future__ import annotations

__version__ = "0.1.0"
