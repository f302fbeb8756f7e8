"""shell: a command line on the device."""

from __future__ import annotations

from pydantic import Field

from anydevice_schemas import Example, Plan

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Shell, ShellResult

SHOWN = {"digest": 2_000, "default": 20_000, "full": 200_000}
"""Characters of each output that an answer holds at most."""


class ShellInput(Input):
    """Inputs of `shell`."""

    command_line: str = Field(min_length=1, max_length=32_000, description="As one would type it in a shell there.")
    cwd: str | None = Field(
        default=None, min_length=1, max_length=4096, description="Folder of the device to run it in."
    )
    timeout_ms: int = Field(default=30_000, ge=1, le=600_000, description="When it is ended, with all its children.")


@command(
    name="shell",
    toolset="debug",
    summary="Runs a command line in a shell on the device and gives its exit status and both outputs. What fails there "
    "is ok: false in the data, not an error. What it leaves running is ended: start apps with open. Only in profile "
    "full.",
    effect="mutate",
    profile="full",
    leaves_device=True,
    deadline=15.0,
    input=ShellInput,
    plans=[Plan(name="shell", operations=["shell.run"])],
    output={
        "ok": {"type": "boolean", "description": "Whether the exit status is 0."},
        "status": {"type": "integer", "description": "Exit status; 128 + n: ended by signal n."},
        "stdout": {"type": "string", "description": "Untrusted."},
        "stderr": {"type": "string", "description": "Untrusted."},
    },
    examples=[Example(why="What is there", arguments={"commandLine": "ls -l", "timeoutMs": 5000})],
)
async def shell(ctx: Context, args: ShellInput) -> Outcome:
    """Runs a command line."""
    if not args.command_line.strip() or "\0" in args.command_line:
        raise ctx.bad_argument("commandLine", "is no command line", "words of a shell")
    done: ShellResult = await ctx.use(Shell).run(args.command_line, cwd=args.cwd, deadline=args.timeout_ms / 1000)
    most = SHOWN[ctx.level]
    outputs = {"stdout": done.stdout, "stderr": done.stderr}
    cuts = [f"{name} (limit {most} of {len(text)} characters)" for name, text in outputs.items() if len(text) > most]
    if done.cut:
        cuts.append("more output than is kept")
    data = {"ok": done.status == 0, "status": done.status, **{name: text[:most] for name, text in outputs.items()}}
    # That it ended so was seen; what it did to the device nobody read back.
    return Outcome(data=data, verified=False, truncated=cuts)
