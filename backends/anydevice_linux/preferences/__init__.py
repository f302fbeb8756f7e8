"""How programs on a desktop are asked to look: by a settings manager of ours, or by the one the desktop has.

`xsettings.py` and `portal.py` are the two ways programs hear of it, `manager.py` is both for a virtual desktop,
`hosted.py` asks a desktop that somebody else started.
"""

from __future__ import annotations

from .hosted import Hosted
from .manager import Manager

__all__ = ["Hosted", "Manager"]
