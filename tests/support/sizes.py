"""How large the tests are that prove by number: small ones for `make test`, all of it for `make soak`.

Every such number of the suite is here; `tests/README.md` says them as a table, and a test keeps the two the same.
"""

from __future__ import annotations

import os

FULL = os.environ.get("ANYDEVICE_SIZES") == "full"

SIZES = {
    "examples of a property": (60, 1000),
    "examples of a property that is cheap and of many parts": (150, 5000),
    "stories of leases": (100, 5000),
    "mixtures of tenants": (15, 200),
    "stories of sessions": (40, 500),
    "kills of a daemon with sessions": (3, 20),
    "kills of a daemon under an agent's host": (3, 20),
}
"""What is counted: how many in `make test`, and how many in `make soak`."""


def size(what: str) -> int:
    """How many of these this run has."""
    small, full = SIZES[what]
    return full if FULL else small
