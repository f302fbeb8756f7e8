"""Tools, prompts and resources that ask nobody anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anyio
import mcp_types as types

from anydevice_mcp import Feature

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

NOTHING: dict[str, Any] = {"type": "object", "properties": {}}

WHOLE_VOCABULARY: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""Everything of JSON Schema 2020-12 that must pass through a list unharmed."""

HEADERS: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "description": "Repeated in a header", "x-mcp-header": "Region"}},
}

TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "test_simple_text": ("Returns text.", NOTHING),
    "test_image_content": ("Returns a picture.", NOTHING),
    "test_audio_content": ("Returns sound.", NOTHING),
    "test_embedded_resource": ("Returns an embedded resource.", NOTHING),
    "test_multiple_content_types": ("Returns text, a picture and a resource.", NOTHING),
    "test_tool_with_logging": ("Logs while it works.", NOTHING),
    "test_logging_tool": ("Logs, where the request asks for it.", NOTHING),
    "test_tool_with_progress": ("Tells progress.", NOTHING),
    "test_error_handling": ("Fails.", NOTHING),
    "test_missing_capability": ("Needs a client that samples.", NOTHING),
    "test_trigger_tool_change": ("The list of tools changes.", NOTHING),
    "test_trigger_prompt_change": ("The list of prompts changes.", NOTHING),
    "test_custom_headers": ("Takes an argument that a header repeats.", HEADERS),
    "json_schema_2020_12_tool": ("Has a schema of the whole vocabulary.", WHOLE_VOCABULARY),
}

PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}

RESOURCES: dict[str, str] = {
    "test://static-text": "text/plain",
    "test://static-binary": "image/png",
    "test://watched-resource": "text/plain",
}
TEMPLATE = "test://template/{id}/data"


def text(words: str) -> types.TextContent:
    """A part of a result."""
    return types.TextContent(type="text", text=words)


def said(*parts: Any, failed: bool = False) -> types.CallToolResult:
    """A result."""
    return types.CallToolResult(content=[text(part) if isinstance(part, str) else part for part in parts],
                                is_error=failed)  # fmt: skip


def tools_of(table: dict[str, tuple[str, dict[str, Any]]]) -> list[types.Tool]:
    """Definitions from names, words and schemas."""
    return [
        types.Tool(name=name, description=words, input_schema=schema) for name, (words, schema) in sorted(table.items())
    ]


def held(uri: str, mime: str, words: str) -> types.EmbeddedResource:
    """An embedded resource."""
    return types.EmbeddedResource(
        type="resource", resource=types.TextResourceContents(uri=uri, mime_type=mime, text=words)
    )


PICTURE = types.ImageContent(type="image", data=PNG, mime_type="image/png")
PLAIN: dict[str, types.CallToolResult] = {
    "test_simple_text": said("This is a simple text response for testing."),
    "test_image_content": said(PICTURE),
    "test_audio_content": said(types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")),
    "test_embedded_resource": said(
        held("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": said(
        "Multiple content types test:",
        PICTURE,
        held("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
    "test_error_handling": said("This tool intentionally returns an error for testing", failed=True),
}


class Contents(Feature):
    """What needs no answer of the client."""

    name = "official-contents"

    async def tools(self, ctx: Any) -> Sequence[types.Tool]:
        return tools_of(TOOLS)

    async def call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult | None:
        name, arguments = params.name, params.arguments or {}
        if name in PLAIN:
            return PLAIN[name]
        if name in ("test_tool_with_logging", "test_logging_tool"):
            for step in ("started", "processing", "completed"):
                await ctx.session.send_log_message("info", f"Tool execution {step}", related_request_id=ctx.request_id)
                await anyio.sleep(0.02)
            return said("Logged.")
        if name == "test_tool_with_progress":
            for done in (0, 50, 100):
                await ctx.session.report_progress(done, 100, f"Completed step {done} of 100")
                await anyio.sleep(0.02)
            return said("Done.")
        if name == "test_missing_capability":
            return _sampled(ctx)
        if name in ("test_trigger_tool_change", "test_trigger_prompt_change"):
            self.host.changed("tools" if "tool" in name.removeprefix("test_trigger_") else "prompts")
            return said("Changed.")
        if name in TOOLS:
            return said(f"{name} was called with {json.dumps(arguments, sort_keys=True)}")
        return None

    async def resources(self, ctx: Any) -> Sequence[types.Resource]:
        return [
            types.Resource(uri=uri, name=uri.removeprefix("test://"), mime_type=mime) for uri, mime in RESOURCES.items()
        ]

    async def templates(self, ctx: Any) -> Sequence[types.ResourceTemplate]:
        return [types.ResourceTemplate(uri_template=TEMPLATE, name="template", mime_type="application/json")]

    async def read(self, ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult | None:
        uri = str(params.uri)
        head, tail = TEMPLATE.split("{id}")
        contents: types.TextResourceContents | types.BlobResourceContents
        if uri == "test://static-binary":
            contents = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
        elif uri in RESOURCES:
            contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text=f"Content of {uri}.")
        elif uri.startswith(head) and uri.endswith(tail):
            number = uri.removeprefix(head).removesuffix(tail)
            words = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
            contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=words)
        else:
            return None
        return types.ReadResourceResult(contents=[contents])

    async def prompts(self, ctx: Any) -> Sequence[types.Prompt]:
        return [
            types.Prompt(
                name=name,
                description=f"{name}.",
                arguments=[types.PromptArgument(name=each, description=each, required=True) for each in arguments],
            )
            for name, arguments in PROMPTS.items()
        ]

    async def prompt(self, ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult | None:
        given = params.arguments or {}
        parts: list[Any]
        if params.name == "test_simple_prompt":
            parts = [text("This is a simple prompt for testing.")]
        elif params.name == "test_prompt_with_arguments":
            parts = [text("Prompt with arguments: " + ", ".join(f"{name}='{value}'" for name, value in given.items()))]
        elif params.name == "test_prompt_with_embedded_resource":
            parts = [
                held(given["resourceUri"], "text/plain", "Embedded resource content for testing."),
                text("Please process the embedded resource above."),
            ]
        elif params.name == "test_prompt_with_image":
            parts = [PICTURE, text("Please analyze the image above.")]
        else:
            return None
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=part) for part in parts])

    async def complete(self, ctx: Any, params: types.CompleteRequestParams) -> types.Completion | None:
        if not isinstance(params.ref, types.PromptReference) or params.ref.name not in PROMPTS:
            return None
        return types.Completion(values=[params.argument.value + "-completed"], total=1, has_more=False)


def _sampled(ctx: Any) -> types.CallToolResult:
    from mcp.shared.exceptions import MCPError

    able = ctx.session.client_capabilities
    if able is None or able.sampling is None:
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This tool needs a client that can sample.",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return said("The client can sample.")
