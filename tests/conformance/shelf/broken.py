"""Backends that do not get as far as a device."""

from __future__ import annotations

from . import Member, operations

EMPTY = "class Backend:\n    pass\n"

MEMBERS = [
    Member(
        "crashes-on-import",
        "raise RuntimeError('out of order')\n",
        whole=True,
        ended="not_loaded",
        why=r"cannot be loaded \(broken\): importing .* failed: RuntimeError: out of order",
    ),
    Member(
        "exits-on-import",
        "import sys\n\nsys.exit(0)\n",
        whole=True,
        ended="not_loaded",
        why=r"cannot be loaded \(broken\): importing .* failed: SystemExit: 0",
    ),
    Member(
        "vanishes-on-import",
        "import os\n\nos._exit(0)\n",
        whole=True,
        ended="died",
        why="ended with exit status 0 while the backend was loaded",
        spares_the_daemon=False,
    ),
    Member(
        "is-no-backend",
        "class Backend:\n    def __init__(self, host):\n        pass\n",
        whole=True,
        ended="not_loaded",
        why=r"cannot be loaded \(broken\): .* made something that is no anydevice.driver.Backend",
    ),
    Member(
        "of-another-contract",
        manifest={"contract": ">=2.0,<3"},
        ended="not_loaded",
        why=r"cannot be loaded \(refused\): written for contract >=2.0,<3",
    ),
    Member("has-no-manifest", EMPTY, manifest=None, whole=True, ended="not_loaded", why="carries no backend.toml"),
    Member(
        "has-a-bad-manifest",
        manifest={"device_classes": ["toaster"]},
        ended="not_loaded",
        why=r"backend.toml: device_classes.0",
    ),
    Member(
        "is-there-twice",
        twice=True,
        ended="not_loaded",
        why=r"\(conflict\): is-there-twice-other and is-there-twice-vendor all bring a plugin",
    ),
    Member(
        "fails-to-list",
        "async def devices(self, env):\n    raise RuntimeError('out of order')\n",
        why="two usable devices of class phone are needed, 0 found; its listing failed: RuntimeError: out of order",
        cases={"press.reaches-the-named-device": ("blocked", "two usable devices")},
    ),
    Member(
        "hangs-in-discovery",
        """
        async def devices(self, env):
            import anyio

            await anyio.sleep_forever()
        """,
        manifest={"discovery_deadline": 0.5},
        why="two usable devices of class phone are needed, 0 found; its listing failed: gave no listing within 0.5 s",
    ),
    Member(
        "blocks-in-discovery",
        """
        async def devices(self, env):
            import time

            time.sleep(3600)
        """,
        # A backend that can start devices is given the time to start them; this one cannot.
        manifest={"discovery_deadline": 0.5, "operations": operations(without=("power.boot", "power.shutdown"))},
        ended="stopped",
        why=r"said nothing for \d+ s while its devices were listed",
        spares_the_daemon=False,
    ),
    Member(
        "has-one-device",
        "def set_up(self):\n    del self.rows['phone-2']\n",
        why="two usable devices of class phone are needed, 1 found",
    ),
]
