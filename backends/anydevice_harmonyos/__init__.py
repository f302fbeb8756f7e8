"""HarmonyOS phones, tablets, TVs and emulators, through the caller's hdc server.

backend.py    what is there            inventory.py  rows as devices
driver.py     one device               reach.py      what its capabilities share
looking.py    getting a layout         tree.py       a layout as a tree
screen.py touch.py keys.py apps.py packages.py ways.py alerts.py …   the capabilities
hdc/          the server's protocol    reading/      HarmonyOS's outputs, read into facts
"""

from __future__ import annotations

from .backend import HarmonyosBackend

__all__ = ["HarmonyosBackend"]
