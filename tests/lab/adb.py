"""The real adb program in tests: what it prints, and with which status it ends."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from xml.etree import ElementTree

import anyio

from anydevice.kit import processes
from anydevice.kit.processes import Result
from anydevice_lab.android import Lab
from anydevice_lab.android.server import find_adb

PRACTICE = "dev.anydevice.practice"
WITHIN = 20.0
CARRIED = find_adb()
"""The adb of the adbutils distribution; on a machine without that, the system's."""
ADBS = list(dict.fromkeys([CARRIED, *filter(None, [shutil.which("adb")])]))
"""Every adb program there is here: newer and older ones speak differently."""


@dataclass
class Adb:
    """The adb program, set on one device of a lab."""

    lab: Lab
    serial: str

    async def run(self, *words: str, stdin: bytes = b"") -> Result:
        """Runs it to its end."""
        import os

        env = {**os.environ, **self.lab.environment}
        argv = [self.lab.adb, "-s", self.serial, *words]
        return await processes.run(argv, deadline=60, env=env, stdin=stdin, cap=8 << 20)

    async def shell(self, line: str, stdin: bytes = b"") -> str:
        """What a command line prints, which must end well."""
        result = await self.run("shell", line, stdin=stdin)
        assert result.code == 0, (line, result.code, result.text, result.complaint)
        return result.text

    async def open(self, screen: str, witness: str = "") -> None:
        """Opens the practice app on a screen."""
        more = f" --es witness '{witness}'" if witness else ""
        said = await self.shell(f"am start -W -n {PRACTICE}/.MainActivity --es screen {screen}{more}")
        assert "Status: ok" in said

    async def nodes(self) -> list[dict[str, str]]:
        """Attributes of every node of the window in front."""
        text = (await self.run("exec-out", "uiautomator dump /dev/tty")).text
        assert "<hierarchy" in text, text
        tree = ElementTree.fromstring(text[: text.rindex(">") + 1])
        return [dict(node.attrib) for node in tree.iter("node")]

    async def node(self, rid: str) -> dict[str, str]:
        """Attributes of the node of an id."""
        found = [node for node in await self.nodes() if node["resource-id"] == rid]
        assert len(found) == 1, (rid, found)
        return found[0]

    async def tap(self, rid: str) -> None:
        """A tap in the middle of the node of an id."""
        x, y = middle(await self.node(rid))
        await self.shell(f"input tap {x} {y}")


def middle(node: dict[str, str]) -> tuple[int, int]:
    """The middle of a node, in pixels."""
    left, top, right, bottom = map(int, re.findall(r"\d+", node["bounds"]))
    return (left + right) // 2, (top + bottom) // 2


async def eventually(holds: Callable[[], Awaitable[Any]], within: float = WITHIN) -> Any:
    """What `holds` returns once that is true; the last of it when the time is up."""
    until = time.monotonic() + within
    while not (found := await holds()) and time.monotonic() < until:
        await anyio.sleep(0.05)
    assert found
    return found


class Reports:
    """What the practice app reported."""

    def __init__(self) -> None:
        self.all: list[dict[str, Any]] = []
        self.url = ""

    def of(self, what: str) -> list[dict[str, Any]]:
        """The reports of one kind."""
        return [report for report in self.all if report["what"] == what]

    async def heard(self, what: str, count: int = 1) -> dict[str, Any]:
        """The latest report of a kind, once there are so many."""

        async def enough() -> bool:
            return len(self.of(what)) >= count

        await eventually(enough)
        return self.of(what)[-1]

    async def becomes(self, what: str, value: object) -> None:
        """Waits until the latest report of a kind has a value; an app in memory may leave out values between."""

        async def has() -> bool:
            return bool(self.of(what)) and self.of(what)[-1].get("value") == value

        await eventually(has)


@contextmanager
def witness() -> Iterator[Reports]:
    """An HTTP server that takes the reports of the practice app."""
    reports = Reports()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            reports.all.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    reports.url = f"http://127.0.0.1:{server.server_port}/w"
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield reports
    finally:
        server.shutdown()
        server.server_close()
