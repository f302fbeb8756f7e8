"""Questions by unfinished results: the client asks its user, and calls again (2026-07-28)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import mcp_types as types

from anydevice_mcp import Feature

from .contents import NOTHING, said, tools_of

Given = dict[str, Any]
Result = types.CallToolResult | types.InputRequiredResult

PREFIX = "test_input_required_result_"
PROMPT = PREFIX + "prompt"


def form(message: str, **fields: str) -> types.ElicitRequest:
    """A question with a form: names of its fields and their types."""
    properties: Any = {name: {"type": kind} for name, kind in fields.items()}
    schema: Any = {"type": "object", "properties": properties, "required": list(fields)}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(words: str) -> types.CreateMessageRequest:
    """A question for the client's model."""
    asked = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=words))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[asked], max_tokens=50))


def more(state: Any = None, **requests: Any) -> types.InputRequiredResult:
    """An unfinished result."""
    return types.InputRequiredResult(
        input_requests=requests, request_state=None if state is None else json.dumps(state)
    )


def filled(answer: Any, field: str) -> str:
    """A field of a form that came back."""
    return str((getattr(answer, "content", None) or {}).get(field, "unknown"))


def heard(answer: Any) -> str:
    """What the client's model said."""
    content = getattr(answer, "content", None)
    return str(getattr(content, "text", "nothing"))


def elicitation(given: Given, state: Any, able: Any) -> Result:
    if "user_name" not in given:
        return more(user_name=form("What is your name?", name="string"))
    return said(f"Hello, {filled(given['user_name'], 'name')}!")


def sampling(given: Given, state: Any, able: Any) -> Result:
    if "sample_request" not in given:
        return more(sample_request=sample("What is the capital of France?"))
    return said(f"Sampling result: {heard(given['sample_request'])}")


def list_roots(given: Given, state: Any, able: Any) -> Result:
    if "roots_request" not in given:
        return more(roots_request=types.ListRootsRequest())
    return said(f"Found {len(given['roots_request'].roots)} root(s)")


def request_state(given: Given, state: Any, able: Any) -> Result:
    if state is None or "confirm" not in given:
        return more({"kind": "request-state"}, confirm=form("Please confirm", ok="boolean"))
    return said("state-ok: requestState validated")


def multiple_inputs(given: Given, state: Any, able: Any) -> Result:
    if state is None or not {"user_name", "greeting", "client_roots"} <= set(given):
        return more(
            {"kind": "multiple-inputs"},
            user_name=form("What is your name?", name="string"),
            greeting=sample("Generate a greeting"),
            client_roots=types.ListRootsRequest(),
        )
    return said(f"Name: {filled(given['user_name'], 'name')}; Greeting: {heard(given['greeting'])}")


def multi_round(given: Given, state: Any, able: Any) -> Result:
    if state is not None and state["round"] == 1 and "step1" in given:
        return more(
            {"round": 2, "name": filled(given["step1"], "name")},
            step2=form("Step 2: What is your favorite color?", color="string"),
        )
    if state is not None and state["round"] == 2 and "step2" in given:
        return said(f"Multi-round complete for {state['name']} who likes {filled(given['step2'], 'color')}")
    return more({"round": 1}, step1=form("Step 1: What is your name?", name="string"))


def tampered_state(given: Given, state: Any, able: Any) -> Result:
    if state is None or "confirm" not in given:
        return more({"kind": "tamper-test"}, confirm=form("Please confirm", ok="boolean"))
    return said("integrity-ok: state verified")


def capabilities(given: Given, state: Any, able: Any) -> Result:
    if given:
        return said(f"capabilities-ok: received {', '.join(given)}")
    asked: dict[str, Any] = {}
    if able is not None and able.elicitation is not None:
        asked["elicit_input"] = form("Elicitation input", value="string")
    if able is not None and able.sampling is not None:
        asked["sample_input"] = sample("Sample request")
    return more({"kind": "capabilities"}, **asked) if asked else said("No supported capabilities declared")


def streaming(given: Given, state: Any, able: Any) -> Result:
    if "confirm" not in given:
        return more(confirm=form("Please confirm", ok="boolean"))
    return said("Streaming complete")


ROUNDS: dict[str, Callable[[Given, Any, Any], Result]] = {
    PREFIX + each.__name__: each
    for each in (elicitation, sampling, list_roots, request_state, multiple_inputs, multi_round, tampered_state,
                 capabilities)
} | {"test_streaming_elicitation": streaming}  # fmt: skip


class Rounds(Feature):
    """Asks by unfinished results. The facade seals the state, so it can be plain here."""

    name = "official-rounds"

    async def tools(self, ctx: Any) -> Sequence[types.Tool]:
        return tools_of({name: ("Asks by an unfinished result.", NOTHING) for name in ROUNDS})

    async def call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> Result | None:
        if params.name not in ROUNDS:
            return None
        state = None if params.request_state is None else json.loads(params.request_state)
        return ROUNDS[params.name](dict(params.input_responses or {}), state, ctx.session.client_capabilities)

    async def prompts(self, ctx: Any) -> Sequence[types.Prompt]:
        return [types.Prompt(name=PROMPT, description="Asks for its context.")]

    async def prompt(
        self, ctx: Any, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult | None:
        if params.name != PROMPT:
            return None
        given = params.input_responses or {}
        if "user_context" not in given:
            return more(user_context=form("What context should the prompt use?", context="string"))
        words = f"Prompt with context: {filled(given['user_context'], 'context')}"
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=words))
        return types.GetPromptResult(messages=[message])
