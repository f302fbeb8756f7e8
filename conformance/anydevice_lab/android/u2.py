"""The accessibility server that `u2.jar` starts: JSON-RPC over HTTP on a port of the device.

It holds the one slot for automation while it runs. Started over the newer shell protocol it ends with its stream.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio

from ..guest.http import HttpServer, reply
from .commands.uiautomator import REGISTERED
from .programs import Invocation
from .transport import StreamClosed
from .u2_elements import RpcError
from .u2_methods import METHODS

if TYPE_CHECKING:
    from .device import LabDevice

PORT = 9008
HELLO = "[server] INFO: [UiAutomator2Server] Starting Server\n"


async def run(call: Invocation) -> int:
    """Serves until it is ended."""
    words, device = list(call.args), call.device
    port = int(words[words.index("-p") + 1]) if "-p" in words else PORT
    await call.out(HELLO)
    if device.machine.held or device.faults.active("registered") is not None:
        await call.out(REGISTERED)
        return 1
    address = f"tcp:{port}"
    server = Server(device)
    if not device.ports.listen(address, server.serve):
        await call.out("java.net.BindException: bind failed: EADDRINUSE (Address already in use)\n")
        return 1
    device.machine.held = f"com.wetest.uia2 pid={call.pid}"
    device.journal.add("u2", port=port, running=True)
    try:
        await call.interrupted.wait()
        return 130
    finally:
        device.ports.close(address)
        device.machine.held = ""
        server.end()
        device.journal.add("u2", port=port, running=False)


class Server(HttpServer):
    """Answers requests of any number of connections.

    Attributes:
        idle_timeout: Seconds it waits for a screen that does not rest; 10 as long as nobody says otherwise.
    """

    def __init__(self, device: LabDevice) -> None:
        super().__init__()
        self.device = device
        self.idle_timeout = 10.0

    async def answer(self, line: str, body: bytes) -> bytes:
        """The whole answer to a request."""
        verb, path, *_ = [*line.split(), "", ""]
        if (verb, path) == ("GET", "/ping"):
            return reply(b"pong", "text/plain")
        if (verb, path) == ("POST", "/jsonrpc/0"):
            return reply(json.dumps(await self._call(body), ensure_ascii=False).encode(), "application/json")
        return reply(b"Not Found", "text/plain", "404 Not Found")

    async def _call(self, body: bytes) -> dict[str, Any]:
        try:
            request = json.loads(body)
            name, params, number = request["method"], request.get("params") or [], request.get("id")
        except (ValueError, KeyError, TypeError):
            return {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        method = METHODS.get(name)
        self.device.journal.add("rpc", method=name)
        if method is None:
            return answer | {"error": {"code": -32601, "message": "method not found", "data": None}}
        if self.device.faults.active("u2_hang", name) is not None:
            await anyio.sleep_forever()
        values = list(params.values()) if isinstance(params, dict) else params
        try:
            done = await method(self, *values)
            if self.device.faults.active("u2_cut", name) is not None:
                raise StreamClosed
            return answer | {"result": done}
        except RpcError as error:
            return answer | {"error": {"code": -32001, "message": str(error), "data": "at com.wetest.uia2.stub"}}
        except (TypeError, ValueError, IndexError) as error:
            return answer | {"error": {"code": -32602, "message": f"method parameters invalid: {error}", "data": None}}
