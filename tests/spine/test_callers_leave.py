"""A caller that goes away in the middle of a call: the call is cancelled, the browser goes on, the device is free."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator

import pytest

from anydevice.janitor import SWEEP
from anydevice.sessions import RESUME_SECONDS

from ..support.daemons import PATIENCE, Home, eventually
from .conftest import caller
from .doors import Door, opened
from .processes import browsers, everything, needs_proc
from .witness import Witness

pytestmark = [pytest.mark.daemon, pytest.mark.chromium, needs_proc]

DEVICE = "chromium"
KEY = "web:chromium"
WAIT = {"text": "never", "timeoutMs": 60_000, "device": DEVICE}


def outcomes(home: Home, command: str) -> list[str]:
    """How the calls of a command ended, as the journal has it."""
    lines = (home.path / "journal" / "calls.ndjson").read_text().splitlines()
    return [row["outcome"] for row in map(json.loads, lines) if row["command"] == command]


def held(door: Door) -> bool:
    """Whether somebody drives the browser."""
    rows = door.do("devices", platform="web").data["devices"]
    return "lease" in next(row for row in rows if row["id"] == DEVICE)


class Scene:
    """A page in a browser that nobody drives, and somebody who looks on."""

    def __init__(self, home: Home, witness: Witness, tag: str, onlooker: Door) -> None:
        self.home, self.witness, self.tag, self.onlooker = home, witness, tag, onlooker
        opened_by = onlooker.do("open", url=witness.url(tag), device=DEVICE, boot=True).session
        onlooker.do("session", action="end", name=opened_by)
        self.browsers = browsers(home.pid)
        self.cancelled = outcomes(home, "wait").count("cancelled")

    def call_runs(self) -> None:
        """Waits until somebody's call has the browser."""
        eventually(lambda: held(self.onlooker), "the call runs")

    def call_is_cancelled(self) -> None:
        """Waits until that call was cancelled; the same browser still shows the same page."""
        eventually(lambda: outcomes(self.home, "wait").count("cancelled") == self.cancelled + 1, "it is cancelled")
        assert browsers(self.home.pid) == self.browsers
        assert self.witness.told(self.tag) == [("loaded", None)]

    def browser_is_free(self) -> None:
        """The onlooker may drive the browser, as soon as whoever broke off could not come back any more."""
        eventually(lambda: not held(self.onlooker), "the device is given back", RESUME_SECONDS + 4 * SWEEP)
        assert self.onlooker.do("press", target="Increment", device=DEVICE).device == KEY
        assert self.witness.all(self.tag, "count") == [1]


@pytest.fixture
def scene(module_home: Home, witness: Witness, tag: str) -> Iterator[Scene]:
    with caller(module_home, "python", "onlooker") as onlooker:
        yield Scene(module_home, witness, tag, onlooker)


def test_a_client_that_hangs_up_frees_its_device(scene: Scene) -> None:
    wire = scene.home.hello()
    wire.send({"id": 1, "call": "wait", "arguments": WAIT})
    scene.call_runs()
    wire.close()
    scene.call_is_cancelled()
    scene.browser_is_free()


def test_an_agents_host_that_is_killed_frees_its_device(scene: Scene) -> None:
    with caller(scene.home, "mcp", "agent") as agent:
        agent.portal.start_task_soon(agent.client.call_tool, "wait", WAIT)
        scene.call_runs()
        (pump,) = [p for p in everything() if p.line.endswith(" mcp") and p.parent == os.getpid()]
        os.kill(pump.pid, signal.SIGKILL)
        scene.call_is_cancelled()
        scene.browser_is_free()


def test_a_request_that_is_cancelled_over_mcp_leaves_the_session_its_device(scene: Scene) -> None:
    with caller(scene.home, "mcp", "agent") as agent:
        running = agent.portal.start_task_soon(agent.client.call_tool, "wait", WAIT)
        scene.call_runs()
        running.cancel()
        scene.call_is_cancelled()
        assert scene.onlooker.refused("lease_held", "press", target="Increment", device=DEVICE)
        assert agent.do("press", target="Increment").device == KEY
        assert scene.witness.all(scene.tag, "count") == [1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_line_that_is_killed_leaves_its_session_to_the_next_one_there(
    scene: Scene, number: signal.Signals
) -> None:
    program = scene.home.spawn("wait", "--text=never", "--timeout-ms=60000", f"--device={DEVICE}", cwd=scene.home.path)
    scene.call_runs()
    program.send_signal(number)
    program.wait(PATIENCE)
    scene.call_is_cancelled()
    with opened("cli", scene.home, scene.home.path) as same, caller(scene.home, "cli", "elsewhere") as other:
        assert other.refused("lease_held", "press", target="Increment", device=DEVICE)
        same.do("session", action="end", name=same.do("appstate").session)
    scene.browser_is_free()
