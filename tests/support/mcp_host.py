"""A host of an MCP server: lines of JSON-RPC on a program's stdin and stdout, and nothing of the SDK."""

from __future__ import annotations

import fcntl
import json
import struct
import subprocess
import sys
import termios
import threading
import time
from typing import Any

from .daemons import PATIENCE

REVISION = "2025-06-18"
MODERN = "2026-07-28"


class McpHost:
    """Speaks to one server process.

    Attributes:
        lines: Everything it ever said, decoded; None for a line that is no JSON.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: list[Any] = []
        self._changed = threading.Condition()
        self._number = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            with self._changed:
                self.lines.append(message)
                self._changed.notify_all()

    def send(self, method: str, params: Any = None, *, id_: Any = None) -> None:
        """Sends a request, or a notification when there is no id."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if id_ is not None:
            message["id"] = id_
        if params is not None:
            message["params"] = params
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def taken(self) -> bool:
        """Whether the server has read everything it was sent (Linux tells; elsewhere it is assumed)."""
        if not sys.platform.startswith("linux"):
            return True
        assert self.process.stdin is not None
        left = fcntl.ioctl(self.process.stdin, termios.FIONREAD, struct.pack("i", 0))
        return bool(struct.unpack("i", left)[0] == 0)

    def answers(self, id_: Any) -> list[dict[str, Any]]:
        """Every answer to an id so far; one is right."""
        with self._changed:
            return [line for line in self.lines if isinstance(line, dict) and line.get("id") == id_]

    def answer(self, id_: Any, seconds: float = PATIENCE) -> dict[str, Any]:
        """The answer to an id, waited for."""
        until = time.monotonic() + seconds
        with self._changed:
            while True:
                found = [line for line in self.lines if isinstance(line, dict) and line.get("id") == id_]
                if found:
                    return found[0]
                left = until - time.monotonic()
                assert left > 0, f"no answer to {id_!r} within {seconds:g} s: {self.lines[-5:]}"
                self._changed.wait(left)

    def begin(self, method: str, params: Any = None) -> int:
        """Sends a request and returns its id."""
        self._number += 1
        self.send(method, params, id_=self._number)
        return self._number

    def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """Sends a request and waits for its answer."""
        return self.answer(self.begin(method, params))

    def hello(self) -> dict[str, Any]:
        """The handshake of the earlier revisions."""
        told = self.ask(
            "initialize",
            {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
        )
        self.send("notifications/initialized")
        result: dict[str, Any] = told["result"]
        return result

    def begin_call(self, tool: str, **arguments: Any) -> int:
        """Starts a tool call and returns its id."""
        return self.begin("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A tool call; its result, whether the tool succeeded or not."""
        told = self.answer(self.begin_call(tool, **arguments))
        assert "result" in told, told
        result: dict[str, Any] = told["result"]
        return result

    def end(self) -> int:
        """Ends the conversation; returns the server's exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code
