"""Connections that come back: by their token they are who they were, and nobody else is."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from anydevice.client import AsyncClient, Client
from anydevice.sessions import RESUME_SECONDS
from anydevice_schemas.errors import LeaseHeld

from ..support.daemons import PATIENCE, Home, Wire, eventually, greeting

pytestmark = pytest.mark.daemon

AT_ONCE = RESUME_SECONDS - 1.0
"""Seconds in which what was said goodbye to ends: before it would if it had a while to come back."""


@pytest.fixture(autouse=True)
def this_home(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("ANYDEVICE_HOME", "PYTHONPATH"):
        monkeypatch.setenv(name, home.environ[name])
    yield


def said(home: Home, what: str = "call", transport: str = "python", **changes: Any) -> tuple[Wire, dict[str, Any]]:
    """A connection and the reply to its hello."""
    wire = home.connect()
    wire.send(greeting(what, transport, **changes))
    reply = wire.receive()
    assert reply["ok"], reply
    return wire, reply


def session_of(wire: Wire, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = wire.ask({"id": 1, "call": "appstate", "arguments": arguments})["answer"]
    return answer


def test_a_connection_that_broke_is_itself_again_by_its_token(home: Home) -> None:
    home.serve()
    wire, reply = said(home)
    mine = session_of(wire, device="fake-1")["session"]
    wire.close()
    again, second = said(home, resume=reply["resume"])
    assert second["resume"] == reply["resume"]
    assert session_of(again)["session"] == mine
    other, _ = said(home)
    assert session_of(other, device="fake-1")["error"]["code"] == "lease_held"


def test_it_is_itself_again_after_a_crash_too(home: Home) -> None:
    home.serve()
    wire, reply = said(home, "echo", "stdio")
    wire.send(b"who\n")
    wire.socket.recv(1000)
    os.kill(home.pid, signal.SIGKILL)
    eventually(lambda: not home.running(), "the daemon is gone")
    home.serve()
    _, second = said(home, "echo", "stdio", resume=reply["resume"])
    assert second["resume"] == reply["resume"]


def test_a_connection_that_comes_back_while_its_old_end_is_open_replaces_it(home: Home) -> None:
    home.serve()
    wire, reply = said(home)
    mine = session_of(wire, device="fake-1")["session"]
    again, _ = said(home, resume=reply["resume"])
    with pytest.raises((EOFError, ConnectionError)):
        wire.receive()
    time.sleep(0.3)
    assert session_of(again)["session"] == mine
    # This one, and that of `status`.
    eventually(lambda: len(home.json("status")["data"]["connections"]) == 2, "the old end is forgotten")


@pytest.mark.parametrize("token", ["", "0" * 32, "x", 7, None, ["a"], {"a": 1}, "\ud800" * 32])
def test_a_token_nobody_gave_is_a_new_connection(home: Home, token: Any) -> None:
    home.serve()
    _, reply = said(home, resume=token)
    assert reply["resume"] != token


def test_a_token_works_over_its_own_transport_only(home: Home) -> None:
    home.serve()
    _, reply = said(home)
    _, other = said(home, "echo", "stdio", resume=reply["resume"])
    assert other["resume"] != reply["resume"]


def test_the_command_line_gets_no_token_and_the_daemon_keeps_none_in_clear(home: Home) -> None:
    home.serve()
    _, reply = said(home, "call", "cli")
    assert "resume" not in reply
    _, reply = said(home, "host", "python")
    assert "resume" not in reply
    wire, reply = said(home)
    session_of(wire, device="fake-1")
    token = reply["resume"].encode()
    for file in home.path.rglob("*"):
        if file.is_file():
            assert token not in file.read_bytes(), file
    with sqlite3.connect(f"file:{home.path / 'data' / 'state.db'}?mode=ro", uri=True) as database:
        assert database.execute("SELECT count(*) FROM connections").fetchone()[0] >= 1


def test_a_goodbye_ends_what_belongs_to_the_connection_at_once(home: Home) -> None:
    home.serve()
    wire, reply = said(home)
    session_of(wire, device="fake-1")
    wire.send({"goodbye": True})
    wire.close()
    onlooker = home.hello("host")
    eventually(lambda: not onlooker.ask({"id": 1, "host": "status"})["result"]["sessions"], "it ended", AT_ONCE)
    _, again = said(home, resume=reply["resume"])
    assert again["resume"] != reply["resume"]


@pytest.mark.parametrize("ending", ["client.disconnect()", "del client", "raise SystemExit(0)", "pass"])
def test_a_program_that_ends_in_any_ordinary_way_keeps_no_device_from_the_next(home: Home, ending: str) -> None:
    home.serve()
    code = f"from anydevice.client import connect\nclient = connect()\nclient.appstate(device='fake-1')\n{ending}\n"
    subprocess.run([sys.executable, "-c", code], env=home.environ, timeout=PATIENCE, check=True)
    with Client() as client:
        eventually(lambda: free(client), "the device is free", AT_ONCE)


def test_a_fork_of_a_program_does_not_say_its_goodbye(home: Home) -> None:
    home.serve()
    code = (
        "import os, sys\nfrom anydevice.client import connect\nclient = connect()\n"
        "client.appstate(device='fake-1')\n"
        "if os.fork() == 0:\n    sys.exit()\n"
        "os.wait()\nprint(client.appstate().session)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=home.environ, timeout=PATIENCE, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("auto-"), done.stderr


def free(client: Client) -> bool:
    try:
        return client.appstate(device="fake-1").ok
    except LeaseHeld:
        return False


def test_a_client_that_is_killed_has_a_while_to_come_back_and_frees_its_device_in_the_end(home: Home) -> None:
    home.serve()
    code = (
        "from anydevice.client import connect\nclient = connect()\nclient.appstate(device='fake-1')\n"
        "print('here', flush=True)\nclient.vendor_slow(mark='/dev/null')"
    )
    process = subprocess.Popen([sys.executable, "-c", code], env=home.environ, stdout=subprocess.PIPE)
    home.started.append(process)
    assert process.stdout is not None and process.stdout.readline() == b"here\n"
    process.kill()
    with Client() as client:
        time.sleep(1.0)
        assert not free(client)
        eventually(lambda: free(client), "the device is free")


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_an_async_client_goes_on_in_its_session_after_a_crash(home: Home, anyio_backend: str) -> None:
    async with AsyncClient() as client:
        mine = await client.appstate(device="fake-1")
        os.kill(home.pid, signal.SIGKILL)
        while home.running():
            await anyio.sleep(0.02)
        await anyio.sleep(0.2)
        assert (await client.appstate()).session == mine.session
    async with AsyncClient() as other:  # the first one said goodbye
        with anyio.fail_after(AT_ONCE):
            while not await async_free(other):
                await anyio.sleep(0.05)


async def async_free(client: AsyncClient) -> bool:
    try:
        return bool((await client.appstate(device="fake-1")).ok)
    except LeaseHeld:
        return False


def test_a_command_line_is_told_what_it_lost_and_the_next_goes_on_in_its_session(home: Home, tmp_path: Path) -> None:
    mine = home.json("appstate", "--device", "fake-1", cwd=tmp_path)["session"]
    process = home.spawn("--json", "vendor-change", "--mark", str(tmp_path / "mark"), cwd=tmp_path)
    eventually((tmp_path / "mark").exists, "it runs")
    os.kill(home.pid, signal.SIGKILL)
    out, _ = process.communicate(timeout=PATIENCE)
    error = json.loads(out)["error"]
    assert (error["code"], error["details"]["may_have_acted"]) == ("connection_lost", True)
    assert process.returncode == 1
    again = home.json("appstate", cwd=tmp_path)
    assert again["session"] == mine
    assert "daemon_restarted" in [notice["kind"] for notice in again["notices"]]
