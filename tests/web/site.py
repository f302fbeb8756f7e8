"""Test pages on loopback, and the witness: what pages say happened to them, told past the backend under test."""

from __future__ import annotations

import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import anyio

WITNESS = """
function tell(kind, data) {
  const request = new XMLHttpRequest();
  request.open("POST", "/told", false);
  request.send(JSON.stringify({kind, data: data === undefined ? null : data}));
}
function tellAll(target, ...kinds) {
  for (const kind of kinds) target.addEventListener(kind, (e) => tell(kind, {
    target: e.target.id || e.target.localName || "", trusted: e.isTrusted, x: e.clientX, y: e.clientY, key: e.key,
    code: e.code, keyCode: e.keyCode, button: e.button, detail: e.detail, inputType: e.inputType, data: e.data,
    ctrl: e.ctrlKey, shift: e.shiftKey, alt: e.altKey, meta: e.metaKey,
    touches: e.touches ? e.touches.length : undefined,
  }), true);
}
"""
Responder = Callable[[http.server.BaseHTTPRequestHandler], None]


class Site:
    """A web server with pages made on the spot. Reached as 127.0.0.1 and as localhost: two sites to a browser."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self._pages: dict[str, bytes | Responder] = {}
        self._count = 0
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                return

            def do_GET(self) -> None:
                site._get(self)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.path == "/told":
                    site.told.append(json.loads(body))
                send(self, b"ok")

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _get(self, request: http.server.BaseHTTPRequestHandler) -> None:
        page = self._pages.get(urlsplit(request.path).path)
        if callable(page):
            page(request)
        elif page is None:
            send(request, b"<title>Nothing</title>nothing here", status=404)
        else:
            send(request, page)

    def page(self, html: str, *, path: str = "") -> str:
        """Serves a page (with the witness's script in it) and returns its address."""
        self._count += 1
        path = path or f"/page{self._count}"
        self._pages[path] = f"<!doctype html><script>{WITNESS}</script>{html}".encode()
        return self.url(path)

    def serve(self, path: str, responder: Responder) -> str:
        """Answers a path by a function."""
        self._pages[path] = responder
        return self.url(path)

    def url(self, path: str, *, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def other(self, url: str) -> str:
        """The same page under the other host name, which is another site."""
        return url.replace("127.0.0.1", "localhost")

    def kinds(self) -> list[str]:
        return [event["kind"] for event in self.told]

    def data(self, kind: str) -> list[Any]:
        return [event["data"] for event in self.told if event["kind"] == kind]

    async def wait(self, kind: str, count: int = 1, seconds: float = 20.0) -> list[Any]:
        """What was told of a kind, once it was told `count` times."""
        end = time.monotonic() + seconds
        while len(self.data(kind)) < count and time.monotonic() < end:
            await anyio.sleep(0.005)
        assert len(self.data(kind)) >= count, f"{kind} was not told {count} times, only {self.kinds()}"
        return self.data(kind)


def send(
    request: http.server.BaseHTTPRequestHandler,
    body: bytes,
    *,
    status: int = 200,
    kind: str = "text/html; charset=utf-8",
    **headers: str,
) -> None:
    request.send_response(status)
    request.send_header("content-type", kind)
    request.send_header("content-length", str(len(body)))
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body)


@contextmanager
def running_site() -> Iterator[Site]:
    site = Site()
    try:
        yield site
    finally:
        site.close()
