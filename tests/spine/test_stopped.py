"""A daemon that is stopped puts back first what its callers changed; the next one finds the device free."""

from __future__ import annotations

import pytest

from anydevice_linux.practicing import runs_here

from ..support.daemons import Home, only

pytestmark = [pytest.mark.daemon, pytest.mark.skipif(not runs_here(), reason="not installed: Xvfb, openbox, GTK")]
CONFIG = only("linux")


def test_what_was_changed_is_put_back_before_the_daemon_ends() -> None:
    with Home.made(CONFIG) as home:
        home.serve()
        home.json("boot", "virtual")
        home.json("settings", "appearance", "dark", "--device", "virtual")
        home.json("stop")
        home.serve()
        (row,) = [row for row in home.json("devices")["data"]["devices"] if row["id"] == "virtual"]
        assert "lease" not in row, "the device is still to be put in order, and nobody does it"
        assert row.get("health") in (None, "good"), row
