"""What a person may do about who drives: take a device over, give it back, say how it is."""

from __future__ import annotations

import shlex
from typing import Any

import click

from . import completing, output, remote
from .status import ago

LONGEST_MINUTES = 720
HEALTH = ("good", "suspect", "bad", "maintenance")

_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


_device = click.argument("device", shell_complete=completing.devices)


@click.command(short_help="Takes a device over for you: whoever drives it is interrupted and told why.")
@_device
@click.option("--reason", required=True, help="What those who are interrupted are told.")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, max=LONGEST_MINUTES, min_open=True),
    default=10.0,
    show_default=True,
    help="How long it is kept for you without being used; using it keeps it ten minutes more each time.",
)
@_json
def takeover(device: str, reason: str, minutes: float, as_json: bool) -> int:
    """Takes DEVICE (its id, key or name) over for you, whoever drives it.

    What runs on it ends at once, and its holder is told your reason. Commands with the session it names then drive it.
    After `give-back`, or when the takeover runs out, whoever was interrupted goes on.
    """
    with remote.connect() as client:
        seconds = max(1, round(minutes * 60))
        data = remote.operate(client, "takeover", device=device, reason=reason, seconds=seconds)
    key = shlex.quote(data["device"])
    lines = [f"{data['device']} is yours for {ago(seconds)} at least (session {data['session']})"]
    lines += [f"interrupted: {_whose(old, data['device'])}" for old in data["interrupted"]] or [
        "nobody was interrupted"
    ]
    lines += [
        "Drive it with: --session " + shlex.quote(data["session"]),
        f"When you are done: anydevice give-back {key}",
    ]
    output.result("takeover", data, "\n".join(map(output.clean, lines)), as_json=as_json)
    return 0


@click.command("give-back", short_help="Ends a takeover; whoever was interrupted goes on.")
@_device
@_json
def give_back(device: str, as_json: bool) -> int:
    """Ends the takeover of DEVICE (its id, key or name); whoever was interrupted goes on, and is told so."""
    with remote.connect() as client:
        data = remote.operate(client, "give-back", device=device)
    lines = [f"{data['device']} is given back"]
    lines += [f"goes on: {_whose(old, data['device'])}" for old in data["restored"]] or ["nobody waits to go on"]
    output.result("give-back", data, "\n".join(map(output.clean, lines)), as_json=as_json)
    return 0


@click.command(short_help="Says how a device is: one that is not good is not given out.")
@_device
@click.argument("health", type=click.Choice(HEALTH))
@click.option("--reason", default="", help="Why; those who ask for the device are told.")
@_json
def mark(device: str, health: str, reason: str, as_json: bool) -> int:
    """Says how DEVICE (its id, key or name) is. `good` puts it back into the pool, the others keep it out.

    Whoever drives it now is not interrupted.
    """
    with remote.connect() as client:
        data = remote.operate(client, "mark", device=device, health=health, reason=reason)
    said = f"{data['device']} is marked {data['health']}" + (f": {data['reason']}" if data["reason"] else "")
    if health != "good":
        said += f"\nTo put it back into the pool: anydevice mark {shlex.quote(data['device'])} good"
    output.result("mark", data, output.clean(said), as_json=as_json)
    return 0


def _whose(old: dict[str, Any], device: str) -> str:
    """A holder that was interrupted, or goes on."""
    said = f"session {old['session']}"
    if old.get("tenant", "default") != "default":
        said += f" of tenant {old['tenant']}"
    if old.get("kind") == "human":
        said += ", a person's takeover"
    return said + (f", on {old['device']}" if old["device"] != device else "")


COMMANDS: dict[str, click.Command] = {command.name or "": command for command in (takeover, give_back, mark)}
