"""The automation toolkit: JSON-RPC 2.0 over HTTP on a port of the device.

It listens once an app was launched while its flag was there, and tells only of apps that were.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import anyio

from ..guest.http import HttpServer, reply
from ..guest.shell import PipeClosed
from .source import Item, look

if TYPE_CHECKING:
    from .device import VegaDevice

PORT = 8383
WRONG = itertools.count(7_000_000_000)
"""Ids that no element has."""


class ToolkitError(Exception):
    """What a method answers as an error."""


class Toolkit(HttpServer):
    """Answers requests of any number of connections.

    Attributes:
        device: Whose screen it tells of.
        pointers: What each pointer is to do when `perform` is called, by its id.
    """

    def __init__(self, device: VegaDevice) -> None:
        super().__init__()
        self.device = device
        self.pointers: dict[str, list[dict[str, Any]]] = {}

    async def answer(self, line: str, body: bytes) -> bytes:
        """The whole answer to a request."""
        verb, path, *_ = [*line.split(), "", ""]
        if (verb, path) == ("POST", "/jsonrpc"):
            return reply(json.dumps(await self._call(body), ensure_ascii=False).encode(), "application/json")
        return reply(b"Not Found", "text/plain", "404 Not Found")

    async def _call(self, body: bytes) -> dict[str, Any]:
        from .toolkit_methods import METHODS

        try:
            request = json.loads(body)
            name, params, number = request["method"], request.get("params") or {}, request.get("id")
        except (ValueError, KeyError, TypeError, AttributeError):
            return {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        method, faults = METHODS.get(name), self.device.faults
        self.device.journal.add("rpc", method=name, params={k: v for k, v in params.items() if k != "text"})
        if method is None:
            return answer | {"error": {"code": -32601, "message": f"Method not found: {name}"}}
        if faults.active("toolkit_hang", name) is not None:
            await anyio.sleep_forever()
        if (slow := faults.active("toolkit_slow", name)) is not None:
            await anyio.sleep(slow.seconds)
        await self._until_it_answers()
        try:
            done = await method(self, **params)
        except ToolkitError as error:
            return answer | {"error": {"code": -32000, "message": str(error)}}
        except (TypeError, ValueError, KeyError) as error:
            return answer | {"error": {"code": -32602, "message": f"Invalid params: {error}"}}
        if faults.active("toolkit_cut", name) is not None:
            raise PipeClosed
        return answer | {"result": done}

    async def _until_it_answers(self) -> None:
        """An app that answers nothing holds up whoever asks of it."""
        practice = self.device.machine.practice
        while practice.frozen_for and self.device.machine.front.screen is practice:  # noqa: ASYNC110
            await anyio.sleep(min(practice.frozen_for, 0.2))

    def items(self) -> list[Item]:
        """What is on the screen now."""
        by_selected = self.device.faults.active("focus_by_selected") is not None
        return look(self.device.machine, by_selected=by_selected)

    def item(self, id: Any) -> Item:
        """The element of an id.

        Raises:
            ToolkitError: There is none.
        """
        wanted = int(id)
        for top in self.items():
            for item in top.walk():
                if item.id == wanted and item.tag != "app":
                    return item
        raise ToolkitError(f"Element not found: {wanted}")
