"""erase: a simulated device as it was on its first day."""

from __future__ import annotations

from anydevice_schemas import Confirm, Example, Plan
from anydevice_schemas.errors import ActionUnverified, DeviceNotReady

from ..catalogue import Input, command
from ..context import Context, Outcome
from ..driver import Acted, Power
from ._effect import merged


class EraseInput(Input):
    """Inputs of `erase`."""


@command(
    name="erase",
    summary="Deletes every app, file and setting of a simulated device, for good. Needs an explicit device that is "
    "shut down (call shutdown first; erase never does), and a person's word. To remove one app use uninstall.",
    effect="destroy",
    toolset="device",
    boots=True,
    explicit_device=True,
    deadline=120.0,
    input=EraseInput,
    plans=[Plan(name="power", operations=["power.erase"])],
    confirm=[Confirm(because="deletes everything on the device")],
    output={"state": {"type": "string"}},
    examples=[Example(why="As on the first day", arguments={"device": "Test phone"})],
)
async def erase(ctx: Context, args: EraseInput) -> Outcome:
    """Erases the device.

    Raises:
        DeviceNotReady: It is not shut down; nothing was erased.
        ActionUnverified: It is not listed as shut down afterwards.
    """
    assert ctx.device is not None
    if ctx.device.state != "shutdown":
        raise DeviceNotReady(
            "Only a device that is shut down can be erased; nothing was erased.",
            hint=f"Call shutdown with device={ctx.device.id} first, then erase.",
            state=ctx.device.state,
            fix="shut it down first",
        )
    acted: Acted = await ctx.use(Power).erase(deadline=max(1.0, ctx.remaining() - 1.0))
    inventory = await ctx.services.backends.listed(ctx.environment, fresh=True, only=[ctx.device.backend])
    row = inventory.by_key(ctx.device.key)
    if row is None or row.state != "shutdown":
        raise ActionUnverified(
            "The device was erased, and is not as it was.",
            expected="shutdown",
            actual=row.state if row is not None else "not listed",
        )
    return Outcome(data=merged({"state": row.state}, acted.data), verified=bool(acted.verified), method=acted.method)
