"""How practice apps in memory tell their witness: in order, and of a field that changes fast the last word."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from anydevice.testing import HttpReporter


@pytest.fixture
def slow() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a witness that takes its time, and what it heard."""
    heard: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            time.sleep(0.05)
            heard.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", heard
    server.shutdown()
    server.server_close()


def test_the_last_value_of_a_field_is_posted_and_everything_else_in_order(
    slow: tuple[str, list[dict[str, Any]]],
) -> None:
    address, heard = slow
    reporter = HttpReporter(address)
    said = [("fill", "name", n) for n in range(40)] + [("press", "ok", n) for n in range(3)] + [("fill", "name", 99)]
    for number, (what, element, value) in enumerate(said, 1):
        reporter({"seq": number, "screen": "form", "what": what, "id": element, "value": value})
    reporter.close()
    until = time.monotonic() + 10
    while not (heard and heard[-1]["value"] == 99) and time.monotonic() < until:
        time.sleep(0.01)
    assert [report["seq"] for report in heard] == sorted(report["seq"] for report in heard)
    fills = [report["value"] for report in heard if report["what"] == "fill"]
    assert fills[-2:] == [39, 99] and len(fills) < 41
    assert [report["value"] for report in heard if report["what"] == "press"] == [0, 1, 2]
