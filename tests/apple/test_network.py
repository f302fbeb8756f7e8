"""Requests in a simulator's log: those that apps write, and what CFNetwork sums up; never made up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from anydevice_apple.reading.requests import requests
from anydevice_apple.reading.unifiedlog import Line
from anydevice_lab.apple import Lab

from .rig import PRACTICE, Rig, eventually, programs

pytestmark = pytest.mark.anyio
SUMMARY = (
    "Task <0F5B8A2E-5A2B-4C0E-9E0B-0A2B7D1C9F11>.<3> summary for task {how} {{transaction_duration_ms=253, "
    'response_status={status}, connection=1, protocol="h2", domain_lookup_duration_ms=12, private_relay=false, '
    "request_bytes=338, response_bytes=1213, cache_hit=false}}"
)


def read(*texts: str, pid: int = 10) -> list[dict[str, Any]]:
    """What lines of one process tell, without what all of them have."""
    lines = [Line(float(number), text, "info", pid, "Practice", "") for number, text in enumerate(texts)]
    return [{name: row[name] for name in row if name not in ("time", "pid")} for row in requests(lines)]


def test_a_request_and_its_answer_are_one() -> None:
    assert read(
        "--> POST https://a.example/items (3-byte body)",
        "<-- 201 Created https://a.example/items (22ms, 6-byte body)",
    ) == [
        {"source": "app", "method": "POST", "url": "https://a.example/items", "sentBytes": 3, "status": 201, "ms": 22,
         "bytes": 6}
    ]  # fmt: skip


def test_requests_side_by_side_are_told_apart_by_their_addresses() -> None:
    found = read(
        "--> GET https://a.example/1", "--> GET https://a.example/2", "<-- 404 https://a.example/2 (5ms)",
        "<-- 200 OK https://a.example/1 (9ms, 1-byte body)",
    )  # fmt: skip
    assert [(row["url"][-1], row["status"]) for row in found] == [("1", 200), ("2", 404)]


def test_an_answer_whose_request_is_gone_and_a_failure_are_told() -> None:
    found = read(
        "<-- 200 https://a.example/1 (5ms)", "--> GET https://a.example/2", "<-- HTTP FAILED: The request timed out."
    )
    assert [(row.get("method"), row.get("status"), row.get("error")) for row in found] == [
        (None, 200, None), ("GET", None, "The request timed out."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("GET https://a.example/x?q=1 200 12ms", ("GET", "https://a.example/x?q=1", 200, 12)),
        ("[api] 503 POST https://a.example/x (took 40.5 ms)", ("POST", "https://a.example/x", 503, 40)),
        ("Request: DELETE https://a.example/x", ("DELETE", "https://a.example/x", None, None)),
    ],
)
def test_requests_in_one_line_are_read(text: str, told: tuple[Any, ...]) -> None:
    (row,) = read(text)
    assert tuple(row.get(name) for name in ("method", "url", "status", "ms")) == told


@pytest.mark.parametrize(
    "text", ["", "opened https://a.example", "FORGET https://a.example", "GET /x", "Task <1>.<2> resuming", "--> get x"]
)
def test_other_lines_are_no_requests(text: str) -> None:
    assert read(text) == []


def test_what_cfnetwork_sums_up_has_neither_method_nor_address() -> None:
    told = {"source": "CFNetwork", "status": 200, "ms": 253, "bytes": 1213, "sentBytes": 338}
    assert read(SUMMARY.format(how="success", status=200)) == [told]
    assert read(SUMMARY.format(how="failure", status=0))[0]["error"] == "failed"


def test_what_an_app_writes_itself_is_not_told_twice() -> None:
    found = read("GET https://a.example/x 200 12ms", SUMMARY.format(how="success", status=200))
    assert [row["source"] for row in found] == ["app"]


class _Witness(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Tests say enough."""


@pytest.fixture
def witness() -> Iterator[str]:
    """An address that takes what the practice app reports."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Witness)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/reports/t1"
    server.shutdown()
    server.server_close()


async def sent(lab: Lab, router: Rig, phone: str, witness: str) -> list[dict[str, Any]]:
    """What is listed after the practice app told its witness of a press."""
    await router.do("open", device=phone, app=PRACTICE, arguments=["--screen", "home", "--witness", witness], new=True)
    await router.do("press", target="Increment")

    async def listed() -> list[dict[str, Any]]:
        answer = await router.do("network", app=PRACTICE, expect=None)
        return [row for row in answer.data.get("requests", ()) if "status" in row] if answer.ok else []

    found: list[dict[str, Any]] = await eventually(listed)
    return found


async def test_what_the_app_sent_is_listed_of_this_simulator_alone(
    lab: Lab, router: Rig, phone: str, witness: str
) -> None:
    (other,) = await lab.start("iphone")
    await lab.ask("log", serial=other, text="GET https://of.the.other/ 200 3ms")
    await lab.ask("log", serial=phone, text="GET https://of.the.system/ 200 3ms", process="backboardd")
    row = (await sent(lab, router, phone, witness))[0]
    assert (row["method"], row["url"], row["status"], row["source"]) == ("POST", witness, 204, "app")
    every = str((await router.do("network")).data)
    assert "of.the.system" in every and "of.the.other" not in every
    assert "of.the.system" not in str((await router.do("network", app=PRACTICE)).data)
    assert (await router.do("network", contains="of.the.system")).data["count"] == 1
    assert any("--predicate" in started for started in await programs(lab, "log", phone))
    await lab.stop(other)


async def test_an_app_that_logs_nothing_is_told_by_what_the_system_writes(
    lab: Lab, router: Rig, phone: str, witness: str
) -> None:
    await lab.fault(phone, "requests_unlogged")
    row = (await sent(lab, router, phone, witness))[-1]
    assert (row["source"], row["status"], "url" in row) == ("CFNetwork", 204, False)


async def test_a_log_without_requests_is_no_proof_that_none_was_sent(lab: Lab, router: Rig) -> None:
    (fresh,) = await lab.start("iphone")
    await router.open(fresh)
    told = await router.refused("upstream_unavailable", "network", app=PRACTICE)
    assert told["reason"] == "not_logged" and "log" in told["enable_hint"]
    await router.refused("app_not_found", "network", app="no.such.app")
    await lab.stop(fresh)


async def test_a_device_at_a_cable_gives_no_log_to_look_in(lab: Lab, router: Rig) -> None:
    (cable,) = await lab.start("iphone-device")
    await router.refused("unsupported", "network", device=cable)
    await lab.stop(cable)
