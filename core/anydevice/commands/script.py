"""batch, command-search, command-read, command-run: calls that make calls."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from anydevice_schemas import Answer, Command, Example
from anydevice_schemas.errors import AnydeviceError, Refused

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..policy import applies

STEPS_MOST = 100
_PASSED_ON = (
    "platform", "deviceTarget", "device", "udid", "serial", "androidDeviceAllowlist", "session", "tenant", "runId",
    "leaseId",
)  # fmt: skip


class BatchInput(Input):
    """Inputs of `batch`."""

    steps: list[dict[str, Any]] = Field(
        min_length=1, max_length=STEPS_MOST, description="Steps in order, each {command, arguments}."
    )
    on_error: Literal["stop", "continue"] = Field(default="stop", description="What to do when a step fails.")


@command(
    name="batch",
    summary="Runs up to 100 commands in order in one call; selectors given here hold for every step that names none. "
    "Stops at the first failure and tells what was done. Every step is checked, admitted and confirmed as if it were "
    "called alone.",
    effect="mutate",
    scope="host",
    batchable=False,
    leaves_device=True,
    deadline=600.0,
    input=BatchInput,
    output={"executed": {"type": "integer"}, "total": {"type": "integer"}, "results": {"type": "array"}},
    examples=[
        Example(
            why="Log in",
            arguments={
                "steps": [
                    {"command": "fill", "arguments": {"target": "Name", "text": "Ada"}},
                    {"command": "press", "arguments": {"target": "Sign in"}},
                ]
            },
        )
    ],
)
async def batch(ctx: Context, args: BatchInput) -> Outcome:
    """Runs several commands in order."""
    steps = [_step(ctx, number, step) for number, step in enumerate(args.steps)]
    passed_on = {
        name: value
        for name, value in ctx.parsed.selector.model_dump(by_alias=True, exclude_none=True).items()
        if name in _PASSED_ON
    }
    results: list[dict[str, Any]] = []
    failed = 0
    for number, (name, arguments) in enumerate(steps):
        spec = ctx.services.catalogue.get(name)
        inherited = passed_on if spec.command.selectors else {}
        named = any(key in arguments for key in ("device", "udid", "serial", "session"))
        merged = {**({} if named else inherited), **arguments}
        await ctx.progress(number / len(steps), f"step {number + 1} of {len(steps)}: {name}")
        answer = await ctx.run(name, merged)
        results.append(_brief(number, answer))
        if not answer.ok:
            failed += 1
            if args.on_error == "stop":
                raise _stopped(number, name, len(steps), results, answer)
    data = {"executed": len(results), "total": len(steps), "failed": failed, "results": results}
    verified = [row.get("verified") for row in results if row.get("verified") is not None]
    return Outcome(data=data, verified=all(verified) if verified else None, method="batch")


def _step(ctx: Context, number: int, step: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A step's command and arguments, checked before anything runs."""
    param = f"steps.{number}"
    extra = set(step) - {"command", "arguments"}
    name, arguments = step.get("command"), step.get("arguments", {})
    if extra or not isinstance(name, str) or not isinstance(arguments, dict):
        raise ctx.bad_argument(param, "not a step", "{command, arguments}")
    spec = ctx.services.catalogue.get(name)
    if not spec.command.batchable:
        raise ctx.bad_argument(param, f"{spec.command.name} cannot be a step", "a command that acts on a device")
    ctx.services.catalogue.parse(name, arguments)
    return spec.command.name, arguments


def _brief(number: int, answer: Answer) -> dict[str, Any]:
    row: dict[str, Any] = {"step": number, "command": answer.command, "ok": answer.ok}
    if answer.device is not None:
        row["device"] = answer.device.key
    if answer.verified is not None:
        row["verified"] = answer.verified
    if answer.data:
        row["data"] = answer.data
    if answer.notices:
        row["notices"] = answer.notices
    if answer.artefacts:
        row["artefacts"] = [artefact.uri for artefact in answer.artefacts]
    if answer.error is not None:
        row["error"] = {"code": answer.error.code, "message": answer.error.message}
    return row


def _stopped(number: int, name: str, total: int, results: list[dict[str, Any]], answer: Answer) -> AnydeviceError:
    """The failed step's own error, with what was done before it."""
    assert answer.error is not None
    wire = answer.error.model_dump()
    wire["details"] = {
        **wire["details"],
        "batch": {
            "step": number,
            "command": name,
            "executed": len(results),
            "total": total,
            "results": results[:-1],
        },
    }
    wire["message"] = f"Step {number + 1} of {total} ({name}) failed: {wire['message']}"
    return AnydeviceError.from_wire(wire)


class SearchInput(Input):
    """Inputs of `command-search`."""

    words: str = Field(min_length=1, max_length=200, description="What you want to do, in a few words, or a name.")
    limit: int = Field(default=3, ge=1, le=10, description="How many to return.")


@command(
    name="command-search",
    summary="Finds commands by a few words and returns each one's inputs, so that it can be called, by its own name or "
    "through command-read (what only looks) or command-run. Everything anydevice and its plugins can do is found here.",
    effect="read",
    idempotent=True,
    scope="host",
    selectors=False,
    batchable=False,
    input=SearchInput,
    output={"commands": {"type": "array", "description": "name, summary, effect, input schema, examples."}},
    examples=[Example(why="How to send an event to an app", arguments={"words": "app event"})],
)
async def command_search(ctx: Context, args: SearchInput) -> Outcome:
    """Finds commands."""
    found = ctx.services.catalogue.search(args.words, limit=args.limit)
    data: dict[str, Any] = {"commands": [_shown(descriptor, ctx.level) for descriptor in found]}
    if not found:
        data["all"] = [descriptor.name for descriptor in ctx.services.catalogue.commands()]
    return Outcome(data=data)


def _shown(descriptor: Command, level: str) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": descriptor.name,
        "summary": descriptor.summary,
        "effect": descriptor.effect,
    }
    if level == "digest":
        return shown
    shown["inputSchema"] = descriptor.input_schema
    shown["takesSelectors"] = descriptor.selectors
    if descriptor.examples:
        shown["examples"] = [example.model_dump(by_alias=True) for example in descriptor.examples[:2]]
    if level == "full":
        shown |= {
            "outputSchema": descriptor.output_schema,
            "origin": descriptor.origin,
            "plans": [plan.model_dump(by_alias=True) for plan in descriptor.plans],
            "deadlineSeconds": descriptor.deadline,
        }
    return shown


class RunInput(Input):
    """Inputs of `command-run` and `command-read`."""

    name: str = Field(min_length=1, max_length=60, description="Name of the command.")
    arguments: dict[str, Any] = Field(default={}, description="Its arguments, selectors included.")


@command(
    name="command-read",
    summary="Runs any command that only looks, by name, also one that is not in the tool list; command-search tells "
    "what it takes. What would change something is refused: command-run runs that.",
    effect="read",
    scope="host",
    selectors=False,
    batchable=False,
    deadline=3600.0,
    input=RunInput,
    output={"command": {"type": "string"}},
    examples=[Example(why="What a device can do", arguments={"name": "capabilities", "arguments": {}})],
)
async def command_read(ctx: Context, args: RunInput) -> Outcome:
    """Runs another command that reads; its answer is the answer."""
    spec = ctx.services.catalogue.get(args.name)
    found = spec.command
    looks = found.effect == "read" or (found.reads_when and applies(found.reads_when, args.arguments))
    if not looks or found.name == "command-read":
        raise Refused(
            f"command-read does not run {found.name}.",
            reason="it is no command that only looks",
            alternative="command-run",
            hint=f"Call command-run with name={found.name} and the same arguments.",
        )
    return Outcome(instead=await ctx.run(args.name, args.arguments))


@command(
    name="command-run",
    summary="Runs any command by name, also one that is not in the tool list; command-search tells what it takes. "
    "The inner command is checked, admitted and confirmed exactly as if it were called directly.",
    effect="mutate",
    scope="host",
    selectors=False,
    batchable=False,
    leaves_device=True,
    deadline=3600.0,
    input=RunInput,
    output={"command": {"type": "string"}},
    examples=[Example(why="A command outside the list", arguments={"name": "capabilities", "arguments": {}})],
)
async def command_run(ctx: Context, args: RunInput) -> Outcome:
    """Runs another command; its answer is the answer."""
    spec = ctx.services.catalogue.get(args.name)
    if spec.command.name == "command-run":
        raise ctx.bad_argument("name", "command-run does not run itself", "another command")
    return Outcome(instead=await ctx.run(args.name, args.arguments))
