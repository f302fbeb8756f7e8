"""`anydevice mcp` when the daemon goes away: nothing stays unanswered, nothing is answered twice, and it goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anydevice.host import record

from ..support.daemons import PATIENCE, Home, eventually, only
from ..support.mcp_host import MODERN, McpHost
from ..support.sizes import size

pytestmark = pytest.mark.daemon


@pytest.fixture
def home() -> Iterator[Home]:
    with Home.made(only("mcp")) as made:
        yield made


@pytest.fixture
def host(home: Home) -> McpHost:
    return McpHost(home.spawn("mcp", stdin=subprocess.PIPE))


def kill(home: Home) -> None:
    found = home.record
    assert found is not None
    os.kill(found["pid"], signal.SIGKILL)
    eventually(lambda: not record.lives(found), "the daemon is gone")
    time.sleep(0.2)  # every thread of it


def sessions(home: Home) -> set[str]:
    return {session["name"] for session in home.json("status")["data"]["sessions"]}


def loss(answer: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = answer["error"]["data"]
    return data


def test_a_call_the_daemon_dies_under_is_told_and_the_next_one_works(home: Home, host: McpHost, mark: Path) -> None:
    host.hello()
    host.call("appstate", device="fake-1")
    before = sessions(home)
    running = host.begin_call("vendor-change", mark=str(mark))
    eventually(mark.exists, "it runs")
    kill(home)
    told = loss(host.answer(running))
    assert (told["code"], told["details"]["restarted"]) == ("outcome_unknown", True)
    assert "snapshot" in told["hint"]
    # The host says no handshake again; the session is the same one.
    again = host.call("appstate")
    assert not again["isError"], again
    assert "daemon_restarted" in json.dumps(again)
    assert sessions(home) == before != set()
    assert len(host.answers(running)) == 1
    assert len(host.answers(1)) == 1  # the handshake's
    assert "anydevice-handshake-again" not in json.dumps(host.lines)
    assert host.end() == 0


def test_the_later_revisions_without_a_handshake_go_on_as_well(home: Home, host: McpHost, mark: Path) -> None:
    meta = {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    }
    assert "result" in host.ask("server/discover", meta)
    slow = {"name": "vendor-slow", "arguments": {"mark": str(mark)}}
    running = host.begin("tools/call", slow | meta)
    eventually(mark.exists, "it runs")
    kill(home)
    assert loss(host.answer(running))["code"] == "outcome_unknown"
    told = host.ask("tools/call", {"name": "vendor-say", "arguments": {"text": "on"}} | meta)
    assert "on" in json.dumps(told["result"])
    assert host.end() == 0


def test_a_call_that_no_daemon_had_read_is_made_once_by_the_next(home: Home, host: McpHost, tmp_path: Path) -> None:
    host.hello()
    host.call("vendor-say", text="on")
    os.kill(home.pid, signal.SIGSTOP)  # it reads nothing any more
    running = host.begin_call("vendor-say", text="off")
    eventually(host.taken, "the pump has it")
    kill(home)
    told = host.answer(running)
    assert "result" in told, told
    assert "off" in json.dumps(told["result"])
    assert len(host.answers(running)) == 1
    assert host.end() == 0


def test_a_request_that_cannot_act_is_said_again(home: Home, host: McpHost) -> None:
    host.hello()
    os.kill(home.pid, signal.SIGSTOP)  # it is not answered before the kill
    listing = host.begin("tools/list")
    eventually(host.taken, "the pump has it")
    kill(home)
    assert host.answer(listing)["result"]["tools"]
    assert len(host.answers(listing)) == 1
    assert host.end() == 0


def test_a_request_that_was_cancelled_is_not_said_again(home: Home, host: McpHost) -> None:
    host.hello()
    os.kill(home.pid, signal.SIGSTOP)
    listing = host.begin("tools/list")
    host.send("notifications/cancelled", {"requestId": listing})
    eventually(host.taken, "the pump has it")
    time.sleep(0.2)  # and has looked at it
    kill(home)
    assert host.ask("ping")["result"] == {}
    assert host.answers(listing) == []
    assert host.end() == 0


def test_a_server_nobody_asks_anything_starts_no_daemon_but_joins_one(home: Home, host: McpHost) -> None:
    host.hello()
    host.call("appstate", device="fake-1")
    assert home.json("stop")["data"]["stopped"] is True
    time.sleep(1.0)
    assert not home.running()
    home.serve()
    joined = eventually(
        lambda: [c for c in home.json("status")["data"]["connections"] if c["what"] == "mcp"], "it joins"
    )
    assert len(joined) == 1
    assert "on" in json.dumps(host.call("vendor-say", text="on"))
    assert host.end() == 0


def test_a_daemon_that_cannot_be_had_any_more_is_told_as_the_answer(home: Home, host: McpHost) -> None:
    host.hello()
    (home.path / "config.toml").write_text("[policy]\nprofile = 'everything'\n")
    kill(home)
    told = host.ask("tools/call", {"name": "vendor-say", "arguments": {"text": "x"}})
    assert "policy.profile must be one of" in told["error"]["message"]
    assert loss(host.ask("tools/list"))["code"] == "upstream_unavailable"
    assert host.end() == 1


def test_the_end_of_input_while_there_is_no_daemon_ends_it(home: Home, host: McpHost) -> None:
    host.hello()
    kill(home)
    assert host.end() == 0
    assert not home.running()


def test_whatever_was_asked_is_answered_before_it_ends(home: Home, host: McpHost, mark: Path) -> None:
    host.hello()
    running = host.begin_call("vendor-slow", mark=str(mark))
    eventually(mark.exists, "it runs")
    assert host.process.stdin is not None
    host.process.stdin.close()
    host.process.stdin = None
    time.sleep(0.2)
    kill(home)
    assert loss(host.answer(running))["code"] == "outcome_unknown"
    assert host.process.wait(PATIENCE) == 0


def test_under_kills_every_request_has_exactly_one_answer(home: Home, host: McpHost) -> None:
    """Kills at no particular moment; lines from a few bytes to a megabyte."""
    host.hello()
    asked: list[int] = []
    for number in range(size("kills of a daemon under an agent's host")):
        length = 1_000_000 if number % 2 else 10
        asked += [host.begin_call("vendor-say", text="x" * length) for _ in range(10)]
        time.sleep(0.02 * (number % 4))
        kill(home)
        asked += [host.begin_call("vendor-say", text="y" * 10) for _ in range(5)]
        assert host.ask("ping")["result"] == {}  # a daemon is there again
    answers = [host.answer(request) for request in asked]
    unknown = [answer for answer in answers if "error" in answer]
    assert all(loss(answer)["code"] == "outcome_unknown" for answer in unknown)
    assert len(unknown) < len(asked)
    assert [len(host.answers(request)) for request in asked] == [1] * len(asked)
    assert None not in host.lines
    assert host.end() == 0
