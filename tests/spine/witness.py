"""The practice page, and the witness: what the page itself recorded, told to a server that knows no anydevice."""

from __future__ import annotations

import itertools
import json
import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

HERE = Path(__file__).resolve().parent
PATIENCE = 30.0
"""Seconds the page may take to tell something."""


class Witness:
    """Serves the practice page on loopback under any tag (`url("one")`) and keeps what each tag's page tells."""

    def __init__(self) -> None:
        self._told: list[tuple[str, str, Any]] = []
        self._open: dict[str, list[_Question]] = {}
        self._answers: dict[str, Any] = {}
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()
        self._closing = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def url(self, tag: str, path: str = "/") -> str:
        """Where the page is, for one tag."""
        return f"http://127.0.0.1:{self._server.server_port}{path}?{tag}"

    def told(self, tag: str) -> list[tuple[str, Any]]:
        """Everything the pages of a tag have told, in order."""
        with self._changed:
            return [(what, more) for of, what, more in self._told if of == tag]

    def all(self, tag: str, what: str) -> list[Any]:
        """What was told of one kind."""
        return [more for kind, more in self.told(tag) if kind == what]

    def wait(self, tag: str, what: str, count: int = 1) -> Any:
        """The latest of one kind, once it was told `count` times."""
        self._until(lambda: len(self.all(tag, what)) >= count, f"{what} {count} times from {tag}; {self.told(tag)}")
        return self.all(tag, what)[-1]

    def forget(self, tag: str) -> None:
        """Starts a tag anew."""
        with self._changed:
            self._told = [row for row in self._told if row[0] != tag]

    def pages(self, tag: str) -> int:
        """How many pages of a tag are open now, as their connections say."""
        with self._changed:
            return sum(not question.gone() for question in self._open.get(tag, []))

    def no_page(self, tag: str) -> None:
        """Waits until no page of a tag is open."""
        self._until(lambda: not self.pages(tag), f"no page of {tag} is open")

    def state(self, tag: str) -> Any:
        """What the page of a tag is like now: its fields, its scroll position, how much input it has had."""
        number = str(next(self._numbers))
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with self._changed:
                living = [question for question in self._open.get(tag, []) if not question.gone()]
                if living:
                    living[-1].number = number
                    self._changed.notify_all()
                if self._changed.wait_for(lambda: number in self._answers, 0.5 if living else 0.02):
                    return self._answers[number]
        raise AssertionError(f"the page of {tag} did not answer")

    def close(self) -> None:
        """Stops serving."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    # --- for the server ---

    def take(self, tag: str, report: dict[str, Any]) -> None:
        """A page told something."""
        with self._changed:
            self._told.append((tag, report["what"], report["more"]))
            self._changed.notify_all()

    def answer(self, number: str, state: Any) -> None:
        """A page answered a question."""
        with self._changed:
            self._answers[number] = state
            self._changed.notify_all()

    def question(self, tag: str, connection: Any) -> str | None:
        """Holds a page's request until there is something to ask; None when the page went away first."""
        mine = _Question(connection)
        with self._changed:
            self._open.setdefault(tag, []).append(mine)
            try:
                while not self._closing and mine.number is None and not mine.gone():
                    self._changed.wait(0.05)
                return mine.number
            finally:
                self._open[tag].remove(mine)

    def _until(self, check: Any, what: str) -> None:
        until = time.monotonic() + PATIENCE
        while not check():
            assert time.monotonic() < until, f"not within {PATIENCE:g} s: {what}"
            time.sleep(0.005)


class _Question:
    """A page that waits to be asked."""

    def __init__(self, connection: Any) -> None:
        self.number: str | None = None
        self._connection = connection

    def gone(self) -> bool:
        """Whether the page's connection has ended."""
        try:
            return bool(select.select([self._connection], [], [], 0)[0])
        except (OSError, ValueError):
            return True


def _handler(witness: Witness) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            where = urlsplit(self.path)
            if where.path == "/ask":
                number = witness.question(where.query, self.connection)
                self._send((number or "").encode(), 200 if number else 410)
            elif where.path in ("/", "/second"):
                self._send((HERE / ("second.html" if where.path == "/second" else "page.html")).read_bytes())
            else:
                self._send(b"<title>Nothing</title>", 404)

        def do_POST(self) -> None:
            where = urlsplit(self.path)
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if where.path == "/tell":
                witness.take(where.query, body)
            else:
                witness.answer(where.query, body)
            self._send(b"ok")

        def _send(self, body: bytes, status: int = 200) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                return  # the page went away

        def log_message(self, format: str, *args: Any) -> None:
            return

    return Handler


@contextmanager
def running_witness() -> Iterator[Witness]:
    """A witness that ends with the block."""
    witness = Witness()
    try:
        yield witness
    finally:
        witness.close()
