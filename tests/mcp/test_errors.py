"""Errors: always structured, always told what next, never thrown away by a client that checks output schemas."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from anydevice.router import Router
from anydevice_mcp.published import definitions
from anydevice_schemas.errors import ERRORS

from .clients import HANDSHAKE, MODERN, Bare, connected, text_of
from .conftest import Watched

pytestmark = pytest.mark.anyio


async def opened(stream: Any, era: str = MODERN) -> Bare:
    client = Bare(stream)
    await client.hello(era)
    return client


@pytest.mark.parametrize("code", sorted(ERRORS))
async def test_every_error_passes_the_output_schema_of_every_tool(router: Router, code: str) -> None:
    """Clients on the TypeScript SDK's first line throw a result away whose structure does not fit, errors too."""
    details = {name: f"some {name}" for name in ERRORS[code].recovery}
    schemas = {
        (mode, tool["name"]): tool["outputSchema"]
        for mode in ("default", "full")
        for tool in definitions(router.services.catalogue, mode)  # type: ignore[arg-type]
        if "outputSchema" in tool
    }
    assert len(schemas) > 40
    async with connected(router) as stream:
        client = await opened(stream)
        result = await client.call("test-fail", code=code, details=details)
    assert result["isError"] is True
    structure = result["structuredContent"]
    for schema in schemas.values():
        jsonschema.validate(structure, schema)
    error = structure["error"]
    assert error["code"] == code and error["message"] == "It did not work."
    assert error["retryable"] is ERRORS[code].retryable_default
    assert error["hint"] == ERRORS[code].hint_default
    for name, value in details.items():
        assert error["details"][name] == value


@pytest.mark.parametrize("code", ["element_not_found", "lease_held", "invalid_argument", "internal"])
async def test_the_text_of_an_error_says_what_and_what_next_and_the_details(router: Router, code: str) -> None:
    details = {name: [f"some {name}"] for name in ERRORS[code].recovery}
    async with connected(router) as stream:
        client = await opened(stream)
        result = await client.call("test-fail", code=code, details=details)
    lines = text_of(result).splitlines()
    assert lines[0] == f"{code}: It did not work."
    assert lines[1] == f"Hint: {ERRORS[code].hint_default}"
    assert lines[2] == f"Retryable: {str(ERRORS[code].retryable_default).lower()}"
    found = [json.loads(line) for line in lines[3:] if line.startswith("{")]
    assert len(found) == (2 if code == "lease_held" else 1)  # who holds it is not our word, until when is
    assert {name: value for part in found for name, value in part.items()} == (
        result["structuredContent"]["error"]["details"]
    )


async def test_an_unknown_tool_is_a_protocol_error_with_the_nearest_names(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(stream, HANDSHAKE[-1])
        for name, near in (("snapshott", "snapshot"), ("long-press", "longpress"), ("tool_\u202e\n", None)):
            error = (await client.ask("tools/call", {"name": name, "arguments": {}}))["error"]
            assert error["code"] == -32602
            assert near is None or (near in error["message"] and near in error["data"]["nearest"])
            assert "\n" not in error["message"] and "\u202e" not in error["message"]


async def test_a_command_that_is_not_listed_works_when_called_by_its_name(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        names = {tool["name"] for tool in (await client.ask("tools/list"))["result"]["tools"]}
        assert not names & {"appstate", "capabilities", "test-show"}
        assert (await client.call("appstate", device="fake-1"))["structuredContent"]["app"] == "practice"
        assert (await client.call("test_show", data={"a": 1}))["structuredContent"]["a"] == 1
        run = await client.call("command-run", name="test-show", arguments={"data": {"a": 2}, "verified": True})
        assert run["structuredContent"] == {"verified": True, "a": 2, "untrusted": "test-show"}
        assert text_of(run).startswith("test-show; verified: true")


async def test_switches_of_command_run_reach_the_command_it_runs(router: Router, watched: Watched) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        run = {"name": "appstate", "arguments": {"device": "fake-1"}}
        result = await client.call("command-run", **run, includeCost=True, mcpOutputFormat="json", responseLevel="full")
        answer = json.loads(text_of(result))
        assert answer["cost"]["roundTrips"] >= 1 and answer["selection"]["by"]
        asked = await client.call("command-run", name="test-wipe")
        token = asked["structuredContent"]["error"]["details"]["token"]
        router.services.policy.approve(token)
        done = await client.call("command-run", name="test-wipe", confirmToken=token)
        assert done["isError"] is False and watched.ended == ["wipe"]


async def test_bad_arguments_are_a_result_that_tells_all_problems_at_once(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        result = await client.call("press", targt="x", count="two", responseLevel="loud")
        error = result["structuredContent"]["error"]
        assert result["isError"] and error["code"] == "invalid_argument"
        assert {problem["param"] for problem in error["details"]["errors"]} == {"targt", "count", "responseLevel"}
        assert "target" in json.dumps(error["details"])
        nothing = await client.ask("tools/call", {"name": "command-search"})
        assert nothing["result"]["structuredContent"]["error"]["details"]["param"] == "words"
        null = await client.ask("tools/call", {"name": "test-show", "arguments": None})
        assert null["result"]["isError"] is False


async def test_a_crash_tells_an_incident_and_nothing_of_the_inside(router: Router) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        result = await client.call("test-crash")
        error = result["structuredContent"]["error"]
        assert error["code"] == "internal" and error["details"]["incident"]
        assert "secret of the house" not in json.dumps(result)


async def test_a_defect_of_the_facade_is_an_internal_error_without_its_words(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*args: Any, **kwargs: Any) -> Any:
        raise ValueError("secret of the house")

    for era in (HANDSHAKE[-1], MODERN):
        async with connected(router) as stream:
            client = await opened(stream, era)
            with monkeypatch.context() as patch:
                patch.setattr(router, "call", broken)
                reply = await client.ask("tools/call", {"name": "devices", "arguments": {}})
            assert reply["error"]["code"] == -32603 and reply["error"]["data"]["incident"]
            assert "secret" not in json.dumps(reply)
            assert (await client.call("test-show"))["isError"] is False


async def test_a_confirmation_is_asked_for_with_a_token_that_works_once_a_person_agrees(
    router: Router, watched: Watched
) -> None:
    async with connected(router) as stream:
        client = await opened(stream)
        asked = await client.call("test-wipe")
        error = asked["structuredContent"]["error"]
        assert error["code"] == "confirmation_required"
        token = error["details"]["token"]
        assert token in text_of(asked) and "confirmToken" in text_of(asked)
        early = await client.call("test-wipe", confirmToken=token)
        assert early["structuredContent"]["error"]["code"] == "confirmation_invalid"
        assert watched.ended == []
        router.services.policy.approve(token)
        done = await client.call("test-wipe", confirmToken=token)
        assert done["structuredContent"]["wiped"] is True and watched.ended == ["wipe"]
        again = await client.call("test-wipe", confirmToken=token)
        assert again["structuredContent"]["error"]["code"] == "confirmation_invalid"
        assert watched.ended == ["wipe"]
