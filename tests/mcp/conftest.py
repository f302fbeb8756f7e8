"""A real router around fake devices, with a few commands of the tests' own that misbehave on request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from pydantic import Field

from anydevice.catalogue import Input, command
from anydevice.context import Context, Outcome
from anydevice.router import Router
from anydevice.testing import FakeBackend, fake_router
from anydevice_schemas import Confirm
from anydevice_schemas.errors import ERRORS


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return request.param


@dataclass
class Watched:
    """What the tests' own commands did."""

    started: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)


class SlowInput(Input):
    """Inputs of `test-slow`."""

    seconds: float = Field(default=30.0)
    tag: str = Field(default="slow")


class FailInput(Input):
    """Inputs of `test-fail`."""

    code: str
    details: dict[str, Any] = Field(default={})
    message: str = Field(default="It did not work.")


class ShowInput(Input):
    """Inputs of `test-show`."""

    data: dict[str, Any] = Field(default={})
    verified: bool | None = Field(default=None)
    notice: dict[str, Any] | None = Field(default=None)


class StepsInput(Input):
    """Inputs of `test-steps`."""

    steps: list[Any]


class NoInput(Input):
    """No inputs."""


def own_commands(watched: Watched) -> list[Any]:
    """Commands that only the tests have."""

    @command(name="test-slow", summary="Sleeps.", effect="read", scope="host", deadline=60.0, input=SlowInput)
    async def slow(ctx: Context, args: SlowInput) -> Outcome:
        watched.started.append(args.tag)
        try:
            await anyio.sleep(args.seconds)
        except anyio.get_cancelled_exc_class():
            watched.cancelled.append(args.tag)
            raise
        watched.ended.append(args.tag)
        return Outcome(data={"slept": args.seconds})

    @command(name="test-fail", summary="Fails as told.", effect="read", scope="host", input=FailInput)
    async def fail(ctx: Context, args: FailInput) -> Outcome:
        raise ERRORS[args.code](args.message, **args.details)

    @command(name="test-show", summary="Shows data.", effect="mutate", scope="host", input=ShowInput)
    async def show(ctx: Context, args: ShowInput) -> Outcome:
        if args.notice is not None:
            ctx.notices.append(args.notice)
        return Outcome(data=dict(args.data), verified=args.verified)

    @command(name="test-steps", summary="Tells progress.", effect="read", scope="host", input=StepsInput)
    async def steps(ctx: Context, args: StepsInput) -> Outcome:
        for step in args.steps:
            await ctx.progress(step, "on it")
        return Outcome(data={"steps": len(args.steps)})

    @command(
        name="test-wipe",
        summary="Destroys nothing.",
        effect="destroy",
        scope="host",
        input=NoInput,
        confirm=[Confirm(because="wipes what is there")],
    )
    async def wipe(ctx: Context, args: NoInput) -> Outcome:
        watched.ended.append("wipe")
        return Outcome(data={"wiped": True}, verified=True)

    @command(name="test-picture", summary="Makes a picture.", effect="read", scope="host", input=SlowInput)
    async def picture(ctx: Context, args: SlowInput) -> Outcome:
        saved = await anyio.to_thread.run_sync(
            lambda: ctx.services.artefacts.save(b"\x89PNG" + b"0" * int(args.seconds), "image/png", stem="test")
        )
        return Outcome(data={"unit": "points"}, artefacts=[saved])

    @command(name="test-crash", summary="Crashes.", effect="read", scope="host", input=NoInput)
    async def crash(ctx: Context, args: NoInput) -> Outcome:
        raise RuntimeError("secret of the house: /etc/passwd")

    return [slow, fail, show, steps, wipe, picture, crash]


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.fixture
async def house(anyio_backend: Any, watched: Watched) -> AsyncIterator[tuple[Router, FakeBackend]]:
    async with fake_router() as (router, backend):
        for spec in own_commands(watched):
            assert router.services.catalogue.register(spec)
        yield router, backend


@pytest.fixture
def router(house: tuple[Router, FakeBackend]) -> Router:
    return house[0]


@pytest.fixture
def backend(house: tuple[Router, FakeBackend]) -> FakeBackend:
    return house[1]
