"""iPhones, iPads and Apple TVs: simulators and devices, through Xcode's programs and WebDriverAgent.

backend.py    what is there              inventory.py  rows as devices
xcrun.py      programs, one at a time    simctl.py devicectl.py   their verbs, failures by type
agents.py     where an agent is          wda.py        it, over HTTP
engine.py     what drives a screen       driving.py (WebDriverAgent), programs.py (axe, idb)
driver.py     one device                 reach.py      what its capabilities share
screen.py touch.py keys.py apps.py packages.py ways.py alerts.py settings.py recording.py ...   the capabilities
reading/      Apple's outputs, read into facts
"""

from __future__ import annotations

from .backend import AppleBackend

__all__ = ["AppleBackend"]
