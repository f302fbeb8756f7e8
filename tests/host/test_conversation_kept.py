"""What a pump remembers of a conversation: ids as they are, the handshake, and which requests may be said again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from anydevice.host import protocol
from anydevice.host.conversation import AGAIN, Conversed, Cut


def line(**message: Any) -> bytes:
    return protocol.encode({"jsonrpc": "2.0", **message})


def call(id_: Any) -> bytes:
    return line(id=id_, method="tools/call", params={})


def codes(answers: bytes) -> dict[str, str]:
    """Error codes of ours by id, as JSON writes the id."""
    found = [json.loads(text) for text in answers.splitlines()]
    return {json.dumps(answer["id"]): answer["error"]["data"]["code"] for answer in found}


def test_lines_come_out_as_they_went_in_however_they_were_cut() -> None:
    data = b'{"a":1}\n\n\xff\x00\r\n' + b"x" * 1000 + b"\nrest"
    for size in (1, 2, 7, 100, 5000):
        cut = Cut()
        lines = [one for at in range(0, len(data), size) for one in cut.feed(data[at : at + size])]
        assert lines == [b'{"a":1}\n', b"\n", b"\xff\x00\r\n", b"x" * 1000 + b"\n"]
        assert cut.rest == b"rest"


def test_a_line_beyond_all_limits_is_passed_on_in_pieces() -> None:
    cut = Cut(100)
    pieces = cut.feed(b"x" * 101) + cut.feed(b"y" * 50) + cut.feed(b"z\nnext\n")
    assert b"".join(pieces) == b"x" * 101 + b"y" * 50 + b"z\nnext\n"
    assert pieces[0] == b"x" * 101


@pytest.mark.parametrize("id_", [7, "7", 7.5, -1, 'quo"te', "\\", "ü", ""])
def test_an_answer_in_any_form_settles_its_request(id_: Any) -> None:
    for answer in (
        json.dumps({"jsonrpc": "2.0", "id": id_, "result": {}}, separators=(",", ":")),
        json.dumps({"jsonrpc": "2.0", "id": id_, "result": {}}, ensure_ascii=False),
        json.dumps({"error": {"code": 1, "message": ""}, "id": id_, "jsonrpc": "2.0"}),
        json.dumps([{"jsonrpc": "2.0", "id": id_, "result": {}}]),
    ):
        kept = Conversed()
        kept.said([call(id_)])
        assert kept.waiting()
        text = answer.encode() + b"\n"
        assert kept.heard([text]) == text
        assert not kept.waiting()


def test_seven_and_the_text_7_are_two_requests() -> None:
    kept = Conversed()
    kept.said([call(7), call("7")])
    kept.heard([line(id="7", result={})])
    assert codes(kept.lost()) == {"7": "outcome_unknown"}


def test_what_is_no_answer_settles_nothing() -> None:
    kept = Conversed()
    kept.said([call(1)])
    for other in (
        line(method="notifications/progress", params={"id": 1}),
        line(id=1, method="ping"),  # the server's own request
        line(id=None, error={"code": -32700, "message": "Parse error"}),
        line(id=True, result={}),
        b"not json\n",
        b"\n",
    ):
        assert kept.heard([other]) == other
    assert kept.waiting()


def test_only_what_may_have_acted_is_given_up_and_the_rest_said_again() -> None:
    kept = Conversed()
    kept.said([call(1), line(id=2, method="tools/list"), line(id=3, method="ping")])
    assert codes(kept.lost()) == {"1": "outcome_unknown"}
    assert kept.again() == line(id=2, method="tools/list") + line(id=3, method="ping")
    assert kept.waiting()
    assert codes(kept.lost(final=True)) == {"2": "connection_lost", "3": "connection_lost"}
    assert not kept.waiting()


def test_after_a_hand_over_calls_are_said_again_too() -> None:
    kept = Conversed()
    kept.said([call(1)])
    assert kept.heard([protocol.HANDED_OVER]) == b""
    assert kept.lost() == b""
    assert kept.again() == call(1)


def test_a_request_that_ends_every_daemon_is_not_said_again_for_ever() -> None:
    kept = Conversed()
    kept.said([line(id=1, method="tools/list")])
    told = [codes(kept.lost()) for _ in range(5)]
    assert told == [{}, {}, {}, {"1": "connection_lost"}, {}]


def test_a_request_that_lasts_is_said_again_but_no_daemon_is_started_for_it() -> None:
    kept = Conversed()
    kept.said([line(id=1, method="subscriptions/listen")])
    assert kept.lost() == b""
    assert not kept.waiting()
    assert kept.again() == line(id=1, method="subscriptions/listen")


def test_what_never_reached_the_daemon_is_as_if_it_was_not_said() -> None:
    kept = Conversed()
    kept.said([call(1), call(2)])
    kept.unsaid([call(2)])
    assert codes(kept.lost()) == {"1": "outcome_unknown"}


def test_a_call_at_the_end_that_the_daemon_had_not_read_is_said_again() -> None:
    kept = Conversed()
    kept.said([call(1), call(2)])
    kept.said([call(3)])
    kept.unsaid([call(3)])
    assert codes(kept.lost(unread=True)) == {"1": "outcome_unknown"}
    assert kept.again() == call(2)
    kept.said([line(method="notifications/cancelled", params={"requestId": 9})])
    assert codes(kept.lost(unread=True)) == {"2": "outcome_unknown"}
    kept.said([call(4)])
    assert codes(kept.lost(unread=True, final=True)) == {"4": "connection_lost"}


def test_a_batch_is_never_said_again() -> None:
    kept = Conversed()
    kept.said([json.dumps([json.loads(call(1)), json.loads(call(2))]).encode()])
    kept.heard([protocol.HANDED_OVER])
    assert codes(kept.lost()) == {"1": "connection_lost", "2": "connection_lost"}
    assert kept.again() == b""


def test_the_handshake_is_said_again_under_an_id_of_its_own() -> None:
    kept = Conversed()
    params = {"protocolVersion": "2025-06-18"}
    kept.said([line(id=0, method="initialize", params=params)])
    assert kept.handshake() == b""  # not answered: it is said again as a request, to be answered
    assert kept.again() == line(id=0, method="initialize", params=params)
    kept.heard([line(id=0, result={})])
    kept.said([line(method="notifications/initialized")])
    assert json.loads(kept.handshake()) == {"jsonrpc": "2.0", "id": AGAIN, "method": "initialize", "params": params}
    assert kept.again() == line(method="notifications/initialized")


def test_a_handshake_that_was_refused_is_not_said_again() -> None:
    kept = Conversed()
    kept.said([line(id=0, method="initialize")])
    kept.heard([line(id=0, error={"code": -32602, "message": "no"})])
    assert kept.handshake() == b""
