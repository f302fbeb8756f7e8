"""The loop an agent runs, on fake devices, judged by what the devices saw."""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import pytest

from anydevice.router import Router
from anydevice.testing import FakeBackend

from .clients import HANDSHAKE, MODERN, Bare, connected, text_of

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("era", [HANDSHAKE[-1], MODERN])
async def test_the_loop_of_the_instructions_works(router: Router, backend: FakeBackend, era: str) -> None:
    async with connected(router, schemas="full") as stream:
        client = Bare(stream)
        await client.hello(era)
        schemas = {
            tool["name"]: tool.get("outputSchema") for tool in (await client.ask("tools/list"))["result"]["tools"]
        }

        async def do(name: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call(name, **arguments)
            assert result["isError"] is False, text_of(result)
            jsonschema.validate(result["structuredContent"], schemas[name])
            return result

        devices = await do("devices")
        assert [row["id"] for row in devices["structuredContent"]["devices"]] == ["fake-1", "fake-2"]
        opened = await do("open", device="fake-2")
        assert opened["structuredContent"]["device"] == "fake:fake-2"
        look = await do("snapshot")
        assert look["structuredContent"]["device"] == "fake:fake-2"
        assert re.search(r'<untrusted-(\w+) source="screen of fake:fake-2">', text_of(look))
        tree = look["structuredContent"]["text"]
        assert text_of(look).count("fake://practice/home") == 1 and look["structuredContent"]["nodes"] > 10
        line = next(line for line in tree.splitlines() if "Increment" in line)
        ref = re.search(r"@e\d+", line)
        assert ref is not None and ref[0] in text_of(look)
        pressed = await do("press", target=ref[0])
        assert pressed["structuredContent"]["changed"] is True
        assert pressed["structuredContent"]["verified"] is False and "verified: false" in text_of(pressed)
        assert backend.screen("fake-2").text("Count") == "1" and backend.screen("fake-1").text("Count") == "0"
        for level in ("digest", "full"):
            again = await do("press", target='label="Increment" role=button', responseLevel=level)
            assert again["structuredContent"]["changed"] is True
        found = await do("find", query="Increment")
        assert found["structuredContent"]["count"] >= 1
        is_it = await do("is", predicate="visible", target="Increment")
        assert is_it["structuredContent"]["result"] is True
        await do("wait", text="Increment")
        await do("close")


async def test_an_element_that_is_not_there_is_an_error_with_what_is(router: Router, backend: FakeBackend) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(MODERN)
        await client.call("open", device="fake-1")
        result = await client.call("press", target="Incremend", timeoutMs=0)
        error = result["structuredContent"]["error"]
        assert error["code"] == "element_not_found" and "Increment" in str(error["details"]["nearest_matches"])
        assert error["device"] == "fake:fake-1" and "Device: fake:fake-1" in text_of(result)
        assert "Increment" not in re.sub(r"<untrusted-.*?</untrusted-\w+>", "", text_of(result), flags=re.S)


async def test_an_app_event_answers_in_the_form_of_the_tool_it_stands_in_for(
    router: Router, backend: FakeBackend
) -> None:
    async with connected(router, schemas="full") as stream:
        client = Bare(stream)
        await client.hello(HANDSHAKE[-1])
        tools = {tool["name"]: tool for tool in (await client.ask("tools/list"))["result"]["tools"]}
        schema = tools["trigger-app-event"]["outputSchema"]
        await client.call("open", device="fake-1", eventUrlTemplate="practice://event?name={event}&payload={payload}")
        for event in ("seed.cart", "ack.cart"):
            result = await client.call("trigger-app-event", event=event, payload={"items": 3})
            assert result["isError"] is False, text_of(result)
            structure = result["structuredContent"]
            jsonschema.validate(structure, schema)
            assert structure["event"] == event and structure["transport"] == "deep-link"
            assert structure["eventUrl"] == f"practice://event?name={event}&payload=%7B%22items%22%3A3%7D"
            assert structure["message"] in text_of(result)
        missing = await client.call("trigger-app-event", event="x", device="fake-2")
        jsonschema.validate(missing["structuredContent"], schema)
        assert missing["structuredContent"]["error"]["code"] == "unsupported"


async def test_a_batch_tells_every_step_and_a_failure_what_was_done(router: Router, backend: FakeBackend) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(MODERN)
        await client.call("open", device="fake-1")
        press = {"command": "press", "arguments": {"target": "Increment"}}
        done = await client.call("batch", {"progressToken": 1}, steps=[press, press])
        assert done["structuredContent"]["executed"] == 2 and backend.screen("fake-1").text("Count") == "2"
        told = [m["params"]["message"] for m in client.seen if m.get("method") == "notifications/progress"]
        assert told[0].startswith("step 1 of 2")
        missing = {"command": "press", "arguments": {"target": "Nothing", "timeoutMs": 0}}
        failed = await client.call("batch", steps=[press, missing, press])
        error = failed["structuredContent"]["error"]
        assert error["code"] == "element_not_found" and error["details"]["batch"]["executed"] == 2
        assert backend.screen("fake-1").text("Count") == "3"


async def test_a_device_that_is_asked_for_by_a_wrong_name_is_never_replaced_by_another(
    router: Router, backend: FakeBackend
) -> None:
    async with connected(router) as stream:
        client = Bare(stream)
        await client.hello(MODERN)
        for arguments in ({"device": "fake-3"}, {"device": "fake-1", "serial": "fake-2"}, {"session": "no-such"}):
            result = await client.call("press", target="Increment", **arguments)
            assert result["isError"] is True
        assert not backend.screen("fake-1").journal and not backend.screen("fake-2").journal
