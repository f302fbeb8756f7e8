"""A browser or a page dies: the next answer says so, once, nothing is started again by itself, others are untouched."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from ..support.daemons import Home, eventually
from .conftest import caller
from .doors import Door, Said
from .processes import below, browsers, needs_proc, renderers
from .witness import Witness

pytestmark = [pytest.mark.daemon, pytest.mark.chromium, needs_proc]

DEVICE, OTHER = "chromium", "chromium:second"
SOON = 10.0
"""Seconds after which nothing of a browser that was killed may be left."""


@pytest.fixture(scope="module")
def agent(module_home: Home) -> Iterator[Door]:
    """A caller over MCP who has two browsers."""
    with caller(module_home, "mcp") as door:
        door.do("browser-profile", action="add", name="second")
        yield door


@pytest.fixture
def door(agent: Door, witness: Witness, tag: str) -> Door:
    """The caller, with a page in each browser."""
    agent.do("open", url=witness.url(tag), device=DEVICE, boot=True)
    agent.do("open", url=witness.url(f"{tag}-two"), device=OTHER, boot=True)
    return agent


def other_is_untouched(door: Door, witness: Witness, tag: str) -> None:
    """The other browser's page is as it was, and can be driven."""
    assert door.do("press", target="Increment", device=OTHER).device == f"web:{OTHER}"
    assert witness.told(f"{tag}-two") == [("loaded", None), ("count", 1)]


def kill_browser(home: Home, device: str) -> None:
    """Ends a browser's main process, and sees all of it gone."""
    (main,) = [process for process in browsers(home.pid) if f"--anydevice-id={device} " in process.line]
    family = below(main.pid)
    os.kill(main.pid, signal.SIGKILL)
    eventually(lambda: not any(process.lives for process in [main, *family]), "nothing of it is left", SOON)


def state_of(door: Door, device: str) -> str:
    """The state a device is listed in."""
    return str(next(row for row in door.do("devices").data["devices"] if row["id"] == device)["state"])


def told_of_death(said: Said) -> bool:
    """Whether an answer says that the browser ended by itself."""
    return bool(said.notices("browser_ended"))


@pytest.mark.parametrize("first", ["press", "snapshot", "appstate", "devices", "open"])
def test_after_the_browser_was_killed_the_next_answer_says_so_and_nothing_is_started_again(
    door: Door, module_home: Home, witness: Witness, tag: str, first: str
) -> None:
    kill_browser(module_home, DEVICE)
    if first == "devices":
        eventually(lambda: state_of(door, DEVICE) == "shutdown", "it is listed as down", SOON)
    arguments: dict[str, Any] = {"device": DEVICE}
    command = first.partition(" ")[0].replace("devices", "press")
    if command == "press":
        arguments |= {"target": "Increment"}
    elif command == "open":
        arguments |= {"url": witness.url(tag)}
    said = door.call(command, **arguments)
    assert said.code in ("connection_lost", "device_not_ready"), said.wire
    assert told_of_death(said), said.wire
    assert "boot" in said.error["hint"]
    again = door.refused("device_not_ready", command, **arguments)
    assert not told_of_death(again)
    assert [f"--anydevice-id={DEVICE} " in process.line for process in browsers(module_home.pid)] == [False]
    assert witness.all(tag, "loaded") == [None]
    other_is_untouched(door, witness, tag)
    said = door.do("open", url=witness.url(tag), device=DEVICE, boot=True)
    assert not told_of_death(said) and said.data["booted"] is True
    assert witness.all(tag, "loaded") == [None, None]


@pytest.mark.parametrize("command", ["boot", "open"])
def test_starting_a_browser_that_was_killed_says_that_it_was(
    door: Door, module_home: Home, witness: Witness, tag: str, command: str
) -> None:
    kill_browser(module_home, DEVICE)
    more = {"url": witness.url(tag), "boot": True} if command == "open" else {}
    said = door.call(command, device=DEVICE, **more)
    assert told_of_death(said), said.wire
    if not said.ok:  # it came before the end of the browser had been noticed
        assert said.code == "connection_lost"
        door.do(command, device=DEVICE, **more)
    assert not told_of_death(door.do("appstate", device=DEVICE))
    other_is_untouched(door, witness, tag)


def test_a_browser_that_dies_under_a_call_is_told_by_that_call(
    door: Door, module_home: Home, witness: Witness, tag: str
) -> None:
    answers: list[Said] = []
    progress = threading.Event()

    async def wait() -> None:
        async def on_progress(*_: Any) -> None:
            progress.set()

        arguments = {"text": "never", "timeoutMs": 30_000, "device": DEVICE, "mcpOutputFormat": "json"}
        result = await door.client.call_tool("wait", arguments, progress_callback=on_progress)  # type: ignore[attr-defined]
        answers.append(Said(json.loads(result.content[0].text), ""))

    thread = threading.Thread(target=door.portal.call, args=(wait,))  # type: ignore[attr-defined]
    thread.start()
    assert progress.wait(60)
    began = time.monotonic()
    kill_browser(module_home, DEVICE)
    thread.join(60)
    assert [answer.code for answer in answers] == ["connection_lost"]
    assert told_of_death(answers[0])
    assert time.monotonic() - began < 20, "it would have waited for 30 s"
    other_is_untouched(door, witness, tag)


def test_a_crashed_page_is_app_crashed_until_it_is_opened_again(
    door: Door, module_home: Home, witness: Witness, tag: str
) -> None:
    (main,) = [process for process in browsers(module_home.pid) if f"--anydevice-id={DEVICE} " in process.line]
    family = {process.pid for process in below(main.pid)}
    ended = [process for process in renderers(module_home.pid) if process.pid in family]
    for process in ended:
        os.kill(process.pid, signal.SIGKILL)
    witness.no_page(tag)
    for command, arguments in (("snapshot", {}), ("press", {"target": "Increment"}), ("screenshot", {})):
        said = door.refused("app_crashed", command, device=DEVICE, **arguments)
        assert "open" in said.error["hint"]
    assert door.do("appstate", device=DEVICE).data["crashed"] is True
    other_is_untouched(door, witness, tag)
    assert witness.all(tag, "count") == []
    door.do("open", url=witness.url(tag), device=DEVICE)
    assert door.do("press", target="Increment", device=DEVICE).device == f"web:{DEVICE}"
    assert witness.all(tag, "count") == [1]
