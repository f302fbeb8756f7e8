"""The conformance suite: one command that tells a vendor the truth about a backend."""

from __future__ import annotations

__version__ = "1.0"
