"""The wire between a daemon and its clients: hello, requests, progress, cancelling, and every kind of bad line."""

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

from ..support.daemons import VERSION, Home, Wire, eventually, greeting

pytestmark = pytest.mark.daemon


def notes(mark: Path) -> list[str]:
    return mark.read_text().split() if mark.exists() else []


# --- hello ---


def test_a_hello_is_answered_with_who_runs(daemon: Home) -> None:
    wire = daemon.connect()
    wire.send(greeting())
    reply = wire.receive()
    assert reply["ok"] is True
    assert (reply["version"], reply["pid"], reply["protocol"]) == (VERSION, daemon.pid, protocol.PROTOCOL)
    assert len(reply["catalogue"]) == 16


def test_another_version_is_refused_with_a_remedy_that_works_and_the_daemon_lives_on(home: Home) -> None:
    home.serve()
    wire = home.connect()
    wire.send(greeting(version="99.0"))
    error = wire.receive()["error"]
    assert error["code"] == "refused"
    assert "99.0" in error["message"] and VERSION in error["message"]
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
    child = os.fork()
    if child == 0:
        home.path.parent.chmod(0o755)
        home.path.chmod(0o777)
        os.setuid(65534)
        listener.bind(path)
        listener.listen()
        time.sleep(60)
        os._exit(0)
    try:
        eventually(lambda: Path(path).exists(), "it listens")
        time.sleep(0.05)
        with pytest.raises(PermissionError, match="65534"):
            record.connect(path)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


# --- requests ---


def test_requests_run_beside_one_another(daemon: Home, mark: Path) -> None:
    wire = daemon.hello()
    wire.send({"id": "slow", "call": "vendor-slow", "arguments": {"mark": str(mark), "seconds": 1.0}})
    wire.send({"id": 2, "call": "say", "arguments": {"text": "quick"}})
    order = []
    while len(order) < 2:
        reply = wire.receive()
        if "answer" in reply:
            order.append(reply["id"])
    assert order == [2, "slow"]


def test_progress_comes_between_and_the_answer_once(daemon: Home, mark: Path) -> None:
    wire = daemon.hello()
    wire.send({"id": 1, "call": "vendor-slow", "arguments": {"mark": str(mark), "seconds": 0.5}})
    seen = []
    while "answer" not in (reply := wire.receive()):
        seen.append(reply["progress"])
    assert len(seen) >= 5
    assert [step["done"] for step in seen] == sorted(step["done"] for step in seen)
    assert seen[0]["message"].startswith("step ")
    assert reply["answer"]["ok"] is True


def test_a_cancel_ends_the_call_and_its_answer_says_so(daemon: Home, mark: Path) -> None:
    wire = daemon.hello()
    wire.send({"id": 1, "call": "vendor-slow", "arguments": {"mark": str(mark)}})
    eventually(lambda: notes(mark) == ["started"], "it runs")
    wire.send({"cancel": 1})
    reply = wire.receive()
    while "answer" not in reply:
        reply = wire.receive()
    error = reply["answer"]["error"]
    assert (error["code"], error["retryable"]) == ("cancelled", True)
    assert notes(mark) == ["started", "cancelled"]


def test_a_cancelled_call_that_changes_something_does_not_claim_that_nothing_happened(daemon: Home, mark: Path) -> None:
    wire = daemon.hello()
    wire.send({"id": 1, "call": "vendor-change", "arguments": {"mark": str(mark)}})
    eventually(lambda: notes(mark) == ["started"], "it runs")
    wire.send({"cancel": 1})
    while "answer" not in (reply := wire.receive()):
        pass
    error = reply["answer"]["error"]
    assert (error["retryable"], error["details"]["may_have_acted"]) == (False, True)


def test_a_cancel_right_behind_its_request_finds_it(daemon: Home, mark: Path) -> None:
    wire = daemon.hello()
    request = {"id": 1, "call": "vendor-slow", "arguments": {"mark": str(mark)}}
    wire.send(json.dumps(request).encode() + b'\n{"cancel":1}\n')
    while "answer" not in (reply := wire.receive()):
        pass
    assert reply["answer"]["error"]["code"] == "cancelled"
    assert "done" not in notes(mark)


def test_a_cancel_of_what_has_ended_is_no_error(daemon: Home) -> None:
    wire = daemon.hello()
    assert wire.ask({"id": 1, "call": "say", "arguments": {"text": "x"}})["answer"]["ok"]
    wire.send({"cancel": 1})
    wire.send({"cancel": "never"})
    assert wire.ask({"id": 2, "call": "say", "arguments": {"text": "y"}})["answer"]["data"]["said"] == "y"


@pytest.mark.parametrize(("name", "code"), [("vendor-slow", "timeout"), ("vendor-change", "outcome_unknown")])
def test_the_callers_deadline_ends_the_call(daemon: Home, mark: Path, name: str, code: str) -> None:
    wire = daemon.hello()
    reply = wire.ask({"id": 1, "call": name, "arguments": {"mark": str(mark)}, "deadline": 0.3})
    assert reply["answer"]["error"]["code"] == code
    assert notes(mark) == ["started", "cancelled"]


def test_a_client_that_goes_away_ends_its_calls(home: Home, mark: Path) -> None:
    home.serve()
    wire = home.hello()
    for number in range(3):
        wire.send({"id": number, "call": "vendor-slow", "arguments": {"mark": str(mark)}})
    eventually(lambda: notes(mark).count("started") == 3, "they run")
    wire.close()
    eventually(lambda: notes(mark).count("cancelled") == 3, "they end")
    status = home.hello("host").ask({"id": 1, "host": "status"})["result"]
    assert status["calls"] == 0 and len(status["connections"]) == 1


def test_a_client_that_only_ends_its_own_direction_still_gets_its_answers(daemon: Home, mark: Path) -> None:
    wire = daemon.hello()
    wire.send({"id": 1, "call": "vendor-slow", "arguments": {"mark": str(mark), "seconds": 0.8}})
    wire.socket.shutdown(socket.SHUT_WR)
    while "answer" not in (reply := wire.receive()):
        pass
    assert reply["answer"]["data"] == {"slept": 0.8}
    with pytest.raises(EOFError):
        wire.receive()


def test_a_half_closed_client_that_then_goes_away_ends_its_calls(daemon: Home, mark: Path) -> None:
    wire = daemon.hello()
    wire.send({"id": 1, "call": "vendor-slow", "arguments": {"mark": str(mark)}})
    wire.socket.shutdown(socket.SHUT_WR)
    eventually(lambda: notes(mark) == ["started"], "it runs")
    wire.close()
    eventually(lambda: notes(mark) == ["started", "cancelled"], "it ends")


def test_a_client_that_does_not_read_holds_up_nobody_else(home: Home, mark: Path) -> None:
    home.serve()
    deaf = home.hello()
    big = "x" * 200_000
    for number in range(40):
        deaf.send({"id": number, "call": "say", "arguments": {"text": big}})
    other = home.hello()
    assert other.ask({"id": 1, "call": "say", "arguments": {"text": "hi"}})["answer"]["ok"]
    deaf.close()
    eventually(lambda: len(other.ask({"id": 2, "host": "status"})["result"]["connections"]) == 1, "it is forgotten")


@pytest.mark.parametrize(
    ("line", "param"),
    [
        (b"{", "line"),
        (b"[1]", "line"),
        (b'"text"', "line"),
        (b"\xff", "line"),
        (b"[" * 200_000, "line"),
        (b"{}", "request"),
        (b'{"id":1}', "request"),
        (b'{"call":"say"}', "id"),
        (b'{"id":true,"call":"say"}', "id"),
        (b'{"id":null,"call":"say"}', "id"),
        (b'{"id":1,"call":7}', "call"),
        (b'{"id":1,"call":"say","arguments":[]}', "arguments"),
        (b'{"id":1,"call":"say","argumants":{}}', "argumants"),
        (b'{"id":1,"call":"say","host":"stop"}', "host"),
        (b'{"id":1,"call":"say","deadline":0}', "deadline"),
        (b'{"id":1,"call":"say","deadline":"5"}', "deadline"),
        (b'{"id":1,"call":"say","deadline":1e999}', "deadline"),
        (b'{"cancel":[]}', "cancel"),
        (b'{"id":1,"host":"status","arguments":{"x":1}}', "x"),
        (b'{"id":1,"host":"approve"}', "token"),
        (b'{"id":1,"host":"approve","arguments":{"token":7}}', "token"),
    ],
)
def test_a_bad_line_is_answered_and_the_next_one_is_unaffected(daemon: Home, line: bytes, param: str) -> None:
    wire = daemon.hello()
    wire.send(line + b"\n")
    wire.send({"id": 99, "call": "say", "arguments": {"text": "still here"}})
    replies = {}
    for _ in range(2):
        reply = wire.receive()
        replies["answer" if "answer" in reply else "error"] = reply
    error = replies["error"]["error"]
    assert (error["code"], error["details"]["param"]) == ("invalid_argument", param)
    assert replies["answer"]["answer"]["data"]["said"] == "still here"


def test_a_line_that_is_too_long_is_dropped_up_to_its_end(daemon: Home) -> None:
    wire = daemon.hello()
    long = b'{"id":1,"call":"say","arguments":{"text":"' + b"x" * (protocol.LINE_LIMIT + 10) + b'"}}\n'
    wire.send(long + b'{"id":2,"call":"say","arguments":{"text":"next"}}\n')
    assert wire.receive()["error"]["details"]["param"] == "line"
    assert wire.receive()["answer"]["data"]["said"] == "next"


def test_lines_may_come_in_pieces_of_any_size(daemon: Home) -> None:
    wire = daemon.hello()
    for byte in b'\n\r\n {"id":1,"call":"say","arguments":{"text":"piecemeal"}} \r\n':
        wire.send(bytes([byte]))
    assert wire.receive()["answer"]["data"]["said"] == "piecemeal"


def test_two_running_requests_may_not_share_an_id(daemon: Home, mark: Path) -> None:
    wire = daemon.hello()
    wire.send({"id": 1, "call": "vendor-slow", "arguments": {"mark": str(mark)}})
    eventually(lambda: notes(mark) == ["started"], "it runs")
    wire.send({"id": 1, "call": "say", "arguments": {"text": "x"}})
    while "error" not in (reply := wire.receive()):
        pass
    assert reply["error"]["details"]["param"] == "id"


def test_more_than_sixty_four_at_once_are_refused_and_may_be_repeated(daemon: Home, mark: Path) -> None:
    wire = daemon.hello()
    for number in range(65):
        wire.send({"id": number, "call": "vendor-slow", "arguments": {"mark": str(mark)}})
    while "error" not in (reply := wire.receive()):
        pass
    assert (reply["id"], reply["error"]["code"], reply["error"]["retryable"]) == (64, "host_at_capacity", True)
    wire.send({"cancel": 0})
    while "answer" not in (reply := wire.receive()):
        pass
    assert wire.ask({"id": 64, "call": "say", "arguments": {"text": "x"}})["answer"]["ok"]


def test_an_answer_that_json_cannot_hold_still_arrives(daemon: Home) -> None:
    answer = daemon.hello().ask({"id": 1, "call": "vendor-odd"})["answer"]
    assert answer["ok"] is True
    assert answer["data"]["surrogate"] == "\ud800"
    assert answer["data"]["none"] is None


def test_a_crash_in_a_command_is_an_answer_with_an_incident_that_the_log_knows(daemon: Home) -> None:
    error = daemon.hello().ask({"id": 1, "call": "vendor-crash"})["answer"]["error"]
    assert error["code"] == "internal"
    assert "boom" not in json.dumps(error)
    assert error["details"]["incident"] in daemon.log()
    assert "boom" in daemon.log()


def test_an_unknown_command_is_an_answer_with_the_nearest(daemon: Home) -> None:
    answer = daemon.hello().ask({"id": 1, "call": "vendor-sya"})["answer"]
    assert answer["error"]["code"] == "unknown_command"
    assert "vendor-say" in answer["error"]["details"]["nearest"]


# --- operations of the daemon ---


def test_stop_and_approve_are_not_for_agents(daemon: Home) -> None:
    wire = daemon.hello("call", "stdio")
    for operation, arguments in (("stop", {}), ("approve", {"token": "x"}), ("pending", {})):
        reply = wire.ask({"id": 1, "host": operation, "arguments": arguments})
        assert reply["error"]["code"] == "refused", operation
    assert daemon.running()


def test_an_unknown_operation_is_refused_with_the_nearest(daemon: Home) -> None:
    error = daemon.hello().ask({"id": 1, "host": "statsu"})["error"]
    assert (error["code"], error["details"]["nearest"][0]) == ("unknown_command", "status")


def test_the_catalogue_is_published_with_its_digest_and_kept_for_clients(daemon: Home) -> None:
    wire = daemon.connect()
    wire.send(greeting())
    digest = wire.receive()["catalogue"]
    document = wire.ask({"id": 1, "host": "catalogue"})["result"]
    assert document["digest"] == digest
    assert json.loads((daemon.path / "data" / "catalogue.json").read_text()) == document
    said = next(c for c in document["commands"] if c["name"] == "vendor-say")
    assert said["origin"] == "test-vendor"
    assert said["inputSchema"]["properties"]["times"]["maximum"] == 5
    assert set(document["selectors"]) >= {"device", "udid", "serial", "session", "deviceTarget", "leaseId"}


def test_an_artefact_can_be_fetched_and_nothing_else_can(daemon: Home) -> None:
    wire = daemon.hello()
    made = wire.ask({"id": 1, "call": "vendor-file"})["answer"]["artefacts"][0]
    import base64

    found = wire.ask({"id": 2, "host": "artefact", "arguments": {"name": made["uri"]}})["result"]
    assert base64.b64decode(found["data"]) == b"\x89PNG test"
    for name in ("../run/daemon.json", "/etc/passwd", "", "nothing.png"):
        refused = wire.ask({"id": 3, "host": "artefact", "arguments": {"name": name}})
        assert refused["error"]["code"] == "path_not_found"


def test_a_confirmation_is_approved_by_a_person_and_used_once(daemon: Home) -> None:
    wire = daemon.hello("call", "cli")
    asked = wire.ask({"id": 1, "call": "vendor-wipe"})["answer"]["error"]
    assert asked["code"] == "confirmation_required"
    token = asked["details"]["token"]
    early = wire.ask({"id": 2, "call": "vendor-wipe", "arguments": {"confirmToken": token}})["answer"]
    assert early["error"]["code"] == "confirmation_invalid"
    pending = wire.ask({"id": 3, "host": "pending"})["result"]["pending"]
    assert [entry["command"] for entry in pending] == ["vendor-wipe"]
    assert wire.ask({"id": 4, "host": "approve", "arguments": {"token": token}})["result"]["command"] == "vendor-wipe"
    done = wire.ask({"id": 5, "call": "vendor-wipe", "arguments": {"confirmToken": token}})["answer"]
    assert done["data"] == {"wiped": True}
    again = wire.ask({"id": 6, "call": "vendor-wipe", "arguments": {"confirmToken": token}})["answer"]
    assert again["error"]["code"] == "confirmation_invalid"


# --- what a connection holds ---


def test_what_a_connection_holds_is_given_back_when_it_ends(daemon: Home) -> None:
    one = daemon.hello()
    first = one.ask({"id": 1, "call": "appstate", "arguments": {"device": "fake-1"}})["answer"]
    assert first["ok"], first
    two = daemon.hello()
    held = two.ask({"id": 1, "call": "appstate", "arguments": {"device": "fake-1"}})["answer"]
    assert held["error"]["code"] == "lease_held"
    one.close()
    ask = {"id": 2, "call": "appstate", "arguments": {"device": "fake-1"}}
    eventually(lambda: two.ask(ask)["answer"]["ok"], "the device is free")


def test_a_session_with_a_name_outlives_its_connection(daemon: Home) -> None:
    one = daemon.hello()
    made = one.ask({"id": 1, "call": "open", "arguments": {"device": "fake-1", "session": "mine"}})["answer"]
    assert made["ok"], made
    one.close()
    two = daemon.hello()
    found = two.ask({"id": 1, "call": "appstate", "arguments": {"session": "mine"}})["answer"]
    assert found["device"]["id"] == "fake-1"


def test_what_a_killed_daemon_held_is_told_once_to_whom_it_belonged(home: Home, tmp_path: Path) -> None:
    home.json("appstate", "--device", "fake-1", cwd=tmp_path)
    os.kill(home.pid, signal.SIGKILL)
    eventually(lambda: not home.running(), "it is gone")
    told = home.json("appstate", code=1, cwd=tmp_path)["error"]
    assert (told["code"], told["details"]["restarted"]) == ("connection_lost", True)
    assert told["details"]["lost"][0]["device"] == "fake:fake-1"
    assert home.json("appstate", "--device", "fake-1", cwd=tmp_path)["ok"]


def test_the_bare_wire_helper_sees_the_end_of_a_connection(home: Home) -> None:
    home.serve()
    wire: Wire = home.hello()
    home.json("stop")
    with pytest.raises((EOFError, ConnectionError)):
        wire.receive()
