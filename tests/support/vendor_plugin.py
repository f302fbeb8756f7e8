"""Commands that wait, progress, crash or ask back, and a facade that echoes; loaded by daemons under test only."""

from __future__ import annotations

import os
from typing import Any

import anyio
from pydantic import Field

from anydevice.catalogue import CommandSpec, Input, command
from anydevice.context import Context, Outcome
from anydevice.hooks import hookimpl
from anydevice_schemas import Confirm


class Nothing(Input):
    """No inputs."""


class Say(Input):
    """Inputs of `vendor-say`: one of every kind."""

    text: str
    times: int = Field(default=1, ge=1, le=5)
    words: list[str] = Field(default=[])
    loud: bool = False
    extra: dict[str, Any] | None = None


class Slow(Input):
    """Inputs of `vendor-slow`: where to note what happens, how long it takes, and a file that ends it before."""

    mark: str
    seconds: float = 60.0
    until: str = ""


def note(path: str, text: str) -> None:
    """Leaves a trace a test can see."""
    with open(path, "a") as file:
        file.write(text + "\n")


HOST: dict[str, Any] = {"scope": "host", "selectors": False}


@command(name="vendor-say", aliases=["say"], summary="Says it back. For tests.", effect="read", **HOST, input=Say)
async def say(ctx: Context, args: Any) -> Outcome:
    """Says it back."""
    return Outcome(
        data={
            "said": args.text * args.times,
            "words": args.words,
            "loud": args.loud,
            "extra": args.extra,
            "cwd": ctx.caller.cwd,
            "env": ctx.caller.env,
            "pid": os.getpid(),
            "scopes": ctx.caller.scopes,
            "daemonCwd": os.getcwd(),
            "daemonEnv": {k: v for k, v in os.environ.items() if "DEVICE" in k or "ANDROID" in k},
        }
    )


@command(
    name="vendor-slow", summary="Waits, and notes how it ended.", effect="read", deadline=300.0, **HOST, input=Slow
)
async def slow(ctx: Context, args: Any) -> Outcome:
    """Waits."""
    note(args.mark, "started")
    try:
        for step in range(int(args.seconds * 20)):
            if args.until and os.path.exists(args.until):
                break
            await ctx.progress(step / (args.seconds * 20), f"step {step}")
            await anyio.sleep(0.05)
    except anyio.get_cancelled_exc_class():
        note(args.mark, "cancelled")
        raise
    note(args.mark, "done")
    return Outcome(data={"slept": args.seconds})


@command(
    name="vendor-change",
    summary="As vendor-slow, but it changes something.",
    effect="mutate",
    deadline=300.0,
    **HOST,
    input=Slow,
)
async def change(ctx: Context, args: Any) -> Outcome:
    """Waits."""
    handler = slow.load()
    return await handler(ctx, args)


@command(name="vendor-odd", summary="Answers what JSON cannot hold.", effect="read", **HOST, input=Nothing)
async def odd(ctx: Context, args: Any) -> Outcome:
    """Answers oddly."""
    return Outcome(data={"surrogate": "\ud800", "set": {1}, "nan": float("nan"), "none": None, "object": object})


@command(name="vendor-crash", summary="Crashes.", effect="read", **HOST, input=Nothing)
async def crash(ctx: Context, args: Any) -> Outcome:
    """Crashes."""
    raise RuntimeError("boom")


@command(name="vendor-print", summary="Prints to stdout.", effect="read", **HOST, input=Nothing)
async def prints(ctx: Context, args: Any) -> Outcome:
    """Prints."""
    print("a stray print")
    os.write(1, b"a stray write\n")
    return Outcome()


@command(
    name="vendor-wipe",
    summary="Destroys nothing.",
    effect="destroy",
    **HOST,
    input=Nothing,
    confirm=[Confirm(because="wipes what is there")],
)
async def wipe(ctx: Context, args: Any) -> Outcome:
    """Wipes nothing."""
    return Outcome(data={"wiped": True}, verified=True)


@command(name="vendor-file", summary="Makes a file.", effect="read", **HOST, input=Nothing)
async def file(ctx: Context, args: Any) -> Outcome:
    """Makes a file."""
    made = ctx.services.artefacts.save(b"\x89PNG test", "image/png", stem="test")
    return Outcome(data={"unit": "points"}, artefacts=[made])


class Echo:
    """Sends back what it is sent."""

    name = "echo"
    options = ("loud", "level")

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def serve(self, stream: Any, caller: Any, router: Any, options: Any) -> None:
        """Echoes; `who` tells the caller, `slow MARK` waits to be cancelled, `half MARK` is answered without an end."""
        try:
            while True:
                data = await stream.receive()
                if data.startswith(b"who"):
                    said = f"{caller.principal} {caller.transport} {caller.scopes} {dict(options)}\n"
                    await stream.send(said.encode())
                elif data.startswith(b"half"):
                    await stream.send(b"half a line")
                    note(data.split()[1].decode(), "half")
                elif data.startswith(b"slow"):
                    mark = data.split()[1].decode()
                    note(mark, "started")
                    try:
                        await anyio.sleep(60)
                    except anyio.get_cancelled_exc_class():
                        note(mark, "cancelled")
                        raise
                else:
                    await stream.send(data)
        except anyio.EndOfStream:
            await anyio.sleep(0.1)
            await stream.send(b"last words\n")


class Broken:
    """A facade that cannot do anything."""

    name = "broken"
    options = ()

    async def prepare(self) -> None:
        """Fails."""
        raise RuntimeError("cannot prepare")

    async def serve(self, stream: Any, caller: Any, router: Any, options: Any) -> None:
        """Fails."""
        raise RuntimeError("cannot serve")


@hookimpl
def anydevice_commands() -> list[CommandSpec]:
    """See `anydevice.hooks`."""
    return [value for value in globals().values() if isinstance(value, CommandSpec)]


@hookimpl
def anydevice_facades() -> list[Any]:
    """See `anydevice.hooks`."""
    return [Echo(), Broken()]
