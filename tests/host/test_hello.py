"""The first line of a connection: who may come in, and what everybody else is told."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from anydevice.host import protocol, record

from ..support.daemons import VERSION, Home, eventually, greeting

pytestmark = pytest.mark.daemon


def test_a_hello_is_answered_with_who_runs(daemon: Home) -> None:
    wire = daemon.connect()
    wire.send(greeting())
    reply = wire.receive()
    assert reply["ok"] is True
    assert (reply["version"], reply["pid"], reply["protocol"]) == (VERSION, daemon.pid, protocol.PROTOCOL)
    assert len(reply["catalogue"]) == 16


@pytest.mark.parametrize(
    "changes", [{"version": "0.0.1"}, {"version": None}, {"version": "x"}, {"protocol": 0}, {"protocol": 2}]
)
def test_another_version_is_refused_with_a_remedy_that_works_and_the_daemon_lives_on(
    home: Home, changes: dict[str, Any]
) -> None:
    """A newer one takes over instead; see test_hand_over."""
    home.serve()
    wire = home.connect()
    wire.send(greeting(**changes))
    error = wire.receive()["error"]
    assert error["code"] == "refused"
    assert str(changes.get("version", VERSION)) in error["message"] and VERSION in error["message"]
    assert error["details"]["alternative"] == "anydevice stop"
    with pytest.raises(EOFError):
        wire.receive()
    assert home.running()
    # What the hint says: stop, then the next call starts a daemon again.
    home.json("stop")
    assert home.json("say", "x")["ok"]


def test_a_client_of_another_version_may_ask_for_status_and_stop(home: Home) -> None:
    home.serve()
    wire = home.connect()
    wire.send(greeting("host", version="99.0", protocol=7))
    assert wire.receive()["ok"] is True
    assert wire.ask({"id": 1, "host": "status"})["result"]["version"] == VERSION
    refused = wire.ask({"id": 2, "call": "say", "arguments": {"text": "x"}})
    assert refused["error"]["code"] == "refused"
    assert wire.ask({"id": 3, "host": "stop"})["result"]["pid"]
    eventually(lambda: not home.running(), "it stops")


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"hello": 7}, "hello"),
        ({"transport": "http"}, "transport"),
        ({"transport": None}, "transport"),
        ({"cwd": "relative"}, "cwd"),
        ({"cwd": 7}, "cwd"),
        ({"env": {"PATH": "/bin"}}, "env"),
        ({"env": {"ANDROID_SERIAL": 7}}, "env"),
        ({"env": {"ANYDEVICE_HOME": "/x"}}, "env"),
        ({"env": {f"ANYDEVICE_{n}": "x" for n in range(65)}}, "env"),
        ({"env": []}, "env"),
        ({"options": []}, "options"),
    ],
)
def test_a_hello_that_is_not_one_is_refused_by_name(daemon: Home, changes: dict[str, Any], param: str) -> None:
    wire = daemon.connect()
    wire.send(greeting(**changes))
    error = wire.receive()["error"]
    assert (error["code"], error["details"]["param"]) == ("invalid_argument", param)


@pytest.mark.parametrize(
    "line", [b"{\n", b"[]\n", b"\xff\xfe\n", b"GET / HTTP/1.1\r\n\r\n", b'{"hello":' + b"1" * 400_000]
)
def test_noise_instead_of_a_hello_is_answered_and_ends_the_connection(daemon: Home, line: bytes) -> None:
    wire = daemon.connect()
    wire.send(line)
    reply = wire.receive()
    assert reply["ok"] is False
    assert reply["error"]["code"] == "invalid_argument"
    with pytest.raises((EOFError, ConnectionError)):
        wire.receive()
    assert daemon.json("say", "x")["ok"]


def test_an_unknown_facade_is_refused_with_those_there_are(daemon: Home) -> None:
    wire = daemon.connect()
    wire.send(greeting("telnet", "stdio"))
    error = wire.receive()["error"]
    assert error["code"] == "unsupported"
    assert {"echo", "broken"} <= set(error["details"]["alternatives"])


def test_a_peer_of_another_user_is_refused(home: Home) -> None:
    home.serve()
    if os.getuid() != 0:
        pytest.skip("needs root to become somebody else")
    found = home.record
    assert found is not None
    # Opened up on purpose: the kernel's word on who connects must be enough.
    for path in (home.path.parent, home.path, home.path / "run"):
        path.chmod(0o755)
    Path(found["socket"]).chmod(0o666)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(found["socket"])
            connection.sendall(json.dumps(greeting()).encode() + b"\n")
            os.write(write, connection.recv(65536))
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    reply = json.loads(os.read(read, 65536))
    assert reply["ok"] is False
    assert "another user" in reply["error"]["message"]


def test_a_client_does_not_speak_to_a_daemon_of_another_user(home: Home) -> None:
    if os.getuid() != 0:
        pytest.skip("needs root to become somebody else")
    path = str(home.path / "s")
    listener = socket.socket(socket.AF_UNIX)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        home.path.parent.chmod(0o755)
        home.path.chmod(0o777)
        os.setuid(65534)
        listener.bind(path)
        listener.listen()
        os.write(write, b"x")
        time.sleep(60)
        os._exit(0)
    os.close(write)
    try:
        assert os.read(read, 1) == b"x"  # it listens
        with pytest.raises(PermissionError, match="65534"):
            record.connect(path)
    finally:
        os.close(read)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
