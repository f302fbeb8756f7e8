"""A client of the hdc server, on the event loop: one connection a command, and a typed verdict for each.

wire.py        a connection: handshake, frames         verdicts.py    what the server's words mean
listing.py     the rows of `list targets -v`           program.py     the caller's own `hdc`: where it is, running it
server.py      the server of a caller                  device.py      one device behind it: commands, files, ports

hdc ends with status 0 whatever happened, so nothing here is believed without the line that says it was done.
"""

from __future__ import annotations

from .device import HdcDevice, ShellDone, line, quote
from .listing import Row
from .server import HdcServer

__all__ = ["HdcDevice", "HdcServer", "Row", "ShellDone", "line", "quote"]
