"""forward: ports of the device on the host, and ports of the host on the device."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import Field

from anydevice_schemas import Example, Plan
from anydevice_schemas.errors import ActionUnverified, Refused

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Forward, Forwards

SOCKET = re.compile(r"[a-z]{1,20}:[A-Za-z0-9_.@/:-]{1,200}")


class ForwardInput(Input):
    """Inputs of `forward`."""

    action: Literal["list", "add", "remove"] = Field(default="list", description="What to do.")
    host_port: int | None = Field(default=None, ge=0, le=65_535, description="TCP port of this host; 0: a free one.")
    device_port: int | None = Field(default=None, ge=0, le=65_535, description="TCP port of the device; 0: a free one.")
    device_socket: str | None = Field(
        default=None, min_length=1, max_length=221, description="Instead of devicePort, such as localabstract:debug."
    )
    reverse: bool = Field(default=False, description="The device reaches the host's port, not the host the device's.")


@command(
    name="forward",
    toolset="debug",
    summary="Makes a port of the device reachable on this host, or with reverse a port of this host on the device; "
    "lists and removes them. Those you added end when you give the device back.",
    effect="mutate",
    reads_when={"action": ["list", "*absent*"]},
    leaves_device=True,
    input=ForwardInput,
    plans=[
        Plan(name="forward", operations=["forwards.list"], when={"action": ["list", "*absent*"]}),
        Plan(name="forward", operations=["forwards.list", "forwards.add"], when={"action": ["add"]}),
        Plan(name="forward", operations=["forwards.list", "forwards.remove"], when={"action": ["remove"]}),
    ],
    output={
        "forwards": {"type": "array", "description": "hostPort, devicePort or deviceSocket, reverse."},
        "forward": {"type": "object", "description": "The one that came or went."},
    },
    examples=[
        Example(why="The app's port 8080, on a free one here", arguments={
            "action": "add", "hostPort": 0, "devicePort": 8080}),
        Example(why="What there is", arguments={}),
    ],
)  # fmt: skip
async def forward(ctx: Context, args: ForwardInput) -> Outcome:
    """Lists, adds or removes forwarded ports."""
    if args.action == "list":
        given = [name for name in ("host_port", "device_port", "device_socket") if getattr(args, name) is not None]
        if given or args.reverse:
            raise ctx.bad_argument("action", "ports go with add and remove only", "add or remove")
        return Outcome(data={"forwards": [_told(one) for one in await ctx.use(Forwards).list()]})
    wanted = _wanted(ctx, args)
    forwards = ctx.use(Forwards)
    there = list(await forwards.list())
    if args.action == "remove":
        return await _remove(ctx, wanted, there)
    if wanted in there:
        return Outcome(data={"forward": _told(wanted), "already": True}, verified=True)
    side = _listening(wanted)
    taken = [one for one in there if one.reverse == wanted.reverse and _listening(one) == side]
    if taken and not side.endswith(":0"):
        raise Refused(
            "This port is forwarded to another place already.",
            reason="in use",
            alternative="another port, or 0 for a free one",
            forward={name: value for name, value in _told(taken[0]).items() if isinstance(value, int)},
        )
    made: Forward = await forwards.add(wanted)
    if made not in await forwards.list():
        raise ActionUnverified("The port was to be forwarded and is not.", expected=_told(made), actual="not listed")
    return Outcome(data={"forward": _told(made)}, verified=True)


async def _remove(ctx: Context, wanted: Forward, there: list[Forward]) -> Outcome:
    if wanted not in there:
        raise ctx.bad_argument("hostPort", "this is not forwarded so", "one of those that action list tells")
    await ctx.use(Forwards).remove(wanted)
    if wanted in await ctx.use(Forwards).list():
        raise ActionUnverified("The forward was to go and is there.", expected="not listed", actual=_told(wanted))
    return Outcome(data={"forward": _told(wanted)}, verified=True)


def _wanted(ctx: Context, args: ForwardInput) -> Forward:
    """The forward that is meant.

    Raises:
        InvalidArgument: A side is missing, given twice, or cannot be chosen freely.
    """
    if args.host_port is None:
        raise ctx.bad_argument("hostPort", f"action {args.action} needs it", "a port of this host")
    if (args.device_port is None) == (args.device_socket is None):
        raise ctx.bad_argument("devicePort", "one side of the device is needed", "devicePort or deviceSocket")
    if args.device_socket is not None and not SOCKET.fullmatch(args.device_socket):
        raise ctx.bad_argument("deviceSocket", "is no socket of a device", "such as localabstract:debug")
    kind, _, number = (args.device_socket or "").partition(":")
    if kind == "tcp" and not (number.isascii() and number.isdigit() and 0 < int(number) <= 65_535):
        raise ctx.bad_argument("deviceSocket", "is no port", "devicePort, or tcp:1 to tcp:65535")
    fixed, name = (args.host_port, "hostPort") if args.reverse else (args.device_port, "devicePort")
    if fixed == 0:
        raise ctx.bad_argument(name, "the port that is reached has to be named", "1 to 65535")
    free = args.device_port if args.reverse else args.host_port
    if free == 0 and args.action == "remove":
        raise ctx.bad_argument("hostPort", "which one is to go has to be named", "1 to 65535")
    device = args.device_socket or f"tcp:{args.device_port}"
    return Forward(host=f"tcp:{args.host_port}", device=device, reverse=args.reverse)


def _listening(one: Forward) -> str:
    """The side that others connect to: there can be one of each."""
    return one.device if one.reverse else one.host


def _told(one: Forward) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for word, side in (("host", one.host), ("device", one.device)):
        kind, _, number = side.partition(":")
        plain = kind == "tcp" and number.isascii() and number.isdigit()
        told |= {f"{word}Port": int(number)} if plain else {f"{word}Socket": side}
    return {**told, "reverse": True} if one.reverse else told
