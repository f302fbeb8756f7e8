"""Questions in the middle of a call, as the revisions with a handshake have them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import mcp_types as types

from anydevice_mcp import Feature

from .contents import NOTHING, said, tools_of

TITLED = [("value1", "First"), ("value2", "Second"), ("value3", "Third")]
WORDS = ["option1", "option2", "option3"]

DEFAULTS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {
            "type": "string",
            "description": "User status",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "description": "Verification status", "default": True},
    },
    "required": [],
}

ENUMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": WORDS},
        "titledSingle": {"type": "string", "oneOf": [{"const": w, "title": f"{t} Option"} for w, t in TITLED]},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "enum": WORDS}},
        "titledMulti": {
            "type": "array",
            "minItems": 1,
            "maxItems": 3,
            "items": {"anyOf": [{"const": w, "title": f"{t} Choice"} for w, t in TITLED]},
        },
    },
    "required": [],
}

RESPONSE: dict[str, Any] = {
    "type": "object",
    "properties": {"response": {"type": "string", "description": "User's response"}},
    "required": ["response"],
}

FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "test_elicitation": ("", RESPONSE),
    "test_elicitation_sep1034_defaults": ("Please review and update the form fields with defaults", DEFAULTS),
    "test_elicitation_sep1330_enums": ("Please select options from the enum fields", ENUMS),
}


def _takes(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string", "description": "Words"}}, "required": [name]}


TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "test_sampling": ("Has the client's model say something.", _takes("prompt")),
    "test_elicitation": ("Asks the user something.", _takes("message")),
    "test_elicitation_sep1034_defaults": ("Asks with defaults.", NOTHING),
    "test_elicitation_sep1330_enums": ("Asks with every kind of choice.", NOTHING),
}


class Asking(Feature):
    """Asks the client in the middle of a call."""

    name = "official-asking"

    async def tools(self, ctx: Any) -> Sequence[types.Tool]:
        return tools_of(TOOLS)

    async def call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult | None:
        given = params.arguments or {}
        if params.name == "test_sampling":
            asked = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=given["prompt"]))
            heard = await ctx.session.create_message([asked], max_tokens=100, related_request_id=ctx.request_id)
            return said(f"LLM response: {getattr(heard.content, 'text', '')}")
        if params.name not in FORMS:
            return None
        words, schema = FORMS[params.name]
        answer = await ctx.session.elicit_form(words or given["message"], schema, related_request_id=ctx.request_id)
        return said(f"User response: action={answer.action}, content={json.dumps(answer.content or {})}")
