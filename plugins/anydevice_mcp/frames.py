"""One JSON value from the wire to one JSON-RPC message, or to the error that answers it.

The SDK's own reader drops what it cannot read; a client that sent it would wait for ever. Here every line is
either a message or an error (JSON-RPC 2.0, section 5.1): -32700 where there is no JSON, -32600 where there is JSON
but no message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

import mcp_types as types
from pydantic_core import from_json, to_json

Id = int | float | str
Message = types.JSONRPCRequest | types.JSONRPCNotification | types.JSONRPCResponse | types.JSONRPCError

BUSY = -32005
"""Ours, from the range left to implementations: too many requests of one connection are in flight."""


class Malformed(Exception):
    """A line that is no message.

    Attributes:
        code: JSON-RPC error code.
        id: Id of the request, where one could be made out.
        data: What else the error says.
    """

    def __init__(self, code: int, message: str, id: Id | None = None, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id
        self.data = data

    def reply(self) -> dict[str, Any]:
        """The error response."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data:
            error["data"] = dict(self.data)
        return {"jsonrpc": "2.0", "id": self.id, "error": error}


def decode(line: bytes) -> Any:
    """The JSON value of a line.

    Raises:
        Malformed: It is not JSON in UTF-8, or nested beyond all reason.
    """
    try:
        return from_json(line, allow_inf_nan=False)
    except ValueError as error:
        # The parser's words name a position and a character class, nothing of the content.
        raise Malformed(types.PARSE_ERROR, f"Parse error: {error}", _asked_by(line)) from None


def _asked_by(line: bytes) -> Id | None:
    """Id of the request in a line that is JSON but for what its texts hold (half a character, say): it is answered."""
    try:
        value = json.loads(line)
        id = value.get("id") if isinstance(value, dict) and "method" in value else None
        if not is_id(id):
            return None
        to_json(id)  # an id that is half a character itself cannot be sent back
    except (ValueError, RecursionError):
        return None
    return id


def encode(message: Any) -> bytes:
    """A JSON value as one line, with its end."""
    return to_json(message) + b"\n"


def is_id(value: Any) -> bool:
    """Whether a value may be the id of a request: a string or a number (MCP forbids null)."""
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, str | int) and not isinstance(value, bool)


def read_message(value: Any) -> Message:
    """The message a JSON value is. The id of a request may still be a float (see `wire.Wire`).

    Raises:
        Malformed: It is no JSON-RPC 2.0 message, or its params are not an object as MCP demands.
    """
    if not isinstance(value, dict):
        raise Malformed(types.INVALID_REQUEST, "Invalid request: a message is a JSON object.")
    given = value.get("id")
    known = given if is_id(given) else None
    if value.get("jsonrpc") != "2.0":
        raise Malformed(types.INVALID_REQUEST, 'Invalid request: "jsonrpc" must be "2.0".', known)
    if "method" in value:
        return _call(value, known)
    if known is not None and "result" in value and "error" not in value:
        if not isinstance(value["result"], dict):
            raise Malformed(types.INVALID_REQUEST, 'Invalid response: "result" must be an object.')
        return types.JSONRPCResponse.model_construct(jsonrpc="2.0", id=known, result=value["result"])
    if "error" in value and "result" not in value and ("id" in value and (known is not None or given is None)):
        return types.JSONRPCError.model_construct(jsonrpc="2.0", id=known, error=_error(value["error"]))
    raise Malformed(types.INVALID_REQUEST, 'Invalid request: neither "method" nor a response.', known)


def _call(value: dict[str, Any], known: Any) -> types.JSONRPCRequest | types.JSONRPCNotification:
    method, params = value["method"], value.get("params")
    if "id" in value and known is None:
        raise Malformed(types.INVALID_REQUEST, 'Invalid request: "id" must be a string or a number.')
    if not isinstance(method, str):
        raise Malformed(types.INVALID_REQUEST, 'Invalid request: "method" must be a string.', known)
    if params is not None and not isinstance(params, dict):
        raise Malformed(types.INVALID_PARAMS, 'Invalid params: "params" must be an object.', known)
    fields: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        fields["params"] = params
    if "id" in value:
        return types.JSONRPCRequest.model_construct(**fields, id=known)
    return types.JSONRPCNotification.model_construct(**fields)


def _error(value: Any) -> types.ErrorData:
    if not isinstance(value, dict) or not isinstance(value.get("code"), int):
        raise Malformed(types.INVALID_REQUEST, 'Invalid response: "error" must be an object with a code.')
    return types.ErrorData(code=value["code"], message=str(value.get("message", "")), data=value.get("data"))
