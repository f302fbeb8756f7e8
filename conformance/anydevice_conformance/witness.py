"""The witness: hears from the practice app itself what it received. Nothing of it passes through a backend."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

Report = dict[str, Any]
BODY_MOST = 256 * 1024


class Witness:
    """A small HTTP server on loopback: it serves the practice page and takes the app's reports, by token."""

    def __init__(self) -> None:
        self._reports: dict[str, list[Report]] = {}
        self._changed = threading.Condition()
        witness = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                witness._serve(self)

            def do_POST(self) -> None:
                length = min(int(self.headers.get("Content-Length") or 0), BODY_MOST)
                witness._take(urlsplit(self.path).path.rpartition("/")[2], self.rfile.read(length))
                self.send_response(204)
                self.send_header("Access-Control-Allow-Origin", "*")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """The suite's own output is for people."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def base(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def new_token(self) -> str:
        """A place for the reports of one run of the app."""
        token = secrets.token_hex(8)
        with self._changed:
            self._reports[token] = []
        return token

    def address(self, token: str) -> str:
        """Where the app posts its reports."""
        return f"{self.base}/witness/{token}"

    def page(self, screen: str, token: str) -> str:
        """The practice page on a screen, reporting under a token."""
        return f"{self.base}/practice?screen={screen}&witness={self.address(token)}"

    def detour(self, screen: str, token: str) -> str:
        """An address that leads to `page` by a redirect."""
        return self.page(screen, token).replace("/practice?", "/detour?", 1)

    def reports(self, token: str) -> list[Report]:
        """What was reported so far, in order."""
        with self._changed:
            return list(self._reports.get(token, ()))

    async def until(self, token: str, wanted: Callable[[list[Report]], bool], seconds: float) -> list[Report]:
        """What was reported once `wanted` holds, or when the time is up."""
        return await anyio.to_thread.run_sync(self._wait, token, wanted, seconds, abandon_on_cancel=True)

    def _wait(self, token: str, wanted: Callable[[list[Report]], bool], seconds: float) -> list[Report]:
        until = time.monotonic() + seconds
        with self._changed:
            while True:
                seen = list(self._reports.get(token, ()))
                left = until - time.monotonic()
                if wanted(seen) or left <= 0:
                    return seen
                self._changed.wait(min(left, 0.5))

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()

    def _take(self, token: str, body: bytes) -> None:
        try:
            report = json.loads(body)
        except ValueError:
            report = {"what": "garbage", "value": body[:200].decode("utf-8", "replace")}
        with self._changed:
            if token in self._reports:
                self._reports[token].append(report)
                self._reports[token].sort(key=lambda r: r.get("seq", 0))
                self._changed.notify_all()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        path = urlsplit(handler.path).path
        if path == "/detour":
            handler.send_response(302)
            handler.send_header("Location", handler.path.replace("/detour?", "/practice?", 1))
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        name = {"/practice": "practice.html", "/practice.json": "practice.json"}.get(path)
        if name is None:
            handler.send_response(404)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        body = practice_file(name)
        handler.send_response(200)
        kind = "application/json" if name.endswith("json") else "text/html; charset=utf-8"
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


def practice_file(name: str) -> bytes:
    """The practice page, with the specification in it, or the specification alone."""
    from anydevice_schemas.practice import as_data

    data = json.dumps(as_data(), ensure_ascii=False)
    if name == "practice.json":
        return data.encode()
    page = files("anydevice_conformance").joinpath("practice", "practice.html").read_text("utf-8")
    return page.replace("/*SPECIFICATION*/null", data.replace("</", "<\\/")).encode()
