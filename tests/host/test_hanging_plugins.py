"""A plugin that hangs costs the daemon some seconds and nothing else: it starts, says so, and ends."""

from __future__ import annotations

import signal
import textwrap

import pytest

from ..support.daemons import PATIENCE, Home, eventually
from ..support.distributions import install

pytestmark = pytest.mark.daemon

HOOKS = """
import time
from anydevice.hooks import hookimpl


@hookimpl
def {hook}():
    time.sleep(600)
"""


def hang(home: Home, name: str, source: str) -> None:
    install(
        home.plugins,
        name,
        modules={f"{name}/__init__.py": textwrap.dedent(source)},
        entry_points={"anydevice.plugins": {name: name}},
    )


def test_one_that_hangs_while_it_is_imported_is_broken_and_lets_the_daemon_end(home: Home) -> None:
    hang(home, "stuck", "import time\ntime.sleep(600)\n")
    process = home.spawn("serve", "--foreground")
    eventually(lambda: (home.record or {}).get("state") == "ready", "it is up")
    assert home.json("say", "x")["ok"]  # other plugins are there
    (told,) = [plugin for plugin in home.json("status")["data"]["plugins"] if plugin["name"] == "stuck"]
    assert (told["state"], told["reason"]) == ("broken", "importing stuck took longer than 8 s")
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0


def test_ones_that_hang_in_their_hooks_leave_the_others_commands_and_facades(home: Home) -> None:
    hang(home, "slow_commands", HOOKS.format(hook="anydevice_commands"))
    hang(home, "slow_facades", HOOKS.format(hook="anydevice_facades"))
    home.serve()
    status = home.json("status")["data"]
    (told,) = [plugin for plugin in status["plugins"] if plugin["name"] == "slow_commands"]
    assert told["state"] == "broken" and "anydevice_commands failed: TimeoutError" in told["reason"]
    assert "echo" in status["facades"]
    eventually(lambda: "facades_failed" in home.log(), "the log tells")
    assert home.json("say", "x")["ok"]
