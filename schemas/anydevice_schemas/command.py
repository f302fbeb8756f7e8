"""The descriptor of a command: everything a facade, a policy or a person needs to know without running it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ._base import Word

Effect = Literal["read", "mutate", "destroy"]
CommandScope = Literal["host", "device"]


class Plan(Word):
    """One way to carry a command out: usable iff every operation is available on the device now."""

    name: str
    operations: list[str] = Field(min_length=1, description="e.g. `screen.tree`, `pointer.click`.")
    when: dict[str, list[str]] = Field(
        default_factory=dict,
        description="Input fields that must hold one of these values for the plan to apply; the words `*given*` and "
        "`*absent*` ask only whether the field is there.",
    )


class Confirm(Word):
    """When the command needs a person's confirmation."""

    kinds: list[str] = Field(default_factory=list, description="Device kinds it concerns; empty = all.")
    when: dict[str, list[str]] = Field(default_factory=dict, description="As in `Plan.when`.")
    because: str


class Example(Word):
    """A call that works, and what it is for."""

    why: str
    arguments: dict[str, Any]


class Command(Word):
    """A command of the catalogue.

    `input_schema` is flat JSON Schema of the command's own inputs; the selectors and switches every device
    command takes besides are published apart (`DeviceSelector`, `Switches`).
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=40)
    aliases: list[str] = Field(default_factory=list)
    toolset: str = "core"
    summary: str = Field(max_length=600, description="What it does, when to use it, when not and what instead.")
    effect: Effect
    reads_when: dict[str, list[str]] = Field(
        default_factory=dict, description="As in `Plan.when`: with these arguments it only reads."
    )
    idempotent: bool = False
    leaves_device: bool = Field(default=False, description="Whether it reaches beyond the device (network, host).")
    scope: CommandScope = Field(description="host: needs no device; device: exactly one device.")
    selectors: bool = Field(default=True, description="Whether it takes the device selectors besides its own inputs.")
    profile: Literal["read-only", "standard", "full"] = Field(
        default="read-only", description="The lowest policy profile it is offered in, besides its effect."
    )
    opens_session: bool = Field(default=False, description="A session name that does not exist is created.")
    observe: bool = Field(default=False, description="Free of side effects and open to others than the holder.")
    boots: bool = Field(default=False, description="Works on devices that are not ready (boot, shutdown).")
    explicit_device: bool = Field(default=False, description="Refuses to choose a device by itself.")
    batchable: bool = True
    plans: list[Plan] = Field(default_factory=list, description="Best first; empty = core alone carries it out.")
    confirm: list[Confirm] = Field(default_factory=list)
    deadline: float = Field(default=30.0, gt=0, description="Seconds a call may take; timeoutMs adds to it.")
    since: str = Field(default="1.0", description="Contract version it entered in.")
    origin: str = Field(default="anydevice", description="Distribution that brought it.")
    backend: str | None = Field(default=None, description="Only devices of this backend have it.")
    input_schema: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    output_schema: dict[str, Any] = Field(default_factory=lambda: {"type": "object"})
    examples: list[Example] = Field(default_factory=list)
