"""Many clients at once: none waits on another's device, and one device takes its calls in their order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from pydantic import Field

from anydevice.catalogue import Input, command
from anydevice.context import Context, Outcome
from anydevice.router import Router
from anydevice.testing import FakeBackend, fake_router
from anydevice_mcp import McpFacade
from anydevice_mcp.http.tokens import Tokens

from .clients import HANDSHAKE, PATIENCE, Bare, connected
from .test_http import Web

pytestmark = pytest.mark.anyio

CLIENTS = 50


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class MeetInput(Input):
    """Inputs of `test-meet`."""

    until: int = Field(default=CLIENTS, description="Devices that have to be inside")


@dataclass
class Meeting:
    """Who is on a device right now."""

    inside: list[str] = field(default_factory=list)
    most: int = 0
    changed: anyio.Event = field(default_factory=anyio.Event)
    order: list[int] = field(default_factory=list)


def meet(meeting: Meeting) -> Any:
    """A command that ends once enough devices run it at the same time: it never would if one waited on another's."""

    @command(name="test-meet", summary="Meets the others.", effect="mutate", deadline=PATIENCE, input=MeetInput)
    async def meets(ctx: Context, args: MeetInput) -> Outcome:
        assert ctx.device is not None
        meeting.inside.append(ctx.device.id)
        meeting.order.append(args.until)
        meeting.most = max(meeting.most, len(meeting.inside))
        meeting.changed.set()
        meeting.changed = anyio.Event()
        try:
            while meeting.most < args.until:
                await meeting.changed.wait()
        finally:
            meeting.inside.remove(ctx.device.id)
        return Outcome(data={"met": meeting.most})

    return meets


@dataclass
class Place:
    """A router with a device for every client, and one more."""

    router: Router
    meeting: Meeting
    facade: McpFacade


@pytest.fixture
async def place(anyio_backend: str) -> AsyncIterator[Place]:
    devices = FakeBackend([f"fake-{n}" for n in range(CLIENTS + 1)])
    async with fake_router(devices, tables={"mcp": {"http": {"port": 0}}}) as (router, _):
        meeting, facade = Meeting(), McpFacade()
        assert router.services.catalogue.register(meet(meeting))
        async with anyio.create_task_group() as group:
            group.start_soon(facade.run, router)
            with anyio.fail_after(PATIENCE):
                while not facade.told:
                    await anyio.sleep(0.01)
            yield Place(router, meeting, facade)
            group.cancel_scope.cancel()


async def test_fifty_clients_work_on_fifty_devices_at_once(place: Place) -> None:
    async with AsyncExitStack() as stack:
        clients = [Bare(await stack.enter_async_context(connected(place.router, place.facade))) for _ in range(CLIENTS)]
        results: dict[int, dict[str, Any]] = {}

        async def work(number: int) -> None:
            await clients[number].hello(HANDSHAKE[-1])
            results[number] = await clients[number].call("test-meet", device=f"fake-{number}")

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                for number in range(CLIENTS):
                    group.start_soon(work, number)
        assert place.meeting.most == CLIENTS
        for number, result in results.items():
            assert result["structuredContent"]["device"] == f"fake:fake-{number}", result


async def test_fifty_agents_of_http_work_on_fifty_devices_at_once(place: Place) -> None:
    tokens = Tokens(place.router.services.settings.data_dir)
    async with AsyncExitStack() as stack:
        webs = []
        for number in range(CLIENTS):
            secret = tokens.mint(f"agent-{number}")
            web = Web(place.facade.told["http"], secret, era=HANDSHAKE[-1])
            webs.append(await stack.enter_async_context(web))
        results: dict[int, dict[str, Any]] = {}

        async def work(number: int) -> None:
            await webs[number].hello()
            results[number] = await webs[number].call("test-meet", device=f"fake-{number}")

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                for number in range(CLIENTS):
                    group.start_soon(work, number)
        assert place.meeting.most == CLIENTS
        for number, result in results.items():
            assert result["structuredContent"]["device"] == f"fake:fake-{number}", result


async def test_a_device_that_does_not_answer_holds_up_its_own_client_alone(place: Place) -> None:
    async with (
        connected(place.router, place.facade) as stuck,
        connected(place.router, place.facade) as other,
    ):
        waiting, free = Bare(stuck), Bare(other)
        await waiting.hello(HANDSHAKE[-1])
        await free.hello(HANDSHAKE[-1])
        await waiting.send(waiting.request("tools/call", {"name": "test-meet", "arguments": {"device": "fake-0"}}))
        with anyio.fail_after(PATIENCE):
            while place.meeting.inside != ["fake-0"]:
                await anyio.sleep(0.01)
        for _ in range(5):  # the stuck client itself is served too, as long as it does not ask for that device
            result = await free.call("press", device="fake-1", target="Increment")
            assert result["isError"] is False, result
            assert (await waiting.ask("ping"))["result"] == {}
        assert place.meeting.inside == ["fake-0"]


async def test_calls_of_one_client_on_one_device_run_in_the_order_they_came(place: Place) -> None:
    async with connected(place.router, place.facade) as stream:
        client = Bare(stream)
        await client.hello(HANDSHAKE[-1])
        place.meeting.most = 1000  # nobody waits
        for number in range(1, 21):
            arguments = {"device": "fake-3", "until": number}
            await client.send(client.request("tools/call", {"name": "test-meet", "arguments": arguments}))
        with anyio.fail_after(PATIENCE):
            while len(place.meeting.order) < 20:
                await anyio.sleep(0.01)
        assert place.meeting.order == list(range(1, 21))
