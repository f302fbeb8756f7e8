"""What can be asked of the daemon itself, and what it gives back when a connection ends."""

from __future__ import annotations

import base64
import json
import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ..support.daemons import Home, eventually, greeting
from ..support.distributions import install_fake_backend

pytestmark = pytest.mark.daemon


def test_stop_and_approve_are_not_for_agents(daemon: Home) -> None:
    wire = daemon.hello("call", "stdio")
    person = {"device": "fake-1", "reason": "x", "seconds": 5, "health": "good"}
    takes = {
        "takeover": ("device", "reason", "seconds"),
        "give-back": ("device",),
        "mark": ("device", "health", "reason"),
    }
    asked = [(name, {field: person[field] for field in fields}) for name, fields in takes.items()]
    for operation, arguments in [("stop", {}), ("approve", {"token": "x"}), ("pending", {}), *asked]:
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


# --- who drives ---


def test_a_program_takes_nothing_over_as_it_has_no_admin_scope(daemon: Home) -> None:
    wire = daemon.hello("call", "python")
    for operation, arguments in (
        ("takeover", {"device": "fake-1", "reason": "x", "seconds": 60}),
        ("give-back", {"device": "fake-1"}),
        ("mark", {"device": "fake-1", "health": "bad", "reason": ""}),
    ):
        assert wire.ask({"id": 1, "host": operation, "arguments": arguments})["error"]["code"] == "refused", operation
    rows = wire.ask({"id": 2, "host": "devices", "arguments": {"ask": True}})["result"]["devices"]
    assert [(row["id"], row["health"], "lease" in row) for row in rows] == [
        ("fake-1", "unknown", False),
        ("fake-2", "unknown", False),
    ]


def test_names_are_told_to_the_person_at_the_host_and_within_a_tenant(home: Home) -> None:
    home.serve()
    job = home.hello("call", "python")
    for number, more in enumerate(({"device": "fake-1"}, {"device": "fake-2", "tenant": "team-a"})):
        request = {"action": "acquire", "session": f"job-{number}", **more}
        assert job.ask({"id": number, "call": "lease", "arguments": request})["answer"]["ok"]
    job.send({"id": 7, "call": "lease", "arguments": {"action": "acquire", "tenant": "team-b", "timeoutMs": 30000}})

    def seen(transport: str) -> dict[str, Any]:
        wire = home.hello("host", transport)
        status = wire.ask({"id": 1, "host": "status"})["result"]
        found = wire.ask({"id": 2, "host": "devices", "arguments": {"ask": False}})["result"]
        wire.close()
        return status | found

    eventually(lambda: seen("cli")["queue"], "it waits")
    person, agent = seen("cli"), seen("stdio")
    assert [row["lease"]["session"] for row in person["devices"]] == ["job-0", "job-1"]
    assert [row["lease"]["tenant"] for row in person["devices"]] == ["default", "team-a"]
    assert [row["tenant"] for row in person["queue"]] == ["team-b"]
    assert [row["name"] for row in person["sessions"]] == ["job-0", "job-1"]
    mine, other = (row["lease"] for row in agent["devices"])
    assert mine["session"] == "job-0"
    assert other["held"] is True and other.keys() == {"until", "leftSeconds", "kind", "held"}
    assert [row.keys() for row in agent["queue"]] == [{"position", "waitedSeconds"}]
    assert [row["name"] for row in agent["sessions"]] == ["job-0"]
    assert [row["session"] for row in agent["held"]] == ["job-0", None]
    assert "team-" not in json.dumps([agent["devices"], agent["queue"], agent["sessions"], agent["held"]])


def test_a_person_waits_for_another_process_that_writes_and_not_for_ever(home: Home) -> None:
    home.serve()
    wire = home.hello("call", "cli")
    asked = {"id": 1, "host": "mark", "arguments": {"device": "fake:fake-1", "health": "bad", "reason": "x"}}
    other = sqlite3.connect(home.path / "data" / "state.db", isolation_level=None)
    with closing(other):
        other.execute("BEGIN IMMEDIATE")
        wire.send(asked)
        assert (
            home.hello("host").ask({"id": 1, "host": "devices", "arguments": {"ask": False}})["result"]["queue"] == []
        )
        with pytest.raises(TimeoutError):
            wire.receive(0.5)
        other.execute("ROLLBACK")
        assert wire.receive()["result"] == {"device": "fake:fake-1", "health": "bad", "reason": "x"}
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        assert wire.ask(asked)["error"]["code"] == "upstream_unavailable"
        assert 4 < time.monotonic() - began < 25
        other.execute("ROLLBACK")


def test_a_device_that_shares_something_with_a_held_one_says_through_which(home: Home) -> None:
    install_fake_backend(
        home.plugins,
        name="desk",
        setup="self.rows = {k: r.model_copy(update={'shares': ['focus']}) for k, r in self.rows.items()}",
    )
    wire = home.serve() and home.hello("call", "cli")
    assert wire.ask({"id": 1, "call": "appstate", "arguments": {"device": "desk:fake-1"}})["answer"]["ok"]
    rows = wire.ask({"id": 2, "host": "devices", "arguments": {"ask": True}})["result"]["devices"]
    leases = {row["device"]: row["lease"] for row in rows if "lease" in row}
    assert leases.keys() == {"desk:fake-1", "desk:fake-2"}
    assert "through" not in leases["desk:fake-1"] and leases["desk:fake-2"]["through"] == "desk:fake-1"


# --- what a connection holds ---


def test_what_a_connection_holds_is_given_back_when_it_ends(daemon: Home) -> None:
    one = daemon.hello()
    first = one.ask({"id": 1, "call": "appstate", "arguments": {"device": "fake-1"}})["answer"]
    assert first["ok"], first
    two = daemon.hello()
    held = two.ask({"id": 1, "call": "appstate", "arguments": {"device": "fake-1"}})["answer"]
    assert held["error"]["code"] == "lease_held"
    one.send({"goodbye": True})
    one.close()
    ask = {"id": 2, "call": "appstate", "arguments": {"device": "fake-1"}}
    eventually(lambda: two.ask(ask)["answer"]["ok"], "the device is free")


def test_a_session_with_a_name_outlives_its_connection(daemon: Home) -> None:
    one = daemon.hello()
    made = one.ask({"id": 1, "call": "open", "arguments": {"device": "fake-2", "session": "mine"}})["answer"]
    assert made["ok"], made
    one.close()
    two = daemon.hello()
    found = two.ask({"id": 1, "call": "appstate", "arguments": {"session": "mine"}})["answer"]
    assert found["device"]["id"] == "fake-2"


def test_what_a_killed_daemon_held_goes_on_and_is_told_once_to_whom_it_belonged(home: Home, tmp_path: Path) -> None:
    home.json("appstate", "--device", "fake-1", cwd=tmp_path)
    os.kill(home.pid, signal.SIGKILL)
    eventually(lambda: not home.running(), "it is gone")
    (told,) = home.json("appstate", cwd=tmp_path)["notices"]
    assert (told["kind"], told["device"]) == ("daemon_restarted", "fake:fake-1")
    assert home.json("appstate", cwd=tmp_path)["notices"] == []


def test_a_stop_ends_every_connection(home: Home) -> None:
    home.serve()
    wire = home.hello()
    home.json("stop")
    with pytest.raises((EOFError, ConnectionError)):
        wire.receive()
