"""What destroys something is put to the person at the client, where the client can ask; the model cannot say yes."""

from __future__ import annotations

from typing import Any

import pytest

from anydevice.router import Router

from .clients import HANDSHAKE, MODERN, Bare, connected, text_of
from .conftest import Watched

pytestmark = pytest.mark.anyio

YES = {"action": "accept", "content": {"approve": True}}
NO: list[dict[str, Any]] = [
    {"action": "decline"},
    {"action": "cancel"},
    {"action": "accept", "content": {"approve": False}},
    {"action": "accept", "content": {}},
    {"action": "accept"},
]
FORMS = {"elicitation": {}}
ASKING = ("2025-06-18", "2025-11-25")


async def asked(client: Bare, era: str, capabilities: dict[str, Any] = FORMS) -> Bare:
    client.capabilities = capabilities
    await client.hello(era)
    return client


@pytest.mark.parametrize("era", ASKING)
async def test_a_person_who_says_yes_at_the_client_lets_the_call_happen_once(
    router: Router, watched: Watched, era: str
) -> None:
    async with connected(router) as stream:
        client = await asked(Bare(stream), era)
        client.answers["elicitation/create"] = YES
        done = await client.call("test-wipe")
        assert done["isError"] is False and watched.ended == ["wipe"]
        questions = [each for each in client.seen if each.get("method") == "elicitation/create"]
        assert len(questions) == 1
        asks = questions[0]["params"]
        assert "test-wipe" in asks["message"] and "wipes what is there" in asks["message"]
        assert list(asks["requestedSchema"]["properties"]) == ["approve"]
        assert not router.services.policy.pending()


@pytest.mark.parametrize("answer", NO)
async def test_anything_but_a_plain_yes_leaves_everything_as_it_is(
    router: Router, watched: Watched, answer: dict[str, Any]
) -> None:
    async with connected(router) as stream:
        client = await asked(Bare(stream), ASKING[-1])
        client.answers["elicitation/create"] = answer
        refused = await client.call("test-wipe")
        assert refused["isError"] is True and text_of(refused).startswith("confirmation_required")
        assert not watched.ended


@pytest.mark.parametrize("era", HANDSHAKE)
async def test_a_client_that_cannot_ask_gets_a_token_for_a_person(router: Router, watched: Watched, era: str) -> None:
    async with connected(router) as stream:
        client = await asked(Bare(stream), era, {})
        refused = await client.call("test-wipe")
        assert text_of(refused).startswith("confirmation_required") and not watched.ended
        assert not [each for each in client.seen if each.get("method") == "elicitation/create"]


async def test_a_command_that_is_run_by_another_is_asked_for_as_well(router: Router, watched: Watched) -> None:
    async with connected(router) as stream:
        client = await asked(Bare(stream), ASKING[-1])
        client.answers["elicitation/create"] = YES
        done = await client.call("command-run", name="test-wipe")
        assert done["isError"] is False and watched.ended == ["wipe"]


async def test_the_newer_era_asks_by_an_unfinished_result(router: Router, watched: Watched) -> None:
    async with connected(router) as stream:
        client = await asked(Bare(stream), MODERN, {"elicitation": {"form": {}}})
        params: dict[str, Any] = {"name": "test-wipe", "arguments": {}}
        first = (await client.ask("tools/call", params))["result"]
        assert first["resultType"] == "input_required" and not watched.ended
        assert first["inputRequests"]["approve"]["method"] == "elicitation/create"
        token = router.services.policy.pending()[0]["token"]
        assert token not in first["requestState"]
        back = {**params, "requestState": first["requestState"], "inputResponses": {"approve": YES}}
        done = (await client.ask("tools/call", back))["result"]
        assert done["isError"] is False and watched.ended == ["wipe"]
        again = (await client.ask("tools/call", back))["result"]
        assert again["isError"] is True and text_of(again).startswith("confirmation_required")
        assert watched.ended == ["wipe"]


async def test_what_comes_back_changed_or_for_another_call_is_refused(router: Router, watched: Watched) -> None:
    async with connected(router) as stream:
        client = await asked(Bare(stream), MODERN, {"elicitation": {"form": {}}})
        params: dict[str, Any] = {"name": "test-wipe", "arguments": {}}
        state = (await client.ask("tools/call", params))["result"]["requestState"]
        changed = state[:-2] + ("AA" if state[-2:] != "AA" else "BB")
        answers = {"inputResponses": {"approve": YES}}
        tampered = await client.ask("tools/call", {**params, "requestState": changed, **answers})
        assert tampered["error"]["code"] == -32602
        other = {"name": "command-run", "arguments": {"name": "test-wipe"}, "requestState": state, **answers}
        assert (await client.ask("tools/call", other))["error"]["code"] == -32602
        refused = (await client.ask("tools/call", {**params, "requestState": state, "inputResponses": {}}))["result"]
        assert refused["isError"] is True
        assert not watched.ended
