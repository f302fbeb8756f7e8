"""The wire between a daemon and its clients: hello, requests, progress, cancelling, and every kind of bad line."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from anydevice.host import protocol

from ..support.daemons import Home, eventually

pytestmark = pytest.mark.daemon


def notes(mark: Path) -> list[str]:
    return mark.read_text().split() if mark.exists() else []


# --- requests ---


def test_requests_run_beside_one_another(daemon: Home, mark: Path) -> None:
    wire = daemon.hello()
    wire.send({"id": "slow", "call": "vendor-slow", "arguments": {"mark": str(mark)}})
    assert wire.ask({"id": 2, "call": "say", "arguments": {"text": "quick"}})["answer"]["ok"]
    assert notes(mark) in ([], ["started"])
    wire.send({"cancel": "slow"})
    while "answer" not in (reply := wire.receive()):
        pass
    assert reply["id"] == "slow"


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
    reply = wire.ask({"id": 1, "call": name, "arguments": {"mark": str(mark)}, "deadline": 1.5})  # it has begun by then
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
    onlooker = home.hello("host")

    def alone() -> bool:
        status = onlooker.ask({"id": 1, "host": "status"})["result"]
        return status["calls"] == 0 and len(status["connections"]) == 1

    eventually(alone, "it is forgotten")


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
    eventually(lambda: error["details"]["incident"] in daemon.log() and "boom" in daemon.log(), "the log knows")


def test_an_unknown_command_is_an_answer_with_the_nearest(daemon: Home) -> None:
    answer = daemon.hello().ask({"id": 1, "call": "vendor-sya"})["answer"]
    assert answer["error"]["code"] == "unknown_command"
    assert "vendor-say" in answer["error"]["details"]["nearest"]
