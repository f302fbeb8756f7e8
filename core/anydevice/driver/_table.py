"""The capabilities core's own commands use, and the operations that change nothing."""

from __future__ import annotations

from ._apps import Apps, Links, Power
from ._base import Capability
from ._desk import Clipboard, Windows
from ._evidence import Audio, Logs, Network, Perf, Recording
from ._input import Keys, Navigation, Pointer, Touch
from ._screen import Alerts, Elements, Screen
from ._upkeep import Files, Forwards, Notifications, Remote, Settings, Shell

CAPABILITIES: tuple[type[Capability], ...] = (
    Screen, Elements, Touch, Pointer, Keys, Apps, Links, Navigation, Power, Alerts, Windows, Clipboard, Recording, Logs,
    Perf, Audio, Network, Settings, Shell, Files, Remote, Notifications, Forwards,
)  # fmt: skip
"""The capabilities core's own commands use. A vendor's package may define more; they need no entry here."""

READ_ONLY: frozenset[str] = frozenset(
    {
        "screen.tree", "screen.image", "screen.geometry", "elements.probe", "elements.at", "keys.keyboard_state",
        "keys.focused", "apps.list", "apps.state", "apps.container", "alerts.get", "windows.list", "clipboard.read",
        "recording.status", "logs.now", "logs.read", "perf.memory", "perf.cpu", "perf.frames", "audio.level",
        "network.requests", "settings.read", "files.home", "files.tags", "files.search", "forwards.list",
    }
)  # fmt: skip
"""Operations that change nothing; every other one counts as sent once it was called."""
