"""What a device's media library has of a film or picture."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Medium:
    """One thing in the library: its number, and when it was taken (seconds since the epoch)."""

    number: int
    taken: int = field(default_factory=lambda: int(time.time()))

    @property
    def path(self) -> str:
        """Its file, as the library tells it; no shell can read it."""
        return f"/storage/cloud/100/files/Photo/{self.number}/VID_{self.taken}_{self.number:03d}.mp4"
