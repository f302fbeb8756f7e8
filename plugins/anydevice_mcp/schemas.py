"""Schemas and annotations of a tool, made from its command's descriptor. Pure data; nothing of the SDK.

Only what every host can read is published: flat objects, no `$ref`, no union at the root of an input, no type
arrays. Every selector and switch is accepted whether it is published or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anydevice_schemas import DEVICE_TARGETS, Command

from .shortening import shortened

TARGETS = list(DEVICE_TARGETS)
SCOPED: frozenset[str] = frozenset({"devices", "open"})
"""Tools that publish `platform` and `deviceTarget` even by default: they are where a device is chosen."""

EVENT_TOOL = "trigger-app-event"


def input_schema(command: Command, *, full: bool, platforms: Iterable[str]) -> dict[str, Any]:
    """The inputs a tool publishes: the command's own first, then selectors and switches.

    Args:
        command: The descriptor.
        full: Every selector and switch, instead of `device` and `session`.
        platforms: Words `platform` may be.
    """
    own: dict[str, Any] = dict(command.input_schema.get("properties", {}))
    if command.name == EVENT_TOOL:
        full = True  # a tool clients know by its whole schema
    properties = dict(own) if full else shortened(command.name, own)
    wider = _every_selector(platforms) if full else _two_selectors(command, platforms)
    if command.selectors:
        properties |= {name: prop for name, prop in wider.items() if name not in properties}
    if full and not command.selectors:
        properties |= {name: prop for name, prop in _SWITCHES.items() if name not in properties}
    if command.confirm:
        properties["confirmToken"] = {"type": "string", "description": "Token of a confirmation_required answer."}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if command.input_schema.get("required"):
        schema["required"] = list(command.input_schema["required"])
    if full:
        schema["additionalProperties"] = False
    return schema


def _two_selectors(command: Command, platforms: Iterable[str]) -> dict[str, Any]:
    chosen: dict[str, Any] = {
        "device": {"type": "string", "description": "Id or name"},
        "session": {"type": "string", "description": "Name"},
    }
    if command.name in SCOPED:
        chosen["platform"] = {"type": "string", "enum": list(platforms), "description": "Only this one"}
        chosen["deviceTarget"] = {"type": "string", "enum": TARGETS, "description": "Only this form"}
    return chosen


def _every_selector(platforms: Iterable[str]) -> dict[str, Any]:
    return {
        "session": {"type": "string", "description": "Session to work in."},
        "platform": {
            "type": "string",
            "enum": list(platforms),
            "description": "Only devices of this platform; ios and macos narrow apple.",
        },
        "deviceTarget": {"type": "string", "enum": TARGETS, "description": "Only devices of this form."},
        "target": {
            "type": "string",
            "enum": TARGETS,
            "description": "Another name of deviceTarget, where target is not an element.",
        },
        "device": {"type": "string", "description": "Device by id, or by its unique name."},
        "udid": {"type": "string", "description": "Apple device or simulator by UDID."},
        "serial": {"type": "string", "description": "Android, HarmonyOS or Vega device by serial."},
        "androidDeviceAllowlist": {
            "type": "string",
            "description": "Android serials that may be used, separated by space or comma.",
        },
        "tenant": {"type": "string", "description": "Tenant to act for."},
        "runId": {"type": "string", "description": "Run the lease belongs to."},
        "leaseId": {"type": "string", "description": "Lease to act under."},
        **_SWITCHES,
    }


_SWITCHES: dict[str, Any] = {
    "debug": {"type": "boolean", "description": "Add diagnostics to the answer."},
    "noRecord": {"type": "boolean", "description": "Leave this call out of the replay journal."},
    "mcpOutputFormat": {
        "type": "string",
        "enum": ["optimized", "json"],
        "description": "Text of the answer: compact, or JSON.",
    },
    "includeCost": {"type": "boolean", "description": "Add what the call took to the answer."},
    "responseLevel": {
        "type": "string",
        "enum": ["digest", "default", "full"],
        "description": "How much the answer says.",
    },
}


def output_schema(command: Command, *, full: bool) -> dict[str, Any]:
    """What structured content a tool's results have, success and error alike.

    Clients on the TypeScript SDK's first line check it on errors too, so it admits both; nothing is required
    at the root. By default only the common fields are described; in full mode, the command's own as well.
    """
    own: Mapping[str, Any] = command.output_schema.get("properties", {})
    schema: dict[str, Any] = {"type": "object"}
    if full or command.name == EVENT_TOOL:
        schema["properties"] = {name: prop for name, prop in own.items() if name not in _ENVELOPE} | _ENVELOPE
    branches = _branches(command, own)
    return schema | {"anyOf": [*branches, {"required": ["error"]}]} if branches else schema


def _branches(command: Command, own: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a success has for certain: the device that acted; of a host command, one of its outputs."""
    if command.name == EVENT_TOOL:
        return [{"required": ["event", "eventUrl", "transport", "message"]}]
    if command.scope == "device":
        return [{"required": ["device"]}]
    return [{"required": [name]} for name in own]


_ENVELOPE: dict[str, Any] = {
    "device": {"type": "string", "description": "The device that acted."},
    "verified": {"type": "boolean", "description": "Read back and seen."},
    "error": {"type": "object", "description": "code, message, retryable, hint, details."},
}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def fits(command: Command, name: str, value: Any) -> bool:
    """Whether a top-level result field is what the full output schema says of it."""
    declared = command.output_schema.get("properties", {}).get(name)
    if not isinstance(declared, Mapping):
        return True
    if "const" in declared and value != declared["const"]:
        return False
    kind = declared.get("type")
    wanted = _TYPES.get(kind) if isinstance(kind, str) else None
    if wanted is None:
        return True
    return isinstance(value, wanted) and (kind == "boolean" or not isinstance(value, bool))


def hints(command: Command) -> dict[str, bool]:
    """All four hints, as the descriptor has them.

    A command that needs a confirmation in some cases may destroy something, so it says so.
    """
    reads = command.effect == "read"
    return {
        "readOnlyHint": reads,
        "destructiveHint": command.effect == "destroy" or (not reads and bool(command.confirm)),
        "idempotentHint": reads or command.idempotent,
        "openWorldHint": command.leaves_device,
    }
