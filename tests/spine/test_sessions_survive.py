"""A daemon that is killed at any moment, under load: what callers were answered is what the next daemon has."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from anydevice.client import connect
from anydevice_schemas.errors import AnydeviceError

from ..support.daemons import Home, eventually
from ..support.sizes import size
from .conftest import caller

pytestmark = pytest.mark.daemon

ROUNDS = size("kills of a daemon with sessions")
SEED = 20261130


@dataclass
class Log:
    """What one caller was answered.

    Attributes:
        lives: Sessions it opened and did not end, and the app each has.
        unsure: Sessions of calls that were never answered.
        refs: Refs it was given, by session.
        after: Sessions that were perhaps used with the next daemon already.
        faults: Answers nobody should get.
    """

    lives: dict[str, str | None] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    refs: dict[str, set[str]] = field(default_factory=dict)
    after: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)


def work(home: Home, device: str, prefix: str, log: Log, killed: threading.Event) -> None:
    """Opens sessions on one device one after the other, works in them and ends most, until the daemon is gone.

    When it is killed between two calls the client starts the next one, and its answers are as good.
    """
    client = connect(home=str(home.path), environ={})
    number = 0
    before = ""
    while not killed.is_set():
        number += 1
        name = f"{prefix}-{number}"
        log.unsure.add(name)
        try:
            if before:
                log.unsure.add(before)
                client.call("session", {"action": "end", "name": before})
                log.lives.pop(before)
                log.unsure.discard(before)
            client.call("open", {"device": device, "session": name, "url": f"https://{name}.example/"})
            log.lives[name] = f"https://{name}.example/"
            log.unsure.discard(name)
            found = client.call("find", {"query": "Increment", "session": name})
            if killed.is_set():  # the next daemon may have answered: its refs stand, and it told what was lost
                log.after.add(name)
            else:
                log.refs.setdefault(name, set()).update(_refs(found.data))
        except AnydeviceError as error:
            if error.code not in ("connection_lost", "outcome_unknown"):
                log.faults.append(f"{error.code}: {error.message}")
            break
        before = name
    client.disconnect()


def _refs(data: Any) -> set[str]:
    """Every ref in an answer."""
    if isinstance(data, dict):
        own = {data["ref"]} if isinstance(data.get("ref"), str) else set()
        return own.union(*map(_refs, data.values()))
    return set[str]().union(*map(_refs, data)) if isinstance(data, list) else set()


def test_after_kill_9_at_any_moment_there_is_every_session_that_was_answered_and_no_other(home: Home) -> None:
    chance = random.Random(SEED)
    given: dict[str, set[str]] = {}
    for round in range(ROUNDS):
        home.serve()
        logs, killed = {device: Log() for device in ("fake-1", "fake-2")}, threading.Event()
        threads = [
            threading.Thread(target=work, args=(home, device, f"{device}-{round}", log, killed))
            for device, log in logs.items()
        ]
        for thread in threads:
            thread.start()
        eventually(lambda logs=logs: all(log.lives for log in logs.values()), "they work")  # type: ignore[misc]
        time.sleep(chance.uniform(0.0, 0.4))
        os.kill(home.pid, signal.SIGKILL)
        killed.set()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        assert [log.faults for log in logs.values()] == [[], []]
        with caller(home, "python", "elsewhere") as door:
            rows = {row["name"]: row for row in door.do("session").data["sessions"]}
            for device, log in logs.items():
                mine = {name for name in rows if name.startswith(f"{device}-{round}-")}
                assert mine - log.unsure == log.lives.keys() - log.unsure
                for name in mine - log.unsure:
                    assert rows[name]["device"] == f"fake:{device}"
                    assert name in log.after or rows[name]["app"] == log.lives[name]
                for name in mine:
                    given.setdefault(name, set()).update(log.refs.get(name, ()))
            for name in rows:
                said = door.call("find", query="Increment", session=name)
                alone = [row["device"] for row in rows.values()].count(rows[name]["device"]) == 1
                assert said.ok or (said.code == "lease_held" and not alone), said.wire
                assert not _refs(said.data) & given.get(name, set())
                given.setdefault(name, set()).update(_refs(said.data))
            for name in rows:
                assert door.do("session", action="end", name=name).data["ended"] is True
            assert door.do("session").data["sessions"] == []
        os.kill(home.pid, signal.SIGKILL)
        with caller(home, "python", "elsewhere") as door:
            assert door.do("session").data["sessions"] == [], "what was ended stays ended"
