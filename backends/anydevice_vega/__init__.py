"""Amazon's Vega OS: Fire TV sticks and the SDK's virtual devices, through the caller's adb server.

backend.py    what is there            inventory.py  rows as devices      sdk.py vvd.py  the SDK and what it starts
driver.py     one device               reach.py      what its capabilities share
toolkit.py    the automation toolkit   network.py    HTTP over adb        routes.py      how keys get there
tree.py       a page source as a tree  elements.py keys.py apps.py …      the capabilities
reading/      what the programs print, read into facts
"""

from __future__ import annotations

from .backend import VegaBackend

__all__ = ["VegaBackend"]
