"""Android phones, tablets, TVs and emulators, through the caller's adb server.

backend.py    what is there            inventory.py  rows as devices
driver.py     one device               reach.py      what its capabilities share
dumping.py    getting a dump           tree.py       a dump as a tree
screen.py touch.py keys.py apps.py packages.py ways.py alerts.py     the capabilities
reading/      Android's outputs, read into facts
"""

from __future__ import annotations

from .backend import AndroidBackend

__all__ = ["AndroidBackend"]
