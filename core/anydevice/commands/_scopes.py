"""How much of a screen commands look at."""

from __future__ import annotations

from typing import Final

from ..driver import TreeScope

FULL: Final = TreeScope(mode="full", max_nodes=20_000, max_text=512)
"""All there is."""
VISIBLE: Final = TreeScope(mode="viewport", max_nodes=5_000, max_text=512)
"""What is on screen."""
