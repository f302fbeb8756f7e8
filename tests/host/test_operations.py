"""What can be asked of the daemon itself, and what it gives back when a connection ends."""

from __future__ import annotations

import base64
import json
import os
import signal
from pathlib import Path

import pytest

from ..support.daemons import Home, eventually, greeting

pytestmark = pytest.mark.daemon


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


def test_a_stop_ends_every_connection(home: Home) -> None:
    home.serve()
    wire = home.hello()
    home.json("stop")
    with pytest.raises((EOFError, ConnectionError)):
        wire.receive()
